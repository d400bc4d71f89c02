"""What is wrong with an input, and where."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, order=True)
class Problem:
    """One fault of an input.

    Attributes:
        code: the check that failed, in snake case.
        file: path of the file, or `<predictions>` and the like for data in memory.
        line: line of the file, counted from 1; for data in memory the item, counted from 0;
            None where the whole file is meant.
        scenario_id: identifier of the row, None where there is none.
        column: column of the cell, None where the row or file is meant.
        value: what came, escaped so that spaces and look-alikes can be seen; None if nothing.
        message: what came and what was expected.
    """

    code: str
    file: str
    line: int | None
    scenario_id: str | None
    column: str | None
    value: str | None
    message: str

    @classmethod
    def of_file(cls, code: str, file: str | os.PathLike[str], message: str) -> Problem:
        """Give a fault that is no single row's."""
        return cls(code, os.fspath(file), None, None, None, None, message)

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return asdict(self)

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f" item {self.line}" if self.file.startswith("<") else f":{self.line}"
        scenario = self.scenario_id
        if scenario and (scenario != scenario.strip() or len(scenario) > 60):
            scenario = escaped(scenario, 60)
        parts = [place, scenario, self.column, self.message]
        return printable(": ".join(part for part in parts if part) + f" [{self.code}]")


class InvalidInput(ValueError):
    """An input has problems; all of them are in `problems`.

    Args:
        problems: at least one problem.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = "\n".join(str(problem) for problem in self.problems)
        count = len(self.problems)
        super().__init__(f"{count} problem{'' if count == 1 else 's'} found\n{shown}")


def escaped(value: object, limit: int = 80) -> str:
    r"""Show a value so that what looks like nothing can be seen.

    Args:
        value: anything; text is quoted, and every character outside printable ASCII is
            written as an escape.
        limit: longest text shown, in characters; the rest is counted.

    Example:
        >>> escaped("full_repair\u200b")
        "'full_repair\\u200b'"
    """
    if isinstance(value, str) and len(value) > limit:
        shown = ascii(value[: limit - 20])
        return f"{shown[: limit - 20]}… ({len(value)} characters)"
    shown = ascii(value)
    if len(shown) <= limit:
        return shown
    return f"{shown[: limit - 20]}… ({len(shown)} characters)"


def printable(text: str) -> str:
    """Escape what a terminal would act on: control and direction characters, line ends."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
