"""What the commands do. Each takes parsed arguments and gives an exit code; it alone prints."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from drift_core.console import (
    OK,
    PROBLEMS,
    USAGE,
    counted,
    overwrites,
    print_problems,
    print_table,
    progress,
)
from drift_core.files import replacing, write_text
from drift_core.problems import InvalidInput, Problem, printable
from traj_eval import demo as archetypes
from traj_eval import io, results
from traj_eval import table as tables
from traj_eval.evaluation import Options
from traj_eval.parts import evaluate_files

_PROCESSES = 2


def demo(args: argparse.Namespace) -> int:
    """Evaluate the demo file and print its table."""
    path = str(archetypes.path())
    found, _, _ = evaluate_files([path], Options(group_by=("condition",), resamples=0))
    print_table(archetypes.HEADER, archetypes.rows(found))
    print(archetypes.NOTE)
    return OK


def run(args: argparse.Namespace) -> int:
    """Evaluate files, print a table, write results."""
    files = io.files(args.input)
    if overwrites([args.output, args.trajectories], files):
        return USAGE
    options = Options(
        group_by=args.group_by, edits=args.edits, resamples=args.resamples, seed=args.seed
    )
    with tempfile.TemporaryDirectory(prefix="traj-eval-") as folder:
        with progress(files, "evaluating") as on_bytes:
            found, blank, rows = evaluate_files(
                files,
                options,
                engine=args.engine,
                rows_in=folder if args.output or args.trajectories else None,
                processes=min(_PROCESSES, os.cpu_count() or 1),
                on_bytes=on_bytes,
            )
        _write(found, rows, args)
    print_table(*tables.summary(found))
    if blank:
        print(f"{counted(blank, 'blank line')} skipped")
    print(_signature(found["signature"]))
    _print_notes(found["signature"]["notes"])
    for name in filter(None, (args.output, args.trajectories)):
        print(printable(f"written: {name}"))
    return OK


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        print(printable(f"note: {note}"), file=sys.stderr)


def _write(found: results.Results, rows: Sequence[str], args: argparse.Namespace) -> None:
    if args.trajectories:
        with (
            replacing(args.trajectories) as temporary,
            open(temporary, "w", encoding="utf-8", newline="\n") as out,
        ):
            out.writelines(f"{line}\n" for line in _lines(rows))
        rows = []
    if args.output:
        found.write(args.output, _lines(rows))


def _lines(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            yield from (line[:-1] for line in file)


def _signature(made: Mapping[str, Any]) -> str:
    options = " ".join(f"{name}={value}" for name, value in made["options"].items())
    start = f"{made['scorer']} input={made['input_sha256'][:12]} n={made['n']} seed={made['seed']}"
    return f"{start} {options}"


def table(args: argparse.Namespace) -> int:
    """Print the results table in Markdown."""
    if overwrites([args.output], args.results) or _twice(args.results):
        return USAGE
    read = [results.read(path) for path in args.results]
    groups = list(chain.from_iterable(one["groups"] for one in read))
    text = tables.markdown(groups, args.min_n)
    if args.output:
        write_text(args.output, text + "\n")
    print(text)
    most = max((group["n"] for group in groups), default=0)
    if most < args.min_n:
        shown = f"no group has {counted(args.min_n, 'trajectory', 'trajectories')}"
        print(f"the table has no rows: {shown}, the largest has {most}", file=sys.stderr)
    return OK


def _twice(paths: Sequence[str]) -> bool:
    """Tell, and say, whether a file is given twice."""
    seen: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            print(printable(f"{path} is given twice"), file=sys.stderr)
            return True
        seen.add(real)
    return False


def plot_strips(args: argparse.Namespace) -> int:
    """Draw the verdicts of one or two trajectories."""
    if len(args.ids) > 2:
        print("--id: expected one or two", file=sys.stderr)
        return USAGE
    if overwrites([args.output], io.files(args.input)):
        return USAGE
    found = _chosen(args)
    if len(found) > 2:
        print(printable(_too_many(found)), file=sys.stderr)
        return USAGE
    from traj_eval.plots import verdict_strips

    verdict_strips(found, args.output)
    print(printable(f"written: {args.output}"))
    return OK


def _chosen(args: argparse.Namespace) -> list[Mapping[str, Any]]:
    """Give the trajectories of some ids and, where it is given, a condition; by id, then in order.

    Raises:
        InvalidInput: an id matches nothing.
    """
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in args.ids}
    for trajectory in io.read_trajectories(args.input):
        if trajectory["id"] in found:
            found[trajectory["id"]].append(trajectory)
    chosen, problems = [], []
    for name, those in found.items():
        fit = [t for t in those if args.condition in (None, t.get("condition"))]
        chosen += fit
        if not fit:
            message = "no such trajectory"
            if those:
                known = ", ".join(_conditions(those)) or "none"
                message += f" of condition {args.condition}; its conditions: {known}"
            problems.append(Problem("unknown_id", args.input, None, name, None, None, message))
    if problems:
        raise InvalidInput(problems)
    return chosen


def _conditions(trajectories: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(filter(None, (t.get("condition") for t in trajectories))))


def _too_many(found: Sequence[Mapping[str, Any]]) -> str:
    by_id = Counter(t["id"] for t in found)
    matches = ", ".join(f"{name} matches {n}" for name, n in by_id.items())
    named = _conditions(found)
    choose = f"choose with --condition out of {', '.join(named)}"
    if len(named) < 2:
        choose = "give fewer ids, or a file that holds fewer of them"
    return f"--id: {matches}; at most two are drawn: {choose}"


def plot_components(args: argparse.Namespace) -> int:
    """Draw the rationalization components of each group."""
    if overwrites([args.output], [args.input]):
        return USAGE
    read = results.read(args.input)
    from traj_eval.plots import component_bars

    component_bars(read, args.output)
    print(printable(f"written: {args.output}"))
    return OK


def extract(args: argparse.Namespace) -> int:
    """Fill in verdicts from the texts."""
    if (args.extractor == "regex") != (args.pattern is not None):
        print("--pattern goes with --extractor regex, and only with it", file=sys.stderr)
        return USAGE
    if os.path.isdir(args.input):
        print(printable(f"--input: {args.input} is a folder, expected a file"), file=sys.stderr)
        return USAGE
    if overwrites([args.output], io.files(args.input)):
        return USAGE
    from traj_eval.extract import extractor
    from traj_eval.filling import fill

    try:
        found = extractor(args.extractor, args.pattern)
    except (re.error, ValueError) as error:
        print(printable(f"--pattern {args.pattern}: {error}"), file=sys.stderr)
        return USAGE
    with progress([args.input], "extracting") as on_bytes:
        filled = fill(args.input, args.output, found, overwrite=args.overwrite, on_bytes=on_bytes)
    n = counted(filled.n, "trajectory", "trajectories")
    print(printable(f"{args.output}: {n}, {filled.decided} of {filled.steps} steps decided"))
    if filled.kept:
        kept = counted(filled.kept, "verdict")
        print(f"{kept} that the file had kept; --overwrite replaces them")
    return OK


def validate(args: argparse.Namespace) -> int:
    """Check files."""
    problems: list[Problem] = []
    checked: list[tuple[str, int, int]] = []
    notes: list[str] = []
    files = io.files(args.files)
    with progress(files, "checking") as on_bytes:
        for path in files:
            reader = io.Reader(path, on_bytes=on_bytes)
            for chunk in reader:
                del chunk  # its memory serves the next one
            problems += reader.found()
            notes += [f"{path}: {reader.note}"] if reader.note else []
            checked.append((path, len(reader.seen), reader.blank))
    if problems:
        print_problems(problems, args.json)
        return PROBLEMS
    for path, n, blank in () if args.json else checked:
        skipped = f", {counted(blank, 'blank line')} skipped" if blank else ""
        shown = counted(n, "trajectory", "trajectories")
        print(printable(f"{path}: {shown} checked{skipped}, no problems"))
    _print_notes(notes)
    return OK
