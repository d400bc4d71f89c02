"""What the metrics of several numbers give."""

from __future__ import annotations

from dataclasses import dataclass

from traj_eval.results import Record


@dataclass(frozen=True, eq=False)
class StepConsistency(Record):
    """How steady the verdicts are.

    Attributes:
        step_consistency: 1 - flip rate, from 0 to 1.
        longest_stable_run: most consecutive recorded steps with one verdict; an undecided step ends
            a run. 0 if no step is decided.
    """

    step_consistency: float
    longest_stable_run: int


@dataclass(frozen=True, eq=False)
class TrajectoryAccuracy(Record):
    """How often the final verdict is right.

    Attributes:
        accuracy: share of the trajectories with a gold whose final verdict equals it; an undecided
            one counts as wrong. None if there is no gold.
        coverage: share of all trajectories with a final verdict.
        conditional_accuracy: accuracy among those with a gold and a final verdict; None if none.
        n: number of trajectories.
    """

    accuracy: float | None
    coverage: float
    conditional_accuracy: float | None
    n: int


@dataclass(frozen=True, eq=False)
class RationalizationComponents(Record):
    """What happens to the text once the verdict stands; all None without convergence.

    Attributes:
        early_factor: 1 - conv_idx / n, from 0 (exclusive) to 1.
        post_change_rate: share of the steps after conv_idx whose text differs from the step before,
            mask tokens included; 0 if there are no such steps.
        length_growth: max(0, (L_end - L_conv) / max(1, L_conv)), L the length of the text in
            characters without mask tokens. Not clipped here, clipped to 1 inside the scores.
        score: 0.3 · early + 0.4 · post change + 0.3 · growth, additive.
        gated_score: early · (post change + growth) / 2, multiplicative: 0 if nothing follows.
    """

    early_factor: float | None
    post_change_rate: float | None
    length_growth: float | None
    score: float | None
    gated_score: float | None
