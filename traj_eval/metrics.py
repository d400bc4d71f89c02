"""The metrics of a denoising trajectory: what each one means, for one trajectory and for many.

Throughout, i = 0 … n - 1 counts the n recorded steps of a trajectory, and a step is *decided* if a
verdict was extracted there. Every function that takes one trajectory takes

* a mapping in the file format (only `steps` must be there),
* a sequence of its steps, or
* a sequence of bare verdicts, text or None, which are given the step numbers 0, 1, 2 …

and computes what `evaluate_trajectories` computes for many, with the same code.

The metrics are operational descriptions of when verdicts and texts appear and change. None of them
proves what goes on inside a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from traj_eval.evaluation import GROUP_FIELDS, Options, evaluate_items
from traj_eval.measures import WEIGHTS
from traj_eval.records import RationalizationComponents, StepConsistency, TrajectoryAccuracy
from traj_eval.results import Results
from traj_eval.single import Trajectory, measured, whole
from traj_eval.votes import VOTES


def verdict_convergence_step(trajectory: Trajectory) -> int | None:
    """Give the denoising step after which the verdict stays the same to the end.

    It is the step number at conv_idx, the first decided step of the last constant run of decided
    steps. Undecided steps are no change of verdict and are skipped.

    Args:
        trajectory: see the top of this module.

    Returns:
        A step number; None if the last step is undecided.

    Example:
        >>> verdict_convergence_step([None, "A", None, "A"])
        1
        >>> verdict_convergence_step(["A", "A", None]) is None
        True
    """
    step: int | None = measured(trajectory)["verdict_convergence_step"]
    return step


def flip_rate(trajectory: Trajectory) -> float:
    """Give the share of consecutive decided steps between which the verdict changes.

    Undecided steps are skipped: changes / (decided - 1).

    Args:
        trajectory: see the top of this module.

    Returns:
        0.0 (never) to 1.0 (every time); 0.0 with fewer than two decided steps.

    Example:
        >>> flip_rate(["A", None, "B", "B"])
        0.5
    """
    return float(measured(trajectory)["flip_rate"])


def step_consistency(trajectory: Trajectory) -> StepConsistency:
    """Give 1 - flip rate, and the longest stable run.

    Args:
        trajectory: see the top of this module.

    Example:
        >>> step_consistency(["A", "A", None, "A"]).to_dict()
        {'step_consistency': 1.0, 'longest_stable_run': 2}
    """
    found = measured(trajectory)
    return StepConsistency(found["step_consistency"], found["longest_stable_run"])


def trajectory_accuracy(
    trajectories: Mapping[str, Any] | Iterable[Mapping[str, Any]],
) -> TrajectoryAccuracy:
    """Give the accuracy of final verdicts, over all and among the decided, and their coverage.

    Args:
        trajectories: trajectories in the file format, or a single one.

    Raises:
        ValueError: there is none.

    Example:
        >>> step = {"step": 0, "verdict": "A", "text": "A"}
        >>> trajectory_accuracy([{"id": "a", "gold": "A", "steps": [step]}]).accuracy
        1.0
    """
    if isinstance(trajectories, Mapping):
        trajectories = [whole(trajectories)]
    found = evaluate_items(trajectories, Options(resamples=0)).aggregate
    names = ("accuracy", "coverage", "conditional_accuracy", "n")
    return TrajectoryAccuracy(*(found[name] for name in names))


def rationalization_components(
    trajectory: Trajectory, weights: tuple[float, float, float] = WEIGHTS
) -> RationalizationComponents:
    """Say how early the verdict stands and how much text is written and rewritten after it.

    A heuristic: a high score means that a trajectory looks like rationalization by this definition.

    Args:
        trajectory: see the top of this module; its steps need texts.
        weights: of early factor, post-change rate and length growth in the additive score.

    Example:
        >>> steps = [
        ...     {"step": 0, "verdict": "A", "text": "A[MASK]"},
        ...     {"step": 1, "verdict": "A", "text": "A."},
        ... ]
        >>> found = rationalization_components(steps)
        >>> found.early_factor, found.post_change_rate, found.length_growth, found.gated_score
        (1.0, 1.0, 1.0, 1.0)
    """
    found = measured(trajectory, texts=True, options=Options(weights=weights))
    names = RationalizationComponents.__dataclass_fields__
    return RationalizationComponents(*(found[name] for name in names))


def answer_commitment_step(trajectory: Trajectory, *, edits: bool = False) -> int | None:
    """Give the first step from which the answer span stays unmasked to the end.

    Args:
        trajectory: see the top of this module; its steps need `answer_masked`.
        edits: whether the text of the answer must stay the same too, for samplers that rewrite
            written tokens; the steps then need `answer`.

    Returns:
        A step number; None if the span is masked at the end, or without the fields.

    Example:
        >>> steps = [
        ...     {"step": k, "verdict": None, "text": "", "answer_masked": masked}
        ...     for k, masked in enumerate([True, False, True, False])
        ... ]
        >>> answer_commitment_step(steps)
        3
    """
    found = measured(trajectory, options=Options(edits=edits))
    step: int | None = found["answer_commitment_step"]
    return step


def stability_commitment_lag(trajectory: Trajectory, *, edits: bool = False) -> int | None:
    """Give T_commit - T_stab, in denoising steps.

    T_commit is the `answer_commitment_step`, T_stab the `verdict_convergence_step`.

    Args:
        trajectory: see the top of this module.
        edits: see `answer_commitment_step`.

    Returns:
        A difference of step numbers, negative where the answer is committed before the verdict is
        stable; None if one of the two is.
    """
    found = measured(trajectory, options=Options(edits=edits))
    lag: int | None = found["stability_commitment_lag"]
    return lag


def unwritten_reasoning_at_convergence(trajectory: Trajectory) -> float | None:
    """Give the share of the reasoning tokens still masked when the verdict becomes stable.

    1 - `reasoning_committed` at the `verdict_convergence_step`.

    Args:
        trajectory: see the top of this module; its steps need `reasoning_committed`.

    Returns:
        0 to 1; None without convergence or without the field.
    """
    share: float | None = measured(trajectory)["unwritten_reasoning_at_convergence"]
    return share


def ever_correct(trajectory: Trajectory) -> bool | None:
    """Tell whether the verdict is right at some step.

    The mean over trajectories is the ever-pass rate of Wang et al. (2025), arXiv:2508.09138.

    Returns:
        None without a gold.
    """
    found: bool | None = measured(trajectory)["ever_correct"]
    return found


def lost_correct(trajectory: Trajectory) -> bool | None:
    """Tell whether the verdict is right at some step and not at the end.

    The mean is the gap between ever-pass rate and accuracy, which Wang et al. (2025),
    arXiv:2508.09138, call temporal oscillation.

    Returns:
        None without a gold.
    """
    found: bool | None = measured(trajectory)["lost_correct"]
    return found


def temporal_vote(trajectory: Trajectory, weights: str = "exponential") -> str | None:
    """Let all decided steps vote for a verdict.

    After Wang et al. (2025), arXiv:2508.09138. The vote of step i weighs 1 (`fixed`),
    (i + 1) / n (`linear`) or exp(5 · ((i + 1) / n - 1)) (`exponential`).

    Args:
        trajectory: see the top of this module.
        weights: `fixed`, `linear` or `exponential`.

    Returns:
        The verdict with the most weight, of equal ones the one that was there last; None if no step
        is decided.

    Raises:
        ValueError: other weights.

    Example:
        >>> temporal_vote(["A", "A", "A", "B"], "fixed"), temporal_vote(["A", "A", "A", "B"])
        ('A', 'B')
    """
    if weights not in VOTES:
        expected = ", ".join(VOTES)
        raise ValueError(f"Expected argument `weights` to be one of {expected} but got {weights}")
    verdict: str | None = measured(trajectory)[f"temporal_vote_{weights}"]
    return verdict


def temporal_entropy(trajectory: Trajectory) -> float | None:
    """Give the entropy of the verdicts over the decided steps, in nats.

    -Σ p ln p, p the share of the decided steps that have a verdict: the temporal semantic entropy
    of Wang et al. (2025), arXiv:2508.09138, with equal verdicts for equal meanings.

    Returns:
        0 for one verdict, ln k for k equally frequent ones; None if no step is decided.

    Example:
        >>> round(temporal_entropy(["A", None, "B"]), 4)
        0.6931
    """
    found: float | None = measured(trajectory)["temporal_entropy"]
    return found


def regime(trajectory: Trajectory) -> str:
    """Say what a trajectory looks like; a description, not a proof.

    Args:
        trajectory: see the top of this module; its steps need texts.

    Returns:
        `undecided` without convergence; else `oscillation` at a flip rate of 0.5 or more; else
        `rationalization` at an early factor of 0.75 or more with post change + growth of 0.5 or
        more; else `genuine`.

    Example:
        >>> steps = [{"step": k, "verdict": v, "text": v} for k, v in enumerate("ABAB")]
        >>> regime(steps)
        'oscillation'
    """
    return str(measured(trajectory, texts=True)["regime"])


def evaluate_trajectories(
    trajectories: Iterable[Mapping[str, Any]],
    *,
    group_by: Sequence[str] = GROUP_FIELDS,
    weights: tuple[float, float, float] = WEIGHTS,
    edits: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Results:
    """Compute every metric for every trajectory, and their means over all and by group.

    Args:
        trajectories: trajectories in the file format, any iterable.
        group_by: some of `model`, `task`, `condition`, `source`; a group shares their values.
        weights: of early factor, post-change rate and length growth in the additive score.
        edits: whether a written answer that is changed again is not committed.
        resamples: bootstrap resamples for the 95 % intervals; 0 for none.
        seed: of the resampling.

    Returns:
        `results["aggregate"]`, `["groups"]`, `["trajectories"]` and `["signature"]`; a mean is None
        where no trajectory has a value, `defined` counts those that have.

    Raises:
        InvalidInput: with all problems of all trajectories.
        ValueError: there is no trajectory, or an option is not what it should be.
    """
    options = Options(tuple(group_by), weights, edits, resamples, seed)
    return evaluate_items(trajectories, options)
