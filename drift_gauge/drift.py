"""The gauge: D(t), how far the behaviour has drifted from the blessed anchor.

Every axis contributes only its deterioration past the baseline, in units of its blessed tolerance,
and the axes combine by L2:

    det_i = max(0, deterioration of axis i) / tolerance_i,    D = sqrt(Σ det_i²)

D is 0 whenever every axis is at or better than its baseline. A reading is in band if
D ≤ Θ (1 + 1e-9) and the constitution is intact; a breach of the constitution is D = ∞. The gauge
alters nothing: Θ, tolerances and baseline are set by their owner.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from drift_core.problems import InvalidInput
from drift_core.strict_json import dumps
from drift_gauge import constitution, documents, notes
from drift_gauge.anchor import Anchor
from drift_gauge.axes import AXES, STRUCTURAL, Axis, DriftConfig, config_of, value_problems
from drift_gauge.documents import blessed_metrics
from drift_gauge.golden import (
    BASELINE_PATH,
    GoldenQuery,
    GoldenReport,
    Retriever,
    evaluate,
)
from drift_gauge.numbers import apart, within
from drift_gauge.reading import DriftReport, Profile

__all__ = [
    "Axis",
    "DriftConfig",
    "DriftReport",
    "Profile",
    "constitution_intact",
    "drift",
    "drift_from_report",
    "load_drift_config",
    "measure_drift",
    "profile_from_report",
]

_NOT_BLESSED = "the live constitution is not the blessed one"


def drift(profile: Profile, baseline_metrics: Mapping[str, Any], cfg: DriftConfig) -> DriftReport:
    """Give D(t), the one-sided L2 distance of a profile from its baseline.

    A structural axis counts where the profile and the baseline both have it.

    Args:
        profile: what was measured.
        baseline_metrics: the `metrics` section of a baseline, or a whole one.
        cfg: tolerances and Θ.

    Raises:
        ValueError: a metric or tolerance is NaN, infinite or out of range, a key of the baseline is
            unknown or missing, or its `distance_tol` is not that of `cfg`. Values of the profile
            are checked also where they do not count; see `drift_gauge.axes.value_fault`.

    Example:
        >>> anchor = {"recall_at_k": 1.0, "overlap": 0.5, "mean_distance": 0.25}
        >>> reading = drift(Profile(0.75, 0.625, 0.25, True), anchor, DriftConfig(recall_tol=0.125))
        >>> reading.drift, reading.within_tolerance, reading.per_axis["recall_at_k"]
        (2.0, False, 2.0)
    """
    metrics = blessed_metrics(baseline_metrics)
    if metrics.get("distance_tol", cfg.distance_tol) != cfg.distance_tol:
        raise ValueError(
            f"Expected `distance_tol` of the metrics, {metrics['distance_tol']}, to be that of the "
            f"configuration, {cfg.distance_tol}"
        )
    if not isinstance(profile.constitution_intact, bool):
        raise ValueError(
            "Expected argument `constitution_intact` to be True or False but got "
            f"{profile.constitution_intact!r}"
        )
    if problems := value_problems(asdict(profile), metrics):
        raise InvalidInput(problems)
    axes = _axes(profile, metrics, cfg)
    if not profile.constitution_intact:
        breached = {"constitution": math.inf}
        return DriftReport(math.inf, cfg.theta, False, False, breached, reasons=(_NOT_BLESSED,))
    per_axis = {axis.name: axis.deterioration() for axis in axes}
    total = math.hypot(*per_axis.values())
    inside = within(total, cfg.theta)
    unmeasured = tuple(axis.name for axis in axes if axis.value is None)
    reasons = () if inside else tuple(_reasons(axes, total, cfg.theta))
    return DriftReport(total, cfg.theta, inside, True, per_axis, unmeasured, reasons)


def _axes(profile: Profile, metrics: Mapping[str, float], cfg: DriftConfig) -> list[Axis]:
    axes = []
    for name, (tolerance, higher_is_better) in AXES.items():
        value = getattr(profile, name)
        if name in STRUCTURAL and (value is None or name not in metrics):
            continue
        axes.append(Axis(name, value, metrics[name], getattr(cfg, tolerance), higher_is_better))
    return axes


def _reasons(axes: Sequence[Axis], total: float, theta: float) -> list[str]:
    worse = [
        apart(f"{axis.name} {{}} against {{}}", axis.value, axis.baseline)
        + ("" if axis.tolerance else " with tolerance 0")
        for axis in axes
        if axis.deterioration() > 0
    ]
    return [f"{apart('D = {} is above Θ = {}', total, theta)}: {', '.join(worse)}"]


def profile_from_report(
    report: GoldenReport,
    *,
    constitution_intact: bool,
    structural: Mapping[str, float | None] | None = None,
) -> Profile:
    """Give the profile of a golden report.

    Args:
        report: what the golden set gave.
        constitution_intact: whether the live constitution is the blessed one.
        structural: `frustration` and `min_conductance`, or one of them, as
            `drift_gauge.structure.alignment_snapshot` gives them; None for none.

    Raises:
        ValueError: a key of `structural` is unknown.
    """
    axes = dict(structural or {})
    unknown = [name for name in axes if name not in STRUCTURAL]
    if unknown:
        raise ValueError(
            f"Expected argument `structural` to have keys out of {STRUCTURAL} but got {unknown}"
        )
    return Profile(
        report.recall_at_k, report.overlap, report.mean_distance, constitution_intact, **axes
    )


def constitution_intact(cfg: DriftConfig, path: documents.Path | None = None) -> bool:
    """Tell whether the live constitution is the blessed one; True if none was blessed.

    Args:
        cfg: holds the blessed fingerprint.
        path: the live file; see `drift_gauge.constitution.breach`.
    """
    return constitution.breach(cfg.blessed_fingerprint, path) is None


def drift_from_report(
    report: GoldenReport,
    baseline_metrics: Mapping[str, Any],
    cfg: DriftConfig,
    *,
    intact: bool | None = None,
    structural: Mapping[str, float | None] | None = None,
) -> DriftReport:
    """Read the gauge off a golden report that is there already.

    Args:
        report: what the golden set gave.
        baseline_metrics: the `metrics` section of a baseline, or a whole one.
        cfg: tolerances and Θ.
        intact: whether the constitution is intact; None to compare the live one.
        structural: see `profile_from_report`.

    Raises:
        ValueError: see `drift`.
    """
    reason = _breach(cfg, intact, None)
    reading = _read(report, baseline_metrics, cfg, reason, structural)
    return replace(reading, notes=(*reading.notes, *_unchecked(cfg, intact)))


def _unchecked(cfg: DriftConfig, intact: bool | None) -> tuple[str, ...]:
    return (notes.UNCHECKED,) if intact is None and cfg.blessed_fingerprint is None else ()


def _breach(cfg: DriftConfig, intact: bool | None, path: documents.Path | None) -> str | None:
    if intact is None:
        return constitution.breach(cfg.blessed_fingerprint, path)
    if not isinstance(intact, bool):
        raise ValueError(f"Expected argument `intact` to be True, False or None but got {intact!r}")
    return None if intact else _NOT_BLESSED


def _read(
    report: GoldenReport,
    baseline_metrics: Mapping[str, Any],
    cfg: DriftConfig,
    reason: str | None,
    structural: Mapping[str, float | None] | None,
) -> DriftReport:
    profile = profile_from_report(report, constitution_intact=not reason, structural=structural)
    reading = drift(profile, baseline_metrics, cfg)
    other = notes.other_golden_set(report, baseline_metrics)
    uncounted = notes.uncounted(structural, baseline_metrics)
    return replace(
        reading,
        reasons=(reason,) if reason else reading.reasons,
        notes=(*report.flags, *((other,) if other else ()), *uncounted),
        signature={**report.signature(), "baseline_sha256": _sha256(baseline_metrics, cfg)},
    )


def _sha256(baseline_metrics: Mapping[str, Any], cfg: DriftConfig) -> str:
    """Hash what D depends on: neither Θ nor the fingerprint."""
    metrics = blessed_metrics(baseline_metrics)
    tolerances = {name: getattr(cfg, name) for name, _ in AXES.values()}
    used = {name: metrics.get(name) for name in AXES} | tolerances
    return hashlib.sha256(dumps(used).encode()).hexdigest()


def load_drift_config(path: documents.Path = BASELINE_PATH) -> DriftConfig:
    """Read the `drift` section of a baseline; the defaults where it has none.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: a ValueError that names everything wrong with the file.

    Example:
        >>> load_drift_config().theta
        1.0
    """
    return config_of(documents.read_checked(path, documents.baseline_problems))


def measure_drift(
    retriever: Retriever,
    *,
    golden: Sequence[GoldenQuery] | None = None,
    baseline: Mapping[str, Any] | None = None,
    cfg: DriftConfig | None = None,
    intact: bool | None = None,
    structural: Mapping[str, float | None] | None = None,
) -> DriftReport:
    """Ask a retriever the golden set and read the gauge.

    Args:
        retriever: (query, k) → rows; see `drift_gauge.golden.evaluate`.
        golden: the queries; None for the set that ships with the package.
        baseline: a whole baseline, or its `metrics` section; None for the blessed one that ships
            with the package. An empty one is an error.
        cfg: tolerances and Θ; None for those of the baseline.
        intact: whether the constitution is intact; None to compare the live one.
        structural: see `profile_from_report`.

    Raises:
        ValueError: the golden set or the baseline is empty or wrong, or the baseline is that of
            another retriever.

    Example:
        >>> from drift_gauge.retrievers import embedded_retriever
        >>> measure_drift(embedded_retriever()).within_tolerance
        True
    """
    anchor = Anchor.of(retriever, golden, baseline, cfg)
    report = evaluate(anchor.golden, retriever)
    return reading_of(report, anchor, intact=intact, structural=structural)


def reading_of(
    report: GoldenReport,
    anchor: Anchor,
    *,
    intact: bool | None = None,
    structural: Mapping[str, float | None] | None = None,
) -> DriftReport:
    """Read the gauge off a golden report; the notes say which defaults the anchor stands on."""
    reason = _breach(anchor.cfg, intact, anchor.constitution)
    reading = _read(report, anchor.baseline, anchor.cfg, reason, structural)
    defaults = (*anchor.notes, *_unchecked(anchor.cfg, intact))
    return replace(reading, notes=(*reading.notes, *defaults))
