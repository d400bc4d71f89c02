"""What the commands do. Each takes parsed arguments and gives an exit code; it alone prints."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from drift_core.files import replacing, write_json
from drift_core.problems import Problem, printable
from drift_core.strict_json import dumps

if TYPE_CHECKING:
    from drift_onset.pairing import Pairs

OK, PROBLEMS, USAGE = 0, 1, 2
_PROGRESS_BYTES = 100_000_000


def print_problems(problems: Sequence[Problem], as_json: bool = False) -> None:
    """Print problems where they belong: as the result if they were asked for as JSON."""
    if as_json:
        for problem in problems:
            _print_json(problem.to_dict())
        return
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{counted(len(problems), 'problem')} found", file=sys.stderr)


def _print_json(value: object, indent: int | None = None) -> None:
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(dumps(value, indent=indent, ascii_only=not utf8))


def counted(n: int, noun: str) -> str:
    """Give a number with its noun, in the plural unless there is one."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def overwrites(outputs: Sequence[str | None], inputs: Sequence[str]) -> bool:
    """Tell, and say, whether a file to write is one to read or is to be written twice."""
    seen = {os.path.realpath(path): path for path in inputs}
    for output in filter(None, outputs):
        real = os.path.realpath(output)
        if real in seen:
            print(printable(f"{output} would overwrite {seen[real]}"), file=sys.stderr)
            return True
        seen[real] = output
    return False


@contextmanager
def _progress(paths: Sequence[str]) -> Iterator[Callable[[int], None] | None]:
    """Show how much of large files was read, on a terminal only."""
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    if size < _PROGRESS_BYTES or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = ("reading and checking", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda n: bar.advance(task, n)


def _pairs(args: argparse.Namespace, on_invalid: str = "error") -> Pairs:
    from drift_onset import evaluation

    with _progress([args.gold, args.predictions]) as progress:
        return evaluation.load_pairs(args.gold, args.predictions, on_invalid, progress)


def score(args: argparse.Namespace) -> int:
    """Score a prediction file and show both leaderboards."""
    from drift_onset import counts, evaluation, report

    if args.table and Path(args.table).suffix.lower() not in report.TABLE_ENDINGS:
        expected = ", ".join(report.TABLE_ENDINGS)
        print(printable(f"--table {args.table}: expected {expected}"), file=sys.stderr)
        return USAGE
    if overwrites([args.output, args.table], [args.gold, args.predictions]):
        return USAGE
    pairs = _pairs(args, args.on_invalid)
    options = {"on_invalid": args.on_invalid, "resamples": args.resamples, "seed": args.seed}
    with ExitStack() as whole:  # neither file, unless both can be made
        pool = whole.enter_context(ThreadPoolExecutor(1))
        reporting = pool.submit(
            evaluation.report_pairs, pairs, with_table=not args.table, **options
        )
        if args.table:
            rows = report.prediction_table(pairs.gold.ids, counts.columns(pairs))
            report.write_table(rows, whole.enter_context(replacing(args.table)))
        made = reporting.result().to_dict()
        if args.output:
            write_json(whole.enter_context(replacing(args.output)), made)
    if args.json:
        _print_json(made, indent=2)
        return OK
    from rich.console import Console

    from drift_onset.show import show

    show(made, Console())
    for name in filter(None, (args.output, args.table)):
        print(printable(f"written: {name}"))
    return OK


def score_as_json(args: argparse.Namespace) -> int:
    """Print the JSON report, and write it with --output: what scorer/score.py does."""
    from drift_onset import evaluation

    if overwrites([args.output], [args.gold, args.predictions]):
        return USAGE
    report = evaluation.report_pairs(_pairs(args))
    if args.output:
        report.write(args.output)
    _print_json(report.to_dict(), indent=2)
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
            print(printable(text))
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
