"""The evaluate module: the package's numbers through evaluate's doors."""

import doctest
import math
import sys

import evaluate
import numpy as np
import pytest

from drift_gauge import drift, golden, metric_input
from drift_gauge.retrievers import embedded_retriever

pytestmark = [pytest.mark.loading, pytest.mark.filterwarnings("ignore")]

ANCHOR = {"recall_at_k": 0.75, "overlap": 0.25, "mean_distance": 0.5}
ANSWER, ASKED = {"titles": ["a", "c"], "distances": [0.25, 0.5]}, {"expected": ["a", "b"], "k": 2}


@pytest.fixture
def metric(root):
    return evaluate.load(str(root / "metric" / "alignment_drift"))


def test_numbers_equal_those_of_the_package(metric):
    queries = golden.load_golden_set()
    ask = embedded_retriever(max_features=400)
    rows = [ask(query.query, query.k) for query in queries]
    predictions = [
        {"titles": [row["title"] for row in one], "distances": [row["_distance"] for row in one]}
        for one in rows
    ]
    references = [{"expected": list(query.expected), "k": query.k} for query in queries]
    blessed = golden.load_baseline()["metrics"]
    found = metric.compute(predictions=predictions, references=references, baseline=blessed)
    reading = drift.measure_drift(ask, intact=True)
    assert 1 < reading.drift < math.inf
    assert found["drift"] == reading.drift
    assert found["within_tolerance"] is False
    assert {name: found[f"{name}_deterioration"] for name in reading.per_axis} == reading.per_axis
    report = golden.evaluate(queries, ask)
    assert {name: found[name] for name in blessed} == report.as_metrics()
    assert found["regressions"] == golden.regressions(report, blessed)
    whole = golden.load_baseline()
    both = {"predictions": predictions, "references": references}
    assert metric.compute(**both, baseline=whole) == found
    whole["drift"] = {**whole["drift"], "recall_tol": 1.0, "drift_tolerance": 9.0}
    own = metric.compute(**both, baseline=whole)
    assert own["recall_at_k_deterioration"] < found["recall_at_k_deterioration"]
    assert own["within_tolerance"]
    assert not metric.compute(**both, baseline=whole, theta=0.5)["within_tolerance"]

    for start in range(0, len(rows), 10):
        part = slice(start, start + 10)
        metric.add_batch(predictions=predictions[part], references=references[part])
    assert metric.compute(baseline=blessed) == found


def test_adding_computing_and_computing_again(metric):
    metric.add(prediction=ANSWER, reference=ASKED)
    metric.add(prediction={"titles": ["a", "b"]}, reference={"expected": ["a"]})
    once = metric.compute(baseline=ANCHOR, recall_tol=0.125, theta=3)
    assert once["recall_at_k"] == 0.75
    assert once["mean_distance"] == 0.375
    again = metric.compute(
        predictions=[ANSWER, {"titles": np.array(["a", "b"])}],
        references=[ASKED, {"expected": ["a"]}],
        baseline=ANCHOR,
        recall_tol=0.125,
        theta=3,
    )
    assert again == once
    with pytest.raises(ValueError, match="nothing to score"):
        metric.compute()


def test_a_failed_compute_leaves_nothing_behind(metric):
    metric.add(prediction=ANSWER, reference={"expected": ["a"], "k": 0})
    with pytest.raises(ValueError, match="k: 0"):
        metric.compute()
    metric.add(prediction=ANSWER, reference=ASKED)
    assert metric.compute()["recall_at_k"] == 0.5


@pytest.mark.parametrize(
    ("prediction", "reference", "named"),
    [
        (ANSWER, {"expected": ["a"], "k": 2.5}, "item 0: k: 2.5, expected a whole number ≥ 1"),
        (ANSWER, {"expected": ["a"], "k": True}, "k: True"),
        (ANSWER, {"expected": "a", "k": 1}, "expected: 'a', expected a list of titles"),
        (ANSWER, {"expected": ["a", None]}, "expected a list of titles"),
        (ANSWER, None, "Expected references to be dicts"),
        ({"title": ["a"]}, ASKED, "Expected predictions to be dicts of `titles` and `distances`"),
        ({"titles": ["a"], "distances": [0.1, 0.2]}, ASKED, "a list of 1 distances"),
        ({"titles": ["a"], "distances": [math.nan]}, ASKED, "distances: nan"),
        ({"titles": ["a"], "distances": ["0.1"]}, ASKED, "distances: '0.1'"),
        ({"titles": [3]}, ASKED, "titles: [3]"),
    ],
)
def test_bad_rows_are_named(metric, prediction, reference, named):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the name is looked for below
        metric.compute(predictions=[prediction], references=[reference])
    assert named in str(caught.value)


def test_bad_options_are_named(metric):
    rows = {"predictions": [ANSWER], "references": [ASKED]}
    for options, named in [
        ({"baseline": {}}, "missing key `metrics.recall_at_k`"),
        ({"baseline": {**ANCHOR, "overlap": math.nan}}, "metrics.overlap: nan"),
        ({"baseline": ANCHOR, "recall_tol": -1}, "`recall_tol`"),
        ({"baseline": ANCHOR, "theta": math.nan}, "`theta`"),
        ({"baseline": ANCHOR, "tolerance": 1}, "recall_tol, overlap_tol, distance_tol but got tol"),
        ({"recall_tol": 0.1, "theta": 2}, "Expected `baseline` along with theta, recall_tol"),
    ]:
        with pytest.raises(ValueError) as caught:  # noqa: PT011  the name is looked for below
            metric.compute(**rows, **options)
        assert named in str(caught.value)
    with pytest.raises(ValueError, match="as many predictions as references but got 2 and 1"):
        metric.compute(predictions=[ANSWER] * 2, references=[ASKED])


def test_the_example_of_the_module_runs(root, monkeypatch):
    monkeypatch.chdir(root)
    example = doctest.DocTestParser().get_doctest(metric_input.INPUTS, {}, "inputs", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(example)
    assert runner.summarize(verbose=False) == (0, len(example.examples))
    assert len((root / "metric/alignment_drift/alignment_drift.py").read_text().splitlines()) <= 60
    assert "drift_gauge" in sys.modules
