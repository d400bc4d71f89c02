"""The metrics of denoising trajectories as an evaluate module."""

from drift_core import evaluate_module
from traj_eval import metric_input


class DenoisingTrajectory(evaluate_module.PackedMetric):
    """Verdict sequences, texts or whole trajectories, and the right verdicts."""

    DESCRIPTION = metric_input.DESCRIPTION
    INPUTS = metric_input.INPUTS
    NEEDS_REFERENCES = False
    score = staticmethod(metric_input.evaluate_items)
