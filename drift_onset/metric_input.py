"""What the evaluate module needs of this package: rows as text that loses nothing, and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_core import packing
from drift_onset.evaluation import check_options, report_pairs, rows_to_pairs

DESCRIPTION = """\
Scores reconstructed reasoning states (outcome mode, first drift step, mechanism family, repair
outcome, residual constraint) on two leaderboards: component_mean over the components, and
complete_primary_accuracy, for which all five must be right.
"""

INPUTS = """
Args:
    predictions: rows with outcome_mode, first_drift_step, mechanism_family, repair_outcome,
        residual_constraint_id (each with or without `predicted_`), optionally scenario_id and
        confidence. A list of dicts, a Dataset, or a dict of columns. Labels as texts or ClassLabel
        ids; onset and residual as ints or texts of digits, None or "" for blank.
    references: rows of the data, or just the five targets, in the same forms. Rows are paired by
        scenario_id where both sides have it, else by position.
    report: give the whole report instead of the flat numbers.
    on_invalid: "error" raises on any problem; "incorrect" counts such a row as wrong.
    resamples, seed: for the intervals of the report.

Returns:
    component_mean, outcome_mode_macro_f1, exact_onset_accuracy, mechanism_family_macro_f1,
    repair_outcome_macro_f1, complete_primary_accuracy and the secondary diagnostics.

Example:
    >>> import evaluate
    >>> metric = evaluate.load("metric/reasoning_state")
    >>> gold = {"outcome_mode": "latent_drift", "first_drift_step": 3, "mechanism_family":
    ...         "scope_collapse", "repair_outcome": "unrepaired", "residual_constraint_id": 1}
    >>> guess = {**gold, "first_drift_step": 2}
    >>> scores = metric.compute(predictions=[gold, guess], references=[gold, gold])
    >>> scores["exact_onset_accuracy"], scores["complete_primary_accuracy"]
    (0.5, 0.5)
"""


def pack(row: Any) -> str:
    """Write one row as text for a row cache whose typed columns would turn 3.5 and True into ints.

    Args:
        row: a mapping of columns to values, or None for an item that is not there.

    Raises:
        ValueError: the row is neither, or holds what JSON has no form for.
    """
    if row is not None and not isinstance(row, Mapping):
        raise ValueError(
            f"Expected a mapping of columns to values or None but got {type(row).__name__}"
        )
    return packing.pack(row)


def as_rows(source: Any) -> list[Any]:
    """Give a batch as rows: a list of mappings, a mapping of columns, or a Dataset."""
    if isinstance(source, Mapping):
        names = list(source)
        lengths = {name: len(source[name]) for name in names}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"Expected columns of one length but got {lengths}")
        return [
            dict(zip(names, values, strict=True)) for values in zip(*source.values(), strict=True)
        ]
    return list(source)


def evaluate_rows(
    predictions: Any,
    references: Any,
    *,
    report: bool = False,
    on_invalid: str = "error",
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Score rows in memory, paired by `scenario_id` where both sides have it, else by position.

    Args:
        predictions: see `drift_onset.score`.
        references: gold rows, see `drift_onset.score`.
        report: give the whole report instead of the flat numbers.
        on_invalid: see `drift_onset.score`.
        resamples: see `drift_onset.score`; only a report resamples.
        seed: see `drift_onset.score`.

    Returns:
        The metrics by name, or the report.
    """
    check_options(resamples, seed)
    pairs = rows_to_pairs(references, predictions, on_invalid)
    scored = report_pairs(
        pairs, on_invalid=on_invalid, resamples=resamples if report else 0, seed=seed
    )
    return scored.to_dict() if report else scored.scores.metrics()
