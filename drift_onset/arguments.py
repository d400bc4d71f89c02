"""The arguments of the commands, and which function each command runs."""

from __future__ import annotations

import argparse

from drift_core import __version__
from drift_core.arguments import file
from drift_onset import commands
from drift_onset.argument_kinds import commit, on_invalid, resampling
from drift_onset.comparing import arguments as comparing
from drift_onset.harness import commands as harness
from drift_onset.hub import OWNER
from drift_onset.hub import commands as hub

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

    _from_inspect(names.add_parser("from-inspect", help="make predictions of a log of inspect-ai"))

    tasks = names.add_parser("tasks", help="print where the task for a harness lies")
    tasks.add_argument("harness", choices=harness.TASKS, help="the harness")
    tasks.set_defaults(run=harness.tasks)

    build = names.add_parser("build", help="rebuild Parquet and manifest.json from the CSV files")
    build.add_argument("root", nargs="?", default=".", metavar="DIR", help=_ROOT)
    build.set_defaults(run=commands.build)

    comparing.add(names)
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
    parser.add_argument("--output", type=file, metavar="FILE", help="write the JSON report here")
    parser.set_defaults(run=commands.score_as_json)


def _score_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table",
        type=file,
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
    parser.add_argument("--html", type=file, metavar="FILE", help="write a web page of it all")
    parser.add_argument("--plots", type=file, metavar="DIR", help="write plots into this folder")
    on_invalid(parser, "stop on a problem, or count the scenario as wrong (default: error)")
    resampling(parser, 0, 1000)


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
    parser.add_argument("output", type=file, help="prediction CSV file to write")
    parser.set_defaults(run=commands.baseline)


def _from_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", nargs="+", metavar="LOG", help="log file of a finished run, one")
    parser.add_argument(
        "--output",
        type=file,
        default="predictions.csv",
        metavar="FILE",
        help="prediction CSV file to write (default: predictions.csv)",
    )
    counted = "`score --on-invalid incorrect` counts it as wrong (default: error)"
    on_invalid(parser, f"stop if a scenario is unanswered, or write no row for it: {counted}")
    parser.set_defaults(run=harness.from_inspect)


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
    result.add_argument(
        "--revision", type=commit, metavar="SHA", help="commit of the dataset on the Hub"
    )
    result.set_defaults(run=hub.result)
