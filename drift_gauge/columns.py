"""Many queries at once: columns of titles → rates of each query → sums that can be merged.

The numbers are those of `drift_gauge.metrics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from drift_core.exact import ExactSum

NOTHING = -1
_FEW_ROWS = 64  # up to which comparing all pairs is faster than sorting

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rates:
    """The rates of n queries.

    Attributes:
        recall: n shares from 0 to 1.
        overlap: n shares from 0 to 1.
        distance: n mean distances; NaN where no row has one.
        measured: n counts of the rows that have a distance.
    """

    recall: Floats
    overlap: Floats
    distance: Floats
    measured: npt.NDArray[np.int64]

    def totals(self) -> Totals:
        """Sum the queries up."""
        known = self.distance[self.measured > 0]
        return Totals(ExactSum.of(self.recall), ExactSum.of(self.overlap), ExactSum.of(known))


@dataclass(frozen=True)
class Totals:
    """The sums of any number of queries; `+` merges parts, exactly and in any order.

    Attributes:
        recall: over all queries.
        overlap: over all queries.
        distance: over the queries that have one.

    Example:
        >>> parts = [Totals.of([1.0], [0.5], [0.25]), Totals.of([0.0], [0.0], [])]
        >>> merged = parts[0] + parts[1]
        >>> merged.recall.mean(), merged.overlap.mean(), merged.distance.mean()
        (0.5, 0.25, 0.25)
    """

    recall: ExactSum
    overlap: ExactSum
    distance: ExactSum

    @classmethod
    def of(cls, recall: npt.ArrayLike, overlap: npt.ArrayLike, distance: npt.ArrayLike) -> Totals:
        """Sum up rates of queries; `distance` holds only those that there are."""
        return cls(ExactSum.of(recall), ExactSum.of(overlap), ExactSum.of(distance))

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.recall + other.recall,
            self.overlap + other.overlap,
            self.distance + other.distance,
        )


def encode(*columns: Sequence[Sequence[str]]) -> tuple[Codes, ...]:
    """Turn columns of lists of titles into codes, the same code for the same title.

    Args:
        columns: each n lists of titles.

    Returns:
        For each column n × (its longest list) codes from 0, filled up with -1.

    Example:
        >>> expected, retrieved = encode([["a", "b"]], [["a", "c", "a"]])
        >>> expected.tolist(), retrieved.tolist()
        ([[0, 1]], [[0, 2, 0]])
    """
    distinct = dict.fromkeys(chain.from_iterable(chain.from_iterable(columns)))
    codes = dict(zip(distinct, range(len(distinct)), strict=True))
    return tuple(_padded(column, codes) for column in columns)


def _padded(column: Sequence[Sequence[str]], codes: dict[str, int]) -> Codes:
    lengths = np.fromiter(map(len, column), np.int64, len(column))
    padded = np.full((len(column), int(lengths.max(initial=0))), NOTHING, np.int32)
    flat = map(codes.__getitem__, chain.from_iterable(column))
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.fromiter(flat, np.int32)
    return padded


def rates(
    expected: Codes,
    retrieved: Codes,
    distances: Floats | None = None,
    has_distance: Flags | None = None,
) -> Rates:
    """Give recall, overlap and mean distance of every query.

    Args:
        expected: n × m codes of titles, -1 for no title; duplicates count once.
        retrieved: n × k codes of titles, best first, -1 for no row; duplicates count once.
            A query with a smaller k has -1 from there on.
        distances: n × k numbers; None if there are none.
        has_distance: n × k, which of them are there; None for all that have a row.

    Raises:
        ValueError: shapes do not fit, a code is below -1, or a distance that is there is not
            finite.

    Example:
        >>> expected, retrieved = encode([["a", "b"]], [["a", "a", "c"]])
        >>> found = rates(expected, retrieved, np.array([[0.1, 0.1, 0.4]]))
        >>> found.recall.tolist(), found.overlap.tolist(), found.distance.round(3).tolist()
        ([0.5], [0.3333333333333333], [0.2])
    """
    _check_codes(expected, retrieved)
    wanted, found = (np.ascontiguousarray(codes.T) for codes in (expected, retrieved))
    first, first_found = ~_repeats(wanted), ~_repeats(found)
    n_wanted, n_found = first.sum(axis=0), first_found.sum(axis=0)
    hits = _hits(wanted, first, found)
    distance, measured = _mean_distances(found, distances, has_distance)
    return Rates(
        _share(hits, n_wanted), _share(hits, n_wanted + n_found - hits), distance, measured
    )


def _repeats(codes: Codes) -> Flags:
    """Tell of every code in a column of a k × n matrix whether it is none or came before."""
    repeats: Flags = codes == NOTHING
    if len(codes) <= _FEW_ROWS:
        for later in range(1, len(codes)):
            for earlier in range(later):
                repeats[later] |= codes[later] == codes[earlier]
        return repeats
    order = np.argsort(codes, axis=0, kind="stable")
    ordered = np.take_along_axis(codes, order, axis=0)
    again = np.zeros_like(repeats)
    np.put_along_axis(again, order[1:], ordered[1:] == ordered[:-1], axis=0)
    repeats |= again
    return repeats


def _hits(wanted: Codes, first: Flags, found: Codes) -> npt.NDArray[np.int64]:
    hits = np.zeros(wanted.shape[1], np.int64)
    for title, counts in zip(wanted, first, strict=True):
        hit = np.zeros(len(title), np.bool_)
        for row in found:
            hit |= row == title
        hits += hit & counts
    return hits


def _share(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> Floats:
    return np.divide(part, whole, out=np.ones(len(part)), where=whole > 0)


def _mean_distances(
    found: Codes, distances: Floats | None, has_distance: Flags | None
) -> tuple[Floats, npt.NDArray[np.int64]]:
    n = found.shape[1]
    if distances is None:
        return np.full(n, np.nan), np.zeros(n, np.int64)
    for name, given in (("distances", distances), ("has_distance", has_distance)):
        if given is not None and given.shape != found.T.shape:
            raise ValueError(
                f"Expected argument `{name}` to have the shape of `retrieved`, {found.T.shape}, "
                f"but got {given.shape}"
            )
    there = found != NOTHING
    if has_distance is not None:
        there &= has_distance.T
    known = np.where(there, distances.T, 0.0)
    if not np.isfinite(known).all():
        raise ValueError("Expected argument `distances` to be finite but got NaN or infinity")
    measured = there.sum(axis=0)
    total = np.zeros(n)
    for row in known:  # in this order, which is that of drift_gauge.metrics
        total += row
    return np.divide(total, measured, out=np.full(n, np.nan), where=measured > 0), measured


def _check_codes(expected: Codes, retrieved: Codes) -> None:
    for name, codes in (("expected", expected), ("retrieved", retrieved)):
        if codes.ndim != 2 or not np.issubdtype(codes.dtype, np.integer):
            raise ValueError(
                f"Expected argument `{name}` to be a matrix of whole numbers but got "
                f"{codes.ndim} dimensions of {codes.dtype}"
            )
        if codes.size and codes.min() < NOTHING:
            raise ValueError(f"Expected argument `{name}` to be ≥ -1 but got {codes.min()}")
    if len(expected) != len(retrieved):
        raise ValueError(
            f"Expected as many rows in `expected` as in `retrieved` but got {len(expected)} and "
            f"{len(retrieved)}"
        )
