"""The pages that are sent to a colleague: a scoring, a comparison, leaderboards, an agreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_onset import schema
from drift_onset.details import Details
from drift_onset.limits import FEW_ROWS
from drift_onset.scores import BOARDS
from drift_onset.views import agreement, comparison, items, leaderboards, report
from drift_onset.views.html import Section, page
from drift_onset.views.sheets import number, signature_line, span

_OPEN_ROWS = 50  # longer tables of scenarios are closed at first
_NOTHING_SENT = "This page is one file: it loads nothing and sends nothing."


def score_page(made: Mapping[str, Any], details: Details, name: str) -> str:
    """Give the page of a report.

    Args:
        made: the JSON form of the report.
        details: of the same rows.
        name: of what was scored.
    """
    signature = made["signature"]
    lead = [report.count_line(signature), *(_ranking(made, board) for board in BOARDS)]
    if signature["n"] < FEW_ROWS:
        lead.append(report.FEW)
    calibration = items.calibration(details)
    pictures = [
        *(items.confusion(target, details) for target in schema.label_targets()),
        items.offsets(details),
        *([calibration] if calibration else []),
    ]
    rows = made["prediction_table"]
    listed = Section("Every scenario", (items.items(rows),), len(rows) <= _OPEN_ROWS)
    sections = [
        Section("Scores", tuple(report.sheets(made))),
        Section("Pictures", tuple(pictures)),
        *([listed] if rows else []),
    ]
    closing = [report.METHODS, signature_line(signature), _NOTHING_SENT]
    return page(f"{name} · {made['benchmark']['name']}", lead, sections, closing)


def _ranking(made: Mapping[str, Any], board: str) -> str:
    """Say what a leaderboard ranks by, and its value here."""
    metric = made[board]["primary_ranking_metric"]
    value = made[board][metric]
    shown = span(made["uncertainty"]["intervals"].get(metric), value)
    return f"{report.TITLES[board]}: {metric} {number(value)}, 95 % interval {shown}"


def compare_page(made: Mapping[str, Any]) -> str:
    """Give the page of a comparison, from its JSON form."""
    tables = comparison.sheets(made, items.MOST_ROWS)
    sections = [
        Section("Metrics", tuple(tables[:-1])),
        Section(tables[-1].title, tuple(tables[-1:]), len(made["items"]) <= _OPEN_ROWS),
    ]
    lead = [
        *comparison.verdict_lines(made),
        comparison.count_line(made),
    ]
    closing = [comparison.CRITERION, signature_line(made["signature"]), _NOTHING_SENT]
    return page(f"{made['a']} against {made['b']}", lead, sections, closing)


def rank_page(made: Mapping[str, Any]) -> str:
    """Give the page of the leaderboards, from their JSON form."""
    tables = leaderboards.sheets(made)
    lead = [f"n = {made['signature']['n']}", *leaderboards.closing(made)]
    closing = [signature_line(made["signature"]), _NOTHING_SENT]
    name = schema.document()["title"]
    return page(f"Leaderboards · {name}", lead, [Section("", tuple(tables))], closing)


def agree_page(made: Mapping[str, Any]) -> str:
    """Give the page of a study of agreement, from its JSON form."""
    tables = agreement.sheets(made, items.MOST_ROWS)
    sections = [
        Section("Agreement", tuple(tables[:-1])),
        Section(tables[-1].title, tuple(tables[-1:]), len(made["disputed"]) <= 5 * _OPEN_ROWS),
    ]
    first, *notes = agreement.closing(made)
    closing = [first, signature_line(made["signature"]), _NOTHING_SENT]
    title = f"Agreement of {', '.join(made['raters'])}"
    return page(title, [agreement.count_line(made), *notes], sections, closing)
