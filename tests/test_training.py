"""The adapter of training loops, with numpy alone: decoding, counting, masking, bad input."""

import itertools
import math
import random
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_states import FAMILIES, LABELS, OUTCOMES, REPAIRS, TARGETS, gold_rows, lawful_state

import drift_onset
from drift_onset import metric_input, schema, scores, training
from drift_onset.counts import Counts

WIDTHS = {name: len(labels) for name, labels in LABELS.items()}
POINTERS = {"first_drift_step": "n_steps", "residual_constraint_id": "n_constraints"}


def is_lawful(state):
    """The table of lawful states, written out; onset and residual are None or a number."""
    outcome, onset, family, repair, residual = state
    if outcome == "no_drift":
        return (onset, family, repair, residual) == (None, "none", "not_applicable", None)
    if onset is None or family == "none":
        return False
    if outcome == "recovered_drift":
        return repair == ("full_repair" if residual is None else "partial_repair")
    return repair in ("failed_repair", "unrepaired") and residual is not None


def all_states(steps, constraints):
    onsets, residuals = ([None, *range(1, last + 1)] for last in (steps, constraints))
    return itertools.product(OUTCOMES, onsets, FAMILIES, REPAIRS, residuals)


def places(state):
    """The place of each part of a state in its head."""
    return [
        LABELS[name].index(part) if name in LABELS else part or 0
        for name, part in zip(TARGETS, state, strict=True)
    ]


def draw(rng, n, steps=4, constraints=3, scale=2.0, padding=0):
    """Draw logits and lengths of n items; padded places hold what would win every argmax."""
    lengths = {
        "n_steps": rng.integers(1, steps + 1, n),
        "n_constraints": rng.integers(1, constraints + 1, n),
    }
    logits = {}
    for name in TARGETS:
        longest = lengths[POINTERS[name]].max(initial=1) if name in POINTERS else 0
        width = WIDTHS.get(name, 1 + longest + padding)
        values = np.rint(rng.normal(0, scale, (n, width)) * 8) / 8
        if name in POINTERS:
            values[np.arange(width) > lengths[POINTERS[name]][:, None]] = 1e9
        logits[name] = values
    return logits, lengths


def gold(rng, lengths):
    """Draw lawful label arrays for items of these lengths."""
    own = random.Random(int(rng.integers(1 << 30)))
    drawn = [
        places(lawful_state(own, int(s), int(c)).values())
        for s, c in zip(*lengths.values(), strict=True)
    ]
    codes = np.array(drawn, np.int64).reshape(-1, 5).T
    return {**dict(zip(TARGETS, codes, strict=True)), **lengths}


def batch(logits, labels):
    """What a Trainer hands over."""
    return SimpleNamespace(
        predictions=tuple(logits[name] for name in TARGETS),
        label_ids=tuple(labels[name] for name in training.LABEL_NAMES),
    )


def part(arrays, rows):
    return {name: values[rows] for name, values in arrays.items()}


seeds = st.integers(0, 2**32 - 1)


# Decoding ------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([0.2, 2.0, 40.0]))
def test_lawful_decoding_equals_a_loop_over_all_lawful_states(seed, scale):
    logits, lengths = draw(np.random.default_rng(seed), 3, scale=scale, padding=seed % 3)
    decoded = training.decode_states(logits, *lengths.values(), decode="lawful")
    assert decoded.lawful.all()
    for item in range(3):
        steps, constraints = (int(length[item]) for length in lengths.values())
        values = [logits[name][item] for name in TARGETS]
        score = {
            state: math.fsum(v[at] for v, at in zip(values, places(state), strict=True))
            for state in all_states(steps, constraints)
            if is_lawful(state)
        }
        found = tuple(decoded.to_columns()[name][item] for name in TARGETS)
        best = max(score.values())
        assert score[found] == best
        share = 1 / math.fsum(math.exp(one - best) for one in score.values())
        assert decoded.confidence[item] == pytest.approx(share, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([0.2, 2.0, 40.0]))
def test_argmax_decoding_equals_a_loop(seed, scale):
    logits, lengths = draw(np.random.default_rng(seed), 4, scale=scale, padding=2)
    decoded = training.decode_states(logits, *lengths.values())
    for item in range(4):
        state, confidence = [], 1.0
        for name in TARGETS:
            length = lengths[POINTERS[name]][item] if name in POINTERS else WIDTHS[name] - 1
            values = logits[name][item, : length + 1].tolist()
            at = values.index(max(values))
            confidence /= math.fsum(math.exp(value - values[at]) for value in values)
            state.append(LABELS[name][at] if name in LABELS else at or None)
        found = [decoded.to_columns()[name][item] for name in TARGETS]
        assert found == state
        assert decoded.lawful[item] == is_lawful(state)
        assert decoded.confidence[item] == pytest.approx(confidence, rel=1e-9)


@settings(max_examples=50, deadline=None)
@given(seeds, st.sampled_from(training.DECODES), st.sampled_from([1e-3, 1.0, 1e3, 1e300]))
def test_confidence_is_a_probability(seed, decode, scale):
    logits, lengths = draw(np.random.default_rng(seed), 20, scale=scale)
    confidence = training.decode_states(logits, *lengths.values(), decode=decode).confidence
    assert ((confidence >= 0) & (confidence <= 1)).all()


@pytest.mark.parametrize("decode", training.DECODES)
def test_confidence_is_the_same_to_the_bit_however_wide_the_padding(decode):
    logits, lengths = draw(np.random.default_rng(10), 300, steps=20, constraints=12)
    wide = {
        name: np.pad(values, ((0, 0), (0, 9 * (name in POINTERS))))
        for name, values in logits.items()
    }
    found = [training.decode_states(x, *lengths.values(), decode=decode) for x in (logits, wide)]
    assert np.array_equal(found[0].confidence, found[1].confidence)
    one = [
        training.decode_states(
            part(wide, slice(at, at + 1)), *part(lengths, slice(at, at + 1)).values(), decode=decode
        ).confidence[0]
        for at in range(50)
    ]
    assert one == found[0].confidence[:50].tolist()


def test_minus_infinity_rules_a_place_out():
    logits, lengths = draw(np.random.default_rng(0), 200, constraints=2)
    logits["outcome_mode"][:, 0] = -np.inf
    logits["first_drift_step"][lengths["n_steps"] > 1, 1] = -np.inf
    found = training.decode_states(logits, *lengths.values(), decode="lawful").to_columns()
    assert "no_drift" not in found["outcome_mode"]
    assert None not in found["first_drift_step"]
    longer = np.array(found["first_drift_step"])[lengths["n_steps"] > 1]
    assert longer.min() == 2


def test_where_no_lawful_state_is_possible_the_item_is_unanswered():
    logits, lengths = draw(np.random.default_rng(1), 3)
    labels = gold(np.random.default_rng(2), lengths)
    logits["outcome_mode"][0] = [0, -np.inf, -np.inf, -np.inf]
    logits["repair_outcome"][0, REPAIRS.index("not_applicable")] = -np.inf
    decoded = training.decode_states(logits, *lengths.values(), decode="lawful")
    assert decoded.lawful.tolist() == [False, True, True]
    assert decoded.confidence[0] == 0
    assert training.count(logits, labels, decode="lawful").n_invalid == 1
    # The metric, which sees only what the heads said, agrees.
    rows = [decoded.to_columns(), training.state_columns(labels)]
    found = metric_input.evaluate_rows(*rows, on_invalid="incorrect", report=True)
    assert found["signature"]["n_invalid"] == 1


# Counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("decode", training.DECODES)
def test_numbers_equal_those_of_the_metric_on_the_decoded_rows(decode):
    rng = np.random.default_rng(3)
    logits, lengths = draw(rng, 500, scale=1.0)
    labels = gold(rng, lengths)
    decoded = training.decode_states(logits, *lengths.values(), decode=decode)
    expected = metric_input.evaluate_rows(
        decoded.to_columns(), training.state_columns(labels), on_invalid="incorrect", report=True
    )
    found = training.ComputeMetrics(decode)(batch(logits, labels))
    assert found["n_invalid"] == expected["signature"]["n_invalid"]
    assert (found["n_invalid"] > 100) == (decode == "argmax")
    assert found["n"] == 500
    for section in ("leaderboard_a_component_capability", "secondary_diagnostics"):
        for name, value in expected[section].items():
            assert name == "primary_ranking_metric" or found[name] == value
    complete = expected["leaderboard_b_complete_reasoning_state"]["complete_primary_accuracy"]
    assert found["complete_primary_accuracy"] == complete


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(training.DECODES), st.lists(st.integers(1, 60), max_size=3))
def test_batches_of_any_padding_add_up_to_the_whole(seed, decode, cuts):
    rng = np.random.default_rng(seed)
    logits, lengths = draw(rng, 60, steps=20, constraints=12, padding=1)
    labels = gold(rng, lengths)
    whole = training.count(logits, labels, decode=decode)
    summed = Counts.empty()
    metrics = training.ComputeMetrics(decode)
    edges = [0, *sorted(set(cuts) - {60}), 60]
    for start, end in itertools.pairwise(edges):
        rows = slice(start, end)
        own = part(logits, rows)
        for name, length in POINTERS.items():  # a batch is as wide as its own longest item
            own[name] = own[name][:, : 1 + lengths[length][rows].max()]
        summed += training.count(own, part(labels, rows), decode=decode)
        flat = metrics(batch(own, part(labels, rows)), compute_result=end == 60)
    assert summed == whole
    assert flat == training.ComputeMetrics(decode)(batch(logits, labels))


def test_the_state_is_gone_after_a_result_and_after_an_error():
    rng = np.random.default_rng(4)
    logits, lengths = draw(rng, 30)
    labels = gold(rng, lengths)
    metrics = training.ComputeMetrics("lawful")
    expected = metrics(batch(logits, labels))
    assert metrics(batch(logits, labels), compute_result=False) == {}
    assert metrics(batch(logits, labels))["n"] == 60
    assert metrics(batch(logits, labels)) == expected
    metrics(batch(logits, labels), compute_result=False)
    with pytest.raises(ValueError, match="NaN"):
        metrics(batch({**logits, "outcome_mode": logits["outcome_mode"] * np.nan}, labels))
    assert metrics(batch(logits, labels)) == expected
    metrics(batch(logits, labels), compute_result=False)
    metrics.reset()
    assert metrics(batch(logits, labels)) == expected


def test_numbers_without_a_value_are_left_out():
    labels = {name: np.array([int(name.startswith("n_"))]) for name in training.LABEL_NAMES}
    sure = {name: np.eye(WIDTHS.get(name, 2))[:1] for name in TARGETS}
    found = training.ComputeMetrics()(batch(sure, labels))
    assert set(found) == {*scores.METRICS, "n", "n_invalid"} - {"mean_absolute_onset_error"}
    assert all(type(value) in (int, float) for value in found.values())


# Masks ---------------------------------------------------------------------------------------


def test_what_stands_in_padded_places_does_not_matter():
    rng = np.random.default_rng(5)
    logits, lengths = draw(rng, 50, padding=3)
    labels = gold(rng, lengths)
    for decode in training.DECODES:
        expected = training.count(logits, labels, decode=decode)
        for filler in (np.nan, np.inf, -np.inf, training.MASKED, 1e300):
            other = {name: values.copy() for name, values in logits.items()}
            for name, length in POINTERS.items():
                width = other[name].shape[1]
                other[name][np.arange(width) > lengths[length][:, None]] = filler
            assert training.count(other, labels, decode=decode) == expected


def test_items_whose_labels_are_all_masked_are_left_out():
    rng = np.random.default_rng(6)
    logits, lengths = draw(rng, 40)
    labels = gold(rng, lengths)
    hidden = np.arange(40) % 3 == 0
    masked = {name: np.where(hidden, training.MASKED, codes) for name, codes in labels.items()}
    logits["outcome_mode"][0] = np.nan  # an item that is left out is not read
    expected = training.count(part(logits, ~hidden), part(labels, ~hidden))
    assert training.count(logits, masked) == expected
    assert expected.total == 26
    everything = {name: np.full(40, training.MASKED) for name in labels}
    assert training.count(logits, everything) == Counts.empty()
    with pytest.raises(ValueError, match="no rows to score"):
        training.ComputeMetrics()(batch(logits, everything))


# Bad input -----------------------------------------------------------------------------------


def changed(arrays, name, at, value):
    values = arrays[name].copy()
    values[at] = value
    return {**arrays, name: values}


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(7)
    logits, lengths = draw(rng, 12)
    return logits, gold(rng, lengths)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("outcome_mode", (3, 0), np.nan, "item 3: outcome_mode: got NaN or infinity"),
        ("first_drift_step", (5, 0), np.inf, "item 5: first_drift_step: got NaN or infinity"),
        ("repair_outcome", slice(2, 6), np.nan, "item 2: .*infinity, and so in 4 items"),
        ("mechanism_family", 4, -np.inf, "item 4: mechanism_family: got no place but such"),
    ],
)
def test_logits_that_are_no_numbers_are_named(good, name, at, value, message):
    logits, labels = good
    with pytest.raises(drift_onset.InvalidInput, match=message):
        training.count(changed(logits, name, at, value), labels)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("outcome_mode", lambda v: v[:, :3], "got 3 logits a row, expected one for each label, 4"),
        ("mechanism_family", lambda v: v.repeat(2, 1), "got 18 logits a row"),
        ("first_drift_step", lambda v: v[:, :-1], "one for none and one for each of up to 4 steps"),
        ("residual_constraint_id", lambda v: v[:, :2], "of up to 3 constraints"),
        ("repair_outcome", lambda v: v[:-1], r"shape \(11, 5\), expected 12 rows of numbers"),
        ("repair_outcome", lambda v: v[0], r"shape \(5,\)"),
        ("repair_outcome", lambda v: v.astype(str), "expected 12 rows of numbers"),
    ],
)
def test_wrong_shapes_are_named(good, name, change, message):
    logits, labels = good
    with pytest.raises(drift_onset.InvalidInput, match=f"{name}: .*{message}"):
        training.count({**logits, name: change(logits[name])}, labels)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("outcome_mode", 2, training.MASKED, "item 2: outcome_mode: is -100 and others are not"),
        ("outcome_mode", 2, 4, "item 2: outcome_mode: is no code of outcome_mode"),
        ("first_drift_step", 2, 5, "item 2: first_drift_step: is no code"),
        ("residual_constraint_id", 2, -1, "item 2: residual_constraint_id: is no code"),
        ("n_steps", 2, 0, "item 2: n_steps: is below 1; lengths must be known"),
        ("n_constraints", slice(None), training.MASKED, "item 0: n_constraints: is below 1"),
    ],
)
def test_labels_that_are_no_codes_are_named(good, name, at, value, message):
    logits, labels = good
    with pytest.raises(drift_onset.InvalidInput, match=message):
        training.count(logits, changed(labels, name, at, value))


def test_gold_that_breaks_the_rules_is_named(good):
    logits, labels = good
    drifted = int(np.flatnonzero(labels["outcome_mode"])[0])
    with pytest.raises(drift_onset.InvalidInput, match=f"item {drifted}: .*breaks the state rules"):
        training.count(logits, changed(labels, "first_drift_step", drifted, 0))
    for kind in (float, bool, str):
        bad = {**labels, "outcome_mode": labels["outcome_mode"].astype(kind)}
        with pytest.raises(drift_onset.InvalidInput, match="expected 12 whole numbers"):
            training.count(logits, bad)


def test_every_fault_is_told_at_once(good):
    logits, labels = good
    bad = changed(changed(logits, "outcome_mode", 1, np.nan), "repair_outcome", 3, np.inf)
    with pytest.raises(drift_onset.InvalidInput, match="2 problems found") as raised:
        training.count(bad, labels)
    assert [(p.column, p.line, p.file) for p in raised.value.problems] == [
        ("outcome_mode", 1, "<predictions>"),
        ("repair_outcome", 3, "<predictions>"),
    ]


def test_missing_and_surplus_arrays_are_named(good):
    logits, labels = good
    five = tuple(logits.values())
    training.count(five, tuple(labels[name] for name in training.LABEL_NAMES))
    with pytest.raises(ValueError, match=r"5 arrays in the order outcome_mode, .* got 6 arrays"):
        training.count((*five, five[0]), labels)
    with pytest.raises(ValueError, match="got one ndarray"):
        training.count(five[0], labels)
    with pytest.raises(ValueError, match=r"label_ids.*n_steps.* got 5 arrays"):
        training.count(five, tuple(labels[name] for name in TARGETS))
    with pytest.raises(ValueError, match=r"predictions.*\['repair_outcome'\] are missing"):
        training.count({n: v for n, v in logits.items() if n != "repair_outcome"}, labels)
    with pytest.raises(ValueError, match="`decode` to be 'argmax' or 'lawful' but got 'beam'"):
        training.ComputeMetrics("beam")
    with pytest.raises(drift_onset.InvalidInput, match="n_steps: expected 12 whole numbers from 1"):
        training.decode_states(logits, np.zeros(12, int), labels["n_constraints"])


# To and from the data ------------------------------------------------------------------------


def test_labels_of_rows_become_codes_and_come_back():
    rows = gold_rows(random.Random(8), 50)
    listed = [
        {**row, "trajectory": [{"step": k, "text": t} for k, t in enumerate(row["steps"], 1)]}
        for row in rows
    ]
    labels = training.encode(listed)
    assert tuple(labels) == training.LABEL_NAMES
    assert labels["n_steps"].tolist() == [len(row["steps"]) for row in rows]
    assert labels["n_constraints"].tolist() == [len(row["constraints"]) for row in rows]
    back = training.state_columns(labels)
    assert back == {name: [row[name] for row in rows] for name in TARGETS}
    assert labels["outcome_mode"].tolist() == [OUTCOMES.index(row["outcome_mode"]) for row in rows]
    with pytest.raises(drift_onset.InvalidInput, match="drifted"):
        training.encode([*listed[:-1], {**listed[-1], "outcome_mode": "drifted"}])


def test_a_submission_is_valid_and_scores_what_the_adapter_said(root, tmp_path):
    from drift_onset.reading import typed

    table = typed.read(root / "data" / "test.csv", schema.LABELLED)
    labels = training.encode(table)
    rng = np.random.default_rng(9)
    logits = {
        name: rng.normal(size=(12, WIDTHS.get(name) or 1 + labels[POINTERS[name]].max()))
        for name in TARGETS
    }
    for name in TARGETS:  # so that some are right
        logits[name][np.arange(8), labels[name][:8]] += 9
    path, ids = tmp_path / "new" / "predictions.csv", table["scenario_id"].to_pylist()
    lengths = labels["n_steps"], labels["n_constraints"]
    training.write_predictions(path, ids, training.decode_states(logits, *lengths, decode="lawful"))
    assert drift_onset.validate_predictions(path, root / "data" / "test_blind.csv") == (12, [])
    found = training.ComputeMetrics("lawful")(batch(logits, labels))
    expected = drift_onset.score(root / "data" / "test.csv", path).scores.metrics()
    assert 0.5 < found["complete_primary_accuracy"] < 1
    assert {name: found[name] for name in expected} == expected
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"break the rules \(RDOD2-.*decode='lawful'"):
        training.write_predictions(path, ids, training.decode_states(logits, *lengths))
    lawful = training.decode_states(logits, *lengths, decode="lawful")
    with pytest.raises(ValueError, match="`ids` to be 12 identifiers but got 11"):
        training.write_predictions(path, ids[:-1], lawful)
    assert path.read_bytes() == before


def test_no_framework_is_imported():
    code = "import sys, drift_onset.training as t; t.ComputeMetrics(); print('torch' in sys.modules"
    code += ", 'datasets' in sys.modules, 'transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"] * 3
