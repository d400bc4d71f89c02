"""Counting and scoring in memory against scikit-learn, on the same three label columns.

Ours reads the label columns to codes, counts the joint outcomes and computes every metric of both
leaderboards and all diagnostics. The peer computes per-class scores and macro-F1 of the three label
fields, nothing else. Run `python benchmarks/counting.py`.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from sklearn.metrics import f1_score, precision_recall_fscore_support

import data
from drift_onset import counts, schema, scores
from drift_onset.reading import cells, tables

STRINGS_TARGET, CODES_TARGET = 50, 20
TOLERANCE = 1e-12

Columns = Mapping[str, tuple[Any, Any]]
PeerScores = dict[str, tuple[Any, float]]


@dataclass
class Contest:
    """One way to hold the label columns: our run, the peer's runs, and the ratio aimed at.

    Attributes:
        name: what the columns are on our side.
        ours: decodes, counts and scores.
        peers: forms of the same columns → the peer's run on them; the fastest one counts.
        target: ratio aimed at; None where none is set.
    """

    name: str
    ours: Callable[[], scores.Scores]
    peers: dict[str, Callable[[], PeerScores]]
    target: int | None


def each(columns: Columns, form: Callable[[Any, str], Any]) -> Columns:
    """Give every label column another form; `form` takes the column and the label target."""
    return {t: (form(gold, t), form(predicted, t)) for t, (gold, predicted) in columns.items()}


def label_array(codes: Any, target: str) -> pa.Array:
    """Give codes as an Arrow array of label texts."""
    return pa.array(schema.labels(target), pa.string()).take(pa.array(codes))


def decoded(columns: Columns) -> Columns:
    """Read Arrow columns of labels, as files and tables are read."""
    return each(columns, lambda column, target: cells.label_codes(column, schema.labels(target)))


def ours(sample: data.Sample, confidence: counts.Ints, labels: Columns) -> scores.Scores:
    """Count and score everything from codes, as `drift_onset.evaluation.report_pairs` does."""
    side_by_side = counts.Columns(
        labels=dict(labels),
        onset=(sample.gold.onset, sample.predicted.onset),
        residual=(sample.gold.residual, sample.predicted.residual),
        confidence=confidence,
    )
    return scores.score(counts.count_columns(side_by_side))


def peer(columns: Columns, labels: Mapping[str, Any]) -> PeerScores:
    """Score the label fields with scikit-learn: per class, and macro-F1."""
    return {
        target: (
            precision_recall_fscore_support(gold, predicted, labels=labels[target]),
            float(f1_score(gold, predicted, average="macro")),
        )
        for target, (gold, predicted) in columns.items()
    }


def check_equal(mine: scores.Scores, theirs: PeerScores) -> None:
    """Hold our numbers to the peer's.

    Raises:
        AssertionError: any of them differs by more than rounding.
    """
    for target, (per_class, macro) in theirs.items():
        found = list(mine.classes[target].values())
        assert math.isclose(getattr(mine, f"{target}_macro_f1"), macro, abs_tol=TOLERANCE)
        for name, numbers in zip(("precision", "recall", "f1", "support"), per_class, strict=True):
            own = np.array([getattr(one, name) for one in found])
            assert np.allclose(own, numbers, rtol=0, atol=TOLERANCE), (target, name)


def contests(rows: int, seed: int) -> list[Contest]:
    """Draw rows and lay them out in every form that is measured."""
    sample = data.sample(rows, np.random.default_rng(seed))
    codes = {t: (gold, sample.predicted.labels[t]) for t, gold in sample.gold.labels.items()}
    names = {t: list(schema.labels(t)) for t in codes}
    positions = {t: list(range(len(labels))) for t, labels in names.items()}
    texts = each(codes, label_array)
    # Equal texts are one object, as a parser that keeps what it has read makes them.
    objects = each(codes, lambda column, target: np.array(names[target], object)[column])
    fixed = each(codes, lambda column, target: np.array(names[target])[column])
    integers = each(codes, lambda column, _: pa.array(column))
    on_texts = {
        "fixed-width": lambda: peer(fixed, names),
        "objects": lambda: peer(objects, names),
    }
    on_codes = {"int32": lambda: peer(codes, positions)}
    score = partial(ours, sample, cells.billionths(sample.confidence))

    def from_objects() -> scores.Scores:
        return score(decoded(each(objects, lambda column, _: tables.column_array(column))))

    return [
        Contest("texts, Arrow", lambda: score(decoded(texts)), on_texts, STRINGS_TARGET),
        Contest("texts, objects", from_objects, on_texts, None),
        Contest("codes, numpy", lambda: score(codes), on_codes, CODES_TARGET),
        Contest("codes, Arrow", lambda: score(decoded(integers)), on_codes, None),
    ]


def timed(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Give the shortest time in seconds, and the last result."""
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result


def verdict(ratio: float, target: int | None) -> str:
    """Say whether a ratio reaches its target."""
    if target is None:
        return "–"
    return f"≥ {target}: {'met' if ratio >= target else 'MISSED'}"


def measure(rows: int, seed: int, repeats: int, peer_repeats: int) -> Table:
    """Time every contest, hold the numbers of both sides to each other and tabulate."""
    table = Table(
        title=f"Counting and scoring {rows:,} rows, least times in ms", box=box.SIMPLE_HEAD
    )
    for name in ("columns", "ours", "scikit-learn on", "peer", "ratio", "target"):
        left = name in ("columns", "scikit-learn on", "target")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    known: dict[str, tuple[float, PeerScores]] = {}
    for contest in contests(rows, seed):
        mine, scored = timed(contest.ours, repeats)
        for form, run in contest.peers.items():
            if form not in known:
                known[form] = timed(run, peer_repeats)
            check_equal(scored, known[form][1])
        fastest = min(contest.peers, key=lambda form: known[form][0])
        for form in contest.peers:
            ratio = known[form][0] / mine
            judged = verdict(ratio, contest.target if form == fastest else None)
            numbers = (f"{mine * 1e3:.1f}", form, f"{known[form][0] * 1e3:,.0f}", f"{ratio:.1f}")
            table.add_row(contest.name, *numbers, judged)
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Counting and scoring against scikit-learn.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=data.SEED)
    parser.add_argument("--repeats", type=int, default=15, help="of ours; the least is taken")
    parser.add_argument("--peer-repeats", type=int, default=3)
    args = parser.parse_args()
    console = Console()
    console.print(measure(args.rows, args.seed, args.repeats, args.peer_repeats))
    console.print(
        "The target is held against the fastest form for scikit-learn. Per-class scores and "
        f"macro-F1 of both sides agree to within {TOLERANCE}."
    )


if __name__ == "__main__":
    main()
