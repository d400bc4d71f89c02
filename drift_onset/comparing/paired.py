"""Two systems on the same rows → counts that can be added up: what comparisons are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drift_onset import schema
from drift_onset.counts import Bools, Columns, Counts, Ints, row_outcomes

COMPLETE = "complete_primary"


@dataclass(frozen=True)
class PairedCounts:
    """Counts of n rows that two systems answered; `a + b` merges two, exactly and in any order.

    Attributes:
        first, second: k rows each; together they are distinct pairs of joint outcomes, columns as
            in Counts.
        n: k row counts.
    """

    first: Ints
    second: Ints
    n: Ints

    def __add__(self, other: PairedCounts) -> PairedCounts:
        if not isinstance(other, PairedCounts):
            return NotImplemented
        both = [np.hstack([counts.first, counts.second]) for counts in (self, other)]
        pairs, where = np.unique(np.vstack(both), axis=0, return_inverse=True)
        n = np.zeros(len(pairs), np.int64)
        np.add.at(n, where.reshape(-1), np.concatenate([self.n, other.n]))
        width = self.first.shape[1]
        return PairedCounts(pairs[:, :width], pairs[:, width:], n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairedCounts) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("first", "second", "n")
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.n.sum())

    def sides(self) -> tuple[Counts, Counts]:
        """Give what each system did, pair by pair; outcomes may repeat."""
        return without_confidence(self.first, self.n), without_confidence(self.second, self.n)

    def flips(self) -> dict[str, tuple[int, int]]:
        """Count the rows that only the first, and only the second system has right, by target."""
        found = {}
        for target in (*schema.targets(), COMPLETE):
            first, second = (_right(side, target) for side in self.sides())
            only_first, only_second = self.n[first & ~second], self.n[second & ~first]
            found[target] = (int(only_first.sum()), int(only_second.sum()))
        return found


def without_confidence(outcomes: Ints, n: Ints) -> Counts:
    """Give counts of joint outcomes in which no row has a confidence."""
    empty = Counts.empty()
    return Counts(outcomes, n, empty.confidence_n, empty.confidence_sum, 0)


def _right(side: Counts, target: str) -> Bools:
    if target in schema.label_targets():
        gold, predicted = side.label_columns(target)
        right: Bools = gold == predicted
        return right
    if target == COMPLETE:
        return side.complete
    return side.onset_correct if target == schema.targets()[1] else side.residual_correct


def count(first: Columns, second: Columns) -> PairedCounts:
    """Count two systems against the same gold rows, in the same order."""
    (outcomes, where), (others, there) = row_outcomes(first), row_outcomes(second)
    pairs, n = np.unique(where * len(others) + there, return_counts=True)
    at, beside = np.divmod(pairs, len(others))
    return PairedCounts(outcomes[at], others[beside], n.astype(np.int64))
