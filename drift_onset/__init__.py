"""The reasoning-drift onset benchmark: read, validate, count, score, report.

Example:
    >>> import drift_onset
    >>> from drift_onset.schema import resource
    >>> test = resource("data") / "test.csv"
    >>> drift_onset.validate_file(test, "labelled_record")
    (12, [])
"""

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem
from drift_onset.evaluation import score, validate_file, validate_predictions
from drift_onset.report import Report
from drift_onset.scores import Scores

__all__ = [
    "InvalidInput",
    "Problem",
    "Report",
    "Scores",
    "__version__",
    "score",
    "validate_file",
    "validate_predictions",
]
