"""Results → tables for people. Nothing here computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

RESULTS_HEADER = (
    "Checkpoint",
    "Task",
    "Condition",
    "n",
    "Accuracy",
    "Coverage",
    "Conditional Accuracy",
    "Mean Convergence Step",
    "Notes",
)
_TEXTS = (0, 1, 2, 8)
_RUN = {
    "accuracy": ("accuracy", ".4f"),
    "coverage": ("coverage", ".4f"),
    "mean_convergence_step": ("conv. step", ".1f"),
    "mean_flip_rate": ("flip rate", ".3f"),
    "mean_early_factor": ("early", ".3f"),
    "mean_post_change_rate": ("post change", ".3f"),
    "mean_length_growth": ("growth", ".3f"),
    "mean_score": ("score", ".3f"),
    "mean_gated_score": ("gated", ".3f"),
}


def shown(value: float | None, form: str) -> str:
    """Format a number; a dash where there is none."""
    return "–" if value is None else format(value, form)


def markdown(groups: Iterable[Mapping[str, Any]], min_n: int = 1) -> str:
    """Give the results table in Markdown.

    Args:
        groups: the groups of results.
        min_n: groups with fewer trajectories are left out, and counted below the table.
    """
    kept, left_out = [], 0
    for group in groups:
        if group["n"] >= min_n:
            kept.append(_results_row(group))
        else:
            left_out += 1
    rules = ["---" if at in _TEXTS else "--:" for at in range(len(RESULTS_HEADER))]
    lines = [_line(RESULTS_HEADER), "|" + "|".join(rules) + "|", *map(_line, kept)]
    if left_out:
        lines += ["", f"Left out, with n < {min_n}: {left_out}."]
    return "\n".join(lines)


def _results_row(group: Mapping[str, Any]) -> list[str]:
    names = [group.get(name) or "–" for name in ("model", "task", "condition")]
    return [
        *names,
        str(group["n"]),
        *(shown(group[name], ".4f") for name in ("accuracy", "coverage", "conditional_accuracy")),
        shown(group["mean_convergence_step"], ".1f"),
        _notes(group),
    ]


def _notes(group: Mapping[str, Any]) -> str:
    notes = []
    interval = group["intervals"].get("accuracy")
    if interval is not None and interval["low"] is not None and not interval["degenerate"]:
        notes.append(f"accuracy 95 % {interval['low']:.3f} to {interval['high']:.3f}")
    if group["regimes"]["undecided"]:
        notes.append(f"{group['regimes']['undecided']} undecided")
    without = group["n"] - group["defined"]["accuracy"]
    if without:
        notes.append(f"{without} without gold")
    if group.get("source"):
        notes.append(f"source {group['source']}")
    return "; ".join(notes)


def _line(cells: Iterable[str]) -> str:
    escaped = [cell.replace("|", "\\|").replace("\n", " ") for cell in cells]
    return "| " + " | ".join(escaped) + " |"


def summary(results: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Give header and rows of the table that `run` prints: the groups, and all together."""
    named = results["signature"]["options"]["group_by"]
    groups: Sequence[Mapping[str, Any]] = results["groups"]
    rows = []
    for group in groups if len(groups) > 1 else ():
        name = " / ".join(str(group[field] or "–") for field in named)
        rows.append([name, *_summary_cells(group)])
    rows.append(["all", *_summary_cells(results["aggregate"])])
    header = [" / ".join(named) or "group", "n", *(title for title, _ in _RUN.values())]
    return header, rows


def _summary_cells(group: Mapping[str, Any]) -> list[str]:
    return [str(group["n"]), *(shown(group[name], form) for name, (_, form) in _RUN.items())]
