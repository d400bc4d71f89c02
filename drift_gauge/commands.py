"""What the commands do. Each takes parsed arguments and gives an exit code; it alone prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drift_core.console import OK, PROBLEMS, counted, overwrites, print_json, print_problems
from drift_core.extras import MissingExtra
from drift_gauge import bless as blessing
from drift_gauge import demo as story
from drift_gauge import gate as gating
from drift_gauge import history as log
from drift_gauge import measuring, show
from drift_gauge.anchor import Anchor
from drift_gauge.drift import DriftReport, reading_of
from drift_gauge.effector_drift import effector_drift_of, load_effector_anchor, reach_of
from drift_gauge.golden import BASELINE_PATH, GoldenReport, load_baseline, regressions
from drift_gauge.ledger import EffectLedger
from drift_gauge.notes import NO_DRIFT_SECTION, UNCHECKED, other_golden_set

OUT_OF_BAND = CLOSED = 3
_WORD = "bless"


def _read(args: argparse.Namespace) -> tuple[measuring.Measured, Anchor, DriftReport]:
    """Measure, read the gauge, and append the reading to the log if there is one."""
    anchor = measuring.anchor(args)
    measured = measuring.ask(args, anchor.golden)
    reading = reading_of(measured.report, anchor, structural=measured.structural)
    if args.log:
        log.append_reading(args.log, reading)
    return measured, anchor, reading


def measure(args: argparse.Namespace) -> int:
    """Read the gauge."""
    measured, anchor, reading = _read(args)
    if args.json:
        print_json(reading.to_dict(), indent=2)
    else:
        show.reading(reading, measured.values(), anchor, measured.report)
    return OK if reading.within_tolerance else OUT_OF_BAND


def gate(args: argparse.Namespace) -> int:
    """Decide on a change."""
    measured, anchor, reading = _read(args)
    decision = gating.gate(args.approved, measured.report, anchor.baseline, reading)
    if args.json:
        print_json(decision.to_dict(), indent=2)
    else:
        show.reading(reading, measured.values(), anchor, measured.report)
        show.decision(decision)
    return OK if decision else CLOSED


def golden(args: argparse.Namespace) -> int:
    """Ask the golden set and show every query."""
    anchor = measuring.anchor(args)
    measured = measuring.ask(args, anchor.golden)
    fallen = regressions(measured.report, anchor.baseline)
    if args.json:
        print_json({**measured.report.to_dict(), "regressions": fallen}, indent=2)
    else:
        other = other_golden_set(measured.report, anchor.baseline)
        show.queries(measured.report, fallen, (other,) if other else ())
        show.say(f"against {measuring.baseline_path(args)}")
    return OK


def bless(args: argparse.Namespace) -> int:
    """Write measured metrics into a baseline, if that is confirmed."""
    path = measuring.baseline_path(args)
    measured = measuring.ask(args, measuring.golden_set(args))
    report = measured.report
    document = blessing.renewed(
        path, args.retriever, measured.values(), golden_sha256=report.golden_sha256
    )
    old = load_baseline(path) if path.exists() else {}
    show.blessing(old.get("metrics", {}), document["metrics"])
    show.notes(report, _notes(report, old, document))
    if not args.yes and not _confirmed(path):
        print("not blessed, nothing was written", file=sys.stderr)
        return PROBLEMS
    done = blessing.bless(path, document, by=args.by)
    show.say(f"blessed by {done.by}: {path}")
    if done.kept_as:
        show.say(f"the old one is kept as {path.with_name(done.kept_as)}")
    return OK


def _notes(report: GoldenReport, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say what a blessing changes besides metrics, and what a reading will go by default."""
    other = other_golden_set(report, old)
    unchecked = new.get("drift", {}).get("constitution_fingerprint") is None
    return [
        *([other] if other else []),
        *([] if "drift" in new else [NO_DRIFT_SECTION]),
        *([UNCHECKED] if unchecked else []),
    ]


def _confirmed(path: Path) -> bool:
    print(f"Type {_WORD} to write {path}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() == _WORD


def effectors(args: argparse.Namespace) -> int:
    """Read the effector gauge of a ledger."""
    rows, torn = EffectLedger(args.ledger).read()
    if torn:
        print_problems(torn)
    classes = [row["class"] for row in rows][-(args.last or 0) :]
    anchor = load_effector_anchor(args.baseline or BASELINE_PATH)
    reading = effector_drift_of(reach_of(classes), anchor)
    if not classes:
        print("note: the ledger has no proposal, so nothing was measured", file=sys.stderr)
    if args.json:
        print_json(reading.to_dict(), indent=2)
    else:
        show.effectors(reading)
    return OK if reading.within_tolerance else OUT_OF_BAND


def _readings(args: argparse.Namespace) -> list[log.Reading]:
    readings, torn = log.load_history(args.log)
    if torn:
        print_problems(torn)
    return readings


def history(args: argparse.Namespace) -> int:
    """Show the readings of a log."""
    readings = _readings(args)
    if args.json:
        for reading in readings:
            print_json(reading.to_dict())
    else:
        show.history(readings)
    return OK


def plot(args: argparse.Namespace) -> int:
    """Draw the readings of a log."""
    from drift_gauge import plots

    if overwrites([args.output], [args.log]):
        return PROBLEMS
    plots.check_ending(args.output)
    plots.plot_history(_readings(args), args.output)
    show.say(f"{args.output} written")
    return OK


def calibrate(args: argparse.Namespace) -> int:
    """Say what Θ the readings of a log would give; writes nothing."""
    readings = _readings(args)
    found = log.calibrate(readings, args.quantile)
    if args.json:
        print_json(found.to_dict(), indent=2)
    else:
        show.calibration(found, readings[-1].theta)
    return OK


def demo(args: argparse.Namespace) -> int:
    """Watch a corpus decay, and hands reach further."""
    folder = Path(args.output)
    if folder.exists() and any(folder.iterdir()):
        print(f"{folder} is not empty, expected a folder to make", file=sys.stderr)
        return PROBLEMS
    first, second = story.run(folder)
    show.days(first, "1. The corpus decays")
    show.days(second, "2. The corpus is whole again, but the hands reach further")
    closed = next(day for day in first if not day.decision.open)
    show.say(f"The gate closed on {closed.time:%d %b}: {'; '.join(closed.decision.reasons)}")
    out = next(day for day in first if not day.decision.drift.within_tolerance)
    show.say(f"D crossed Θ on {out.time:%d %b}: {out.decision.drift.reasons[0]}")
    written = ["history.jsonl", "ledger.jsonl"]
    try:
        story.plot(first, second, folder / "drift.png")
        written.append("drift.png")
    except MissingExtra as error:
        print(f"no picture: {error}", file=sys.stderr)
    show.say(f"{folder}: {', '.join(written)} written ({counted(len(written), 'file')})")
    return OK
