"""The command `reasoning-drift`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from drift_core import __version__
from drift_core.files import replacing
from drift_core.problems import InvalidInput, Problem, printable
from drift_core.strict_json import dumps

if TYPE_CHECKING:
    from drift_onset.pairing import Pairs

OK, PROBLEMS, USAGE = 0, 1, 2
BROKEN_PIPE = 141  # as of a process that SIGPIPE ended
_PROGRESS_BYTES = 100_000_000


def _whole(highest: int) -> Callable[[str], int]:
    """Give a reader of whole numbers from 0 to a highest one."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 20 or int(text) > highest:
            raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected 0 to {highest}")
        return int(text)

    return read


def _file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("an empty name, expected a file")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reasoning-drift", description="Where did the reasoning go off course?"
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="score predictions on both leaderboards")
    _score_arguments(score)
    score.add_argument(
        "--table", type=_file, metavar="FILE", help="put the rows here: .parquet, .csv or .jsonl"
    )
    score.add_argument("--json", action="store_true", help="print the report as JSON")
    score.add_argument(
        "--on-invalid",
        choices=("error", "incorrect"),
        default="error",
        help="stop on a problem, or count the scenario as wrong (default: error)",
    )
    score.add_argument(
        "--seed", type=_whole(2**63 - 1), default=0, help="of the resampling (default: 0)"
    )
    score.add_argument(
        "--resamples",
        type=_whole(100_000),
        default=1000,
        help="for the intervals, at most 100000 (default: 1000)",
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
    parser.add_argument("--output", type=_file, metavar="FILE", help="write the JSON report here")


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
            _print_json(problem.to_dict())
        return
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{_counted(len(problems), 'problem')} found", file=sys.stderr)


def _print_json(value: object, indent: int | None = None) -> None:
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(dumps(value, indent=indent, ascii_only=not utf8))


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _overwrites(outputs: Sequence[str | None], inputs: Sequence[str]) -> bool:
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


def _score(args: argparse.Namespace) -> int:
    from drift_onset import counts, evaluation, report

    if args.table and Path(args.table).suffix.lower() not in report.TABLE_ENDINGS:
        expected = ", ".join(report.TABLE_ENDINGS)
        print(printable(f"--table {args.table}: expected {expected}"), file=sys.stderr)
        return USAGE
    if _overwrites([args.output, args.table], [args.gold, args.predictions]):
        return USAGE
    pairs = _pairs(args, args.on_invalid)
    options = {"on_invalid": args.on_invalid, "resamples": args.resamples, "seed": args.seed}
    with ExitStack() as whole:  # both files or none
        pool = whole.enter_context(ThreadPoolExecutor(1))
        reporting = pool.submit(
            evaluation.report_pairs, pairs, with_table=not args.table, **options
        )
        if args.table:
            rows = report.prediction_table(pairs.gold.ids, counts.columns(pairs))
            report.write_table(rows, whole.enter_context(replacing(args.table)))
        made = reporting.result().to_dict()
        if args.output:
            text = dumps(made, indent=2) + "\n"
            path = whole.enter_context(replacing(args.output))
            path.write_text(text, encoding="utf-8", newline="\n")
    if args.json:
        _print_json(made, indent=2)
        return OK
    from rich.console import Console

    from drift_onset.show import show

    show(made, Console())
    for name in filter(None, (args.output, args.table)):
        print(printable(f"written: {name}"))
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
            print(printable(f"{path}: {_counted(n, 'row')} checked, no problems"))
    return OK


def _baseline(args: argparse.Namespace) -> int:
    from drift_onset import baseline

    if _overwrites([args.output], [args.blind]):
        return USAGE
    n = baseline.run(args.blind, args.output)
    print(printable(f"{args.output}: {_counted(n, 'prediction')} written"))
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
    print(printable(f"{root / repository.MANIFEST} written"))
    return OK


def _guarded(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Run a command; bad input and files that cannot be written are told without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not have every character
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run(args)
        sys.stdout.flush()
        return code
    except InvalidInput as error:
        _print_problems(error.problems)
    except BrokenPipeError:
        # Whoever reads has seen enough; nothing more may be written when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (OSError, ValueError) as error:
        if not isinstance(error, OSError) and "null byte" not in str(error):
            raise
        name = getattr(error, "filename", None) or "output"
        what = getattr(error, "strerror", None) or error
        print(printable(f"{name}: {what}"), file=sys.stderr)
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
        if _overwrites([args.output], [args.gold, args.predictions]):
            return USAGE
        from drift_onset import evaluation

        report = evaluation.report_pairs(_pairs(args))
        if args.output:
            report.write(args.output)
        _print_json(report.to_dict(), indent=2)
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


if __name__ == "__main__":
    entry_point()
