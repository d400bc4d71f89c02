"""Texts without verdicts → trajectories with them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from drift_core.files import replacing
from drift_core.problems import InvalidInput, Problem
from drift_core.strict_json import dumps
from traj_eval import checks, io


@dataclass(frozen=True)
class Filled:
    """What was done.

    Attributes:
        n: number of trajectories.
        steps: number of steps whose text was looked at.
        decided: number of these in which a verdict was found.
        kept: number of steps whose verdict was there already and was kept.
    """

    n: int
    steps: int
    decided: int
    kept: int


def fill(
    path: str,
    output: str | os.PathLike[str],
    extract: Callable[[str], str | None],
    *,
    overwrite: bool = False,
    on_bytes: io.OnBytes | None = None,
) -> Filled:
    """Extract a verdict from the text of every step that has none, and write JSON Lines.

    Args:
        path: trajectories whose steps may lack `verdict`.
        output: the file to write; compressed if it ends in `.gz`.
        extract: takes a text, gives a verdict or None.
        overwrite: whether to replace verdicts that are there.
        on_bytes: called with the number of bytes whenever some were read.

    Raises:
        InvalidInput: with all problems; nothing is written then.
    """
    problems: list[Problem] = []
    counts = [0, 0, 0, 0]
    with replacing(output) as temporary:
        opened: Any = gzip.open if str(output).endswith(".gz") else open
        with opened(temporary, "wt", encoding="utf-8", newline="\n") as out:
            for number, value in io.raw_values(path, on_bytes):
                found = [value] if isinstance(value, Problem) else []
                if not found:
                    looked = _fill(value, extract, overwrite)
                    found = checks.problems(value, path, number)
                    counts = [a + b for a, b in zip(counts, (1, *looked), strict=True)]
                problems += found
                if not problems:
                    _write(out, value)
        if not problems and not counts[0]:
            problems.append(io.no_trajectories(path))
        if problems:
            raise InvalidInput(problems)
    return Filled(*counts)


def _fill(
    value: Any, extract: Callable[[str], str | None], overwrite: bool
) -> tuple[int, int, int]:
    """Fill in the verdicts of one trajectory; count steps looked at, decided, and left alone."""
    steps = value.get("steps") if isinstance(value, dict) else None
    looked = decided = kept = 0
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict) or not isinstance(step.get("text"), str):
            continue
        if overwrite or step.get("verdict") is None:
            step["verdict"] = extract(step["text"])
            looked += 1
            decided += step["verdict"] is not None
        else:
            kept += 1
    return looked, decided, kept


def _write(out: IO[str], value: Any) -> None:
    out.write(dumps(value) + "\n")
