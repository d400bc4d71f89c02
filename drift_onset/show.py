"""Sheets in a terminal. Nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from drift_core.problems import printable
from drift_onset.views import report as laid_out
from drift_onset.views.sheets import DEGENERATE, FAINT, GROUP, STRONG, Sheet, signature_line

_SHORT = {  # so that a leaderboard fits in 80 columns
    "component mean": "comp. mean",
    "outcome mode macro F1": "outcome F1",
    "exact onset accuracy": "onset exact",
    "mechanism family macro F1": "family F1",
    "repair outcome macro F1": "repair F1",
}
_STYLES = {STRONG: "bold", FAINT: "dim"}
_WIDTH = 66
_NARROW = 9  # columns of text may be broken, but not into less


def show(report: Mapping[str, Any], console: Console) -> None:
    """Print both leaderboards, the diagnostics and the classes.

    Args:
        report: the JSON form of a report.
        console: where to print it.
    """
    console.print(laid_out.count_line(report["signature"]), highlight=False)
    sheets = laid_out.sheets(report)
    show_sheets(sheets, console)
    show_closing(sheets, laid_out.closing(report), report["signature"], console)


def show_sheets(sheets: Sequence[Sheet], console: Console) -> None:
    """Print tables, each with its notes."""
    for sheet in sheets:
        console.print(_table(sheet))
        for note in sheet.notes:
            console.print(printable(note), markup=False, highlight=False)


def show_closing(
    sheets: Sequence[Sheet], lines: Sequence[str], signature: Mapping[str, Any], console: Console
) -> None:
    """Print what holds for all tables: how to read them, and how they were made."""
    first, *others = lines
    marks = [DEGENERATE] if any(sheet.has_degenerate for sheet in sheets) else []
    for line in (first, *marks, *others):
        console.print(line, markup=False)
    console.print(signature_line(signature), style="dim", soft_wrap=True, highlight=False)


def _table(sheet: Sheet) -> Table:
    title = escape(printable(sheet.title)) or None
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        min_width=_WIDTH,
        padding=(0, 1, 0, 0),
    )
    for k, title in enumerate(sheet.header):
        name = printable(_SHORT.get(title, title))
        left = k < sheet.left
        longest = _longest_word([name, *(str(row.cells[k]) for row in sheet.rows if row.cells[k:])])
        narrowest = min(longest, _NARROW) if left else longest
        justify: Literal["left", "right"] = "left" if left else "right"
        table.add_column(escape(name), justify=justify, overflow="fold", min_width=narrowest)
    grouped = any(row.style == GROUP for row in sheet.rows)
    for row in sheet.rows:
        cells = [escape(printable(str(cell))) for cell in row.cells]
        if row.style == GROUP:
            cells[0] = f"[bold]{cells[0]}[/bold]"
        elif grouped:
            cells[0] = f"  {cells[0]}"
        table.add_row(*cells, style=_STYLES.get(row.style))
    return table


def _longest_word(texts: Sequence[str]) -> int:
    """Give the length of what is not to be broken."""
    return max(map(len, " ".join(texts).split()), default=1)
