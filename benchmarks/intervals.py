"""Bootstrap intervals against scipy.stats.bootstrap with scikit-learn's macro-F1.

Ours draws every interval of a report, and every difference of a comparison with as many random
exchanges. The peer resamples the macro-F1 of the three label fields, nothing else, fewer times; its
time grows with the resamples and is scaled. Run `python benchmarks/intervals.py`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from scipy.stats import bootstrap
from sklearn.metrics import f1_score

import data
from drift_onset import counts, scores, uncertainty
from drift_onset.comparing import paired
from drift_onset.comparing.differences import differences
from drift_onset.reading import cells

TARGET = 100
TOLERANCE = 0.25  # of the width of an interval; the ends of few resamples are rough


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Give the time in seconds, and the result."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def systems(rows: int) -> tuple[counts.Columns, counts.Columns]:
    """Draw two systems that answer the same scenarios."""
    first = data.sample(rows, np.random.default_rng(data.SEED))
    other = data.sample(rows, np.random.default_rng(data.SEED))
    swapped = np.random.default_rng(1).permutation(rows)[: rows // 3]
    for codes in (*other.predicted.labels.values(), other.predicted.onset):
        codes[swapped] = codes[np.roll(swapped, 1)]
    return _columns(first, first), _columns(first, other)


def _columns(gold: data.Sample, answers: data.Sample) -> counts.Columns:
    labels = {t: (codes, answers.predicted.labels[t]) for t, codes in gold.gold.labels.items()}
    return counts.Columns(
        labels=labels,
        onset=(gold.gold.onset, answers.predicted.onset),
        residual=(gold.gold.residual, answers.predicted.residual),
        confidence=cells.billionths(answers.confidence),
    )


def peer(side: counts.Columns, other: counts.Columns | None, resamples: int) -> dict[str, Any]:
    """Resample macro-F1, or its difference between two systems, with scipy."""

    def f1(gold: Any, *predicted: Any) -> float:
        values = [f1_score(gold, one, average="macro", zero_division=0) for one in predicted]
        return values[0] - sum(values[1:])

    found = {}
    for target, (gold, predicted) in side.labels.items():
        sides = (predicted,) if other is None else (predicted, other.labels[target][1])
        result = bootstrap(
            (gold, *sides),
            f1,
            paired=True,
            vectorized=False,
            n_resamples=resamples,
            method="percentile",
            rng=np.random.default_rng(0),
        )
        found[f"{target}_macro_f1"] = result.confidence_interval
    return found


def check(ours: Any, theirs: Any) -> None:
    """Hold our intervals to the peer's.

    Raises:
        AssertionError: an end is further off than few resamples explain.
    """
    for name, interval in theirs.items():
        width = interval.high - interval.low
        for mine, other in ((ours[name].low, interval.low), (ours[name].high, interval.high)):
            assert abs(mine - other) <= TOLERANCE * width, (name, mine, other)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Bootstrap intervals against scipy's.")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--peer-resamples", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="of ours; the least is taken")
    args = parser.parse_args()
    first, second = systems(args.rows)
    counted = [counts.count_columns(side) for side in (first, second)]
    scored = [scores.score(one) for one in counted]
    pairs = paired.count(first, second)
    runs: dict[str, tuple[Callable[[], Any], counts.Columns | None]] = {
        "intervals of a report": (
            lambda: uncertainty.intervals(counted[0], scored[0], resamples=args.resamples),
            None,
        ),
        "differences of two systems": (
            lambda: {
                name: by.interval
                for name, by in differences(
                    pairs, *scored, resamples=args.resamples, seed=0
                ).items()
            },
            second,
        ),
    }
    title = f"{args.resamples:,} resamples of {args.rows:,} rows"
    table = Table(title=title, box=box.SIMPLE_HEAD)
    for name in ("", "ours, s", "scipy and scikit-learn, s (scaled)", "ratio", "target"):
        table.add_column(name, justify="right" if name else "left")
    for name, (run, other) in runs.items():
        mine, ours = min((timed(run) for _ in range(args.repeats)), key=lambda found: found[0])
        spent, theirs = timed(lambda other=other: peer(first, other, args.peer_resamples))
        check(ours, theirs)
        scaled = spent * args.resamples / args.peer_resamples
        ratio = scaled / mine
        judged = f"≥ {TARGET}: {'met' if ratio >= TARGET else 'MISSED'}"
        table.add_row(name, f"{mine:.2f}", f"{scaled:,.0f}", f"{ratio:.0f}", judged)
    Console().print(table)


if __name__ == "__main__":
    main()
