"""The arguments of `python -m traj_eval`, and which function each command runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from drift_core import __version__
from drift_core.arguments import file, whole
from drift_core.files import PICTURES, ending_fault
from traj_eval import commands
from traj_eval.evaluation import GROUP_FIELDS, MAY_GROUP
from traj_eval.parts import ENGINES

EXTRACTORS = ("choice", "number", "boxed", "yesno", "regex")
_FILES = ".jsonl, .jsonl.gz, .parquet, or a folder of them"
_MAX_RESAMPLES = 100_000


def parser() -> argparse.ArgumentParser:
    """Give the parser."""
    top = argparse.ArgumentParser(
        prog="python -m traj_eval",
        description="Measure reasoning in the denoising trajectory, not just final accuracy.",
    )
    top.add_argument("--version", action="version", version=f"traj-eval {__version__}")
    names = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = names.add_parser("demo", help="tell three synthetic archetypes apart")
    demo.set_defaults(run=commands.demo)
    _run(names.add_parser("run", help="evaluate trajectory files"))
    _table(names.add_parser("table", help="results files to the results table in Markdown"))
    _plot(names.add_parser("plot", help="verdict strips, or component bars by group"))
    _extract(names.add_parser("extract", help="fill in verdicts from the texts"))
    validate = names.add_parser("validate", help="check trajectory files")
    validate.add_argument("files", nargs="+", type=file, metavar="FILE", help=_FILES)
    validate.add_argument("--json", action="store_true", help="print problems as JSON lines")
    validate.set_defaults(run=commands.validate)
    return top


def _run(run: argparse.ArgumentParser) -> None:
    run.add_argument("--input", nargs="+", type=file, required=True, metavar="FILE", help=_FILES)
    run.add_argument("--output", type=file, metavar="FILE", help="write the results JSON here")
    run.add_argument(
        "--trajectories",
        type=file,
        metavar="FILE",
        help="write the row of each trajectory here as JSON Lines, not into the results",
    )
    run.add_argument(
        "--group-by",
        type=_fields,
        default=GROUP_FIELDS,
        metavar="FIELDS",
        help=f"some of {','.join(MAY_GROUP)} (default: {','.join(GROUP_FIELDS)})",
    )
    run.add_argument(
        "--edits",
        action="store_true",
        help="an answer counts as committed once its text stays the same too",
    )
    run.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help="dask counts the parts on a local cluster of two workers (default: local)",
    )
    run.add_argument(
        "--resamples",
        type=whole(0, _MAX_RESAMPLES),
        default=1000,
        help=f"bootstrap resamples for the intervals, at most {_MAX_RESAMPLES} (default: 1000)",
    )
    run.add_argument(
        "--seed", type=whole(0, _MAX_RESAMPLES), default=0, help="of the resampling (default: 0)"
    )
    run.set_defaults(run=commands.run)


def _table(table: argparse.ArgumentParser) -> None:
    table.add_argument(
        "results", nargs="+", type=file, metavar="RESULTS", help="what `run --output` wrote"
    )
    table.add_argument(
        "--min-n",
        type=whole(0, _MAX_RESAMPLES),
        default=1,
        metavar="N",
        help="leave out groups with fewer trajectories (default: 1)",
    )
    table.add_argument("--output", type=file, metavar="FILE", help="write the table here")
    table.set_defaults(run=commands.table)


def _plot(plot: argparse.ArgumentParser) -> None:
    kinds = plot.add_subparsers(dest="kind", required=True, metavar="KIND")
    strips = kinds.add_parser("strips", help="the verdicts of one or two trajectories, by step")
    strips.add_argument("input", type=file, metavar="FILE", help=_FILES)
    strips.add_argument(
        "--id",
        action="append",
        required=True,
        dest="ids",
        help="which trajectory; may be given twice",
    )
    strips.add_argument("--condition", help="only trajectories of this condition")
    strips.set_defaults(run=commands.plot_strips)
    bars = kinds.add_parser("components", help="the rationalization components of each group")
    bars.add_argument("input", type=file, metavar="RESULTS", help="what `run --output` wrote")
    bars.set_defaults(run=commands.plot_components)
    for kind in (strips, bars):
        kind.add_argument(
            "--output",
            type=_ending_in(PICTURES),
            required=True,
            metavar="FILE",
            help=f"the picture: {', '.join(PICTURES)}",
        )


def _extract(extract: argparse.ArgumentParser) -> None:
    extract.add_argument(
        "--input", type=file, required=True, metavar="FILE", help=".jsonl, .jsonl.gz, .parquet"
    )
    extract.add_argument(
        "--output",
        type=_ending_in((".jsonl", ".jsonl.gz")),
        required=True,
        metavar="FILE",
        help=".jsonl or .jsonl.gz",
    )
    extract.add_argument("--extractor", choices=EXTRACTORS, required=True)
    extract.add_argument("--pattern", help="the regular expression of `--extractor regex`")
    extract.add_argument(
        "--overwrite", action="store_true", help="replace the verdicts that are there"
    )
    extract.set_defaults(run=commands.extract)


def _fields(text: str) -> tuple[str, ...]:
    names = tuple(filter(None, text.split(",")))
    unknown = [name for name in names if name not in MAY_GROUP]
    if unknown or len(set(names)) < len(names):
        expected = ",".join(MAY_GROUP)
        raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected some of {expected}, once each")
    return names


def _ending_in(endings: Sequence[str]) -> Callable[[str], str]:
    def checked(text: str) -> str:
        fault = ending_fault(file(text), endings)
        if fault:
            raise argparse.ArgumentTypeError(f"{text[:80]!r}, {fault}")
        return text

    return checked
