"""Retrieval metrics on columns against ranx, ir_measures and a plain loop; the embedded retriever.

Ours computes recall@k, Jaccard overlap and mean distance of every query, and their exact means,
from columns of codes; shown as well is the same from lists of texts. The plain loop computes the
three with Python's sets from lists of texts. ranx and ir_measures (with pytrec_eval) compute
recall@k alone, from the objects that they want, made beforehand. All recalls of one run have to
agree.

The second table is the embedded retriever: learning a corpus, and answering all queries in one
matrix product, beside scikit-learn's TfidfVectorizer with scipy's sparse product on the same texts.

Run `pip install ranx ir_measures pytrec-eval-terrier` and `python benchmarks/retrieval.py`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import ranx
from counting import timed
from rich import box
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import TfidfVectorizer

from drift_gauge import columns
from drift_gauge.corpus import load_corpus
from drift_gauge.lance import document_texts
from drift_gauge.retrievers import embedded_retriever

LOOP_TARGET = 10
_TITLES, _EXPECTED = 50_000, 3


@dataclass(frozen=True)
class Sample:
    """The same answers in every form.

    Attributes:
        expected: n × 3 codes, -1 for no title.
        retrieved: n × k codes, none twice in a row, as TREC files demand.
        distances: n × k.
    """

    expected: columns.Codes
    retrieved: columns.Codes
    distances: columns.Floats

    def texts(self) -> tuple[list[list[str]], list[list[str]], list[list[float]]]:
        """Give expected titles, retrieved titles and distances as lists."""
        expected, retrieved = (
            [[f"d{code}" for code in row if code >= 0] for row in codes.tolist()]
            for codes in (self.expected, self.retrieved)
        )
        return expected, retrieved, self.distances.tolist()


def sample(n: int, k: int, seed: int) -> Sample:
    """Draw answers in which about half of the expected titles are found."""
    rng = np.random.default_rng(seed)
    step = rng.integers(1, _TITLES // (2 * k), n)
    retrieved = (rng.integers(0, _TITLES, n)[:, None] + np.arange(k) * step[:, None]) % _TITLES
    missed = (retrieved[:, :1] + 1 + np.arange(_EXPECTED) * 3) % _TITLES
    hit = np.take_along_axis(retrieved, np.argsort(rng.random((n, k)))[:, :_EXPECTED], axis=1)
    expected = np.where(rng.random((n, _EXPECTED)) < 0.5, hit, missed)
    expected[:, 1:][rng.random((n, _EXPECTED - 1)) < 0.5] = columns.NOTHING
    distances = np.sort(rng.random((n, k)), axis=1)
    return Sample(expected.astype(np.int32), retrieved.astype(np.int32), distances)


def plain_loop(
    expected: list[list[str]], retrieved: list[list[str]], distances: list[list[float]], k: int
) -> float:
    """Compute the three means with Python's sets, and give that of recall."""
    recall = overlap = distance = 0.0
    for wanted, found, apart in zip(expected, retrieved, distances, strict=True):
        titles, top = set(wanted), set(found[:k])
        hits = len(titles & top)
        recall += hits / len(titles)
        overlap += hits / len(titles | top)
        distance += sum(apart[:k]) / len(apart[:k])
    return recall / len(expected)


def contests(data: Sample, k: int) -> dict[str, Callable[[], float]]:
    """Give every way to compute recall, each as a function of no arguments."""
    expected, retrieved, distances = data.texts()
    qrels = {f"q{at}": dict.fromkeys(row, 1) for at, row in enumerate(expected)}
    run = {
        f"q{at}": {title: 1.0 - apart for title, apart in zip(row, away, strict=True)}
        for at, (row, away) in enumerate(zip(retrieved, distances, strict=True))
    }
    ranx_qrels, ranx_run = ranx.Qrels(qrels), ranx.Run(run)
    measure = ir_measures.R @ k

    def ours_on_texts() -> float:
        return mean(columns.rates(*columns.encode(expected, retrieved), data.distances))

    return {
        "ours, codes": lambda: mean(columns.rates(data.expected, data.retrieved, data.distances)),
        "ours, lists of texts": ours_on_texts,
        "plain loop": lambda: plain_loop(expected, retrieved, distances, k),
        "ranx": lambda: float(ranx.evaluate(ranx_qrels, ranx_run, f"recall@{k}")),
        "ir_measures": lambda: float(ir_measures.calc_aggregate([measure], qrels, run)[measure]),
    }


def mean(rates: columns.Rates) -> float:
    """Sum all three rates, and give the mean of recall."""
    found = rates.totals().recall.mean()
    assert found is not None
    return found


def compare(n: int, k: int, seed: int, repeats: int) -> Table:
    """Time every contest, hold the recalls to each other and tabulate."""
    table = Table(title=f"{n:,} queries, k = {k}, least times", box=box.SIMPLE_HEAD)
    for name in ("computed by", "ms", "ratio to ours, codes", "target"):
        table.add_column(name, justify="left" if name in ("computed by", "target") else "right")
    results = {name: timed(run, repeats) for name, run in contests(sample(n, k, seed), k).items()}
    (mine, recall), *_ = results.values()
    for name, (seconds, found) in results.items():
        assert math.isclose(found, recall, rel_tol=1e-9), (name, found, recall)
        ratio = seconds / mine
        target = {"plain loop": LOOP_TARGET, "ranx": 1, "ir_measures": 1}.get(name)
        judged = "–" if target is None else f"≥ {target}: {'met' if ratio > target else 'MISSED'}"
        table.add_row(name, f"{seconds * 1e3:,.1f}", f"{ratio:.1f}", judged)
    return table


def texts(n: int, words: int, rng: np.random.Generator) -> list[str]:
    """Draw texts from the words of the golden set's corpus."""
    known = np.array(sorted(set(" ".join(document_texts(load_corpus())).split())))
    return [" ".join(row) for row in known[rng.integers(0, len(known), (n, words))]]


def search(documents: int, queries: int, seed: int) -> Table:
    """Time the embedded retriever and its peer on the same texts."""
    rng = np.random.default_rng(seed)
    corpus = {f"document {at}": text for at, text in enumerate(texts(documents, 60, rng))}
    asked = texts(queries, 8, rng)
    made, ours = timed(lambda: embedded_retriever(corpus), 1)
    once, rows = timed(lambda: ours.batch(asked, 10), 3)
    singly, one_by_one = timed(lambda: [ours(query, 10) for query in asked[:100]], 1)
    assert [titles(found) for found in one_by_one] == [titles(found) for found in rows[:100]]
    peer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
    learnt, matrix = timed(lambda: peer.fit_transform(document_texts(corpus)), 1)

    def ask_peer() -> Any:
        cosines = (peer.transform(asked) @ matrix.T).toarray()
        return np.argsort(-cosines, axis=1, kind="stable")[:, :10]

    theirs, places = timed(ask_peer, 1)
    same = np.mean(
        [rows[at][0]["title"] == f"document {places[at][0]}" for at in range(len(asked))]
    )
    table = Table(title=f"{documents:,} documents, {queries:,} queries, s", box=box.SIMPLE_HEAD)
    for name in ("retriever", "learn", "answer all at once", "answer one by one"):
        table.add_column(name, justify="left" if name == "retriever" else "right")
    scaled = singly * len(asked) / 100
    table.add_row("embedded", f"{made:.2f}", f"{once:.2f}", f"{scaled:.2f}")
    table.add_row("scikit-learn, sparse", f"{learnt:.2f}", f"{theirs:.2f}", "–")
    table.caption = f"same first document: {same:.1%}"
    return table


def titles(rows: list[dict[str, Any]]) -> list[str]:
    """Give the titles of rows."""
    return [row["title"] for row in rows]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--asked", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    console = Console()
    console.print(compare(args.queries, args.k, args.seed, args.repeats))
    console.print(search(args.documents, args.asked, args.seed))


if __name__ == "__main__":
    main()
