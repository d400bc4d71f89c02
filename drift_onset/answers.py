"""What a model wrote → one answer, or why it is none. Nothing is guessed.

The last complete answer object counts; prose, code fences and backticks around it do not matter.
Everything inside it does: it is strict JSON and is held to the same checks as a row of
a prediction file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drift_core.problems import Problem, escaped
from drift_core.strict_json import StrictJsonError, loads
from drift_onset import pairing, schema, validate
from drift_onset.prompt import CONFIDENCE
from drift_onset.reading.cells import BILLION, text_array
from drift_onset.reading.findings import Finding
from drift_onset.reading.records import Batch
from drift_onset.reading.states import States
from drift_onset.reading.tables import with_ids
from drift_onset.schema import PREDICTED, PREDICTION

NAME = "<answer>"
_THOUGHT = re.compile(r"\s*<think\b")
_THOUGHT_END = "</think>"
_BRACE = re.compile(r"[{}]")
_OPENING = re.compile(r'\{\s*(["}])?')
_KEY = re.compile(rf"\b(?:{PREDICTED})?(?:{'|'.join(schema.targets())})[\"'`”]?\s*:", re.I)
_MAX_BROKEN = 10_000
# Finds where an object ends; numbers stay text, for those with too many digits raise an error.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True)
class Answer:
    """What one model said of one scenario.

    Attributes:
        scenario_id: the scenario that was asked about.
        row: the answer as a row of a prediction file, blanks as None; None if unreadable.
        problems: why it is unreadable; empty if it is not.
    """

    scenario_id: str
    row: Mapping[str, Any] | None
    problems: tuple[Problem, ...] = ()

    def as_row(self) -> dict[str, Any]:
        """Give the row; of an unreadable answer, one that has the identifier alone."""
        return {"scenario_id": self.scenario_id} if self.row is None else dict(self.row)

    def why(self) -> str:
        """Say in one line why it is unreadable; empty if it is not."""
        return "; ".join(": ".join(filter(None, (p.column, p.message))) for p in self.problems)


class _UnreadableError(Exception):
    """A text holds no answer: a code and a message."""


def read(
    text: str | None,
    scenario_id: str,
    *,
    steps: int,
    constraints: int,
    hide_constraints: bool = False,
) -> Answer:
    """Read what a model wrote.

    Args:
        text: all that it wrote; a `<think>` part in front is left aside. None is nothing.
        scenario_id: the scenario that it was asked about; if the answer names one, it is this.
        steps: number of steps, the highest onset.
        constraints: number of constraints, the highest residual.
        hide_constraints: whether the answer has no residual and no confidence. The row holds a
            residual all the same, one that is lawful; it says nothing and is not to be scored.

    Returns:
        The answer. It is unreadable where there is no answer object, where the last one is cut off
        or broken, where two differ, and where a row of a prediction file would have a problem.

    Example:
        >>> said = 'Here it is: `{"outcome_mode": "no_drift", "first_drift_step": null, '
        >>> said += '"mechanism_family": "none", "repair_outcome": "not_applicable", '
        >>> said += '"residual_constraint_id": null}`. Is that fine?'
        >>> read(said, "a", steps=5, constraints=3).row["predicted_outcome_mode"]
        'no_drift'
        >>> read(said[:-22], "a", steps=5, constraints=3).why()
        'the last answer object is cut off'
    """
    asked = schema.targets()[:-1] if hide_constraints else schema.targets()
    try:
        cells = _one_answer(_spoken(text or ""), asked, scenario_id)
        _check_scenario(cells.pop("scenario_id", ""), scenario_id)
    except _UnreadableError as error:
        code, message = error.args
        return Answer(scenario_id, None, (_problem(scenario_id, code, message),))
    if hide_constraints:
        cells[schema.targets()[-1]] = _any_residual(cells)
        cells.pop(CONFIDENCE, None)
    states, findings = _checked(cells, scenario_id, steps, constraints)
    if findings:
        problems = (
            Problem(f.code, NAME, None, scenario_id, f.column, f.value, f.message) for f in findings
        )
        return Answer(scenario_id, None, tuple(problems))
    return Answer(scenario_id, _row(states))


def _spoken(text: str) -> str:
    """Give what comes after the thinking that some servers leave in the text."""
    if _THOUGHT_END in text:
        return text.rsplit(_THOUGHT_END, 1)[1]
    if _THOUGHT.match(text):
        raise _UnreadableError("answer_cut_off", "is cut off while thinking")
    return text


def _one_answer(text: str, asked: Sequence[str], scenario_id: str) -> dict[str, str]:
    """Give the cells of the last answer object, if the complete ones agree."""
    found = list(_objects(text))
    if not found:
        what = "holds no answer object" if text.strip() else "is empty"
        raise _UnreadableError("no_answer", what)
    last = found[-1]
    if isinstance(last, _UnreadableError):
        raise last
    missing = [target for target in asked if target not in last]
    if missing:
        raise _UnreadableError("answer_key_missing", f"lacks {', '.join(missing)}")
    for other in found:
        complete = isinstance(other, dict) and all(target in other for target in asked)
        if complete and _said(other, scenario_id) != _said(last, scenario_id):
            raise _UnreadableError("answers_differ", "holds two complete answers that differ")
    return last


def _said(cells: Any, scenario_id: str) -> dict[str, str]:
    """Give cells without those that are blank or need not be there."""
    idle = ("", schema.NONE)
    return {key: cell for key, cell in cells.items() if cell not in (*idle, scenario_id)}


def _objects(text: str) -> Iterator[dict[str, str] | _UnreadableError]:
    """Find the outermost objects that have a target as key, as cells or as what is wrong."""
    last_end, broken = text.rfind("}"), 0
    opening = _OPENING.search(text)
    while opening:
        at = opening.start()
        value, end, fault = _decoded(text, opening)
        if fault:
            broken += opening[1] is not None
            if broken > _MAX_BROKEN:
                fault, end = f"has more than {_MAX_BROKEN} broken objects", -1
            if end < 0:
                yield _UnreadableError("json_invalid", fault)
                return
            brace = _BRACE.search(text, end)
            if _KEY.search(text, at, brace.start() if brace else len(text)):
                yield _broken(fault, cut_off=end > last_end)
        elif any(_plain(key) in schema.targets() for key in value):
            yield _read_object(text[at:end])
        opening = _OPENING.search(text, end)


def _decoded(text: str, opening: re.Match[str]) -> tuple[dict[str, Any], int, str]:
    """Decode the object that a brace opens: its value, where it or its fault ends, the fault."""
    if not opening[1]:  # most braces of prose and formulas: told without the cost of an error
        return {}, opening.end(), "a key without double quotes"
    try:
        value, end = _DECODER.raw_decode(text, opening.start())
    except json.JSONDecodeError as error:
        return {}, max(error.pos, opening.end() - 1), error.msg
    except RecursionError:
        return {}, -1, "is nested too deeply"
    return value, end, ""


def _read_object(text: str) -> dict[str, str] | _UnreadableError:
    try:
        return _cells(loads(text))
    except StrictJsonError as error:
        return _UnreadableError(error.code, str(error))
    except _UnreadableError as error:
        return error


def _broken(fault: str, cut_off: bool) -> _UnreadableError:
    if cut_off:
        return _UnreadableError("answer_cut_off", "the last answer object is cut off")
    return _UnreadableError("json_invalid", f"the last answer object is not JSON: {fault}")


def _plain(key: str) -> str:
    return key.lower().removeprefix(PREDICTED)


def _cells(value: Mapping[str, Any]) -> dict[str, str]:
    """Give the known keys with their values as a prediction file would hold them."""
    cells: dict[str, str] = {}
    for key, given in value.items():
        name = _plain(key)
        if name not in (*schema.targets(), "scenario_id", CONFIDENCE):
            continue
        if name in cells:
            raise _UnreadableError("json_duplicate_key", f"has {name} twice")
        cells[name] = _cell(given)
    return cells


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # 3.0 is read as 3, as in a file
    return value if isinstance(value, str) else json.dumps(value)


def _check_scenario(named: str, expected: str) -> None:
    if named not in ("", expected):
        message = f"answers scenario {escaped(named)}, expected {escaped(expected)}"
        raise _UnreadableError("unknown_scenario", message)


def _any_residual(cells: Mapping[str, str]) -> str:
    """Give a residual that is lawful beside the rest: blank, or else the first constraint."""
    record = {target: cells[target] or None for target in schema.targets()[:-1]}
    residual = schema.targets()[-1]
    broken = schema.broken_rules("state", {**record, residual: None})
    return "1" if any(column == residual for _, column in broken) else ""


def _checked(
    cells: Mapping[str, str], scenario_id: str, steps: int, constraints: int
) -> tuple[States, list[Finding]]:
    """Hold one answer to the checks of a prediction file."""
    named = {
        name: text_array([cells.get(name.removeprefix(PREDICTED), "")])
        for name in (*schema.header(PREDICTION)[1:], *schema.optional_columns(PREDICTION))
    }
    ids = text_array([scenario_id])
    table = with_ids({"scenario_id": ids, **named}, 1)
    states, findings = validate.predictions(Batch(table, np.arange(1)))
    bounds = States(
        ids=ids,
        codes={target: np.zeros(1, np.int32) for target in schema.targets()},
        valid=np.ones(1, np.bool_),
        named=np.ones(1, np.bool_),
        records=np.zeros(1, np.int64),
        steps=np.array([steps], np.int32),
        constraints=np.array([constraints], np.int32),
        confidence=np.full(1, -1, np.int64),
    )
    return states, findings + pairing.pair(bounds, states)[1]


def _row(states: States) -> dict[str, Any]:
    """Give the one state as a row of a prediction file."""
    row: dict[str, Any] = {"scenario_id": states.ids[0].as_py()}
    for target in schema.targets():
        code = int(states.codes[target][0])
        known = schema.fields("state")[target].labels
        row[PREDICTED + target] = known[code] if known else code or None
    confidence = int(states.confidence[0])
    row[CONFIDENCE] = None if confidence < 0 else confidence / BILLION
    return row


def _problem(scenario_id: str, code: str, message: str) -> Problem:
    return Problem(code, NAME, None, scenario_id, None, None, message)
