"""Plots for papers and slides, as SVG and PNG; needs the extra `plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drift_core.files import replacing
from drift_onset import schema
from drift_onset.details import Details
from drift_onset.scores import BOARDS
from drift_onset.views.report import TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")
_BLUE, _GREY = "#2563b0", "#808080"
_SETTINGS = {"svg.hashsalt": "reasoning-drift", "svg.fonttype": "none"}


def score_plots(made: Mapping[str, Any], details: Details) -> dict[str, Figure]:
    """Draw a report: confusion matrices, reliability, onset offsets and metrics with intervals.

    Args:
        made: the JSON form of the report.
        details: of the same rows.

    Returns:
        Name → figure; `reliability` only if some row has a confidence.
    """
    figures = {
        f"confusion_{target}": _confusion(target, details) for target in schema.label_targets()
    }
    figures["onset_offset"] = _offsets(details)
    figures["metrics"] = _metrics(made)
    if details.bins:
        figures["reliability"] = _reliability(details)
    return figures


def rank_plots(made: Mapping[str, Any]) -> dict[str, Figure]:
    """Draw each leaderboard with intervals, from the JSON form of both."""
    figures = {}
    for board, metrics in BOARDS.items():
        rows = made[board]["rows"]
        dots = [(row["name"], row[metrics[0]], row["low"], row["high"]) for row in rows]
        figure, axes = _figure(7, 1.2 + 0.35 * len(rows))
        _intervals(axes, dots, [_BLUE if row["rank"] else _GREY for row in rows])
        axes.set_title(f"{TITLES[board]}, n = {made['signature']['n']}", loc="left")
        axes.set_xlabel(f"{metrics[0]}, 95 % interval; grey: references")
        figures[board] = figure
    return figures


def write(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write every figure as SVG and PNG, each whole or not at all; the folder is made."""
    import matplotlib

    written = []
    for name, figure in figures.items():
        for ending in FORMATS:
            path = folder / f"{name}.{ending}"
            metadata = {"Date": None} if ending == "svg" else {}
            with matplotlib.rc_context(_SETTINGS), replacing(path) as temporary:
                figure.savefig(temporary, format=ending, dpi=200, metadata=metadata)
            written.append(path)
    return written


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _confusion(target: str, details: Details) -> Figure:
    matrix, labels = details.confusions[target], schema.labels(target)
    size = 0.55 * len(labels)
    figure, axes = _figure(3.5 + size, 2.2 + size)
    rows = np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    axes.imshow(matrix / rows, cmap="Blues", vmin=0, vmax=1)
    for (y, x), n in np.ndenumerate(matrix):
        if n:
            colour = "white" if n / rows[y, 0] > 0.6 else "black"
            axes.text(x, y, str(n), ha="center", va="center", color=colour)
    support = matrix.sum(axis=1)
    names = [f"{label} ({n})" for label, n in zip(labels, support.tolist(), strict=True)]
    axes.set_yticks(range(len(labels)), names)
    axes.set_xticks(range(len(labels) + 1), [*labels, "unanswered"], rotation=45, ha="right")
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold (support)")
    axes.set_title(f"{target}, n = {int(matrix.sum())}", loc="left")
    return figure


def _reliability(details: Details) -> Figure:
    figure, axes = _figure(4.5, 4.5)
    filled = [one for one in details.bins if one.n]
    axes.plot([0, 1], [0, 1], color=_GREY, linewidth=1, linestyle="--")
    points = [(one.confidence or 0.0, one.accuracy or 0.0) for one in filled]
    axes.plot(*zip(*points, strict=True), color=_BLUE, marker="o")
    for one, at in zip(filled, points, strict=True):
        axes.annotate(str(one.n), at, xytext=(5, 5), textcoords="offset points")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.08), xlabel="mean confidence of a bin")
    axes.set_ylabel("complete-primary accuracy")
    n = sum(one.n for one in filled)
    axes.set_title(f"Reliability, n = {n}; numbers are rows", loc="left")
    return figure


def _offsets(details: Details) -> Figure:
    from matplotlib.ticker import MaxNLocator

    names = [f"{k:+d}" if k else "0" for k in details.offsets] + list(details.blanks)
    n = [*details.offsets.values(), *details.blanks.values()]
    figure, axes = _figure(max(5.0, 0.5 * len(names) + 2), 3.6)
    colours = [_BLUE] * len(details.offsets) + [_GREY] * len(details.blanks)
    bars = axes.bar(range(len(n)), n, color=colours)
    axes.margins(y=0.12)
    axes.bar_label(bars, [str(k) if k else "" for k in n])
    axes.set_xticks(range(len(n)), names, rotation=45, ha="right")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("rows")
    axes.set_title(f"Onset: predicted less gold step, n = {sum(n)}", loc="left")
    return figure


def _metrics(made: Mapping[str, Any]) -> Figure:
    """Draw the metrics of both leaderboards, each in a panel of its own."""
    from matplotlib.figure import Figure

    heights = [len(metrics) + 0.6 for metrics in BOARDS.values()]
    figure = Figure(figsize=(7, 1.8 + 0.4 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(BOARDS), 1, height_ratios=heights)
    intervals = made["uncertainty"]["intervals"]
    for axes, (board, metrics) in zip(panels, BOARDS.items(), strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        found = [intervals.get(metric, {}) for metric in metrics]
        dots = [
            (metric, made[board][metric], one.get("low"), one.get("high"))
            for metric, one in zip(metrics, found, strict=True)
        ]
        _intervals(axes, dots, [_BLUE] * len(dots))
        axes.set_title(f"{TITLES[board]}, n = {made['benchmark']['n']}", loc="left")
    panels[-1].set_xlabel("value, 95 % interval")
    return figure


def _intervals(
    axes: Axes,
    dots: Sequence[tuple[str, float, float | None, float | None]],
    colours: Sequence[str],
) -> None:
    for y, ((_, value, low, high), colour) in enumerate(zip(dots, colours, strict=True)):
        if low is not None and high is not None:
            axes.plot([low, high], [y, y], color=colour, linewidth=2)
        axes.plot([value], [y], marker="o", color=colour)
    axes.set_yticks(range(len(dots)), [name for name, *_ in dots])
    axes.set(xlim=(-0.02, 1.02), ylim=(len(dots) - 0.5, -0.5))
