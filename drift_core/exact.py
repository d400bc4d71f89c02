"""Sums of floats that do not depend on the order of their terms: parts merge into the whole.

A double is a whole number of some power of two, so that a sum of doubles is one as well; it is
taken with integers, and rounded once where a mean is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BITS = 53  # of a float's mantissa
_LOW = 27  # of them, summed apart
_BLOCK = 1 << 20  # values at a time, so that no sum of parts reaches 2⁵³
_SCALE = 1074 + _BITS  # every finite float is a whole multiple of 2 ** -_SCALE


@dataclass(frozen=True)
class ExactSum:
    """The exact sum of n floats, as a whole number of units of 2⁻¹¹²⁷.

    Example:
        >>> tenths = [ExactSum.of([0.1])] * 10
        >>> sum(tenths, ExactSum()).mean() == 0.1
        True
    """

    units: int = 0
    n: int = 0

    @classmethod
    def of(cls, values: npt.ArrayLike) -> ExactSum:
        """Sum finite floats, any number of them.

        Raises:
            ValueError: a value is NaN or infinite.
        """
        array: Floats = np.asarray(values, np.float64).reshape(-1)
        if not np.isfinite(array).all():
            raise ValueError("Expected argument `values` to be finite but got NaN or infinity")
        blocks = range(0, array.size, _BLOCK)
        return cls(sum(_units(array[at : at + _BLOCK]) for at in blocks), array.size)

    @classmethod
    def of_counted(cls, values: Floats, n: Ints) -> ExactSum:
        """Sum k finite floats, each as often as n says."""
        whole, exponents = _split(values)
        units = 0
        for exponent in np.unique(exponents):
            at = exponents == exponent
            part = int(whole[at].astype(object) @ n[at].astype(object))
            units += part << (int(exponent) - _BITS + _SCALE)
        return cls(units, int(n.sum()))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units, self.n + other.n)

    def mean(self) -> float | None:
        """Give the mean, rounded once; None of nothing."""
        return self.units / (self.n << _SCALE) if self.n else None


def _split(values: Floats) -> tuple[Ints, npt.NDArray[np.int32]]:
    """Give whole mantissas of 53 bits and the exponents that go with them."""
    mantissas, exponents = np.frexp(values)
    return (mantissas * 2.0**_BITS).astype(np.int64), exponents


def _units(values: Floats) -> int:
    """Sum floats that have the same exponent, then the sums with Python's integers."""
    whole, exponents = _split(values)
    lowest = int(exponents.min())
    high, low = (
        np.bincount(exponents - lowest, part)  # of whole numbers below 2⁵³, hence exact
        for part in (whole >> _LOW, whole & ((1 << _LOW) - 1))
    )
    total = 0
    for at in np.flatnonzero(high.astype(bool) | low.astype(bool)).tolist():
        total += ((int(high[at]) << _LOW) + int(low[at])) << (at + lowest + _SCALE - _BITS)
    return total
