"""CSV file → Arrow tables of text, with the place that each row came from.

Arrow reads what is well formed. What is not (ragged rows, bytes that are not UTF-8, NUL, cells
larger than a block) goes through the csv module, which is slower and can say what is wrong.
Both give the same rows for the same well-formed file.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from drift_core.problems import escaped
from drift_onset.cells import text_array
from drift_onset.findings import Finding

Progress = Callable[[int], None]

BLOCK_BYTES = 16 << 20
_CHUNK_ROWS = 10_000


@dataclass(frozen=True)
class Batch:
    """Some rows of a file: a table of text and the number of each row in the file."""

    table: pa.Table
    records: npt.NDArray[np.int64]


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """Raise the csv module's limit, which is global, for the time of one call only."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


@dataclass
class CsvFile:
    """A CSV file with a fixed header.

    Args:
        path: the file.
        columns: required columns, in order.
        optional: columns that may follow them.
        progress: called with the approximate number of bytes whenever some rows were read.

    Attributes:
        header: the columns that are there; empty if the file cannot be read as these columns.
        findings: faults of the header and of whole rows, complete once `batches` has ended.
    """

    path: Path
    columns: Sequence[str]
    optional: Sequence[str] = ()
    progress: Progress | None = None
    header: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        self._read_header()

    def _fault(self, code: str, message: str, value: object = None) -> None:
        shown = None if value is None else escaped(value)
        self.findings.append(Finding(None, None, code, None, shown, message))

    def _read_header(self) -> None:
        try:
            with open(self.path, "rb") as raw:
                start = raw.read(4)
        except OSError as error:
            self._fault("file_missing", f"cannot be read: {error.strerror}")
            return
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") or start[1:2] == b"\0" or start[:1] == b"\0":
            self._fault("encoding", "looks like UTF-16; expected UTF-8")
            return
        if not start:
            self._fault("file_empty", f"is empty; expected the header {','.join(self.columns)}")
            return
        first = next(self._rows(), (0, []))[1]
        if self._header_is_right(first):
            self.header = tuple(first)

    def _header_is_right(self, found: list[str]) -> bool:
        allowed = [*self.columns, *self.optional]
        wanted = f"expected {','.join(self.columns)}"
        if self.optional:
            wanted += f", optionally followed by {','.join(self.optional)}"
        if len(found) == 1 and any(mark in found[0] for mark in ";\t"):
            mark = "semicolons" if ";" in found[0] else "tabs"
            self._fault("header", f"header looks separated by {mark}; expected commas", found[0])
            return False
        before = len(self.findings)
        for position, name in enumerate(found, 1):
            if name in found[: position - 1]:
                self._fault("header_duplicate", f"column {position} repeats {escaped(name)}", name)
            elif name not in allowed:
                code = "blind_label_column" if self._is_gold_column(name) else "header"
                extra = "label columns must not be in this file; " if code != "header" else ""
                shown = escaped(name) if name else "an empty name"
                self._fault(code, f"column {position} is {shown}; {extra}{wanted}", name)
        missing = [name for name in self.columns if name not in found]
        if missing:
            few = len(missing) < len(self.columns)
            what = f"missing column{'s' * (len(missing) > 1)} {','.join(missing)}"
            self._fault("header", f"{what}; {wanted}" if few else f"no column fits; {wanted}")
        if len(self.findings) == before and found != allowed[: len(found)]:
            self._fault("header_order", f"columns are out of order; {wanted}", ",".join(found))
            return sorted(found[: len(self.columns)]) == sorted(self.columns)
        return len(self.findings) == before

    def _is_gold_column(self, name: str) -> bool:
        from drift_onset import schema

        blind = tuple(self.columns) == schema.header(schema.BLIND)
        return blind and name in schema.fields(schema.LABELLED)

    def batches(self) -> Iterator[Batch]:
        """Read the rows, some thousands at a time.

        Yields:
            Tables of text columns named as the header; no blank lines, no ragged rows.
        """
        if not self.header:
            return
        done = 0
        try:
            for table in self._fast():
                yield Batch(table, np.arange(done, done + table.num_rows))
                done += table.num_rows
        except (pa.ArrowInvalid, _NeedsCare):
            yield from self._careful(done)

    def _fast(self) -> Iterator[pa.Table]:
        # Arrow opens the file itself: a Python file object in its threads can bring the
        # process down when it ends while one of them still waits for the interpreter.
        try:
            reader = pa.csv.open_csv(
                str(self.path),
                read_options=pa.csv.ReadOptions(
                    column_names=list(self.header),
                    skip_rows=self._header_lines(),
                    block_size=BLOCK_BYTES,
                ),
                parse_options=pa.csv.ParseOptions(newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    column_types={name: pa.string() for name in self.header},
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            # An empty body is no fault here; anything else is told apart below.
            raise _NeedsCare from None
        for batch in reader:
            if any(_has_nul(column) for column in batch.columns):
                raise _NeedsCare
            if self.progress:
                self.progress(batch.nbytes)
            yield pa.Table.from_batches([batch])

    def _header_lines(self) -> int:
        """Count the lines down to the header; blank ones may stand before it."""
        with open(self.path, "rb") as raw:
            for number, line in enumerate(raw, 1):
                if line.strip(b"\r\n"):
                    plain = line.endswith(b"\n") and b"\r" not in line.rstrip(b"\r\n")
                    if plain and b'"' not in line:
                        return number
                    break
        raise _NeedsCare

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Read every row but the blank ones with the csv module, header included.

        Yields:
            The line on which the row starts, counted from 1, and its cells. A byte that is not
            UTF-8 is a lone surrogate in them, a NUL stays a NUL.
        """
        with open(self.path, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
            # Python 3.10 refuses a NUL; \udc00 stands for no byte and carries it through.
            lines = (line.replace("\0", "\udc00") for line in text)
            reader = csv.reader(lines)
            start = 1

            def numbered() -> Iterator[tuple[int, list[str]]]:
                nonlocal start
                for cells in reader:
                    yield start, cells
                    start = reader.line_num + 1

            rows = numbered()
            while True:
                with _cells_of_any_size():
                    chunk = list(islice(rows, _CHUNK_ROWS))
                if not chunk:
                    return
                yield from ((line, cells) for line, cells in chunk if cells)

    def _careful(self, skip: int) -> Iterator[Batch]:
        width = len(self.header)
        rows = islice(enumerate(self._rows(), -1), 1 + skip, None)
        while chunk := list(islice(rows, _CHUNK_ROWS)):
            good: list[list[str]] = []
            records: list[int] = []
            for record, (_, cells) in chunk:
                faults = list(_row_faults(record, cells, self.header))
                self.findings += faults
                if not faults:
                    good.append(cells)
                    records.append(record)
            columns = [[cells[i] for cells in good] for i in range(width)]
            arrays = [text_array(column) for column in columns]
            table = pa.Table.from_arrays(arrays, names=list(self.header))
            yield Batch(table, np.asarray(records, np.int64))

    def lines(self, records: Collection[int]) -> dict[int, int]:
        """Find the lines on which rows start, by reading the file once more.

        Args:
            records: row numbers as in `Batch.records`.

        Returns:
            Row number → line, counted from 1, blank lines and the header included.
        """
        if not records:
            return {}
        wanted, last = set(records), max(records)
        found = {}
        for record, (line, _) in enumerate(self._rows(), -1):
            if record in wanted:
                found[record] = line
            if record >= last:
                break
        return found


def _has_nul(column: pa.Array) -> bool:
    data = column.buffers()[2]
    return data is not None and np.count_nonzero(np.frombuffer(data, np.uint8)) != data.size


class _NeedsCare(Exception):
    """The fast reader meets something that it cannot judge."""


def _row_faults(record: int, cells: list[str], header: Sequence[str]) -> Iterator[Finding]:
    scenario = cells[0] if cells and cells[0].isprintable() else None
    if len(cells) != len(header):
        message = f"{len(cells)} cells, expected {len(header)}"
        yield Finding(record, scenario, "cell_count", None, str(len(cells)), message)
    names = [*header, *("",) * (len(cells) - len(header))]
    for name, cell in zip(names, cells, strict=False):
        try:
            cell.encode()
        except UnicodeEncodeError as error:
            code = ord(cell[error.start])
            if code == 0xDC00:
                message, fault = f"NUL at character {error.start + 1}", "nul"
            else:
                byte = f"byte 0x{code - 0xDC00:02x} at character {error.start + 1}"
                message, fault = f"not UTF-8: {byte}; expected UTF-8 text", "encoding"
            around = cell[max(0, error.start - 20) : error.start + 20]
            yield Finding(record, scenario, fault, name or None, escaped(around), message)


def as_path(source: object) -> Path | None:
    """Give a path if the source names a file, else None."""
    return Path(source) if isinstance(source, (str, os.PathLike)) else None
