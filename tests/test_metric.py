"""The evaluate module: the scorer's numbers through evaluate's doors."""

import csv
import doctest
import json
import multiprocessing
import sys

import evaluate
import numpy as np
import pytest

import drift_onset
import reasoning_drift
from drift_core import packing
from drift_onset import metric_input, schema

pytestmark = [
    pytest.mark.loading,
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def folder(root):
    return str(root / "metric" / "reasoning_state")


@pytest.fixture
def metric(folder):
    return evaluate.load(folder)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def gold(root):
    return read(root / "data" / "test.csv")


@pytest.fixture(scope="module")
def predictions(root):
    """Predictions that are partly right, so that every number is between its bounds."""
    rows = read(root / "baseline" / "example_predictions.csv")
    answers = reasoning_drift.load("test")
    for row, answer in list(zip(rows, answers, strict=True))[::2]:
        for name in schema.targets():
            labels = schema.fields("state")[name].labels
            value = labels[answer[name]] if labels else answer[name]
            row[schema.PREDICTED + name] = "" if value is None else str(value)
        row["confidence"] = "0.83"
    return rows


@pytest.fixture(scope="module")
def expected(root, predictions, tmp_path_factory):
    path = tmp_path_factory.mktemp("predictions") / "predictions.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, predictions[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(predictions)
    return drift_onset.score(root / "data" / "test.csv", path)


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_numbers_equal_those_of_the_scorer(metric, gold, predictions, expected):
    assert 0 < expected.scores.complete_primary_accuracy < 1
    assert metric.compute(predictions=predictions, references=gold) == expected.scores.metrics()


def test_the_report_equals_that_of_the_scorer(metric, gold, predictions, expected):
    report = metric.compute(predictions=predictions, references=gold, report=True)
    assert report == expected.to_dict()


def test_every_form_of_input_gives_the_same(metric, gold, predictions, expected):
    answers = reasoning_drift.load("test")
    bare = [
        {name.removeprefix(schema.PREDICTED): value for name, value in row.items()}
        for row in predictions
    ]
    for given in (predictions, columns(predictions), bare, columns(bare)):
        for references in (gold, columns(gold), answers):
            found = metric.compute(predictions=given, references=references)
            assert found == expected.scores.metrics()


def test_add_and_add_batch_equal_compute(metric, gold, predictions, expected):
    for row, reference in zip(predictions, gold, strict=True):
        metric.add(prediction=row, reference=reference)
    assert metric.compute() == expected.scores.metrics()
    metric.add_batch(predictions=predictions[:5], references=gold[:5])
    metric.add_batch(predictions=columns(predictions[5:]), references=columns(gold[5:]))
    assert metric.compute() == expected.scores.metrics()


def test_rows_without_identifiers_are_paired_by_position(metric, gold, predictions, expected):
    bare = [{k: v for k, v in row.items() if k != "scenario_id"} for row in predictions]
    assert metric.compute(predictions=bare, references=gold) == expected.scores.metrics()
    twice = metric.compute(predictions=bare * 2, references=gold * 2)
    assert twice == expected.scores.metrics()


def test_class_label_ids_and_numpy_values_are_read(metric):
    answers = reasoning_drift.load("dev")
    rows = [
        {
            "outcome_mode": np.int64(row["outcome_mode"]),
            "first_drift_step": None if row["first_drift_step"] is None else np.int32(2),
            "mechanism_family": row["mechanism_family"],
            "repair_outcome": row["repair_outcome"],
            "residual_constraint_id": row["residual_constraint_id"],
        }
        for row in answers
    ]
    found = metric.compute(predictions=rows, references=answers)
    assert found["outcome_mode_macro_f1"] == 1.0
    for row, answer in zip(rows, answers, strict=True):
        metric.add(prediction=row, reference=answer)
    assert metric.compute() == found


# --- empty, repeated and failed computes: scikit and evaluate users stumble over these -------


def test_nothing_added_is_a_clear_error(metric, gold, predictions):
    with pytest.raises(ValueError, match="nothing to score"):
        metric.compute()
    for row, reference in zip(predictions, gold, strict=True):
        metric.add(prediction=row, reference=reference)
    metric.compute()
    with pytest.raises(ValueError, match="nothing to score"):
        metric.compute()
    with pytest.raises(ValueError, match="nothing to score: give predictions and references"):
        metric.compute(predictions=[{"outcome_mode": "no_drift"}])


def test_computing_twice_gives_the_same(metric, gold, predictions):
    first = metric.compute(predictions=predictions, references=gold)
    assert metric.compute(predictions=predictions, references=gold) == first


def test_a_failed_compute_leaves_nothing_behind(metric, gold, predictions, expected):
    for row, reference in zip(predictions[:2], gold, strict=False):
        metric.add(prediction=row, reference=reference)
    bad = {**predictions[2], "predicted_outcome_mode": "drifted"}
    with pytest.raises(ValueError, match="unknown_outcome_mode"):
        metric.compute(predictions=[bad], references=[gold[2]])
    found = metric.compute(predictions=predictions, references=gold, report=True)
    assert found["benchmark"]["n"] == len(gold)
    for row, reference in zip(predictions, gold, strict=True):
        metric.add(prediction=row, reference=reference)
    assert metric.compute() == expected.scores.metrics()


@pytest.mark.parametrize("how", ["compute", "add_batch"])
def test_a_missing_item_and_a_missing_label_are_named(metric, gold, predictions, how):
    def compute(rows, **options):
        if how == "compute":
            return metric.compute(predictions=rows, references=gold, **options)
        metric.add_batch(predictions=rows, references=gold)
        return metric.compute(**options)

    with pytest.raises(ValueError, match="item 1 is None"):
        compute([predictions[0], None, *predictions[2:]])
    without = {**predictions[3], "predicted_outcome_mode": None}
    with pytest.raises(ValueError, match=r"item 3: RDOD2-028: predicted_outcome_mode: got None"):
        compute([*predictions[:3], without, *predictions[4:]])
    found = compute([None, *predictions[1:3], without, *predictions[4:]], on_invalid="incorrect")
    assert found["exact_onset_accuracy"] < 1


def test_a_short_list_is_named_by_both_counts(metric, gold, predictions):
    with pytest.raises(ValueError, match="11 predictions for 12 references"):
        metric.compute(predictions=predictions[:-1], references=gold)
    found = metric.compute(
        predictions=predictions[:-1], references=gold, on_invalid="incorrect", report=True
    )
    assert found["signature"]["n_invalid"] == 1
    assert found["benchmark"]["n"] == 12


@pytest.mark.parametrize("value", [3.5, True, "+3", float("nan"), "３", "nan", "None", -1, 0])
@pytest.mark.parametrize("field", ["first_drift_step", "residual_constraint_id"])
@pytest.mark.parametrize("how", ["compute", "add"])
def test_what_is_no_step_is_an_error_and_not_rounded(metric, gold, predictions, value, field, how):
    bad = {**predictions[0], schema.PREDICTED + field: value}
    given = {"predictions": [bad], "references": gold[:1]}
    if how == "add":
        metric.add(prediction=bad, reference=gold[0])
        given = {}
    with pytest.raises(ValueError, match=f"item 0: RDOD2-025: predicted_{field}: got"):
        metric.compute(**given)


def test_a_column_of_wrong_kind_is_an_error(metric):
    answers = reasoning_drift.load("dev")
    rows = {name: list(answers[name]) for name in schema.targets()}
    for bad in ([True] * 8, [2.5] * 8, [[1]] * 8):
        with pytest.raises(ValueError, match="first_drift_step"):
            metric.compute(predictions={**rows, "first_drift_step": bad}, references=answers)


# --- two processes -------------------------------------------------------------------------


def _half(folder, process, epochs, predictions, gold, results):
    import evaluate as library

    for epoch in range(epochs):
        metric = library.load(
            folder, num_process=2, process_id=process, experiment_id=f"run-epoch-{epoch}"
        )
        # Other halves in the second epoch, so that rows of the first would be noticed.
        rows = slice((process + epoch) % 2, None, 2)
        metric.add_batch(predictions=predictions[rows], references=gold[rows])
        results.put((process, epoch, metric.compute(report=True)))


def test_two_processes_and_several_epochs_give_the_numbers_of_one(
    folder, gold, predictions, expected
):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [
        context.Process(target=_half, args=(folder, p, 2, predictions, gold, results))
        for p in (0, 1)
    ]
    for worker in workers:
        worker.start()
    found = {(p, e): report for p, e, report in (results.get(timeout=120) for _ in range(4))}
    for worker in workers:
        worker.join(timeout=60)
    whole = expected.to_dict()
    for epoch in (0, 1):
        assert found[1, epoch] is None
        report = found[0, epoch]
        for key in ("leaderboard_a_component_capability", "class_support", "secondary_diagnostics"):
            assert report[key] == whole[key]
        assert report["signature"]["gold_sha256"] == whole["signature"]["gold_sha256"]
        assert report["benchmark"]["n"] == len(gold)


# --- the module itself -----------------------------------------------------------------------


def test_the_example_in_the_description_runs(root, monkeypatch):
    monkeypatch.chdir(root)
    runner = doctest.DocTestRunner()
    test = doctest.DocTestParser().get_doctest(metric_input.INPUTS, {}, "inputs", None, 0)
    assert test.examples
    runner.run(test)
    assert runner.summarize().failed == 0


def test_rows_survive_the_way_through_the_cache():
    row = {"a": 3.5, "b": True, "c": None, "d": "x", "e": [1, {"f": "ü"}]}
    assert packing.unpack([metric_input.pack(row)]) == [row]
    assert json.loads(metric_input.pack({"n": np.int64(3)})) == {"n": 3}
    with pytest.raises(ValueError, match="Expected a mapping"):
        metric_input.pack([1])
    with pytest.raises(ValueError, match="got object"):
        metric_input.pack({"x": object()})


def test_the_wrapper_is_thin(root):
    text = (root / "metric" / "reasoning_state" / "reasoning_state.py").read_text()
    assert len(text.splitlines()) <= 65
    assert sys.modules["drift_onset"].__version__ == drift_onset.__version__
