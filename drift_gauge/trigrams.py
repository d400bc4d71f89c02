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
        number, key = _spelled(texts)
        known, code = np.unique(key, return_inverse=True)
        pairs = np.sort(number * len(known) + code)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # here many times as fast as np.unique
        frequency = np.bincount(pairs % max(1, len(known)), minlength=len(known))
        kept = np.argsort(-frequency, kind="stable")[: whole("max_features", max_features, 1)]
        kept.sort()
        self.trigrams: Ints = known[kept]
        self.idf = 1 + np.log((1 + len(texts)) / (1 + frequency[kept]))

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Give one row of length 1 for each text; zeros for a text without known trigrams."""
        number, key = _spelled(texts)
        width = len(self.trigrams)
        matrix = np.zeros((len(texts), width), np.float32)
        if width:
            column = np.minimum(np.searchsorted(self.trigrams, key), width - 1)
            known = self.trigrams[column] == key
            cell, times = np.unique(number[known] * width + column[known], return_counts=True)
            matrix.reshape(-1)[cell] = (1 + np.log(times)) * self.idf[cell % width]
        return unit_rows(matrix)


def _spelled(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """Give every trigram of every text: the number of the text, and three code points as one."""
    padded = [f" {' '.join(_plain(text).split())} " for text in texts]
    points = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.int64)
    number = np.repeat(np.arange(len(padded)), [len(text) for text in padded])
    inside = (points[1:-1] != _SPACE) & (number[2:] == number[:-2])
    keys = (points[:-2] << 2 * _CHARACTER) | (points[1:-1] << _CHARACTER) | points[2:]
    return number[:-2][inside], keys[inside]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
