"""CSV rows through the csv module: slower than Arrow, but it can say what is wrong with them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

CHUNK_ROWS = 10_000
UNREADABLE_CHARACTER = re.compile("[\ud800-\udfff]")
_QUOTING = {
    "end": "a quotation mark is opened and not closed",
    "after": 'text follows a closing quotation mark; inside a cell each mark is doubled ("")',
}


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
    """Read every row but the blank ones with the csv module, header included.

    Args:
        path: the file.

    Yields:
        Rows, with what is wrong with their quotation marks.
    """
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
