"""How far two systems are apart on the same rows, and whether that can be told: on counts alone.

The same resamples are taken for both, so that what is easy or hard for both cancels out. Two
answers are given for each metric: the interval of the difference (paired bootstrap) and the
probability of a difference at least as large if it did not matter which system gave which answer
(exact McNemar test for complete-primary accuracy, paired randomisation for the others). Systems
count as told apart only where both agree: bootstrap intervals are too narrow on few rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, exp, lgamma, log
from typing import Any

import numpy as np

from drift_core import resampling
from drift_core.resampling import Interval
from drift_onset import scores, uncertainty
from drift_onset.comparing.paired import COMPLETE, PairedCounts, without_confidence
from drift_onset.counts import Counts, Ints
from drift_onset.scores import LEADERBOARD_B, METRICS, Floats, Scores

ALPHA = 1 - resampling.LEVEL
MCNEMAR, RANDOMISATION = "exact McNemar", "paired randomisation"
# Calibration is about confidences, which need not exist on both sides.
COMPARED = tuple(m for m in METRICS if m not in ("expected_calibration_error", METRICS[-1]))
_ERROR = "mean_absolute_onset_error"
_TINY = 1e-9


@dataclass(frozen=True)
class Difference:
    """One metric of two systems.

    Attributes:
        a, b: its values; None where it is not defined.
        difference: a less b.
        interval: of the difference, paired bootstrap.
        p: of a difference this large or larger, either way, if the systems were alike.
        test: `exact McNemar` or `paired randomisation`.
    """

    a: float | None
    b: float | None
    difference: float | None
    interval: Interval
    p: float | None
    test: str

    @property
    def is_told_apart(self) -> bool:
        """Whether the interval leaves 0 out and p is below 0.05."""
        low, high = self.interval.low, self.interval.high
        if low is None or high is None or self.p is None:
            return False
        return (low > 0 or high < 0) and self.p < ALPHA

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "interval": self.interval.to_dict(),
            "p": self.p,
            "test": self.test,
            "distinguishable": self.is_told_apart,
        }


def differences(
    counted: PairedCounts, a: Scores, b: Scores, *, resamples: int, seed: int
) -> dict[str, Difference]:
    """Give the difference of every compared metric.

    Args:
        counted: at least one row.
        a: the scores of the first system on these rows.
        b: the scores of the second.
        resamples: how many, at least 1.
        seed: of numpy's default generators.
    """
    first, second = (_statistics(side) for side in counted.sides())
    exchanged = _exchanges(counted)

    def work(size: int, rng: np.random.Generator) -> dict[str, Floats]:
        drawn = resampling.draw(counted.n, size, rng)  # one draw for both: what pairs them
        ours, theirs = first(drawn), second(drawn)
        found = {name: ours[name] - theirs[name] for name in COMPARED}
        return {**found, **{f"null {n}": v for n, v in exchanged(size, rng).items()}}

    drawn = resampling.in_blocks(work, resamples, seed)
    only_a, only_b = counted.flips()[COMPLETE]
    found = {}
    for name in COMPARED:
        left, right = a.metrics()[name], b.metrics()[name]
        both = left is not None and right is not None
        by = left - right if left is not None and right is not None else None
        n = int(_has_error(counted).sum()) if name == _ERROR else counted.total
        if name == LEADERBOARD_B[0]:
            p, test = mcnemar(only_a, only_b), MCNEMAR
        else:
            # Resamples without a value count against a difference.
            as_far = ~(np.abs(drawn[f"null {name}"]) < abs(by or 0.0) - _TINY)
            p, test = float(1 + as_far.sum()) / (1 + resamples), RANDOMISATION
        interval = resampling.percentile(drawn[name], n)
        found[name] = Difference(left, right, by, interval, p if both else None, test)
    return found


def _has_error(counted: PairedCounts) -> Ints:
    first, second = counted.sides()
    return counted.n[(first.onset_error >= 0) & (second.onset_error >= 0)]


def _statistics(side: Counts) -> Callable[[Ints], dict[str, Floats]]:
    """Prepare every compared metric for many weightings of the same outcomes."""
    components = uncertainty.component_statistics(side.outcomes)
    known = side.onset_error >= 0
    masks = {
        LEADERBOARD_B[0]: side.complete,
        "within_one_onset_accuracy": scores.within_one(side),
        "residual_constraint_exact_accuracy": side.residual_correct,
    }

    def score(drawn: Ints) -> dict[str, Floats]:
        n = drawn.sum(axis=1)
        shares = {name: drawn[:, mask].sum(axis=1) / n for name, mask in masks.items()}
        with np.errstate(invalid="ignore", divide="ignore"):
            error = drawn[:, known] @ side.onset_error[known] / drawn[:, known].sum(axis=1)
        return {**components(drawn), **shares, _ERROR: error}

    return score


def _exchanges(counted: PairedCounts) -> Callable[[int, np.random.Generator], dict[str, Floats]]:
    """Prepare differences between systems that swap their answers to a random half of the rows.

    References:
        Noreen (1989), Computer-Intensive Methods for Testing Hypotheses, section 2.
    """
    first, second = counted.sides()
    differ = (first.outcomes != second.outcomes).any(axis=1)
    both = np.vstack([first.outcomes, second.outcomes])
    score = _statistics(without_confidence(both, np.tile(counted.n, 2)))

    def exchange(resamples: int, rng: np.random.Generator) -> dict[str, Floats]:
        swapped = np.zeros((resamples, len(counted.n)), np.int64)
        swapped[:, differ] = rng.binomial(counted.n[differ], 0.5, (resamples, int(differ.sum())))
        kept = counted.n - swapped
        ours, theirs = score(np.hstack([kept, swapped])), score(np.hstack([swapped, kept]))
        return {name: ours[name] - theirs[name] for name in COMPARED}

    return exchange


def mcnemar(only_a: int, only_b: int) -> float:
    """Give the two-sided p of the exact McNemar test.

    Args:
        only_a: rows that only the first system has right.
        only_b: rows that only the second has right.

    References:
        McNemar (1947), Note on the sampling error of the difference between correlated proportions;
        the exact form is the binomial test of the smaller count against one half.

    Example:
        >>> mcnemar(6, 0), mcnemar(5, 5)
        (0.03125, 1.0)
    """
    n, fewer = only_a + only_b, min(only_a, only_b)
    if 2 * fewer == n:
        return 1.0
    if n <= 1000:
        term = comb(n, fewer) / 2**n
    else:  # as floats; comb would have hundreds of thousands of digits
        term = exp(lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2))
    total = 0.0
    for k in range(fewer, -1, -1):
        total += term
        if term < total * 1e-17:
            break
        term *= k / (n - k + 1)
    return min(1.0, 2 * total)
