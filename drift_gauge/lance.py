"""A retriever over a LanceDB table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from drift_core import extras
from drift_core.problems import InvalidInput, escaped
from drift_gauge.documents import problem
from drift_gauge.ranking import Embed

TABLE = "documents"
_ROUNDING = 1e-5  # LanceDB computes in 32 bits


class LanceRetriever:
    """What `lancedb_retriever` gives."""

    name = "lancedb"

    def __init__(
        self, table: Any, embed: Callable[[str], Sequence[float]], metric: str = "cosine"
    ) -> None:
        self.table = table
        self.embed = embed
        self.metric = metric

    def __call__(self, query: str, k: int) -> list[dict[str, Any]]:
        """Give the k nearest rows of the table, nearest first.

        Raises:
            InvalidInput: a ValueError; a cosine distance lies outside [0, 2].
        """
        vector = self.embed(query)
        if self.metric == "cosine" and not np.any(vector):
            return []  # it has no direction; older versions of LanceDB give NaN for it
        search = self.table.search(vector).distance_type(self.metric)
        found = search.select(["title", "_distance"]).limit(k).to_list()
        if self.metric != "cosine":
            return list(found)
        return [{**row, "_distance": _in_range(row["_distance"], row["title"])} for row in found]


def lancedb_retriever(
    table: Any, embed: Callable[[str], Sequence[float]], metric: str = "cosine"
) -> LanceRetriever:
    """Make a retriever of a LanceDB table.

    An index of the table is used as it is, since the gauge is to measure what users get; IVF_PQ
    changes distances and ranking.

    Args:
        table: a LanceDB table with a column `title` and a vector column.
        embed: text → vector.
        metric: how LanceDB measures. Cosine distances, 1 − cos, are checked to lie in [0, 2]; other
            metrics have other scales, which `distance_tol` has to fit.

    Returns:
        (query, k) → rows with `title` and `_distance`. A vector of zeros finds no row.
    """
    return LanceRetriever(table, embed, metric)


def corpus_table(folder: str | os.PathLike[str], corpus: Mapping[str, str], embed: Embed) -> Any:
    """Write a corpus into a LanceDB table on disk.

    Args:
        folder: of the database, which must not have a table `documents` yet.
        corpus: title → text.
        embed: n texts → n vectors.

    Raises:
        MissingExtra: lancedb is not installed.
    """
    lancedb = extras.load("lancedb", "lancedb")
    titles, texts = list(corpus), document_texts(corpus)
    rows = [
        {"title": title, "text": text, "vector": vector}
        for title, text, vector in zip(titles, texts, embed(texts), strict=True)
    ]
    return lancedb.connect(os.fspath(folder)).create_table(TABLE, rows)


def document_texts(corpus: Mapping[str, str]) -> list[str]:
    """Give what is embedded of each document: title and text."""
    return [f"{title}\n{text}" for title, text in corpus.items()]


def _in_range(distance: float, title: str) -> float:
    if not -_ROUNDING <= distance <= 2 + _ROUNDING:
        message = (
            f"{distance} for {escaped(title)}, expected a cosine distance in [0, 2]: is the index "
            "made for another metric?"
        )
        raise InvalidInput([problem("distance_range", "<lancedb>", "_distance", message)])
    return min(max(distance, 0.0), 2.0)
