"""The arguments of the commands, and which function each command runs."""

from __future__ import annotations

import argparse

from drift_core import __version__
from drift_gauge import commands
from drift_gauge.constitution import VARIABLE
from drift_gauge.retrievers import EMBEDDED, SHIPPED


def all_commands() -> argparse.ArgumentParser:
    """Give the parser of `python -m drift_gauge`."""
    top = argparse.ArgumentParser(
        prog="python -m drift_gauge", description="Is it still no worse than what was blessed?"
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    names = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    measured, log = ("golden", "baseline", "structure"), ("log",)
    for name, help_text, add, reads in (
        ("measure", "read the gauge: exit code 0 in band, 3 out of band", _measure, measured),
        (
            "effectors",
            "read the effector gauge of a ledger: 0 in band, 3 out of band",
            _effectors,
            ("ledger", "baseline"),
        ),
        ("golden", "ask the golden set and show every query", _golden, measured),
        ("bless", "write measured metrics into a baseline", _bless, ("golden", "structure")),
        ("history", "show the readings of a log", _history, log),
        ("plot", "draw the readings of a log", _plot, log),
        ("calibrate", "say what Θ the readings of a log would give", _calibrate, log),
        ("gate", "decide on a change: exit code 0 open, 3 closed", _gate, measured),
        ("demo", "watch a corpus decay, and hands reach further", _demo, ()),
    ):
        parser = names.add_parser(name, help=help_text, description=help_text)
        add(parser)
        parser.set_defaults(run=getattr(commands, name), reads=reads)
    return top


def usage_fault(args: argparse.Namespace) -> str | None:
    """Say which argument the given ones need besides, or None if they are enough."""
    if "retriever" not in args or args.baseline:
        return None
    if args.command == "bless":
        return (
            "bless writes only a baseline that is named: add --baseline FILE (in a clone, for the "
            "one that ships, --baseline drift_gauge/golden/baseline.json)"
        )
    if args.golden:
        return "a golden set of your own needs a baseline of its own: add --baseline FILE"
    if args.retriever not in SHIPPED:
        return "a retriever of your own needs a baseline of its own: add --baseline FILE"
    return None


def _measured(parser: argparse.ArgumentParser) -> None:
    """What is measured, and against what."""
    parser.add_argument(
        "--retriever",
        type=_retriever,
        default=EMBEDDED,
        metavar="NAME",
        help=f"{', '.join(SHIPPED)}, or module:function (default: {EMBEDDED})",
    )
    parser.add_argument("--corpus", metavar="DIR", help="documents (default: those of the package)")
    parser.add_argument(
        "--golden", metavar="FILE", help="golden set (default: the package's); needs --baseline"
    )
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="baseline (default: the package's for the retriever; bless has no default)",
    )
    parser.add_argument(
        "--structure",
        metavar="FILE",
        help="JSON object with frustration and min_conductance, or one of them",
    )


def _live(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--constitution",
        metavar="FILE",
        help=f"the live constitution (default: ${VARIABLE}, else the fixture of the golden set)",
    )
    parser.add_argument("--log", metavar="FILE", help="append the reading to this log")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _measure(parser: argparse.ArgumentParser) -> None:
    _measured(parser)
    _live(parser)
    _json(parser)


def _gate(parser: argparse.ArgumentParser) -> None:
    _measure(parser)
    parser.add_argument("--approved", action="store_true", help="a person approved the change")


def _golden(parser: argparse.ArgumentParser) -> None:
    _measured(parser)
    _json(parser)


def _bless(parser: argparse.ArgumentParser) -> None:
    _measured(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    parser.add_argument("--by", metavar="NAME", help="who blesses (default: the user)")


def _effectors(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ledger", metavar="LEDGER", help="JSON Lines file of proposed effects")
    parser.add_argument("--last", type=_positive, metavar="N", help="only the last N proposals")
    parser.add_argument(
        "--baseline", metavar="FILE", help="baseline with the anchor (default: the package's)"
    )
    _json(parser)


def _log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG", help="log that `measure --log` writes")


def _history(parser: argparse.ArgumentParser) -> None:
    _log(parser)
    _json(parser)


def _plot(parser: argparse.ArgumentParser) -> None:
    _log(parser)
    parser.add_argument(
        "--output", default="drift.png", metavar="FILE", help="picture (default: drift.png)"
    )


def _calibrate(parser: argparse.ArgumentParser) -> None:
    _log(parser)
    parser.add_argument(
        "--quantile", type=_share, default=0.95, help="of the observed D, 0 to 1 (default: 0.95)"
    )
    _json(parser)


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        default="drift-gauge-demo",
        metavar="DIR",
        help="folder to make for logs and picture (default: drift-gauge-demo)",
    )


def _retriever(text: str) -> str:
    module, _, function = text.partition(":")
    if text not in SHIPPED and not (module and function):
        known = ", ".join(SHIPPED)
        raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected {known} or module:function")
    return text


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected a whole number ≥ 1")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected a number from 0 to 1")
    return value
