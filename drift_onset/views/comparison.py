"""A comparison of two systems, laid out as sheets. Nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_onset import schema
from drift_onset.scores import LEADERBOARD_A, LEADERBOARD_B
from drift_onset.views.items import UNANSWERED, answer
from drift_onset.views.report import TITLES
from drift_onset.views.sheets import GROUP, STRONG, Mark, Row, Sheet, heading, number, signed, span

CRITERION = (
    "Systems are told apart where the 95 % interval of the difference (paired bootstrap) leaves 0 "
    "out and p is below 0.05 (exact McNemar test for complete-primary accuracy, paired "
    "randomisation for the others). The two ranking metrics, in bold, decide; the others explain."
)


def verdict_lines(comparison: Mapping[str, Any]) -> list[str]:
    """Say which system is better, for each leaderboard."""
    lines = []
    for board, found in comparison["verdicts"].items():
        metric = found["metric"]
        by = comparison["differences"][metric]
        interval = span(by["interval"], by["difference"])
        lines.append(
            f"{TITLES[board].split(' · ')[0]}: {found['verdict']} ({metric} {number(by['a'])} "
            f"against {number(by['b'])}, difference {signed(by['difference'])}, 95 % interval "
            f"{interval}, {p_value(by['p'])})"
        )
    flips = comparison["flips"]["complete_primary"]
    if (n := sum(flips.values())) < 6:
        lines.append(
            f"In {n} scenario{'' if n == 1 else 's'} one alone has the complete answer right; the "
            "exact test needs at least 6, all one way, for p < 0.05."
        )
    return lines


def count_line(comparison: Mapping[str, Any]) -> str:
    """Say how many rows there are, which system is which, and what was counted as wrong."""
    signature = comparison["signature"]
    line = f"n = {signature['n']}; first: {comparison['a']}, second: {comparison['b']}"
    for side in ("a", "b"):
        if invalid := signature["n_invalid"][side]:
            line += f"; {comparison[side]}: {invalid} missing or invalid and counted as wrong"
    return line


def p_value(p: float | None) -> str:
    """Show a p-value."""
    if p is None:
        return "p not defined"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def sheets(comparison: Mapping[str, Any], most_items: int) -> list[Sheet]:
    """Lay out the metrics, the flips by target and the items side by side.

    Args:
        comparison: its JSON form.
        most_items: how many items to show.
    """
    official = (*LEADERBOARD_A, *LEADERBOARD_B)
    others = tuple(name for name in comparison["differences"] if name not in official)
    boards = zip(TITLES.values(), (LEADERBOARD_A, LEADERBOARD_B, others), strict=True)
    return [
        *(_metrics(title, names, comparison) for title, names in boards),
        _flips(comparison),
        _items(comparison, most_items),
    ]


def _metrics(title: str, names: tuple[str, ...], comparison: Mapping[str, Any]) -> Sheet:
    rows = []
    for name in names:
        by = comparison["differences"][name]
        scale = None if name == "mean_absolute_onset_error" else (-1.0, 1.0)
        cells = (
            heading(name),
            number(by["a"]),
            number(by["b"]),
            signed(by["difference"]),
            span(by["interval"], by["difference"], scale),
            p_value(by["p"]).removeprefix("p ").removeprefix("= "),
            "yes" if by["distinguishable"] else "no",
        )
        rows.append(Row(cells, STRONG if name in (LEADERBOARD_A[0], LEADERBOARD_B[0]) else ""))
    # Names may be long: what they are called stands above, so that a terminal has room for all.
    header = ("metric", "first", "second", "first − second", "95 % interval", "p", "told apart")
    return Sheet(title, header, tuple(rows))


def _flips(comparison: Mapping[str, Any]) -> Sheet:
    rows = [
        Row((target, str(found["only_a_right"]), str(found["only_b_right"])))
        for target, found in comparison["flips"].items()
    ]
    header = ("target", f"only {comparison['a']} right", f"only {comparison['b']} right")
    return Sheet("Where one is right and the other wrong", header, tuple(rows))


def _items(comparison: Mapping[str, Any], most: int) -> Sheet:
    a, b = comparison["a"], comparison["b"]
    rows = []
    for item in comparison["items"][:most]:
        complete = (Mark("", item[f"{side}_complete_primary_correct"]) for side in ("a", "b"))
        rows.append(Row((item["scenario_id"], "complete answer", *complete), GROUP))
        for target in schema.targets():
            gold, ours, theirs = (_said(item, who, target) for who in ("gold", "a", "b"))
            right = item[f"a_{target}_correct"], item[f"b_{target}_correct"]
            if right[0] != right[1]:
                marks = (Mark(ours, right[0]), Mark(theirs, right[1]))
                rows.append(Row((target, gold, *marks)))
    more = len(comparison["items"]) - most
    notes = (f"{more} more scenarios are in the JSON (--output).",) if more > 0 else ()
    title = "Scenarios in which one is right and the other wrong"
    return Sheet(title, ("target", "gold", a, b), tuple(rows), notes, left=4)


def _said(item: Mapping[str, Any], who: str, target: str) -> str:
    unanswered = item[f"{who}_{schema.targets()[0]}"] is None
    return UNANSWERED if unanswered else answer(item[f"{who}_{target}"])
