"""The command `python -m drift_gauge`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from drift_core.console import guarded
from drift_gauge import arguments, measuring


def main(argv: Sequence[str] | None = None) -> int:
    """Run `python -m drift_gauge`.

    Args:
        argv: arguments, without the name of the command; those of the process if None.

    Returns:
        The exit code: 0 fine, 1 problems found, 3 out of band or gate closed. Wrong usage exits
        with 2.
    """
    parser = arguments.all_commands()
    args = parser.parse_args(argv)
    if fault := arguments.usage_fault(args):
        parser.error(fault)
    return guarded(_run, args)


def _run(args: argparse.Namespace) -> int:
    measuring.check_files(args)
    code: int = args.run(args)
    return code
