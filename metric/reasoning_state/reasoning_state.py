"""Both leaderboards of Reasoning Drift Onset Detection v0.2 as an evaluate module."""

from drift_core import evaluate_module
from drift_onset import metric_input


class ReasoningState(evaluate_module.PackedMetric):
    """Predicted reasoning states against gold ones."""

    DESCRIPTION = metric_input.DESCRIPTION
    INPUTS = metric_input.INPUTS
    pack = staticmethod(metric_input.pack)
    as_items = staticmethod(metric_input.as_rows)
    score = staticmethod(metric_input.evaluate_rows)
