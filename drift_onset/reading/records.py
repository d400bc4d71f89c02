"""CSV file → Arrow tables of text, with the place that each row came from.

Arrow reads what is well formed, on all cores. What is not (ragged rows, lost quotation marks,
bytes that are not UTF-8) goes through the csv module, which is slower and can say what is wrong.
Both give the same rows for the same well-formed file.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from drift_core.problems import escaped
from drift_onset.reading import headers
from drift_onset.reading.cells import text_array
from drift_onset.reading.csv_chunks import Chunk, NeedsCare
from drift_onset.reading.csv_chunks import chunks as read_chunks
from drift_onset.reading.csv_rows import CHUNK_ROWS, UNREADABLE_CHARACTER, Row, read_rows
from drift_onset.reading.findings import HEADER, Finding

T = TypeVar("T")
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Batch:
    """Some rows of a file.

    Attributes:
        table: columns of text.
        records: number of each row among the rows of the file that are not blank, from 0.
        faulty: row number → columns of which something was already found.
    """

    table: pa.Table
    records: npt.NDArray[np.int64]
    faulty: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def shifted(self, rows: int) -> Batch:
        """Give the same rows with higher numbers."""
        faulty = {record + rows: names for record, names in self.faulty.items()}
        return Batch(self.table, self.records + rows, faulty)


@dataclass
class CsvFile:
    """A CSV file with a fixed header.

    Args:
        path: the file.
        columns: required columns, in order.
        optional: columns that may follow them.
        progress: called with a number of bytes whenever so many were read and worked on.

    Attributes:
        found: the header as it stands in the file.
        header: the same if the rows can be read by it, else empty.
        findings: faults of the header and of whole rows, complete once `batches` has ended.
        unread: identifiers of rows that could not be read; "" for one that is not known.
        swallowed: whether identifiers may be missing for a fault of the file: a row spans lines
            that may have been rows of their own, or the columns are out of order.
    """

    path: Path
    columns: Sequence[str]
    optional: Sequence[str] = ()
    progress: Progress | None = None
    found: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    swallowed: bool = False

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        if self._is_readable():
            first = next(read_rows(self.path), None)
            if first is None:
                wanted = ",".join(self.columns)
                message = f"is empty, expected the header {wanted}"
                self.findings.append(Finding(None, None, "file_empty", None, None, message))
            else:
                self._read_header(first)

    def _is_readable(self) -> bool:
        code, message = "file_missing", ""
        try:
            if self.path.exists() and not self.path.is_file():
                kind = "a directory" if self.path.is_dir() else "no regular file"
                message = f"is {kind}; expected a file that can be read more than once"
            else:
                with open(self.path, "rb") as raw:
                    start = raw.read(4)
                if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start:
                    code, message = "encoding", "looks like UTF-16 or UTF-32, expected UTF-8"
        except (OSError, ValueError) as error:
            message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        if message:
            self.findings.append(Finding(None, None, code, None, None, message))
        return not message

    def _read_header(self, row: Row) -> None:
        faults = list(_bad_text(HEADER, None, row.cells, row.cells))
        self.findings += faults
        self.found = tuple(row.cells)
        if faults:
            return
        faults = headers.judge(row.cells, self.columns, self.optional)
        self.findings += faults
        self.swallowed = bool(faults)
        if all(fault.code == headers.ORDER for fault in faults):
            self.header = self.found

    def batches(self) -> Iterator[Batch]:
        """Read the rows, a chunk of the file at a time.

        Yields:
            Tables of text columns named as the header; no blank lines, no ragged rows.
        """
        for before, batch in self.map(lambda batch: batch):
            yield batch.shifted(before)

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Read row by row, for files of a size that one looks at.

        Yields:
            The number of the row, and column → text.
        """
        for batch in self.batches():
            yield from zip(batch.records.tolist(), batch.table.to_pylist(), strict=True)

    def map(self, work: Callable[[Batch], T]) -> Iterator[tuple[int, T]]:
        """Read the rows and do some work with them, on all cores.

        Args:
            work: takes a batch whose records are counted from its own first row.

        Yields:
            In order, the number of rows before a batch and what came of the work.
        """
        if not self.header:
            return
        before = 0
        try:
            for rows, result in self._fast(work):
                yield before, result
                before += rows
        except NeedsCare:
            for batch in self._careful(before):
                yield before, work(batch)

    def _fast(self, work: Callable[[Batch], T]) -> Iterator[tuple[int, T]]:
        def parsed(chunk: Chunk) -> tuple[int, T]:
            table = chunk.parse(self.header)
            return table.num_rows, work(Batch(table, np.arange(table.num_rows)))

        chunks = read_chunks(self.path)
        first, second = next(chunks, None), next(chunks, None)
        if first is None:
            return
        if second is None:  # no threads for what is done at once
            result = parsed(first)
            if self.progress:
                self.progress(len(first.data))
            yield result
            return
        workers = os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[tuple[int, Future[tuple[int, T]]]] = deque()
            for chunk in chain((first, second), chunks):
                waiting.append((len(chunk.data), pool.submit(parsed, chunk)))
                if len(waiting) > workers + 1:
                    yield self._finished(*waiting.popleft())
            while waiting:
                yield self._finished(*waiting.popleft())

    def _finished(self, size: int, result: Future[tuple[int, T]]) -> tuple[int, T]:
        done = result.result()
        if self.progress:
            self.progress(size)
        return done

    def _careful(self, skip: int) -> Iterator[Batch]:
        rows = islice(enumerate(read_rows(self.path), HEADER), 1 + skip, None)
        while chunk := list(islice(rows, CHUNK_ROWS)):
            good: list[list[str]] = []
            records: list[int] = []
            faulty: dict[int, frozenset[str]] = {}
            for record, row in chunk:
                scenario = self._scenario(row.cells)
                if row.quoting or len(row.cells) != len(self.header):
                    self._unread(record, row, scenario)
                    continue
                bad = list(_bad_text(record, scenario, row.cells, self.header))
                if bad:
                    self.findings += bad
                    faulty[record] = frozenset(f.column for f in bad if f.column)
                    row = replace(
                        row, cells=[UNREADABLE_CHARACTER.sub("\ufffd", c) for c in row.cells]
                    )
                good.append(row.cells)
                records.append(record)
            columns = [[cells[i] for cells in good] for i in range(len(self.header))]
            arrays = [text_array(column) for column in columns]
            table = pa.Table.from_arrays(arrays, names=list(self.header))
            numbers = np.asarray(records, np.int64) - skip
            yield Batch(table, numbers, {record - skip: names for record, names in faulty.items()})

    def _scenario(self, cells: Sequence[str]) -> str | None:
        """Give the identifier of a row, if it has one that can be shown."""
        at = self.header.index("scenario_id") if "scenario_id" in self.header else 0
        text = cells[at] if at < len(cells) else ""
        return text if text.isprintable() and text.strip() else None

    def _unread(self, record: int, row: Row, scenario: str | None) -> None:
        """Note a row whose cells cannot be told apart."""
        self.unread.append(scenario or "")
        self.swallowed = self.swallowed or row.end > row.line
        n, width = len(row.cells), len(self.header)
        lines = f", spread over lines {row.line} to {row.end}" if row.end > row.line else ""
        count = f"{n} cell{'' if n == 1 else 's'}, expected {width}{lines}"
        if row.quoting:
            message = f"{row.quoting}; read leniently it has {count}"
            self.findings.append(Finding(record, scenario, "quoting", None, None, message))
        else:
            self.findings.append(Finding(record, scenario, "cell_count", None, str(n), count))

    def lines(self, records: Collection[int]) -> dict[int, int]:
        """Find the lines on which rows start, by reading the file once more.

        Args:
            records: row numbers as in `Batch.records`; HEADER (-1) for the header.

        Returns:
            Row number → line, counted from 1, blank lines and the header included.
        """
        if not records:
            return {}
        wanted, last = set(records), max(records)
        found = {}
        for record, row in enumerate(read_rows(self.path), HEADER):
            if record in wanted:
                found[record] = row.line
            if record >= last:
                break
        return found


def _bad_text(
    record: int, scenario: str | None, cells: Sequence[str], header: Sequence[str]
) -> Iterator[Finding]:
    """Find NUL and bytes that are not UTF-8, the first one of each cell."""
    for name, cell in zip(header, cells, strict=True):
        match = UNREADABLE_CHARACTER.search(cell)
        if match:
            code, at = ord(match[0]), match.start()
            if code == 0xDC00:
                message, fault = f"NUL at character {at + 1}", "nul"
            else:
                byte = f"byte 0x{code - 0xDC00:02x} at character {at + 1}"
                message, fault = f"not UTF-8: {byte}; expected UTF-8 text", "encoding"
            around = UNREADABLE_CHARACTER.sub("\ufffd", cell[max(0, at - 20) : at + 20])
            column = None if record == HEADER else name
            yield Finding(record, scenario, fault, column, escaped(around), message)


def as_path(source: object) -> Path | None:
    """Give a path if the source names a file, else None."""
    return Path(source) if isinstance(source, (str, os.PathLike)) else None
