"""The two JSON columns, constraints and trajectory, judged whole columns at a time.

A cell in plain form (as `json.dumps` writes ASCII constraints, or steps numbered 1, 2, 3, … with
texts free of escapes) is recognised by a regular expression and needs no parsing. Every other
cell is parsed and held against schema.json; that path alone decides what is wrong.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from drift_core import strict_json
from drift_core.problems import escaped
from drift_onset import schema
from drift_onset.cells import BLANK, UNREADABLE, Codes, arrow, equals, mask, text_scalar, to_numpy

NONE = "none"
_PLAIN_STEPS = 40

# A first character that is visible ASCII keeps blank texts out of the fast path.
# Without an opening brace in the texts, each one in the cell opens a step.
_PLAIN_TEXT = r'"[!#-\[\]-z|-~][^"\\{\x00-\x1f\x7f]*"'
_PLAIN_ASCII_TEXT = r'"[!#-\[\]-~][ !#-\[\]-~]*"'
_PLAIN_CONSTRAINTS = rf"^\[{_PLAIN_ASCII_TEXT}(?:, ?{_PLAIN_ASCII_TEXT})*\]$"

Fault = tuple[int, str, str]  # position in the column, code, message


def _plain_trajectory() -> str:
    pattern = ""
    for step in range(_PLAIN_STEPS, 0, -1):
        rest = f"(?:, ?{pattern})?" if pattern else ""
        pattern = rf'\{{"step": ?{step}, ?"text": ?{_PLAIN_TEXT}\}}{rest}'
    return rf"^\[{pattern}\]$"


_PLAIN_TRAJECTORY = _plain_trajectory()


def fold(text: str) -> str:
    """Fold a constraint for comparison: Unicode NFC, then case."""
    return unicodedata.normalize("NFC", text).casefold()


def decode(name: str, text: str) -> tuple[Any, list[tuple[str, str]]]:
    """Decode one JSON cell and judge it.

    Args:
        name: `constraints` or `trajectory`.
        text: the cell.

    Returns:
        The decoded value (None if it is not even of that shape) and its faults as (code, message).
    """
    try:
        value = strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        return None, [(error.code, str(error))]
    if not isinstance(value, list):
        kind = {dict: "object", str: "string", type(None): "null"}.get(type(value), "value")
        return None, [("json_type", f"expected a JSON array, got a JSON {kind}")]
    faults = [
        (f"{name}_structure", f"{_place(name, error.instance_path)}{error.message}")
        for error in schema.cell_validator(name).iter_errors(value)
    ]
    if name == "constraints":
        faults += _duplicates(value)
    else:
        faults += _numbering(value)
    return (None if faults else value), faults


def _place(name: str, path: list[Any]) -> str:
    if not path:
        return ""
    item = "constraint" if name == "constraints" else "step"
    rest = "".join(f" {part}" for part in path[1:])
    return f"{item} {int(path[0]) + 1}{rest}: "


def _duplicates(constraints: list[Any]) -> Iterator[tuple[str, str]]:
    seen: dict[str, int] = {}
    for number, text in enumerate(constraints, 1):
        if isinstance(text, str):
            first = seen.setdefault(fold(text), number)
            if first != number:
                same = "equals" if text == constraints[first - 1] else "looks like"
                why = "" if same == "equals" else " (equal after Unicode NFC and case folding)"
                yield "constraint_duplicate", f"constraint {number} {same} constraint {first}{why}"


def _numbering(steps: list[Any]) -> Iterator[tuple[str, str]]:
    for number, step in enumerate(steps, 1):
        if isinstance(step, dict) and "step" in step:
            found = step["step"]
            # JSON Schema counts 2.0 and Python counts True as integers; here neither is one.
            if type(found) is not int or found != number:
                got = escaped(found)
                yield "step_number", f"item {number} has step {got}, expected the integer {number}"


def trajectories(column: pa.Array) -> tuple[Codes, list[Fault]]:
    """Count the steps of each trajectory.

    Args:
        column: JSON texts.

    Returns:
        int32 counts, UNREADABLE where the cell has a fault, and the faults.
    """
    plain = mask(pc.match_substring_regex(column, _PLAIN_TRAJECTORY))
    counts = _count_byte(column, ord("{"))
    faults: list[Fault] = []
    for row in np.flatnonzero(~plain).tolist():
        steps, found = decode("trajectory", column[row].as_py())
        counts[row] = UNREADABLE if steps is None else len(steps)
        faults += [(row, code, message) for code, message in found]
    return counts, faults


def _count_byte(column: pa.Array, byte: int) -> Codes:
    """Count a byte in each text; faster on the buffer than with a substring search."""
    _, offsets, data = column.buffers()
    if data is None:
        return np.zeros(len(column), np.int32)
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    at = np.flatnonzero(np.frombuffer(data, np.uint8)[: ends[-1]] == byte)
    return np.diff(np.searchsorted(at, ends)).astype(np.int32)


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
    plain = mask(pc.match_substring_regex(column, _PLAIN_CONSTRAINTS))
    inner = pc.binary_slice(column.cast(pa.binary()), 2, -2)
    inner = pc.if_else(arrow(plain), inner, text_scalar("").cast(pa.binary())).cast(pa.string())
    texts = pc.split_pattern_regex(inner, '", ?"')
    counts = to_numpy(pc.list_value_length(texts)).copy()
    values, row_of = texts.flatten(), np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts

    # Two of one row can only stand as far apart as the longest row is.
    lowered = pc.utf8_lower(values)
    plain[row_of[equals(lowered, NONE)]] = False
    for apart in range(1, int(counts.max(initial=0))):
        same = mask(pc.equal(lowered[apart:], lowered[:-apart]))
        hit = np.flatnonzero(same & (row_of[apart:] == row_of[:-apart]))
        plain[row_of[hit]] = False

    numbers = {}
    for name, wanted in quoted.items():
        found = np.full(len(counts), UNREADABLE, np.int32)
        hits = np.flatnonzero(mask(pc.equal(values, wanted.take(arrow(row_of)))))
        found[row_of[hits]] = hits - starts[row_of[hits]] + 1
        found[equals(wanted, NONE)] = BLANK
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
    if text == NONE:
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
