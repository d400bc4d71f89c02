"""Sums of floats that do not depend on the order of their terms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def exact_mean(values: npt.NDArray[np.float64], n: npt.NDArray[np.int64]) -> float | None:
    """Give the mean of counted values: summed exactly, rounded once.

    A double is a whole number of some power of two, so that the sum is one as well; it is taken
    with Python's integers, which have no limit.

    Args:
        values: k finite values.
        n: k counts.

    Returns:
        The double nearest to the true mean; None if all counts are 0.

    Example:
        >>> import numpy as np
        >>> exact_mean(np.array([1e16, 1.0, -1e16]), np.array([1, 1, 1]))
        0.3333333333333333
    """
    rows = int(n.sum())
    if not rows:
        return None
    fractions, exponents = np.frexp(values)
    whole = (fractions * 2.0**53).astype(np.int64)
    lowest = int(exponents.min())
    total = 0
    for exponent in np.unique(exponents):
        at = exponents == exponent
        part = int(whole[at].astype(object) @ n[at].astype(object))
        total += part << (int(exponent) - lowest)
    shift = lowest - 53
    return (total << max(shift, 0)) / (rows << max(-shift, 0))
