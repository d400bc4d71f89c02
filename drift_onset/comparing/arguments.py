"""The arguments of the commands that compare, and which function each command runs."""

from __future__ import annotations

import argparse

from drift_core.arguments import file
from drift_onset.argument_kinds import on_invalid, resampling
from drift_onset.comparing import commands as commands
from drift_onset.limits import COMPARE_RESAMPLES


def add(names: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `compare`, `rank`, `agree` and `references` to the commands there are."""
    compare = names.add_parser("compare", help="say whether one of two systems is better")
    compare.add_argument("a", metavar="A", help="prediction CSV file of the first system")
    compare.add_argument("b", metavar="B", help="prediction CSV file of the second system")
    compare.add_argument("--gold", required=True, metavar="FILE", help="labelled CSV file")
    on_invalid(compare, "stop on a problem, or count the scenario as wrong (default: error)")
    resampling(compare, 1, COMPARE_RESAMPLES)
    _outputs(compare)
    compare.set_defaults(run=commands.compare)

    rank = names.add_parser("rank", help="make the two leaderboards of a folder of reports")
    rank.add_argument("folder", metavar="DIR", help="JSON reports, each named after its model")
    rank.add_argument(
        "--gold",
        metavar="FILE",
        help="labelled CSV file that the reports are on, for the reference rows (default: the "
        "split of the benchmark that they are on)",
    )
    rank.add_argument(
        "--output",
        type=file,
        action="append",
        default=[],
        metavar="FILE",
        help="write the leaderboards here (.md, .csv, .html, .json); may be given several times",
    )
    rank.add_argument("--plots", metavar="DIR", help="write plots into this folder")
    rank.add_argument("--json", action="store_true", help="print the leaderboards as JSON")
    rank.set_defaults(run=commands.rank)

    agree = names.add_parser("agree", help="measure how far raters agree")
    agree.add_argument(
        "files", nargs="+", metavar="FILE", help="labelled or prediction CSV file, one a rater"
    )
    resampling(agree, 1, 1000)
    _outputs(agree)
    agree.set_defaults(run=commands.agree)

    references = names.add_parser(
        "references", help="show what guessing reaches: the rows to compare with"
    )
    references.add_argument(
        "gold", nargs="?", metavar="FILE", help="labelled CSV file (default: the test split)"
    )
    references.add_argument(
        "--train", metavar="FILE", help="labelled CSV file to take frequencies from"
    )
    resampling(references, 0, 1000)
    references.add_argument("--json", action="store_true", help="print the rows as JSON")
    references.add_argument("--markdown", action="store_true", help="print them as Markdown")
    references.set_defaults(run=commands.references)


def _outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=file, metavar="FILE", help="write the result as JSON")
    parser.add_argument("--html", type=file, metavar="FILE", help="write the result as a web page")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
