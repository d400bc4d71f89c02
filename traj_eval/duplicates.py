"""Trajectories that are twice in a file."""

from __future__ import annotations

from array import array
from hashlib import blake2b

import numpy as np

from drift_core.problems import Problem, escaped
from traj_eval.chunks import Chunk


class Identifiers:
    """The trajectories seen so far: identifier, line and a digest of each; they can be merged.

    Two trajectories are the same if id, model, task and condition are.
    """

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._lines = array("q")
        self._digests = array("Q")

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, chunk: Chunk) -> None:
        """Add the trajectories of a chunk."""
        if chunk.layout is None:
            return
        named = chunk.layout.trajectories
        whole = zip(named["id"], named["model"], named["task"], named["condition"], strict=True)
        digests = [blake2b(repr(key).encode(), digest_size=8).digest() for key in whole]
        self._ids += named["id"]
        self._lines.extend(chunk.lines)
        self._digests.frombytes(b"".join(digests))

    def extend(self, other: Identifiers, lines_before: int) -> None:
        """Add what was seen in the next part of the file, before which there are some lines."""
        self._ids += other._ids
        self._lines.extend(line + lines_before for line in other._lines)
        self._digests.extend(other._digests)

    def problems(self, file: str) -> list[Problem]:
        """Give those that were there before.

        Args:
            file: path or name for messages.
        """
        digests = np.frombuffer(self._digests, np.uint64)
        _, first, inverse = np.unique(digests, return_index=True, return_inverse=True)
        if len(first) == len(digests):
            return []
        again = np.ones(len(digests), np.bool_)
        again[first] = False
        places = np.flatnonzero(again).tolist()
        return [self._problem(file, place, int(first[inverse[place]])) for place in places]

    def _problem(self, file: str, place: int, first: int) -> Problem:
        line, identifier = self._lines[place], self._ids[place]
        where = f"{'item' if file.startswith('<') else 'line'} {self._lines[first]}"
        message = f"is there already, in {where}; ids are unique per model, task and condition"
        return Problem("duplicate_id", file, line, identifier, "id", escaped(identifier), message)
