"""Two systems on the same scenarios: which one is better, and in which scenarios they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem
from drift_onset import evaluation, schema, scores
from drift_onset.comparing import paired
from drift_onset.comparing.differences import Difference, differences
from drift_onset.counts import Bools, Columns, columns, count_columns
from drift_onset.limits import COMPARE_RESAMPLES
from drift_onset.pairing import Pairs
from drift_onset.reading.cells import arrow
from drift_onset.report import prediction_table
from drift_onset.scores import BOARDS


@dataclass(frozen=True, repr=False)
class Comparison:
    """Everything one comparison gives.

    Attributes:
        names: of the two systems.
        differences: metric → difference, in the order of a report.
        flips: target (and `complete_primary`) → rows that only the first, and only the second
            system has right.
        items: the rows in which the systems differ in being right, gold order.
        signature: what made these numbers.
    """

    names: tuple[str, str]
    differences: Mapping[str, Difference]
    flips: Mapping[str, tuple[int, int]]
    items: pa.Table
    signature: Mapping[str, Any]

    def verdict(self, metric: str) -> str:
        """Say in words whether one system is better, by this metric."""
        found = self.differences[metric]
        n = self.signature["n"]
        if not found.is_told_apart or found.difference is None:
            return f"not distinguishable on n = {n}"
        first, second = self.names if found.difference > 0 else reversed(self.names)
        return f"{first} is better than {second} on n = {n}"

    def to_dict(self) -> dict[str, Any]:
        """Give the comparison with its keys in their fixed order; strict JSON can hold it."""
        return {
            "a": self.names[0],
            "b": self.names[1],
            "verdicts": {
                board: {"metric": metrics[0], "verdict": self.verdict(metrics[0])}
                for board, metrics in BOARDS.items()
            },
            "differences": {name: found.to_dict() for name, found in self.differences.items()},
            "flips": {
                name: {"only_a_right": only_a, "only_b_right": only_b}
                for name, (only_a, only_b) in self.flips.items()
            },
            "items": self.items.to_pylist(),
            "signature": dict(self.signature),
        }


def compare(
    gold: Any,
    a: Any,
    b: Any,
    *,
    names: tuple[str, str] = ("A", "B"),
    on_invalid: str = "error",
    resamples: int = COMPARE_RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same scenarios.

    Args:
        gold: see `drift_onset.score`.
        a: predictions of the first system, see `drift_onset.score`.
        b: predictions of the second.
        names: what to call them.
        on_invalid: see `drift_onset.score`.
        resamples: bootstrap resamples, and as many random exchanges; at least 1.
        seed: seed of both.

    Returns:
        The comparison.

    Raises:
        InvalidInput: the sources have problems, all of which it lists.
        ValueError: an argument is out of its range.

    Example:
        >>> rows = [{"scenario_id": f"s{k}", "outcome_mode": "latent_drift", "first_drift_step": k,
        ...          "mechanism_family": "scope_collapse", "repair_outcome": "unrepaired",
        ...          "residual_constraint_id": 1} for k in range(1, 9)]
        >>> late = [{**row, "first_drift_step": row["first_drift_step"] + 1} for row in rows]
        >>> found = compare(rows, rows, late, names=("right", "late"), resamples=500)
        >>> found.verdict("complete_primary_accuracy")
        'right is better than late on n = 8'
        >>> found.differences["complete_primary_accuracy"].p
        0.0078125
    """
    evaluation.check_options(resamples, seed)
    if not resamples:
        raise ValueError("Expected argument `resamples` to be at least 1 but got 0")
    first, second = _load(gold, a, b, on_invalid)
    sides = columns(first), columns(second)
    counted = paired.count(*sides)
    scored = [
        scores.score(count_columns(side, pairs.n_invalid))
        for side, pairs in zip(sides, (first, second), strict=True)
    ]
    return Comparison(
        names=names,
        differences=differences(counted, *scored, resamples=resamples, seed=seed),
        flips=counted.flips(),
        items=_items(first, *sides),
        signature={
            "scorer": f"reasoning-drift {__version__}",
            "gold_sha256": first.gold.sha256(),
            "n": counted.total,
            "n_invalid": {"a": first.n_invalid, "b": second.n_invalid},
            "seed": seed,
            "options": {"on_invalid": on_invalid, "resamples": resamples},
        },
    )


def _load(gold: Any, a: Any, b: Any, on_invalid: str) -> list[Pairs]:
    """Read both sides; what is wrong with either is told at once, and what is with gold once."""
    loaded: list[Pairs] = []
    problems: list[Problem] = []
    for source, name in ((a, "<a>"), (b, "<b>")):
        try:
            loaded.append(evaluation.load_pairs(gold, source, on_invalid, name=name))
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(list(dict.fromkeys(problems)))
    return loaded


def _items(pairs: Pairs, first: Columns, second: Columns) -> pa.Table:
    """Lay out the rows in which the systems differ in being right in any target."""
    tables = [prediction_table(pairs.gold.ids, side) for side in (first, second)]
    differ = np.zeros(len(pairs.gold), np.bool_)
    for target in schema.targets():
        differ |= _right(first, target) != _right(second, target)
    kept = arrow(np.flatnonzero(differ))
    sides = {name: table.take(kept) for name, table in zip("ab", tables, strict=True)}
    columns = {"scenario_id": sides["a"]["scenario_id"]}
    for target in schema.targets():
        columns[f"gold_{target}"] = sides["a"][f"gold_{target}"]
        for name, side in sides.items():
            columns[f"{name}_{target}"] = side[schema.PREDICTED + target]
            columns[f"{name}_{target}_correct"] = side[f"{target}_correct"]
    for name, side in sides.items():
        columns[f"{name}_complete_primary_correct"] = side["complete_primary_correct"]
    return pa.table(columns)


def _right(side: Columns, target: str) -> Bools:
    onset = target == schema.targets()[1]
    gold, predicted = side.labels.get(target) or (side.onset if onset else side.residual)
    right: Bools = gold == predicted
    return right
