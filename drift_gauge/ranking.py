"""Ranking by cosine distance: texts as unit vectors, all queries in one matrix product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_gauge.numbers import whole

Matrix = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Matrix]


class MatrixRetriever:
    """A retriever over vectors in memory.

    Args:
        name: what a baseline calls it.
        titles: n titles.
        texts: n texts, embedded when the retriever is made.
        embed: m texts → m × d vectors, each of length 1, or 0 for a text that says nothing.

    Raises:
        ValueError: there is no document.

    Example:
        >>> def embed(texts):
        ...     return np.array([[text == "a", text == "b"] for text in texts], np.float32)
        >>> ask = MatrixRetriever("toy", ["A", "B"], ["a", "b"], embed)
        >>> ask("b", 1)
        [{'title': 'B', '_distance': 0.0}]
    """

    def __init__(
        self, name: str, titles: Sequence[str], texts: Sequence[str], embed: Embed
    ) -> None:
        if not titles:
            raise ValueError("Expected argument `titles` to hold at least one but got none")
        self.name = name
        self.titles = list(titles)
        self.embed = embed
        self.documents = embed(texts)

    def __call__(self, query: str, k: int) -> list[dict[str, Any]]:
        """Give the k nearest documents of one query; see `batch`."""
        return self.batch([query], k)[0]

    def batch(self, queries: Sequence[str], k: int) -> list[list[dict[str, Any]]]:
        """Give the k nearest documents of each query, nearest first.

        Args:
            queries: m texts.
            k: at least 1.

        Returns:
            For each query at most k rows of `title` and `_distance` = 1 − cosine, in [0, 2]; equal
            distances in the order of the corpus. None for a query without a vector.
        """
        k = min(whole("k", k, 1), len(self.titles))
        vectors = self.embed(queries)
        cosines = vectors @ self.documents.T
        return [
            self._rows(row, k) if vector.any() else []
            for row, vector in zip(cosines, vectors, strict=True)
        ]

    def _rows(self, cosines: Matrix, k: int) -> list[dict[str, Any]]:
        least = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
        near = np.flatnonzero(cosines >= least)
        best = near[np.argsort(-cosines[near], kind="stable")][:k]
        distances = np.clip(1.0 - cosines[best].astype(np.float64), 0.0, 2.0)
        return [
            {"title": self.titles[at], "_distance": distance}
            for at, distance in zip(best.tolist(), distances.tolist(), strict=True)
        ]


def unit_rows(matrix: Matrix) -> Matrix:
    """Scale each row to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Matrix = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return scaled
