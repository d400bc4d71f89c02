"""What is wrong with rows, before it is known in which file and line they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from drift_core.problems import escaped
from drift_onset.cells import one_array

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Finding:
    """A fault of one row or cell, before it is known in which file and line it stands.

    Attributes:
        record: number of the row among the rows that are not blank, from 0; None for the file.
        scenario_id, code, column, value, message: as in a problem.
    """

    record: int | None
    scenario_id: str | None
    code: str
    column: str | None
    value: str | None
    message: str


class Findings:
    """Collects the faults of one table and remembers which rows have any."""

    def __init__(self, table: pa.Table, records: npt.NDArray[np.int64]) -> None:
        self.table = table
        self.records = records
        self.ids = one_array(table["scenario_id"])
        self.bad: Bools = np.zeros(table.num_rows, np.bool_)
        self.found: list[Finding] = []

    def add(self, row: int, code: str, column: str | None, message: str) -> None:
        """Note one fault; the value shown is the cell's."""
        self.bad[row] = True
        value = None if column is None else self.table[column][row].as_py()
        if column is not None:
            message = f"got {escaped(value, 60)}, {message}"
        self.found.append(
            Finding(
                int(self.records[row]),
                self.ids[row].as_py(),
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
