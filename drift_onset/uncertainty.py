"""Counts → 95 % intervals.

Accuracies have Wilson's interval. Everything else is resampled over the distinct joint outcomes, as
`drift_core.resampling` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_core.resampling import LEVEL, Interval, draw, in_blocks, percentile
from drift_onset import schema
from drift_onset.counts import Counts, Ints, label_sizes
from drift_onset.reading.cells import BILLION
from drift_onset.scores import (
    LEADERBOARD_A,
    METRICS,
    Floats,
    Scores,
    calibration_gaps,
    component_mean,
    macro_f1,
    within_one,
)


def wilson(hits: int, n: int) -> Interval:
    """Give Wilson's score interval of a proportion at the 95 % level.

    Args:
        hits: number of successes.
        n: number of trials, at least 1.

    References:
        Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference.

    Example:
        >>> interval = wilson(5, 12)
        >>> round(interval.low, 4), round(interval.high, 4)
        (0.1933, 0.6805)
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    p = hits / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == n else min(1.0, centre + half)
    return Interval(low, high, "wilson", n == 1, n)


def intervals(
    counts: Counts, scores: Scores, *, resamples: int = 1000, seed: int = 0
) -> dict[str, Interval]:
    """Give the interval of every metric that has a value.

    Args:
        counts: at least one row.
        scores: the scores of the same counts.
        resamples: number of bootstrap resamples; 0 leaves out what needs them.
        seed: of numpy's default generators.

    Returns:
        Metric name → interval, in the order of the report.
    """
    n = counts.total
    hits = {
        "exact_onset_accuracy": counts.onset_correct,
        "complete_primary_accuracy": counts.complete,
        "within_one_onset_accuracy": within_one(counts),
        "residual_constraint_exact_accuracy": counts.residual_correct,
    }
    found = {name: wilson(int(counts.n[mask].sum()), n) for name, mask in hits.items()}
    found["confidence_coverage"] = wilson(int(counts.confidence_n.sum()), n)
    if resamples:
        component_rows = _component_resampler(counts)

        def work(size: int, rng: np.random.Generator) -> dict[str, Floats]:
            return {
                **component_rows(size, rng),
                "mean_absolute_onset_error": _error_resamples(counts, size, rng),
                "expected_calibration_error": _calibration_resamples(counts, size, rng),
            }

        drawn = in_blocks(work, resamples, seed)
        over = {
            "mean_absolute_onset_error": int(counts.n[counts.onset_error >= 0].sum()),
            "expected_calibration_error": int(counts.confidence_n.sum()),
        }
        for name, values in drawn.items():
            found.setdefault(name, percentile(values, over.get(name, n)))
    named = scores.metrics()
    return {name: found[name] for name in METRICS if name in found and named.get(name) is not None}


def _grouped(keys: npt.NDArray[np.int64], n: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    distinct, where = np.unique(keys, axis=0, return_inverse=True)
    summed = np.zeros(len(distinct), np.int64)
    np.add.at(summed, where.reshape(-1), n)
    return distinct, summed


def _component_resampler(
    counts: Counts,
) -> Callable[[int, np.random.Generator], dict[str, Floats]]:
    """Prepare resampling of the component scores and their mean."""
    width = 2 * len(schema.label_targets()) + 1
    outcomes, n = _grouped(counts.outcomes[:, :width], counts.n)
    components = component_statistics(outcomes)
    return lambda resamples, rng: components(draw(n, resamples, rng))


def component_statistics(outcomes: Ints) -> Callable[[Ints], dict[str, Floats]]:
    """Prepare the component scores and their mean for many weightings of the same outcomes.

    Args:
        outcomes: k joint outcomes, columns as in Counts, the last two may be left out. They need
            not be distinct.

    Returns:
        Takes b × k counts; gives metric → b values.
    """
    targets = schema.label_targets()
    onset_right = outcomes[:, 2 * len(targets)] == 1
    cells = {}
    for at, target in enumerate(targets):
        size = label_sizes()[target]
        cells[target] = outcomes[:, 2 * at] * (size + 1) + outcomes[:, 2 * at + 1]

    def score(drawn: Ints) -> dict[str, Floats]:
        onset = drawn[:, onset_right].sum(axis=1) / drawn.sum(axis=1)
        f1 = {t: macro_f1(_sum_by(drawn, cells[t], label_sizes()[t])) for t in targets}
        parts = [f1[targets[0]], onset, *(f1[t] for t in targets[1:])]
        scored = {f"{target}_macro_f1": values for target, values in f1.items()}
        return {**scored, LEADERBOARD_A[2]: onset, LEADERBOARD_A[0]: component_mean(parts)}

    return score


def _sum_by(
    drawn: npt.NDArray[np.int64], cell: npt.NDArray[np.int64], size: int
) -> npt.NDArray[np.int64]:
    """Sum b × k resamples into b × size × (size + 1) confusion matrices."""
    matrices = np.zeros((len(drawn), size * (size + 1)), np.int64)
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    matrices[:, present] = np.add.reduceat(drawn[:, order], starts, axis=1)
    return matrices.reshape(len(drawn), size, size + 1)


def _error_resamples(counts: Counts, resamples: int, rng: np.random.Generator) -> Floats:
    errors, n = _grouped(counts.onset_error[:, None], counts.n)
    drawn = draw(n, resamples, rng)
    known = errors[:, 0] >= 0
    total = drawn[:, known] @ errors[known, 0]
    rows = drawn[:, known].sum(axis=1)
    return np.where(rows > 0, total / np.maximum(rows, 1), np.nan)


def _calibration_resamples(counts: Counts, resamples: int, rng: np.random.Generator) -> Floats:
    """Resample rows with and without a confidence; a cell's rows share their mean confidence.

    A cell is a thousandth wide, so that an interval is off by less than that.
    """
    without = counts.total - int(counts.confidence_n.sum())
    flat = counts.confidence_n.reshape(-1)
    present = np.flatnonzero(flat)
    if not len(present):
        return np.zeros(0)
    drawn = draw(np.append(flat[present], without), resamples, rng)[:, :-1]
    means = counts.confidence_sum.reshape(-1)[present] / flat[present]
    n = np.zeros((resamples, len(flat)))
    n[:, present] = drawn
    total = np.zeros_like(n)
    total[:, present] = drawn * means
    shape = (resamples, *counts.confidence_n.shape)
    gaps = calibration_gaps(n.reshape(shape), total.reshape(shape))
    rows = drawn.sum(axis=1)
    errors = np.abs(gaps).sum(axis=1) / (BILLION * np.maximum(rows, 1))
    return np.where(rows > 0, errors, np.nan)


def to_dict(found: Mapping[str, Interval], *, resamples: int, seed: int) -> dict[str, Any]:
    """Give the uncertainty part of a report."""
    return {
        "level": LEVEL,
        "resamples": resamples,
        "seed": seed,
        "intervals": {name: interval.to_dict() for name, interval in found.items()},
    }
