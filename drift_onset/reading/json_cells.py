"""The two JSON columns, constraints and trajectory, judged whole columns at a time.

A cell in plain form is recognised by plain_json.py and needs no parsing. Every other cell is parsed
and held against schema.json; that path alone decides what is wrong.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from drift_core import strict_json
from drift_core.problems import escaped
from drift_onset import schema
from drift_onset.reading import plain_json
from drift_onset.reading.cells import BLANK, UNREADABLE, Codes, arrow, equals, mask, to_numpy

_SHOWN = 5

Fault = tuple[int, str, str]  # position in the column, code, message


def fold(text: str) -> str:
    """Fold a constraint for comparison: Unicode NFC, then case."""
    return unicodedata.normalize("NFC", text).casefold()


def decode(name: str, text: str) -> tuple[Any, list[tuple[str, str]]]:
    """Decode one JSON cell and judge it.

    Args:
        name: `constraints` or `trajectory`.
        text: the cell.

    Returns:
        The decoded value (None if it has a fault) and its faults as (code, message), the first
        few of a kind.
    """
    try:
        value = strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        step = dict(error.pairs).get("step")
        where = "" if step is None else f" in step {escaped(step, 20)}"
        return None, [(error.code, f"{error}{where}")]
    if not isinstance(value, list):
        return None, [("json_type", f"expected a JSON array, got a JSON {_json_kind(value)}")]
    faults = _structure(name, value)
    if name == "constraints":
        faults += _few("constraint_duplicate", _duplicates(value))
    else:
        faults += _numbering(value)
    return (None if faults else value), faults


def _json_kind(value: Any) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")


def _few(code: str, messages: Iterable[str]) -> list[tuple[str, str]]:
    """Keep the first few faults of a kind and count the rest."""
    found = list(messages)
    shown = [(code, message) for message in found[:_SHOWN]]
    if len(found) > _SHOWN:
        shown.append((code, f"and {len(found) - _SHOWN} more of this kind"))
    return shown


def _structure(name: str, value: list[Any]) -> list[tuple[str, str]]:
    item = "constraint" if name == "constraints" else "step"
    messages = []
    for error in schema.cell_validator(name).iter_errors(value):
        path = list(error.instance_path)
        place = f"{item} {int(path[0]) + 1}{''.join(f' {p}' for p in path[1:])} " if path else ""
        messages.append(place + _said(list(error.schema_path)[-1], error.instance))
    return _few(f"{name}_structure", messages)


def _said(keyword: Any, value: Any) -> str:
    """Put a breach of the cell's schema in words."""
    step = schema.definition("trajectory")["items"]
    if keyword == "required":
        return f"lacks {', '.join(key for key in step['required'] if key not in value)}"
    if keyword == "additionalProperties":
        extra = [escaped(key, 40) for key in value if key not in step["properties"]]
        return f"has unexpected keys: {', '.join(extra[:_SHOWN])}"
    if keyword == "type":
        return f"is a JSON {_json_kind(value)}: {escaped(value, 40)}"
    wanted = {
        "pattern": "is blank",
        "not": "may not be the word none",
        "minItems": "the array is empty, expected at least one item",
    }
    return wanted.get(str(keyword), f"is {escaped(value, 40)}, beyond the schema's {keyword}")


def _duplicates(constraints: list[Any]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for number, text in enumerate(constraints, 1):
        if isinstance(text, str):
            first = seen.setdefault(fold(text), number)
            if first != number:
                if text == constraints[first - 1]:
                    yield f"constraint {number} equals constraint {first}"
                else:
                    why = "equal after Unicode NFC and case folding"
                    yield f"constraint {number} looks like constraint {first} ({why})"


def _numbering(steps: list[Any]) -> list[tuple[str, str]]:
    """Find the first step that is out of number; after it none could be right."""
    for number, step in enumerate(steps, 1):
        found = step.get("step") if isinstance(step, dict) else None
        # JSON Schema counts 2.0 as an integer; here it is none. Other types were told of before.
        if type(found) in (int, float) and (type(found) is float or found != number):
            message = f"item {number} has step {found}, expected {number}: 1, 2, 3, … without gap"
            return [("step_number", message)]
    return []


def trajectories(column: pa.Array) -> tuple[Codes, list[Fault]]:
    """Count the steps of each trajectory.

    Args:
        column: JSON texts.

    Returns:
        int32 counts, UNREADABLE where the cell has a fault, and the faults.
    """
    plain, counts = plain_json.trajectories(column)
    faults: list[Fault] = []
    for row in np.flatnonzero(~plain).tolist():
        steps, found = decode("trajectory", column[row].as_py())
        counts[row] = UNREADABLE if steps is None else len(steps)
        faults += [(row, code, message) for code, message in found]
    return counts, faults


def constraints(
    column: pa.Array, quoted: Mapping[str, pa.Array]
) -> tuple[Codes, dict[str, Codes], list[Fault]]:
    """Count the constraints of each row and find the ones that other columns quote.

    Args:
        column: JSON texts.
        quoted: column name → texts that are `none` or one of the row's constraints.

    Returns:
        int32 counts (UNREADABLE for a cell with a fault); for each quoting column the 1-based
        numbers (BLANK for `none`, UNREADABLE where nothing matches); and the faults of the cells.
    """
    plain, counts, values = plain_json.constraints(column)
    row_of = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts

    # Two of one row can only stand as far apart as the longest row is.
    lowered = pc.ascii_lower(values)
    # Longer words that begin so go the slow way too, which tells them apart.
    plain[row_of[mask(pc.starts_with(lowered, schema.NONE))]] = False
    for apart in range(1, int(counts.max(initial=0))):
        same = mask(pc.equal(lowered[apart:], lowered[:-apart]))
        hit = np.flatnonzero(same & (row_of[apart:] == row_of[:-apart]))
        plain[row_of[hit]] = False

    lengths = to_numpy(pc.binary_length(values))
    numbers = {}
    for name, wanted in quoted.items():
        found = np.full(len(counts), UNREADABLE, np.int32)
        # Only texts of one length can be equal, and a long one is not copied in vain.
        alike = np.flatnonzero(lengths == to_numpy(pc.binary_length(wanted))[row_of])
        equal = pc.equal(values.take(arrow(alike)), wanted.take(arrow(row_of[alike])))
        hits = alike[mask(equal)]
        found[row_of[hits]] = hits - starts[row_of[hits]] + 1
        found[equals(wanted, schema.NONE)] = BLANK
        numbers[name] = found

    faults: list[Fault] = []
    for row in np.flatnonzero(~plain).tolist():
        decoded, found_faults = decode("constraints", column[row].as_py())
        counts[row] = UNREADABLE if decoded is None else len(decoded)
        faults += [(row, code, message) for code, message in found_faults]
        for name, wanted in quoted.items():
            text = wanted[row].as_py()
            numbers[name][row] = _number_of(text, decoded or [])
    return counts, numbers, faults


def _number_of(text: str, decoded: list[str]) -> int:
    if text == schema.NONE:
        return BLANK
    return decoded.index(text) + 1 if text in decoded else UNREADABLE


def why_no_match(text: str, cell: str) -> str:
    """Say why a quoted constraint is none of the constraints of its row."""
    decoded, _ = decode("constraints", cell)
    for number, constraint in enumerate(decoded or [], 1):
        if unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", constraint):
            return f"differs from constraint {number} in Unicode normalisation only"
        if fold(text).strip() == fold(constraint).strip():
            return f"differs from constraint {number} in case or surrounding space only"
    return "is none of the constraints"
