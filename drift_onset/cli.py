"""The command `reasoning-drift`, and the benchmark's scripts."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from drift_core.console import guarded
from drift_onset import arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run `reasoning-drift`.

    Args:
        argv: arguments, without the name of the command; those of the process if None.

    Returns:
        The exit code: 0 fine, 1 problems found. Wrong usage exits with 2.
    """
    args = arguments.all_commands().parse_args(argv)
    return guarded(args.run, args)


def script(name: str, argv: Sequence[str] | None = None) -> int:
    """Run one of the benchmark's scripts; see `main`.

    Args:
        name: `score`, `validate` or `baseline`.
        argv: its arguments; those of the process if None.
    """
    args = arguments.one_script(name).parse_args(argv)
    return guarded(args.run, args)


def entry_point() -> None:
    """Run `reasoning-drift` as a process."""
    sys.exit(main())


if __name__ == "__main__":
    entry_point()
