"""One trajectory, in any form that is handy, through the same code as many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drift_core.problems import InvalidInput
from traj_eval.chunks import of_items
from traj_eval.columns import Builder
from traj_eval.evaluation import Options
from traj_eval.measures import measure
from traj_eval.rows import rows

Trajectory = Mapping[str, Any] | Sequence[Any]


def measured(
    trajectory: Trajectory, *, texts: bool = False, options: Options | None = None
) -> dict[str, Any]:
    """Give the row of one trajectory."""
    options = options or Options()
    chunk = next(of_items([whole(trajectory, texts)], "<trajectory>"))
    if chunk.layout is None:
        raise InvalidInput(chunk.problems)
    builder = Builder()
    builder.add(chunk.layout)
    columns = builder.take()
    return rows(columns, measure(columns, weights=options.weights, edits=options.edits))[0]


def whole(trajectory: Trajectory, texts: bool = False) -> dict[str, Any]:
    """Give a trajectory in the file format; what does not matter is filled in."""
    named: Mapping[str, Any] = {}
    if isinstance(trajectory, Mapping):
        named, steps = trajectory, trajectory.get("steps")
    else:
        steps = trajectory
    if isinstance(steps, Sequence) and not isinstance(steps, str):
        steps = [_step(k, step, texts) for k, step in enumerate(steps)]
    return {"id": "<trajectory>", "gold": None, **named, "steps": steps}


def _step(k: int, step: Any, texts: bool) -> Any:
    if isinstance(step, Mapping):
        return dict(step) if texts or "text" in step else {**step, "text": ""}
    if texts:
        return step
    return {"step": k, "verdict": step, "text": ""}
