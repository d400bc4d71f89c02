"""What is built for the Hub, what is refused, and a model's results."""

import json
import shutil
import subprocess

import pyarrow.parquet as pq
import pytest
import yaml
from clones import committed
from planting import rows

from drift_onset import card, cli
from drift_onset.hub import build as building

DATASET = "reasoning-drift-onset-detection-v0.2"


@pytest.fixture
def clone(root, tmp_path):
    return committed(root, tmp_path / "clone")


@pytest.fixture
def target(clone, tmp_path):
    folder = tmp_path / "hub"
    assert cli.main(["hub", "build", str(folder), "--root", str(clone)]) == 0
    return folder


def refused(target, capsys):
    """Give why `hub push` refuses, which it must do before it knows of any Hub."""
    capsys.readouterr()
    assert cli.main(["hub", "push", str(target), "--yes"]) == 1
    return capsys.readouterr().err


def test_a_dry_run_shows_what_would_be_pushed(target, capsys):
    capsys.readouterr()
    assert cli.main(["hub", "push", str(target)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"ClarusC64/{DATASET}" in out
    assert "ClarusC64/reasoning_state" in out
    assert "nothing was sent" in out


def test_the_build_is_the_clone(root, clone, target):
    dataset = target / "dataset"
    for name in ("data/test.csv", "data/test.parquet", "schema.json", "reasoning_drift.py"):
        assert (dataset / name).read_bytes() == (root / name).read_bytes()
    assert (dataset / "README.md").read_bytes() == (root / "dataset_card.md").read_bytes()
    head = subprocess.run(
        ["git", "-C", str(clone), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    built = building.read(target)
    assert built.commit == head.stdout.strip()
    spaces = sorted(path.parent.name for path in (root / "metric").glob("*/app.py"))
    assert [one.folder for one in built.repositories] == ["dataset", *spaces]
    for name in spaces:
        module = (root / "metric" / name / f"{name}.py").read_bytes()
        assert (target / name / f"{name}.py").read_bytes() == module
        assert (target / name / "requirements.txt").read_text().startswith("reasoning-drift")


def test_an_earlier_build_is_replaced_and_nothing_else_is(clone, target, tmp_path, capsys):
    (target / "dataset" / "stray.txt").write_text("x")
    assert cli.main(["hub", "build", str(target), "--root", str(clone)]) == 0
    assert not (target / "dataset" / "stray.txt").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("x")
    capsys.readouterr()
    assert cli.main(["hub", "build", str(other), "--root", str(clone)]) == 1
    assert "other: holds something else" in capsys.readouterr().err
    assert [path.name for path in other.iterdir()] == ["mine.txt"]


def test_an_earlier_build_in_the_clone_is_no_change_of_it(clone, capsys):
    for _ in range(2):
        assert cli.main(["hub", "build", str(clone / "out"), "--root", str(clone)]) == 0
    assert cli.main(["hub", "push", str(clone / "out")]) == 0
    assert "nothing was sent" in capsys.readouterr().out


def test_only_a_clean_clone_is_pushed(clone, target, tmp_path, capsys):
    (clone / "LICENSE").write_text("mine")
    assert cli.main(["hub", "build", str(target), "--root", str(clone)]) == 0
    assert "not committed (LICENSE)" in refused(target, capsys)
    shutil.rmtree(clone / ".git")
    assert cli.main(["hub", "build", str(target), "--root", str(clone)]) == 0
    assert "no git repository" in refused(target, capsys)
    assert "reasoning-drift hub build" in refused(tmp_path, capsys)


def other_domain(folder):
    path = folder / "data" / "dev.parquet"
    table = pq.read_table(path)
    at = table.column_names.index("domain")
    changed = ["x", *table["domain"].to_pylist()[1:]]
    pq.write_table(table.set_column(at, "domain", [changed]), path)


def other_features(folder):
    path = folder / "README.md"
    path.write_text(path.read_text("utf-8").replace("{name: task,", "{name: tasks,"), "utf-8")


def no_front_matter(folder):
    path = folder / "README.md"
    path.write_text(path.read_text("utf-8").split("---\n", 2)[2], "utf-8")


def no_card(folder):
    (folder / "README.md").unlink()


def broken_label(folder):
    rows("data/dev.csv", lambda found: [{**found[0], "severity": "some"}, *found[1:]])(folder)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (other_domain, "dev.parquet: RDOD2-017: domain: got 'x'"),
        (other_features, "dataset_info of default, train, dev, test, test_blind differs"),
        (no_front_matter, "README.md: has no front matter; copy that of dataset_card.md"),
        (no_card, "load_dataset merges test_blind into test"),
        (broken_label, "dev.csv:2: RDOD2-017: severity: got 'some'"),
    ],
)
def test_push_refuses_an_invalid_repository_and_says_why(target, fault, told, capsys):
    fault(target / "dataset")
    why = refused(target, capsys)
    assert told in why
    assert "since the build" in why


def test_build_refuses_a_clone_with_problems(clone, tmp_path, capsys):
    other_features(clone)
    capsys.readouterr()
    assert cli.main(["hub", "build", str(tmp_path / "hub"), "--root", str(clone)]) == 1
    assert (
        "README.md: dataset_info of default, train, dev, test, test_blind differs"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "hub").exists()


def test_build_says_all_that_is_missing(clone, tmp_path, capsys, monkeypatch):
    (clone / "LICENSE").unlink()
    (clone / "metric" / "reasoning_state" / "app.py").write_text("def (")
    (clone / "metric" / "reasoning_state" / "requirements.txt").unlink()
    capsys.readouterr()
    command = ["hub", "build", str(tmp_path / "hub"), "--root"]
    assert cli.main([*command, str(clone)]) == 1
    err = capsys.readouterr().err
    assert "3 problems found" in err
    assert "LICENSE: is missing" in err
    assert "app.py: is no Python" in err
    assert "requirements.txt: is missing" in err
    assert cli.main([*command, str(tmp_path)]) == 1
    assert "is no clone of the benchmark, it has no manifest.json" in capsys.readouterr().err
    assert cli.main([*command, str(clone), "--owner", "bad owner!"]) == 2
    assert "--owner bad owner!" in capsys.readouterr().err


def test_validate_repository_tells_of_a_card_that_is_missing_or_differs(clone, tmp_path, capsys):
    other_features(clone)
    assert cli.main(["validate", "repository", str(clone)]) == 1
    assert "got 'tasks', expected 'task'; " in capsys.readouterr().err
    no_card(clone)
    named = clone.rename(tmp_path / "reasoning_drift")
    assert cli.main(["validate", "repository", str(named)]) == 0
    out = capsys.readouterr().out
    assert "has no README.md" in out
    assert "Rename the folder" in out


def test_front_matter_that_is_no_yaml_is_a_problem(clone):
    (clone / "README.md").write_text("---\nconfigs: [\n---\n")
    assert [problem.code for problem in card.check(clone)] == ["card_content"]
    (clone / "README.md").write_text("---\n- a list\n---\n")
    assert [problem.code for problem in card.check(clone)] == ["card_content"]


@pytest.fixture
def report(root, tmp_path):
    path = tmp_path / "report.json"
    data = str(root / "data" / "test.csv"), str(root / "baseline" / "example_predictions.csv")
    assert cli.main(["score", *data, "--output", str(path)]) == 0
    return path


def test_results_are_those_of_the_report(report, tmp_path, capsys):
    model = tmp_path / "model"
    command = ["hub", "result", str(report), "--model", "org/name", "--output", str(model)]
    command += ["--revision", 40 * "a"]
    try:
        from huggingface_hub import parse_eval_result_entries
    except ImportError:  # before 1.4
        assert cli.main(command) == 1
        assert "needs huggingface_hub 1.4" in capsys.readouterr().err
        return
    assert cli.main(command) == 0
    path = model / ".eval_results" / f"{DATASET}.yaml"
    assert str(path) in capsys.readouterr().out
    found = parse_eval_result_entries(yaml.safe_load(path.read_text("utf-8")))
    scores = json.loads(report.read_text("utf-8"))
    assert [(entry.task_id, entry.value) for entry in found] == [
        ("component_mean", scores["leaderboard_a_component_capability"]["component_mean"]),
        ("complete_primary_accuracy", 0.0),
    ]
    assert {entry.dataset_id for entry in found} == {f"ClarusC64/{DATASET}"}
    assert {entry.dataset_revision for entry in found} == {40 * "a"}
    assert "n = 12, 95 % interval 0.0" in found[0].notes


def test_results_of_other_data_or_none_are_refused(root, report, tmp_path, capsys):
    dev = str(root / "data" / "dev.csv")
    predictions = tmp_path / "dev_predictions.csv"
    blind = root / "data" / "dev.csv"
    header = "scenario_id,predicted_outcome_mode,predicted_first_drift_step,"
    header += "predicted_mechanism_family,predicted_repair_outcome,predicted_residual_constraint_id"
    ids = [line.split(",")[0] for line in blind.read_text("utf-8").splitlines()[1:]]
    lines = [f"{name},no_drift,,none,not_applicable,none" for name in ids]
    predictions.write_text("\n".join([header, *lines, ""]))
    other = tmp_path / "other.json"
    assert cli.main(["score", dev, str(predictions), "--output", str(other)]) == 0
    nothing = tmp_path / "nothing.json"
    nothing.write_text("{}")
    better = json.loads(report.read_text("utf-8"))
    better["leaderboard_a_component_capability"]["component_mean"] = 0.99
    (tmp_path / "better.json").write_text(json.dumps(better))
    capsys.readouterr()
    told = {
        other: "gold_sha256 is",
        nothing: "is no report",
        tmp_path / "better.json": "is no report",
        root / "data" / "test.csv": "is no report",
        tmp_path / "absent.json": "cannot be read",
    }
    for path, message in told.items():
        command = ["hub", "result", str(path), "--model", "org/name", "--output", str(tmp_path)]
        assert cli.main(command) == 1
        assert message in capsys.readouterr().err
    for model in ("name", "a/b/c", "a b/c"):
        assert cli.main(["hub", "result", str(report), "--model", model]) == 2
        assert "--model" in capsys.readouterr().err
    assert not (tmp_path / ".eval_results").exists()
