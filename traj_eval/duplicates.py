"""Trajectories that are twice in a file."""

from __future__ import annotations

from drift_core.problems import Problem, escaped
from traj_eval.chunks import Chunk


class Identifiers:
    """The trajectories of one file so far: a hash and a line of each.

    Two trajectories are the same if id, model, task and condition are.

    Args:
        file: path or name for messages.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._lines: dict[int, int] = {}

    def add(self, chunk: Chunk) -> list[Problem]:
        """Add the trajectories of a chunk, and give those that were there before."""
        if chunk.layout is None:
            return []
        named = chunk.layout.trajectories
        whole = zip(named["id"], named["model"], named["task"], named["condition"], strict=True)
        hashes = list(map(hash, whole))
        fresh = dict(zip(hashes, chunk.lines, strict=True))
        if len(fresh) == len(hashes) and self._lines.keys().isdisjoint(fresh):
            self._lines.update(fresh)
            return []
        problems = []
        for key, identifier, line in zip(hashes, named["id"], chunk.lines, strict=True):
            first = self._lines.setdefault(key, line)
            if first != line:
                place = "item" if self._file.startswith("<") else "line"
                message = f"is there already, in {place} {first}; ids are unique per model, task"
                message += " and condition"
                problems.append(
                    Problem(
                        "duplicate_id",
                        self._file,
                        line,
                        identifier,
                        "id",
                        escaped(identifier),
                        message,
                    )
                )
        return problems
