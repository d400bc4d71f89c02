"""Arguments that several commands have."""

from __future__ import annotations

import argparse
import re

from drift_core.arguments import whole
from drift_onset.limits import MAX_RESAMPLES, MAX_SEED, ON_INVALID


def resampling(parser: argparse.ArgumentParser, fewest: int, default: int) -> None:
    """Add `--seed` and `--resamples` with the fewest that are allowed and a default."""
    parser.add_argument(
        "--seed", type=whole(0, MAX_SEED), default=0, help="seed of the resampling (default: 0)"
    )
    parser.add_argument(
        "--resamples",
        type=whole(fewest, MAX_RESAMPLES),
        default=default,
        help=f"bootstrap resamples for the intervals, at most {MAX_RESAMPLES} (default: {default})",
    )


def on_invalid(parser: argparse.ArgumentParser, told: str) -> None:
    """Add `--on-invalid`; `told` is its help."""
    parser.add_argument("--on-invalid", choices=ON_INVALID, default=ON_INVALID[0], help=told)


def commit(text: str) -> str:
    """Read the name of a commit."""
    if not re.fullmatch("[0-9a-f]{40}", text):
        raise argparse.ArgumentTypeError(f"{text[:50]!r}, expected 40 hexadecimal digits")
    return text
