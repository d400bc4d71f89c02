"""Numbers → the JSON report, and the table of rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from drift_core import __version__
from drift_core.files import replacing, write_json
from drift_core.resampling import Interval
from drift_core.strict_json import dumps
from drift_onset import schema
from drift_onset.counts import Columns
from drift_onset.reading.cells import BILLION, BLANK, arrow, text_array
from drift_onset.schema import PREDICTED
from drift_onset.scores import BOARDS, DIAGNOSTICS, LEADERBOARD_B, Scores
from drift_onset.strata import Stratum
from drift_onset.uncertainty import to_dict

TABLE_ENDINGS = (".parquet", ".csv", ".jsonl")


@dataclass(frozen=True, repr=False)
class Report:
    """Everything one scoring gives.

    Attributes:
        scores: both leaderboards and the diagnostics.
        uncertainty: metric → 95 % interval.
        signature: what made these numbers: scorer, gold_sha256, n, n_invalid, seed, options.
        table: one row a scenario, gold order: gold, predicted, correctness, confidence; None if
            the rows are kept elsewhere.
        strata: column → scores of the parts of the rows; empty unless asked for.
    """

    scores: Scores
    uncertainty: Mapping[str, Interval]
    signature: Mapping[str, Any]
    table: pa.Table | None
    strata: Mapping[str, Sequence[Stratum]] = field(default_factory=dict)

    def __repr__(self) -> str:
        named = self.scores.metrics()
        shown = ", ".join(
            f"{name}={named[name]:.4f}" for name in ("component_mean", *LEADERBOARD_B)
        )
        return f"Report({shown}, n={self.scores.n}, n_invalid={self.scores.n_invalid})"

    def to_dict(self) -> dict[str, Any]:
        """Give the report with its keys in their fixed order; strict JSON can hold it."""
        s = self.scores
        named = s.metrics()
        classes = s.classes
        return {
            "benchmark": {
                "name": schema.document()["title"],
                "evaluation_type": "structured_reasoning_state",
                "n": s.n,
            },
            **{
                board: {
                    "primary_ranking_metric": metrics[0],
                    **{name: named[name] for name in metrics},
                }
                for board, metrics in BOARDS.items()
            },
            "secondary_diagnostics": {name: named[name] for name in DIAGNOSTICS if name in named},
            "class_support": {
                target: {
                    label: {"gold": c.support, "predicted": c.predicted}
                    for label, c in by_label.items()
                }
                for target, by_label in classes.items()
            },
            "per_class_metrics": {
                target: {
                    label: {
                        "precision": c.precision,
                        "recall": c.recall,
                        "f1": c.f1,
                        "support": c.support,
                    }
                    for label, c in by_label.items()
                }
                for target, by_label in classes.items()
            },
            "prediction_table": self.table.to_pylist() if self.table is not None else [],
            "uncertainty": to_dict(
                self.uncertainty,
                resamples=self.signature["options"]["resamples"],
                seed=self.signature["seed"],
            ),
            **({"strata": self._strata()} if self.strata else {}),
            "signature": dict(self.signature),
        }

    def _strata(self) -> dict[str, Any]:
        return {
            column: [stratum.to_dict() for stratum in parts]
            for column, parts in self.strata.items()
        }

    def to_json(self) -> str:
        """Give the report as strict JSON, indented."""
        return dumps(self.to_dict(), indent=2)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the JSON, whole or not at all; makes the parent folder.

        Raises:
            OSError: the file cannot be written.
        """
        write_json(path, self.to_dict())

    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as Parquet, CSV or JSON Lines, by the ending of the path.

        Raises:
            ValueError: another ending, or the report has no rows.
        """
        if self.table is None:
            raise ValueError("the report holds no rows")
        write_table(self.table, path)


def signature(
    gold_sha256: str, scores: Scores, *, on_invalid: str, resamples: int, seed: int
) -> dict[str, Any]:
    """Say how a report was made, so that two can be compared."""
    return {
        "scorer": f"reasoning-drift {__version__}",
        "gold_sha256": gold_sha256,
        "n": scores.n,
        "n_invalid": scores.n_invalid,
        "seed": seed,
        "options": {"on_invalid": on_invalid, "resamples": resamples},
    }


def prediction_table(ids: pa.Array, side_by_side: Columns) -> pa.Table:
    """Lay out the audit table.

    Args:
        ids: n identifiers.
        side_by_side: n coded rows.

    Returns:
        `scenario_id`, then `gold_*`, `predicted_*` and `*_correct` for the five targets, then
        `complete_primary_correct`, `onset_absolute_error` and `confidence`. Blank onsets are
        null, a residual of none is `none`, everything predicted is null where unanswered.
    """
    targets = schema.targets()
    gold: dict[str, pa.Array] = {}
    predicted: dict[str, pa.Array] = {}
    correct: dict[str, pa.Array] = {}
    for target in targets:
        if target in side_by_side.labels:
            pair = side_by_side.labels[target]
            values = text_array(schema.labels(target))
            gold[target], predicted[target] = (_labels(codes, values) for codes in pair)
        elif target == targets[-1]:
            pair = side_by_side.residual
            gold[target], predicted[target] = (_residuals(codes) for codes in pair)
        else:
            pair = side_by_side.onset
            gold[target], predicted[target] = (arrow(codes, codes <= BLANK) for codes in pair)
        correct[target] = arrow(pair[0] == pair[1])
    error, confidence = side_by_side.onset_error, side_by_side.confidence
    return pa.table(
        {
            "scenario_id": ids,
            **{f"gold_{name}": values for name, values in gold.items()},
            **{f"{PREDICTED}{name}": values for name, values in predicted.items()},
            **{f"{name}_correct": values for name, values in correct.items()},
            "complete_primary_correct": arrow(side_by_side.complete),
            "onset_absolute_error": arrow(error, error < 0),
            "confidence": arrow(confidence / BILLION, confidence < 0),
        }
    )


def _labels(codes: Any, values: pa.Array) -> pa.Array:
    known = codes < len(values)
    return values.take(arrow(np.where(known, codes, 0), ~known))


def _residuals(codes: Any) -> pa.Array:
    """Numbers as text and `none`, as in a prediction file; null where unanswered."""
    distinct, where = np.unique(codes, return_inverse=True)
    texts = [
        None if c < BLANK else schema.NONE if c == BLANK else str(c) for c in distinct.tolist()
    ]
    return text_array(texts).take(arrow(where))


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table as Parquet, CSV or JSON Lines, by the ending of the path."""
    ending = Path(path).suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise ValueError(f"{path}: unknown ending {ending!r}, expected {', '.join(TABLE_ENDINGS)}")
    with replacing(path) as temporary:
        if ending == ".parquet":
            import pyarrow.parquet

            # Identifiers do not repeat and floats seldom do: dictionaries would only cost.
            texts = [f.name for f in table.schema if pa.types.is_string(f.type)]
            repeating = [name for name in texts if name != "scenario_id"]
            pyarrow.parquet.write_table(
                table, temporary, use_dictionary=repeating, write_statistics=False
            )
        elif ending == ".csv":
            import pyarrow.csv

            pyarrow.csv.write_csv(table, temporary)
        else:
            with open(temporary, "w", encoding="utf-8", newline="\n") as lines:
                for batch in table.to_batches(max_chunksize=10_000):
                    lines.writelines(dumps(row) + "\n" for row in batch.to_pylist())
