"""Verdict distributions over time: votes of all steps, and their entropy.

Wang et al. (2025), Time Is a Feature: Exploiting Temporal Dynamics in Diffusion Language Models,
arXiv:2508.09138, let all denoising steps vote for the answer, with fixed, linearly or exponentially
growing weights, and take the entropy of the answers as a measure of their stability.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from traj_eval.runs import UNDECIDED, Codes, Ints, Runs

Floats = npt.NDArray[np.float64]

ALPHA = 5.0


def _fixed(start: Ints, end: Ints, n: Ints) -> Floats:
    return (end - start).astype(np.float64)


def _linear(start: Ints, end: Ints, n: Ints) -> Floats:
    """Sum i + 1 over a run; the common factor 1 / n is left out, so that sums are exact."""
    return (end * (end + 1) - start * (start + 1)) / 2


def _exponential(start: Ints, end: Ints, n: Ints) -> Floats:
    """Sum exp(ALPHA · ((i + 1) / n - 1)) over a run: a geometric series."""
    rate = ALPHA / n
    shared = np.exp(rate * (start + 1) - ALPHA)
    return shared * np.expm1(rate * (end - start)) / np.expm1(rate)


VOTES: dict[str, Callable[[Ints, Ints, Ints], Floats]] = {
    "fixed": _fixed,
    "linear": _linear,
    "exponential": _exponential,
}


def _by_verdict(decided: Runs) -> tuple[Ints, Codes, Ints]:
    """Number the pairs of trajectory and verdict: their owners, codes, and the pair of each run."""
    size = int(decided.code.max(initial=0)) + 1
    keys, pair = np.unique(decided.owner * size + decided.code, return_inverse=True)
    return keys // size, (keys % size).astype(np.int32), pair


def vote(decided: Runs, n_steps: Ints, kind: str) -> Codes:
    """Give the verdict with the most weight; of equal ones, the one that was there last.

    Args:
        decided: the decided runs of n trajectories.
        n_steps: n numbers of steps, undecided ones included.
        kind: `fixed`, `linear` or `exponential`.

    Returns:
        n codes, -1 where no step is decided.
    """
    winner = np.full(decided.n, UNDECIDED, np.int32)
    if not len(decided.code):
        return winner
    owner, code, pair = _by_verdict(decided)
    end = decided.start + decided.length
    weights = VOTES[kind](decided.start, end, n_steps[decided.owner])
    total = np.bincount(pair, weights=weights)
    latest = np.zeros(len(owner), np.int64)
    np.maximum.at(latest, pair, end)
    order = np.lexsort((latest, total, owner))
    best = np.append(owner[order][1:] != owner[order][:-1], True)
    winner[owner[order][best]] = code[order][best]
    return winner


def entropy(decided: Runs) -> Floats:
    """Give the entropy of the verdicts over the decided steps, in nats.

    Returns:
        n numbers: 0 for one verdict, ln k for k equally frequent ones, NaN where none is decided.
    """
    steps = np.bincount(decided.owner, weights=decided.length, minlength=decided.n)
    found = np.where(steps > 0, 0.0, np.nan)
    if len(decided.code):
        owner, _, pair = _by_verdict(decided)
        share = np.bincount(pair, weights=decided.length) / steps[owner]
        # Added up from the rarest verdict on, so that names and neighbours change no last digit.
        order = np.lexsort((share, owner))
        owner, share = owner[order], share[order]
        found += np.bincount(owner, weights=-share * np.log(share), minlength=decided.n)
    return found + 0.0  # no negative zero
