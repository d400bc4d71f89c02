"""Pictures of trajectories and results; the extra `plots` brings matplotlib."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from drift_core import extras
from drift_core.files import PICTURES, ending_fault, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which colour-blind people can tell apart; the first is the gold's.
_COLOURS = ("#0072B2", "#E69F00", "#CC79A7", "#009E73", "#D55E00", "#56B4E9", "#F0E442")
_UNDECIDED, _INK = "#E6E6E6", "#333333"
_WIDTH = 8.0  # inches: text stays readable when a README shows the picture at 800 pixels
_COMPONENTS = {
    "mean_early_factor": "early factor",
    "mean_post_change_rate": "post-change rate",
    "mean_length_growth": "length growth",
    "mean_gated_score": "gated score",
}


def verdict_strips(trajectories: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> None:
    """Draw the verdict by denoising step, one strip a trajectory.

    Undecided steps are hatched, and the gold verdict has one colour and a tick in all strips.
    Where the file says so, a track below shows how much of the reasoning is written, and when the
    answer is.

    Args:
        trajectories: at least one, in the file format; one or two can be read at a glance.
        path: the picture to write; its ending gives the format: `.pdf`, `.png` or `.svg`.

    Raises:
        MissingExtra: an ImportError; matplotlib is not installed.
        ValueError: no trajectories, or another ending.
    """
    if not trajectories:
        raise ValueError("Expected argument `trajectories` to be at least one, but got none")
    _check_ending(path)
    colours = _wrong_colours(trajectories)
    tracked = [_has_clocks(t["steps"][0]) for t in trajectories]
    heights = [h for track in tracked for h in ((1.0, 0.8) if track else (1.0,))]
    figure = _figure(0.9 + 0.75 * sum(heights) + 0.35 * len(heights))
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0].tolist()
    for trajectory, track in zip(trajectories, tracked, strict=True):
        strip = axes.pop(0)
        _draw_strip(strip, trajectory, colours)
        if track:
            strip.tick_params(labelbottom=False)
            strip = axes.pop(0)
            _draw_track(strip, trajectory["steps"])
        strip.set_xlabel("denoising step")
    _save(figure, path)


def component_bars(results: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Draw the four rationalization components of every group side by side.

    Args:
        results: the results JSON, parsed; its groups have `n`, the means and their intervals.
        path: the picture to write, by its ending PDF, PNG or SVG.

    Raises:
        MissingExtra: an ImportError; matplotlib is not installed.
        ValueError: the results have no groups, or another ending.
    """
    groups = list(results["groups"])
    if not groups:
        raise ValueError("Expected argument `results` to have groups, but it has none")
    _check_ending(path)
    shared, names = _group_names(groups)
    columns = 2 if max(map(len, names)) < 36 and len(names) > 2 else 1
    figure = _figure(3.7 + 0.22 * -(-len(groups) // columns))
    axes = figure.subplots()
    axes.set_title(shared, loc="left", fontsize=10)
    width = 0.8 / len(groups)
    for at, group in enumerate(groups):
        offset = (at - (len(groups) - 1) / 2) * width
        style = {
            "color": _COLOURS[at % len(_COLOURS)],
            "hatch": "//" if at >= len(_COLOURS) else None,
            "label": f"{names[at]} (n = {group['n']})",
        }
        _draw_bars(axes, group, offset, width, style, labelled=len(groups) <= 4)
    axes.set_xticks(range(len(_COMPONENTS)), list(_COMPONENTS.values()))
    axes.set_ylabel("mean, 95 % interval")
    axes.set_ylim(bottom=0)
    axes.margins(y=0.12)
    _open_frame(axes)
    figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    _save(figure, path)


def _check_ending(path: str | os.PathLike[str]) -> None:
    fault = ending_fault(path, PICTURES)
    if fault:
        raise ValueError(f"{os.fspath(path)}: {fault}")


def _figure(height: float) -> Figure:
    figure: Figure = extras.load("matplotlib.figure", "plots").Figure(
        figsize=(_WIDTH, height), layout="constrained"
    )
    return figure


def _save(figure: Figure, path: str | os.PathLike[str]) -> None:
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none"}), replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _wrong_colours(trajectories: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Give every verdict its colour where it is not the gold, the same in all strips."""
    verdicts = dict.fromkeys(
        step["verdict"]
        for trajectory in trajectories
        for step in trajectory["steps"]
        if step["verdict"] not in (None, trajectory["gold"])
    )
    return {name: _COLOURS[1 + at % (len(_COLOURS) - 1)] for at, name in enumerate(verdicts)}


def _draw_strip(axes: Axes, trajectory: Mapping[str, Any], wrong: Mapping[str, str]) -> None:
    steps, gold = trajectory["steps"], trajectory["gold"]
    edges = _edges(steps)
    colours = {**wrong, None: _UNDECIDED, **({} if gold is None else {gold: _COLOURS[0]})}
    at = 0
    for verdict, run in groupby(step["verdict"] for step in steps):
        start, at = at, at + len(list(run))
        left, width = edges[start], edges[at] - edges[start]
        axes.barh(
            0,
            width,
            left=left,
            height=1,
            color=colours[verdict],
            hatch="///" if verdict is None else None,
            edgecolor="white",
            linewidth=1,
        )
        _label_run(axes, _run_label(verdict, gold), left, width, edges[-1] - edges[0])
    axes.set(xlim=(edges[0], edges[-1]), ylim=(-0.5, 0.5), yticks=[])
    axes.set_title(_strip_title(trajectory), loc="left", fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _label_run(axes: Axes, label: str, left: float, width: float, whole: float) -> None:
    """Write a run's verdict in it: level where there is room, else upright, else not at all."""
    room = 80 * width / whole  # characters of ordinary size
    if room < 1.5:
        return
    level = room > len(label) + 1
    axes.text(
        left + width / 2,
        0,
        label,
        ha="center",
        va="center",
        color=_INK,
        fontsize=10 if level else 8,
        rotation=0 if level else 90,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.5},
    )


def _draw_track(axes: Axes, steps: Sequence[Mapping[str, Any]]) -> None:
    """Draw the share of reasoning that is written, and a bar over it while the answer is."""
    edges = _edges(steps)
    written = [100 * step["reasoning_committed"] for step in steps]
    axes.stairs(written, edges, fill=True, color="#9DB4C0")
    axes.set(xlim=(edges[0], edges[-1]), ylim=(0, 125), yticks=[0, 100])
    axes.set_yticklabels(["0 %", "100 %"])
    axes.set_ylabel("reasoning\nwritten", fontsize=8, rotation=0, ha="right", va="center")
    whole = [at for at, step in enumerate(steps) if not step["answer_masked"]]
    for at in whole:
        axes.plot(edges[at : at + 2], [114, 114], color=_INK, linewidth=5, solid_capstyle="butt")
    if whole:
        text: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8, "color": _INK}
        room = (edges[whole[0]] - edges[0]) / (edges[-1] - edges[0]) > 0.16
        if room:
            axes.text(edges[whole[0]], 114, "answer written ", **text)
        else:
            axes.text(edges[-1], 96, "bar: answer written", **{**text, "va": "top"})
    _open_frame(axes)


def _draw_bars(
    axes: Axes,
    group: Mapping[str, Any],
    offset: float,
    width: float,
    style: Mapping[str, Any],
    labelled: bool,
) -> None:
    means = [group[name] for name in _COMPONENTS]
    places = [at + offset for at in range(len(means))]
    axes.bar(places, [mean or 0.0 for mean in means], 0.92 * width, edgecolor="white", **style)
    tops = list(means)
    for at, (name, mean) in enumerate(zip(_COMPONENTS, means, strict=True)):
        interval = (group.get("intervals") or {}).get(name)
        if mean is None or interval is None or interval.get("degenerate"):
            continue
        low, high = interval["low"], interval["high"]
        reach = [[max(0.0, mean - low)], [max(0.0, high - mean)]]
        axes.errorbar(places[at], mean, yerr=reach, color=_INK, capsize=2.5, linewidth=1)
        tops[at] = max(mean, high)
    for place, mean, top in zip(places, means, tops, strict=True):
        if mean is None or labelled:
            shown = "none" if mean is None else f"{mean:.2f}"
            axes.annotate(
                shown, (place, top or 0.0), (0, 3), textcoords="offset points",
                ha="center", va="bottom", fontsize=8, color=_INK,
            )  # fmt: skip


def _has_clocks(step: Mapping[str, Any]) -> bool:
    return None not in (step.get("reasoning_committed"), step.get("answer_masked"))


def _edges(steps: Sequence[Mapping[str, Any]]) -> list[float]:
    """Give the n + 1 borders of n steps, each of which lasts until the next."""
    numbers = [float(step["step"]) for step in steps]
    last = numbers[-1] - numbers[-2] if len(numbers) > 1 else 1.0
    return [*numbers, numbers[-1] + last]


def _run_label(verdict: str | None, gold: str | None) -> str:
    if verdict is None:
        return "undecided"
    shown = verdict if len(verdict) <= 20 else f"{verdict[:18]}…"
    return f"{shown} ✓" if verdict == gold else shown


def _strip_title(trajectory: Mapping[str, Any]) -> str:
    named = [trajectory.get(key) for key in ("condition", "source")]
    gold = trajectory["gold"]
    parts = [trajectory["id"], *filter(None, named), f"gold {gold}" if gold else "no gold"]
    return " · ".join(parts)


def _group_names(groups: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """Give what all groups have in common, and what tells them apart."""
    fields = [key for key in ("model", "task", "condition", "source") if key in groups[0]]
    differ = [key for key in fields if len({group[key] for group in groups}) > 1]
    shared = [key for key in fields if key not in differ]
    names = [_joined(group, differ) or "all" for group in groups]
    return _joined(groups[0], [key for key in shared if groups[0][key] is not None]), names


def _joined(group: Mapping[str, Any], fields: Sequence[str]) -> str:
    return " · ".join("none" if group[key] is None else group[key] for key in fields)


def _open_frame(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
