"""Scenario → what a model is asked. The words of fields, labels and rules are those of schema.json.

Whoever runs models shows `instructions` once and `question` for each scenario, and reads the
answers with `drift_onset.answers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_core.strict_json import dumps
from drift_onset import schema
from drift_onset.schema import LABELLED, PREDICTED, PREDICTION

OPENING = "A line of reasoning works on a task under governing constraints."
CONFIDENCE = "confidence"
_TASK = (
    "Reconstruct the state of its trajectory: was a constraint lost, at which step, by which "
    "mechanism, how far was that repaired, and which constraint is still broken at the end?"
)
_HIDDEN_TASK = (
    "The constraints are not shown: infer them from task and trajectory. Reconstruct the state of "
    "the trajectory: was a constraint lost, at which step, by which mechanism, and how far was "
    "that repaired?"
)
_FORM = "Answer with one JSON object that has exactly these keys, and write nothing after it."


def meaning(target: str) -> str:
    """Say what a target or `confidence` is.

    Example:
        >>> meaning("outcome_mode")
        'Structural state in which the trajectory ends.'
    """
    field = schema.fields(LABELLED).get(target)
    if field is None or field.decoded_from:  # predictions have it in a form of their own
        prefix = "" if target == CONFIDENCE else PREDICTED
        field = schema.fields(PREDICTION)[prefix + target]
    text: str = field.schema["description"]
    return text


def keys(hide_constraints: bool = False) -> tuple[str, ...]:
    """Give the keys of an answer: the columns of a prediction file.

    Args:
        hide_constraints: whether the constraints are not shown. No residual can be named by its
            number then, and no confidence in all five targets.

    Example:
        >>> len(keys()), len(keys(hide_constraints=True))
        (7, 5)
    """
    asked = schema.header(PREDICTION)
    return asked[:-1] if hide_constraints else (*asked, *schema.optional_columns(PREDICTION))


def instructions(hide_constraints: bool = False) -> str:
    """Say what to do, in which form, and what every key and label means.

    Args:
        hide_constraints: see `keys`.
    """
    parts = [f"{OPENING} {_HIDDEN_TASK if hide_constraints else _TASK}", _FORM]
    parts += [_explained(key) for key in keys(hide_constraints)]
    rules = "\n".join(f"- {text}" for text in _rules(hide_constraints))
    return "\n\n".join([*parts, f"Only these combinations are valid:\n{rules}"])


def question(scenario: Mapping[str, Any], hide_constraints: bool = False) -> str:
    """Show one scenario: its inputs and nothing that is derived from the answer.

    Args:
        scenario: a typed row: `scenario_id`, `domain`, `task`, `constraints` (texts),
            `trajectory` (steps with `step` and `text`).
        hide_constraints: whether to leave the constraints out.
    """
    parts = [
        f"Scenario: {scenario['scenario_id']}\nDomain: {scenario['domain']}\n"
        f"Task: {scenario['task']}"
    ]
    if not hide_constraints:
        numbered = enumerate(scenario["constraints"], 1)
        parts.append("\n".join(["Constraints:", *(f"{n}. {text}" for n, text in numbered)]))
    steps = (f"{step['step']}. {step['text']}" for step in scenario["trajectory"])
    return "\n\n".join([*parts, "\n".join(["Trajectory, step by step:", *steps])])


def answer(scenario: Mapping[str, Any], hide_constraints: bool = False) -> str:
    """Give the right answer of a labelled scenario as a model should write it.

    Args:
        scenario: a typed labelled row. The confidence is that of the annotation.
        hide_constraints: see `keys`.
    """
    known = {**scenario, CONFIDENCE: scenario["annotation_confidence"]}
    return dumps({key: known[key.removeprefix(PREDICTED)] for key in keys(hide_constraints)})


def answer_schema(hide_constraints: bool = False) -> dict[str, Any]:
    """Give the JSON Schema of an answer, in the form that structured output of providers takes.

    Every key is required and none may be added, as strict modes want it; what may be blank is
    null. Bounds of steps and constraints differ between scenarios and are checked afterwards.

    Args:
        hide_constraints: see `keys`.
    """
    asked = keys(hide_constraints)
    return {
        "type": "object",
        "properties": {key: _key_schema(schema.fields(PREDICTION)[key]) for key in asked},
        "required": list(asked),
        "additionalProperties": False,
    }


def _key_schema(field: schema.Field) -> dict[str, Any]:
    if field.labels:
        return {"type": "string", "enum": list(field.labels)}
    kinds = [{"type": kind} for kind in field.types]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _explained(key: str) -> str:
    target = key.removeprefix(PREDICTED)
    if key == "scenario_id":
        return f"{key}: as given with the scenario."
    lines = [f"{key}: {meaning(target)}"]
    if schema.fields(PREDICTION)[key].labels:
        lines += [f"- {label}: {text}" for label, text in schema.meanings(target).items()]
    return "\n".join(lines)


def _rules(hide_constraints: bool) -> list[str]:
    residual = schema.targets()[-1]
    return [
        rule["description"]
        for rule in schema.definition("state")["allOf"]
        if not (hide_constraints and set(rule["then"]["properties"]) == {residual})
    ]
