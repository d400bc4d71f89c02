"""Columns → one number a trajectory and metric. The definitions stand in `traj_eval.metrics`."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traj_eval.columns import Columns, Floats
from traj_eval.runs import UNDECIDED, Bools, Codes, Ints, Runs, convergence_index
from traj_eval.votes import VOTES, Ballot

WEIGHTS = (0.3, 0.4, 0.3)
OSCILLATION_FLIP_RATE = 0.5
RATIONALIZATION_EARLY_FACTOR = 0.75
RATIONALIZATION_ACTIVITY = 0.5
REGIMES = ("genuine", "rationalization", "oscillation", "undecided")


@dataclass(frozen=True)
class Measures:
    """What was measured of n trajectories.

    Attributes:
        values: metric → n numbers, NaN where a trajectory has none.
        final: n codes of the final verdicts, -1 for undecided.
        votes: kind of vote → n codes, -1 where no step is decided.
        regime: n positions in `REGIMES`.
    """

    values: dict[str, Floats]
    final: Codes
    votes: dict[str, Codes]
    regime: npt.NDArray[np.int8]


def measure(
    columns: Columns,
    *,
    weights: tuple[float, float, float] = WEIGHTS,
    edits: bool = False,
) -> Measures:
    """Measure trajectories.

    Args:
        columns: n trajectories, at least one.
        weights: of early factor, post-change rate and length growth in the additive score.
        edits: whether a written answer that is changed again is not committed.
    """
    blocks = list(columns.blocks())
    if len(blocks) == 1:
        return _measure(columns, weights, edits)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # numpy computes side by side
        parts = list(pool.map(lambda block: _measure(block, weights, edits), blocks))
    first = parts[0]
    return Measures(
        {name: np.concatenate([p.values[name] for p in parts]) for name in first.values},
        np.concatenate([p.final for p in parts]),
        {kind: np.concatenate([p.votes[kind] for p in parts]) for kind in first.votes},
        np.concatenate([p.regime for p in parts]),
    )


def _measure(c: Columns, weights: tuple[float, float, float], edits: bool) -> Measures:
    last = c.offsets[1:] - 1
    final = c.verdict[last]
    runs = Runs.of(c.verdict, c.offsets)
    decided = runs.decided()
    converged = convergence_index(decided, final)
    rate = _flip_rate(decided)
    values = {
        "verdict_convergence_step": _at(c.step, c.offsets[:-1] + converged, converged >= 0),
        "flip_rate": rate,
        "step_consistency": 1 - rate,
        "longest_stable_run": _longest_run(runs),
        **_components(c, converged, weights),
        **_clocks(c, converged, edits),
        **_right(c, decided, final),
    }
    ballot = Ballot.of(decided, c.lengths)
    values["temporal_entropy"] = ballot.entropy()
    votes = {kind: ballot.winner(kind) for kind in VOTES}
    for kind, winner in votes.items():
        values[f"temporal_vote_{kind}"] = _where(c.gold >= 0, winner == c.gold)
    return Measures(values, final, votes, _regime(values))


def _where(defined: Bools, values: npt.NDArray[np.generic]) -> Floats:
    return np.where(defined, values, np.nan)


def _at(values: npt.NDArray[np.generic], places: Ints, defined: Bools) -> Floats:
    return _where(defined, values[np.where(defined, places, 0)])


def _flip_rate(decided: Runs) -> Floats:
    flips = np.bincount(decided.owner[decided.changes()], minlength=decided.n)
    steps = np.bincount(decided.owner, weights=decided.length, minlength=decided.n)
    return flips / np.maximum(steps - 1, 1)


def _longest_run(runs: Runs) -> Floats:
    firsts = np.flatnonzero(runs.firsts())
    lengths = np.where(runs.code != UNDECIDED, runs.length, 0)
    return np.maximum.reduceat(lengths, firsts).astype(np.float64)


def _components(
    c: Columns, converged: Ints, weights: tuple[float, float, float]
) -> dict[str, Floats]:
    has = converged >= 0
    early = 1 - converged / c.lengths
    up_to = np.cumsum(c.changed, dtype=np.int32)
    changes = up_to[c.offsets[1:] - 1] - up_to[c.offsets[:-1] + np.maximum(converged, 0)]
    post = changes / np.maximum(c.lengths - converged - 1, 1)
    start, end = c.text_length[:, 0], c.text_length[:, 1]
    growth = np.maximum(0.0, (end - start) / np.maximum(1, start))
    clipped = np.minimum(growth, 1.0)
    w_early, w_post, w_growth = weights
    found = {
        "early_factor": early,
        "post_change_rate": post,
        "length_growth": growth,
        "score": w_early * early + w_post * post + w_growth * clipped,
        "gated_score": early * (post + clipped) / 2,
    }
    return {name: _where(has, values) for name, values in found.items()}


def _clocks(c: Columns, converged: Ints, edits: bool) -> dict[str, Floats]:
    committed_at = _commitment_index(c, edits)
    commitment = _at(c.step, c.offsets[:-1] + committed_at, committed_at >= 0)
    stability = _at(c.step, c.offsets[:-1] + converged, converged >= 0)
    written = _at(c.committed, c.offsets[:-1] + converged, converged >= 0)
    return {
        "answer_commitment_step": commitment,
        "stability_commitment_lag": commitment - stability,
        "unwritten_reasoning_at_convergence": 1 - written,
    }


def _commitment_index(c: Columns, edits: bool) -> Ints:
    """Give the index from which the answer stays as asked to the end; -1 if it never does."""
    starts, last = c.offsets[:-1], c.offsets[1:] - 1
    known = c.answer_masked[starts] >= 0
    if edits:
        known &= c.answer[last] >= 0
    if not known.any():
        return np.full(c.n, -1, np.int64)
    unsettled = c.answer_masked == 1
    if edits:
        unsettled |= c.answer != np.repeat(c.answer[last], c.lengths)
    places = np.flatnonzero(unsettled)
    before = np.searchsorted(places, c.offsets[1:]) - 1  # the last one, if there is any
    found = np.maximum(np.append(places, -1)[before] + 1, starts)
    return np.where(known & (found <= last), found - starts, -1)


def _right(c: Columns, decided: Runs, final: Codes) -> dict[str, Floats]:
    has_gold, is_decided, right = c.gold >= 0, final != UNDECIDED, final == c.gold
    hits = decided.owner[decided.code == c.gold[decided.owner]]
    ever = np.bincount(hits, minlength=c.n) > 0
    return {
        "correct": _where(has_gold, right),
        "decided": is_decided.astype(np.float64),
        "correct_if_decided": _where(has_gold & is_decided, right),
        "ever_correct": _where(has_gold, ever),
        "lost_correct": _where(has_gold, ever & ~right),
    }


def _regime(values: dict[str, Floats]) -> npt.NDArray[np.int8]:
    activity = values["post_change_rate"] + values["length_growth"]
    early = values["early_factor"] >= RATIONALIZATION_EARLY_FACTOR
    return np.select(
        [
            np.isnan(values["verdict_convergence_step"]),
            values["flip_rate"] >= OSCILLATION_FLIP_RATE,
            early & (activity >= RATIONALIZATION_ACTIVITY),
        ],
        [np.int8(REGIMES.index(name)) for name in ("undecided", "oscillation", "rationalization")],
        np.int8(REGIMES.index("genuine")),
    )
