"""A report as tables for people. Nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

_FEW = 100


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _metrics(title: str, section: Mapping[str, Any], intervals: Mapping[str, Any]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, min_width=66)
    table.add_column("metric")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("rows", justify="right")
    ranking = section.get("primary_ranking_metric")
    for name, value in section.items():
        if name == "primary_ranking_metric":
            continue
        interval = intervals.get(name)
        shown, rows = "–", "–"
        if interval is not None:
            rows = str(interval["n"])
        if interval is not None and interval["low"] is not None:
            shown = f"{_number(interval['low'])} to {_number(interval['high'])}"
            shown += " *" if interval["degenerate"] else ""
        table.add_row(name, _number(value), shown, rows, style="bold" if name == ranking else None)
    return table


def _classes(report: Mapping[str, Any]) -> Table:
    table = Table(title="Per class", title_justify="left", box=box.SIMPLE_HEAD, min_width=66)
    table.add_column("class", no_wrap=True)
    for name in ("gold", "pred.", "prec.", "recall", "F1"):
        table.add_column(name, justify="right")
    for target, by_label in report["per_class_metrics"].items():
        table.add_row(f"[bold]{target}[/bold]")
        for label, found in by_label.items():
            support = report["class_support"][target][label]
            gold, predicted = support["gold"], support["predicted"]
            absent = gold + predicted == 0
            numbers = [
                _number(found["precision"] if predicted else None),
                _number(found["recall"] if gold else None),
                _number(None if absent else found["f1"]),
            ]
            table.add_row(
                f"  {label}",
                str(gold),
                str(predicted),
                *numbers,
                style="dim" if absent else None,
            )
    return table


def show(report: Mapping[str, Any], console: Console) -> None:
    """Print both leaderboards, the diagnostics and the classes.

    Args:
        report: the JSON form of a report.
        console: where to print it.
    """
    signature, intervals = report["signature"], report["uncertainty"]["intervals"]
    n = f"n = {signature['n']}"
    if signature["n_invalid"]:
        n += f", of which {signature['n_invalid']} missing or invalid and counted as wrong"
    console.print(n, highlight=False)
    for title, key in (
        ("Leaderboard A · component capability", "leaderboard_a_component_capability"),
        ("Leaderboard B · complete reasoning state", "leaderboard_b_complete_reasoning_state"),
        ("Secondary diagnostics", "secondary_diagnostics"),
    ):
        console.print(_metrics(title, report[key], intervals))
    console.print(_classes(report))
    console.print("Intervals: Wilson for accuracies, bootstrap for the rest.")
    if any(interval["degenerate"] for interval in intervals.values()):
        console.print("* one row, or resamples that do not vary: the interval says nothing")
    if signature["n"] < _FEW:
        console.print("So few rows: read the intervals and the support before you rank anything.")
    options = " ".join(f"{name}={value}" for name, value in signature["options"].items())
    console.print(
        f"{signature['scorer']} gold={signature['gold_sha256'][:12]} n={signature['n']} "
        f"n_invalid={signature['n_invalid']} seed={signature['seed']} {options}",
        style="dim",
        soft_wrap=True,
    )
