"""Trajectories → one column a field, and whether these can be trusted without a closer look.

Nothing here loops over steps in Python: a file is read at the speed of its parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from traj_eval import schema

_FIELDS = ("id", "gold", "model", "task", "condition", "source", "mask")
_CANVAS = ("tokens", "mask_id", "answer_span", "prompt_length")
_INT32_MAX = 2**31 - 1
UNKNOWN = -1

Trajectory = Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """The fields of n trajectories with m steps in all.

    Attributes:
        trajectories: field → n values; None, or the default, where a trajectory lacks it.
        lengths: n numbers of steps.
        steps: field → m values; an optional field that no step has may be left out.
        step: m numbers of steps.
        answer_masked: m times 0 or 1, -1 where it is not known.
        committed: m shares of the reasoning, NaN where it is not known.
        n_fields: how many fields of trajectories and steps were found, each counted as often as
            it is there; None if they were not the same in all steps.
    """

    trajectories: Mapping[str, list[Any]]
    lengths: list[int]
    steps: Mapping[str, list[Any]]
    step: npt.NDArray[np.int64]
    answer_masked: npt.NDArray[np.int8]
    committed: npt.NDArray[np.float64]
    n_fields: int | None


def lay_out(trajectories: Sequence[Trajectory], *, first_tells: bool = False) -> Layout:
    """Turn trajectories into columns.

    Args:
        trajectories: at least one; they need not be valid.
        first_tells: whether to take it that no step has a field that the first one lacks; the
            caller then has to count the fields.

    Raises:
        TypeError, KeyError, AttributeError, IndexError, ValueError, OverflowError: they do not have
            the form.
    """
    of_steps = list(map(itemgetter("steps"), trajectories))
    lengths = list(map(len, of_steps))
    flat = list(chain.from_iterable(of_steps))
    named = {name: [t.get(name) for t in trajectories] for name in _FIELDS}
    default = schema.fields()["mask"]["default"]
    named["mask"] = [default if mask is None else mask for mask in named["mask"]]
    names = tuple(flat[0])
    m = len(flat)
    n_fields: int | None = sum(map(len, trajectories)) + len(names) * m
    try:
        if not first_tells and sum(map(len, flat)) != len(names) * m:
            raise KeyError
        steps = {name: list(map(itemgetter(name), flat)) for name in names}
    except KeyError:
        steps = {name: [step.get(name) for step in flat] for name in schema.step_fields()}
        n_fields = None
    return Layout(
        trajectories=named,
        lengths=lengths,
        steps=steps,
        step=np.fromiter(steps["step"], np.int64, m),
        answer_masked=_flags(steps.get("answer_masked"), m),
        committed=_shares(steps.get("reasoning_committed"), m),
        n_fields=n_fields,
    )


def _flags(column: list[bool | None] | None, m: int) -> npt.NDArray[np.int8]:
    if column is None:
        return np.full(m, UNKNOWN, np.int8)
    try:
        return np.frombuffer(bytes(column), np.int8)  # type: ignore[arg-type]
    except TypeError:
        return np.array([UNKNOWN if flag is None else flag for flag in column], np.int8)


def _shares(column: list[float | None] | None, m: int) -> npt.NDArray[np.float64]:
    if column is None:
        return np.full(m, np.nan)
    try:
        return np.fromiter(column, np.float64, m)
    except TypeError:
        return np.array(column, np.float64)  # None becomes NaN


def is_regular(layout: Layout, trajectories: Sequence[Trajectory]) -> bool:
    """Tell whether trajectories are certainly valid, but for unknown fields in their steps.

    Where this is False, they may still be valid: one by one, `traj_eval.checks` will tell.

    Args:
        layout: of these trajectories.
        trajectories: the same; what their canvas says is filled in.
    """
    without = {*_FIELDS, "steps"}
    required = schema.document()["required"]
    if layout.n_fields is None or not min(layout.lengths):
        return False
    for t in trajectories:
        if type(t) is not dict or not all(name in t for name in required):
            return False
        if type(t["steps"]) is not list:
            return False
        if not t.keys() <= without and not _has_sound_rest(t):
            return False
    return _named_are_regular(layout) and _steps_are_regular(layout)


def _has_sound_rest(t: Trajectory) -> bool:
    """Tell whether what comes on top of the plain fields is a canvas, or null and says nothing."""
    if not t.keys() <= schema.fields().keys():
        return False
    return t.get("tokens") is not None or all(t.get(name) is None for name in _CANVAS)


def _named_are_regular(layout: Layout) -> bool:
    named = layout.trajectories
    if not all(named["id"]) or not all(named["mask"]) or "" in named["gold"]:
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
    if "" in steps["verdict"]:
        return False
    if "reasoning_committed" in steps:
        committed = layout.committed
        if not 0 <= committed.min() <= committed.max() <= 1:
            return False
    return _steps_increase(layout)


def _steps_increase(layout: Layout) -> bool:
    step = layout.step
    if step.min() < 0 or step.max() > _INT32_MAX:
        return False
    rises = step[1:] > step[:-1]
    firsts = np.cumsum(layout.lengths)[:-1]
    rises[firsts - 1] = True
    return bool(rises.all())
