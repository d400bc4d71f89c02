"""Bootstrap intervals on counts that can be merged.

n items are drawn with replacement from the n there are, which is one multinomial draw over the
distinct outcomes, so that the cost depends on how many of these there are and not on n.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEVEL = 0.95
_BLOCK = 50
_CELLS = 128
_ROWS_PER_OUTCOME = 8  # measured: where both ways to draw take the same time
_MOST_ROWS = 20_000  # that are drawn one by one, for the memory it takes


@dataclass(frozen=True)
class Interval:
    """An interval of one metric.

    Attributes:
        low, high: its ends; None where it is not defined.
        method: `wilson` or `bootstrap`.
        degenerate: True where it says nothing: one row, or resamples that do not vary.
        n: rows that the metric is taken over.
    """

    low: float | None
    high: float | None
    method: str
    degenerate: bool
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "degenerate": self.degenerate,
            "n": self.n,
        }


def percentile(values: Floats, n: int) -> Interval:
    """Give the percentile interval of resampled values.

    Args:
        values: b resampled values; those that are not finite had no value and are left out.
        n: rows that the metric is taken over.
    """
    values = values[np.isfinite(values)]
    if not len(values):
        return Interval(None, None, "bootstrap", True, n)
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    same = bool(n == 1 or np.ptp(values) == 0)
    return Interval(float(low), float(high), "bootstrap", same, n)


def draw(n: Ints, resamples: int, rng: np.random.Generator) -> Ints:
    """Draw resamples of counted outcomes.

    Args:
        n: k counts.
        resamples: how many, b.
        rng: numpy generator.

    Returns:
        b × k counts; every row sums to the sum of n.
    """
    total, size = int(n.sum()), len(n)
    if total < min(_ROWS_PER_OUTCOME * size, _MOST_ROWS):  # drawing rows is cheaper than counts
        of_row = np.repeat(np.arange(size), n)
        picked = of_row[rng.integers(total, size=(resamples, total))]
        picked += size * np.arange(resamples)[:, None]
        return np.bincount(picked.reshape(-1), minlength=resamples * size).reshape(-1, size)
    drawn: Ints = rng.multinomial(total, n / total, size=resamples)
    return drawn


def in_blocks(
    work: Callable[[int, np.random.Generator], dict[str, Floats]], resamples: int, seed: int
) -> dict[str, Floats]:
    """Do the resampling in blocks on all cores; the blocks, not the threads, have seeds.

    Args:
        work: takes a number of resamples and a generator, gives named columns of that length.
        resamples: how many in all, at least 1.
        seed: of numpy's default generators.
    """
    sizes = [min(_BLOCK, resamples - start) for start in range(0, resamples, _BLOCK)]
    children = np.random.SeedSequence(seed).spawn(len(sizes))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(work, sizes, map(np.random.default_rng, children)))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def bootstrap_mean(
    values: Floats, n: Ints, missing: int, resamples: int, rng: np.random.Generator
) -> Interval:
    """Give the bootstrap interval of a mean of counted values.

    Rows without a value are resampled with the others and left out of each mean. Where there are
    more than 128 distinct values, neighbours are put together in cells of about equal weight that
    stand for their mean; what varies inside a cell is far below what varies between them.

    Args:
        values: k distinct values, ascending.
        n: k counts of rows.
        missing: count of rows without a value.
        resamples: how many, at least 1.
        rng: numpy generator.

    Returns:
        The 95 % percentile interval.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> found = bootstrap_mean(np.array([0.0, 1.0]), np.array([50, 50]), 0, 1000, rng)
        >>> round(found.low, 1), round(found.high, 1), found.n
        (0.4, 0.6, 100)
    """
    rows = int(n.sum())
    if not rows:
        return Interval(None, None, "bootstrap", True, 0)
    if len(values) == 1:  # every resample that has a value has this one
        return Interval(float(values[0]), float(values[0]), "bootstrap", True, rows)
    means, weights = _cells(values, n)
    drawn = draw(np.append(weights, missing), resamples, rng)[:, :-1]
    defined = drawn.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return percentile((drawn @ means) / defined, rows)


def _cells(values: Floats, n: Ints) -> tuple[Floats, Ints]:
    """Put neighbouring values together until there are few enough."""
    if len(values) <= _CELLS:
        return values, n
    rank = np.cumsum(n) - n
    cell = rank * _CELLS // int(n.sum())
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    weights = np.add.reduceat(n, starts)
    return np.add.reduceat(values * n, starts) / weights, weights
