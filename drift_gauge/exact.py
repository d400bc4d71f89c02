"""Sums of floats that do not depend on the order: parts can be merged into the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
        array: npt.NDArray[np.float64] = np.asarray(values, np.float64).reshape(-1)
        if not np.isfinite(array).all():
            raise ValueError("Expected argument `values` to be finite but got NaN or infinity")
        blocks = range(0, array.size, _BLOCK)
        return cls(sum(_units(array[at : at + _BLOCK]) for at in blocks), array.size)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units, self.n + other.n)

    def mean(self) -> float | None:
        """Give the mean, rounded once; None of nothing."""
        return self.units / (self.n << _SCALE) if self.n else None


def _units(values: npt.NDArray[np.float64]) -> int:
    """Sum floats that have the same exponent, then the sums with Python's integers."""
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**_BITS).astype(np.int64)
    lowest = int(exponents.min())
    high, low = (
        np.bincount(exponents - lowest, part)  # of whole numbers below 2⁵³, hence exact
        for part in (whole >> _LOW, whole & ((1 << _LOW) - 1))
    )
    total = 0
    for at in np.flatnonzero(high.astype(bool) | low.astype(bool)).tolist():
        total += ((int(high[at]) << _LOW) + int(low[at])) << (at + lowest + _SCALE - _BITS)
    return total
