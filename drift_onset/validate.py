"""Tables of text → coded states and findings: every check of one row by itself.

What needs more than one row (duplicates, gold against predictions) is in pairing.py, what needs
several files in repository.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from drift_onset import rules, schema
from drift_onset.reading import cells, json_cells
from drift_onset.reading.cells import BLANK, UNREADABLE, Codes
from drift_onset.reading.findings import Bools, Finding, Findings
from drift_onset.reading.records import Batch
from drift_onset.reading.states import States
from drift_onset.schema import BLIND, LABELLED, PREDICTED, PREDICTION, Field

RELATIVE_TOLERANCE = 5e-7
_RESIDUAL, _LOST = "residual_constraint_failure", "lost_constraint"
_MISSING_WORDS = ("none", "na", "n/a", "nan", "null", "nil", "-")
_PERCENT = re.compile(r"[0-9]+(\.[0-9]+)? ?%|[1-9][0-9]?(\.[0-9]+)?|100")


def labelled(batch: Batch) -> tuple[States, list[Finding]]:
    """Check rows of a labelled file.

    Args:
        batch: text columns as in train.csv.

    Returns:
        The states of all rows, and what is wrong with them.
    """
    check = Findings(batch.table, batch.records, batch.faulty)
    texts = check.columns
    read = _read_cells(check, LABELLED)
    quoted = {name: texts[name] for name in (_RESIDUAL, _LOST)}
    counts, numbers = _constraints(check, quoted)
    steps = _steps(check)
    read["residual_constraint_id"], read[_LOST] = numbers[_RESIDUAL], numbers[_LOST]
    rules.hold(check, read, LABELLED, {"residual_constraint_id": _RESIDUAL})
    _bounds(check, read, steps)
    return _states(check, read, steps=steps, constraints=counts), check.found


def blind(batch: Batch) -> tuple[States, list[Finding]]:
    """Check rows of a blind file; its states are all blank, its bounds are known."""
    check = Findings(batch.table, batch.records, batch.faulty)
    _read_cells(check, BLIND)
    counts, _ = _constraints(check, {})
    steps = _steps(check)
    return _states(check, {}, steps=steps, constraints=counts), check.found


def predictions(batch: Batch) -> tuple[States, list[Finding]]:
    """Check rows of predictions by themselves; bounds need the gold, see pairing.py.

    Args:
        batch: columns as in a prediction file, text or typed.
    """
    check = Findings(batch.table, batch.records, batch.faulty)
    read = {
        name.removeprefix(PREDICTED): codes
        for name, codes in _read_cells(check, PREDICTION, float_text=True).items()
    }
    rules.hold(check, read, "state", {n: PREDICTED + n for n in schema.targets()})
    share = read.get("confidence")
    confidence = None if share is None else cells.billionths(np.where(np.isinf(share), 0, share))
    return _states(check, read, confidence=confidence), check.found


def references(batch: Batch) -> tuple[States, list[Finding]]:
    """Check gold rows in memory that hold the five targets, and what bounds them if it is there.

    Args:
        batch: columns named as the targets, labels as texts or ClassLabel ids; optionally
            `constraints_json` and `trajectory_json`, and `residual_constraint_failure` in the
            place of the residual's number.
    """
    check = Findings(batch.table, batch.records, batch.faulty)
    columns = check.columns
    residual = schema.targets()[-1]
    read, constraints, steps = {}, None, None
    if "constraints_json" in columns:
        quoted = {_RESIDUAL: columns[_RESIDUAL]} if residual not in columns else {}
        constraints, numbers = _constraints(check, quoted)
        read = dict(zip((residual,), numbers.values(), strict=False))
    labelled_fields = schema.fields(LABELLED)
    known = {"scenario_id": labelled_fields["scenario_id"], **schema.fields("state")}
    if residual not in columns:
        _read_one(check, labelled_fields[_RESIDUAL], False)
    for field in known.values():
        if field.name in columns:
            read[field.name] = _read_one(check, field, False)
    read = {name: read[name] for name in schema.targets()}
    if constraints is not None:
        beyond = (read[residual] > constraints) & (constraints > 0)
        say = "expected blank or a constraint from 1 to {}".format
        check.where(beyond, "residual_bounds", residual, lambda row: say(constraints[row]))
    if "trajectory_json" in columns:
        steps = _steps(check)
        _onset_bounds(check, read["first_drift_step"], steps, "first_drift_step")
    rules.hold(check, read, "state", {residual: _RESIDUAL} if residual not in columns else {})
    return _states(check, read, steps=steps, constraints=constraints), check.found


def _constraints(check: Findings, quoted: Mapping[str, pa.Array]) -> tuple[Codes, dict[str, Codes]]:
    """Judge the constraints and what quotes them."""
    texts = check.columns
    counts, numbers, faults = json_cells.constraints(texts["constraints_json"], quoted)
    _note_json(check, faults, "constraints_json")
    for name, codes in numbers.items():
        unmatched = (codes == UNREADABLE) & (counts > 0) & ~cells.is_blank(texts[name])
        code = "residual_constraint_text" if name == _RESIDUAL else "lost_constraint_text"
        check.where(unmatched, code, name, _no_match_sayer(texts, name))
    return counts, numbers


def _read_cells(check: Findings, kind: str, float_text: bool = False) -> dict[str, Any]:
    columns = check.columns
    read: dict[str, Any] = {}
    for field in schema.fields(kind).values():
        if field.name in columns and "contentSchema" not in field.schema:
            codes = _read_one(check, field, float_text)
            if codes is not None:
                read[field.name] = codes
    return read


def _read_one(check: Findings, field: Field, float_text: bool) -> Any:
    """Read a column as its schema says; None for plain text."""
    name, column = field.name, check.columns[field.name]
    base = name.removeprefix(PREDICTED)
    codes: Any = None
    if field.labels:
        codes = cells.label_codes(column, field.labels)
        bad, code = codes == UNREADABLE, f"unknown_{base}"
    elif "integer" in field.types:
        residual = base == schema.targets()[-1]
        codes = cells.positions(
            column, blanks=("", schema.NONE) if residual else ("",), float_text=float_text
        )
        bad, code = codes == UNREADABLE, f"{base}_integer"
        if "null" not in field.types:
            bad |= codes == BLANK
    elif "number" in field.types:
        codes = cells.decimals(column)
        bad = (codes < field.schema["minimum"]) | (codes > field.schema["maximum"])
        if "null" not in field.types:
            bad |= np.isnan(codes)
        codes, code = np.where(bad, np.inf, codes), f"{base}_range"
    else:
        bad, code = _bad_text(column, field), f"{base}_text"
    check.where(bad & ~check.blank, code, name, lambda row: _expected(field, column[row].as_py()))
    return codes


def _bad_text(column: pa.Array, field: Field) -> Bools:
    if not pa.types.is_string(column.type):
        return np.ones(len(column), np.bool_)
    bad = cells.is_blank(column)
    pattern = field.schema["pattern"]
    if pattern != schema.definition("text")["pattern"]:
        bad |= ~cells.mask(pc.match_substring_regex(column, pattern))
    if "not" in field.schema and not cells.is_all_printable_ascii(column):
        bad |= cells.mask(pc.match_substring_regex(column, field.schema["not"]["pattern"]))
    return bad


def _expected(field: Field, value: object) -> str:
    base = field.name.removeprefix(PREDICTED)
    if field.labels:
        near = cells.nearest(value, field.labels) if isinstance(value, str) else ""
        hint = f"; nearest is {near}" if near else ""
        return f"expected one of {', '.join(field.labels)}{hint}"
    if "integer" in field.types:
        hint = ""
        if isinstance(value, str) and value.lower() in _MISSING_WORDS and "null" in field.types:
            hint = "; leave the cell empty where there is none"
        if base == schema.targets()[-1]:
            return f"expected none, blank or 1..number of constraints{hint}"
        steps = "1..number of steps" if base != "trajectory_length" else "the number of steps"
        return f"expected {'blank or ' if 'null' in field.types else ''}{steps}{hint}"
    if "number" in field.types:
        low, high = field.schema["minimum"], field.schema["maximum"]
        blank = "blank or " if "null" in field.types else ""
        percent = _PERCENT.fullmatch(str(value))
        hint = "; a share, not a percentage" if percent else ""
        return f"expected {blank}a decimal number from {low} to {high}{hint}"
    if field.schema["pattern"] != schema.definition("text")["pattern"]:
        return "expected a snake_case name"
    return "expected text that is not blank" + (
        " and has no control characters" if "not" in field.schema else ""
    )


def _note_json(check: Findings, faults: Sequence[json_cells.Fault], column: str) -> None:
    for row, code, message in faults:
        if not check.blank[row]:  # else it was told that the whole row is
            check.add(row, code, column, message)


def _steps(check: Findings) -> Codes:
    steps, faults = json_cells.trajectories(check.columns["trajectory_json"])
    _note_json(check, faults, "trajectory_json")
    return steps


def _no_match_sayer(texts: Mapping[str, pa.Array], column: str) -> Callable[[int], str]:
    def say(row: int) -> str:
        cell = texts["constraints_json"][row].as_py()
        why = json_cells.why_no_match(texts[column][row].as_py(), cell)
        return f"which {why}; expected none or the exact text of one constraint"

    return say


def _onset_bounds(check: Findings, onset: Codes, steps: Codes, column: str) -> Bools:
    beyond = (onset > steps) & (steps > 0)
    check.where(
        beyond, "onset_bounds", column, lambda row: f"expected a step from 1 to {steps[row]}"
    )
    return beyond


def _bounds(check: Findings, read: Mapping[str, Any], steps: Codes) -> None:
    onset, visible = read["first_drift_step"], read["visible_failure_step"]
    length, relative = read["trajectory_length"], read["relative_onset_position"]
    beyond = _onset_bounds(check, onset, steps, "first_drift_step")
    # With an onset that cannot be, nothing can be said of what builds on it.
    outside = (visible > BLANK) & (((visible > steps) & (steps > 0)) | (visible < onset))
    outside &= ~beyond
    check.where(
        outside,
        "visible_failure_bounds",
        "visible_failure_step",
        lambda row: (
            f"expected a step from {max(onset[row], 1)} (the onset)"
            + (f" to {steps[row]}" if steps[row] > 0 else " on")
        ),
    )
    wrong = (length > BLANK) & (steps > 0) & (length != steps)
    check.where(
        wrong,
        "trajectory_length_value",
        "trajectory_length",
        lambda row: f"expected {steps[row]}, the number of steps",
    )
    share = np.where((onset > BLANK) & (steps > 0), onset / np.maximum(steps, 1), np.nan)
    with np.errstate(invalid="ignore"):
        off = ~beyond & np.isfinite(relative) & (np.abs(relative - share) > RELATIVE_TOLERANCE)
    check.where(
        off,
        "relative_onset_value",
        "relative_onset_position",
        lambda row: f"expected {share[row]:.7f}, first_drift_step / number of steps",
    )


def _states(
    check: Findings,
    read: Mapping[str, Any],
    *,
    steps: Codes | None = None,
    constraints: Codes | None = None,
    confidence: npt.NDArray[np.int64] | None = None,
) -> States:
    n = len(check.bad)
    zeros = np.zeros(n, np.int32)
    return States(
        ids=check.ids,
        codes={name: read.get(name, zeros) for name in schema.targets()},
        valid=~check.bad,
        named=~check.nameless,
        records=check.records,
        steps=zeros if steps is None else steps,
        constraints=zeros if constraints is None else constraints,
        confidence=np.full(n, -1, np.int64) if confidence is None else confidence,
    )


def checker(kind: str) -> Callable[[Batch], tuple[States, list[Finding]]]:
    """Give the check for a kind of file: labelled_record, model_input or prediction."""
    return {LABELLED: labelled, BLIND: blind, PREDICTION: predictions}[kind]


def empty(kind: str) -> States:
    """Give the states of a file without rows."""
    names: Sequence[str] = schema.header(kind)
    table = pa.table({name: pa.nulls(0, pa.string()) for name in names})
    return checker(kind)(Batch(table, np.zeros(0, np.int64)))[0]
