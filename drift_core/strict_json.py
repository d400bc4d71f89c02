"""JSON without the liberties of the standard parser.

`json.loads` lets the last of two equal keys win, accepts NaN, and gives back text that
no UTF-8 file can hold. Here each of these is an error with a code.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from drift_core.problems import escaped

MAX_DEPTH = 64
INT32_MAX = 2**31 - 1
_ONE_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class StrictJsonError(ValueError):
    """A text is not strict JSON.

    Attributes:
        code: `json_invalid`, `json_duplicate_key`, `json_number` or `json_depth`.
        pairs: for a duplicate key, the keys and values of its object.
    """

    def __init__(self, code: str, message: str, pairs: Sequence[tuple[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.pairs = pairs


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise StrictJsonError("json_duplicate_key", f"duplicate key {escaped(key)}", pairs)
        found[key] = value
    return found


def _no_constant(text: str) -> NoReturn:
    raise StrictJsonError("json_number", f"{text} is not a JSON number")


def _clipped(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}… ({len(text)} characters)"


def _bounded_int(text: str, bits: int) -> int:
    # Digits are counted first: Python refuses to convert very long ones.
    if len(text) > 20 or not -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1):
        raise StrictJsonError("json_number", f"integer {_clipped(text)} is beyond {bits} bits")
    return int(text)


def _finite_float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        message = f"number {_clipped(text)} is beyond double precision"
        raise StrictJsonError("json_number", message)
    return number


def _depth(text: str) -> int:
    """Deepest nesting of brackets outside of strings."""
    deepest = depth = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def loads(text: str, *, int_bits: int = 32) -> Any:
    """Parse strict JSON.

    Args:
        text: one JSON document.
        int_bits: what integers have to fit in, at most 64.

    Returns:
        The decoded value; integers lie within `int_bits` bits, floats are finite, all text can be
        written as UTF-8.

    Raises:
        StrictJsonError: not JSON, a duplicate key, NaN or Infinity, a number too large,
            nesting deeper than 64, or an unpaired surrogate.

    Example:
        >>> loads('[{"step": 1}]')
        [{'step': 1}]
        >>> loads('{"a": 1, "a": 2}')
        Traceback (most recent call last):
        ...
        drift_core.strict_json.StrictJsonError: duplicate key 'a'
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise StrictJsonError("json_depth", f"nested deeper than {MAX_DEPTH} levels")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_int=partial(_bounded_int, bits=int_bits),
            parse_float=_finite_float,
        )
    except json.JSONDecodeError as error:
        raise StrictJsonError("json_invalid", f"not JSON: {error}") from None
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise StrictJsonError("json_invalid", "an unpaired surrogate (\\ud800-\\udfff)") from None
    return value


def dumps(value: Any, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """Write strict JSON: no NaN or Infinity.

    Args:
        value: what to write.
        indent: spaces a level; None for one line.
        ascii_only: whether to escape everything else, for streams that are not UTF-8.

    Raises:
        ValueError: a float is not finite.

    Example:
        >>> dumps({"f1": 0.5, "text": "naïve"})
        '{"f1": 0.5, "text": "naïve"}'
    """
    if indent is None and not ascii_only:
        return _ONE_LINE.encode(value)
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent)
