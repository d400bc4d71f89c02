"""Retrieval rates and their drift from a blessed baseline as an evaluate module."""

from drift_core import evaluate_module
from drift_gauge import metric_input


class AlignmentDrift(evaluate_module.PackedMetric):
    """Rates of retrieved titles, and D where a baseline is given."""

    DESCRIPTION = metric_input.DESCRIPTION
    INPUTS = metric_input.INPUTS
    CITATION = metric_input.CITATION
    score = staticmethod(metric_input.score_rows)
