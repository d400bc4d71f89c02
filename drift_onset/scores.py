"""Counts → numbers. No file, no table, no printing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_onset import schema
from drift_onset.counts import CONFIDENCE_CELLS, Counts, Ints, label_sizes
from drift_onset.reading.cells import BILLION

CALIBRATION_BINS = 10
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClassScore:
    """Scores of one label.

    Attributes:
        precision, recall, f1: 0 where the denominator is 0.
        support: gold rows with this label.
        predicted: predictions of this label.
    """

    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


@dataclass(frozen=True)
class Scores:
    """The numbers of both leaderboards and the diagnostics, each in [0, 1] but the mean error.

    Attributes:
        n: rows scored.
        n_invalid: rows that were unanswered; they count as wrong.
        component_mean: mean of the four component scores.
        outcome_mode_macro_f1, mechanism_family_macro_f1, repair_outcome_macro_f1: unweighted
            mean of F1 over the labels that gold or predictions hold.
        exact_onset_accuracy: share with the right onset; blank equals blank.
        complete_primary_accuracy: share with all five targets right.
        within_one_onset_accuracy: share at most one step off; blank only equals blank.
        mean_absolute_onset_error: steps, over rows where both are steps; None if there are none.
        residual_constraint_exact_accuracy: share with the right residual; none equals none.
        expected_calibration_error: of confidence as the probability of complete-primary
            correctness, 10 equal bins (low, high], 0 in the first; None if no row has one.
        confidence_coverage: share of rows with a confidence.
        classes: label target → label → scores, every label of the schema in its order.
    """

    n: int
    n_invalid: int
    component_mean: float
    outcome_mode_macro_f1: float
    exact_onset_accuracy: float
    mechanism_family_macro_f1: float
    repair_outcome_macro_f1: float
    complete_primary_accuracy: float
    within_one_onset_accuracy: float
    mean_absolute_onset_error: float | None
    residual_constraint_exact_accuracy: float
    expected_calibration_error: float | None
    confidence_coverage: float
    classes: dict[str, dict[str, ClassScore]]

    def metrics(self) -> dict[str, float | None]:
        """Give every number under its name, the calibration error only where it exists."""
        named = {name: getattr(self, name) for name in METRICS}
        if self.expected_calibration_error is None:
            del named["expected_calibration_error"]
        return named


LEADERBOARD_A = (
    "component_mean",
    "outcome_mode_macro_f1",
    "exact_onset_accuracy",
    "mechanism_family_macro_f1",
    "repair_outcome_macro_f1",
)
LEADERBOARD_B = ("complete_primary_accuracy",)
DIAGNOSTICS = (
    "within_one_onset_accuracy",
    "mean_absolute_onset_error",
    "residual_constraint_exact_accuracy",
    "expected_calibration_error",
    "confidence_coverage",
)
BOARDS = {  # section of a report → its metrics, the ranking one first
    "leaderboard_a_component_capability": LEADERBOARD_A,
    "leaderboard_b_complete_reasoning_state": LEADERBOARD_B,
}
METRICS = (*LEADERBOARD_A, *LEADERBOARD_B, *DIAGNOSTICS)


def score(counts: Counts) -> Scores:
    """Score counts.

    Args:
        counts: at least one row.

    Raises:
        ValueError: there are no rows.

    See Also:
        sklearn.metrics.f1_score: average="macro", zero_division=0 gives the same macro-F1.
    """
    n = counts.total
    if n == 0:
        raise ValueError("there are no rows to score")
    matrices = {target: confusion(counts, target) for target in schema.label_targets()}
    f1 = {target: float(macro_f1(matrix)) for target, matrix in matrices.items()}
    onset = share(counts, counts.onset_correct)
    outcome, family, repair = (f1[target] for target in schema.label_targets())
    errors, known = counts.onset_error, counts.onset_error >= 0
    n_known = int(counts.n[known].sum())
    return Scores(
        n=n,
        n_invalid=counts.n_invalid,
        component_mean=float(component_mean([outcome, onset, family, repair])),
        outcome_mode_macro_f1=outcome,
        exact_onset_accuracy=onset,
        mechanism_family_macro_f1=family,
        repair_outcome_macro_f1=repair,
        complete_primary_accuracy=share(counts, counts.complete),
        within_one_onset_accuracy=share(counts, within_one(counts)),
        mean_absolute_onset_error=(
            int((errors[known] * counts.n[known]).sum()) / n_known if n_known else None
        ),
        residual_constraint_exact_accuracy=share(counts, counts.residual_correct),
        expected_calibration_error=calibration_error(counts),
        confidence_coverage=int(counts.confidence_n.sum()) / n,
        classes={target: _classes(target, matrix) for target, matrix in matrices.items()},
    )


def share(counts: Counts, outcomes: npt.NDArray[np.bool_]) -> float:
    """Give the share of rows whose joint outcome is in a mask."""
    return int(counts.n[outcomes].sum()) / counts.total


def within_one(counts: Counts) -> npt.NDArray[np.bool_]:
    """Tell which joint outcomes have an onset at most one step off, or rightly blank."""
    error = counts.onset_error
    return counts.onset_correct | ((error >= 0) & (error <= 1))


def confusion(counts: Counts, target: str) -> Ints:
    """Give a confusion matrix.

    Args:
        counts: counts of any number of rows.
        target: a label target with m labels.

    Returns:
        m × (m + 1) counts, gold by prediction; the last column holds unanswered rows.
    """
    size = label_sizes()[target]
    gold, predicted = counts.label_columns(target)
    cell = gold * (size + 1) + predicted
    matrix = np.zeros(size * (size + 1), np.int64)
    np.add.at(matrix, cell, counts.n)
    return matrix.reshape(size, size + 1)


def macro_f1(matrices: npt.NDArray[Any]) -> Floats:
    """Give macro-F1 over the labels present in gold or predictions.

    Args:
        matrices: (..., m, m + 1) counts as from `confusion`; leading axes are kept.

    Returns:
        (...) float64 in [0, 1]; 0 for a matrix without rows.
    """
    size = matrices.shape[-2]
    hits = np.diagonal(matrices[..., :size], axis1=-2, axis2=-1)
    marginals = matrices.sum(axis=-1) + matrices[..., :size].sum(axis=-2)
    f1 = 2 * hits / np.maximum(marginals, 1)
    present = (marginals > 0).sum(axis=-1)
    mean: Floats = f1.sum(axis=-1) / np.maximum(present, 1)
    return mean


def calibration_error(counts: Counts) -> float | None:
    """Give the expected calibration error from exact sums; None if no row has a confidence.

    References:
        Guo et al. (2017), On Calibration of Modern Neural Networks, eq. 3.
    """
    n = int(counts.confidence_n.sum())
    if n == 0:
        return None
    gaps = calibration_gaps(counts.confidence_n, counts.confidence_sum)
    return sum(abs(int(gap)) for gap in gaps) / (BILLION * n)


def calibration_gaps(n: npt.NDArray[Any], total: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give, for each bin, summed confidence less correct rows, in billionths.

    Args:
        n: (..., 1001, 2) counts as in Counts.
        total: (..., 1001, 2) sums of confidence in billionths as in Counts.

    Returns:
        (..., 10) gaps.
    """
    gap = total.sum(axis=-1) - n[..., 1] * BILLION
    return by_bin(gap, axis=-1)


def by_bin(cells: npt.NDArray[Any], axis: int = 0) -> npt.NDArray[Any]:
    """Sum what is counted in 1001 cells of confidence into the ten bins of calibration."""
    width = CONFIDENCE_CELLS // CALIBRATION_BINS
    # The cell of 0 is its own; it belongs to the first bin.
    starts = [0, *range(1 + width, CONFIDENCE_CELLS + 1, width)]
    return np.add.reduceat(cells, starts, axis=axis)


def _classes(target: str, matrix: Ints) -> dict[str, ClassScore]:
    found = {}
    for code, label in enumerate(schema.labels(target)):
        hits, support = int(matrix[code, code]), int(matrix[code].sum())
        predicted = int(matrix[:, code].sum())
        found[label] = ClassScore(
            precision=hits / predicted if predicted else 0.0,
            recall=hits / support if support else 0.0,
            f1=2 * hits / (support + predicted) if support + predicted else 0.0,
            support=support,
            predicted=predicted,
        )
    return found


def component_mean(parts: Sequence[Any]) -> Any:
    """Give the mean of the four component scores, numbers or arrays, in the order of the report."""
    first, *others = parts
    return sum(others, first) / len(parts)
