"""Scores against scikit-learn and against slow loops that share no code with the package."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from random_states import (
    FAMILIES,
    LABELLED_HEADER,
    LABELS,
    TARGETS,
    answer_rows,
    csv_text,
    five_targets,
    gold_rows,
    labelled_record,
    write_answers,
    write_gold,
)
from sklearn.metrics import f1_score, precision_recall_fscore_support

from drift_onset import InvalidInput, schema, score

CLOSE = {"rel": 1e-12, "abs": 1e-12}
ACCURACIES = (
    "exact_onset_accuracy",
    "within_one_onset_accuracy",
    "residual_constraint_exact_accuracy",
    "complete_primary_accuracy",
)

# name → (gold options, prediction options)
POOLS = {
    "every class": ({}, {}),
    "absent classes": (
        {"outcomes": ("no_drift", "latent_drift"), "families": FAMILIES[1:3]},
        {"outcomes": ("no_drift", "latent_drift"), "families": FAMILIES[1:3]},
    ),
    "gold-only classes": (
        {},
        {"outcomes": ("no_drift", "latent_drift"), "families": FAMILIES[2:4]},
    ),
    "prediction-only classes": (
        {"outcomes": ("recovered_drift",), "families": FAMILIES[5:7]},
        {},
    ),
    "nothing in common": (
        {"outcomes": ("recovered_drift",), "families": FAMILIES[1:3]},
        {"outcomes": ("visible_failure",), "families": FAMILIES[4:]},
    ),
}


def decimal_confidence(rng, share=1.0):
    """Give confidences as exact decimals, often on the edge of a bin, sometimes none."""

    def one():
        if rng.random() > share:
            return None
        return rng.choice(
            (0.0, 1.0, 0.1, 0.2, 0.3, 0.6, 0.7, round(rng.random(), 2), round(rng.random(), 9))
        )

    return one


def state_of(answer):
    return None if answer is None else tuple(answer[f"predicted_{name}"] for name in TARGETS)


def slow_scores(gold, answers):
    """Score with plain loops; `answers` maps an identifier to its row, unanswered ones absent."""
    pairs = []
    for row in gold:
        answer = answers.get(row["scenario_id"])
        pairs.append((tuple(row[name] for name in TARGETS), state_of(answer), answer))
    n = len(pairs)
    found = {"n_invalid": sum(1 for _, p, _ in pairs if p is None), "classes": {}}

    right = dict.fromkeys(ACCURACIES, 0)
    errors = []
    for g, p, _ in pairs:
        if p is None:
            continue
        right["exact_onset_accuracy"] += g[1] == p[1]
        right["residual_constraint_exact_accuracy"] += g[4] == p[4]
        right["complete_primary_accuracy"] += g == p
        if g[1] is None or p[1] is None:
            right["within_one_onset_accuracy"] += g[1] is None and p[1] is None
        else:
            right["within_one_onset_accuracy"] += abs(g[1] - p[1]) <= 1
            errors.append(abs(g[1] - p[1]))
    found.update({name: hits / n for name, hits in right.items()})
    found["mean_absolute_onset_error"] = sum(errors) / len(errors) if errors else None

    for target, labels in LABELS.items():
        at = TARGETS.index(target)
        f1s = []
        found["classes"][target] = {}
        for label in labels:
            hits = misses = false = 0
            for g, p, _ in pairs:
                guess = None if p is None else p[at]
                if g[at] == label and guess == label:
                    hits += 1
                elif g[at] == label:
                    misses += 1
                elif guess == label:
                    false += 1
            precision = Fraction(hits, hits + false) if hits + false else Fraction(0)
            recall = Fraction(hits, hits + misses) if hits + misses else Fraction(0)
            total = precision + recall
            f1 = 2 * precision * recall / total if total else Fraction(0)
            if hits + misses + false:
                f1s.append(f1)
            found["classes"][target][label] = (precision, recall, f1, hits + misses, hits + false)
        found[f"{target}_macro_f1"] = float(sum(f1s) / len(f1s))
    components = [found[f"{target}_macro_f1"] for target in LABELS]
    found["component_mean"] = (sum(components) + found["exact_onset_accuracy"]) / 4

    bins = [[] for _ in range(10)]
    for g, p, answer in pairs:
        given = None if answer is None else answer.get("confidence")
        if given is None:
            continue
        confidence = Fraction(str(given))
        for k in range(10):
            low, high = Fraction(k, 10), Fraction(k + 1, 10)
            if low < confidence <= high or (k == 0 and confidence == 0):
                bins[k].append((confidence, g == p))
    rows = sum(map(len, bins))
    found["confidence_coverage"] = rows / n
    found["expected_calibration_error"] = None
    if rows:
        error = Fraction(0)
        for inside in filter(None, bins):
            mean = sum(c for c, _ in inside) / len(inside)
            accuracy = Fraction(sum(ok for _, ok in inside), len(inside))
            error += Fraction(len(inside), rows) * abs(mean - accuracy)
        found["expected_calibration_error"] = float(error)
    return found


def assert_same(scores, slow):
    for name, value in slow.items():
        if name == "classes":
            continue
        got = getattr(scores, name)
        assert got == (None if value is None else pytest.approx(value, **CLOSE)), name
    for target, by_label in slow["classes"].items():
        assert list(scores.classes[target]) == list(by_label)
        for label, (precision, recall, f1, support, predicted) in by_label.items():
            one = scores.classes[target][label]
            numbers = (float(precision), float(recall), float(f1))
            assert (one.precision, one.recall, one.f1) == pytest.approx(numbers, **CLOSE)
            assert (one.support, one.predicted) == (support, predicted)


@pytest.mark.parametrize("n", [1, 2, 9, 80, 700])
@pytest.mark.parametrize("pool", POOLS)
def test_against_scikit_learn_and_slow_loop(pool, n):
    gold_options, answer_options = POOLS[pool]
    for seed in range(3):
        rng = random.Random(f"{pool} {n} {seed}")
        gold = gold_rows(rng, n, **gold_options)
        right = 0.0 if pool == "nothing in common" else 0.5
        confidence = decimal_confidence(rng, share=(1.0, 0.6, 0.0)[seed])
        answers = answer_rows(rng, gold, confidence, right, **answer_options)
        by_id = {row["scenario_id"]: row for row in answers}
        rng.shuffle(answers)
        scores = score(five_targets(gold), answers, resamples=0).scores

        assert_same(scores, slow_scores(gold, by_id))
        for target, labels in LABELS.items():
            truth = [row[target] for row in gold]
            guess = [by_id[row["scenario_id"]][f"predicted_{target}"] for row in gold]
            present = sorted({*truth, *guess})
            macro = f1_score(truth, guess, average="macro", labels=present, zero_division=0)
            assert getattr(scores, f"{target}_macro_f1") == pytest.approx(macro, **CLOSE)
            table = precision_recall_fscore_support(
                truth, guess, labels=list(labels), zero_division=0
            )
            ours = [scores.classes[target][label] for label in labels]
            np.testing.assert_allclose([c.precision for c in ours], table[0], atol=1e-12)
            np.testing.assert_allclose([c.recall for c in ours], table[1], atol=1e-12)
            np.testing.assert_allclose([c.f1 for c in ours], table[2], atol=1e-12)
            assert [c.support for c in ours] == table[3].tolist()


def test_the_pools_are_what_they_say():
    rng = random.Random(1)
    gold_options, answer_options = POOLS["prediction-only classes"]
    gold = gold_rows(rng, 80, **gold_options)
    answers = answer_rows(rng, gold, **answer_options)
    scores = score(five_targets(gold), answers, resamples=0).scores
    support = [(c.support, c.predicted) for c in scores.classes["outcome_mode"].values()]
    assert sum(s == 0 and p > 0 for s, p in support) == 3
    gold_options, answer_options = POOLS["absent classes"]
    gold = gold_rows(rng, 80, **gold_options)
    answers = answer_rows(rng, gold, **answer_options)
    scores = score(five_targets(gold), answers, resamples=0).scores
    absent = [c for c in scores.classes["mechanism_family"].values() if not c.support]
    assert len(absent) == 6
    assert all((c.precision, c.recall, c.f1, c.predicted) == (0, 0, 0, 0) for c in absent)


def drift(**changes):
    row = {
        "scenario_id": "a",
        "outcome_mode": "latent_drift",
        "first_drift_step": 3,
        "mechanism_family": "scope_collapse",
        "repair_outcome": "unrepaired",
        "residual_constraint_id": 1,
    }
    return {**row, **changes}


@pytest.mark.parametrize(
    ("confidences", "right", "expected"),
    [
        # Each confidence stands in one bin with its neighbour below the edge, not above it.
        ([0.1, 0.05], [True, False], abs(Fraction(15, 100) - 1) / 2),
        ([0.1, 0.15], [True, False], (Fraction(90, 100) + Fraction(15, 100)) / 2),
        ([0.0, 0.1], [False, True], Fraction(90, 100) / 2),
        ([0.0, 0.1], [True, True], abs(Fraction(1, 10) - 2) / 2),
        ([0.3, 0.25], [True, False], abs(Fraction(55, 100) - 1) / 2),
        ([0.3, 0.35], [True, False], (Fraction(70, 100) + Fraction(35, 100)) / 2),
        ([0.1 + 0.2, 0.25], [True, False], abs(Fraction(55, 100) - 1) / 2),
        ([1.0, 0.95], [True, False], abs(Fraction(195, 100) - 1) / 2),
        ([1.0, 0.9], [True, False], Fraction(90, 100) / 2),
        ([0.5, 0.5, None], [True, False, True], Fraction(0)),
        ([None, None, 0.25], [True, True, False], Fraction(25, 100)),
    ],
)
def test_calibration_bins(confidences, right, expected):
    gold = [drift(scenario_id=str(k)) for k in range(len(right))]
    answers = [
        drift(scenario_id=str(k), confidence=c, first_drift_step=3 if ok else 4)
        for k, (c, ok) in enumerate(zip(confidences, right, strict=True))
    ]
    scores = score(gold, answers, resamples=0).scores
    assert scores.expected_calibration_error == pytest.approx(float(expected), **CLOSE)
    given = sum(c is not None for c in confidences)
    assert scores.confidence_coverage == given / len(confidences)


@pytest.mark.parametrize("with_column", [False, True])
def test_no_confidence_at_all(with_column):
    gold = [drift()]
    answers = [drift(confidence=None)] if with_column else [drift()]
    report = score(gold, answers)
    assert report.scores.expected_calibration_error is None
    assert report.scores.confidence_coverage == 0.0
    shown = report.to_dict()
    assert "expected_calibration_error" not in shown["secondary_diagnostics"]
    assert "expected_calibration_error" not in shown["uncertainty"]["intervals"]
    assert shown["secondary_diagnostics"]["confidence_coverage"] == 0.0


@pytest.mark.parametrize("n", [1, 5, 200])
def test_perfect_predictions(n):
    rng = random.Random(n)
    gold = gold_rows(rng, n)
    answers = [{**row, "confidence": 0.75} for row in five_targets(gold)]
    scores = score(five_targets(gold), answers, resamples=0).scores
    for name in ("component_mean", *(f"{t}_macro_f1" for t in LABELS), *ACCURACIES):
        assert getattr(scores, name) == 1.0, name
    steps = [row for row in gold if row["first_drift_step"]]
    assert scores.mean_absolute_onset_error == (0.0 if steps else None)
    assert scores.expected_calibration_error == 0.25
    assert scores.confidence_coverage == 1.0
    for by_label in scores.classes.values():
        for one in by_label.values():
            expected = 1.0 if one.support else 0.0
            assert (one.precision, one.recall, one.f1) == (expected,) * 3


def break_label(rng, row, gold):
    target = rng.choice(list(LABELS))
    value = rng.choice(("full_repair ", "No_drift", "", "scope-collapse", "none\u200b"))
    return [{**row, f"predicted_{target}": value}]


def break_combination(rng, row, gold):
    if row["predicted_outcome_mode"] == "no_drift":
        return [{**row, "predicted_first_drift_step": 1}]
    return [{**row, "predicted_mechanism_family": "none"}]


def break_residual_bound(rng, row, gold):
    drifted = {**row, **{f"predicted_{name}": value for name, value in drift().items()}}
    del drifted["predicted_scenario_id"]
    beyond = len(gold["constraints"]) + 1
    return [
        {**drifted, "predicted_first_drift_step": 1, "predicted_residual_constraint_id": beyond}
    ]


def break_onset_bound(rng, row, gold):
    (drifted,) = break_residual_bound(rng, row, gold)
    beyond = {"predicted_first_drift_step": len(gold["steps"]) + 1}
    return [{**drifted, "predicted_residual_constraint_id": 1, **beyond}]


def break_number(rng, row, gold):
    return [{**row, "predicted_first_drift_step": rng.choice(("3.5", "+3", "0", "TRUE", "nan"))}]


def break_confidence(rng, row, gold):
    return [{**row, "confidence": rng.choice(("1.5", "-0.1", "80%", "nan"))}]


def repeat(rng, row, gold):
    return [row, dict(row)]


def leave_out(rng, row, gold):
    return []


FAULTS = (
    break_label,
    break_combination,
    break_residual_bound,
    break_onset_bound,
    break_number,
    break_confidence,
    repeat,
    leave_out,
)


def faulty(rng, gold, answers, faults, share=0.5):
    """Break some answers; give all rows and identifier → answer of what is left whole."""
    rows, whole = [], {}
    for row, own in zip(answers, gold, strict=True):
        if rng.random() < share:
            rows += rng.choice(faults)(rng, row, own)
        else:
            rows.append(row)
            whole[row["scenario_id"]] = row
    rng.shuffle(rows)
    return rows, whole


@pytest.mark.parametrize("fault", [*FAULTS, None], ids=lambda f: f.__name__ if f else "all")
def test_unanswered_rows_are_misses_and_no_false_positives(fault, tmp_path):
    for seed in range(3):
        rng = random.Random(seed)
        gold = gold_rows(rng, 60)
        answers = answer_rows(rng, gold, decimal_confidence(rng, 0.7), right=0.8)
        rows, whole = faulty(rng, gold, answers, FAULTS if fault is None else (fault,))
        gold_file = write_gold(tmp_path / "gold.csv", rng, gold)
        file = write_answers(tmp_path / "answers.csv", rows)
        with pytest.raises(InvalidInput):
            score(gold_file, file)
        report = score(gold_file, file, on_invalid="incorrect", resamples=0)
        assert 0 < len(whole) < 60
        slow = slow_scores(gold, whole)
        assert report.signature["n_invalid"] == 60 - len(whole) == slow["n_invalid"]
        assert report.signature["n"] == 60
        assert_same(report.scores, slow)
        # A label that nobody has stands for an unanswered row; scikit-learn then agrees.
        for target in LABELS:
            truth = [row[target] for row in gold]
            kept = [whole.get(row["scenario_id"]) for row in gold]
            guess = ["?" if row is None else row[f"predicted_{target}"] for row in kept]
            present = sorted({*truth, *guess} - {"?"})
            macro = f1_score(truth, guess, average="macro", labels=present, zero_division=0)
            value = getattr(report.scores, f"{target}_macro_f1")
            assert value == pytest.approx(macro, **CLOSE)
        for row in report.to_dict()["prediction_table"]:
            answer = whole.get(row["scenario_id"])
            if answer is None:
                assert [row[f"predicted_{name}"] for name in TARGETS] == [None] * 5
                assert not any(row[f"{name}_correct"] for name in TARGETS)
                assert row["confidence"] is None
                assert row["onset_absolute_error"] is None
            else:
                assert row["predicted_outcome_mode"] == answer["predicted_outcome_mode"]
                assert row["predicted_first_drift_step"] == answer["predicted_first_drift_step"]
                assert row["confidence"] == answer["confidence"]


def test_nothing_answered(tmp_path):
    rng = random.Random(0)
    gold = gold_rows(rng, 20)
    answers = answer_rows(rng, gold)
    rows, _ = faulty(rng, gold, answers, (break_combination,), share=1.0)
    scores = score(five_targets(gold), rows, on_invalid="incorrect", resamples=0).scores
    assert_same(scores, slow_scores(gold, {}))
    assert scores.component_mean == scores.complete_primary_accuracy == 0.0
    assert scores.mean_absolute_onset_error is None
    assert scores.n_invalid == 20


def without_prefix(rows):
    return [{name.removeprefix("predicted_"): v for name, v in row.items()} for row in rows]


def as_columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def as_ids(rows):
    """Replace labels with their positions in schema order."""
    found = []
    for row in rows:
        new = dict(row)
        for name in row:
            target = name.removeprefix("predicted_")
            if target in LABELS:
                new[name] = LABELS[target].index(row[name])
        found.append(new)
    return found


def as_file_text(rows):
    """Replace every value with the text that a file has for it."""
    return [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]


PREDICTION_SOURCES = {
    "rows": lambda rows: rows,
    "rows without prefix": without_prefix,
    "rows of text": as_file_text,
    "columns": as_columns,
    "columns without prefix": lambda rows: as_columns(without_prefix(rows)),
    "DataFrame": pd.DataFrame,
    "DataFrame without prefix": lambda rows: pd.DataFrame(without_prefix(rows)),
    "DataFrame of ids": lambda rows: pd.DataFrame(as_ids(rows)),
    "categories": lambda rows: pd.DataFrame(rows).astype({"predicted_outcome_mode": "category"}),
    "Table": pa.Table.from_pylist,
    "Table without prefix": lambda rows: pa.Table.from_pylist(without_prefix(rows)),
    "ids": as_ids,
    "ids without prefix": lambda rows: without_prefix(as_ids(rows)),
    "Table of ids": lambda rows: pa.Table.from_pylist(as_ids(rows)),
}
GOLD_SOURCES = {
    "rows": five_targets,
    "columns": lambda rows: as_columns(five_targets(rows)),
    "DataFrame": lambda rows: pd.DataFrame(five_targets(rows)),
    "Table": lambda rows: pa.Table.from_pylist(five_targets(rows)),
    "ids": lambda rows: as_ids(five_targets(rows)),
    "rows of text": lambda rows: as_file_text(five_targets(rows)),
    "records": lambda rows: [labelled_record(random.Random(0), row) for row in rows],
    "columns of files": lambda rows: [
        {name: record[name] for name in LABELLED_HEADER}
        for record in (labelled_record(random.Random(0), row) for row in rows)
    ],
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    rng = random.Random(11)
    gold = gold_rows(rng, 40)
    answers = answer_rows(rng, gold, decimal_confidence(rng, 0.8))
    rng.shuffle(answers)
    files = write_gold(folder / "g.csv", rng, gold), write_answers(folder / "p.csv", answers)
    return gold, answers, files, score(*files, resamples=40).to_dict()


def test_labels_are_in_schema_order():
    assert {name: schema.labels(name) for name in LABELS} == LABELS


@pytest.mark.parametrize("kind", PREDICTION_SOURCES)
def test_prediction_sources_give_the_report_of_the_file(sources, kind):
    _, answers, (gold_file, _), expected = sources
    source = PREDICTION_SOURCES[kind](answers)
    assert score(gold_file, source, resamples=40).to_dict() == expected


@pytest.mark.parametrize("kind", GOLD_SOURCES)
def test_gold_sources_give_the_report_of_the_file(sources, kind):
    gold, answers, (_, file), expected = sources
    source = GOLD_SOURCES[kind](gold)
    assert score(source, file, resamples=40).to_dict() == expected
    assert score(source, answers, resamples=40).to_dict() == expected


def gold_hash(source):
    return score(source, ANSWERS_OF_HASH, on_invalid="incorrect", resamples=0).signature[
        "gold_sha256"
    ]


ANSWERS_OF_HASH = [drift(scenario_id="")]  # answers nothing


def test_gold_hash_does_not_depend_on_form(tmp_path):
    rng = random.Random(3)
    gold = gold_rows(rng, 50)
    expected = gold_hash(five_targets(gold))
    assert len(expected) == 64
    for kind, make in GOLD_SOURCES.items():
        assert gold_hash(make(gold)) == expected, kind
    for order in range(3):
        shuffled = list(gold)
        rng.shuffle(shuffled)
        assert gold_hash(five_targets(shuffled)) == expected
        file = tmp_path / f"{order}.csv"
        for bom in (False, True):
            for line_end in ("\n", "\r\n"):
                write_gold(file, rng, shuffled, bom=bom, line_end=line_end)
                assert gold_hash(file) == expected, (bom, line_end)
    # A table that starts in the middle of its buffers.
    table = pa.Table.from_pylist(five_targets([gold[0], *gold]))
    assert gold_hash(table.slice(1)) == expected
    assert gold_hash(pa.concat_tables([table.slice(30), table.slice(1, 29)])) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario_id": "b"},
        {"outcome_mode": "visible_failure"},
        {"first_drift_step": 2},
        {"mechanism_family": "causal_scope_collapse"},
        {"repair_outcome": "failed_repair"},
        {"residual_constraint_id": 2},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_gold_hash_depends_on_every_target(changes):
    rest = five_targets(gold_rows(random.Random(5), 10))
    whole = [*rest[:5], drift(), *rest[5:]]
    changed = [*rest[:5], drift(**changes), *rest[5:]]
    assert gold_hash(whole) != gold_hash(changed)


def test_gold_hash_tells_rows_apart():
    rows = [drift(scenario_id="a"), drift(scenario_id="b", first_drift_step=5)]
    swapped = [drift(scenario_id="b"), drift(scenario_id="a", first_drift_step=5)]
    assert gold_hash(rows) != gold_hash(swapped)
    longer = [drift(scenario_id="ab"), drift(scenario_id="c", first_drift_step=5)]
    other = [drift(scenario_id="a"), drift(scenario_id="bc", first_drift_step=5)]
    assert gold_hash(longer) != gold_hash(other)


def test_gold_text_columns_do_not_change_the_hash(tmp_path):
    gold = gold_rows(random.Random(6), 5)
    records = [labelled_record(random.Random(0), row) for row in gold]
    other = [{**record, "domain": "elsewhere", "task": "x"} for record in records]
    for name, rows in (("one", records), ("two", other)):
        (tmp_path / name).write_text(csv_text(rows, LABELLED_HEADER), encoding="utf-8")
    assert gold_hash(tmp_path / "one") == gold_hash(tmp_path / "two")


def codes_of(gold, answers, **options):
    with pytest.raises(InvalidInput) as caught:
        score(gold, answers, resamples=0, **options)
    return [problem.code for problem in caught.value.problems]


@pytest.mark.parametrize("identifier", [1, 1.5, b"a"])
def test_identifiers_that_are_no_text_are_read_as_text(identifier):
    row = drift(scenario_id=identifier)
    assert score([row], [row], resamples=0).scores.complete_primary_accuracy == 1.0
    text = drift(scenario_id=str(identifier))
    assert score([text], [row], resamples=0).scores.n == 1
    assert "unknown_scenario" in codes_of([drift(scenario_id="other")], [row])


@pytest.mark.parametrize("identifier", ["", " ", None, "a\x00b"])
def test_gold_rows_need_an_identifier(identifier):
    gold = [drift(), drift(scenario_id=identifier)]
    assert codes_of(gold, [drift()], on_invalid="incorrect") == ["scenario_id_text"]


@pytest.mark.parametrize("number", [2**31, 2**63, 2**70, -(2**70)])
def test_huge_integers_in_memory_are_a_problem(number):
    answer = drift(first_drift_step=number)
    assert "first_drift_step_integer" in codes_of([drift()], [answer])
    report = score([drift()], [answer], on_invalid="incorrect", resamples=0)
    assert report.scores.n_invalid == 1


def test_gold_in_memory_is_held_to_its_bounds():
    lists = {"constraints": ["first", "second"]}
    assert codes_of([drift(residual_constraint_id=3) | lists], [drift()]) == ["residual_bounds"]
    quoted = drift(residual_constraint_failure="2") | lists
    del quoted["residual_constraint_id"]
    # A text that is none of the constraints, not the number of one.
    assert codes_of([quoted], [drift()])
    quoted["residual_constraint_failure"] = "second"
    answer = drift(residual_constraint_id=2)
    assert score([quoted], [answer]).scores.complete_primary_accuracy == 1.0
