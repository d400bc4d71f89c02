"""Verdict distributions over time: votes of all steps, and their entropy.

Wang et al. (2025), Time Is a Feature: Exploiting Temporal Dynamics in Diffusion Language Models,
arXiv:2508.09138, let all denoising steps vote for the answer, with fixed, linearly or exponentially
growing weights, and take the entropy of the answers as a measure of their stability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traj_eval.runs import UNDECIDED, Codes, Ints, Runs

Floats = npt.NDArray[np.float64]

ALPHA = 5.0
_FEW = 16


def _fixed(start: Ints, end: Ints, n: Ints) -> Floats:
    return (end - start).astype(np.float64)


def _linear(start: Ints, end: Ints, n: Ints) -> Floats:
    """Sum i + 1 over a run; the common factor 1 / n is left out, so that sums are exact."""
    return (end * (end + 1) - start * (start + 1)) / 2


def _exponential(start: Ints, end: Ints, n: Ints) -> Floats:
    """Sum exp(ALPHA · (i + 1) / n) over a run, a geometric series; common factors are left out."""
    rate = ALPHA / n
    found: Floats = np.exp(rate * end) - np.exp(rate * start)
    return found


VOTES: dict[str, Callable[[Ints, Ints, Ints], Floats]] = {
    "fixed": _fixed,
    "linear": _linear,
    "exponential": _exponential,
}


@dataclass(frozen=True)
class Ballot:
    """The verdicts of n trajectories, each numbered from 0 up to k at most.

    Attributes:
        decided: the decided runs.
        n_steps: n numbers of steps, undecided ones included.
        candidate: numbers of the verdicts of the runs.
        code: n × k codes of the candidates, -1 where there are fewer.
    """

    decided: Runs
    n_steps: Ints
    candidate: Ints
    code: Codes

    @staticmethod
    def of(decided: Runs, n_steps: Ints) -> Ballot:
        """Number the verdicts within each trajectory, or use their codes where these are few."""
        n, size = decided.n, int(decided.code.max(initial=0)) + 1
        if size <= _FEW:
            code = np.broadcast_to(np.arange(size, dtype=np.int32), (n, size))
            return Ballot(decided, n_steps, decided.code.astype(np.int64), code)
        keys, pair = np.unique(decided.owner * size + decided.code, return_inverse=True)
        owner = keys // size
        number = np.arange(len(keys)) - np.searchsorted(owner, owner)
        code = np.full((n, int(number.max()) + 1), UNDECIDED, np.int32)
        code[owner, number] = keys % size
        return Ballot(decided, n_steps, number[pair], code)

    def _sums(self, weights: Floats) -> Floats:
        """Sum the weights of the runs: n × k."""
        k = self.code.shape[1]
        cells = self.decided.owner * k + self.candidate
        sums = np.bincount(cells, weights=weights, minlength=self.code.size)
        return np.asarray(sums, np.float64).reshape(-1, k)

    def winner(self, kind: str) -> Codes:
        """Give the verdict with the most weight; of equal ones, the one that was there last.

        Args:
            kind: `fixed`, `linear` or `exponential`.

        Returns:
            n codes, -1 where no step is decided.
        """
        runs = self.decided
        end = runs.start + runs.length
        total = self._sums(VOTES[kind](runs.start, end, self.n_steps[runs.owner]))
        best = total.max(axis=1)
        leads = total == best[:, None]
        place = leads.argmax(axis=1)
        rows = np.arange(runs.n)
        if np.count_nonzero(leads) > runs.n:
            latest = np.zeros(total.shape, np.int64)
            np.maximum.at(latest, (runs.owner, self.candidate), end)
            place = np.where(leads, latest, -1).argmax(axis=1)
        return np.where(best > 0, self.code[rows, place], UNDECIDED)

    def entropy(self) -> Floats:
        """Give the entropy of the verdicts over the decided steps, in nats.

        Returns:
            n numbers: 0 for one verdict, ln k for k equally frequent ones, NaN where no step is
            decided.
        """
        counts = self._sums(self.decided.length.astype(np.float64))
        steps = counts.sum(axis=1)
        found = np.where(steps > 0, 0.0, np.nan)
        # Added up from the rarest verdict on, so that names and neighbours change no last digit.
        for count in np.sort(counts, axis=1).T:
            share = count / np.maximum(steps, 1)
            found -= share * np.log(np.where(share > 0, share, 1))
        return found + 0.0  # no negative zero
