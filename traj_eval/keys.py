"""Lines of JSON one by one, with every fault named; and whether a key is twice in an object.

Parsers let the last of two equal keys win and do not say so. Counting the keys of a text and those
that arrived tells it at a hundredth of the price of a second look at every object.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from drift_core.problems import Problem, escaped
from drift_core.strict_json import StrictJsonError, loads

_COLON, _QUOTE, _BACKSLASH = b':"\\'
_BLANKS = tuple(b" \t\r")


def are_unique(lines: list[bytes], n_keys: int) -> bool:
    """Tell whether the objects of some lines have no key twice, and no key that did not arrive.

    In JSON a quotation mark and a colon with nothing but white space between them end a key; inside
    of a text the mark has a backslash before it.

    Args:
        lines: lines of JSON.
        n_keys: how many keys their objects have, once parsed.
    """
    data = b"".join(lines)
    return _at_most(data) == n_keys or _n_keys(data) == n_keys


def _at_most(data: bytes) -> int:
    """Count colons after a quotation mark or less: as many as there are keys, or more."""
    found = 0
    for start in (0, 1):
        pairs = np.frombuffer(data, "<u2", (len(data) - start) // 2, start)
        found += int(np.count_nonzero(pairs - np.uint16(_COLON << 8) <= _QUOTE))
    return found


def _n_keys(data: bytes) -> int:
    """Count the keys of lines of JSON."""
    text = np.frombuffer(data, np.uint8)
    at = np.flatnonzero(text == _COLON) - 1
    blank = np.isin(text[at], _BLANKS)
    while blank.any():
        at = at - blank
        blank = np.isin(text[at], _BLANKS)
    return int(np.count_nonzero((text[at] == _QUOTE) & (text[at - 1] != _BACKSLASH)))


def parse(line: bytes, file: str, number: int) -> tuple[Any, Problem | None]:
    """Parse one line strictly.

    Args:
        line: the bytes of the line.
        file: path for messages.
        number: number of the line.

    Returns:
        The value and None, or None and a problem.
    """
    try:
        text = line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        what = f"byte 0x{line[error.start]:02x} at character {len(line[: error.start]) + 1}"
        message = f"is not UTF-8: {what}; save the file as UTF-8"
        return None, Problem("not_utf8", file, number, None, None, None, message)
    try:
        return loads(text), None
    except StrictJsonError as error:
        message = _hint(text, error)
        return None, Problem(error.code, file, number, _identifier(error), None, None, message)


def _identifier(error: StrictJsonError) -> str | None:
    found = next((value for key, value in error.pairs if key == "id"), None)
    return found if isinstance(found, str) else None


def _hint(text: str, error: StrictJsonError) -> str:
    message = str(error)
    if error.code != "json_invalid":
        return message
    # The parser counts lines within this one; where it stands in the file is said already.
    message = re.sub(r"(?: at)?: line 1 column (\d+) \(char \d+\)", r" at character \1", message)
    stripped = text.strip()
    if stripped.startswith("{") and not stripped.endswith("}"):
        message += "; the object does not end on its line: expected one object per line"
    return f"{message} in {escaped(stripped, 60)}"
