"""The axes of the gauge and the fixed points that they are measured against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_gauge import documents
from drift_gauge.golden import DEFAULT_DISTANCE_TOL
from drift_gauge.numbers import deterioration, finite, number_fault

# axis: its tolerance, whether higher is better
AXES = {
    "recall_at_k": ("recall_tol", True),
    "overlap": ("overlap_tol", True),
    "mean_distance": ("distance_tol", False),
    "frustration": ("frustration_tol", False),
    "min_conductance": ("conductance_tol", True),
}
STRUCTURAL = ("frustration", "min_conductance")  # axes that a profile may lack

_ROUNDING = 1e-6


def value_fault(name: str, value: Any, metrics: Mapping[str, float]) -> str | None:
    """Say what was expected instead of the measured value of an axis, or None if it is fine.

    Recall and overlap lie in [0, 1], and so does conductance but for rounding. A distance is not
    below 0 but for rounding, unless a negative one was blessed: a dot product gives such.

    Args:
        name: of the axis.
        value: what was measured.
        metrics: the blessed metrics.

    Example:
        >>> value_fault("overlap", 1.5, {})
        'a finite number ≥ 0 and ≤ 1'
    """
    if name in ("recall_at_k", "overlap"):
        return number_fault(value, 0, 1)
    if name == "min_conductance":
        return number_fault(value, -_ROUNDING, 1 + _ROUNDING)
    if name == "mean_distance" and metrics.get(name, 0) >= 0:
        return number_fault(value, -_ROUNDING)
    return number_fault(value)


def value_problems(profile: Mapping[str, Any], metrics: Mapping[str, float]) -> list[Problem]:
    """Name every measured value that `value_fault` refuses; None was not measured."""
    problems = []
    for name in AXES:
        value = profile[name]
        if value is not None and (fault := value_fault(name, value, metrics)):
            shown = escaped(value)
            message = f"{shown}, expected {fault}"
            problems.append(Problem("value", "<profile>", None, None, name, shown, message))
    return problems


@dataclass(frozen=True)
class Axis:
    """One dimension of a profile, with its blessed anchor and scale.

    Attributes:
        name: what it measures.
        value: the measured value; None if it could not be measured.
        baseline: the blessed value.
        tolerance: one unit of deterioration, at least 0.
        higher_is_better: whether a fall is bad, or a rise.

    Raises:
        ValueError: a number is NaN or infinite, or the tolerance is negative.

    Example:
        >>> Axis("recall_at_k", 0.75, 1.0, 0.125, higher_is_better=True).deterioration()
        2.0
    """

    name: str
    value: float | None
    baseline: float
    tolerance: float
    higher_is_better: bool

    def __post_init__(self) -> None:
        if self.value is not None:
            finite(self.name, self.value)
        finite(f"baseline of {self.name}", self.baseline)
        finite(f"tolerance of {self.name}", self.tolerance, low=0)

    def deterioration(self) -> float:
        """Give the one-sided deterioration in tolerances.

        Returns:
            0 at or better than the baseline; ∞ for any deterioration past a tolerance of 0, and
            for a value that could not be measured.
        """
        return deterioration(
            self.value, self.baseline, self.tolerance, higher_is_better=self.higher_is_better
        )


@dataclass(frozen=True)
class DriftConfig:
    """The blessed fixed points: the `drift` section of a baseline.

    Attributes:
        recall_tol: one unit of falling recall.
        overlap_tol: one unit of falling overlap.
        distance_tol: one unit of rising mean distance.
        theta: Θ, the largest D in band; `drift_tolerance` in the file.
        blessed_fingerprint: SHA-256 of the constitution; None if none was blessed.
        frustration_tol: one unit of rising frustration.
        conductance_tol: one unit of falling conductance.

    Raises:
        ValueError: a number is NaN, infinite or negative, or the fingerprint is empty.
    """

    recall_tol: float = 0.1
    overlap_tol: float = 0.1
    distance_tol: float = DEFAULT_DISTANCE_TOL
    theta: float = 1.0
    blessed_fingerprint: str | None = None
    frustration_tol: float = 0.25
    conductance_tol: float = 0.1

    def __post_init__(self) -> None:
        for name in (*(tolerance for tolerance, _ in AXES.values()), "theta"):
            finite(name, getattr(self, name), low=0)
        if self.blessed_fingerprint is not None and documents.text_fault(self.blessed_fingerprint):
            raise ValueError(
                "Expected argument `blessed_fingerprint` to be a fingerprint or None but got "
                f"{self.blessed_fingerprint!r}"
            )


def config_of(baseline: Mapping[str, Any]) -> DriftConfig:
    """Give the configuration of a whole baseline; the defaults where it has no `drift` section.

    Raises:
        InvalidInput: a ValueError that names everything wrong with the baseline.
    """
    problems = documents.baseline_problems(baseline)
    if problems:
        raise InvalidInput(problems)
    section = dict(baseline.get("drift", {}))
    if not section:
        return DriftConfig()
    section["theta"] = section.pop("drift_tolerance")
    section["blessed_fingerprint"] = section.pop("constitution_fingerprint", None)
    return DriftConfig(**section)
