"""Trajectories → one list a field, and whether these can be trusted without a closer look.

Nothing here loops over steps in Python: a file is read at the speed of its parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from traj_eval import schema

_FIELDS = ("id", "gold", "model", "task", "condition", "source", "mask")
_INT32_MAX = 2**31 - 1

Trajectory = Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """The fields of n trajectories with m steps in all, as lists.

    Attributes:
        trajectories: field → n values; None, or the default, where a trajectory lacks it.
        lengths: n numbers of steps.
        steps: field → m values; a field that no step has is left out.
        n_fields: how many fields of trajectories and steps were found, each counted as often as
            it is there; None if they were not the same in all steps.
    """

    trajectories: Mapping[str, list[Any]]
    lengths: list[int]
    steps: Mapping[str, list[Any]]
    n_fields: int | None

    @property
    def n_steps(self) -> int:
        """Number of all steps."""
        return len(self.steps["step"])


def lay_out(trajectories: Sequence[Trajectory]) -> Layout:
    """Turn trajectories into lists.

    Args:
        trajectories: at least one; they need not be valid.

    Raises:
        TypeError, KeyError, AttributeError, IndexError: they do not have the form.
    """
    of_steps = list(map(itemgetter("steps"), trajectories))
    lengths = list(map(len, of_steps))
    flat = list(chain.from_iterable(of_steps))
    named = {name: [t.get(name) for t in trajectories] for name in _FIELDS}
    default = schema.fields()["mask"]["default"]
    named["mask"] = [default if mask is None else mask for mask in named["mask"]]
    names = tuple(flat[0])
    try:
        steps = {name: list(map(itemgetter(name), flat)) for name in names}
    except KeyError:
        steps = {name: [step.get(name) for step in flat] for name in schema.step_fields()}
        return Layout(named, lengths, steps, None)
    n_fields = sum(map(len, trajectories)) + len(names) * len(flat)
    return Layout(named, lengths, steps, n_fields)


def is_regular(layout: Layout, trajectories: Sequence[Trajectory]) -> bool:
    """Tell whether trajectories are certainly valid, but for unknown fields in their steps.

    Where this is False, they may still be valid: one by one, `traj_eval.checks` will tell.

    Args:
        layout: of these trajectories.
        trajectories: as they were parsed, without a canvas.
    """
    known = schema.fields().keys()
    required = schema.document()["required"]
    if layout.n_fields is None or not min(layout.lengths):
        return False
    for t in trajectories:
        if type(t) is not dict or not t.keys() <= known or not all(name in t for name in required):
            return False
        if type(t["steps"]) is not list or t.get("mask", "?") is None:
            return False
    return _named_are_regular(layout) and _steps_are_regular(layout)


def _named_are_regular(layout: Layout) -> bool:
    named = layout.trajectories
    if not all(named["id"]) or not all(named["mask"]):
        return False
    if not set(map(_hashable, named["source"])) <= set(schema.fields()["source"]["enum"]):
        return False
    return all(
        set(map(type, named[name])) <= schema.types_of(schema.fields()[name])
        for name in named
        if name != "source"
    )


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str) else repr(value) if value is not None else None


def _steps_are_regular(layout: Layout) -> bool:
    steps, known = layout.steps, schema.step_fields()
    if not steps.keys() <= known.keys():
        return False
    if not steps.keys() >= set(schema.required_step_fields()):
        return False
    for name, column in steps.items():
        allowed = schema.types_of(known[name])
        if name in ("answer_masked", "reasoning_committed"):  # null in some is told by the checks
            allowed = allowed - {type(None)}
        if not set(map(type, column)) <= allowed:
            return False
    committed = steps.get("reasoning_committed")
    if committed is not None and not 0 <= min(committed) <= max(committed) <= 1:
        return False
    return _steps_increase(layout)


def _steps_increase(layout: Layout) -> bool:
    if not 0 <= min(layout.steps["step"]) <= max(layout.steps["step"]) <= _INT32_MAX:
        return False
    step = np.array(layout.steps["step"], np.int64)
    rises = step[1:] > step[:-1]
    firsts = np.cumsum(layout.lengths)[:-1]
    rises[firsts - 1] = True
    return bool(rises.all())
