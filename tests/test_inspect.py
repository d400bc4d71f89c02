"""The task of inspect-ai, run for real: with a scripted model, and over HTTP on loopback."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from loopback_chat import chatting
from random_states import PREDICTION_HEADER, csv_text
from scripted_answers import gold, rows, sayings

import drift_onset
from drift_onset import cli

pytestmark = [
    pytest.mark.loading,
    pytest.mark.needs("inspect_ai"),
    pytest.mark.filterwarnings("ignore"),  # those of other libraries are not ours to mend
]

MODEL = "openai-api/loop/scripted"


@pytest.fixture(scope="module")
def meant(root):
    return sayings(root)


@pytest.fixture(scope="module")
def expected(root, meant, tmp_path_factory):
    """The report of the CSV scorer on what was meant, which no parser was needed for."""
    path = tmp_path_factory.mktemp("meant") / "p.csv"
    path.write_text(csv_text(rows(meant), [*PREDICTION_HEADER, "confidence"]), encoding="utf-8")
    report = drift_onset.score(root / "data/test.csv", path, on_invalid="incorrect").to_dict()
    assert report["signature"]["n_invalid"] == 6
    return report


def flat(report):
    """Give the metrics of a report, and how many were unanswered, as the harnesses name them."""
    sections = [part for name, part in report.items() if name.startswith("leaderboard")]
    found = {name: v for part in sections for name, v in part.items() if isinstance(v, float)}
    found.update({k: v for k, v in report["secondary_diagnostics"].items() if v is not None})
    signature = report["signature"]
    return {**found, "n": signature["n"], "n_unanswered": signature["n_invalid"]}


def run(model, log_dir, task=None, **options):
    """Run the task in this process; give the log and where it is."""
    from inspect_ai import eval

    from drift_onset.harness.inspect_task import reasoning_drift

    options = {"display": "none", "log_dir": str(log_dir), **options}
    log = eval(reasoning_drift(**(task or {})), model=model, **options)[0]
    return log, str(log.location).removeprefix("file://")


def mock(answer):
    """Give a model that says what a function of the scenario says."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def said(messages, *_):
        name = messages[-1].text.split("Scenario: ")[1].split("\n")[0]
        output = ModelOutput.from_content("mockllm/model", answer(name))
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=said)


def metrics_of(log):
    (scored,) = log.results.scores
    return {name: metric.value for name, metric in scored.metrics.items()}


def scored_from(path, root, tmp_path, capsys, on_invalid="incorrect"):
    """Go from a log to a report by the commands."""
    made = str(tmp_path / "predictions.csv")
    options = ["--on-invalid", on_invalid]
    assert cli.main(["from-inspect", path, "--output", made, *options]) == 0
    capsys.readouterr()
    assert cli.main(["score", str(root / "data/test.csv"), made, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_scripted_model_ends_in_the_report_of_the_csv_scorer(
    root, meant, expected, tmp_path, capsys
):
    log, path = run(mock(lambda name: meant[name][0]), tmp_path / "logs")
    assert log.status == "success", log.error
    assert metrics_of(log) == flat(expected)
    assert scored_from(path, root, tmp_path, capsys) == expected
    for sample in log.samples:
        score = sample.scores["reasoning_state"]
        assert score.value["answered"] == (meant[sample.id][1] is not None)
        assert bool(score.explanation) is not score.value["answered"]


def test_evaluate_gives_the_same(root, meant, expected):
    import evaluate

    metric = evaluate.load(str(root / "metric" / "reasoning_state"))
    found = {row["scenario_id"]: row for row in rows(meant)}
    right = [{"scenario_id": name, **state} for name, state in gold(root).items()]
    given = [found.get(name, {"scenario_id": name}) for name in meant]
    options = {"report": True, "on_invalid": "incorrect"}
    assert metric.compute(predictions=given, references=right, **options) == expected


def test_a_chat_endpoint_ends_in_the_same_report(
    root, meant, expected, tmp_path, capsys, monkeypatch
):
    """Over HTTP, several requests at a time, the first ones refused as by a busy server."""
    monkeypatch.setenv("LOOP_API_KEY", "none")
    with chatting(lambda name: meant[name][0], refuse_first=2) as seen:
        monkeypatch.setenv("LOOP_BASE_URL", seen.url)
        log, path = run(MODEL, tmp_path / "logs")
    assert log.status == "success", log.error
    assert metrics_of(log) == flat(expected)
    assert scored_from(path, root, tmp_path, capsys) == expected
    assert seen.refused == 2
    assert len(seen.bodies) == 14
    assert seen.at_once > 1
    wanted = seen.bodies[0]["response_format"]["json_schema"]
    assert wanted["strict"] is True
    assert set(wanted["schema"]["required"]) == {*PREDICTION_HEADER, "confidence"}


def test_nonsense_ends_well_and_says_so(root, tmp_path, capsys):
    log, path = run(mock(lambda name: "Colourless green ideas."), tmp_path / "logs")
    assert log.status == "success"
    found = metrics_of(log)
    assert (found["n"], found["n_unanswered"], found["component_mean"]) == (12, 12, 0)
    made = tmp_path / "predictions.csv"
    assert cli.main(["from-inspect", path, "--output", str(made)]) == 1
    told = capsys.readouterr().err
    assert told.count("[unanswered]") == 12
    assert "12 problems found" in told
    assert not made.exists()
    report = scored_from(path, root, tmp_path, capsys)
    assert report["signature"]["n_invalid"] == 12
    assert flat(report) == found


def test_several_samples_are_voted_on(root, meant, tmp_path, capsys):
    """Two right answers outvote a wrong one, whichever reducer of epochs is asked for."""
    from drift_onset import prompt
    from drift_onset.harness import scenarios

    right = {row["scenario_id"]: prompt.answer(row) for row in scenarios.load("test")}
    asked = Counter()

    def answer(name):
        asked[name] += 1
        return meant[name][0] if asked[name] == 1 else right[name]

    log, path = run(mock(answer), tmp_path / "logs", epochs=3)
    found = metrics_of(log)
    assert len(log.samples) == 36
    assert (found["n"], found["complete_primary_accuracy"]) == (12, 1.0)
    report = scored_from(path, root, tmp_path, capsys, on_invalid="error")
    assert flat(report) == found


def test_what_could_not_be_asked_is_unanswered(tmp_path, meant, capsys):
    def answer(name):
        if name == "RDOD2-027":
            raise RuntimeError("no model today")
        return meant[name][0]

    log, path = run(mock(answer), tmp_path / "logs", fail_on_error=False)
    assert metrics_of(log)["n_unanswered"] == 7
    assert metrics_of(log)["n"] == 12
    assert cli.main(["from-inspect", path, "--output", str(tmp_path / "p.csv")]) == 1
    assert "RDOD2-027: failed: " in capsys.readouterr().err
    log, path = run(mock(answer), tmp_path / "logs")
    assert log.status == "error"
    assert cli.main(["from-inspect", path, "--output", str(tmp_path / "p.csv")]) == 1
    assert "[log_unfinished]" in capsys.readouterr().err


def test_options_of_the_task(root, tmp_path, capsys):
    from drift_onset import prompt
    from drift_onset.harness import scenarios

    rows_of = {r["scenario_id"]: r for s in ("train", "dev", "test") for r in scenarios.load(s)}
    plain = mock(lambda name: prompt.answer(rows_of[name]))
    log, _ = run(plain, tmp_path, {"split": "train", "fewshot": 3, "seed": 1})
    assert metrics_of(log)["n"] == 16
    for sample in log.samples:
        roles = [message.role for message in sample.input]
        assert roles == ["system", *3 * ["user", "assistant"], "user"]
        names = [m.text.split("\n")[0] for m in sample.input if m.role == "user"]
        assert len(set(names)) == 4, "the question itself is no example"
    log, path = run(plain, tmp_path, {"data": str(root / "data" / "dev.csv"), "structured": False})
    assert metrics_of(log)["complete_primary_accuracy"] == 1.0
    assert log.samples[0].output.choices
    assert log.eval.model_generate_config.response_schema is None
    log, path = run(plain, tmp_path, {"split": "test_blind"})
    assert metrics_of(log) == {"n": 12, "n_unanswered": 0}
    assert cli.main(["from-inspect", path, "--output", str(tmp_path / "blind.csv")]) == 0
    report = drift_onset.score(root / "data/test.csv", tmp_path / "blind.csv", resamples=0)
    assert report.scores.complete_primary_accuracy == 1.0
    hidden = mock(lambda name: prompt.answer(rows_of[name], hide_constraints=True))
    log, path = run(hidden, tmp_path, {"hide_constraints": True})
    found = metrics_of(log)
    assert found["component_mean"] == 1.0
    assert not {"complete_primary_accuracy", "residual_constraint_exact_accuracy"} & set(found)
    assert "Constraints:" not in log.samples[0].input[-1].text
    assert cli.main(["from-inspect", path, "--output", str(tmp_path / "p.csv")]) == 1
    assert "[log_hidden_constraints]" in capsys.readouterr().err
    assert not (tmp_path / "p.csv").exists()


def test_scoring_one_sample_and_none_is_defined(meant):
    """Inspect calls metrics on what there is so far."""
    from drift_onset.harness import inspect_task, scoring

    for factory in ("component_capability", "complete_reasoning_state", "diagnostics"):
        assert getattr(inspect_task, factory)()([]) is not None
    assert scoring.voted([]) == []


FAULTS = {
    "another task": ("log_task", lambda log: log.eval.metadata.clear()),
    "samples of another": ("log_task", lambda log: log.samples[0].metadata.clear()),
    "half-finished": ("log_unfinished", lambda log: setattr(log, "status", "started")),
    "cancelled": ("log_unfinished", lambda log: setattr(log, "status", "cancelled")),
    "no samples": ("log_samples", lambda log: setattr(log, "samples", [])),
    "a sample twice": ("duplicate_sample", lambda log: log.samples.append(log.samples[3])),
    "an epoch missing": ("log_unfinished", lambda log: setattr(log.eval.config, "epochs", 2)),
    "hidden": (
        "log_hidden_constraints",
        lambda log: log.eval.metadata.update(hide_constraints=True),
    ),
}


@pytest.fixture(scope="module")
def whole(meant, tmp_path_factory):
    return run(mock(lambda name: meant[name][0]), tmp_path_factory.mktemp("whole"))[1]


@pytest.mark.parametrize(("code", "spoil"), FAULTS.values(), ids=FAULTS)
def test_logs_that_give_no_predictions_are_refused(whole, tmp_path, capsys, code, spoil):
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(whole)
    spoil(log)
    path, made = str(tmp_path / "log.json"), tmp_path / "p.csv"
    write_eval_log(log, path)
    arguments = ["from-inspect", path, "--output", str(made), "--on-invalid", "incorrect"]
    assert cli.main(arguments) == 1
    told = capsys.readouterr().err
    assert f"[{code}]" in told
    assert path in told
    assert "Traceback" not in told
    assert not made.exists()


def test_what_is_no_log_is_refused(root, tmp_path, capsys, whole):
    (tmp_path / "text.eval").write_text("no zip", encoding="utf-8")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    cut = tmp_path / "cut.eval"
    cut.write_bytes(Path(whole).read_bytes()[:2000])
    for path in (*tmp_path.iterdir(), root / "README.md", tmp_path, tmp_path / "absent.eval"):
        assert cli.main(["from-inspect", str(path), "--output", str(tmp_path / "p.csv")]) == 1
        told = capsys.readouterr().err
        assert str(path) in told
        assert "Traceback" not in told
    assert not (tmp_path / "p.csv").exists()
    copy = shutil.copyfile(whole, tmp_path / "copy.eval")
    assert cli.main(["from-inspect", str(copy), "--output", str(copy)]) == 2
    assert Path(copy).read_bytes() == Path(whole).read_bytes()


def test_a_log_with_a_limit_says_that_scenarios_are_missing(meant, tmp_path, capsys):
    log, path = run(mock(lambda name: meant[name][0]), tmp_path, limit=2)
    assert metrics_of(log)["n"] == 2
    assert cli.main(["from-inspect", path, "--output", str(tmp_path / "p.csv")]) == 1
    assert "has 2 of 12 scenarios" in capsys.readouterr().err


def test_both_harnesses_find_the_task_of_an_installed_wheel(root, tmp_path):
    """By the name of the package, and by path, from outside a clone."""
    site = tmp_path / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, str(root)], check=True)
    code = """
import os, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from drift_onset.harness.commands import TASKS
import drift_onset
assert "site-packages" in drift_onset.__file__, drift_onset.__file__
folder = os.path.join(os.path.dirname(drift_onset.__file__), "harness")
assert os.path.isfile(os.path.join(folder, TASKS["lm-eval"], "reasoning_drift.yaml"))
def said(*_):
    output = ModelOutput.from_content("mockllm/model", "no")
    output.usage = ModelUsage()
    return output
for task in ("drift_onset/reasoning_drift", os.path.join(folder, TASKS["inspect"])):
    model = get_model("mockllm/model", custom_outputs=said)
    log = eval(task, model=model, display="none", log_dir="logs", limit=1)[0]
    print(log.status, log.results.scores[0].metrics["n_unanswered"].value)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == 2 * ["success 1.0"]
