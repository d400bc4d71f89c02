"""Pairs → counts that can be added up: the only thing that scores are made from.

A row is reduced to its joint outcome (what gold and prediction say of every target), and equal
outcomes are counted together. Component mean, complete-primary accuracy and comparisons of two
systems need the joint; the confusion matrices follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_onset import schema
from drift_onset.cells import BILLION, BLANK
from drift_onset.pairing import Pairs, coded

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CONFIDENCE_CELLS = 1000
NO_ERROR = -1
_DENSE = 1 << 22


@cache
def label_sizes() -> dict[str, int]:
    """Give the number of labels of each label target."""
    return {name: len(schema.labels(name)) for name in schema.label_targets()}


@dataclass(frozen=True)
class Counts:
    """Counts of n rows; `a + b` merges two, exactly and in any order.

    Attributes:
        outcomes: k distinct joint outcomes, one row each, sorted; columns are, for each label
            target in order, the gold code and the predicted code (the number of labels for an
            unanswered row), then whether the onset is right, the absolute onset error (-1 unless
            both are steps) and whether the residual is right.
        n: k row counts.
        confidence_n: 1001 × 2 counts by confidence, in thousandths rounded up, and
            complete-primary correctness.
        confidence_sum: 1001 × 2 sums of confidences in whole billionths.
        n_invalid: rows that were unanswered.
    """

    outcomes: Ints
    n: Ints
    confidence_n: Ints
    confidence_sum: Ints
    n_invalid: int

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        stacked = np.vstack([self.outcomes, other.outcomes])
        outcomes, where = np.unique(stacked, axis=0, return_inverse=True)
        n = np.zeros(len(outcomes), np.int64)
        np.add.at(n, where.reshape(-1), np.concatenate([self.n, other.n]))
        return Counts(
            outcomes,
            n,
            self.confidence_n + other.confidence_n,
            self.confidence_sum + other.confidence_sum,
            self.n_invalid + other.n_invalid,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counts) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("outcomes", "n", "confidence_n", "confidence_sum", "n_invalid")
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.n.sum())

    def label_columns(self, target: str) -> tuple[Ints, Ints]:
        """Give the gold and the predicted codes of a label target, for each joint outcome."""
        at = 2 * schema.label_targets().index(target)
        return self.outcomes[:, at], self.outcomes[:, at + 1]

    @property
    def onset_correct(self) -> Bools:
        """Whether the onset is right, for each joint outcome."""
        right: Bools = self.outcomes[:, -3] == 1
        return right

    @property
    def onset_error(self) -> Ints:
        """Absolute onset error of each joint outcome, -1 unless both are steps."""
        return self.outcomes[:, -2]

    @property
    def residual_correct(self) -> Bools:
        """Whether the residual is right, for each joint outcome."""
        right: Bools = self.outcomes[:, -1] == 1
        return right

    @property
    def complete(self) -> Bools:
        """Whether all five targets are right, for each joint outcome."""
        correct = self.onset_correct & self.residual_correct
        for target in schema.label_targets():
            gold, predicted = self.label_columns(target)
            correct &= gold == predicted
        return correct

    @staticmethod
    def empty() -> Counts:
        """Give the counts of no rows."""
        cells = (CONFIDENCE_CELLS + 1, 2)
        columns = 2 * len(label_sizes()) + 3
        none = np.zeros((0, columns), np.int64)
        zeros = np.zeros(cells, np.int64)
        return Counts(none, np.zeros(0, np.int64), zeros, zeros, 0)


@dataclass(frozen=True)
class Columns:
    """Row by row, what counting and the prediction table both need, in gold order.

    Attributes:
        labels: label target → gold and predicted codes; the number of labels where unanswered.
        onset, residual: gold and predicted numbers, 0 for blank, -1 where unanswered.
        confidence: whole billionths, -1 where there is none.
    """

    labels: dict[str, tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]]
    onset: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    residual: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    confidence: Ints

    @property
    def onset_error(self) -> npt.NDArray[np.int32]:
        """Absolute onset error, -1 unless both are steps."""
        gold, predicted = self.onset
        both = (gold > BLANK) & (predicted > BLANK)
        return np.where(both, np.abs(gold - predicted), np.int32(NO_ERROR))

    @property
    def complete(self) -> Bools:
        """Whether all five targets are right."""
        correct: Bools = self.onset[0] == self.onset[1]
        correct &= self.residual[0] == self.residual[1]
        for gold, predicted in self.labels.values():
            correct &= gold == predicted
        return correct


def columns(pairs: Pairs) -> Columns:
    """Lay gold and predictions side by side."""
    targets = schema.targets()
    return Columns(
        labels={name: coded(pairs, name, size) for name, size in label_sizes().items()},
        onset=coded(pairs, targets[1], -1),
        residual=coded(pairs, targets[-1], -1),
        confidence=np.append(pairs.predictions.confidence, -1)[pairs.answer],
    )


def count(pairs: Pairs) -> Counts:
    """Count gold and predictions.

    Args:
        pairs: gold rows and their predictions; a gold row without one counts as wrong in every
            component and never as a false positive.

    Returns:
        Counts over all gold rows.
    """
    return count_columns(columns(pairs), pairs.n_invalid)


def count_columns(side_by_side: Columns, n_invalid: int = 0) -> Counts:
    """Count coded columns; see `count`."""
    error = side_by_side.onset_error
    parts: list[tuple[npt.NDArray[Any], int]] = []
    for name, size in label_sizes().items():
        gold, predicted = side_by_side.labels[name]
        parts += [(gold, size), (predicted, size + 1)]
    onset_right = side_by_side.onset[0] == side_by_side.onset[1]
    residual_right = side_by_side.residual[0] == side_by_side.residual[1]
    highest = int(error.max(initial=NO_ERROR))
    parts += [(onset_right.view(np.int8), 2), (error + 1, highest + 2)]
    parts += [(residual_right.view(np.int8), 2)]
    outcomes, n = _distinct(parts)
    outcomes[:, -2] -= 1
    confidence_n, confidence_sum = _calibration(side_by_side)
    return Counts(outcomes, n, confidence_n, confidence_sum, n_invalid)


def _distinct(parts: list[tuple[npt.NDArray[Any], int]]) -> tuple[Ints, Ints]:
    """Count distinct rows of small codes given as (column, number of possible codes)."""
    space = 1
    for _, size in parts:
        space *= size
    key: npt.NDArray[Any] = np.zeros(len(parts[0][0]), np.int32 if space < 2**31 else np.int64)
    for column, size in parts:
        key *= size
        key += column
    if space <= max(_DENSE, 4 * len(key)):
        dense = np.bincount(key, minlength=1)
        keys = np.flatnonzero(dense)
        n = dense[keys]
    else:
        keys, n = np.unique(key, return_counts=True)
    keys = keys.astype(np.int64)
    digits = []
    for _, size in reversed(parts):
        keys, digit = np.divmod(keys, size)
        digits.append(digit)
    return np.stack(digits[::-1], axis=1), n.astype(np.int64)


def _calibration(side_by_side: Columns) -> tuple[Ints, Ints]:
    cells = (CONFIDENCE_CELLS + 1, 2)
    given = side_by_side.confidence >= 0
    if not given.any():
        return np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    confidence = side_by_side.confidence[given]
    step = BILLION // CONFIDENCE_CELLS
    cell = 2 * (-(-confidence // step)) + side_by_side.complete[given]
    size = cells[0] * 2
    n = np.bincount(cell, minlength=size)
    # Exact: float64 weights are whole numbers, split so that no partial sum passes 2**53.
    low = np.bincount(cell, weights=(confidence % step).astype(np.float64), minlength=size)
    high = np.bincount(cell, weights=(confidence // step).astype(np.float64), minlength=size)
    total = high.astype(np.int64) * step + low.astype(np.int64)
    return n.astype(np.int64).reshape(cells), total.reshape(cells)
