"""The ledger of proposed effects: JSON Lines, append-only, on disk before `append` returns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_gauge import json_lines
from drift_gauge.effector_drift import EffectClass


class EffectLedger:
    """Proposals in the order in which they were made.

    A row is a JSON object whose `class` is `sensing`, `reversible` or `irreversible` (or 0, 1, 2);
    its other keys are the caller's.

    Args:
        path: the file; it need not be there yet.

    Example:
        >>> import tempfile
        >>> ledger = EffectLedger(tempfile.mkdtemp() + "/ledger.jsonl")
        >>> ledger.append({"effect": "read_calendar", "class": EffectClass.SENSING})
        >>> ledger.append(EffectClass.REVERSIBLE)
        >>> [row["class"].label for row in ledger.all()]
        ['sensing', 'reversible']
    """

    def __init__(self, path: json_lines.Path) -> None:
        self.path = path

    def append(self, proposal: Mapping[str, Any] | int | str) -> None:
        """Append one proposal and wait until the disk has it.

        Args:
            proposal: a row, or its class alone.

        Raises:
            ValueError: it has no class, or what JSON has no form for.
            OSError: the file cannot be written.
        """
        row = dict(proposal) if isinstance(proposal, Mapping) else {"class": proposal}
        if "class" not in row:
            raise ValueError(f"Expected a proposal with a `class` but got {escaped(row)}")
        json_lines.append(self.path, {**row, "class": EffectClass.parse(row["class"]).label})

    def all(self) -> list[dict[str, Any]]:
        """Give every proposal; warns of torn lines, which are skipped.

        Raises:
            InvalidInput: a line is not JSON, or its class is missing or unknown; all are named.
            OSError: the file cannot be read; one that is not there yet is empty.
        """
        rows, torn = self.read()
        for problem in torn:
            warnings.warn(str(problem), RuntimeWarning, stacklevel=2)
        return rows

    def read(self) -> tuple[list[dict[str, Any]], list[Problem]]:
        """Give every proposal, and a problem for every torn line; see `all`."""
        if not os.path.exists(self.path):
            return [], []
        lines, torn = json_lines.read(self.path)
        rows, problems = [], []
        for number, row in lines:
            try:
                rows.append({**row, "class": EffectClass.parse(row.get("class"))})
            except ValueError as error:
                value = escaped(row.get("class"))
                problems.append(
                    Problem("class", str(self.path), number, None, "class", value, str(error))
                )
        if problems:
            raise InvalidInput(problems)
        return rows, torn
