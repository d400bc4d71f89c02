"""Paired comparison against loops that resample rows, enumerate exchanges, and statsmodels."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_states import (
    LABELS,
    TARGETS,
    answer_rows,
    five_targets,
    gold_rows,
    write_answers,
    write_gold,
)
from scipy.stats import binomtest
from sklearn.metrics import f1_score
from slow_scores import macro_f1
from statsmodels.stats.contingency_tables import mcnemar as peer

from drift_onset import cli
from drift_onset.comparing import paired
from drift_onset.comparing.compare import compare
from drift_onset.comparing.differences import COMPARED, mcnemar
from drift_onset.counts import columns
from drift_onset.evaluation import rows_to_pairs

ACCURACIES = {
    "exact_onset_accuracy": "first_drift_step",
    "residual_constraint_exact_accuracy": "residual_constraint_id",
}


def systems(n, seed, right=(0.8, 0.5)):
    """Draw gold and two systems that have much in common."""
    rng = random.Random(seed)
    gold = gold_rows(rng, n)
    first = answer_rows(rng, gold, right=right[0])
    other = answer_rows(rng, gold, right=right[1])
    second = [b if rng.random() < 0.6 else a for a, b in zip(first, other, strict=True)]
    return gold, first, second


def slow_scores(gold, answers, rows):
    """Score some rows, repeated ones included, one by one."""
    truth, said = [gold[k] for k in rows], [answers[k] for k in rows]
    found = {}
    for target in LABELS:
        pair = [g[target] for g in truth], [a[f"predicted_{target}"] for a in said]
        found[f"{target}_macro_f1"] = macro_f1(*pair)
    right = {
        target: np.array(
            [g[target] == a[f"predicted_{target}"] for g, a in zip(truth, said, strict=True)]
        )
        for target in TARGETS
    }
    for name, target in ACCURACIES.items():
        found[name] = right[target].mean()
    parts = [found[f"{target}_macro_f1"] for target in LABELS]
    found["component_mean"] = (sum(parts) + found["exact_onset_accuracy"]) / 4
    found["complete_primary_accuracy"] = np.logical_and.reduce(list(right.values())).mean()
    steps = [
        (g["first_drift_step"], a["predicted_first_drift_step"])
        for g, a in zip(truth, said, strict=True)
    ]
    errors = [abs(g - a) for g, a in steps if g and a]
    found["mean_absolute_onset_error"] = float(np.mean(errors)) if errors else None
    found["within_one_onset_accuracy"] = np.mean(
        [g == a or bool(g and a and abs(g - a) <= 1) for g, a in steps]
    )
    return found


def test_values_are_those_of_each_system_alone():
    gold, first, second = systems(30, 1)
    families = [
        [r[k] for r in rows] for rows, k in ((gold, TARGETS[2]), (first, f"predicted_{TARGETS[2]}"))
    ]
    assert macro_f1(*families) == pytest.approx(f1_score(*families, average="macro"), abs=1e-12)
    found = compare(five_targets(gold), first, second, resamples=10)
    assert tuple(found.differences) == COMPARED
    for answers, side in ((first, "a"), (second, "b")):
        slow = slow_scores(gold, answers, range(30))
        for metric, by in found.differences.items():
            assert getattr(by, side) == pytest.approx(slow[metric], abs=1e-12), metric
    for by in found.differences.values():
        assert by.difference == by.a - by.b


def test_intervals_against_rows_resampled_for_both():
    gold, first, second = systems(40, 2)
    found = compare(five_targets(gold), first, second, resamples=20_000).differences
    rng = np.random.default_rng(5)
    slow = {metric: [] for metric in COMPARED}
    for _ in range(400):
        rows = rng.integers(40, size=40)
        ours, theirs = (slow_scores(gold, answers, rows) for answers in (first, second))
        for metric, values in slow.items():
            values.append(ours[metric] - theirs[metric])
    for metric, values in slow.items():
        mean, spread = np.mean(values), np.std(values)
        low, high = found[metric].interval.low, found[metric].interval.high
        # Ends of 400 loops are rough; the middle and the width are not.
        assert (low + high) / 2 == pytest.approx(mean, abs=0.35 * spread), metric
        assert high - low == pytest.approx(3.92 * spread, rel=0.15), metric
        assert not found[metric].interval.degenerate


def test_what_both_find_hard_cancels_out():
    """Two systems with the same errors: unpaired, their intervals would be wide."""
    gold, first, _ = systems(40, 3, right=(0.5, 0.5))
    found = compare(five_targets(gold), first, first, resamples=200)
    for by in found.differences.values():
        assert (by.difference, by.interval.low, by.interval.high, by.p) == (0, 0, 0, 1)
        assert by.interval.degenerate
        assert not by.is_told_apart
    assert found.items.num_rows == 0
    assert found.verdict("component_mean") == "not distinguishable on n = 40"


def test_randomisation_against_every_exchange():
    gold, first, second = systems(9, 4)
    found = compare(five_targets(gold), first, second, resamples=20_000).differences
    observed, null = None, []
    for swapped in itertools.product([False, True], repeat=9):
        pairs = [
            (b, a) if swap else (a, b) for a, b, swap in zip(first, second, swapped, strict=True)
        ]
        ours, theirs = zip(*pairs, strict=True)
        ours, theirs = (slow_scores(gold, side, range(9)) for side in (ours, theirs))
        null.append({m: ours[m] - theirs[m] for m in COMPARED if ours[m] is not None})
        observed = observed or null[0]
    for metric in observed:
        extreme = [abs(by[metric]) >= abs(observed[metric]) - 1e-9 for by in null]
        tolerance = 1e-9 if metric == "complete_primary_accuracy" else 0.02
        assert found[metric].p == pytest.approx(np.mean(extreme), abs=tolerance), metric


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (5, 0), (6, 0), (3, 3), (2, 9), (700, 600)])
def test_mcnemar_against_statsmodels(counts):
    a, b = counts
    expected = peer([[0, a], [b, 0]], exact=True).pvalue if a + b else 1.0
    assert mcnemar(a, b) == mcnemar(b, a) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("counts", [(1000, 1001), (300_000, 301_000), (1001, 0), (2000, 1500)])
def test_mcnemar_of_many_against_scipy(counts):
    expected = binomtest(min(counts), sum(counts)).pvalue
    assert mcnemar(*counts) == pytest.approx(expected, rel=1e-7, abs=1e-300)


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_merged_parts_equal_the_whole(seed, n, parts):
    gold, first, second = systems(n, seed)
    sides = [columns(rows_to_pairs(five_targets(gold), rows)) for rows in (first, second)]
    whole = paired.count(*sides)
    assert whole.total == n
    pile = np.random.default_rng(seed).integers(parts, size=n)
    merged = None
    for part in set(pile.tolist()):
        one = paired.count(*(side.take(pile == part) for side in sides))
        merged = one if merged is None else merged + one
    assert merged == whole
    assert merged.flips() == whole.flips()


def flipped(n, wrong):
    """Give n right answers, and the same with one field wrong in the first few."""
    gold = [{**row, "scenario_id": f"s{k}"} for k, row in enumerate([drift(1)] * n)]
    right = [{**row} for row in gold]
    return (
        gold,
        right,
        [{**r, "first_drift_step": 2} if k < wrong else r for k, r in enumerate(right)],
    )


def drift(step):
    values = ("latent_drift", step, "scope_collapse", "unrepaired", 1)
    return dict(zip(TARGETS, values, strict=True))


def test_told_apart_from_six_flips_one_way():
    """Five leave the bootstrap interval above 0 but p at 1/16: not told apart."""
    metric = "complete_primary_accuracy"
    for wrong, p, apart in ((5, 2 / 32, False), (6, 2 / 64, True), (12, 2 / 4096, True)):
        found = compare(*flipped(12, wrong), names=("x", "y"), resamples=2000)
        by = found.differences[metric]
        assert by.interval.low > 0
        assert by.p == p
        assert by.is_told_apart is apart
        words = "x is better than y on n = 12" if apart else "not distinguishable on n = 12"
        assert found.verdict(metric) == words
        backwards = compare(
            *(flipped(12, wrong)[k] for k in (0, 2, 1)), names=("y", "x"), resamples=2000
        )
        assert backwards.verdict(metric) == words
    assert by.interval.degenerate  # every resample says the same: all wrong against all right


def test_one_row_is_never_told_apart():
    found = compare(*flipped(1, 1), resamples=50)
    for by in found.differences.values():
        assert by.interval.degenerate
        assert not by.is_told_apart
    json.dumps(found.to_dict(), allow_nan=False)


def test_no_step_on_either_side():
    none = dict(zip(TARGETS, ("no_drift", None, "none", "not_applicable", None), strict=True))
    gold = [{**none, "scenario_id": f"s{k}"} for k in range(4)]
    found = compare(gold, gold, gold, resamples=20).differences["mean_absolute_onset_error"]
    assert (found.a, found.difference, found.p, found.interval.low) == (None, None, None, None)
    assert not found.is_told_apart


def test_seed_and_row_order():
    gold, first, second = systems(30, 6)
    one, again, other = (
        compare(five_targets(gold), first, second, resamples=300, seed=seed).differences
        for seed in (7, 7, 8)
    )
    assert one == again
    assert one["component_mean"] != other["component_mean"]
    shuffled = random.Random(1).sample(gold, 30)
    assert compare(five_targets(shuffled), first, second, resamples=300, seed=7).differences == one


@pytest.fixture
def files(tmp_path):
    rng = random.Random(8)
    gold, first, second = systems(20, 8, right=(1, 0))
    write_gold(tmp_path / "gold.csv", rng, gold)
    write_answers(tmp_path / "first.csv", first)
    write_answers(tmp_path / "second.csv", second)
    return tmp_path, gold, first, second


def test_command(files, capsys):
    folder, gold, first, second = files
    paths = [str(folder / f"{name}.csv") for name in ("first", "second", "gold")]
    outputs = ["--output", str(folder / "c.json"), "--html", str(folder / "c.html")]
    command = ["compare", *paths[:2], "--gold", paths[2], "--resamples", "300"]
    assert cli.main([*command, *outputs]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    made = json.loads((folder / "c.json").read_text("utf-8"))
    page = (folder / "c.html").read_text("utf-8")
    for found in made["verdicts"].values():
        assert found["verdict"] in shown
        assert found["verdict"] in page
    assert made["a"] == "first"
    differing = []
    for g, a, b in zip(gold, first, second, strict=True):
        flags = [(g[t] == a[f"predicted_{t}"], g[t] == b[f"predicted_{t}"]) for t in TARGETS]
        if any(x != y for x, y in flags):
            differing.append(g["scenario_id"])
    assert [item["scenario_id"] for item in made["items"]] == differing != []
    for scenario in differing:
        assert scenario in page
    only_a = made["flips"]["complete_primary"]["only_a_right"]
    assert only_a == sum(
        item["a_complete_primary_correct"] and not item["b_complete_primary_correct"]
        for item in made["items"]
    )
    assert cli.main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == made


def test_an_unanswered_scenario_is_shown_as_such(files, capsys):
    folder, gold, first, _ = files
    write_answers(folder / "second.csv", first[:-2])
    paths = [str(folder / f"{name}.csv") for name in ("first", "second", "gold")]
    command = ["compare", *paths[:2], "--gold", paths[2], "--resamples", "50"]
    assert cli.main([*command, "--on-invalid", "incorrect"]) == 0
    shown = capsys.readouterr().out
    assert "second: 2 missing or invalid and counted as wrong" in shown
    assert shown.count("unanswered ✗") == 10  # five targets each
    assert all(row["scenario_id"] in shown for row in gold[-2:])


def test_problems_of_both_sides_come_at_once_and_those_of_gold_once(files, capsys):
    folder, *_ = files
    for name in ("first", "second"):
        path = folder / f"{name}.csv"
        lines = path.read_text("utf-8").splitlines(keepends=True)
        path.write_text("".join([lines[0], "strange" + lines[1], *lines[2:]]), "utf-8")
    command = ["compare", str(folder / "first.csv"), str(folder / "second.csv"), "--gold"]
    assert cli.main([*command, str(folder / "gold.csv")]) == 1
    err = capsys.readouterr().err
    assert "first.csv" in err
    assert "second.csv" in err
    (folder / "gold.csv").write_text("a,b\n", "utf-8")
    assert cli.main([*command, str(folder / "gold.csv")]) == 1
    header = [line for line in capsys.readouterr().err.splitlines() if "gold.csv:1" in line]
    assert len(header) == len(set(header)) > 0


def test_wrong_usage(files, capsys):
    folder, *_ = files
    paths = [str(folder / f"{name}.csv") for name in ("first", "second", "gold")]
    command = ["compare", *paths[:2], "--gold", paths[2]]
    assert cli.main([*command, "--html", paths[0]]) == 2
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--resamples", "0"])
    assert ended.value.code == 2
    with pytest.raises(ValueError, match="`resamples`"):
        compare([], [], [], resamples=0)
