"""Denoising trajectories of diffusion language models: read, measure, aggregate, report.

Importing it, and all that `demo` and `run` do on JSON Lines, needs numpy and nothing else.

Example:
    >>> from traj_eval import flip_rate
    >>> flip_rate([None, "A", None, "C", "C"])
    0.5
"""

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem
from traj_eval.io import load_trajectories, read_trajectories
from traj_eval.metrics import (
    answer_commitment_step,
    evaluate_trajectories,
    ever_correct,
    flip_rate,
    lost_correct,
    rationalization_components,
    regime,
    stability_commitment_lag,
    step_consistency,
    temporal_entropy,
    temporal_vote,
    trajectory_accuracy,
    unwritten_reasoning_at_convergence,
    verdict_convergence_step,
)

__all__ = [
    "InvalidInput",
    "Problem",
    "__version__",
    "answer_commitment_step",
    "evaluate_trajectories",
    "ever_correct",
    "flip_rate",
    "load_trajectories",
    "lost_correct",
    "rationalization_components",
    "read_trajectories",
    "regime",
    "stability_commitment_lag",
    "step_consistency",
    "temporal_entropy",
    "temporal_vote",
    "trajectory_accuracy",
    "unwritten_reasoning_at_convergence",
    "verdict_convergence_step",
]
