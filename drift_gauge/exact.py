"""Sums of floats that do not depend on the order: parts can be merged into the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_BITS = 53  # of a float's mantissa
_LOW = 27  # of them, summed apart so that no sum leaves 64 bits
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
        mantissas, exponents = np.frexp(array)
        whole = np.ldexp(mantissas, _BITS).astype(np.int64)
        return cls(_sum_by_exponent(whole, exponents), array.size)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.units + other.units, self.n + other.n)

    def mean(self) -> float | None:
        """Give the mean, rounded once; None of nothing."""
        return self.units / (self.n << _SCALE) if self.n else None


def _sum_by_exponent(whole: npt.NDArray[np.int64], exponents: npt.NDArray[Any]) -> int:
    units = 0
    for exponent in np.unique(exponents).tolist():
        same = whole[exponents == exponent]
        high, low = same >> _LOW, same & ((1 << _LOW) - 1)
        total = (int(high.sum()) << _LOW) + int(low.sum())
        units += total << (exponent + _SCALE - _BITS)
    return units
