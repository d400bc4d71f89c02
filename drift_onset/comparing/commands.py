"""What the commands do that compare: systems, reports, raters, and what to compare with."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drift_core import extras
from drift_core.console import OK, USAGE, overwrites, print_json, waiting
from drift_core.files import replacing, write_json, write_text
from drift_core.problems import printable
from drift_onset.commands import written

if TYPE_CHECKING:
    from drift_onset.views.sheets import Sheet

MOST_ITEMS = 20  # in a terminal


def compare(args: argparse.Namespace) -> int:
    """Say whether one of two systems is better."""
    from drift_onset.comparing import compare as comparing
    from drift_onset.comparing.ratings import names
    from drift_onset.views import comparison, pages

    if overwrites([args.output, args.html], [args.gold, args.a, args.b]) or _no_page(args.html):
        return USAGE
    if os.path.realpath(args.a) == os.path.realpath(args.b):
        print(printable(f"{args.b} is given twice, expected two systems"), file=sys.stderr)
        return USAGE
    first, second = names([args.a, args.b])
    options = {"on_invalid": args.on_invalid, "resamples": args.resamples, "seed": args.seed}
    with waiting("comparing"):
        found = comparing.compare(args.gold, args.a, args.b, names=(first, second), **options)
    made = found.to_dict()
    _write(args, made, pages.compare_page)
    if args.json:
        print_json(made, indent=2)
        return OK
    lead = [comparison.count_line(made), *comparison.verdict_lines(made)]
    tables = comparison.sheets(made, MOST_ITEMS)
    _show(lead, tables, [comparison.CRITERION], made["signature"])
    written([args.output, args.html])
    return OK


def agree(args: argparse.Namespace) -> int:
    """Measure how far raters agree."""
    from drift_onset.comparing import agreement as agreeing
    from drift_onset.views import agreement, pages

    if overwrites([args.output, args.html], args.files) or _no_page(args.html):
        return USAGE
    if not 2 <= len(args.files) <= agreeing.MAX_RATERS:
        wanted = f"expected 2 to {agreeing.MAX_RATERS} files, one a rater"
        print(f"FILE: {len(args.files)} given, {wanted}", file=sys.stderr)
        return USAGE
    with waiting("measuring agreement"):
        found = agreeing.agree(args.files, resamples=args.resamples, seed=args.seed)
    made = found.to_dict()
    _write(args, made, pages.agree_page)
    if args.json:
        print_json(made, indent=2)
        return OK
    tables = agreement.sheets(made, MOST_ITEMS)
    _show([agreement.count_line(made)], tables, agreement.closing(made), made["signature"])
    written([args.output, args.html])
    return OK


def rank(args: argparse.Namespace) -> int:
    """Make the two leaderboards of a folder of reports."""
    from drift_onset.comparing import rank as ranking
    from drift_onset.views import leaderboards, pages, plots, sheets

    writers: dict[str, Callable[[Any], str]] = {
        ".md": lambda made: sheets.markdown_page(leaderboards.sheets(made.to_dict())),
        ".csv": lambda made: made.to_csv(),
        ".html": lambda made: pages.rank_page(made.to_dict()),
    }
    for path in args.output:
        if Path(path).suffix.lower() not in (*writers, ".json"):
            expected = ", ".join((*writers, ".json"))
            print(printable(f"--output {path}: expected {expected}"), file=sys.stderr)
            return USAGE
    reports = [str(path) for path in Path(args.folder).glob("*.json")]
    if overwrites(args.output, [*reports, *filter(None, [args.gold])]):
        return USAGE
    if args.plots:
        extras.load("matplotlib", "plots")
    boards = ranking.rank(args.folder, args.gold)
    made = boards.to_dict()
    with ExitStack() as whole:
        for path in args.output:
            temporary = whole.enter_context(replacing(path))
            if Path(path).suffix.lower() == ".json":
                write_json(temporary, made)
            else:
                write_text(temporary, writers[Path(path).suffix.lower()](boards))
    drawn = plots.write(plots.rank_plots(made), Path(args.plots)) if args.plots else []
    if args.json:
        print_json(made, indent=2)
        return OK
    lead = [f"n = {made['signature']['n']}"]
    _show(lead, leaderboards.sheets(made), leaderboards.closing(made), made["signature"])
    written([*args.output, *map(str, drawn)])
    return OK


def references(args: argparse.Namespace) -> int:
    """Show what predictors without understanding reach."""
    from rich.console import Console

    from drift_onset import schema
    from drift_onset.comparing import references as referring
    from drift_onset.show import show_sheets
    from drift_onset.views import leaderboards, sheets

    gold = args.gold or schema.resource("data") / "test.csv"
    found = referring.references(gold, args.train, resamples=args.resamples, seed=args.seed)
    rows = [row.to_dict() for row in found]
    if args.json:
        print_json(rows, indent=2)
        return OK
    tables = leaderboards.references(rows)
    if args.markdown:
        print(sheets.markdown_page(tables))
        print("\n".join(f"- {line}" for line in leaderboards.methods(rows)))
        return OK
    console = Console()
    show_sheets(tables, console)
    for line in leaderboards.methods(rows):
        console.print(line, markup=False, highlight=False)
    return OK


def _no_page(path: str | None) -> bool:
    """Tell, and say, whether a page would be written into a file that no browser opens."""
    if path is None or Path(path).suffix.lower() in (".html", ".htm"):
        return False
    print(printable(f"--html {path}: expected .html"), file=sys.stderr)
    return True


def _write(
    args: argparse.Namespace, made: dict[str, Any], page: Callable[[dict[str, Any]], str]
) -> None:
    """Write the JSON and the page that were asked for: both or neither."""
    with ExitStack() as whole:
        if args.output:
            write_json(whole.enter_context(replacing(args.output)), made)
        if args.html:
            write_text(whole.enter_context(replacing(args.html)), page(made))


def _show(
    lead: Sequence[str], tables: Sequence[Sheet], closing: Sequence[str], signature: dict[str, Any]
) -> None:
    from rich.console import Console

    from drift_onset.show import show_closing, show_sheets

    console = Console()
    for line in lead:
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
    show_sheets(tables, console)
    show_closing(tables, closing, signature, console)
