"""Measures → counts that can be added up: the only thing that aggregates are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traj_eval.measures import REGIMES, Measures

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Key = tuple[str | None, ...]

AGGREGATES = {
    "accuracy": "correct",
    "coverage": "decided",
    "conditional_accuracy": "correct_if_decided",
    "mean_convergence_step": "verdict_convergence_step",
    "mean_flip_rate": "flip_rate",
    "mean_step_consistency": "step_consistency",
    "mean_early_factor": "early_factor",
    "mean_post_change_rate": "post_change_rate",
    "mean_length_growth": "length_growth",
    "mean_score": "score",
    "mean_gated_score": "gated_score",
    "mean_answer_commitment_step": "answer_commitment_step",
    "mean_stability_commitment_lag": "stability_commitment_lag",
    "mean_unwritten_reasoning": "unwritten_reasoning_at_convergence",
    "ever_correct": "ever_correct",
    "lost_correct": "lost_correct",
    "temporal_vote_fixed": "temporal_vote_fixed",
    "temporal_vote_linear": "temporal_vote_linear",
    "temporal_vote_exponential": "temporal_vote_exponential",
    "mean_temporal_entropy": "temporal_entropy",
}


@dataclass(frozen=True)
class Distribution:
    """How often each value of a metric was seen.

    Attributes:
        values: k distinct values, ascending.
        n: k counts.
    """

    values: Floats
    n: Ints

    @staticmethod
    def of(values: Floats) -> Distribution:
        """Count values; NaN is none."""
        return Distribution(*np.unique(values[~np.isnan(values)], return_counts=True))

    def __add__(self, other: Distribution) -> Distribution:
        values, where = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        n = np.zeros(len(values), np.int64)
        np.add.at(n, where, np.concatenate([self.n, other.n]))
        return Distribution(values, n)

    @property
    def total(self) -> int:
        """Number of trajectories that have a value."""
        return int(self.n.sum())


@dataclass(frozen=True)
class Group:
    """Counts of n trajectories; `a + b` merges two, exactly and in any order.

    Attributes:
        n: number of trajectories.
        regimes: how many are in each of `REGIMES`.
        sources: what their texts show.
        distributions: name of the aggregate → values of its metric.
    """

    n: int
    regimes: tuple[int, ...]
    sources: frozenset[str | None]
    distributions: Mapping[str, Distribution]

    def __add__(self, other: Group) -> Group:
        return Group(
            self.n + other.n,
            tuple(a + b for a, b in zip(self.regimes, other.regimes, strict=True)),
            self.sources | other.sources,
            {name: one + other.distributions[name] for name, one in self.distributions.items()},
        )


@dataclass(frozen=True)
class Tally:
    """Counts by group; `a + b` merges two, exactly and in any order.

    Attributes:
        groups: values of the fields that group → counts.
    """

    groups: Mapping[Key, Group]

    def __add__(self, other: Tally) -> Tally:
        merged = dict(self.groups)
        for key, group in other.groups.items():
            merged[key] = merged[key] + group if key in merged else group
        return Tally(merged)

    @staticmethod
    def of(
        measures: Iterable[Measures], keys: Sequence[Key], sources: Sequence[str | None]
    ) -> Tally:
        """Count what was measured.

        Args:
            measures: of some trajectories each.
            keys: the groups of all of them, in order.
            sources: what the texts of all of them show, in order.
        """
        parts = list(measures)
        if not parts:
            return Tally({})
        numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
        group = np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))
        regime = np.concatenate([part.regime for part in parts])
        values = {
            metric: np.concatenate([part.values[metric] for part in parts])
            for metric in AGGREGATES.values()
        }
        shown: dict[Key, set[str | None]] = {}
        for key, source in set(zip(keys, sources, strict=True)):
            shown.setdefault(key, set()).add(source)
        found = {}
        for key, number in numbers.items():
            rows = group == number
            regimes = np.bincount(regime[rows], minlength=len(REGIMES))
            found[key] = Group(
                int(rows.sum()),
                tuple(regimes.tolist()),
                frozenset(shown[key]),
                {name: Distribution.of(values[m][rows]) for name, m in AGGREGATES.items()},
            )
        return Tally(found)

    @property
    def total(self) -> Group | None:
        """The counts of all groups together; None if there is none."""
        whole: Group | None = None
        for group in self.groups.values():
            whole = group if whole is None else whole + group
        return whole


def sort_key(key: Key) -> tuple[tuple[bool, str], ...]:
    """Order groups by name, those without one last."""
    return tuple((name is None, name or "") for name in key)
