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

from drift_onset.reading.cells import text_array

CHUNK_BYTES = 16 << 20
PIECE_BYTES = 1 << 17  # a few of these stay in the cache of a core
_LARGEST_ROW = 1 << 26
_MARK, _RETURN, _COMMA, _FEED = b'"\r,\n'
_BESIDE = np.zeros(256, np.bool_)
_BESIDE[[_MARK, _RETURN, _COMMA, _FEED]] = True
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
        if marked or not is_plain(self.data):
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
            elif len(data) > _LARGEST_ROW:  # a lost quotation mark, most likely
                raise NeedsCare
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
    after = 0  # marks behind the piece
    total = int(np.count_nonzero(data == _MARK))
    for start in range((len(data) - 1) // PIECE_BYTES * PIECE_BYTES, -1, -PIECE_BYTES):
        piece = data[start : start + PIECE_BYTES]
        marks, feeds = np.flatnonzero(piece == _MARK), np.flatnonzero(piece == _FEED)
        before = total - after - len(marks)
        outside = feeds[(before + np.searchsorted(marks, feeds)) % 2 == 0]
        if len(outside):
            return start + int(outside[-1]) + 1
        after += len(marks)
    return 0


def is_plain(data: Bytes) -> bool:
    """Tell whether Arrow reads rows as they stand, so that the csv module is not needed.

    They have no NUL, no cell has a carriage return inside, and quotation marks stand where RFC
    4180 has them; Arrow is lenient with those, so that a lost one would go unseen. Counted from
    the first, marks open and close in turn, a pair inside a cell counting as both: one that opens
    has a separator, another mark or the start before it, one that closes has one behind it.

    Args:
        data: bytes of whole rows.
    """
    marks = 0
    for start in range(0, len(data), PIECE_BYTES):
        piece = data[start : start + PIECE_BYTES]
        if np.count_nonzero(piece) != len(piece):
            return False
        at = np.flatnonzero(piece == _MARK) + start
        ends_line = piece == _RETURN
        if ends_line.any():
            returns = np.flatnonzero(ends_line) + start
            if ((marks + np.searchsorted(at, returns)) % 2 == 1).any():
                return False
        opening, closing = at[marks % 2 :: 2], at[1 - marks % 2 :: 2]
        if start == 0:
            opening = opening[opening > 0]
        if start + PIECE_BYTES >= len(data):
            closing = closing[closing < len(data) - 1]
        if not (_BESIDE[data[opening - 1]].all() and _BESIDE[data[closing + 1]].all()):
            return False
        marks += len(at)
    return marks % 2 == 0
