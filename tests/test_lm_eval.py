"""The task folder of lm-evaluation-harness, run for real over HTTP on loopback."""

import json
import math
import re
from collections import Counter

import pytest
from loopback_chat import chatting
from scripted_answers import gold, rows, sayings

import drift_onset
from drift_onset import cli, prompt
from drift_onset.harness import scenarios, scoring
from drift_onset.scores import METRICS

pytestmark = [
    pytest.mark.loading,
    pytest.mark.needs("lm_eval"),
    pytest.mark.filterwarnings("ignore"),  # those of other libraries are not ours to mend
]


def run(answer, capsys, task="reasoning_drift", refuse_first=0, **options):
    """Evaluate with a model that says what a function of the scenario says."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    assert cli.main(["tasks", "lm-eval"]) == 0
    folder = capsys.readouterr().out.strip()
    with chatting(answer, refuse_first) as seen:
        found = simple_evaluate(
            "local-chat-completions",
            model_args={
                "model": "scripted",
                "base_url": f"{seen.url}/chat/completions",
                "num_concurrent": 4,
                "tokenizer_backend": None,
            },
            tasks=[task],
            task_manager=TaskManager(include_path=folder, include_defaults=False),
            apply_chat_template=True,
            fewshot_as_multiturn=True,
            log_samples=True,
            **options,
        )
    results = found["results"][task].items()
    named = {k.split(",")[0]: v for k, v in results if k.endswith(",none") and "_stderr" not in k}
    return named, found["samples"][task], seen


@pytest.fixture(scope="module")
def right():
    return {r["scenario_id"]: r for s in ("train", "dev", "test") for r in scenarios.load(s)}


@pytest.mark.parametrize("empty", ["", None])
def test_scripted_answers_give_the_scores_of_the_csv_scorer(root, capsys, empty):
    """Several requests at a time, the first ones refused as by a busy server."""
    meant = sayings(root)
    found, samples, seen = run(lambda name: meant[name][0] or empty, capsys, refuse_first=2)
    references = [{"scenario_id": name, **state} for name, state in gold(root).items()]
    report = drift_onset.score(references, rows(meant), on_invalid="incorrect", resamples=0)
    assert found == {**report.scores.metrics(), "n": 12, "n_unanswered": 6}
    assert list(report.scores.metrics()) == list(METRICS), "every metric has its place"
    assert (seen.refused, len(seen.bodies)) == (2, 14)
    assert seen.at_once > 1
    why = {s["doc"]["scenario_id"]: s["component_mean"]["answer"]["why"] for s in samples}
    assert {name for name, told in why.items() if told} == {
        name for name, (_, state) in meant.items() if state is None
    }
    json.dumps(samples, allow_nan=False)


def test_nonsense_is_wrong_and_counted(capsys):
    found, *_ = run(lambda name: "Colourless green ideas.", capsys)
    assert (found["n"], found["n_unanswered"], found["component_mean"]) == (12, 12, 0)
    assert math.isnan(found["mean_absolute_onset_error"])


@pytest.mark.parametrize(("split", "n"), [("train", 16), ("dev", 8)])
def test_other_splits_and_examples(right, capsys, split, n):
    def answer(name):
        return prompt.answer(right[name])

    found, _, seen = run(answer, capsys, f"reasoning_drift_{split}", num_fewshot=2)
    assert (found["n"], found["complete_primary_accuracy"]) == (n, 1.0)
    for body in seen.bodies:
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
        shown = re.findall(r"Scenario: (\S+)", json.dumps(body["messages"]))
        assert len(set(shown)) == 3, "the question itself is no example"
        assert body["messages"][0]["content"].strip() == prompt.instructions()


def test_hidden_constraints_leave_the_residual_out(right, capsys):
    def answer(name):
        return prompt.answer(right[name], hide_constraints=True)

    found, _, seen = run(answer, capsys, "reasoning_drift_hidden")
    assert set(found) == {*scoring.HIDDEN_METRICS, "n", "n_unanswered"}
    assert found["component_mean"] == 1.0
    assert not [body for body in seen.bodies if "Constraints:" in json.dumps(body)]


def test_five_samples_are_voted_on(right, capsys):
    asked = Counter()

    def answer(name):
        asked[name] += 1
        return "nothing" if asked[name] <= 2 else prompt.answer(right[name])

    found, *_ = run(answer, capsys, "reasoning_drift_vote")
    assert set(asked.values()) == {5}
    assert (found["n"], found["complete_primary_accuracy"]) == (12, 1.0)
