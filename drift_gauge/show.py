"""Results as tables in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from drift_core.console import print_table
from drift_core.problems import escaped, printable
from drift_gauge.anchor import Anchor
from drift_gauge.axes import AXES
from drift_gauge.demo import Day
from drift_gauge.documents import blessed_metrics
from drift_gauge.drift import DriftReport
from drift_gauge.effector_drift import EffectClass, EffectorDriftReport
from drift_gauge.gate import GateReport
from drift_gauge.golden import GoldenReport, QueryResult
from drift_gauge.history import Calibration, Reading

_FLAGS = 5  # of one kind that are shown one by one


def number(value: float | None) -> str:
    """Show a number with four decimals; ∞ and what is not there have their signs."""
    if value is None:
        return "–"
    return "∞" if math.isinf(value) else f"{value:.4f}"


def say(text: str) -> None:
    """Print a line that may hold a path or a title."""
    print(printable(text))


def notes(report: GoldenReport, others: Sequence[str]) -> None:
    """Show what is odd about the rows of a report, in short where it is much, and other notes."""
    for note in (*_short_flags(report), *others):
        say(f"note: {note}")


def _short_flags(report: GoldenReport) -> list[str]:
    kinds: dict[str, list[QueryResult]] = {
        "returned no rows": [],
        "have rows without _distance": [],
    }
    without_rows, without_distance = kinds.values()
    for query in report.per_query:
        if query.flag():
            (without_distance if query.retrieved else without_rows).append(query)
    flags: list[str] = []
    for what, found in kinds.items():
        if len(found) > _FLAGS:
            ids = ", ".join(escaped(query.id) for query in found[:3])
            flags.append(f"{len(found)} of {len(report.per_query)} queries {what}: {ids}, …")
        else:
            flags += [flag for query in found if (flag := query.flag())]
    return flags


def reading(
    report: DriftReport, measured: Mapping[str, Any], anchor: Anchor, golden: GoldenReport
) -> None:
    """Show a reading of the gauge: each axis beside its baseline, and D.

    Args:
        report: the reading.
        measured: the measured value of each axis.
        anchor: what it was held against.
        golden: what the golden set gave.
    """
    blessed = blessed_metrics(anchor.baseline)
    rows: list[tuple[str, ...]] = []
    for name, deterioration in report.per_axis.items():
        if name in AXES:
            tolerance, higher = AXES[name]
            arrow = "↑" if higher else "↓"
            value = number(measured.get(name)) if name not in report.unmeasured else "unmeasured"
            kept = (number(blessed[name]), number(getattr(anchor.cfg, tolerance)))
            rows.append((f"{name} {arrow}", value, *kept, number(deterioration)))
        else:
            rows.append((name, "not the blessed one", "–", "–", number(deterioration)))
    print_table(("axis", "measured", "blessed", "tolerance", "deterioration"), rows)
    word = "in band" if report.within_tolerance else "OUT OF BAND"
    say(f"D = {number(report.drift)}, Θ = {report.theta:g}: {word}")
    for reason in report.reasons:
        say(f"  {reason}")
    notes(golden, [note for note in report.notes if note not in golden.flags])
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


def queries(report: GoldenReport, fallen: Sequence[str], others: Sequence[str]) -> None:
    """Show every query of a golden report, what regressed, and other notes."""
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
    notes(report, others)
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
