"""A report, laid out as sheets. Nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_onset.limits import FEW_ROWS
from drift_onset.scores import BOARDS
from drift_onset.views.sheets import FAINT, GROUP, PLAIN, STRONG, Row, Sheet, heading, number, span

_BOARD_TITLES = ("Leaderboard A · component capability", "Leaderboard B · complete reasoning state")
TITLES = {
    **dict(zip(BOARDS, _BOARD_TITLES, strict=True)),
    "secondary_diagnostics": "Secondary diagnostics",
}
FEW = "So few rows: read the intervals and the support before you rank anything."
METHODS = "Intervals: Wilson for accuracies, bootstrap for the rest."
_RANKING = "primary_ranking_metric"
_STEPS = "mean_absolute_onset_error"  # in steps, so that it has no place on a scale to 1


def count_line(signature: Mapping[str, Any]) -> str:
    """Say how many rows there are, and how many of them were counted as wrong."""
    n = f"n = {signature['n']}"
    if signature["n_invalid"]:
        n += f", of which {signature['n_invalid']} missing or invalid and counted as wrong"
    return n


def sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Lay out both leaderboards, the diagnostics, the classes and the strata."""
    intervals = report["uncertainty"]["intervals"]
    boards = [_metrics(title, report[key], intervals) for key, title in TITLES.items()]
    strata = [
        s for column, parts in report.get("strata", {}).items() for s in _strata(column, parts)
    ]
    return [*boards, _classes(report), *strata]


def closing(report: Mapping[str, Any]) -> list[str]:
    """Give what a reader has to know of all the tables."""
    return [METHODS, *([FEW] if report["signature"]["n"] < FEW_ROWS else [])]


def _metrics(title: str, section: Mapping[str, Any], intervals: Mapping[str, Any]) -> Sheet:
    rows = []
    for name, value in section.items():
        if name == _RANKING:
            continue
        interval = intervals.get(name)
        shown = span(interval, value, None if name == _STEPS else (0.0, 1.0))
        n = "–" if interval is None else str(interval["n"])
        style = STRONG if name == section.get(_RANKING) else PLAIN
        rows.append(Row((name, number(value), shown, n), style))
    return Sheet(title, ("metric", "value", "95 % interval", "rows"), tuple(rows))


def _classes(report: Mapping[str, Any]) -> Sheet:
    rows = []
    for target, by_label in report["per_class_metrics"].items():
        rows.append(Row((target,), GROUP))
        for label, found in by_label.items():
            support = report["class_support"][target][label]
            gold, predicted = support["gold"], support["predicted"]
            absent = gold + predicted == 0
            cells = (
                label,
                str(gold),
                str(predicted),
                number(found["precision"] if predicted else None),
                number(found["recall"] if gold else None),
                number(None if absent else found["f1"]),
            )
            rows.append(Row(cells, FAINT if absent else PLAIN))
    return Sheet("Per class", ("class", "gold", "pred.", "prec.", "recall", "F1"), tuple(rows))


def _strata(column: str, parts: list[Mapping[str, Any]]) -> list[Sheet]:
    """Lay out the parts of the rows, the leaderboards apart."""
    small = sum(part["small"] for part in parts)
    notes: tuple[str, ...] = ()
    if small:
        few = "Every stratum has" if small == len(parts) else f"{small} of {len(parts)} strata have"
        notes = (f"{few} fewer than {FEW_ROWS} rows: rank nothing by {column} on these numbers.",)
    found = []
    for board, metrics in BOARDS.items():
        rows = []
        for part in parts:
            ranking, *others = (part["scores"][metric] for metric in metrics)
            interval = span(part["intervals"].get(metrics[0]), ranking)
            numbers = (number(ranking), interval, *map(number, others))
            n = str(part["n"]) + (f" ({part['n_invalid']} invalid)" if part["n_invalid"] else "")
            rows.append(Row((part["value"], n, *numbers)))
        ranking, *others = map(heading, metrics)
        header = (column, "n", ranking, "95 % interval", *others)
        found.append(Sheet(f"By {column}: {TITLES[board]}", header, tuple(rows), notes))
    return found
