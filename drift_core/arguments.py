"""What reads the values of arguments on every command line here."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole(lowest: int, highest: int) -> Callable[[str], int]:
    """Give a reader of whole numbers in a range."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= 20
        if not digits or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(f"{text[:40]!r}, expected {lowest} to {highest}")
        return int(text)

    return read


def file(text: str) -> str:
    """Read the name of a file."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name, expected a file")
    return text
