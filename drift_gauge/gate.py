"""The gate: a change may pass if it was approved, no golden metric regressed, and D ≤ Θ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drift_gauge.anchor import Anchor
from drift_gauge.documents import blessed_metrics
from drift_gauge.drift import DriftConfig, DriftReport, reading_of
from drift_gauge.golden import (
    GoldenQuery,
    GoldenReport,
    Retriever,
    evaluate,
    regressions,
)
from drift_gauge.notes import other_golden_set
from drift_gauge.numbers import apart


@dataclass(frozen=True)
class GateReport:
    """What the gate decided; as true as it is open.

    Attributes:
        open: whether the change may pass.
        approved: whether it was approved.
        regressions: golden metrics that fell below the baseline.
        drift: the reading of the gauge.
        reasons: why the gate is closed; empty if it is open.
    """

    open: bool
    approved: bool
    regressions: tuple[str, ...]
    drift: DriftReport
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.open

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {
            "open": self.open,
            "approved": self.approved,
            "regressions": list(self.regressions),
            "drift": self.drift.to_dict(),
            "reasons": list(self.reasons),
        }


def gate(
    approved: bool, report: GoldenReport, baseline: Mapping[str, Any], drift_report: DriftReport
) -> GateReport:
    """Decide: approved ∧ no golden regression ∧ D ≤ Θ.

    It is closed, too, if the baseline is known to be blessed on another golden set than that of the
    report, since neither condition says anything then.

    Args:
        approved: whether a person approved the change.
        report: what the golden set gave after the change.
        baseline: a whole baseline, or its `metrics` section.
        drift_report: the gauge's reading of the same report.

    Raises:
        ValueError: `approved` is not True or False, or the baseline is wrong.

    Example:
        >>> from drift_gauge.retrievers import embedded_retriever
        >>> validate = build_golden_validator(embedded_retriever())
        >>> validate(True).open, validate(False).reasons
        (True, ('the change is not approved',))
    """
    if not isinstance(approved, bool):
        raise ValueError(f"Expected argument `approved` to be True or False but got {approved!r}")
    fallen = tuple(regressions(report, baseline))
    reasons = [] if approved else ["the change is not approved"]
    if other := other_golden_set(report, baseline):
        reasons.append(other)
    reasons += [_told(name, report, blessed_metrics(baseline)) for name in fallen]
    if not drift_report.within_tolerance:
        reasons += drift_report.reasons or [f"D = {drift_report.drift:.4g} is out of band"]
    return GateReport(not reasons, approved, fallen, drift_report, tuple(reasons))


def _told(name: str, report: GoldenReport, metrics: Mapping[str, float]) -> str:
    told = apart(
        f"golden regression: {name} {{}} against {{}}", getattr(report, name), metrics[name]
    )
    without = name == "mean_distance" and metrics.get("distance_tol") == 0
    return f"{told} with tolerance 0" if without else told


def build_golden_validator(
    retriever: Retriever,
    *,
    golden: Sequence[GoldenQuery] | None = None,
    baseline: Mapping[str, Any] | None = None,
    cfg: DriftConfig | None = None,
    intact: bool | None = None,
    structural: Mapping[str, float | None] | None = None,
) -> Callable[[bool], GateReport]:
    """Give the validation step of a gate: a function of the approval.

    Every call asks the golden set once, and both conditions are read off that one report.

    Args:
        retriever: see `drift_gauge.drift.measure_drift`, as are the others.
        golden: the queries; None for the set that ships with the package.
        baseline: a whole baseline or its `metrics` section; None for the one that ships.
        cfg: tolerances and Θ; None for those of the baseline.
        intact: whether the constitution is intact; None to compare the live one.
        structural: structural axes of the changed system.

    Raises:
        ValueError: the golden set or the baseline is empty or wrong, or the baseline is that of
            another retriever.
    """
    anchor = Anchor.of(retriever, golden, baseline, cfg)

    def validate(approved: bool) -> GateReport:
        report = evaluate(anchor.golden, retriever)
        reading = reading_of(report, anchor, intact=intact, structural=structural)
        return gate(approved, report, anchor.baseline, reading)

    return validate
