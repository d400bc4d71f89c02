"""What the reader of a reading should know besides D."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_gauge.axes import STRUCTURAL
from drift_gauge.documents import blessed_metrics
from drift_gauge.golden import GoldenReport

UNCHECKED = "no constitution was blessed: conformance is not checked"
NO_DRIFT_SECTION = "the baseline has no `drift` section: default tolerances and Θ = 1"


def other_golden_set(report: GoldenReport, baseline: Mapping[str, Any]) -> str | None:
    """Say that a baseline was blessed on another golden set than the one that was asked.

    Args:
        report: what the golden set gave.
        baseline: a whole baseline, or its `metrics` section.

    Returns:
        The note; None if the sets are the same, or one of the two hashes is not known.
    """
    blessed, asked = baseline.get("golden_sha256"), report.golden_sha256
    if blessed is None or asked is None or blessed == asked:
        return None
    return (
        f"the baseline was blessed on another golden set: {blessed[:12]}…, but {asked[:12]}… was "
        "asked"
    )


def uncounted(
    structural: Mapping[str, float | None] | None, baseline: Mapping[str, Any]
) -> tuple[str, ...]:
    """Name the structural axes that only one side has, which do not count.

    Args:
        structural: the measured ones, if any.
        baseline: a whole baseline, or its `metrics` section.

    Example:
        >>> anchor = {"recall_at_k": 1.0, "overlap": 0.5, "mean_distance": 0.25}
        >>> uncounted({"frustration": 0.5}, anchor)
        ('frustration is measured but not blessed: it does not count',)
    """
    metrics, found = blessed_metrics(baseline), structural or {}
    notes = []
    for name in STRUCTURAL:
        measured, blessed = found.get(name) is not None, name in metrics
        if blessed and not measured:
            notes.append(f"{name} is blessed but not measured: it does not count")
        if measured and not blessed:
            notes.append(f"{name} is measured but not blessed: it does not count")
    return tuple(notes)
