"""Pictures: D over time against Θ, made up of its axes, and the reach of effectors beside it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from drift_core import extras
from drift_core.files import PICTURES, ending_fault, replacing
from drift_core.problems import InvalidInput
from drift_gauge.documents import problem
from drift_gauge.effector_drift import EffectorDriftReport
from drift_gauge.history import Reading

_COLORS = {  # of Okabe and Ito, which colour-blind people can tell apart
    "recall_at_k": "#0072B2",
    "overlap": "#56B4E9",
    "mean_distance": "#E69F00",
    "frustration": "#CC79A7",
    "min_conductance": "#009E73",
}
_OTHER, _ALARM, _INK, _REACH = "#999999", "#D55E00", "#222222", "#007A5A"
_LEGEND: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
_ON_TOP: dict[str, Any] = {"clip_on": False, "zorder": 3}


def check_ending(path: str | os.PathLike[str]) -> None:
    """Hold the ending of a picture to those that can be drawn.

    Raises:
        InvalidInput: a ValueError; another ending.
    """
    message = ending_fault(path, PICTURES)
    if message:
        raise InvalidInput([problem("ending", path, None, message)])


def plot_history(readings: Sequence[Reading], path: str | os.PathLike[str]) -> None:
    """Draw D over time against Θ.

    Args:
        readings: at least one.
        path: the picture, by its ending PDF, PNG or SVG.

    Raises:
        MissingExtra: matplotlib is not installed.
        InvalidInput: a ValueError; another ending.
        OSError: the file cannot be written.
    """
    check_ending(path)
    figure, axes = new_figure(1)
    draw_drift(axes[0], readings)
    axes[0].set_title("Alignment drift over time")
    save(figure, path)


def new_figure(panels: int) -> tuple[Any, list[Any]]:
    """Give a figure with panels side by side, without touching matplotlib's global state."""
    figure = extras.load("matplotlib.figure", "plots").Figure(
        figsize=(1 + 8 * panels, 4.8), layout="constrained"
    )
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure, whole or not at all."""
    check_ending(path)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def draw_drift(axes: Any, readings: Sequence[Reading]) -> None:
    """Draw D with Θ, and below it how much each axis adds.

    The layer of an axis is det² / D high, so that the layers add up to D. Readings of ∞ are marked
    at the top; the line is broken there.
    """
    times = [reading.time for reading in readings]
    values = [_finite(reading.drift) for reading in readings]
    names = list(dict.fromkeys(name for reading in readings for name in reading.per_axis))
    visible = 0.005 * max(map(float, filter(math.isfinite, (r.drift for r in readings))), default=0)
    shown = [name for name in names if any(_layer(r, name) > visible for r in readings)]
    if shown:
        axes.stackplot(
            times,
            [[_layer(reading, name) for reading in readings] for name in shown],
            labels=shown,
            colors=[_COLORS.get(name, _OTHER) for name in shown],
            alpha=0.55,
            linewidth=0,
        )
    axes.plot(times, values, color=_INK, marker="o", markersize=4, label="D", **_ON_TOP)
    _draw_theta(axes, times, [reading.theta for reading in readings])
    _mark_alarms(axes, readings)
    _mark_infinite(axes, [reading.time for reading in readings if math.isinf(reading.drift)])
    _finish(axes, "in tolerances")


def draw_reach(
    axes: Any, times: Sequence[datetime], reports: Sequence[EffectorDriftReport]
) -> None:
    """Draw the deterioration of effector reach into the same picture; its own limit is 1."""
    values = [_finite(report.deterioration) for report in reports]
    axes.plot(
        times, values, color=_REACH, marker="s", markersize=4, label="effector reach", **_ON_TOP
    )
    out = [
        (time, value)
        for time, value, report in zip(times, values, reports, strict=True)
        if not report.within_tolerance
    ]
    if out:
        axes.plot(
            *zip(*out, strict=True),
            linestyle="none",
            marker="s",
            markersize=8,
            color=_ALARM,
            label="reach out of band",
            **_ON_TOP,
        )
    axes.legend(**_LEGEND)


def _draw_theta(axes: Any, times: Sequence[datetime], theta: Sequence[float]) -> None:
    """Draw Θ from edge to edge, or as steps if it was changed."""
    style = {"color": _ALARM, "linestyle": "--", "label": "Θ"}
    if len(set(theta)) == 1:
        axes.axhline(theta[0], **style)
    else:
        axes.plot(times, theta, drawstyle="steps-post", **style)
    if len(set(times)) == 1:
        axes.set_xlim(times[0] - timedelta(days=1), times[0] + timedelta(days=1))


def _finish(axes: Any, label: str) -> None:
    """Label the axes and put the legend where the data is not."""
    dates = extras.load("matplotlib.dates", "plots")
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axes.margins(x=0.03)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(label)
    axes.set_xlabel("time")
    axes.grid(axis="y", alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(**_LEGEND)


def _layer(reading: Reading, name: str) -> float:
    if not math.isfinite(reading.drift):
        return math.nan
    share = reading.per_axis.get(name, 0.0)
    return share**2 / reading.drift if reading.drift else 0.0


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan


def _mark_alarms(axes: Any, readings: Sequence[Reading]) -> None:
    out = [r for r in readings if not r.within_tolerance and math.isfinite(r.drift)]
    if out:
        axes.plot(
            [reading.time for reading in out],
            [reading.drift for reading in out],
            linestyle="none",
            marker="o",
            markersize=8,
            color=_ALARM,
            label="D out of band",
            **_ON_TOP,
        )


def _mark_infinite(axes: Any, times: Sequence[datetime]) -> None:
    if times:
        axes.plot(
            times,
            [0.97] * len(times),
            transform=axes.get_xaxis_transform(),
            linestyle="none",
            marker="^",
            markersize=9,
            color=_ALARM,
            label="D = ∞",
            **_ON_TOP,
        )
