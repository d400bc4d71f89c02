"""Sources in, report out: how the rooms of this package are joined."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from drift_core.problems import InvalidInput, Problem, escaped
from drift_onset import counts as counting
from drift_onset import pairing, report, scores, uncertainty
from drift_onset.limits import MAX_RESAMPLES, MAX_SEED, ON_INVALID
from drift_onset.pairing import Pairs
from drift_onset.reading.findings import HEADER, Finding
from drift_onset.reading.loading import Loaded, read_file, read_gold_file, read_table
from drift_onset.reading.records import Progress, as_path
from drift_onset.reading.tables import as_table
from drift_onset.schema import BLIND, LABELLED, PREDICTION
from drift_onset.strata import stratify


def _load(source: Any, kind: str, name: str, progress: Progress | None) -> Loaded:
    if as_path(source) is not None:
        return read_file(str(source), kind, progress)
    return read_table(_table(source, name), "state" if kind == LABELLED else kind, name)


def _table(source: Any, name: str, missing_items: bool = False) -> pa.Table:
    try:
        return as_table(source, missing_items=missing_items)
    except TypeError as error:
        raise InvalidInput([Problem.of_file("type", name, str(error))]) from None


def _check_whole(name: str, value: Any, highest: int) -> None:
    if type(value) is not int or not 0 <= value <= highest:
        wanted = f"an int from 0 to {highest}"
        raise ValueError(f"Expected argument `{name}` to be {wanted} but got {escaped(value, 40)}")


def check_options(resamples: Any, seed: Any) -> None:
    """Raise a ValueError unless both are ints that the resampling can take."""
    _check_whole("resamples", resamples, MAX_RESAMPLES)
    _check_whole("seed", seed, MAX_SEED)


def _check_on_invalid(on_invalid: str) -> None:
    if on_invalid not in ON_INVALID:
        wanted = " or ".join(map(repr, ON_INVALID))
        raise ValueError(f"Expected argument `on_invalid` to be {wanted} but got {on_invalid!r}")


def match(gold: Loaded, predictions: Loaded, *, by_id: bool = True) -> Pairs:
    """Pair loaded gold and predictions, and add what is found to the findings of each."""
    if not (gold.is_readable and predictions.is_readable):
        return pairing.unpaired(gold.states, predictions.states)
    join = pairing.pair if by_id else pairing.by_position
    pairs, found = join(gold.states, predictions.states)
    if by_id and not gold.is_unique:
        gold.findings += pairing.duplicates(gold.states)[1]
    missing = _founded(found, "missing_prediction", predictions)
    unknown = _founded(found, "unknown_scenario", gold)
    if _shares_none(gold, predictions, unknown):
        message = f"has no scenario of {gold.name}; are these predictions for another split?"
        unknown, missing = [Finding(None, None, "unknown_scenario", None, None, message)], []
    others = [f for f in found if f.code not in ("missing_prediction", "unknown_scenario")]
    predictions.findings += missing + unknown + others
    return pairs


def _shares_none(gold: Loaded, predictions: Loaded, unknown: list[Finding]) -> bool:
    """Tell whether every scenario that predictions name is unknown, unreadable rows included."""
    if not 0 < int(predictions.states.named.sum()) == len(unknown):
        return False
    unread = set(filter(None, predictions.unread))
    return not predictions.swallowed and not (unread and unread & set(gold.states.ids.to_pylist()))


def _founded(found: list[Finding], code: str, other: Loaded) -> list[Finding]:
    """Keep findings that an identifier has no partner, unless the partner may be unreadable."""
    lonely = [f for f in found if f.code == code and f.scenario_id not in other.unread]
    return [] if other.swallowed or len(lonely) <= other.nameless else lonely


def load_pairs(
    gold: Any,
    predictions: Any,
    on_invalid: str = "error",
    progress: Progress | None = None,
    name: str = "<predictions>",
) -> Pairs:
    """Read, check and pair two sources.

    Args:
        gold: see `score`.
        predictions: see `score`.
        on_invalid: `error` or `incorrect`.
        progress: called with the number of bytes whenever some of a file were read.
        name: what to call predictions in memory.

    Raises:
        InvalidInput: problems in the gold; with `error`, any problem; with `incorrect`, only
            predictions that cannot be read at all or whose header is at fault.
        ValueError: on_invalid is neither.
    """
    _check_on_invalid(on_invalid)
    left = _load(gold, LABELLED, "<gold>", progress)
    right = _load(predictions, PREDICTION, name, progress)
    return _agreed(left, right, match(left, right), on_invalid)


def rows_to_pairs(references: Any, predictions: Any, on_invalid: str = "error") -> Pairs:
    """Check and pair rows in memory, by `scenario_id` where both have it, else by position.

    Args:
        references: gold rows, see `score`.
        predictions: see `score`.
        on_invalid: `error` or `incorrect`.

    Raises:
        InvalidInput: as `load_pairs`; also where the numbers of rows differ, unless `incorrect`
            is asked for and identifiers tell which rows are missing.
    """
    _check_on_invalid(on_invalid)
    gold = _table(references, "<references>")
    answers = _table(predictions, "<predictions>", missing_items=on_invalid == "incorrect")
    by_id = all("scenario_id" in table.column_names for table in (gold, answers))
    if gold.num_rows != answers.num_rows and not (by_id and on_invalid == "incorrect"):
        message = f"{answers.num_rows} predictions for {gold.num_rows} references"
        fault = Problem.of_file("row_count", "<predictions>", message)
        raise InvalidInput([fault])
    left = read_table(gold, "state", "<references>")
    right = read_table(
        answers, PREDICTION, "<predictions>", missing_columns=on_invalid == "incorrect"
    )
    return _agreed(left, right, match(left, right, by_id=by_id), on_invalid)


def _agreed(gold: Loaded, predictions: Loaded, pairs: Pairs, on_invalid: str) -> Pairs:
    """Raise what was found, less what `incorrect` counts as unanswered."""
    if on_invalid == "incorrect" and predictions.is_readable:
        # Rows with findings are unanswered; a header at fault, and a file for other scenarios,
        # remain wrong.
        elsewhere = (None, "unknown_scenario")
        predictions.findings = [
            f for f in predictions.findings if f.record == HEADER or (f.record, f.code) == elsewhere
        ]
    problems = gold.problems() + predictions.problems()
    if problems:
        raise InvalidInput(problems)
    return pairs


def report_pairs(
    pairs: Pairs,
    *,
    on_invalid: str = "error",
    resamples: int = 1000,
    seed: int = 0,
    with_table: bool = True,
    by: Sequence[str] = (),
    gold: Any = None,
) -> report.Report:
    """Count, score and report pairs.

    Args:
        pairs: gold and predictions.
        on_invalid: how the pairs were made, for the signature.
        resamples: see `score`.
        seed: see `score`.
        with_table: whether the report holds the rows.
        by: see `score`.
        gold: where the gold came from; needed for `by` alone.

    Raises:
        InvalidInput: the gold cannot be parted as `by` asks.
    """
    side_by_side = counting.columns(pairs)
    counted = counting.count_columns(side_by_side, pairs.n_invalid)
    scored = scores.score(counted)
    return report.Report(
        scores=scored,
        uncertainty=uncertainty.intervals(counted, scored, resamples=resamples, seed=seed),
        signature=report.signature(
            pairs.gold.sha256(), scored, on_invalid=on_invalid, resamples=resamples, seed=seed
        ),
        table=report.prediction_table(pairs.gold.ids, side_by_side) if with_table else None,
        strata=stratify(pairs, side_by_side, gold, by, resamples=resamples, seed=seed),
    )


def score(
    gold: Any,
    predictions: Any,
    *,
    on_invalid: str = "error",
    resamples: int = 1000,
    seed: int = 0,
    by: Sequence[str] = (),
) -> report.Report:
    """Score predictions on both leaderboards.

    Args:
        gold: path of a labelled CSV file; or rows in memory (Arrow table, Dataset, DataFrame,
            mapping of columns, list of row mappings) with the columns of the data or just
            `scenario_id` and the five targets, labels as texts or ClassLabel ids.
        predictions: path of a prediction file, or rows in memory with its columns, with or
            without `predicted_`. Every gold scenario has exactly one row, in any order.
        on_invalid: `error` raises on any problem. `incorrect` counts a gold scenario whose
            prediction is missing or has a problem as wrong in every component; predictions for
            unknown scenarios are left aside.
        resamples: bootstrap resamples for the intervals; 0 for Wilson's intervals alone.
        seed: seed of the resampling.
        by: columns of the gold by which parts of the rows are scored as well; `length_band` (short,
            medium and long trajectories) and `onset_third` (drift early, in the middle or late) are
            derived from it.

    Returns:
        A report; `to_dict()` gives its JSON form, `scores` the numbers.

    Raises:
        InvalidInput: the sources have problems, all of which it lists.
        ValueError: an argument is out of its range.

    Example:
        >>> rows = [{"scenario_id": "a", "outcome_mode": "no_drift", "first_drift_step": None,
        ...          "mechanism_family": "none", "repair_outcome": "not_applicable",
        ...          "residual_constraint_id": None}]
        >>> score(rows, rows).scores.complete_primary_accuracy
        1.0
    """
    check_options(resamples, seed)
    pairs = load_pairs(gold, predictions, on_invalid)
    return report_pairs(
        pairs, on_invalid=on_invalid, resamples=resamples, seed=seed, by=by, gold=gold
    )


def validate_file(path: str | os.PathLike[str], kind: str) -> tuple[int, list[Problem]]:
    """Check one labelled or blind file.

    Args:
        path: the file.
        kind: `labelled_record` or `model_input`.

    Returns:
        The number of rows and the problems.
    """
    if kind not in (LABELLED, BLIND):
        raise ValueError(f"Expected argument `kind` to be {LABELLED} or {BLIND} but got {kind!r}")
    loaded = read_file(str(path), kind)
    return len(loaded.states), loaded.problems()


def validate_predictions(
    predictions: str | os.PathLike[str], gold: str | os.PathLike[str]
) -> tuple[int, list[Problem]]:
    """Check a prediction file against its gold.

    Args:
        predictions: the file.
        gold: a labelled or a blind file with the same scenarios.

    Returns:
        The number of prediction rows and the problems of both files.
    """
    left, right = read_gold_file(str(gold)), read_file(str(predictions), PREDICTION)
    match(left, right)
    return len(right.states), left.problems() + right.problems()
