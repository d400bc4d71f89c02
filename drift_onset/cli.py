"""The command `reasoning-drift`, and the benchmark's scripts."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from drift_core.problems import InvalidInput, printable
from drift_onset import arguments
from drift_onset.commands import PROBLEMS, print_problems

BROKEN_PIPE = 141  # as of a process that SIGPIPE ended


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
        print_problems(error.problems)
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
    args = arguments.all_commands().parse_args(argv)
    return _guarded(args.run, args)


def script(name: str, argv: Sequence[str] | None = None) -> int:
    """Run one of the benchmark's scripts; see `main`.

    Args:
        name: `score`, `validate` or `baseline`.
        argv: its arguments; those of the process if None.
    """
    args = arguments.one_script(name).parse_args(argv)
    return _guarded(args.run, args)


def entry_point() -> None:
    """Run `reasoning-drift` as a process."""
    sys.exit(main())


if __name__ == "__main__":
    entry_point()
