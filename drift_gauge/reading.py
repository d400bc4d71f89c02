"""What the gauge looks at, and what it says: a profile and a reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drift_gauge.numbers import jsonable


@dataclass(frozen=True)
class Profile:
    """The behaviour at one time: capability rates, conformance, perhaps structure.

    Attributes:
        recall_at_k: mean recall, higher is better.
        overlap: mean Jaccard overlap, higher is better.
        mean_distance: mean distance, lower is better; None if no query had one.
        constitution_intact: whether the live constitution is the blessed one.
        frustration: lower is better; None where it is not measured.
        min_conductance: higher is better; None where it is not measured.
    """

    recall_at_k: float
    overlap: float
    mean_distance: float | None
    constitution_intact: bool
    frustration: float | None = None
    min_conductance: float | None = None


@dataclass(frozen=True)
class DriftReport:
    """One reading of the gauge.

    Attributes:
        drift: D, at least 0; ∞ after a breach and where something could not be measured.
        theta: Θ.
        within_tolerance: D ≤ Θ (1 + 1e-9) and the constitution intact.
        constitution_intact: whether the live constitution is the blessed one.
        per_axis: axis → its deterioration in tolerances; only `constitution` after a breach.
        unmeasured: axes that could not be measured; their deterioration is ∞.
        reasons: why the reading is out of band; empty if it is in band.
        notes: what else a reader should know: queries without rows or distances, another golden
            set than the blessed one, axes that do not count, defaults used.
        signature: how the reading was made.
    """

    drift: float
    theta: float
    within_tolerance: bool
    constitution_intact: bool
    per_axis: Mapping[str, float]
    unmeasured: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signature: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order, with "inf" for ∞, as strict JSON has no such number."""
        return {
            "drift": jsonable(self.drift),
            "theta": self.theta,
            "within_tolerance": self.within_tolerance,
            "constitution_intact": self.constitution_intact,
            "per_axis": {name: jsonable(value) for name, value in self.per_axis.items()},
            "unmeasured": list(self.unmeasured),
            "reasons": list(self.reasons),
            "notes": list(self.notes),
            "signature": dict(self.signature),
        }
