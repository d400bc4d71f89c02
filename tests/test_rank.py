"""Leaderboards from a folder of reports: ranks, ties, and what is refused by name."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from random_states import answer_rows, gold_rows, write_answers, write_gold

from drift_onset import cli
from drift_onset.comparing.rank import rank
from drift_onset.comparing.saved import BOARDS

A, B = BOARDS


@pytest.fixture
def folder(root, tmp_path):
    """Reports on the test split: the baseline twice, the gold itself, and no drift throughout."""
    gold = root / "data" / "test.csv"
    with gold.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    right = []
    for row in rows:
        texts = json.loads(row["constraints_json"])
        residual = row["residual_constraint_failure"]
        values = {name: row[name] for name in list(row)[5:9]}
        values["residual_constraint_id"] = "" if residual == "none" else texts.index(residual) + 1
        answer = {f"predicted_{name}": value for name, value in values.items()}
        right.append({"scenario_id": row["scenario_id"], **answer})
    blank = dict(
        zip(list(right[0])[1:], ("no_drift", "", "none", "not_applicable", "none"), strict=True)
    )
    example = root / "baseline" / "example_predictions.csv"
    sources = {
        "zebra": example,
        "ape": example,
        "oracle": write_answers(tmp_path / "oracle.csv", right),
        "calm": write_answers(tmp_path / "calm.csv", [{**row, **blank} for row in right]),
    }
    reports = tmp_path / "reports"
    for name, source in sources.items():
        arguments = [str(gold), str(source), "--output", str(reports / f"{name}.json")]
        assert cli.main(["score", *arguments, "--resamples", "100"]) == 0
    return reports


def places(boards, board):
    return [(entry.rank, entry.name) for entry in boards.boards[board] if entry.kind == "model"]


def test_ranks_ties_and_references(folder):
    boards = rank(folder)
    assert places(boards, A) == [(1, "oracle"), (2, "ape"), (2, "zebra"), (4, "calm")]
    assert places(boards, B) == [(1, "oracle"), (2, "calm"), (3, "ape"), (3, "zebra")]
    for board, (metric, *_) in BOARDS.items():
        entries = boards.boards[board]
        values = [entry.values[metric] for entry in entries]
        assert values == sorted(values, reverse=True)
        placed = {entry.name: entry for entry in entries if entry.kind == "reference"}
        assert set(placed) == {"uniform random", "majority state", "onset prior", "heuristic"}
        assert all(entry.rank is None for entry in placed.values())
        models = {entry.name: entry for entry in entries if entry.kind == "model"}
        assert models["ape"].values == placed["heuristic"].values
        assert models["calm"].values == placed["majority state"].values
        for name, entry in models.items():
            report = json.loads((folder / f"{name}.json").read_text("utf-8"))
            interval = report["uncertainty"]["intervals"][metric]
            assert (entry.low, entry.high, entry.n) == (interval["low"], interval["high"], 12)
            assert entry.values == {m: report[board][m] for m in BOARDS[board]}
    assert boards.support["outcome_mode"]["no_drift"] == 3


def test_scores_that_differ_by_rounding_alone_tie(folder):
    report = json.loads((folder / "zebra.json").read_text("utf-8"))
    report[A]["component_mean"] += 1e-16
    (folder / "zebra.json").write_text(json.dumps(report), "utf-8")
    assert places(rank(folder), A)[1:3] == [(2, "ape"), (2, "zebra")]


def test_every_form_says_the_same(folder, capsys, tmp_path):
    made = {end: tmp_path / "out" / f"board.{end}" for end in ("md", "csv", "html", "json")}
    outputs = [part for path in made.values() for part in ("--output", str(path))]
    assert cli.main(["rank", str(folder), *outputs]) == 0
    shown = capsys.readouterr().out
    boards = json.loads(made["json"].read_text("utf-8"))
    with made["csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [shown, made["md"].read_text("utf-8"), made["html"].read_text("utf-8")]
    for board, metrics in BOARDS.items():
        of_board = [row for row in rows if row["leaderboard"] == board]
        for row, entry in zip(of_board, boards[board]["rows"], strict=True):
            assert row["name"] == entry["name"]
            assert row["rank"] == str(entry["rank"] or "")
            assert [float(row[metric]) for metric in metrics] == [entry[m] for m in metrics]
            assert all(row[m] == "" for other in BOARDS.values() for m in other if m not in metrics)
    for text in texts:
        assert text.index("Leaderboard A") < text.index("Leaderboard B") < text.index("F1 by class")
        for row in boards[A]["rows"]:
            assert row["name"].split()[-1] in text
            assert row["low"] is None or f"{row['low']:.3f} to" in text
    assert "| 2 | ape | 12 | 0.144 |" in texts[1]
    assert cli.main(["rank", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == boards


def edited(path, change):
    report = json.loads(path.read_text("utf-8"))
    change(report)
    path.write_text(json.dumps(report), "utf-8")


def test_all_that_does_not_belong_is_named_at_once(folder, capsys):
    edited(folder / "ape.json", lambda r: r["signature"].update(gold_sha256="0" * 64))
    edited(folder / "calm.json", lambda r: r["signature"].update(scorer="reasoning-drift 0.1.0"))
    for name, text in (("list", "[]"), ("broken", "{"), ("nan", '{"a": NaN}')):
        (folder / f"{name}.json").write_text(text, "utf-8")
    report = json.loads((folder / "zebra.json").read_text("utf-8"))
    report["signature"]["n"] = report["benchmark"]["n"] = 11
    (folder / "short.json").write_text(json.dumps(report), "utf-8")
    assert cli.main(["rank", str(folder)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    lines = told.err.splitlines()
    for name, words in {
        "ape": "gold_sha256 is '0000",
        "calm": "scorer is 'reasoning-drift 0.1.0'",
        "short": "n is 11, data/test.csv with this version has 12",
        "list": "is no report",
        "broken": "not JSON",
        "nan": "NaN",
    }.items():
        assert len([line for line in lines if f"{name}.json" in line and words in line]) == 1, name
    assert lines[-1] == "6 problems found"
    assert not any("zebra.json" in line or "oracle.json" in line for line in lines)


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.pop("signature"),
        lambda r: r["signature"].update(n="12"),
        lambda r: r["benchmark"].update(n=13),
        lambda r: r[A].pop("component_mean"),
        lambda r: r[A].update(component_mean=1.5),
        lambda r: r[B].update(complete_primary_accuracy=None),
        lambda r: r[B].update(complete_primary_accuracy=0.9),
        lambda r: r[B].update(complete_primary_accuracy=11 / 12),
        lambda r: r["uncertainty"]["intervals"].update(component_mean={}),
        lambda r: r["class_support"].pop("outcome_mode"),
        lambda r: r["per_class_metrics"]["outcome_mode"].update(no_drift={}),
    ],
)
def test_a_report_that_lacks_something_is_none(folder, capsys, change):
    edited(folder / "ape.json", change)
    assert cli.main(["rank", str(folder)]) == 1
    assert "ape.json: is no report" in capsys.readouterr().err


def test_other_data(tmp_path, capsys):
    """On data that is not the benchmark's there are reference rows only if it is given."""
    rng = random.Random(3)
    gold, reports = gold_rows(rng, 15), tmp_path / "reports"
    path = str(write_gold(tmp_path / "gold.csv", rng, gold))
    for k in range(3):
        answers = write_answers(tmp_path / f"{k}.csv", answer_rows(rng, gold, right=k / 2))
        output = ["--output", str(reports / f"{k}.json"), "--resamples", "0"]
        assert cli.main(["score", path, str(answers), *output]) == 0
    assert {entry.kind for entry in rank(reports).boards[A]} == {"model"}
    assert all(entry.low is None for entry in rank(reports).boards[A])  # no resamples
    assert {entry.kind for entry in rank(reports, path).boards[A]} == {"model", "reference"}
    edited(reports / "0.json", lambda r: r["signature"].update(gold_sha256="f" * 64))
    capsys.readouterr()
    assert cli.main(["rank", str(reports)]) == 1
    err = capsys.readouterr().err
    assert "0.json: gold_sha256" in err
    assert "2 of 3 reports have" in err


def test_wrong_usage_and_nothing_to_rank(folder, tmp_path, capsys):
    assert cli.main(["rank", str(tmp_path / "nowhere")]) == 1
    assert "is no folder" in capsys.readouterr().err
    assert cli.main(["rank", str(folder), "--output", "board.xlsx"]) == 2
    assert ".md, .csv, .html, .json" in capsys.readouterr().err
    own = str(folder / "ape.json")
    assert cli.main(["rank", str(folder), "--output", own]) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert json.loads(Path(own).read_text("utf-8"))["benchmark"]["n"] == 12
