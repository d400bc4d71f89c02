"""Any source a user has → states and problems: a CSV file, an Arrow table, a Dataset, rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from drift_core.problems import Problem, escaped
from drift_onset import schema, validate
from drift_onset.pairing import duplicates
from drift_onset.reading import tables
from drift_onset.reading.findings import Finding
from drift_onset.reading.records import Batch, CsvFile, Progress
from drift_onset.reading.states import States


@dataclass
class Loaded:
    """The states of one source and what was found in it.

    Attributes:
        name: path of the file, or `<gold>` and `<predictions>`.
        states: all rows, the ones with problems included.
        findings: what was found; more may be added.
        lines: row numbers → lines.
        is_readable: whether its rows could be read at all.
        unread: identifiers of rows that could not be read; "" for one that is not known.
        swallowed: whether more rows may be missing than are known: none was found, or one spans
            lines that may have been rows of their own.
        is_unique: whether repeated identifiers were already looked for.
    """

    name: str
    states: States
    findings: list[Finding]
    lines: Callable[[Collection[int]], Mapping[int, int]] = field(repr=False)
    is_readable: bool = True
    unread: Sequence[str] = ()
    swallowed: bool = False
    is_unique: bool = False

    @property
    def nameless(self) -> int:
        """Number of rows whose identifier is not known."""
        return list(self.unread).count("") + int((~self.states.named).sum())

    def add(self, row: int, code: str, column: str | None, message: str) -> None:
        """Note a finding about a row of the states."""
        scenario = self.states.ids[row].as_py()
        value = escaped(scenario) if column == "scenario_id" else None
        record = int(self.states.records[row])
        self.findings.append(Finding(record, scenario, code, column, value, message))

    def problems(self) -> list[Problem]:
        """Give everything found as problems, in the order of the lines."""
        lines = self.lines({f.record for f in self.findings if f.record is not None})
        found = [
            Problem(
                code=f.code,
                file=self.name,
                line=None if f.record is None else lines[f.record],
                scenario_id=f.scenario_id,
                column=f.column,
                value=f.value,
                message=f.message,
            )
            for f in self.findings
        ]
        return sorted(found, key=lambda p: (p.line is None, p.line or 0))


def _open(path: str, kind: str, progress: Progress | None = None) -> CsvFile:
    return CsvFile(Path(path), schema.header(kind), schema.optional_columns(kind), progress)


def read_file(path: str, kind: str, progress: Progress | None = None) -> Loaded:
    """Read and check a CSV file.

    Args:
        path: the file.
        kind: `labelled_record`, `model_input` or `prediction`.
        progress: called with the number of bytes whenever some were read.
    """
    file = _open(path, kind, progress)
    check = validate.checker(kind)
    parts, findings = [validate.empty(kind)], []
    for before, (states, found) in file.map(check):
        parts.append(states.shifted(before))
        findings += [replace(f, record=(f.record or 0) + before) for f in found]
    findings += file.findings
    states = States.concat(parts)
    swallowed = file.swallowed
    if file.header and not len(states) and not findings:
        findings.append(Finding(None, None, "no_rows", None, None, "has no rows below its header"))
        swallowed = True
    if kind != schema.PREDICTION:  # where rows are matched by identifier, pairing looks as well
        findings += duplicates(states)[1]
    readable = bool(file.header)
    return Loaded(str(path), states, findings, file.lines, readable, file.unread, swallowed, True)


def read_gold_file(path: str) -> Loaded:
    """Read a labelled or a blind file, whichever its header is nearer to."""
    blind, labelled = (set(schema.header(kind)) for kind in (schema.BLIND, schema.LABELLED))
    extra = len(set(_open(path, schema.BLIND).found) & (labelled - blind))
    return read_file(path, schema.LABELLED if extra > len(labelled - blind) / 2 else schema.BLIND)


def read_table(table: pa.Table, kind: str, name: str, *, missing_columns: bool = False) -> Loaded:
    """Check rows in memory: predictions, or references that hold the five targets.

    Args:
        table: predictions with columns as in a file, with or without `predicted_`; or gold with
            the columns of the data or just the five targets. Without `scenario_id`, rows are
            numbered.
        kind: `prediction` or `state`.
        name: what to call it in messages.
        missing_columns: whether a column that is not there counts as one of nulls.
    """
    predicted = kind == schema.PREDICTION
    shaped = tables.predictions(table) if predicted else tables.references(table)
    empty = validate.empty(schema.PREDICTION)
    if not shaped.num_rows:
        fault = Finding(None, None, "no_rows", None, None, "has no rows")
        return Loaded(name, empty, [fault], lambda records: {}, swallowed=True)
    missing = [n for n in _wanted(kind, shaped) if n not in shaped.column_names]
    if missing and missing_columns:
        for column in missing:
            shaped = shaped.append_column(column, pa.nulls(shaped.num_rows, pa.string()))
    elif missing:
        message = f"lacks the columns {', '.join(missing)}"
        if not predicted and len(missing) == len(_wanted(kind, shaped)):
            message += "; these are inputs without labels"
        found = escaped(", ".join(table.column_names))
        fault = Finding(None, None, "header", None, found, message)
        return Loaded(name, empty, [fault], lambda records: {}, is_readable=False)
    check = validate.predictions if predicted else validate.references
    states, findings = check(Batch(shaped, np.arange(shaped.num_rows)))
    return Loaded(name, states, findings, lambda records: {record: record for record in records})


def _wanted(kind: str, table: pa.Table) -> tuple[str, ...]:
    if kind == schema.PREDICTION:
        return schema.header(kind)
    *others, residual = schema.targets()
    quoted = {"residual_constraint_failure", "constraints_json"} <= set(table.column_names)
    return (*others,) if quoted else (*others, residual)
