"""The command `python -m traj_eval`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from drift_core.console import guarded
from traj_eval.arguments import parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: arguments; those of the process if None.

    Returns:
        The exit code: 0 fine, 1 problems found. Wrong usage exits with 2.
    """
    args = parser().parse_args(argv)
    return guarded(args.run, args)


if __name__ == "__main__":
    sys.exit(main())
