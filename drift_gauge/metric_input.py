"""What the evaluate module needs of this package: rows of lists in, rates and D out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_gauge.axes import DriftConfig, config_of
from drift_gauge.documents import DEFAULT_K, blessed_metrics, text_fault
from drift_gauge.drift import drift_from_report
from drift_gauge.golden import GoldenQuery, GoldenReport, evaluate_rows, regressions
from drift_gauge.numbers import number_fault, whole_fault

KEYS = {"predictions": ("titles", "distances"), "references": ("expected", "k")}

DESCRIPTION = """\
Has retrieval drifted? Recall@k, Jaccard overlap and mean distance of what was retrieved against
what was expected and, where a baseline is given, D: the one-sided L2 distance from it in units of
tolerance, with the band that it has to stay in.
"""

INPUTS = """
Args:
    predictions: for each query a dict of `titles`, best first, and `distances` of the same length;
        a distance may be None, and so may all of them.
    references: for each query a dict of `expected` titles and `k`, how many of the retrieved ones
        count (default: 5).
    baseline: blessed `recall_at_k`, `overlap` and `mean_distance`; without it there is no D.
    recall_tol, overlap_tol, distance_tol: one unit of deterioration (defaults: those of a whole
        baseline, else 0.1, 0.1, 0.05). They need a baseline, and so does theta.
    theta: the largest D in band (default: that of a whole baseline, else 1).

Returns:
    recall_at_k, overlap, mean_distance (None if there is no distance); with a baseline also drift,
    theta, within_tolerance, the deterioration of each axis, and the regressed metrics.

Example:
    >>> import evaluate
    >>> metric = evaluate.load("metric/alignment_drift")
    >>> predictions = [{"titles": ["a", "c"], "distances": [0.25, 0.5]}]
    >>> references = [{"expected": ["a", "b"], "k": 2}]
    >>> baseline = {"recall_at_k": 0.75, "overlap": 0.25, "mean_distance": 0.5}
    >>> scores = metric.compute(predictions=predictions, references=references,
    ...                         baseline=baseline, recall_tol=0.125)
    >>> scores["recall_at_k"], scores["drift"], scores["within_tolerance"]
    (0.5, 2.0, False)
"""

CITATION = """\
@misc{reasoning_drift_alignment, title={The alignment drift gauge}, author={Clarus Invariant},
year={2026}}
"""


def score_rows(
    predictions: Iterable[Mapping[str, Any]],
    references: Iterable[Mapping[str, Any]],
    *,
    baseline: Mapping[str, Any] | None = None,
    theta: float | None = None,
    recall_tol: float | None = None,
    overlap_tol: float | None = None,
    distance_tol: float | None = None,
    **unknown: Any,
) -> dict[str, Any]:
    """Measure retrieved rows, and their drift from a baseline.

    Args:
        predictions: n dicts of `titles` and `distances`.
        references: n dicts of `expected` and `k`.
        baseline: the `metrics` section of a baseline, or a whole one; None for the rates alone.
        theta: Θ; None for that of the baseline, or 1 where it has no `drift` section. So are the
            tolerances.
        recall_tol: see `drift_gauge.drift.DriftConfig`, as are the other tolerances.
        overlap_tol: one unit of falling overlap.
        distance_tol: one unit of rising distance.
        unknown: for misspelled options, which are named.

    Raises:
        InvalidInput: a ValueError that names every problem of the rows or of the baseline.
        ValueError: there is no row, a tolerance is NaN, infinite or negative, an option is unknown,
            or needs a baseline that is not there.

    Example:
        >>> score_rows([{"titles": ["a"]}], [{"expected": ["a", "b"]}])
        {'recall_at_k': 0.5, 'overlap': 0.5, 'mean_distance': None}
    """
    options: dict[str, Any] = {
        "theta": theta,
        "recall_tol": recall_tol,
        "overlap_tol": overlap_tol,
        "distance_tol": distance_tol,
    }
    if unknown:
        known = ", ".join(("baseline", *options))
        raise ValueError(f"Expected options out of {known} but got {', '.join(unknown)}")
    given = {name: value for name, value in options.items() if value is not None}
    if given and baseline is None:
        raise ValueError(f"Expected `baseline` along with {', '.join(given)} but got none")
    report = _report(list(predictions), list(references))
    if baseline is None:
        return report.as_metrics()
    metrics = blessed_metrics(baseline)
    cfg = replace(config_of(baseline) if "metrics" in baseline else DriftConfig(), **given)
    reading = drift_from_report(report, baseline, cfg, intact=True)
    return {
        **report.as_metrics(),
        "drift": reading.drift,
        "theta": reading.theta,
        "within_tolerance": reading.within_tolerance,
        **{f"{name}_deterioration": value for name, value in reading.per_axis.items()},
        "regressions": regressions(report, {**metrics, "distance_tol": cfg.distance_tol}),
    }


def filled(row: Any, side: str) -> dict[str, Any]:
    """Give a row with all its keys.

    Args:
        row: a prediction or a reference; arrays become lists, and what is missing None.
        side: `predictions` or `references`.

    Raises:
        ValueError: the row is no mapping, or has a key that is unknown.
    """
    if not isinstance(row, Mapping) or set(row) - set(KEYS[side]):
        raise ValueError(f"Expected {side} to be dicts of {_keys(side)} but got {row!r:.200}")
    return {name: _plain(row.get(name)) for name in KEYS[side]}


def _keys(side: str) -> str:
    return " and ".join(f"`{name}`" for name in KEYS[side])


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _report(predictions: list[Any], references: list[Any]) -> GoldenReport:
    if len(predictions) != len(references):
        raise ValueError(
            f"Expected as many predictions as references but got {len(predictions)} and "
            f"{len(references)}"
        )
    answers = [filled(row, "predictions") for row in predictions]
    asked = [filled(row, "references") for row in references]
    problems = [p for at, row in enumerate(asked) for p in _reference_problems(at, row)]
    problems += [p for at, row in enumerate(answers) for p in _prediction_problems(at, row)]
    if problems:
        raise InvalidInput(problems)
    golden = [
        GoldenQuery(str(at), str(at), tuple(row["expected"]), int(row["k"] or DEFAULT_K))
        for at, row in enumerate(asked)
    ]
    return evaluate_rows(golden, [_rows(row) for row in answers])


def _rows(prediction: Mapping[str, Any]) -> list[dict[str, Any]]:
    titles = prediction["titles"]
    distances = prediction["distances"] or [None] * len(titles)
    return [
        {"title": title, "_distance": distance}
        for title, distance in zip(titles, distances, strict=True)
    ]


def _reference_problems(at: int, row: Mapping[str, Any]) -> list[Problem]:
    problems = _titles_problems("<references>", at, row, "expected")
    k = row["k"]
    if isinstance(k, float) and k.is_integer():
        k = int(k)
    if k is not None and (fault := whole_fault(k, 1)):
        problems.append(_problem("<references>", at, "k", k, fault))
    return problems


def _prediction_problems(at: int, row: Mapping[str, Any]) -> list[Problem]:
    problems = _titles_problems("<predictions>", at, row, "titles")
    distances = row["distances"]
    if problems or distances is None or distances == []:
        return problems
    if not isinstance(distances, (list, tuple)) or len(distances) != len(row["titles"]):
        expected = f"a list of {len(row['titles'])} distances, one for each title"
        return [_problem("<predictions>", at, "distances", distances, expected)]
    return [
        _problem("<predictions>", at, "distances", value, f"{fault} or None")
        for value in distances
        if value is not None and (fault := number_fault(value))
    ]


def _titles_problems(file: str, at: int, row: Mapping[str, Any], column: str) -> list[Problem]:
    titles = row[column]
    if isinstance(titles, (list, tuple)) and not any(map(text_fault, titles)):
        return []
    return [_problem(file, at, column, titles, "a list of titles")]


def _problem(file: str, at: int, column: str, value: Any, expected: str) -> Problem:
    shown = escaped(value)
    return Problem("row", file, at, None, column, shown, f"{shown}, expected {expected}")
