"""Runs of one verdict: what the verdict metrics are made from.

Trajectories have different lengths; their steps lie end to end, and `offsets` says where each one
starts. A run is a stretch of consecutive recorded steps with one verdict, or with none. There are
far fewer runs than steps, and every metric of verdicts follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

UNDECIDED = -1


@dataclass(frozen=True)
class Runs:
    """The r runs of n trajectories, in order.

    Attributes:
        n: number of trajectories.
        code: r verdicts, -1 for undecided.
        owner: r trajectories that the runs belong to.
        start: r first steps, counted from the first step of the trajectory.
        length: r numbers of steps.
    """

    n: int
    code: Codes
    owner: Ints
    start: Ints
    length: Ints

    @staticmethod
    def of(verdict: Codes, offsets: Ints) -> Runs:
        """Find the runs.

        Args:
            verdict: m codes, -1 for undecided.
            offsets: n + 1 places in `verdict`; every trajectory has at least one step.
        """
        begins = np.empty(len(verdict), np.bool_)
        begins[:1] = True
        np.not_equal(verdict[1:], verdict[:-1], out=begins[1:])
        begins[offsets[:-1]] = True
        at = np.flatnonzero(begins)
        begins[:] = False
        begins[offsets[:-1]] = True
        owner = np.cumsum(begins[at]) - 1
        length = np.empty_like(at)
        np.subtract(at[1:], at[:-1], out=length[:-1])
        length[-1] = len(verdict) - at[-1]
        return Runs(len(offsets) - 1, verdict[at], owner, at - offsets[owner], length)

    def decided(self) -> Runs:
        """Give the runs that have a verdict."""
        kept = np.flatnonzero(self.code != UNDECIDED)
        return Runs(self.n, self.code[kept], self.owner[kept], self.start[kept], self.length[kept])

    def changes(self) -> Bools:
        """Tell, of decided runs, which have another verdict than the one before them."""
        changed = np.zeros(len(self.code), np.bool_)
        changed[1:] = (self.code[1:] != self.code[:-1]) & (self.owner[1:] == self.owner[:-1])
        return changed

    def firsts(self) -> Bools:
        """Tell which runs are the first of their trajectory among these."""
        first = np.ones(len(self.code), np.bool_)
        first[1:] = self.owner[1:] != self.owner[:-1]
        return first


def convergence_index(decided: Runs, final: Codes) -> Ints:
    """Give the index of the first decided step of the last constant run of decided steps.

    Undecided steps are skipped: `None, A, None, A` converges at its first A.

    Args:
        decided: the decided runs.
        final: n verdicts of the last steps, -1 for undecided.

    Returns:
        n indices, counted from 0 in each trajectory; -1 if the last step is undecided.
    """
    places = np.flatnonzero(decided.firsts() | decided.changes())
    owner = decided.owner[places]
    last = np.ones(len(owner), np.bool_)
    np.not_equal(owner[1:], owner[:-1], out=last[:-1])
    found = np.full(decided.n, -1, np.int64)
    found[owner[last]] = decided.start[places[last]]
    found[final == UNDECIDED] = -1
    return found
