"""Columns and measures → one row a trajectory, as values and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from drift_core.strict_json import dumps
from traj_eval.columns import Columns, Floats
from traj_eval.measures import REGIMES, Measures
from traj_eval.runs import Codes
from traj_eval.votes import VOTES

_FLAGS = ("correct", "ever_correct", "lost_correct")
_WHOLE = (
    "verdict_convergence_step",
    "longest_stable_run",
    "answer_commitment_step",
    "stability_commitment_lag",
)
_NUMBERS = (
    "verdict_convergence_step",
    "flip_rate",
    "step_consistency",
    "longest_stable_run",
    "early_factor",
    "post_change_rate",
    "length_growth",
    "score",
    "gated_score",
    "answer_commitment_step",
    "stability_commitment_lag",
    "unwritten_reasoning_at_convergence",
    "temporal_entropy",
)


def fields(columns: Columns, measures: Measures) -> dict[str, list[Any]]:
    """Give the rows of n trajectories as lists: name → n values, None where there is none."""
    labels = [*columns.labels, None]  # the code of nothing is -1
    values = measures.values
    return {
        **{name: list(column) for name, column in columns.named.items()},
        "n_steps": columns.lengths.tolist(),
        "gold": _texts(columns.gold, labels),
        "final_verdict": _texts(measures.final, labels),
        **{name: _flags(values[name]) for name in _FLAGS},
        **{name: _numbers(values[name], name in _WHOLE) for name in _NUMBERS},
        **{f"temporal_vote_{kind}": _texts(measures.votes[kind], labels) for kind in VOTES},
        "regime": [REGIMES[k] for k in measures.regime.tolist()],
    }


def rows(columns: Columns, measures: Measures) -> list[dict[str, Any]]:
    """Give one dict a trajectory."""
    found = fields(columns, measures)
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def lines(columns: Columns, measures: Measures) -> Iterator[str]:
    """Give one line of strict JSON a trajectory, without its end.

    A metric has few distinct values; each is written once and looked up after that.
    """
    found = fields(columns, measures)
    cells = [map(_Cells(name).__getitem__, column) for name, column in found.items()]
    return (f"{{{', '.join(row)}}}" for row in zip(*cells, strict=True))


class _Cells(dict[Any, str]):
    """Values of one field → name and value in JSON."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = dumps(name)

    def __missing__(self, value: Any) -> str:
        # Floats are finite here; `repr` writes them as JSON does, at a tenth of the price.
        written = repr(value) if type(value) is float else dumps(value)
        text = self[value] = f"{self._name}: {written}"
        return text


def _texts(codes: Codes, labels: Sequence[str | None]) -> list[str | None]:
    return [labels[code] for code in codes.tolist()]


def _flags(values: Floats) -> list[bool | None]:
    return [None if v != v else v == 1 for v in values.tolist()]


def _numbers(values: Floats, whole: bool) -> list[Any]:
    numbers: list[Any] = values.tolist()
    if whole:
        numbers = np.where(np.isnan(values), 0, values).astype(np.int64).tolist()
    undefined = np.isnan(values)
    if undefined.any():
        return [None if no else v for v, no in zip(numbers, undefined.tolist(), strict=True)]
    return numbers
