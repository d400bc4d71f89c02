"""A CSV file in pieces of whole rows, each of which Arrow reads by itself.

Pieces can be read on all cores, and a fault is looked for in one piece only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from drift_onset.cells import text_array

CHUNK_BYTES = 16 << 20
_PIECE_BYTES = 1 << 17  # a few of these stay in the cache of a core
_ARROW_BYTES = 1 << 30
_MARK, _RETURN, _COMMA, _FEED = b'"\r,\n'
_BOM = b"\xef\xbb\xbf"

Bytes = npt.NDArray[np.uint8]


class NeedsCare(Exception):
    """Arrow must not read this: it may be malformed in a way that Arrow would not tell."""


@dataclass(frozen=True)
class Chunk:
    """Whole rows of a file, as bytes."""

    data: Bytes

    def parse(self, header: Sequence[str]) -> pa.Table:
        """Read the rows with Arrow.

        Args:
            header: names of the columns.

        Returns:
            Columns of text, without blank lines.

        Raises:
            NeedsCare: the rows are not plain, ragged or not UTF-8.
        """
        marked = self.data[: len(_BOM)].tobytes() == _BOM  # which Arrow would take away
        if len(self.data) > _ARROW_BYTES or marked or not is_plain(self.data):
            raise NeedsCare
        try:
            return pa.csv.read_csv(
                pa.BufferReader(pa.py_buffer(self.data)),
                read_options=pa.csv.ReadOptions(
                    column_names=list(header), use_threads=False, block_size=len(self.data) + 1
                ),
                parse_options=pa.csv.ParseOptions(newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    column_types={name: pa.string() for name in header},
                    strings_can_be_null=False,
                    check_utf8=bool(self.data.max() >= 0x80),
                ),
            ).combine_chunks()
        except pa.ArrowInvalid:
            if not self.data.tobytes().strip(b"\r\n"):
                return pa.table({name: text_array([]) for name in header})
            raise NeedsCare from None


def chunks(path: Path) -> Iterator[Chunk]:
    """Cut the rows below the header into pieces of about CHUNK_BYTES.

    Args:
        path: a file that is not empty.

    Yields:
        Pieces that begin and end with a row, as far as quotation marks are well formed.

    Raises:
        NeedsCare: it cannot be told where the header ends.
    """
    with open(path, "rb") as file:
        _skip_header(file)
        rest = np.zeros(0, np.uint8)
        while True:
            # Arrow's pool hands out again what was freed; fresh memory costs more than reading.
            data = np.frombuffer(pa.allocate_buffer(len(rest) + CHUNK_BYTES), np.uint8)
            data[: len(rest)] = rest
            read = file.readinto(data[len(rest) :].data)
            data = data[: len(rest) + read]
            if not read:
                if len(data):
                    yield Chunk(data)
                return
            end = _last_row_end(data)
            if end:
                yield Chunk(data[:end])
            rest = data[end:].copy()


def _skip_header(file: BinaryIO) -> None:
    """Move behind the header; blank lines may stand before it."""
    if file.read(len(_BOM)) != _BOM:
        file.seek(0)
    for line in iter(file.readline, b""):
        if line.strip(b"\r\n"):
            plain = line.endswith(b"\n") and b"\r" not in line.rstrip(b"\r\n")
            if plain and line.count(b'"') % 2 == 0:
                return
            break
    raise NeedsCare


def _last_row_end(data: Bytes) -> int:
    """Give the place behind the last line feed outside of quotation marks; 0 if there is none."""
    marks = int(np.count_nonzero(data == _MARK))
    text = data.data
    end = len(data)
    while True:
        before = bytes(text[max(0, end - _PIECE_BYTES) : end]).rfind(b"\n")
        if before < 0:
            if end <= _PIECE_BYTES:
                return 0
            marks -= int(np.count_nonzero(data[end - _PIECE_BYTES : end] == _MARK))
            end -= _PIECE_BYTES
            continue
        at = max(0, end - _PIECE_BYTES) + before
        marks -= int(np.count_nonzero(data[at:end] == _MARK))
        if marks % 2 == 0:
            return at + 1
        end = at


def is_plain(data: Bytes) -> bool:
    """Tell whether Arrow reads rows as they stand, so that the csv module is not needed.

    They have no NUL, their quotation marks stand where RFC 4180 has them, and no cell has a
    carriage return inside. Arrow and the csv module are lenient with quotation marks, so that a
    lost one would go unseen: a mark opens a cell, closes it, or is one of a pair inside, and any
    other has neither a separator nor another mark beside it, or leaves an odd number of them.

    Args:
        data: bytes of whole rows.
    """
    marks = 0
    for start in range(0, len(data), _PIECE_BYTES):
        # One more byte on both sides, to see what stands beside a mark.
        wide = data[max(start - 1, 0) : start + _PIECE_BYTES + 1]
        own = wide[min(start, 1) :][:_PIECE_BYTES]
        if np.count_nonzero(own) != len(own):
            return False
        mark, ends_line = wide == _MARK, wide == _RETURN
        if ends_line.any():
            returns = np.flatnonzero(own == _RETURN)
            before = marks + np.searchsorted(np.flatnonzero(own == _MARK), returns)
            if (before % 2 == 1).any():
                return False
        beside = mark | ends_line
        beside |= wide == _COMMA
        beside |= wide == _FEED
        loose = ~(beside[:-2] | beside[2:])
        loose &= mark[1:-1]
        if loose.any():
            return False
        marks += int(np.count_nonzero(own == _MARK))
    return marks % 2 == 0
