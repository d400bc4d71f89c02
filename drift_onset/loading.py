"""Any source a user has → states and problems: a CSV file, an Arrow table, a Dataset, rows."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from drift_core.problems import Problem
from drift_onset import json_cells, schema, validate
from drift_onset.cells import text_array
from drift_onset.findings import Finding
from drift_onset.pairing import duplicates
from drift_onset.records import Batch, CsvFile, Progress
from drift_onset.states import States


@dataclass
class Loaded:
    """The states of one source and what was found in it.

    Attributes:
        name: path of the file, or `<gold>` and `<predictions>`.
        states: all rows, the ones with problems included.
        findings: what was found; more may be added.
        lines: row numbers → lines.
        unread: identifiers of rows that could not be read as rows at all.
    """

    name: str
    states: States
    findings: list[Finding]
    lines: Callable[[Collection[int]], Mapping[int, int]] = field(repr=False)
    unread: frozenset[str] = frozenset()

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
    columns, optional = schema.header(kind), schema.optional_columns(kind)
    return CsvFile(Path(path), columns, optional if kind == schema.PREDICTION else (), progress)


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
    for states, found in _in_order(check, file.batches()):
        parts.append(states)
        findings += found
    findings += file.findings
    states = States.concat(parts)
    if file.header and not len(states) and not findings:
        findings.append(Finding(None, None, "no_rows", None, None, "has no rows below its header"))
    if kind != schema.PREDICTION:  # where rows are matched by identifier, pairing looks as well
        findings += duplicates(states)[1]
    unread = frozenset(f.scenario_id for f in file.findings if f.scenario_id)
    return Loaded(str(path), states, findings, file.lines, unread)


def _in_order(
    check: Callable[[Batch], tuple[States, list[Finding]]], batches: Iterator[Batch]
) -> Iterator[tuple[States, list[Finding]]]:
    """Check batches on all cores while the next ones are read; a few wait at most."""
    first = next(batches, None)
    second = next(batches, None)
    if first is not None:
        yield check(first)
    if second is None:
        return
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        waiting = deque([pool.submit(check, second)])
        for batch in batches:
            waiting.append(pool.submit(check, batch))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def read_gold_file(path: str) -> Loaded:
    """Read a labelled or a blind file, whichever it is."""
    return read_file(path, schema.BLIND if _open(path, schema.BLIND).header else schema.LABELLED)


def read_table(table: pa.Table, kind: str, name: str) -> Loaded:
    """Check rows in memory: predictions, or references that hold the five targets.

    Args:
        table: predictions with columns as in a file, with or without `predicted_`; or gold with
            the columns of the data or just the five targets. Without `scenario_id`, rows are
            numbered.
        kind: `prediction` or `state`.
        name: what to call it in messages.
    """
    shaped = _predictions(table) if kind == schema.PREDICTION else _references(table)
    missing = [n for n in _wanted(kind) if n not in shaped.column_names]
    if missing:
        message = f"lacks the columns {', '.join(missing)}"
        states = validate.empty(schema.PREDICTION)
        fault = Finding(None, None, "header", None, ", ".join(table.column_names), message)
        return Loaded(name, states, [fault], lambda records: {})
    check = validate.predictions if kind == schema.PREDICTION else validate.references
    states, findings = check(Batch(shaped, np.arange(shaped.num_rows)))
    return Loaded(name, states, findings, lambda records: {record: record for record in records})


def _wanted(kind: str) -> tuple[str, ...]:
    return schema.header(kind) if kind == schema.PREDICTION else schema.targets()


def _with_ids(table: pa.Table) -> pa.Table:
    if "scenario_id" in table.column_names:
        return table
    ids = text_array([f"row {i}" for i in range(table.num_rows)])
    return table.append_column("scenario_id", ids)


def _predictions(table: pa.Table) -> pa.Table:
    columns = {}
    for name in (*schema.header(schema.PREDICTION), *schema.optional_columns(schema.PREDICTION)):
        for known in (name, name.removeprefix(schema.PREDICTED)):
            if known in table.column_names:
                columns[name] = table[known]
                break
    return _with_ids(pa.table(columns)) if columns else table


def _references(table: pa.Table) -> pa.Table:
    columns = {n: table[n] for n in ("scenario_id", *schema.targets()) if n in table.column_names}
    constraints = _decoded(table, "constraints")
    steps = _decoded(table, "trajectory")
    residual = schema.targets()[-1]
    quoted = "residual_constraint_failure"
    if residual not in columns and quoted in table.column_names and constraints is not None:
        texts = table[quoted].to_pylist()
        columns[residual] = pa.array(
            [_number(text, own) for text, own in zip(texts, constraints, strict=True)]
        )
    for name, lists in (("steps", steps), ("constraints", constraints)):
        if lists is not None:
            columns[name] = pa.array([len(items) or None for items in lists], pa.int32())
        elif name in table.column_names:
            columns[name] = table[name]
    return _with_ids(pa.table(columns)) if columns else table


def _number(text: Any, constraints: list[str]) -> str | None:
    """Give the number of a quoted constraint as text; the text itself if it matches none."""
    if text in (None, "", json_cells.NONE):
        return None
    return str(constraints.index(text) + 1) if text in constraints else str(text)


def _decoded(table: pa.Table, name: str) -> list[list[Any]] | None:
    if name in table.column_names and pa.types.is_list(table[name].type):
        return [items or [] for items in table[name].to_pylist()]
    if f"{name}_json" in table.column_names:
        cells = table[f"{name}_json"].to_pylist()
        return [json_cells.decode(name, cell)[0] or [] if cell else [] for cell in cells]
    return None


def as_table(source: Any, *, missing_items: bool = False) -> pa.Table:
    """Turn what users hold into an Arrow table.

    Args:
        source: an Arrow table, a datasets.Dataset, a pandas DataFrame, a mapping of columns, or
            a list of row mappings.
        missing_items: whether an item of a list may be None, as a row of nulls.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "with_format") and hasattr(source, "data"):
        return source.with_format("arrow")[:]
    if type(source).__module__.split(".")[0] == "pandas":
        return pa.Table.from_pandas(source, preserve_index=False)
    if isinstance(source, Mapping):
        return pa.table({name: column_array(values) for name, values in source.items()})
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        rows = [{} if row is None and missing_items else row for row in source]
        for item, row in enumerate(rows):
            if not isinstance(row, Mapping):
                kind = "None" if row is None else type(row).__name__
                raise TypeError(f"item {item} is {kind}, expected a mapping of columns to values")
        names = list(dict.fromkeys(name for row in rows for name in row))
        return pa.table({n: column_array([row.get(n) for row in rows]) for n in names})
    raise TypeError(
        "expected a path, an Arrow table, a Dataset, a DataFrame, a mapping of columns or a list "
        f"of rows, got {type(source).__name__}"
    )


def column_array(values: Any) -> pa.Array:
    """Turn Python values into an Arrow array, mixed kinds into texts that show what they were."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    values = list(values)
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return pa.array(values)
    return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value)
    return str(value)
