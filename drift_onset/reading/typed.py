"""A data file as the typed table that load_dataset yields."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from drift_core.problems import InvalidInput
from drift_core.strict_json import loads
from drift_onset import schema
from drift_onset.reading.loading import read_file
from drift_onset.reading.records import CsvFile


def read(path: str | os.PathLike[str], kind: str, *, label_ids: bool = False) -> pa.Table:
    """Read a data file with every column typed and the decoded columns added.

    Args:
        path: a labelled or blind CSV file.
        kind: `labelled_record` or `model_input`.
        label_ids: whether labels are their positions in schema order (int64, as a ClassLabel
            stores them) instead of texts.

    Returns:
        One row a scenario, columns as in `schema.fields(kind)`.

    Raises:
        InvalidInput: the file has problems.
    """
    problems = read_file(str(path), kind).problems()
    if problems:
        raise InvalidInput(problems)
    file = CsvFile(Path(path), schema.header(kind))
    rows = [_typed(row, kind, label_ids) for _, row in file.rows()]
    return pa.Table.from_pylist(rows, schema=schema.arrow_schema(kind, label_ids))


def _typed(row: dict[str, str], kind: str, as_ids: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in schema.fields(kind).items():
        if field.decoded_from is None:
            values[name] = _value(field, row[name], as_ids)
    values["constraints"] = loads(row["constraints_json"])
    values["trajectory"] = loads(row["trajectory_json"])
    residual = row.get("residual_constraint_failure")
    if residual is not None:
        known = residual != schema.NONE
        number = values["constraints"].index(residual) + 1 if known else None
        values["residual_constraint_id"] = number
    return values


def _value(field: schema.Field, text: str, as_ids: bool) -> Any:
    if field.labels:
        return field.labels.index(text) if as_ids else text
    if "integer" in field.types:
        return int(text) if text else None
    if "number" in field.types:
        return float(text) if text else None
    return text
