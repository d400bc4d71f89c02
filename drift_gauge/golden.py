"""The frozen golden set: a fixed reference that capability drift is measured against.

The set ships with its own corpus, so that it does not change when anything else does. Corpus,
queries and baselines are edited by their owner only, on purpose; code writes a baseline in one
place, `drift_gauge.bless`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from drift_core import __version__
from drift_core.exact import ExactSum
from drift_core.problems import escaped
from drift_core.strict_json import dumps
from drift_gauge import answers, documents
from drift_gauge.documents import DEFAULT_K, blessed_metrics
from drift_gauge.numbers import SLACK, deterioration, finite, whole, within

GOLDEN_DIR = Path(__file__).resolve().parent / "golden"
CORPUS_DIR = GOLDEN_DIR / "corpus"
GOLDEN_SET_PATH = GOLDEN_DIR / "golden_set.json"
BASELINE_PATH = GOLDEN_DIR / "baseline.json"

DEFAULT_DISTANCE_TOL = 0.05

Retriever = Callable[[str, int], Sequence[dict[str, Any]]]
"""(query, k) → at most k rows, best first; each a dict with `title` and, if known, `_distance`."""


@dataclass(frozen=True)
class GoldenQuery:
    """One query of the golden set.

    Attributes:
        id: its name, unique in the set.
        query: what the retriever is asked.
        expected: titles that a good answer holds; may be empty.
        k: how many rows are asked for and count, at least 1.
    """

    id: str
    query: str
    expected: tuple[str, ...]
    k: int = DEFAULT_K

    def __post_init__(self) -> None:
        whole("k", self.k, 1)
        if isinstance(self.expected, str):
            raise ValueError(
                f"Expected argument `expected` to be titles but got one text {self.expected!r}"
            )


@dataclass(frozen=True)
class QueryResult:
    """What one query gave.

    Attributes:
        id: of the query.
        retrieved: titles of the first k rows, best first.
        recall_at_k: see `drift_gauge.metrics`, from 0 to 1.
        overlap: see `drift_gauge.metrics`, from 0 to 1.
        mean_distance: over the rows that have one; None if none has.
        without_distance: how many of the rows have none.
    """

    id: str
    retrieved: tuple[str, ...]
    recall_at_k: float
    overlap: float
    mean_distance: float | None
    without_distance: int = 0

    def __post_init__(self) -> None:
        finite("recall_at_k", self.recall_at_k, 0, 1)
        finite("overlap", self.overlap, 0, 1)
        if self.mean_distance is not None:
            finite("mean_distance", self.mean_distance)

    def flag(self) -> str | None:
        """Say what is odd about the rows, if anything is."""
        if not self.retrieved:
            return f"query {escaped(self.id)} returned no rows"
        if self.without_distance or self.mean_distance is None:
            n = self.without_distance or len(self.retrieved)
            return f"query {escaped(self.id)}: {n} of {len(self.retrieved)} rows have no _distance"
        return None


@dataclass(frozen=True)
class GoldenReport:
    """What the whole golden set gave.

    Attributes:
        per_query: the results, in the order of the set.
        golden_sha256: of the queries that were asked; None if not known.
        retriever: the name of the retriever; None if it has none.
    """

    per_query: Sequence[QueryResult]
    golden_sha256: str | None = None
    retriever: str | None = None

    @property
    def recall_at_k(self) -> float:
        """Mean recall of the queries."""
        return self._mean(ExactSum.of([q.recall_at_k for q in self.per_query]))

    @property
    def overlap(self) -> float:
        """Mean overlap of the queries."""
        return self._mean(ExactSum.of([q.overlap for q in self.per_query]))

    @property
    def mean_distance(self) -> float | None:
        """Mean distance of the queries that have one; None if none has."""
        known = [q.mean_distance for q in self.per_query if q.mean_distance is not None]
        return ExactSum.of(known).mean()

    @property
    def flags(self) -> tuple[str, ...]:
        """What is odd about the rows: queries that gave none, and rows without `_distance`."""
        return tuple(flag for q in self.per_query if (flag := q.flag()))

    def as_metrics(self) -> dict[str, float | None]:
        """Give the three rates, not rounded, as the `metrics` section of a baseline names them."""
        return {
            "recall_at_k": self.recall_at_k,
            "overlap": self.overlap,
            "mean_distance": self.mean_distance,
        }

    def to_dict(self) -> dict[str, Any]:
        """Give the rates, what is odd, the queries and the signature, in this order."""
        return {
            **self.as_metrics(),
            "flags": list(self.flags),
            "per_query": [
                {**asdict(query), "retrieved": list(query.retrieved)} for query in self.per_query
            ],
            "signature": self.signature(),
        }

    def signature(self) -> dict[str, Any]:
        """Say how the report was made, so that two can be compared."""
        return {
            "gauge": f"reasoning-drift {__version__}",
            "retriever": self.retriever,
            "golden_sha256": self.golden_sha256,
            "n": len(self.per_query),
        }

    @staticmethod
    def _mean(total: ExactSum) -> float:
        mean = total.mean()
        if mean is None:
            raise ValueError("Expected at least one query in the report but got none")
        return mean


def load_golden_set(path: documents.Path = GOLDEN_SET_PATH) -> list[GoldenQuery]:
    """Read a golden set, `{"queries": [{"id", "query", "expected": [titles], "k"}]}`.

    Args:
        path: the file; k is 5 where it is left out.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: a ValueError that names every problem: no query at all, an id twice, k < 1,
            an unknown or missing key.

    Example:
        >>> load_golden_set()[0].expected
        ('Nightly backups',)
    """
    document = documents.read_checked(path, documents.golden_problems)
    return [
        GoldenQuery(q["id"], q["query"], tuple(q["expected"]), q.get("k", DEFAULT_K))
        for q in document["queries"]
    ]


def load_baseline(path: documents.Path = BASELINE_PATH) -> dict[str, Any]:
    """Read a whole baseline: `retriever`, `metrics` and, where blessed, `drift` and `effectors`.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: a ValueError that names every problem.

    Example:
        >>> load_baseline()["retriever"]
        'embedded'
    """
    return documents.read_checked(path, documents.whole_baseline_problems)


def evaluate(golden: Sequence[GoldenQuery], retriever: Retriever) -> GoldenReport:
    """Ask a retriever every golden query and measure what it gives.

    Args:
        golden: at least one query, with unique ids.
        retriever: (query, k) → rows, best first; only the first k count.

    Raises:
        InvalidInput: a ValueError that names every row without a `title`, and every `_distance`
            that is not a finite number; None is as good as no distance. Also one that names the
            query where the retriever raised something.
        ValueError: no query, or an id twice.

    Example:
        >>> golden = [GoldenQuery("one", "where?", ("a", "b"), k=3)]
        >>> report = evaluate(golden, lambda query, k: [{"title": "a", "_distance": 0.25}])
        >>> report.as_metrics()
        {'recall_at_k': 0.5, 'overlap': 0.5, 'mean_distance': 0.25}
    """
    return evaluate_named(golden, retriever, getattr(retriever, "name", None))


def evaluate_named(
    golden: Sequence[GoldenQuery], retriever: Retriever, name: str | None
) -> GoldenReport:
    """Ask a retriever that goes by this name; see `evaluate`."""
    golden = list(golden)
    _check_queries(golden)
    rows = [answers.asked(retriever, name, q.id, q.query, q.k) for q in golden]
    return evaluate_rows(golden, rows, retriever=name)


def evaluate_rows(
    golden: Sequence[GoldenQuery],
    rows: Sequence[Sequence[Mapping[str, Any]]],
    *,
    retriever: str | None = None,
) -> GoldenReport:
    """Measure rows that a retriever gave earlier; see `evaluate`.

    Args:
        golden: n queries with unique ids.
        rows: n lists of rows.
        retriever: the name of the retriever, for the report.
    """
    _check_queries(golden)
    top = [
        answers.first(query.id, query.k, found) for query, found in zip(golden, rows, strict=True)
    ]
    answers.check([query.id for query in golden], top)
    titles = [tuple(row["title"] for row in found) for found in top]
    rates = answers.rates([query.expected for query in golden], top)
    results = [
        QueryResult(
            query.id,
            titles[at],
            float(rates.recall[at]),
            float(rates.overlap[at]),
            float(rates.distance[at]) if rates.measured[at] else None,
            len(titles[at]) - int(rates.measured[at]),
        )
        for at, query in enumerate(golden)
    ]
    return GoldenReport(tuple(results), _sha256(golden), retriever)


def _check_queries(golden: Sequence[GoldenQuery]) -> None:
    if not golden:
        raise ValueError("Expected argument `golden` to hold at least one query but got none")
    times = Counter(query.id for query in golden)
    twice = [name for name, n in times.items() if n > 1]
    if twice:
        raise ValueError(f"Expected every id of `golden` once but got several of {twice}")


def _sha256(golden: Sequence[GoldenQuery]) -> str:
    rows = [[q.id, q.query, list(q.expected), q.k] for q in golden]
    return hashlib.sha256(dumps(rows).encode()).hexdigest()


def regressions(report: GoldenReport, baseline: Mapping[str, Any]) -> list[str]:
    """Name the metrics that fell below the blessed baseline.

    recall_at_k and overlap must not drop, mean_distance must not rise by more than
    `distance_tol` (0.05 where the baseline has none); a difference of a billionth is none. A
    mean_distance that could not be measured has fallen below every baseline.

    Args:
        report: what was measured.
        baseline: a whole baseline, or its `metrics` section.

    Returns:
        Names out of `recall_at_k`, `overlap`, `mean_distance`; empty if none regressed.

    Raises:
        InvalidInput: a ValueError that names what is wrong with the baseline.

    Example:
        >>> report = GoldenReport([QueryResult("one", ("a",), 0.5, 0.5, 0.25)])
        >>> regressions(report, {"recall_at_k": 1.0, "overlap": 0.5, "mean_distance": 0.25})
        ['recall_at_k']
    """
    metrics = blessed_metrics(baseline)
    fallen = [
        name
        for name in ("recall_at_k", "overlap")
        if finite(name, getattr(report, name)) < metrics[name] * (1 - SLACK)
    ]
    rise = deterioration(
        report.mean_distance,
        metrics["mean_distance"],
        metrics.get("distance_tol", DEFAULT_DISTANCE_TOL),
        higher_is_better=False,
    )
    return fallen if within(rise, 1.0) else [*fallen, "mean_distance"]
