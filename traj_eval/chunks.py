"""Files → chunks of valid trajectories, laid out in lists, and everything that is wrong.

A chunk is small, so that what the parser makes of it is still in the processor's cache when it is
laid out, and is gone before the next one is read.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress, islice
from typing import Any, NoReturn

from drift_core.problems import Problem
from traj_eval import canvas, checks, keys
from traj_eval.layout import Layout, Trajectory, is_regular, lay_out


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def standard_loads(line: bytes) -> Any:
    """Parse a line with the standard library, as strictly as orjson."""
    text = line.decode()
    value = _decode(text)
    if "\\u" in text:  # an escape may hold what no UTF-8 file can
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _fastest_loads() -> Callable[[bytes], Any]:
    """Give orjson's parser where it is installed, else the standard library's."""
    try:
        import orjson
    except ImportError:
        return standard_loads
    loads: Callable[[bytes], Any] = orjson.loads
    return loads


_loads = _fastest_loads()

_BAD = (TypeError, KeyError, AttributeError, IndexError, ValueError, RecursionError, OverflowError)
_ITEMS = 256

_Trusted = tuple[Sequence[Trajectory], Layout]


@dataclass(frozen=True)
class Chunk:
    """Some trajectories of a file.

    Attributes:
        trajectories: the valid ones, with what their canvas says filled in.
        layout: the same as lists; None if there is none.
        lines: their lines or items.
        problems: what is wrong with the others.
        blank: number of blank lines.
        n_lines: number of all lines.
    """

    trajectories: Sequence[Trajectory]
    layout: Layout | None
    lines: Sequence[int]
    problems: list[Problem]
    blank: int = 0
    n_lines: int = 0


@contextmanager
def _no_collector() -> Iterator[None]:
    """Keep the cycle collector from looking through millions of short-lived dicts."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def of_lines(lines: list[bytes], first_line: int, file: str) -> Chunk:
    """Parse whole lines of a file.

    Args:
        lines: lines of JSON, with their ends.
        first_line: number of the first one.
        file: path for messages.
    """
    n_lines = len(lines)
    numbers: Sequence[int] = range(first_line, first_line + n_lines)
    if any(map(bytes.isspace, lines)):
        filled = [not line.isspace() for line in lines]
        numbers = list(compress(numbers, filled))
        lines = list(compress(lines, filled))
    blank = n_lines - len(lines)
    if not lines:
        return Chunk([], None, [], [], blank, n_lines)
    with _no_collector():
        fast = _at_once(lines)
    if fast is not None:
        return Chunk(fast[0], fast[1], numbers, [], blank, n_lines)
    parsed = [keys.parse(line, file, number) for line, number in zip(lines, numbers, strict=True)]
    good = [(value, n) for (value, bad), n in zip(parsed, numbers, strict=True) if bad is None]
    problems = [bad for _, bad in parsed if bad is not None]
    checked = of_values([value for value, _ in good], [n for _, n in good], file)
    problems = sorted([*problems, *checked.problems], key=lambda p: p.line or 0)
    return Chunk(checked.trajectories, checked.layout, checked.lines, problems, blank, n_lines)


def _at_once(lines: list[bytes]) -> _Trusted | None:
    """Parse and trust lines that are certainly valid; None if that is not certain."""
    try:
        values = list(map(_loads, lines))
        if not any("tokens" in value for value in values):
            layout = lay_out(values, first_tells=True)  # the keys are counted below
            n_keys = layout.n_fields
            good = is_regular(layout, values)
            found: _Trusted | None = (values, layout) if good else None
        else:
            n_keys = sum(len(value) + sum(map(len, value["steps"])) for value in values)
            only_ints = not any(b"true" in line or b"false" in line for line in lines)
            found = _trusted(values, only_ints)
    except _BAD:
        return None
    return found if found is not None and keys.are_unique(lines, n_keys or 0) else None


def _trusted(values: Sequence[Any], only_ints: bool = False) -> _Trusted | None:
    """Fill in and lay out trajectories that are certainly valid; None if that is not certain."""
    try:
        whole = [
            canvas.derived(value, canvas.tokens_of(value, only_ints=only_ints))
            if value.get("tokens") is not None
            else value
            for value in values
        ]
        layout = lay_out(whole)
        return (whole, layout) if is_regular(layout, whole) else None
    except _BAD:
        return None


def of_values(values: Sequence[Any], numbers: Sequence[int], file: str) -> Chunk:
    """Check parsed trajectories, and lay out the valid ones.

    Args:
        values: what lines or items hold.
        numbers: their lines or items.
        file: path or name for messages.
    """
    fast = _trusted(values)
    if fast is not None:
        return Chunk(fast[0], fast[1], numbers, [])
    problems: list[Problem] = []
    kept: list[Trajectory] = []
    lines: list[int] = []
    for value, number in zip(values, numbers, strict=True):
        found = checks.problems(value, file, number)
        problems += found
        if not found:
            has_canvas = value.get("tokens") is not None
            kept.append(canvas.derived(value) if has_canvas else value)
            lines.append(number)
    return Chunk(kept, lay_out(kept) if kept else None, lines, problems)


def of_items(items: Iterable[Any], file: str, first: int = 0) -> Iterator[Chunk]:
    """Check trajectories in memory, or rows of a table, some at a time.

    Args:
        items: any iterable of mappings.
        file: path or name for messages.
        first: number of the first item.
    """
    rest = iter(items)
    while values := [_plain(item) for item in islice(rest, _ITEMS)]:
        yield of_values(values, range(first, first + len(values)), file)
        first += len(values)


def _plain(item: Any) -> Any:
    """Turn other mappings and sequences into the types that JSON has; dicts stay as they are."""
    if not isinstance(item, Mapping):
        return item
    steps = item.get("steps")
    if type(item) is dict and type(steps) is list and all(type(step) is dict for step in steps):
        return item
    plain = dict(item)
    if isinstance(steps, Sequence) and not isinstance(steps, str):
        plain["steps"] = [dict(s) if isinstance(s, Mapping) else s for s in steps]
    return plain


OnBytes = Callable[[int], None]
