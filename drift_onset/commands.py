"""What the commands do. Each takes parsed arguments and gives an exit code; it alone prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drift_core import extras
from drift_core.console import (
    OK,
    PROBLEMS,
    USAGE,
    counted,
    overwrites,
    print_json,
    print_problems,
    progress,
)
from drift_core.files import replacing, write_json, write_text
from drift_core.problems import Problem, printable

if TYPE_CHECKING:
    from drift_onset.counts import Columns
    from drift_onset.pairing import Pairs


def _pairs(args: argparse.Namespace, on_invalid: str = "error") -> Pairs:
    from drift_onset import evaluation

    with progress([args.gold, args.predictions]) as read:
        return evaluation.load_pairs(args.gold, args.predictions, on_invalid, read)


def score(args: argparse.Namespace) -> int:
    """Score a prediction file and show both leaderboards."""
    from drift_onset import counts, evaluation, report

    if args.table and Path(args.table).suffix.lower() not in report.TABLE_ENDINGS:
        expected = ", ".join(report.TABLE_ENDINGS)
        print(printable(f"--table {args.table}: expected {expected}"), file=sys.stderr)
        return USAGE
    outputs = [args.output, args.table, args.html]
    if overwrites(outputs, [args.gold, args.predictions]):
        return USAGE
    if args.plots:  # said before the work is done
        extras.load("matplotlib", "plots")
    pairs = _pairs(args, args.on_invalid)
    options = {"on_invalid": args.on_invalid, "resamples": args.resamples, "seed": args.seed}
    with ExitStack() as whole:  # no file, unless all can be made
        pool = whole.enter_context(ThreadPoolExecutor(1))
        reporting = pool.submit(
            evaluation.report_pairs,
            pairs,
            with_table=not args.table,
            by=args.by,
            gold=args.gold,
            **options,
        )
        side_by_side = counts.columns(pairs) if args.table or args.html or args.plots else None
        if args.table and side_by_side:
            rows = report.prediction_table(pairs.gold.ids, side_by_side)
            report.write_table(rows, whole.enter_context(replacing(args.table)))
        made = reporting.result().to_dict()
        if args.output:
            write_json(whole.enter_context(replacing(args.output)), made)
        if side_by_side and (args.html or args.plots):
            outputs += _pictures(args, made, side_by_side, whole)
    if args.json:
        print_json(made, indent=2)
        return OK
    from rich.console import Console

    from drift_onset.show import show

    show(made, Console())
    written(outputs)
    return OK


def _pictures(
    args: argparse.Namespace, made: dict[str, Any], side_by_side: Columns, whole: ExitStack
) -> list[str]:
    """Write the page and the plots; give what written plots are called."""
    from drift_onset import counts, details
    from drift_onset.views import pages, plots

    found = details.details(side_by_side, counts.count_columns(side_by_side))
    if args.html:
        name = Path(args.predictions).stem
        write_text(whole.enter_context(replacing(args.html)), pages.score_page(made, found, name))
    if not args.plots:
        return []
    drawn = plots.write(plots.score_plots(made, found), Path(args.plots))
    return [str(path) for path in drawn]


def written(outputs: Sequence[str | None]) -> None:
    """Say which files were written."""
    for name in filter(None, outputs):
        print(printable(f"written: {name}"))


def score_as_json(args: argparse.Namespace) -> int:
    """Print the JSON report, and write it with --output: what scorer/score.py does."""
    from drift_onset import evaluation

    if overwrites([args.output], [args.gold, args.predictions]):
        return USAGE
    report = evaluation.report_pairs(_pairs(args))
    if args.output:
        report.write(args.output)
    print_json(report.to_dict(), indent=2)
    return OK


def validate(args: argparse.Namespace) -> int:
    """Check data and prediction files."""
    from drift_onset import card, evaluation, repository, schema

    checked: list[tuple[str, int]] = []
    problems: list[Problem] = []
    if args.kind == "repository":
        rows, problems = repository.check(Path(args.root))
        checked = list(rows.items())
    elif args.kind == "predictions":
        n, problems = evaluation.validate_predictions(args.predictions, args.gold)
        checked = [(args.predictions, n)]
    else:
        kind = schema.LABELLED if args.kind == "labelled" else schema.BLIND
        for path in args.files:
            n, found = evaluation.validate_file(path, kind)
            checked.append((path, n))
            problems += found
    if problems:
        print_problems(problems, args.json)
        return PROBLEMS
    if not args.json:
        for path, n in checked:
            print(printable(f"{path}: {counted(n, 'row')} checked, no problems"))
        for text in card.advice(Path(args.root)) if args.kind == "repository" else ():
            print(printable(f"{args.root}: {text}"))
    return OK


def baseline(args: argparse.Namespace) -> int:
    """Write weak heuristic predictions."""
    from drift_onset import baseline as heuristic

    if overwrites([args.output], [args.blind]):
        return USAGE
    n = heuristic.run(args.blind, args.output)
    print(printable(f"{args.output}: {counted(n, 'prediction')} written"))
    return OK


def demo(args: argparse.Namespace) -> int:
    """Run the whole job on the test split."""
    from rich.console import Console

    from drift_onset import demo as whole_job

    whole_job.run(Path(args.output), Console())
    return OK


def build(args: argparse.Namespace) -> int:
    """Rebuild what is derived from the CSV files."""
    from drift_onset import repository

    for path in repository.build(Path(args.root)):
        print(printable(f"{path} written"))
    return OK
