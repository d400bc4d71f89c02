"""Leaderboards, references and agreement, laid out as sheets. Nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drift_onset.limits import FEW_ROWS
from drift_onset.scores import BOARDS
from drift_onset.views.report import TITLES
from drift_onset.views.sheets import FAINT, GROUP, MISSING, Row, Sheet, Span, heading, number

NO_COMPARISON = (
    "Overlapping intervals do not tell whether one model is better; "
    "`reasoning-drift compare` on the predictions of two models does."
)


def sheets(boards: Mapping[str, Any]) -> list[Sheet]:
    """Lay out both leaderboards, apart, and F1 by class with its support.

    Args:
        boards: the JSON form of leaderboards.
    """
    return [*(_board(board, boards[board]["rows"]) for board in BOARDS), _classes(boards)]


def closing(boards: Mapping[str, Any]) -> list[str]:
    """Give what a reader has to know of all the tables."""
    n = boards["signature"]["n"]
    uniform = {
        f"{row['name']} is an {row['method']}."
        for row in boards[next(iter(BOARDS))]["rows"]
        if "expectation" in row["method"]
    }
    lines = [NO_COMPARISON, *uniform]
    if n < FEW_ROWS:
        lines.append(f"n = {n}: a single scenario moves an accuracy by {100 / n:.0f} points.")
    return lines


def _board(board: str, entries: Sequence[Mapping[str, Any]]) -> Sheet:
    metrics = BOARDS[board]
    rows = []
    for entry in entries:
        is_model = entry["rank"] is not None
        n = str(entry["n"]) + (f" ({entry['n_invalid']} invalid)" if entry["n_invalid"] else "")
        rows.append(
            Row(
                (
                    str(entry["rank"]) if is_model else MISSING,
                    entry["name"],
                    n,
                    number(entry[metrics[0]]),
                    Span(entry["low"], entry["high"], entry["degenerate"], entry[metrics[0]]),
                    *(number(entry[metric]) for metric in metrics[1:]),
                ),
                "" if is_model else FAINT,
            )
        )
    names = list(map(heading, metrics))
    header = ("#", "model", "n", names[0], "95 % interval", *names[1:])
    return Sheet(TITLES[board], header, tuple(rows), left=2)


def _classes(boards: Mapping[str, Any]) -> Sheet:
    names = list(next(iter(next(iter(boards["per_class_f1"].values())).values())))
    rows = []
    for target, by_label in boards["per_class_f1"].items():
        rows.append(Row((target,), GROUP))
        for label, found in by_label.items():
            support = boards["class_support"][target][label]
            cells = (label, str(support), *(number(found[name]) for name in names))
            rows.append(Row(cells, "" if support else FAINT))
    return Sheet("F1 by class", ("class", "support", *names), tuple(rows))


def references(rows: Sequence[Mapping[str, Any]]) -> list[Sheet]:
    """Lay out the rows to compare with, the leaderboards apart, from their JSON form."""
    found = []
    for board, metrics in BOARDS.items():
        laid_out = [
            Row((row["name"], *(number(row["values"][metric]) for metric in metrics)))
            for row in rows
        ]
        title = f"{TITLES[board]}, n = {rows[0]['n']}"
        found.append(Sheet(title, ("predictions", *map(heading, metrics)), tuple(laid_out)))
    return found


def methods(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say what each of the rows to compare with does, and how its values were got."""
    return [f"{row['name']}: {row['text']} ({row['method']})." for row in rows]
