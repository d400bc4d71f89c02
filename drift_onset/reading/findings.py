"""What is wrong with rows, before it is known in which file and line they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from drift_core.problems import escaped
from drift_onset.reading.cells import equals, is_null, one_array

Bools = npt.NDArray[np.bool_]

HEADER = -1


@dataclass(frozen=True)
class Finding:
    """A fault of one row or cell, before it is known in which file and line it stands.

    Attributes:
        record: number of the row among the rows that are not blank, from 0; HEADER
            (-1) for the header, None for the file.
        scenario_id, code, column, value, message: as in a problem.
    """

    record: int | None
    scenario_id: str | None
    code: str
    column: str | None
    value: str | None
    message: str


class Findings:
    """Collects the faults of one table.

    Attributes:
        columns: the cells, by name of the column.
        records: numbers of the rows in the file.
        ids: their identifiers.
        blank: which rows have nothing in any cell.
        bad: which rows have any fault.
        nameless: which rows have one in their identifier.
        found: the faults, in the order in which they were found.
    """

    def __init__(
        self,
        table: pa.Table,
        records: npt.NDArray[np.int64],
        faulty: Mapping[int, frozenset[str]],
    ) -> None:
        self.columns = {name: one_array(table[name]) for name in table.column_names}
        self.records = records
        self.ids = self.columns["scenario_id"]
        self.blank = blank_rows(self.columns)
        self.found: list[Finding] = []
        self.bad: Bools = np.isin(records, list(faulty))
        self.nameless: Bools = self.blank.copy()
        self._told = {row: faulty[int(records[row])] for row in np.flatnonzero(self.bad).tolist()}
        for row, columns in self._told.items():
            self.nameless[row] = "scenario_id" in columns
        self.where(self.blank, "blank_row", None, "every cell is blank; delete the row")

    def add(self, row: int, code: str, column: str | None, message: str) -> None:
        """Note one fault, unless the cell has one already that reading it found."""
        if column in self._told.get(row, ()):
            return
        self.bad[row] = True
        self.nameless[row] |= column == "scenario_id"
        value = None if column is None else self.columns[column][row].as_py()
        if column is not None:
            message = f"got {escaped(value, 60)}, {message}"
        self.found.append(
            Finding(
                int(self.records[row]),
                self.ids[row].as_py() or None,
                code,
                column,
                None if value is None else escaped(value),
                message,
            )
        )

    def where(
        self, rows: Bools, code: str, column: str | None, say: str | Callable[[int], str]
    ) -> None:
        """Note one fault for each row of a mask."""
        for row in np.flatnonzero(rows).tolist():
            self.add(row, code, column, say if isinstance(say, str) else say(row))


def blank_rows(columns: Mapping[str, pa.Array]) -> Bools:
    """Tell which rows have nothing in any cell."""
    first = next(iter(columns.values()))
    blank = np.ones(len(first), np.bool_)
    for column in columns.values():
        if not blank.any():
            break
        empty = is_null(column)
        if pa.types.is_string(column.type):
            empty |= equals(column, "")
        blank &= empty
    return blank
