"""Rows to compare with, against enumeration, a sampler of its own and counting by hand."""

from __future__ import annotations

import csv
import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
from random_states import FAMILIES, LABELS, OUTCOMES, TARGETS, gold_rows, write_gold
from sklearn.metrics import f1_score
from slow_scores import macro_f1

from drift_onset import cli, score
from drift_onset.comparing import references
from drift_onset.reading.loading import read_file
from drift_onset.schema import LABELLED

REPAIRS_OF = {
    "latent_drift": ("failed_repair", "unrepaired"),
    "recovered_drift": ("full_repair", "partial_repair"),
    "visible_failure": ("failed_repair", "unrepaired"),
}


def lawful_states(steps, constraints):
    """List every lawful state of a scenario, from the rules as they are written down."""
    states = [("no_drift", None, "none", "not_applicable", None)]
    for outcome, repairs in REPAIRS_OF.items():
        for onset, family, repair in itertools.product(range(1, steps + 1), FAMILIES[1:], repairs):
            residuals = [None] if repair == "full_repair" else range(1, constraints + 1)
            states += [(outcome, onset, family, repair, residual) for residual in residuals]
    return states


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def shapes(rows):
    return [
        (len(json.loads(r["trajectory_json"])), len(json.loads(r["constraints_json"])))
        for r in rows
    ]


@pytest.fixture(scope="module")
def test_split(root):
    return root / "data" / "test.csv"


def test_expectations_of_guessing_against_a_sampler(test_split):
    """The exact values lie within four standard errors of 1500 scored draws."""
    states = read_file(str(test_split), LABELLED).states
    exact = references.uniform(states)
    assert exact.method == references.EXACT
    rows = csv_rows(test_split)
    possible = [lawful_states(*shape) for shape in shapes(rows)]
    rng = random.Random(4)
    drawn = {name: [] for name in exact.values}
    for _ in range(1500):
        guesses = [rng.choice(states) for states in possible]
        parts = [
            macro_f1([r[t] for r in rows], [g[TARGETS.index(t)] for g in guesses]) for t in LABELS
        ]
        onset = np.mean(
            [r["first_drift_step"] == str(g[1] or "") for r, g in zip(rows, guesses, strict=True)]
        )
        values = [np.mean([*parts, onset]), parts[0], onset, parts[1], parts[2]]
        for name, value in zip(drawn, values, strict=False):
            drawn[name].append(value)
    for name, values in list(drawn.items())[:5]:
        error = np.std(values) / np.sqrt(len(values))
        assert exact.values[name] == pytest.approx(np.mean(values), abs=4 * error), name
    complete = np.mean([1 / len(states) for states in possible])
    assert exact.values["complete_primary_accuracy"] == pytest.approx(complete, abs=1e-15)


def test_expected_macro_f1_against_every_outcome():
    codes = np.array([0, 1, 1, 2, 0])
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    expected = 0.0
    for guess in itertools.product(range(3), repeat=5):
        chance = np.prod([p[row, label] for row, label in enumerate(guess)])
        expected += chance * f1_score(codes, guess, average="macro")
    assert references._expected_macro_f1(codes, p) == pytest.approx(expected, abs=1e-12)
    simulated = references._simulated_macro_f1(codes, np.arange(5), p, 40_000, 0)
    assert simulated == pytest.approx(expected, abs=0.005)


def test_simulation_where_a_class_has_no_support(tmp_path):
    rng = random.Random(2)
    gold = gold_rows(rng, 25, outcomes=OUTCOMES[1:3])
    states = read_file(str(write_gold(tmp_path / "g.csv", rng, gold)), LABELLED).states
    found = references.uniform(states, simulations=4000, seed=3)
    assert found.method == "simulated expectation, 4000 draws, seed 3"
    possible = [lawful_states(len(r["steps"]), len(r["constraints"])) for r in gold]
    drawn = []
    for _ in range(1500):
        guesses = [rng.choice(states)[0] for states in possible]
        drawn.append(macro_f1([r["outcome_mode"] for r in gold], guesses))
    error = np.std(drawn) * np.sqrt(1 / 1500 + 1 / 4000)
    assert found.values["outcome_mode_macro_f1"] == pytest.approx(np.mean(drawn), abs=4 * error)
    assert found == references.uniform(states, simulations=4000, seed=3)


def test_majority_and_prior_against_counting(root, test_split):
    train = csv_rows(root / "data" / "train.csv")
    states = {
        k: read_file(str(root / "data" / f"{k}.csv"), LABELLED).states for k in ("train", "test")
    }
    counted = Counter(tuple(row[name] for name in TARGETS[:4]) for row in train)
    most = counted.most_common(1)[0][0]
    for row in references.majority(states["test"], states["train"]):
        assert tuple(row[t] for t in TARGETS[:4]) == (most[0], most[1] or None, *most[2:])
    onsets = Counter(row["first_drift_step"] for row in train if row["first_drift_step"])
    best = min(int(k) for k, n in onsets.items() if n == max(onsets.values()))
    drifted = [row for row in train if row["first_drift_step"]]
    pairs = Counter((row["outcome_mode"], row["repair_outcome"]) for row in drifted)
    often = [pair for pair, n in pairs.items() if n == max(pairs.values())]
    first = min(often, key=lambda pair: OUTCOMES.index(pair[0]))  # schema order on a tie
    rows = references.onset_prior(states["test"], states["train"])
    for row, (steps, _) in zip(rows, shapes(csv_rows(test_split)), strict=True):
        assert row["first_drift_step"] == min(best, steps)
        assert (row["outcome_mode"], row["repair_outcome"]) == first


def test_rows_are_scores_of_predictions(root, test_split, tmp_path):
    found = {row.name: row for row in references.references(test_split, resamples=200)}
    assert [row.method for row in found.values()] == [references.EXACT, *["scored"] * 3]
    assert cli.main(["baseline", str(root / "data/test_blind.csv"), str(tmp_path / "p.csv")]) == 0
    report = score(str(test_split), str(tmp_path / "p.csv"), resamples=200)
    for name, value in found["heuristic"].values.items():
        assert value == getattr(report.scores, name)
        assert found["heuristic"].intervals[name] == report.uncertainty[name]


def test_numbers_beyond_a_scenario_are_clipped(tmp_path):
    """A prior learnt on long trajectories stays lawful on short ones."""
    rng = random.Random(1)
    long = [
        {**row, "steps": [f"s{k}" for k in range(9)]}
        for row in gold_rows(rng, 30, outcomes=OUTCOMES[3:])
    ]
    train = [
        {**row, "first_drift_step": 9, "residual_constraint_id": len(row["constraints"])}
        for row in long
    ]
    test = gold_rows(rng, 12)
    paths = [write_gold(tmp_path / f"{k}.csv", rng, rows) for k, rows in enumerate((test, train))]
    rows = references.references(*paths, resamples=0)
    assert [row.n for row in rows] == [12] * 4


def test_command(capsys, root):
    assert cli.main(["references", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert cli.main(["references", str(root / "data" / "test.csv"), "--markdown"]) == 0
    text = capsys.readouterr().out
    assert cli.main(["references"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for row in rows:
        assert f"{row['name']}: {row['text']} ({row['method']})" in shown
        assert f"| {row['name']} | {row['values']['component_mean']:.3f} |" in text
    assert cli.main(["references", str(root / "data" / "test_blind.csv")]) == 1
    assert "test_blind.csv" in capsys.readouterr().err
