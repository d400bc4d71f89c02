"""Parts of the rows: each is scored as if it stood alone, and together they are the whole."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from random_states import (
    TARGETS,
    answer_rows,
    five_targets,
    gold_rows,
    labelled_record,
    write_answers,
    write_gold,
)

from drift_onset import InvalidInput, cli, score

DOMAINS = ("ecology", "legal", "NA", "10", "9")


def band(row):
    steps = len(row["steps"])
    return "short, up to 4" if steps <= 4 else "medium, 5 to 7" if steps < 8 else "long, from 8"


def third(row):
    onset, steps = row["first_drift_step"], len(row["steps"])
    if onset is None:
        return "no onset"
    return "early" if 3 * onset <= steps else "middle" if 3 * onset <= 2 * steps else "late"


@pytest.fixture(scope="module")
def sample():
    rng = random.Random(1)
    gold = gold_rows(rng, 150)
    for row in gold:
        row["steps"] += [f"More {k}" for k in range(rng.randint(0, 5))]
    answers = answer_rows(rng, gold, lambda: rng.randint(0, 10) / 10)
    rows = [{**labelled_record(rng, row), "domain": rng.choice(DOMAINS)} for row in gold]
    return gold, answers, rows


def test_each_stratum_is_scored_as_if_alone(sample):
    gold, answers, rows = sample
    answers = answers[:-20]
    by = ("domain", "length_band", "onset_third", "severity")
    report = score(rows, answers, on_invalid="incorrect", resamples=60, by=by)
    values = {
        "domain": [row["domain"] for row in rows],
        "severity": [row["severity"] for row in rows],
        "length_band": list(map(band, gold)),
        "onset_third": list(map(third, gold)),
    }
    for column, strata in report.strata.items():
        counted = Counter(values[column])
        assert {part.value: part.scores.n for part in strata} == counted, column
        for part in strata:
            kept = [row for row, v in zip(gold, values[column], strict=True) if v == part.value]
            ids = {row["scenario_id"] for row in kept}
            some = [a for a in answers if a["scenario_id"] in ids]
            alone = score(five_targets(kept), some, on_invalid="incorrect", resamples=60)
            assert part.scores == alone.scores
            assert part.intervals == alone.uncertainty
            assert part.is_small is (part.scores.n < 100)
        assert sum(part.scores.n_invalid for part in strata) == 20


def test_order_of_strata(sample):
    _, answers, rows = sample
    strata = score(rows, answers, resamples=0, by=["domain", "severity", "onset_third"]).strata
    # Numbers as numbers, then texts; labels as in the schema.
    assert [part.value for part in strata["domain"]] == ["9", "10", "NA", "ecology", "legal"]
    assert [part.value for part in strata["severity"]] == ["none", "low", "medium", "high"]
    assert [part.value for part in strata["onset_third"]] == ["early", "middle", "late", "no onset"]


def test_blank_cells_and_label_ids(sample):
    _, answers, rows = sample
    found = score(rows, answers, resamples=0, by=["visible_failure_step"]).strata
    blank = found["visible_failure_step"][-1]
    assert blank.value == "(blank)"
    assert blank.scores.n == sum(row["visible_failure_step"] is None for row in rows)
    names = ["none", "low", "medium", "high"]
    ids = [{**row, "severity": names.index(row["severity"])} for row in rows]
    both = [score(r, answers, resamples=0, by=["severity"]).strata["severity"] for r in (rows, ids)]
    assert both[0] == both[1]


def test_lengths_that_are_not_known(sample):
    gold, answers, _ = sample
    found = score(
        five_targets(gold), answers, resamples=0, by=["length_band", "onset_third"]
    ).strata
    assert [part.value for part in found["length_band"]] == ["length not known"]
    assert {part.value for part in found["onset_third"]} == {"no onset", "length not known"}


def test_command(tmp_path, sample, capsys):
    rng = random.Random(2)
    gold, answers, _ = sample
    paths = [
        str(write_gold(tmp_path / "gold.csv", rng, gold)),
        str(write_answers(tmp_path / "answers.csv", answers)),
    ]
    command = ["score", *paths, "--resamples", "50", "--by", "length_band", "--by", "outcome_mode"]
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    for words in (
        "By length_band: Leaderboard A",
        "By outcome_mode: Leaderboard B",
        "fewer than 100",
    ):
        assert words in shown
    assert cli.main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report)[-3:] == ["uncertainty", "strata", "signature"]
    parts = report["strata"]["outcome_mode"]
    assert [part["value"] for part in parts] == [
        "no_drift",
        "latent_drift",
        "recovered_drift",
        "visible_failure",
    ]
    for part in parts:  # one class only, and what follows from it
        assert part["small"] is True
        assert set(part["intervals"]) == {k for k, v in part["scores"].items() if v is not None}
    assert sum(part["n"] for part in parts) == 150


def test_what_cannot_part_the_rows_is_refused_at_once(tmp_path, sample, capsys):
    rng = random.Random(2)
    gold, answers, rows = sample
    more = [{**row, "scenario_id": f"{row['scenario_id']}-{k}"} for k in range(2) for row in gold]
    said = [{**a, "scenario_id": f"{a['scenario_id']}-{k}"} for k in range(2) for a in answers]
    paths = [
        str(write_gold(tmp_path / "gold.csv", rng, more)),
        str(write_answers(tmp_path / "answers.csv", said)),
    ]
    assert cli.main(["score", *paths, "--by", "scenario_id", "--by", "colour"]) == 1
    err = capsys.readouterr().err
    assert "scenario_id: has 300 different values, expected at most 200" in err
    assert "colour: is no column" in err
    assert "length_band" in err
    with pytest.raises(InvalidInput, match="<gold>: colour"):
        score(rows, answers, by=["colour"])


def test_one_row():
    values = ("latent_drift", 1, "scope_collapse", "unrepaired", 1)
    row = {"scenario_id": "a", **dict(zip(TARGETS, values, strict=True)), "domain": "x"}
    found = score([row], [row], resamples=20, by=["domain"]).strata["domain"]
    assert [part.value for part in found] == ["x"]
    assert all(interval.degenerate for interval in found[0].intervals.values())
