"""Capability metrics of one query: pure functions over what was expected and what came.

`drift_gauge.columns` computes the same numbers for many queries at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drift_gauge.numbers import finite, whole


def recall_at_k(expected: Iterable[str], retrieved: Sequence[str], k: int) -> float:
    """Give the share of the expected titles among the first k retrieved ones.

    Args:
        expected: titles; duplicates count once.
        retrieved: titles, best first; duplicates count once.
        k: how many of the retrieved titles count, at least 1.

    Returns:
        |expected ∩ first k| / |expected|, from 0 to 1; 1.0 if nothing is expected.

    Raises:
        ValueError: k is not a whole number ≥ 1, or titles came as one text.

    Example:
        >>> recall_at_k(["a", "b"], ["a", "a", "c"], k=3)
        0.5
    """
    wanted, found = _sets(expected, retrieved, k)
    return len(wanted & found) / len(wanted) if wanted else 1.0


def set_overlap(expected: Iterable[str], retrieved: Sequence[str], k: int) -> float:
    """Give the Jaccard overlap of the expected titles and the first k retrieved ones.

    Args:
        expected: titles; duplicates count once.
        retrieved: titles, best first; duplicates count once.
        k: how many of the retrieved titles count, at least 1.

    Returns:
        |expected ∩ first k| / |expected ∪ first k|, from 0 to 1; 1.0 if both are empty.

    Raises:
        ValueError: k is not a whole number ≥ 1, or titles came as one text.

    Example:
        >>> set_overlap(["a", "b"], ["a", "a", "c"], k=3)
        0.3333333333333333
    """
    wanted, found = _sets(expected, retrieved, k)
    union = wanted | found
    return len(wanted & found) / len(union) if union else 1.0


def mean_cosine_distance(distances: Iterable[float]) -> float:
    """Give the mean of the distances of the rows that were returned; lower is closer.

    Args:
        distances: finite numbers; cosine distances lie in [0, 2].

    Returns:
        The mean; 0.0 for an empty result. That 0.0 is no distance: a report averages only the
        queries that have one.

    Raises:
        ValueError: a distance is not a finite number.

    Example:
        >>> mean_cosine_distance([0.25, 0.75]), mean_cosine_distance([])
        (0.5, 0.0)
    """
    total, n = 0.0, 0
    for distance in distances:  # in this order, which is that of drift_gauge.columns
        total += finite("distances", distance)
        n += 1
    return total / n if n else 0.0


def _sets(expected: Iterable[str], retrieved: Sequence[str], k: int) -> tuple[set[str], set[str]]:
    for name, titles in (("expected", expected), ("retrieved", retrieved)):
        if isinstance(titles, (str, bytes)):
            raise ValueError(f"Expected argument `{name}` to be titles but got one text {titles!r}")
    return set(expected), set(list(retrieved)[: whole("k", k, 1)])
