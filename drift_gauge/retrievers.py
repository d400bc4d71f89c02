"""The retrievers that ship with the package, and how a command finds one by name."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from drift_core.problems import InvalidInput, escaped
from drift_gauge.corpus import load_corpus
from drift_gauge.documents import problem
from drift_gauge.golden import Retriever
from drift_gauge.lance import LanceRetriever, corpus_table, document_texts, lancedb_retriever
from drift_gauge.ranking import MatrixRetriever
from drift_gauge.sentences import SentenceVectors
from drift_gauge.trigrams import MAX_FEATURES, TrigramVectors

__all__ = [
    "SHIPPED",
    "LanceRetriever",
    "MatrixRetriever",
    "embedded_retriever",
    "lancedb_retriever",
    "opened",
    "sentence_retriever",
]

EMBEDDED, LANCEDB, EMBEDDINGS = SHIPPED = ("embedded", "lancedb", "embeddings")


def embedded_retriever(
    corpus: Mapping[str, str] | None = None, *, max_features: int = MAX_FEATURES
) -> MatrixRetriever:
    """Make the retriever without a model: TF-IDF of character trigrams.

    Args:
        corpus: title → text; None for the corpus of the golden set. Vectors take
            4 bytes × documents × min(trigrams, max_features).
        max_features: how many trigrams to keep.

    Example:
        >>> ask = embedded_retriever()
        >>> [row["title"] for row in ask("When does the nightly backup run?", 1)]
        ['Nightly backups']
    """
    documents = load_corpus() if corpus is None else corpus
    texts = document_texts(documents)
    return MatrixRetriever(EMBEDDED, list(documents), texts, TrigramVectors(texts, max_features))


def sentence_retriever(corpus: Mapping[str, str] | None = None) -> MatrixRetriever:
    """Make the retriever on sentence embeddings; see `drift_gauge.sentences`.

    Args:
        corpus: title → text; None for the corpus of the golden set.

    Raises:
        MissingExtra: the extra `embeddings` or the tokenizer is not installed.
    """
    documents = load_corpus() if corpus is None else corpus
    return MatrixRetriever(
        EMBEDDINGS, list(documents), document_texts(documents), SentenceVectors()
    )


@contextmanager
def opened(name: str, corpus: Mapping[str, str]) -> Iterator[Retriever]:
    """Open a retriever by name.

    Args:
        name: `embedded`, `lancedb` (trigram vectors in a table in a temporary folder),
            `embeddings`, or `module:function` for one of your own.
        corpus: title → text; one of your own has its own corpus.

    Raises:
        MissingExtra: what it needs is not installed.
        InvalidInput: a ValueError; there is no such retriever.
    """
    if name == EMBEDDED:
        yield embedded_retriever(corpus)
    elif name == EMBEDDINGS:
        yield sentence_retriever(corpus)
    elif name == LANCEDB:
        vectors = TrigramVectors(document_texts(corpus))
        with tempfile.TemporaryDirectory(prefix="drift-gauge-") as folder:
            table = corpus_table(folder, corpus, vectors)
            yield lancedb_retriever(table, lambda query: vectors([query])[0])
    else:
        yield _own(name)


def _own(name: str) -> Retriever:
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise _unknown(name, "is unknown")
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:  # importing runs code that is not ours
        raise _unknown(name, f"is not there: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise _unknown(name, "is not a function")
    return cast(Retriever, found)


def _unknown(name: str, what: str) -> InvalidInput:
    message = f"{escaped(name)} {what}, expected {', '.join(SHIPPED)} or module:function"
    return InvalidInput([problem("retriever", "<arguments>", "--retriever", message)])
