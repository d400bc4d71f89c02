"""Measures of agreement, each for many weightings of the same ratings at once.

A measure takes the distinct rows of ratings and gives a function from b × k counts of these rows to
b values, so that the value itself and its bootstrap come from one piece of code. A value that is
not defined (no row rated twice, or one class only, where agreement by chance is certain) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_onset.comparing.ratings import MISSING
from drift_onset.counts import Ints
from drift_onset.scores import Floats

Measure = Callable[[Ints], Floats]
Rows = npt.NDArray[Any]
_TINY = 1e-12


def _ratio(above: Rows, below: Rows) -> Floats:
    """Divide where there is something to divide by; NaN elsewhere."""
    defined = np.abs(below) > _TINY
    return np.where(defined, above / np.where(defined, below, 1.0), np.nan)


def _by_class(rows: Rows, classes: int) -> Ints:
    """Count how many raters of each row chose each class: k × classes."""
    chosen = np.zeros((len(rows), classes), np.int64)
    for rater in rows.T:
        known = np.flatnonzero(rater != MISSING)
        chosen[known, rater[known]] += 1
    return chosen


def pairwise(rows: Rows, agrees: Callable[[Rows, Rows], Rows]) -> Measure:
    """Give the share of agreeing pairs of raters, over all pairs that rated the same row.

    Args:
        rows: k × r codes, MISSING where a rater says nothing.
        agrees: takes the codes of two raters, gives booleans.
    """
    agreed, both = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for a, b in combinations(rows.T, 2):
        known = (a != MISSING) & (b != MISSING)
        both += known
        agreed += known & agrees(a, b)
    return lambda n: _ratio(n @ agreed, n @ both)


def fleiss(rows: Rows, classes: int) -> Measure:
    """Give Fleiss' kappa over the rows that every rater has rated.

    Args:
        rows: k × r codes, r at least 2.
        classes: how many there are.

    References:
        Fleiss (1971), Measuring nominal scale agreement among many raters.
    """
    raters = rows.shape[1]
    complete = (rows != MISSING).all(axis=1)
    chosen = _by_class(rows, classes) * complete[:, None]
    agreement = ((chosen**2).sum(axis=1) - raters * complete) / (raters * (raters - 1))

    def kappa(n: Ints) -> Floats:
        total = (n @ complete).astype(np.float64)
        shares = _ratio(n @ chosen, total[:, None] * raters)
        chance = (shares**2).sum(axis=1)
        return _ratio(_ratio(n @ agreement, total) - chance, 1 - chance)

    return kappa


def cohen(a: Rows, b: Rows, classes: int, *, weighted: bool = False) -> Measure:
    """Give Cohen's kappa of two raters over the rows that both have rated.

    Args:
        a: k codes of the first rater.
        b: k codes of the second.
        classes: how many there are; if weighted, in their order.
        weighted: whether a disagreement counts by the square of its distance (quadratic weights).

    References:
        Cohen (1960), A coefficient of agreement for nominal scales; Cohen (1968), Weighted kappa.
    """
    known = np.flatnonzero((a != MISSING) & (b != MISSING))
    cell = a[known] * classes + b[known]
    order = np.arange(classes)
    apart = (order[:, None] - order) ** 2 if weighted else (order[:, None] != order)

    def kappa(n: Ints) -> Floats:
        flat = np.zeros((classes * classes, len(n)))
        np.add.at(flat, cell, n[:, known].T)
        table = flat.T.reshape(len(n), classes, classes)
        by_a, by_b = table.sum(axis=2), table.sum(axis=1)
        total = by_a.sum(axis=1)
        observed = (table * apart).sum(axis=(1, 2)) * total
        expected = np.einsum("bi,ij,bj->b", by_a, apart.astype(np.float64), by_b)
        return 1 - _ratio(observed, expected)

    return kappa


def mean_of(measures: list[Measure]) -> Measure:
    """Give the mean of several measures, over those that are defined."""

    def mean(n: Ints) -> Floats:
        values = np.stack([measure(n) for measure in measures])
        defined = np.isfinite(values)
        return _ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0) * 1.0)

    return mean


def alpha(rows: Rows, classes: int, *, ordinal: bool = False) -> Measure:
    """Give Krippendorff's alpha; rows that fewer than two raters have rated say nothing.

    Args:
        rows: k × r codes, MISSING where a rater says nothing.
        classes: how many there are; if ordinal, in their order.
        ordinal: whether to use the ordinal distance; else the nominal one.

    References:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    chosen = _by_class(rows, classes)
    raters = chosen.sum(axis=1)
    chosen = chosen * (raters >= 2)[:, None]
    others = np.maximum(raters - 1, 1)
    if not ordinal:
        agreed = (chosen * (chosen - 1)).sum(axis=1) / others

        def nominal(n: Ints) -> Floats:
            by_class = (n @ chosen).astype(np.float64)
            total = by_class.sum(axis=1)
            expected = total**2 - (by_class**2).sum(axis=1)
            return 1 - _ratio((total - n @ agreed) * (total - 1), expected)

        return nominal
    pairs = chosen[:, :, None] * chosen[:, None, :] / others[:, None, None]
    pairs -= np.eye(classes) * (chosen / others[:, None])[:, :, None]

    def by_order(n: Ints) -> Floats:
        coincidences = np.tensordot(n, pairs, axes=1)
        by_class = (n @ chosen).astype(np.float64)
        upto = np.cumsum(by_class, axis=1) - by_class / 2
        distance = (upto[:, :, None] - upto[:, None, :]) ** 2
        observed = (coincidences * distance).sum(axis=(1, 2))
        expected = np.einsum("bi,bij,bj->b", by_class, distance, by_class)
        return 1 - _ratio(observed * (by_class.sum(axis=1) - 1), expected)

    return by_order
