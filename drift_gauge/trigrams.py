"""Texts as TF-IDF vectors of character trigrams: no model, no dictionary, numpy alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from drift_gauge.numbers import whole
from drift_gauge.ranking import Matrix, unit_rows

MAX_FEATURES = 4096
_CHARACTER = 21  # bits of a code point
_SPACE = ord(" ")

Ints = npt.NDArray[np.int64]


class TrigramVectors:
    """TF-IDF of the trigrams inside words, with a blank on either side of each word.

    The weight of a trigram is (1 + ln tf) · (1 + ln((1 + n) / (1 + df))), and rows have length 1:
    scikit-learn's TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True).

    Args:
        texts: n texts to learn trigrams and their document frequencies from.
        max_features: how many trigrams to keep, those that the most texts have.

    Example:
        >>> vectors = TrigramVectors(["a cat", "a dog"])
        >>> vectors(["cats"]).shape, bool(vectors(["xyz"]).any())
        ((1, 7), False)
    """

    def __init__(self, texts: Sequence[str], max_features: int = MAX_FEATURES) -> None:
        _, key, _ = _counted(texts)
        known, frequency = np.unique(key, return_counts=True)
        kept = np.argsort(-frequency, kind="stable")[: whole("max_features", max_features, 1)]
        kept.sort()
        self.trigrams: Ints = known[kept]
        self.idf = 1 + np.log((1 + len(texts)) / (1 + frequency[kept]))

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Give one row of length 1 for each text; zeros for a text without known trigrams."""
        text, key, times = _counted(texts)
        matrix = np.zeros((len(texts), len(self.trigrams)), np.float32)
        if len(self.trigrams):
            column = np.minimum(np.searchsorted(self.trigrams, key), len(self.trigrams) - 1)
            known = self.trigrams[column] == key
            text, column, times = text[known], column[known], times[known]
            matrix[text, column] = (1 + np.log(times)) * self.idf[column]
        return unit_rows(matrix)


def _counted(texts: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """Count trigrams: number of the text, trigram, how often; sorted by the first two."""
    padded = [f" {' '.join(_plain(text).split())} " for text in texts]
    points = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.int64)
    number = np.repeat(np.arange(len(padded)), [len(text) for text in padded])
    inside = (points[1:-1] != _SPACE) & (number[2:] == number[:-2])
    keys = (points[:-2] << 2 * _CHARACTER) | (points[1:-1] << _CHARACTER) | points[2:]
    keys, number = keys[inside], number[:-2][inside]
    order = np.lexsort((keys, number))
    keys, number = keys[order], number[order]
    starts = np.flatnonzero(
        np.concatenate(([True], (keys[1:] != keys[:-1]) | (number[1:] != number[:-1])))
    )[: len(keys)]
    return number[starts], keys[starts], np.diff(np.append(starts, len(keys)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
