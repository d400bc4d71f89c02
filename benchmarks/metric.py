"""The evaluate module on whole columns against the package on the same columns.

Ours is `evaluate.load("metric/reasoning_state").compute(predictions=…, references=…)` on two
Datasets of five fields; the peer is `drift_onset` on their Arrow tables, which is what the scorer
does. Shown beside them is evaluate's own way, rows added in batches to its cache, on a tenth of the
rows.

Run `python benchmarks/metric.py`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from counting import timed
from rich import box
from rich.console import Console
from rich.table import Table

from drift_onset import evaluation, schema

TARGET = 1.5
METRIC = Path(__file__).resolve().parents[1] / "metric" / "reasoning_state"


def states(rows: int, rng: np.random.Generator) -> pa.Table:
    """Draw lawful states as five columns: labels as texts, onset and residual as numbers."""
    drift, families = rng.random(rows) < 0.75, schema.labels("mechanism_family")
    onset = rng.integers(1, 9, rows)
    family = np.where(drift, rng.integers(1, len(families), rows), 0)
    outcomes, repairs = schema.labels("outcome_mode"), schema.labels("repair_outcome")
    columns = (
        pa.array(outcomes).take(pa.array(np.where(drift, 1, 0))),
        pa.array(onset.astype(np.int32), mask=~drift),
        pa.array(families).take(pa.array(family)),
        pa.array(repairs).take(pa.array(np.where(drift, rng.integers(3, 5, rows), 0))),
        pa.array(rng.integers(1, 4, rows).astype(np.int32), mask=~drift),
    )
    return pa.table(dict(zip(schema.targets(), columns, strict=True)))


def main() -> None:
    """Measure, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    import datasets
    import evaluate

    rng = np.random.default_rng(0)
    gold, guesses = states(args.rows, rng), states(args.rows, rng)
    metric = evaluate.load(str(METRIC))
    given = {"predictions": datasets.Dataset(guesses), "references": datasets.Dataset(gold)}

    def package() -> dict[str, float | None]:
        pairs = evaluation.rows_to_pairs(gold, guesses)
        return evaluation.report_pairs(pairs, resamples=0, with_table=False).scores.metrics()

    def by_rows() -> Any:
        tenth = args.rows // 10
        for start in range(0, tenth, 10_000):
            end = min(start + 10_000, tenth)
            batch = {name: data.select(range(start, end)) for name, data in given.items()}
            metric.add_batch(**batch)
        return metric.compute()

    peer, expected = timed(package, args.repeats)
    ours, found = timed(lambda: metric.compute(**given), args.repeats)
    if found != expected:
        raise RuntimeError(f"numbers differ: {found} and {expected}")
    rows, _ = timed(by_rows, 1)
    table = Table(title=f"Scoring {args.rows:,} rows in memory", box=box.SIMPLE_HEAD)
    table.add_column("way")
    table.add_column("seconds", justify="right")
    table.add_row("drift_onset on Arrow columns", f"{peer:.2f}")
    table.add_row("the evaluate module on Datasets", f"{ours:.2f}")
    table.add_row(f"the evaluate module row by row, {args.rows // 10:,} rows", f"{rows:.2f}")
    console = Console()
    console.print(table)
    met = "met" if ours / peer <= TARGET else "MISSED"
    console.print(f"ratio {ours / peer:.2f}: target ≤ {TARGET}, {met}")


if __name__ == "__main__":
    main()
