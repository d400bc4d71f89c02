"""Properties of counts: order, partitions, bounds, symmetry."""

from __future__ import annotations

import random
from collections import Counter
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_states import LABELS, TARGETS, answer_rows, five_targets, gold_rows

from drift_onset import schema
from drift_onset.counts import Counts, count
from drift_onset.evaluation import rows_to_pairs
from drift_onset.scores import confusion, score

EVERY_SCORE = (
    "component_mean",
    "outcome_mode_macro_f1",
    "exact_onset_accuracy",
    "mechanism_family_macro_f1",
    "repair_outcome_macro_f1",
    "complete_primary_accuracy",
    "within_one_onset_accuracy",
    "residual_constraint_exact_accuracy",
    "expected_calibration_error",
    "confidence_coverage",
)


@st.composite
def rows(draw, unanswered=True, confidence=True, max_size=40):
    """Draw pairs (gold row, answer or None)."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    gold = gold_rows(rng, draw(st.integers(1, max_size)))
    shares = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0])

    def one():
        return draw(shares)

    answers = answer_rows(rng, gold, one if confidence else None, draw(st.sampled_from([0, 0.5])))
    for k in range(len(answers)):
        if unanswered and rng.random() < 0.2:
            answers[k] = None
    return list(zip(five_targets(gold), answers, strict=True))


def counted(pairs):
    if not pairs:
        return Counts.empty()
    gold = [g for g, _ in pairs]
    answers = [a for _, a in pairs if a is not None]
    # An answer to nothing, so that there always are columns; it belongs to no gold row.
    stray = {**{f"predicted_{n}": gold[0][n] for n in TARGETS}, "scenario_id": ""}
    return count(rows_to_pairs(gold, [*answers, stray], "incorrect"))


@given(rows(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_row_order_does_not_matter(pairs, rng):
    whole = counted(pairs)
    shuffled = list(pairs)
    rng.shuffle(shuffled)
    assert counted(shuffled) == whole
    assert score(counted(shuffled)) == score(whole)


@given(rows(max_size=60), st.integers(1, 7), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_merged_parts_equal_the_whole(pairs, parts, rng):
    piles = [[] for _ in range(parts)]
    for pair in pairs:
        rng.choice(piles).append(pair)
    whole = counted(pairs)
    merged = reduce(lambda a, b: a + b, map(counted, piles))
    assert merged == whole
    # Dataclass equality of floats: the same to the bit, calibration error included.
    assert score(merged) == score(whole)
    assert merged.total == len(pairs)
    assert merged.n_invalid == sum(answer is None for _, answer in pairs)


@given(rows(), rows(), rows())
@settings(max_examples=40, deadline=None)
def test_merge_is_commutative_and_associative(first, second, third):
    a, b, c = counted(first), counted(second), counted(third)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Counts.empty() == a
    assert Counts.empty() + a == a
    assert Counts.empty() + Counts.empty() == Counts.empty()
    assert (a + b).total == a.total + b.total


@given(rows())
@settings(max_examples=40, deadline=None)
def test_counts_are_those_of_the_rows(pairs):
    """A Counter over rows as plain tuples, from which the sorted outcomes follow."""
    codes = {name: {label: k for k, label in enumerate(ls)} for name, ls in LABELS.items()}
    expected = Counter()
    for gold, answer in pairs:
        outcome = []
        for target, known in codes.items():
            outcome.append(known[gold[target]])
            unanswered = len(known)
            guess = unanswered if answer is None else known[answer[f"predicted_{target}"]]
            outcome.append(guess)
        onset, residual = gold["first_drift_step"], gold["residual_constraint_id"]
        if answer is None:
            outcome += [0, -1, 0]
        else:
            other = answer["predicted_first_drift_step"]
            both = onset is not None and other is not None
            outcome += [int(onset == other), abs(onset - other) if both else -1]
            outcome += [int(residual == answer["predicted_residual_constraint_id"])]
        expected[tuple(outcome)] += 1
    counts = counted(pairs)
    assert [tuple(row) for row in counts.outcomes.tolist()] == sorted(expected)
    assert counts.n.tolist() == [expected[key] for key in sorted(expected)]
    given_confidence = [a["confidence"] for _, a in pairs if a and a["confidence"] is not None]
    assert counts.confidence_n.sum() == len(given_confidence)
    assert counts.confidence_sum.sum() == sum(round(c * 10**9) for c in given_confidence)


@pytest.mark.parametrize("name", ["outcomes", "n", "confidence_n", "confidence_sum", "n_invalid"])
def test_counts_that_differ_are_not_equal(name):
    rng = random.Random(2)
    gold = gold_rows(rng, 9)
    answers = answer_rows(rng, gold, lambda: 0.5)
    counts = count(rows_to_pairs(five_targets(gold), answers))
    parts = {n: getattr(counts, n) for n in Counts.__dataclass_fields__}
    assert Counts(**parts) == counts
    assert Counts(**{**parts, name: parts[name] + 1}) != counts
    assert counts != "counts"


@given(rows())
@settings(max_examples=60, deadline=None)
def test_scores_are_in_bounds(pairs):
    scores = score(counted(pairs))
    for name in EVERY_SCORE:
        value = getattr(scores, name)
        if value is not None:
            assert 0 <= value <= 1, name
    error = scores.mean_absolute_onset_error
    assert error is None or 0 <= error <= 6
    assert scores.exact_onset_accuracy <= scores.within_one_onset_accuracy
    assert scores.complete_primary_accuracy <= scores.exact_onset_accuracy
    assert scores.complete_primary_accuracy <= scores.residual_constraint_exact_accuracy
    for by_label in scores.classes.values():
        assert sum(one.support for one in by_label.values()) == scores.n
        assert sum(one.predicted for one in by_label.values()) == scores.n - scores.n_invalid


@given(rows(unanswered=False))
@settings(max_examples=40, deadline=None)
def test_gold_as_predictions_is_perfect(pairs):
    perfect = [
        (gold, {f"predicted_{n}": gold[n] for n in TARGETS} | {"scenario_id": gold["scenario_id"]})
        for gold, _ in pairs
    ]
    scores = score(counted(perfect))
    for name in EVERY_SCORE[:-2]:
        assert getattr(scores, name) == 1.0, name
    assert scores.mean_absolute_onset_error in (0.0, None)


@given(rows(unanswered=False, confidence=False))
@settings(max_examples=40, deadline=None)
def test_swapping_gold_and_predictions_transposes(pairs):
    swapped = []
    for gold, answer in pairs:
        ident = {"scenario_id": gold["scenario_id"]}
        new_gold = ident | {n: answer[f"predicted_{n}"] for n in TARGETS}
        swapped.append((new_gold, ident | {f"predicted_{n}": gold[n] for n in TARGETS}))
    there, back = counted(pairs), counted(swapped)
    for target, labels in LABELS.items():
        size = len(labels)
        one, other = confusion(there, target), confusion(back, target)
        assert one.shape == other.shape == (size, size + 1)
        np.testing.assert_array_equal(one[:, :size], other[:, :size].T)
        assert not one[:, size].any()
    a, b = score(there), score(back)
    for name in ("exact_onset_accuracy", "mean_absolute_onset_error", "complete_primary_accuracy"):
        assert getattr(a, name) == getattr(b, name)
    for target, by_label in a.classes.items():
        for label, one in by_label.items():
            other = b.classes[target][label]
            assert (one.precision, one.recall, one.f1) == (other.recall, other.precision, other.f1)


def test_confusion_by_hand():
    """Gold by prediction, unanswered in the last column."""
    base = {
        "outcome_mode": "latent_drift",
        "first_drift_step": 2,
        "mechanism_family": "scope_collapse",
        "repair_outcome": "unrepaired",
        "residual_constraint_id": 1,
    }
    gold = [{**base, "scenario_id": str(k)} for k in range(4)]
    other = {**base, "outcome_mode": "visible_failure"}
    answers = [{**base, "scenario_id": "0"}] + [{**other, "scenario_id": str(k)} for k in (1, 2)]
    counts = count(rows_to_pairs(gold, answers, "incorrect"))
    assert confusion(counts, "outcome_mode").tolist() == [
        [0, 0, 0, 0, 0],
        [0, 1, 0, 2, 1],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert counts.total == 4
    assert counts.n_invalid == 1


@pytest.mark.parametrize("onset", [2, 10_000, 2**31 - 1])
def test_large_onsets_are_counted_exactly(onset):
    """The joint key is packed into integers whose width depends on the largest error."""
    rng = random.Random(onset)
    gold = five_targets(gold_rows(rng, 200, outcomes=("latent_drift", "visible_failure")))
    answers = [{**row, "first_drift_step": rng.choice((1, onset))} for row in gold]
    counts = count(rows_to_pairs(gold, answers))
    errors = Counter(
        abs(g["first_drift_step"] - a["first_drift_step"])
        for g, a in zip(gold, answers, strict=True)
    )
    found = Counter()
    for error, n in zip(counts.onset_error.tolist(), counts.n.tolist(), strict=True):
        found[error] += n
    assert found == errors
    mean = sum(e * n for e, n in errors.items()) / 200
    assert score(counts).mean_absolute_onset_error == mean


def test_exact_sums_do_not_depend_on_size():
    """Sums of many confidences keep every billionth."""
    n = 100_000
    gold = five_targets(gold_rows(random.Random(4), 1)) * n
    gold = [{**row, "scenario_id": str(k)} for k, row in enumerate(gold)]
    confidences = [0.123456789, 0.999999999, 0.000000001, 0.1]
    answers = [{**row, "confidence": confidences[k % 4]} for k, row in enumerate(gold)]
    counts = count(rows_to_pairs(gold, answers))
    assert int(counts.confidence_sum.sum()) == (n // 4) * 1_223_456_789
    assert counts.n.tolist() == [n]


def test_scoring_nothing_is_an_error():
    with pytest.raises(ValueError, match="no rows"):
        score(Counts.empty())
    assert Counts.empty().total == 0
    assert Counts.empty().outcomes.shape == (0, 2 * len(schema.label_targets()) + 3)
