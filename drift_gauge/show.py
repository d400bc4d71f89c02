"""Results as tables in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drift_core.console import print_table
from drift_core.problems import printable
from drift_gauge.anchor import Anchor
from drift_gauge.axes import AXES
from drift_gauge.demo import Day
from drift_gauge.documents import blessed_metrics
from drift_gauge.drift import DriftReport
from drift_gauge.effector_drift import EffectClass, EffectorDriftReport
from drift_gauge.gate import GateReport
from drift_gauge.golden import GoldenReport
from drift_gauge.history import Calibration, Reading


def number(value: float | None) -> str:
    """Show a number with four decimals; ∞ and what is not there have their signs."""
    if value is None:
        return "–"
    return "∞" if math.isinf(value) else f"{value:.4f}"


def say(text: str) -> None:
    """Print a line that may hold a path or a title."""
    print(printable(text))


def reading(report: DriftReport, golden: Mapping[str, Any], anchor: Anchor) -> None:
    """Show a reading of the gauge: each axis beside its baseline, and D.

    Args:
        report: the reading.
        golden: the measured value of each axis.
        anchor: what it was held against.
    """
    blessed = blessed_metrics(anchor.baseline)
    rows: list[tuple[str, ...]] = []
    for name, deterioration in report.per_axis.items():
        if name in AXES:
            tolerance, higher = AXES[name]
            arrow = "↑" if higher else "↓"
            measured = number(golden.get(name)) if name not in report.unmeasured else "unmeasured"
            kept = (number(blessed[name]), number(getattr(anchor.cfg, tolerance)))
            rows.append((f"{name} {arrow}", measured, *kept, number(deterioration)))
        else:
            rows.append((name, "not the blessed one", "–", "–", number(deterioration)))
    print_table(("axis", "measured", "blessed", "tolerance", "deterioration"), rows)
    word = "in band" if report.within_tolerance else "OUT OF BAND"
    say(f"D = {number(report.drift)}, Θ = {report.theta:g}: {word}")
    for reason in report.reasons:
        say(f"  {reason}")
    for note in report.notes:
        say(f"note: {note}")
    say(signature(report.signature))


def signature(made: Mapping[str, Any]) -> str:
    """Give a signature in one line; hashes are cut."""
    return " ".join(
        str(value) if name == "gauge" else f"{name.removesuffix('_sha256')}={str(value)[:12]}"
        for name, value in made.items()
    )


def decision(report: GateReport) -> None:
    """Show what the gate decided."""
    say(f"gate: {'open' if report.open else 'CLOSED'}")
    for reason in report.reasons:
        say(f"  {reason}")


def queries(report: GoldenReport, fallen: Sequence[str]) -> None:
    """Show every query of a golden report, and what regressed."""
    rows: list[tuple[str, ...]] = [
        (
            q.id,
            number(q.recall_at_k),
            number(q.overlap),
            number(q.mean_distance),
            printable("; ".join(q.retrieved)),
        )
        for q in report.per_query
    ]
    rows.append(("all", *map(number, report.as_metrics().values()), ""))
    print_table(("query", "recall@k", "overlap", "distance", "retrieved"), rows)
    for flag in report.flags:
        say(f"note: {flag}")
    say(f"regressions: {', '.join(fallen) or 'none'}")


def blessing(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Show the metrics of a baseline before and after."""
    rows = [(name, number(old.get(name)), number(value)) for name, value in new.items()]
    print_table(("metric", "blessed until now", "to be blessed"), rows)


def effectors(report: EffectorDriftReport) -> None:
    """Show a reading of the effector gauge."""
    reach, anchor = report.reach, report.anchor
    highest = EffectClass(reach.max_class).label if reach.n else "–"
    print_table(
        ("proposals", "mean reach", "irreversible", "highest", "blessed", "tolerance"),
        [
            (
                str(reach.n),
                number(reach.mean_reach),
                number(reach.irreversible_fraction),
                highest,
                number(anchor.baseline_reach),
                number(anchor.reach_tol),
            )
        ],
    )
    word = "in band" if report.within_tolerance else "OUT OF BAND"
    say(f"deterioration = {number(report.deterioration)}, limit 1: {word}")


def history(readings: Sequence[Reading]) -> None:
    """Show the readings of a log."""
    names = list(dict.fromkeys(name for one in readings for name in one.per_axis))
    rows = [
        (
            one.time.isoformat(timespec="seconds"),
            number(one.drift),
            f"{one.theta:g}",
            "in band" if one.within_tolerance else "OUT",
            *(number(one.per_axis.get(name)) for name in names),
        )
        for one in readings
    ]
    print_table(("time", "D", "Θ", "", *names), rows)


def calibration(found: Calibration, theta: float) -> None:
    """Show what Θ an observed curve would give, beside the one of the last reading."""
    readings = "reading" if found.n == 1 else "readings"
    say(f"Θ = {found.theta:.6g} is the {found.quantile:g} quantile of D over {found.n} {readings}")
    say(f"Θ = {theta:g} was blessed when the last reading was made; nothing was written")
    for n, why in ((found.infinite, "D is ∞"), (found.others, "made against another anchor")):
        if n:
            say(f"note: {n} left out: {why}")


def days(lived: Sequence[Day], title: str) -> None:
    """Show one part of the demo."""
    rows = [
        (
            f"{day.time:%d %b}",
            day.what,
            number(day.decision.drift.drift),
            "in band" if day.decision.drift.within_tolerance else "OUT",
            "open" if day.decision.open else "CLOSED",
            number(day.reach.deterioration),
            "in band" if day.reach.within_tolerance else "OUT",
        )
        for day in lived
    ]
    header = ("day", "what happened", "D", "against Θ", "gate", "reach", "against 1")
    print_table(header, rows, title)
