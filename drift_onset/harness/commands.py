"""What the commands around harnesses do. Each takes parsed arguments and gives an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from drift_core.console import OK, PROBLEMS, USAGE, counted, overwrites, print_problems
from drift_core.problems import printable

# What each harness wants to be told; inspect takes a whole path only with the name of a task.
TASKS = {"inspect": "inspect_task.py@reasoning_drift", "lm-eval": "lm_eval"}


def from_inspect(args: argparse.Namespace) -> int:
    """Write the predictions that a log holds, or say which scenarios are unanswered."""
    from drift_onset import predictions
    from drift_onset.harness import from_inspect as reading

    if len(args.logs) > 1:
        newest = max(args.logs, key=lambda path: (os.path.exists(path), _changed(path)))
        told = f"LOG: {len(args.logs)} logs given, expected one; the newest is {newest}"
        print(printable(told), file=sys.stderr)
        return USAGE
    if overwrites([args.output], args.logs):
        return USAGE
    found = reading.read(args.logs[0])
    if found.unanswered:
        print_problems(found.unanswered)
        if args.on_invalid == "error":
            rest = "with --on-invalid incorrect the other scenarios are written"
            print(f"nothing written; {rest}", file=sys.stderr)
            return PROBLEMS
    rows = [answer.row for answer in found.answers if answer.row is not None]
    predictions.write(args.output, rows)
    print(printable(f"{args.output}: {counted(len(rows), 'prediction')} written"))
    return OK


def _changed(path: str) -> float:
    return os.path.getmtime(path) if os.path.exists(path) else 0.0


def tasks(args: argparse.Namespace) -> int:
    """Print where the task of a harness lies."""
    print(Path(__file__).resolve().parent / TASKS[args.harness])
    return OK
