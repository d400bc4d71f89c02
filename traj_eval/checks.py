"""What is wrong with one trajectory: the schema, and the rules that span its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drift_core.problems import Problem, escaped
from traj_eval import canvas, schema
from traj_eval.schema import Fault

OPTIONAL = ("answer_masked", "answer", "reasoning_committed")


def problems(value: Any, file: str, line: int | None) -> list[Problem]:
    """Give all problems of one trajectory.

    Args:
        value: what a line of a file, or an item in memory, holds.
        file: path of the file, or a name like `<trajectories>`.
        line: its line, counted from 1, or its item, counted from 0.
    """
    identifier = value.get("id") if isinstance(value, Mapping) else None
    found = schema.faults(value)
    if not found:
        found = [*_order(value["steps"]), *_mixed(value["steps"])]
        if value.get("tokens") is not None:
            found += canvas.faults(value)
    return [
        Problem(
            fault.code,
            file,
            line,
            identifier if isinstance(identifier, str) else None,
            fault.path or None,
            fault.value,
            fault.message,
        )
        for fault in found
    ]


def _order(steps: list[Any]) -> Iterator[Fault]:
    for k in range(1, len(steps)):
        before, number = steps[k - 1]["step"], steps[k]["step"]
        if number <= before:
            what = "is there twice" if number == before else f"comes after step {before}"
            message = f"step {number} {what}; step numbers must increase: sort the steps"
            message += ", keep one of each number"
            yield Fault("step_order", f"steps[{k}].step", escaped(number), message)


def _mixed(steps: list[Any]) -> Iterator[Fault]:
    for name in OPTIONAL:
        if name == "answer":  # there may be none while it is masked
            continue
        has = [step.get(name) is not None for step in steps]
        if any(has) and not all(has):
            odd = has.index(not has[0])
            some, other = sorted((has.index(True), has.index(False)))
            message = (
                f"is in some steps and not in others (compare steps[{some}] and steps[{other}]); "
                "expected in all of a trajectory or in none"
            )
            yield Fault("mixed_steps", f"steps[{odd}].{name}", None, message)
