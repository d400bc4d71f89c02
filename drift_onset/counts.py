"""Pairs → counts that can be added up: the only thing that scores are made from.

A row is reduced to its joint outcome (what gold and prediction say of every target), and equal
outcomes are counted together. Component mean, complete-primary accuracy and comparisons of two
systems need the joint; the confusion matrices follow from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_onset import schema
from drift_onset.pairing import Pairs, coded
from drift_onset.reading.cells import BILLION, BLANK

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CONFIDENCE_CELLS = 1000
NO_ERROR = -1
_DENSE = 1 << 22
_BLOCK = 1 << 16


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

    def take(self, rows: Any) -> Columns:
        """Give some of the rows, by a mask or their positions."""
        return Columns(
            labels={n: (gold[rows], other[rows]) for n, (gold, other) in self.labels.items()},
            onset=(self.onset[0][rows], self.onset[1][rows]),
            residual=(self.residual[0][rows], self.residual[1][rows]),
            confidence=self.confidence[rows],
        )

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
    """Count coded columns; see `count`.

    Rows are taken in blocks that stay in the cache; each gives one number a row that stands for
    its joint outcome, and those are counted.
    """
    n = len(side_by_side.confidence)
    sizes = _sizes(side_by_side)
    space = math.prod(sizes)
    key = np.empty(n, np.int32 if space < 2**31 else np.int64)
    confidence_n = np.zeros(2 * (CONFIDENCE_CELLS + 1), np.int64)
    confidence_sum = np.zeros_like(confidence_n)
    given = bool((side_by_side.confidence >= 0).any())
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        complete = _keys(side_by_side, rows, sizes, key[rows])
        if given:
            _calibrate(side_by_side.confidence[rows], complete, confidence_n, confidence_sum)
    outcomes, counted = _distinct(key, sizes)
    cells = (CONFIDENCE_CELLS + 1, 2)
    return Counts(
        outcomes, counted, confidence_n.reshape(cells), confidence_sum.reshape(cells), n_invalid
    )


def row_outcomes(side_by_side: Columns) -> tuple[Ints, Ints]:
    """Give the joint outcome of every row.

    Returns:
        k distinct joint outcomes as in Counts, and for each of n rows the position of its own.
    """
    sizes = _sizes(side_by_side)
    key = np.empty(len(side_by_side.confidence), np.int64)
    _keys(side_by_side, slice(None), sizes, key)
    distinct, where = np.unique(key, return_inverse=True)
    return _outcomes(distinct, sizes), where.reshape(-1)


def _sizes(side_by_side: Columns) -> list[int]:
    """Give how many values each column of a joint outcome can have."""
    gold, predicted = side_by_side.onset
    highest = int(max(gold.max(initial=0), predicted.max(initial=0)))
    sizes = [size + extra for size in label_sizes().values() for extra in (0, 1)]
    return [*sizes, 2, highest + 1, 2]


def _keys(side_by_side: Columns, rows: slice, sizes: list[int], key: npt.NDArray[Any]) -> Bools:
    """Fill in the numbers of a block of rows; give which rows are right in all five targets."""
    digits: list[npt.NDArray[Any]] = []
    complete = np.ones(len(key), np.bool_)
    for gold, predicted in side_by_side.labels.values():
        digits += [gold[rows], predicted[rows]]
        complete &= digits[-2] == digits[-1]
    gold, predicted = (onset[rows] for onset in side_by_side.onset)
    right = gold == predicted
    both = (gold > BLANK) & (predicted > BLANK)
    error = np.abs(gold - predicted)
    error += 1
    error *= both
    residual_right = side_by_side.residual[0][rows] == side_by_side.residual[1][rows]
    complete &= right
    complete &= residual_right
    digits += [right, error, residual_right]
    key[:] = digits[0]
    for digit, size in zip(digits[1:], sizes[1:], strict=True):
        key *= size
        key += digit
    return complete


def _distinct(key: npt.NDArray[Any], sizes: list[int]) -> tuple[Ints, Ints]:
    """Count equal numbers, and give the outcomes they stand for."""
    if math.prod(sizes) <= max(_DENSE, 4 * len(key)):
        dense = np.bincount(key, minlength=1)
        keys = np.flatnonzero(dense > 0)
        n = dense[keys]
    else:
        keys, n = np.unique(key, return_counts=True)
    return _outcomes(keys, sizes), n.astype(np.int64)


def _outcomes(keys: npt.NDArray[Any], sizes: list[int]) -> Ints:
    """Take numbers apart into the joint outcomes that they stand for."""
    keys = keys.astype(np.int64)
    digits = []
    for size in reversed(sizes):
        keys, digit = np.divmod(keys, size)
        digits.append(digit)
    outcomes = np.stack(digits[::-1], axis=1)
    outcomes[:, -2] -= 1
    return outcomes


def _calibrate(confidence: Ints, complete: Bools, n: Ints, total: Ints) -> None:
    """Add the confidences of a block of rows, by cell of confidence and correctness."""
    if confidence.min(initial=0) < 0:
        given = confidence >= 0
        confidence, complete = confidence[given], complete[given]
    step = BILLION // CONFIDENCE_CELLS
    cell = (confidence + (step - 1)) // step
    cell *= 2
    cell += complete
    n += np.bincount(cell, minlength=len(n))
    # Exact: a block of whole billionths stays below 2**53, which float64 counts to.
    total += np.bincount(cell, weights=confidence, minlength=len(n)).astype(np.int64)
