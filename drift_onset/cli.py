"""The command `reasoning-drift`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem
from drift_core.strict_json import dumps

if TYPE_CHECKING:
    from drift_onset.report import Report

OK, PROBLEMS, USAGE = 0, 1, 2
_PROGRESS_BYTES = 100_000_000


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative, expected 0 or more")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reasoning-drift", description="Where did the reasoning go off course?"
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="score predictions on both leaderboards")
    _score_arguments(score)
    score.add_argument(
        "--table", metavar="FILE", help="put the rows here: .parquet, .csv or .jsonl"
    )
    score.add_argument("--json", action="store_true", help="print the report as JSON")
    score.add_argument(
        "--on-invalid",
        choices=("error", "incorrect"),
        default="error",
        help="stop on a problem, or count the scenario as wrong (default: error)",
    )
    score.add_argument("--seed", type=int, default=0, help="of the resampling (default: 0)")
    score.add_argument(
        "--resamples", type=_count, default=1000, help="for the intervals (default: 1000)"
    )
    score.set_defaults(run=_score)

    _validate_arguments(commands.add_parser("validate", help="check data and prediction files"))

    baseline = commands.add_parser("baseline", help="write weak heuristic predictions")
    _baseline_arguments(baseline)

    demo = commands.add_parser("demo", help="run the whole job on the test split")
    demo.add_argument("--output", default="reasoning-drift-demo", metavar="DIR")
    demo.set_defaults(run=_demo)

    manifest = commands.add_parser("manifest", help="rewrite manifest.json for changed data")
    manifest.add_argument("root", nargs="?", default=".", metavar="DIR")
    manifest.set_defaults(run=_manifest)
    return parser


def _score_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", help="labelled CSV file")
    parser.add_argument("predictions", help="prediction CSV file")
    parser.add_argument("--output", metavar="FILE", help="write the JSON report here")


def _validate_arguments(parser: argparse.ArgumentParser) -> None:
    json_lines = argparse.ArgumentParser(add_help=False)
    json_lines.add_argument("--json", action="store_true", help="print problems as JSON lines")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    repository = kinds.add_parser(
        "repository", parents=[json_lines], help="all data files and the manifest"
    )
    repository.add_argument("root", nargs="?", default=".", metavar="DIR")
    for kind in ("labelled", "blind"):
        files = kinds.add_parser(kind, parents=[json_lines], help=f"{kind} CSV files")
        files.add_argument("files", nargs="+", metavar="FILE")
    predictions = kinds.add_parser(
        "predictions", parents=[json_lines], help="a prediction CSV file against its gold"
    )
    predictions.add_argument("predictions", metavar="FILE")
    predictions.add_argument("--gold", required=True, metavar="FILE", help="labelled or blind file")
    parser.set_defaults(run=_validate)


def _baseline_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("blind", help="blind CSV file")
    parser.add_argument("output", help="prediction CSV file to write")
    parser.set_defaults(run=_baseline)


def _print_problems(problems: Sequence[Problem], as_json: bool = False) -> None:
    """Print problems where they belong: as the result if they were asked for as JSON."""
    if as_json:
        for problem in problems:
            print(dumps(problem.to_dict()))
        return
    for problem in problems:
        print(problem, file=sys.stderr)
    count = len(problems)
    print(f"{count} problem{'' if count == 1 else 's'} found", file=sys.stderr)


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


def _scored(args: argparse.Namespace, **options: object) -> Report:
    from drift_onset import evaluation

    on_invalid = str(options.get("on_invalid", "error"))
    with _progress([args.gold, args.predictions]) as progress:
        pairs = evaluation.load_pairs(args.gold, args.predictions, on_invalid, progress)
        return evaluation.report_pairs(pairs, **options)  # type: ignore[arg-type]


def _score(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from drift_onset.report import TABLE_ENDINGS

    if args.table and Path(args.table).suffix.lower() not in TABLE_ENDINGS:
        print(f"--table {args.table}: expected {', '.join(TABLE_ENDINGS)}", file=sys.stderr)
        return USAGE
    report = _scored(args, on_invalid=args.on_invalid, resamples=args.resamples, seed=args.seed)
    if args.table:
        report.write_table(args.table)
        report = replace(report, inline_table=False)
    if args.output:
        report.write(args.output)
    if args.json:
        print(report.to_json(), end="")
        return OK
    from rich.console import Console

    from drift_onset.show import show

    console = Console()
    show(report.to_dict(), console)
    for path in filter(None, (args.output, args.table)):
        console.print(f"written: {path}")
    return OK


def _validate(args: argparse.Namespace) -> int:
    from drift_onset import evaluation, repository, schema

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
        _print_problems(problems, args.json)
        return PROBLEMS
    if not args.json:
        for path, n in checked:
            print(f"{path}: {n} rows checked, no problems")
    return OK


def _baseline(args: argparse.Namespace) -> int:
    from drift_onset import baseline

    n = baseline.run(args.blind, args.output)
    print(f"{args.output}: {n} predictions written")
    return OK


def _demo(args: argparse.Namespace) -> int:
    from rich.console import Console

    from drift_onset import demo

    demo.run(Path(args.output), Console())
    return OK


def _manifest(args: argparse.Namespace) -> int:
    from drift_onset import repository

    root = Path(args.root)
    repository.write_manifest(root)
    print(f"{root / repository.MANIFEST} written")
    return OK


def _guarded(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Run a command; bad input and files that cannot be written are told without a traceback."""
    try:
        return run(args)
    except InvalidInput as error:
        _print_problems(error.problems)
    except OSError as error:
        print(f"{error.filename or 'file'}: {error.strerror or error}", file=sys.stderr)
    return PROBLEMS


def main(argv: Sequence[str] | None = None) -> int:
    """Run `reasoning-drift`.

    Args:
        argv: arguments, without the name of the command; those of the process if None.

    Returns:
        The exit code: 0 fine, 1 problems found. Wrong usage exits with 2.
    """
    args = _parser().parse_args(argv)
    return _guarded(args.run, args)


def score_script(argv: Sequence[str] | None = None) -> int:
    """Run scorer/score.py: print the JSON report, and write it with --output."""
    parser = argparse.ArgumentParser(description="Score predictions on both leaderboards.")
    _score_arguments(parser)

    def run(args: argparse.Namespace) -> int:
        report = _scored(args)
        if args.output:
            report.write(args.output)
        print(report.to_json(), end="")
        return OK

    return _guarded(run, parser.parse_args(argv))


def validate_script(argv: Sequence[str] | None = None) -> int:
    """Run scorer/validate.py."""
    parser = argparse.ArgumentParser(description="Check data and prediction files.")
    _validate_arguments(parser)
    args = parser.parse_args(argv)
    return _guarded(args.run, args)


def baseline_script(argv: Sequence[str] | None = None) -> int:
    """Run baseline/baseline.py."""
    parser = argparse.ArgumentParser(description="Write weak heuristic predictions.")
    _baseline_arguments(parser)
    args = parser.parse_args(argv)
    return _guarded(args.run, args)


def entry_point() -> None:
    """Run `reasoning-drift` as a process."""
    sys.exit(main())
