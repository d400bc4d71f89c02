"""What users hold in memory → Arrow tables with the columns that the checks know.

Nothing is judged here, and nothing is lost: a value that has no column type of its own becomes a
text that shows what it was, so that the checks can name it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from drift_onset import schema
from drift_onset.reading.cells import one_array, text_array

_MISSING = ("NAType", "NaTType")  # pandas' own, told by name: importing pandas costs a second


def as_table(source: Any, *, missing_items: bool = False) -> pa.Table:
    """Turn what users hold into an Arrow table.

    Args:
        source: an Arrow table, a datasets.Dataset, a pandas DataFrame, a mapping of columns, or
            a list of row mappings. None, NaN and pandas' NA are missing values.
        missing_items: whether an item of a list may be None, as a row of nulls.

    Raises:
        TypeError: it is none of these, or cannot be read as rows and columns.
    """
    table = _table(source, missing_items)
    names = table.column_names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise TypeError(f"has more than one column named {', '.join(twice)}")
    return table


def _table(source: Any, missing_items: bool) -> pa.Table:
    if isinstance(source, pa.Table):
        arrays = [column_array(column) for column in source.columns]
        return pa.Table.from_arrays(arrays, names=source.column_names)
    if hasattr(source, "with_format") and hasattr(source, "column_names"):
        if isinstance(source, Mapping):
            raise TypeError(f"has the splits {', '.join(map(str, source))}; give one of them")
        return source.with_format("arrow")[:]
    kind = type(source)
    if kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "DataFrame":
        return _columns([(name, source.iloc[:, at]) for at, name in enumerate(source.columns)])
    if isinstance(source, Mapping):
        return _columns(list(source.items()))
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        return _rows(list(source), missing_items)
    raise TypeError(
        "expected a path, an Arrow table, a Dataset, a DataFrame, a mapping of columns or a list "
        f"of rows, got {kind.__name__}"
    )


def _rows(rows: list[Any], missing_items: bool) -> pa.Table:
    rows = [{} if row is None and missing_items else row for row in rows]
    for item, row in enumerate(rows):
        if not isinstance(row, Mapping):
            kind = "None" if row is None else type(row).__name__
            raise TypeError(f"item {item} is {kind}, expected a mapping of columns to values")
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = _columns([(name, [row.get(name) for row in rows]) for name in names])
    # Rows without any key still count as rows.
    return table if names or not rows else pa.table({"scenario_id": pa.nulls(len(rows))})


def _columns(columns: Sequence[tuple[Any, Any]]) -> pa.Table:
    arrays, names = [], []
    for name, values in columns:
        if not isinstance(name, str):
            raise TypeError(f"has a column named {name!r}; expected names that are text")
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            kind = type(values).__name__
            raise TypeError(f"column {name} is one {kind}, expected a list of values")
        arrays.append(column_array(values))
        names.append(name)
    lengths = {name: len(array) for name, array in zip(names, arrays, strict=True)}
    if len(set(lengths.values())) > 1:
        raise TypeError(f"has columns of different lengths: {lengths}")
    return pa.Table.from_arrays(arrays, names=names)


def column_array(values: Any) -> pa.Array:
    """Turn values into an Arrow array.

    Args:
        values: an Arrow array, or values of any kind; None, NaN and pandas' NA become null.

    Returns:
        Numbers stay numbers; mixed kinds become texts that show what they were.
    """
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        array = one_array(values)
        if pa.types.is_floating(array.type):
            return pc.if_else(pc.is_nan(array), None, array)
        return array
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    kinds = set(map(type, listed))
    try:
        if kinds <= {str, type(None)}:  # most columns that are long
            return pa.array(listed, pa.string())
        plain = [None if _is_missing(value) else value for value in listed]
        kinds = {type(value) for value in plain if value is not None}
        if kinds == {int, float}:
            plain = [None if value is None else float(value) for value in plain]
        if len(kinds) <= 1 or kinds == {int, float}:
            return pa.array(plain)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    return text_array([_text(value) for value in listed])


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in _MISSING


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    if isinstance(value, (list, dict)):
        value = json.dumps(value, default=str)
    if isinstance(value, int) and value.bit_length() > 256:
        value = hex(value)  # Python refuses to write so many digits
    return str(value).encode("utf-8", "backslashreplace").decode()


def predictions(table: pa.Table) -> pa.Table:
    """Pick the columns of predictions, named with or without `predicted_`."""
    columns = {}
    for name in (*schema.header(schema.PREDICTION), *schema.optional_columns(schema.PREDICTION)):
        for known in (name, name.removeprefix(schema.PREDICTED)):
            if known in table.column_names:
                columns[name] = table[known]
                break
    return with_ids(columns, table.num_rows)


def references(table: pa.Table) -> pa.Table:
    """Pick the columns of gold rows: the five targets, and what bounds them.

    Lists of constraints and steps become the JSON text that a file holds, so that both are
    judged alike.
    """
    wanted = ("scenario_id", *schema.targets(), "residual_constraint_failure")
    columns = {name: table[name] for name in wanted if name in table.column_names}
    if schema.targets()[-1] in columns:
        columns.pop("residual_constraint_failure", None)
    elif "residual_constraint_failure" in columns:
        columns["residual_constraint_failure"] = _as_text(columns["residual_constraint_failure"])
    for name in ("constraints", "trajectory"):
        text = f"{name}_json"
        if text in table.column_names:
            columns[text] = _as_text(table[text])
        elif name in table.column_names:
            columns[text] = _as_json(table[name])
    return with_ids(columns, table.num_rows)


def _as_json(column: pa.ChunkedArray) -> pa.Array:
    """Write lists as JSON; what is none stays as it is, to be judged."""
    return text_array(
        [_text(v) if isinstance(v, str) else json.dumps(v, default=str) for v in column.to_pylist()]
    )


def _as_text(column: pa.ChunkedArray) -> pa.Array:
    array = one_array(column)
    if pa.types.is_string(array.type) and not array.null_count:
        return array
    return text_array(["" if v is None else str(v) for v in array.to_pylist()])


def with_ids(columns: dict[str, Any], rows: int) -> pa.Table:
    """Give the columns with identifiers as text, made from the row numbers if there are none."""
    if "scenario_id" not in columns:
        columns["scenario_id"] = text_array([f"row {i}" for i in range(rows)])
    else:
        ids = one_array(columns["scenario_id"])
        if not pa.types.is_string(ids.type):
            ids = text_array([_text(v) for v in ids.to_pylist()])
        columns["scenario_id"] = (
            text_array(["" if v is None else v for v in ids.to_pylist()]) if ids.null_count else ids
        )
    return pa.table(columns)
