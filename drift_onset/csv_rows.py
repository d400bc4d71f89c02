"""CSV rows through the csv module: slower than Arrow, but it can say what is wrong with them."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

BLOCK_BYTES = 16 << 20
CHUNK_ROWS = 10_000
UNREADABLE_CHARACTER = re.compile("[\ud800-\udfff]")
_QUOTING = {
    "end": "a quotation mark is opened and not closed",
    "after": 'text follows a closing quotation mark; inside a cell each mark is doubled ("")',
}
# What may stand beside a quotation mark that opens, closes or is one of a pair.
_BESIDE = np.zeros(256, np.bool_)
_BESIDE[list(b'",\r\n')] = True


@dataclass(frozen=True)
class Row:
    """A row as the csv module reads it.

    Attributes:
        line: the line on which it starts, counted from 1.
        end: the line on which it ends.
        cells: its texts; a byte that is not UTF-8 is a lone surrogate in them, NUL is U+DC00.
        quoting: what is wrong with its quotation marks, empty if nothing.
    """

    line: int
    end: int
    cells: list[str]
    quoting: str


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """Raise the csv module's limit, which is global, for the time of one call only."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def read_rows(path: Path) -> Iterator[Row]:
    """Read every row but the blank ones with the csv module, header included."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        own: list[str] = []  # the lines of the row that is being read

        def lines() -> Iterator[str]:
            for line in text:
                # Python 3.10 refuses a NUL; \udc00 stands for no byte and carries it through.
                own.append(line.replace("\0", "\udc00"))
                yield own[-1]

        reader = csv.reader(lines(), strict=True)

        def rows() -> Iterator[Row]:
            while True:
                own.clear()
                line = reader.line_num + 1
                try:
                    cells, quoting = next(reader), ""
                except StopIteration:
                    return
                except csv.Error as error:
                    cells = next(csv.reader(own), [])
                    quoting = _QUOTING["end" if "end of data" in str(error) else "after"]
                if cells:
                    yield Row(line, line + len(own) - 1, cells, quoting)

        reading = rows()
        while True:
            with _cells_of_any_size():
                chunk = list(islice(reading, CHUNK_ROWS))
            if not chunk:
                return
            yield from chunk


def is_plain(path: Path) -> bool:
    """Tell whether Arrow reads a file as it stands, so that the csv module is not needed.

    It has no NUL, its quotation marks stand where RFC 4180 has them, and no cell has a carriage
    return inside. Both readers are lenient with quotation marks, so that a lost one would go
    unseen: a mark opens a cell, closes it, or is one of a pair inside, and any other has neither
    a separator nor another mark beside it, or leaves an odd number of marks in the file. Arrow
    loses the line feed of a CRLF in a cell if one of its blocks ends between the two.
    """
    if path.stat().st_size == 0:
        return True
    data = np.memmap(path, np.uint8, mode="r")
    starts = range(0, len(data), BLOCK_BYTES)
    with ThreadPoolExecutor(min(len(starts), os.cpu_count() or 1)) as pool:
        blocks = list(pool.map(lambda start: _scan(data, start), starts))
    marks = 0
    for block in blocks:
        if block is None or block.returns[1 - marks % 2]:
            return False
        marks += block.marks
    return marks % 2 == 0


@dataclass(frozen=True)
class _Block:
    """What matters of some bytes.

    Attributes:
        marks: number of quotation marks.
        returns: whether there is a carriage return after an even, after an odd number of them.
    """

    marks: int
    returns: tuple[bool, bool]


def _scan(data: npt.NDArray[np.uint8], start: int) -> _Block | None:
    """Look at a block; None if it has a NUL or a mark that neither opens, closes nor pairs."""
    block = data[start : start + BLOCK_BYTES]
    if np.count_nonzero(block) != len(block):
        return None
    marks = np.flatnonzero(block == ord('"')) + start
    before = data[np.maximum(marks - 1, 0)]
    after = data[np.minimum(marks + 1, len(data) - 1)]
    loose = ~(_BESIDE[before] | _BESIDE[after])
    # At the start a byte order mark may stand before one.
    loose &= (marks > 3) & (marks < len(data) - 1)
    if loose.any():
        return None
    returns = np.flatnonzero(block == ord("\r")) + start
    odd = np.searchsorted(marks, returns) % 2 == 1
    return _Block(len(marks), (bool((~odd).any()), bool(odd.any())))
