"""Files that are cut off or in another form: one problem for the file, not one a line."""

from __future__ import annotations

import gzip
import zlib

from drift_core.problems import Problem

GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)
WHOLE_FILE = ("not_json_lines", "utf_16")
"""Codes of problems after which nothing more is said of a file."""


def gzip_problem(path: str, error: Exception) -> Problem:
    """Say what is wrong with a compressed file, and after which line: by reading it once more."""
    whole = 0
    try:
        with gzip.open(path) as file:
            for _ in file:  # a line that breaks off is none
                whole += 1
    except GZIP_ERRORS:
        pass
    if isinstance(error, EOFError):
        message = "the compressed file ends too early: it was cut off"
    else:
        message = f"is not a sound gzip file ({error})"
    after = f" after line {whole}, the last whole one" if whole else ""
    message += f"{after}; copy or make it again"
    return Problem("gzip", path, whole or None, None, None, None, message)


def is_utf16(line: bytes) -> bool:
    """Tell whether a file begins with two or four bytes a character, which no JSON Lines do."""
    return line.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in line[:4]


def utf16_problem(path: str) -> Problem:
    """Say that a file has two or four bytes a character."""
    message = "is UTF-16 or UTF-32; save the file as UTF-8"
    return Problem.of_file("utf_16", path, message)


def is_pretty(lines: list[bytes]) -> bool:
    """Tell whether a file opens a bracket on its first line and goes on on the next."""
    filled = [line.strip() for line in lines[:10] if not line.isspace()]
    return len(filled) > 1 and filled[0] in (b"{", b"[", b"[{")


def pretty_problem(path: str) -> Problem:
    """Say that a file is one JSON document over several lines."""
    message = (
        "holds JSON over several lines; expected one object per line (`jq -c . FILE` writes it so)"
    )
    return Problem("not_json_lines", path, 1, None, None, None, message)
