"""Pictures are rendered to files, and hold what they should show."""

import re
import sys
from xml.etree import ElementTree

import pytest

from traj_eval.plots import component_bars, verdict_strips

GOLD, FIRST_OTHER = "#0072b2", "#e69f00"


def sequence(name, verdicts, **fields):
    steps = [{"step": 16 * at, "verdict": v, "text": ""} for at, v in enumerate(verdicts)]
    return {"id": name, "gold": "C", "condition": "reasoning", "steps": steps, **fields}


def drawn(path):
    """Give the texts and the fills of an SVG file."""
    root = ElementTree.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = ["".join(node.itertext()).strip() for node in root.iter(f"{name}text")]
    styles = [node.get("style", "") for node in root.iter(f"{name}path")]
    return texts, [fill[0] for style in styles if (fill := re.findall(r"fill: (#\w+)", style))]


def widths(path, colour):
    """Give the widths of the boxes of one colour."""
    found = []
    for node in ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}path"):
        if f"fill: {colour}" in node.get("style", ""):
            numbers = [float(x) for x in re.findall(r"[ML] (-?[\d.]+)", node.get("d"))]
            found.append(max(numbers) - min(numbers))
    return found


def test_strip_shows_each_run_the_gold_and_what_is_undecided(tmp_path):
    path = tmp_path / "strips.svg"
    reasoning = sequence("one", [None, None, None, "A", "A", "C", "C", "C", "C", "C"])
    direct = sequence("two", [None, *["C"] * 9], condition="direct", source="x0")
    verdict_strips([reasoning, direct], path)
    texts, fills = drawn(path)
    assert "one · reasoning · gold C" in texts
    assert "two · direct · x0 · gold C" in texts
    assert sorted(t for t in texts if t in ("undecided", "A", "C ✓", "C")) == [
        "A", "C ✓", "C ✓", "undecided", "undecided",
    ]  # fmt: skip
    assert (fills.count(GOLD), fills.count(FIRST_OTHER)) == (2, 1)
    verdict_strips([direct, reasoning, sequence("three", ["B", "A"])], tmp_path / "3.svg")
    assert drawn(tmp_path / "3.svg")[1].count(FIRST_OTHER) == 2  # A has one colour throughout
    (other,) = widths(path, FIRST_OTHER)
    assert [width / other for width in widths(path, GOLD)] == pytest.approx([2.5, 4.5], rel=1e-3)
    assert "url(#h" in path.read_text()  # the hatch of undecided steps


def test_track_of_the_reasoning(tmp_path):
    path = tmp_path / "strips.svg"
    found = sequence("one", [None, "A", "C", "C"])
    for at, step in enumerate(found["steps"]):
        step.update(reasoning_committed=at / 4, answer_masked=at < 2)
    verdict_strips([found], path)
    texts, fills = drawn(path)
    assert {"answer written", "100 %", "denoising step"} <= set(texts)
    assert "#9db4c0" in fills
    verdict_strips([sequence("one", ["A"], gold=None)], path)
    texts, _ = drawn(path)
    assert "one · reasoning · no gold" in texts
    assert "answer written" not in texts


def group(condition, early, change, growth, gated, **fields):
    means = {
        "mean_early_factor": early,
        "mean_post_change_rate": change,
        "mean_length_growth": growth,
        "mean_gated_score": gated,
    }
    intervals = {
        name: {"low": mean - 0.1, "high": mean + 0.1, "degenerate": name.endswith("gated_score")}
        for name, mean in means.items()
        if mean is not None
    }
    named = {"model": "Dream", "task": None, "condition": condition}
    return {**named, "n": 64, **means, "intervals": intervals, **fields}


def test_bars_show_each_mean_its_interval_and_n(tmp_path):
    path = tmp_path / "bars.svg"
    groups = [group("direct", 0.9852, 0.3, None, 0.25), group("reasoning", 0.7, 0.4, 1.5, 0.5)]
    component_bars({"groups": groups}, path)
    texts, fills = drawn(path)
    assert {"0.99", "0.30", "none", "0.25", "0.70", "0.40", "1.50", "0.50"} <= set(texts)
    assert {"Dream", "direct (n = 64)", "reasoning (n = 64)", "gated score"} <= set(texts)
    assert fills.count(GOLD) == fills.count(FIRST_OTHER) == 4 + 1  # four bars and the legend's key
    intervals = path.read_text().count('<g id="LineCollection')
    assert intervals == 3 + 2  # seven values that vary, less two gated scores


def test_many_groups_and_no_intervals(tmp_path):
    path = tmp_path / "bars.png"
    groups = [group(f"condition {k}", 0.1 * k, 0.2, 0.3, 0.4, intervals={}) for k in range(9)]
    component_bars({"groups": groups}, path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    component_bars({"groups": groups}, tmp_path / "bars.svg")
    texts, _ = drawn(tmp_path / "bars.svg")
    assert "condition 8 (n = 64)" in texts


def test_nothing_to_draw(tmp_path):
    with pytest.raises(ValueError, match="at least one, but got none"):
        verdict_strips([], tmp_path / "a.png")
    with pytest.raises(ValueError, match="to have groups"):
        component_bars({"groups": []}, tmp_path / "a.png")
    for name in ("a.txt", "a", ".png"):
        with pytest.raises(ValueError, match=r"expected an ending out of \.pdf, \.png, \.svg"):
            verdict_strips([sequence("one", ["A"])], tmp_path / name)
        with pytest.raises(ValueError, match="expected an ending out of"):
            component_bars({"groups": [group("direct", 0.1, 0.2, 0.3, 0.4)]}, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_message_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'reasoning-drift\[plots\]'"):
        verdict_strips([sequence("one", ["A"])], tmp_path / "a.png")
