"""The arguments of the commands, and which function each command runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from drift_core import __version__
from drift_onset import arguments_comparing, commands
from drift_onset.hub import OWNER
from drift_onset.hub import commands as hub
from drift_onset.limits import MAX_RESAMPLES, MAX_SEED, ON_INVALID

_ROOT = "the clone: folder that holds data/ and manifest.json (default: the current one)"


def all_commands() -> argparse.ArgumentParser:
    """Give the parser of `reasoning-drift`."""
    top = argparse.ArgumentParser(
        prog="reasoning-drift", description="Where did the reasoning go off course?"
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    names = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    score = names.add_parser("score", help="score predictions on both leaderboards")
    _score(score)
    _score_options(score)
    score.set_defaults(run=commands.score)

    _validate(names.add_parser("validate", help="check data and prediction files"))
    _baseline(names.add_parser("baseline", help="write weak heuristic predictions"))

    demo = names.add_parser("demo", help="run the whole job on the test split")
    demo.add_argument(
        "--output",
        default="reasoning-drift-demo",
        metavar="DIR",
        help="where predictions and report go (default: reasoning-drift-demo)",
    )
    demo.set_defaults(run=commands.demo)

    build = names.add_parser("build", help="rebuild Parquet and manifest.json from the CSV files")
    build.add_argument("root", nargs="?", default=".", metavar="DIR", help=_ROOT)
    build.set_defaults(run=commands.build)

    arguments_comparing.add(names, _file, _resampling, _on_invalid)
    _hub(names.add_parser("hub", help="build and push the repositories of the Hub, and results"))
    return top


def one_script(name: str) -> argparse.ArgumentParser:
    """Give the parser of one of the benchmark's scripts: `score`, `validate` or `baseline`."""
    add = {"score": _score, "validate": _validate, "baseline": _baseline}[name]
    parser = argparse.ArgumentParser()
    add(parser)
    return parser


def _score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", help="labelled CSV file")
    parser.add_argument("predictions", help="prediction CSV file")
    parser.add_argument("--output", type=_file, metavar="FILE", help="write the JSON report here")
    parser.set_defaults(run=commands.score_as_json)


def _score_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table",
        type=_file,
        metavar="FILE",
        help="write the row of each scenario here (.parquet, .csv, .jsonl), not into the report",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="score parts of the rows as well: any column of the gold, length_band or onset_third; "
        "may be given several times",
    )
    parser.add_argument("--html", type=_file, metavar="FILE", help="write a web page of it all")
    parser.add_argument("--plots", type=_file, metavar="DIR", help="write plots into this folder")
    _on_invalid(parser)
    _resampling(parser, 0, 1000)


def _on_invalid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-invalid",
        choices=ON_INVALID,
        default=ON_INVALID[0],
        help="stop on a problem, or count the scenario as wrong (default: error)",
    )


def _resampling(parser: argparse.ArgumentParser, fewest: int, default: int) -> None:
    parser.add_argument(
        "--seed", type=_whole(0, MAX_SEED), default=0, help="seed of the resampling (default: 0)"
    )
    parser.add_argument(
        "--resamples",
        type=_whole(fewest, MAX_RESAMPLES),
        default=default,
        help=f"bootstrap resamples for the intervals, at most {MAX_RESAMPLES} (default: {default})",
    )


def _validate(parser: argparse.ArgumentParser) -> None:
    json_lines = argparse.ArgumentParser(add_help=False)
    json_lines.add_argument("--json", action="store_true", help="print problems as JSON lines")
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    repository = kinds.add_parser(
        "repository", parents=[json_lines], help="all data files and the manifest"
    )
    repository.add_argument("root", nargs="?", default=".", metavar="DIR", help=_ROOT)
    for kind in ("labelled", "blind"):
        files = kinds.add_parser(kind, parents=[json_lines], help=f"{kind} CSV files")
        files.add_argument("files", nargs="+", metavar="FILE", help=f"{kind} CSV file")
    predictions = kinds.add_parser(
        "predictions", parents=[json_lines], help="a prediction CSV file against its gold"
    )
    predictions.add_argument("predictions", metavar="FILE", help="prediction CSV file")
    predictions.add_argument("--gold", required=True, metavar="FILE", help="labelled or blind file")
    parser.set_defaults(run=commands.validate)


def _baseline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("blind", help="blind CSV file")
    parser.add_argument("output", type=_file, help="prediction CSV file to write")
    parser.set_defaults(run=commands.baseline)


def _hub(parser: argparse.ArgumentParser) -> None:
    names = parser.add_subparsers(dest="hub_command", required=True, metavar="COMMAND")

    build = names.add_parser("build", help="make the dataset and a Space for each metric")
    build.add_argument("target", metavar="DIR", help="folder to make, or an earlier build")
    build.add_argument("--root", default=".", metavar="DIR", help=_ROOT)
    build.add_argument(
        "--owner", default=OWNER, help=f"user or organisation on the Hub (default: {OWNER})"
    )
    build.add_argument(
        "--wheel",
        action="store_true",
        help="put a wheel of the package into each Space, while no package index has it",
    )
    build.set_defaults(run=hub.build)

    push = names.add_parser("push", help="check what was built and show it; with --yes push it")
    push.add_argument("target", metavar="DIR", help="what `hub build` made")
    push.add_argument("--yes", action="store_true", help="push (default: a dry run)")
    push.add_argument(
        "--create-pr", action="store_true", help="open pull requests, do not commit to main"
    )
    push.set_defaults(run=hub.push)

    result = names.add_parser("result", help="write a model's scores as the Hub shows them")
    result.add_argument("report", metavar="FILE", help="report of the test split, as JSON")
    result.add_argument("--model", required=True, metavar="OWNER/NAME", help="model on the Hub")
    result.add_argument(
        "--output", default=".", metavar="DIR", help="clone of the model (default: .)"
    )
    result.add_argument("--revision", metavar="SHA", help="commit of the dataset on the Hub")
    result.set_defaults(run=hub.result)


def _whole(lowest: int, highest: int) -> Callable[[str], int]:
    """Give a reader of whole numbers in a range."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= 20
        if not digits or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected {lowest} to {highest}")
        return int(text)

    return read


def _file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("an empty name, expected a file")
    return text
