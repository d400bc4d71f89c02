"""Everything that one evaluation gives, as a mapping and as strict JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from drift_core.files import replacing
from drift_core.problems import InvalidInput, Problem
from drift_core.strict_json import dumps


class Record(Mapping[str, Any]):
    """A frozen dataclass that can be read like the dict it writes: `found["score"]`."""

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())


@dataclass(frozen=True, eq=False)
class Results(Record):
    """One evaluation.

    Attributes:
        aggregate: means over all trajectories, with `n`, `defined`, `intervals` and `regimes`.
        groups: the same for each group, after the fields that name it.
        trajectories: one row a trajectory; empty if they are kept elsewhere.
        signature: what made these numbers: scorer, input_sha256, n, seed, options, notes.
    """

    aggregate: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]
    trajectories: Sequence[Mapping[str, Any]] = field(repr=False)
    signature: Mapping[str, Any]

    def to_json(self) -> str:
        """Give everything as strict JSON."""
        return "".join(self._pieces(map(dumps, self.trajectories)))

    def write(self, path: str | os.PathLike[str], row_lines: Iterator[str] | None = None) -> None:
        """Write strict JSON, whole or not at all; makes the parent folder.

        Args:
            path: the file.
            row_lines: the JSON of each row, if the rows are not in memory.

        Raises:
            OSError: the file cannot be written.
        """
        rows = map(dumps, self.trajectories) if row_lines is None else row_lines
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as out:
            out.writelines(self._pieces(rows))

    def _pieces(self, row_lines: Iterator[str]) -> Iterator[str]:
        yield f'{{\n  "aggregate": {_indented(self.aggregate)},\n'
        yield f'  "groups": {_indented(self.groups)},\n  "trajectories": ['
        separator = "\n    "
        for line in row_lines:
            yield separator + line
            separator = ",\n    "
        end = "\n  ]" if separator[0] == "," else "]"
        yield f'{end},\n  "signature": {_indented(self.signature)}\n}}\n'


def _indented(value: Any) -> str:
    return dumps(value, indent=2).replace("\n", "\n  ")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a results file for what it says of groups.

    Raises:
        InvalidInput: it is not there, not JSON, or not the results of an evaluation.
    """

    def wrong(message: str) -> InvalidInput:
        return InvalidInput([Problem.of_file("results", path, message)])

    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise wrong("is not there; expected what `traj_eval run --output` writes") from None
    except ValueError as error:
        raise wrong(
            f"is not JSON: {error}; expected what `traj_eval run --output` writes"
        ) from None
    expected = [one.name for one in fields(Results)]
    if not isinstance(found, dict) or not found.keys() >= set(expected):
        raise wrong(f"is no results file; expected an object with {', '.join(expected)}")
    return found
