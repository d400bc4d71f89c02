"""Web pages that need nothing else, what their pictures show, and plots."""

from __future__ import annotations

import json
import random
import re
import struct
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from random_states import (
    LABELS,
    TARGETS,
    answer_rows,
    five_targets,
    gold_rows,
    write_answers,
    write_gold,
)
from sklearn.metrics import confusion_matrix

from drift_onset import cli, schema
from drift_onset.counts import columns, count_columns
from drift_onset.details import details
from drift_onset.evaluation import rows_to_pairs
from drift_onset.reading import typed
from drift_onset.views.html import Section, page
from drift_onset.views.sheets import Row, Sheet, Span, markdown

NASTY = '<script>alert("x")</script>&|`'


class Page(HTMLParser):
    """Reads a page; fails on tags that do not match, and keeps what it says and refers to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.text, self.tags, self.references = [], [], [], set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.references += [name for name, _ in attributes if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)
        if any(tag in self.open for tag in ("td", "th")):
            self.rows[-1][-1] += data


def read(path):
    text = path.read_text("utf-8")
    found = Page(text)
    assert not found.references
    assert not found.tags & {"script", "link", "img", "iframe", "object"}
    assert not re.search(r"url\(|@import|https?:", text)
    assert "prefers-color-scheme: dark" in text
    return found


@pytest.fixture
def sources(tmp_path):
    rng = random.Random(4)
    gold = gold_rows(rng, 40)
    gold[0]["scenario_id"] = NASTY
    answers = answer_rows(rng, gold, lambda: rng.randint(0, 20) / 20)
    return [
        str(write_gold(tmp_path / "gold.csv", rng, gold)),
        str(write_answers(tmp_path / "model <b>.csv", answers)),
    ]


def test_a_page_says_what_the_report_says(sources, tmp_path, capsys):
    output, html = tmp_path / "r.json", tmp_path / "new" / "r.html"
    arguments = ["--output", str(output), "--html", str(html), "--by", "length_band"]
    assert cli.main(["score", *sources, *arguments]) == 0
    assert f"written: {html}" in capsys.readouterr().out
    report, found = json.loads(output.read_text("utf-8")), read(html)
    rows = {row[0]: row[1:] for row in found.rows}
    for section in list(report)[1:4]:
        for name, value in report[section].items():
            if isinstance(value, float):
                interval = report["uncertainty"]["intervals"][name]
                shown = f"{interval['low']:.3f} to {interval['high']:.3f}"
                assert rows[name][0] == f"{value:.3f}", name
                assert rows[name][1].startswith(shown), name
                assert rows[name][2] == str(interval["n"])
    for by_label in report["per_class_metrics"].values():
        for label, scores in by_label.items():
            shown = [f"{scores['f1']:.3f}", str(scores["support"])]
            assert any(
                row[0] == label and row[1] == shown[1] and row[5] == shown[0]
                for row in found.rows
                if len(row) == 6
            )
    items = found.rows[-40:]
    for row, shown in zip(report["prediction_table"], items, strict=True):
        assert shown[0] == row["scenario_id"]
        assert ("✓" in shown[6]) is row["complete_primary_correct"]
        assert ("gold" not in shown[1]) is row["outcome_mode_correct"]
    text = " ".join(found.text)
    for words in (
        "n = 40",
        "So few rows",
        "Leaderboard A",
        "By length_band",
        report["signature"]["scorer"],
    ):
        assert words in text


def test_a_page_without_the_rows(sources, tmp_path):
    """With --table the rows are elsewhere; a page of a million rows would be no use."""
    html = tmp_path / "r.html"
    arguments = ["--html", str(html), "--table", str(tmp_path / "t.csv")]
    assert cli.main(["score", *sources, *arguments]) == 0
    assert "Every scenario" not in "".join(read(html).text)


def test_pages_of_the_other_commands(sources, tmp_path):
    gold, answers = sources
    rng = random.Random(9)
    html, reports = tmp_path / "c.html", tmp_path / "reports"
    other = str(write_answers(tmp_path / "other.csv", answer_rows(rng, rows_of(gold), right=0.2)))
    assert (
        cli.main(
            ["compare", answers, other, "--gold", gold, "--resamples", "50", "--html", str(html)]
        )
        == 0
    )
    assert "model <b>" in "".join(read(html).text)
    assert cli.main(["agree", answers, other, "--resamples", "50", "--html", str(html)]) == 0
    assert "Scenarios in dispute" in "".join(read(html).text)
    for name, source in (("<i>", answers), ("b", other)):
        output = ["--output", str(reports / f"{name}.json"), "--resamples", "50"]
        assert cli.main(["score", gold, source, *output]) == 0
    assert cli.main(["rank", str(reports), "--output", str(html)]) == 0
    assert "<i>" in "".join(read(html).text)


def rows_of(gold_file):
    """Give gold rows again as they were drawn, from the file."""
    rows = typed.read(gold_file, schema.LABELLED).to_pylist()
    return [{**row, "steps": [step["text"] for step in row["trajectory"]]} for row in rows]


def test_bars_stay_inside_their_axis():
    cells = [
        Span(-0.5, 1.5, False, 2.0),
        Span(-1.0, 0.0, True, -1.0, (-1.0, 1.0)),
        Span(None, None, True, 0.5),
    ]
    rows = tuple(Row((str(k), cell)) for k, cell in enumerate(cells))
    text = page("t", [], [Section("s", (Sheet("s", ("a", "b"), rows),))], [])
    Page(text)
    numbers = [float(n) for n in re.findall(r"(?:left|width): ([-\d.]+)%", text)]
    assert numbers
    assert all(0 <= n <= 100 for n in numbers)
    assert "the interval says nothing" in text


def test_markdown_keeps_its_columns():
    sheet = Sheet("A | b", ("x|y", "n"), (Row((NASTY + "\nnext", "1")), Row(("g",), "group")))
    lines = [line for line in markdown(sheet).splitlines() if line.startswith("|")]
    assert len(lines) == 4
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 3


def test_details_against_loops():
    rng = random.Random(2)
    gold = gold_rows(rng, 120)
    answers = answer_rows(rng, gold, lambda: rng.choice([None, 0, 0.1, 0.35, 1]))[:-15]
    side = columns(rows_to_pairs(five_targets(gold), answers, "incorrect"))
    found = details(side, count_columns(side, 15))
    answered = gold[:-15]
    for target, labels in LABELS.items():
        truth = [row[target] for row in answered]
        said = [row[f"predicted_{target}"] for row in answers]
        matrix = found.confusions[target]
        assert (matrix[:, :-1] == confusion_matrix(truth, said, labels=labels)).all()
        missing = [sum(row[target] == label for row in gold[-15:]) for label in labels]
        assert matrix[:, -1].tolist() == missing
    steps = [
        (g["first_drift_step"], a["predicted_first_drift_step"])
        for g, a in zip(answered, answers, strict=True)
    ]
    offsets = [said - truth for truth, said in steps if truth and said]
    assert {k: n for k, n in found.offsets.items() if n} == {k: offsets.count(k) for k in offsets}
    assert list(found.offsets) == list(range(min(offsets), max(offsets) + 1))
    assert found.blanks == {
        "rightly none": steps.count((None, None)),
        "missed drift": sum(bool(g) and not a for g, a in steps),
        "drift where none is": sum(not g and bool(a) for g, a in steps),
        "unanswered": 15,
    }
    right = [
        all(g[t] == a[f"predicted_{t}"] for t in TARGETS)
        for g, a in zip(answered, answers, strict=True)
    ]
    for k, one in enumerate(found.bins):
        rows = [
            (a["confidence"], r)
            for a, r in zip(answers, right, strict=True)
            if a["confidence"] is not None
            and max(int(np.ceil(round(a["confidence"] * 10, 9))) - 1, 0) == k
        ]
        assert one.n == len(rows)
        if rows:
            assert one.confidence == pytest.approx(np.mean([c for c, _ in rows]), abs=1e-12)
            assert one.accuracy == np.mean([r for _, r in rows])
        else:
            assert one.confidence is one.accuracy is None


def test_plots_name_the_extra_where_it_is_missing(sources, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["score", *sources, "--plots", str(tmp_path / "plots")]) == 1
    assert "pip install 'reasoning-drift[plots]'" in capsys.readouterr().err
    assert not (tmp_path / "plots").exists()


@pytest.mark.loading
@pytest.mark.needs("matplotlib")
def test_plots(sources, tmp_path):
    plots, reports = tmp_path / "plots", tmp_path / "reports"
    output = ["--output", str(reports / "model.json")]
    assert cli.main(["score", *sources, *output, "--plots", str(plots)]) == 0
    assert cli.main(["rank", str(reports), "--gold", sources[0], "--plots", str(plots)]) == 0
    names = {f"confusion_{target}" for target in LABELS} | {
        "onset_offset",
        "metrics",
        "reliability",
    }
    names |= {"leaderboard_a_component_capability", "leaderboard_b_complete_reasoning_state"}
    assert {path.stem for path in plots.iterdir()} == names
    for name in names:
        width, height = struct.unpack(">II", (plots / f"{name}.png").read_bytes()[16:24])
        assert width > 500
        assert height > 200
        drawn = "".join(ElementTree.parse(plots / f"{name}.svg").getroot().itertext())
        assert "n = 40" in drawn, name
    drawn = "".join(ElementTree.parse(plots / "metrics.svg").getroot().itertext())
    assert "component_mean" in drawn
    first = {path.name: path.read_bytes() for path in plots.glob("*.svg")}
    assert cli.main(["score", *sources, "--plots", str(plots)]) == 0
    assert all((plots / name).read_bytes() == text for name, text in first.items())


@pytest.mark.loading
@pytest.mark.needs("matplotlib")
def test_plots_of_one_row_without_confidence(tmp_path):
    rng = random.Random(1)
    gold = gold_rows(rng, 1)
    paths = [
        str(write_gold(tmp_path / "g.csv", rng, gold)),
        str(write_answers(tmp_path / "a.csv", answer_rows(rng, gold))),
    ]
    assert cli.main(["score", *paths, "--plots", str(tmp_path / "plots")]) == 0
    made = {path.stem for path in (tmp_path / "plots").iterdir()}
    assert "reliability" not in made
    assert "metrics" in made
