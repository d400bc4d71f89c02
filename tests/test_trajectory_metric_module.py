"""The evaluate module over trajectories: every form, the numbers of the package, failures."""

import doctest

import pytest
import slow_trajectories as slow

from drift_core import packing
from traj_eval import evaluate_trajectories, metric_input

pytestmark = pytest.mark.loading


@pytest.fixture(scope="module")
def folder(root):
    return str(root / "metric" / "denoising_trajectory")


@pytest.fixture
def metric(folder):
    import evaluate

    return evaluate.load(folder)


MANY = slow.trajectories(21, 60)
WHOLE = evaluate_trajectories(MANY, resamples=30)
MEANS = {k: v for k, v in WHOLE.aggregate.items() if not isinstance(v, dict)}


def test_whole_trajectories_give_the_numbers_of_the_package(metric):
    assert metric.compute(predictions=MANY) == MEANS
    golds = [t["gold"] for t in MANY]
    blind = [{**t, "gold": None} for t in MANY]
    assert metric.compute(predictions=blind, references=golds) == MEANS
    for t in MANY[:25]:
        metric.add(prediction=t)
    metric.add_batch(predictions=MANY[25:], references=golds[25:])
    report = metric.compute(report=True, resamples=30)
    assert report["aggregate"] == WHOLE["aggregate"]
    assert report["groups"] == WHOLE["groups"]
    rows = sorted(report["trajectories"], key=lambda row: int(row["id"][1:]))
    assert rows == WHOLE["trajectories"]  # evaluate may keep single rows after batches


def test_lists_give_the_numbers_of_the_package(metric):
    golds = [t["gold"] for t in MANY]
    lists = [
        {
            "verdicts": [s["verdict"] for s in t["steps"]],
            "texts": [s["text"] for s in t["steps"]],
            "numbers": [s["step"] for s in t["steps"]],
            **{k: t[k] for k in ("condition", "mask") if k in t},
        }
        for t in MANY
    ]
    found = metric.compute(predictions=lists, references=golds)
    clocks = ("answer_commitment_step", "stability_commitment_lag", "unwritten_reasoning")
    expected = {**MEANS, **dict.fromkeys(f"mean_{name}" for name in clocks)}
    assert found == expected
    bare = metric.compute(predictions=[one["verdicts"] for one in lists], references=golds)
    same = ("n", "accuracy", "coverage", "mean_flip_rate", "mean_early_factor", "ever_correct")
    assert {name: bare[name] for name in same} == {name: MEANS[name] for name in same}
    for name in ("post_change_rate", "length_growth", "score", "gated_score"):
        assert bare[f"mean_{name}"] is None
    report = metric.compute(predictions=[["A", "A"]], references=["A"], report=True, resamples=5)
    assert report["trajectories"][0]["regime"] is None
    assert "mean_score" not in report["aggregate"]["intervals"]


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([["A"]], ["A", "B"], "as many references as predictions but got 2 and 1"),
        ([["A", 4]], ["A"], r"steps\[1\].verdict"),
        (["AB"], ["A"], "Expected verdicts, `steps`, or `texts`"),
        ([{"texts": ["a"]}], ["A"], "Expected verdicts, `steps`, or `texts`"),
        ([{"verdicts": ["A"], "texts": ["a", "b"]}], ["A"], "of one length but got 1, 2 and 1"),
        ([["A"], {"verdicts": ["A"], "texts": [""]}], ["A", "A"], "in all trajectories or in none"),
        ([{**MANY[0], "gold": "A"}], ["B"], "item 0: the trajectory has gold 'A'"),
        ([], [], "at least one trajectory"),
    ],
)
def test_wrong_inputs_are_told_and_leave_nothing_behind(metric, predictions, references, message):
    with pytest.raises(ValueError, match=message):
        metric.compute(predictions=predictions, references=references)
    if len(predictions) == len(references) > 0:
        metric.add_batch(predictions=predictions, references=references)
        with pytest.raises(ValueError, match=message):
            metric.compute()
    with pytest.raises(ValueError, match="nothing to score"):
        metric.compute()
    assert metric.compute(predictions=[["A"]], references=["A"])["accuracy"] == 1.0


def test_an_option_that_is_not_known_is_named_beside_those_that_are(metric):
    known = "extractor, pattern, report, resamples, group_by, weights, edits, seed"
    for name in ("groupby", "normalize"):
        with pytest.raises(ValueError, match=f"options out of {known} but got {name}"):
            metric.compute(predictions=[["A"]], references=["A"], **{name: True})


def test_what_json_has_no_form_for():
    with pytest.raises(ValueError, match="got object"):
        packing.pack([object()])


def test_the_example_in_the_description_runs(root, monkeypatch):
    monkeypatch.chdir(root)
    runner = doctest.DocTestRunner()
    test = doctest.DocTestParser().get_doctest(metric_input.INPUTS, {}, "inputs", None, 0)
    assert test.examples
    runner.run(test)
    assert runner.summarize().failed == 0


def test_it_is_a_thin_door(root):
    text = (root / "metric" / "denoising_trajectory" / "denoising_trajectory.py").read_text()
    assert len(text.splitlines()) <= 60
