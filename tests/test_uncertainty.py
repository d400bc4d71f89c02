"""Intervals against scipy and against a bootstrap that resamples rows one by one."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from random_states import (
    FAMILIES,
    LABELS,
    OUTCOMES,
    REPAIRS,
    TARGETS,
    answer_rows,
    five_targets,
    gold_rows,
)
from scipy.stats import binomtest

from drift_core import resampling
from drift_onset import score, uncertainty
from drift_onset.counts import count
from drift_onset.evaluation import rows_to_pairs
from drift_onset.scores import score as score_counts

BOOTSTRAPPED = (
    "component_mean",
    "outcome_mode_macro_f1",
    "mechanism_family_macro_f1",
    "repair_outcome_macro_f1",
    "mean_absolute_onset_error",
    "expected_calibration_error",
)
WILSON = (
    "exact_onset_accuracy",
    "complete_primary_accuracy",
    "within_one_onset_accuracy",
    "residual_constraint_exact_accuracy",
    "confidence_coverage",
)


@pytest.mark.parametrize("n", [1, 2, 3, 12, 100, 12_345, 1_000_000])
def test_wilson_against_scipy(n):
    for hits in sorted({0, 1, n // 3, n // 2, n - 1, n}):
        expected = binomtest(hits, n).proportion_ci(confidence_level=0.95, method="wilson")
        found = uncertainty.wilson(hits, n)
        assert found.low == pytest.approx(expected.low, abs=1e-12)
        assert found.high == pytest.approx(expected.high, abs=1e-12)
        assert found.method == "wilson"
        assert 0 <= found.low <= hits / n <= found.high <= 1
    assert uncertainty.wilson(0, n).low == 0.0
    assert uncertainty.wilson(n, n).high == 1.0


def sample(n, seed, right=0.5, confidence=True):
    rng = random.Random(seed)
    gold = gold_rows(rng, n)

    def one():
        return None if rng.random() < 0.2 else rng.randint(0, 20) / 20

    return five_targets(gold), answer_rows(rng, gold, one if confidence else None, right)


def counts_of(gold, answers, on_invalid="error"):
    return count(rows_to_pairs(gold, answers, on_invalid))


def slow_resamples(gold, answers, resamples, seed):
    """Resample rows by index; each resample is scored from its rows alone."""
    by_id = {row["scenario_id"]: row for row in answers}
    ordered = [by_id.get(row["scenario_id"]) for row in gold]
    n = len(gold)
    codes, right = {}, {}
    for target, labels in LABELS.items():
        truth = np.array([labels.index(row[target]) for row in gold])
        guess = np.array(
            [len(labels) if a is None else labels.index(a[f"predicted_{target}"]) for a in ordered]
        )
        codes[target] = truth, guess
    for target in TARGETS:
        right[target] = np.array(
            [
                a is not None and row[target] == a[f"predicted_{target}"]
                for row, a in zip(gold, ordered, strict=True)
            ]
        )
    complete = np.logical_and.reduce(list(right.values()))
    error = np.full(n, np.nan)
    confidence = np.full(n, np.nan)
    for k, (row, a) in enumerate(zip(gold, ordered, strict=True)):
        if a is None:
            continue
        if row["first_drift_step"] and a["predicted_first_drift_step"]:
            error[k] = abs(row["first_drift_step"] - a["predicted_first_drift_step"])
        if a.get("confidence") is not None:
            confidence[k] = a["confidence"]

    rng = np.random.default_rng(seed)
    found = {name: [] for name in BOOTSTRAPPED}
    for _ in range(resamples):
        rows = rng.integers(n, size=n)
        parts = []
        for target, labels in LABELS.items():
            truth, guess = codes[target][0][rows], codes[target][1][rows]
            support = np.bincount(truth, minlength=len(labels) + 1)
            predicted = np.bincount(guess, minlength=len(labels) + 1)
            hits = np.bincount(truth[truth == guess], minlength=len(labels) + 1)
            f1s = [
                2 * hits[c] / (support[c] + predicted[c])
                for c in range(len(labels))
                if support[c] + predicted[c]
            ]
            parts.append(sum(f1s) / len(f1s))
            found[f"{target}_macro_f1"].append(parts[-1])
        parts.append(right["first_drift_step"][rows].mean())
        found["component_mean"].append(sum(parts) / 4)
        errors = error[rows][~np.isnan(error[rows])]
        if len(errors):
            found["mean_absolute_onset_error"].append(errors.mean())
        rows = rows[~np.isnan(confidence[rows])]
        if len(rows):
            place = np.maximum(np.ceil(np.round(confidence[rows] * 10, 9)).astype(int), 1)
            gaps = np.bincount(place, confidence[rows] - complete[rows])
            found["expected_calibration_error"].append(np.abs(gaps).sum() / len(rows))
    return found


@pytest.mark.parametrize("case", ["mixed", "all or nothing", "unanswered"])
def test_intervals_against_resampled_rows(case):
    gold, answers = sample(70, case)
    if case == "all or nothing":
        # Components fail together; intervals from separate matrices would be far too narrow.
        answers = []
        for k, row in enumerate(gold):
            state = {name: row[name] for name in TARGETS}
            if k % 2:
                drift = row["outcome_mode"] == "no_drift"
                values = (OUTCOMES[1], 1, FAMILIES[2], REPAIRS[4], 1)
                if not drift:
                    values = (OUTCOMES[0], None, FAMILIES[0], REPAIRS[0], None)
                state = dict(zip(TARGETS, values, strict=True))
            prefixed = {f"predicted_{name}": value for name, value in state.items()}
            answers.append({"scenario_id": row["scenario_id"], **prefixed, "confidence": k / 70})
    if case == "unanswered":
        answers = answers[:-15]
    counts = counts_of(gold, answers, "incorrect")
    scores = score_counts(counts)
    found = uncertainty.intervals(counts, scores, resamples=20_000, seed=1)
    slow = slow_resamples(gold, answers, 4000, 2)
    for name in BOOTSTRAPPED:
        low, high = np.quantile(slow[name], [0.025, 0.975])
        if case == "all or nothing" and name == "mean_absolute_onset_error":
            assert (found[name].low, found[name].high, low, high) == (0, 0, 0, 0)
            continue
        width = high - low
        assert width > 0
        assert found[name].low == pytest.approx(low, abs=0.07 * width), name
        assert found[name].high == pytest.approx(high, abs=0.07 * width), name
        assert found[name].method == "bootstrap"
        assert not found[name].degenerate


def test_every_metric_has_its_interval():
    gold, answers = sample(40, 5)
    counts = counts_of(gold, answers)
    scores = score_counts(counts)
    found = uncertainty.intervals(counts, scores, resamples=200)
    assert list(found) == list(scores.metrics())
    assert {n for n, i in found.items() if i.method == "wilson"} == set(WILSON)
    assert {n for n, i in found.items() if i.method == "bootstrap"} == set(BOOTSTRAPPED)
    for name in WILSON:
        hits = round(getattr(scores, name) * scores.n)
        assert found[name] == uncertainty.wilson(hits, scores.n)
    only = uncertainty.intervals(counts, scores, resamples=0)
    assert set(only) == set(WILSON)


def test_seed_decides():
    gold, answers = sample(60, 6)
    counts = counts_of(gold, answers)
    scores = score_counts(counts)
    first, again, other = (
        uncertainty.intervals(counts, scores, resamples=300, seed=seed) for seed in (7, 7, 8)
    )
    assert first == again
    for name in BOOTSTRAPPED:
        assert first[name] != other[name], name
    # Row order is no part of it.
    shuffled = list(gold)
    random.Random(0).shuffle(shuffled)
    counts = counts_of(shuffled, answers)
    assert uncertainty.intervals(counts, scores, resamples=300, seed=7) == first


def test_one_row_is_degenerate():
    for seed in range(8):
        gold, answers = sample(1, seed)
        shown = score(gold, answers, resamples=50).to_dict()["uncertainty"]["intervals"]
        assert {"component_mean", *WILSON} <= set(shown)
        assert all(interval["degenerate"] is True for interval in shown.values())


def test_resamples_that_do_not_vary_are_degenerate():
    gold, _ = sample(30, 1)
    perfect = [{**row, "confidence": 1.0} for row in gold]
    found = score(gold, perfect, resamples=100).uncertainty
    for name in BOOTSTRAPPED:
        assert found[name].degenerate, name
        assert found[name].low == found[name].high
    assert not any(found[name].degenerate for name in WILSON)
    mixed = [*perfect[:-1], {**perfect[-1], "confidence": 0.5}]
    found = score(gold, mixed, resamples=100).uncertainty
    assert not found["expected_calibration_error"].degenerate
    assert found["component_mean"].degenerate


def test_a_metric_that_few_resamples_have():
    """One pair of steps among many rows: resamples without it are left out, silently."""
    gold, _ = sample(60, 2)
    none = {
        "outcome_mode": "no_drift",
        "first_drift_step": None,
        "mechanism_family": "none",
        "repair_outcome": "not_applicable",
        "residual_constraint_id": None,
    }
    drifted = next(row for row in gold if row["first_drift_step"])
    gold = [{**none, "scenario_id": f"n{k}"} for k in range(20)] + [drifted]
    answers = [{**row, "confidence": None} for row in gold]
    answers[-1] = {**drifted, "confidence": 0.5}
    found = score(gold, answers, resamples=50).uncertainty
    for name in ("mean_absolute_onset_error", "expected_calibration_error"):
        assert found[name].degenerate
        assert found[name].low == found[name].high
    assert found["mean_absolute_onset_error"].low == 0.0
    assert found["expected_calibration_error"].low == 0.5
    # With a single resample that lacks the row there is nothing left to say.
    ends = {"mean_absolute_onset_error": set(), "expected_calibration_error": set()}
    for seed in range(12):
        found = score(gold, answers, resamples=1, seed=seed).uncertainty
        for name, values in ends.items():
            assert found[name].degenerate
            values.add(found[name].low)
    assert ends["mean_absolute_onset_error"] == {None, 0.0}
    assert ends["expected_calibration_error"] == {None, 0.5}


def no_constant(text):
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize(
    ("n", "right", "confidence", "kept"),
    [(1, 1, True, 1), (1, 0, False, 1), (2, 0, True, 2), (50, 0.5, False, 50), (5, 0, True, 0)],
)
@pytest.mark.parametrize("resamples", [0, 1, 100])
def test_reports_are_strict_json(n, right, confidence, kept, resamples):
    for seed in range(4):
        gold, answers = sample(n, seed, right, confidence)
        answers = answers[:kept] or [{**answers[0], "predicted_outcome_mode": "nonsense"}]
        report = score(gold, answers, on_invalid="incorrect", resamples=resamples)
        assert json.loads(report.to_json(), parse_constant=no_constant) == report.to_dict()


def drawn_lengths(monkeypatch, counts):
    lengths = []
    draw = resampling.draw

    def spy(n, resamples, rng):
        lengths.append(len(n))
        return draw(n, resamples, rng)

    with monkeypatch.context() as patched:
        patched.setattr(uncertainty, "draw", spy)
        uncertainty.intervals(counts, score_counts(counts), resamples=20)
    return lengths


def test_cost_does_not_grow_with_rows(monkeypatch):
    gold, answers = sample(30, 9)
    few = counts_of(gold, answers)
    many = few
    for _ in range(10):
        many = many + many
    assert many.total == 1024 * few.total
    lengths = drawn_lengths(monkeypatch, few)
    assert len(lengths) >= 3
    assert max(lengths) <= 30
    assert drawn_lengths(monkeypatch, many) == lengths

    rows = [
        {**row, "scenario_id": f"{row['scenario_id']}/{k}"} for k in range(1000) for row in gold
    ]
    more = [
        {**row, "scenario_id": f"{row['scenario_id']}/{k}"} for k in range(1000) for row in answers
    ]
    repeated = counts_of(rows, more)
    assert repeated.total == 30_000
    assert drawn_lengths(monkeypatch, repeated) == lengths


@pytest.mark.parametrize("n", [[3, 1, 0, 6], [300, 100, 0, 600]])
def test_draws_are_multinomial(n):
    """Few rows an outcome are drawn one by one, many as counts; both have the same moments."""
    n = np.array(n)
    total, share = n.sum(), n / n.sum()
    drawn = resampling.draw(n, 4000, np.random.default_rng(0))
    assert drawn.shape == (4000, 4)
    assert (drawn.sum(axis=1) == total).all()
    assert not drawn[:, 2].any()
    scale = np.sqrt(total / 4000)
    np.testing.assert_allclose(drawn.mean(axis=0), n, atol=3 * scale)
    expected = total * (np.diag(share) - np.outer(share, share))
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.03 * total)
