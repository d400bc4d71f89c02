"""Counts → means and their intervals."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from drift_core.exact import ExactSum
from drift_core.resampling import Interval, bootstrap_mean
from traj_eval.measures import REGIMES
from traj_eval.tally import AGGREGATES, Group


@dataclass(frozen=True)
class Aggregate:
    """Means over n trajectories.

    Attributes:
        n: number of trajectories.
        means: name → mean over the trajectories that have a value; None if none has.
        defined: name → how many trajectories have a value.
        intervals: name → 95 % bootstrap interval of the mean; empty without resamples.
        regimes: name → number of trajectories.
    """

    n: int
    means: Mapping[str, float | None]
    defined: Mapping[str, int]
    intervals: Mapping[str, Interval]
    regimes: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Give everything with its keys in their fixed order."""
        return {
            "n": self.n,
            **self.means,
            "defined": dict(self.defined),
            "intervals": {name: found.to_dict() for name, found in self.intervals.items()},
            "regimes": dict(self.regimes),
        }


def aggregates(groups: Sequence[Group], *, resamples: int, seed: int) -> list[Aggregate]:
    """Give the means of some groups.

    Every mean is the exact sum of doubles over their number, rounded once. An interval depends on
    its group and the seed alone, not on what else is computed with it.

    Args:
        groups: counts of at least one trajectory each.
        resamples: bootstrap resamples; 0 for no intervals.
        seed: of numpy's default generators.
    """

    def interval(job: tuple[Group, int]) -> Interval:
        group, place = job
        found = group.distributions[names[place]]
        rng = np.random.default_rng([seed, place])
        missing = group.n - found.total
        return bootstrap_mean(found.values, found.n, missing, resamples, rng)

    names = list(AGGREGATES)
    jobs = [(group, k) for group in groups for k in range(len(names))] if resamples else []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        intervals = list(pool.map(interval, jobs))
    return [
        Aggregate(
            group.n,
            {name: ExactSum.of_counted(f.values, f.n).mean() for name, f in _named(group)},
            {name: found.total for name, found in _named(group)},
            dict(zip(names, intervals[k * len(names) :], strict=False)),
            dict(zip(REGIMES, group.regimes, strict=True)),
        )
        for k, group in enumerate(groups)
    ]


def _named(group: Group) -> Any:
    return group.distributions.items()
