"""The data through datasets: typed by import, as a script where scripts still run."""

import csv
import shutil
import subprocess
import sys

import datasets
import pytest

import drift_onset
import reasoning_drift
from drift_onset import schema
from drift_onset.splits import splits

pytestmark = [
    pytest.mark.loading,
    # Old versions of datasets and its dependencies warn about one another on newer Pythons.
    pytest.mark.filterwarnings("ignore"),
]

MAJOR = int(datasets.__version__.split(".")[0])
ROWS = {"train": 16, "dev": 8, "test": 12, "test_blind": 12}


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def assert_typed(dataset, kind):
    features = dataset.features
    for field in schema.fields(kind).values():
        feature = features[field.name]
        if field.labels:
            assert isinstance(feature, datasets.ClassLabel)
            assert feature.names == list(field.labels)
        elif field.name not in ("constraints", "trajectory"):
            kinds = {"integer": "int32", "number": "float64", "string": "string"}
            wanted = next(kinds[name] for name in field.types if name != "null")
            assert feature.dtype == wanted, field.name
    first = dataset[0]
    assert isinstance(first["constraints"][0], str)
    assert set(first["trajectory"][0]) == {"step", "text"}


@pytest.mark.parametrize("config", ROWS)
def test_load_gives_typed_rows_equal_to_the_csv(root, config):
    dataset = reasoning_drift.load(config)
    split = next(split for split in splits() if split.name == config)
    assert_typed(dataset, split.record)
    rows = csv_rows(root / split.file)
    assert len(dataset) == len(rows) == ROWS[config]
    for typed, text in zip(dataset, rows, strict=True):
        for name in schema.header(split.record):
            field = schema.fields(split.record)[name]
            if field.labels:
                assert field.labels[typed[name]] == text[name]
            elif "number" in field.types:
                assert typed[name] == (float(text[name]) if text[name] else None)
            else:
                assert ("" if typed[name] is None else str(typed[name])) == text[name]
        if "residual_constraint_id" in typed:
            number, quoted = typed["residual_constraint_id"], text["residual_constraint_failure"]
            assert quoted == ("none" if number is None else typed["constraints"][number - 1])
        assert [step["step"] for step in typed["trajectory"]] == list(
            range(1, len(typed["trajectory"]) + 1)
        )


def test_blind_config_has_inputs_only():
    columns = reasoning_drift.load("test_blind").column_names
    decoded = ["constraints", "trajectory"]
    assert columns == [*schema.header(schema.BLIND), *decoded]


def test_default_config_has_the_splits_of_a_cycle():
    found = reasoning_drift.load()
    assert {name: len(split) for name, split in found.items()} == {
        "train": 16,
        "validation": 8,
        "test": 12,
    }


def test_unknown_config_says_what_there_is():
    with pytest.raises(ValueError, match="default, train, dev, test, test_blind"):
        reasoning_drift.load("tests")


def clone(root, folder):
    """Copy what a clone of the repository has, under any name of the folder."""
    folder.mkdir()
    for name in ("README.md", "schema.json", "reasoning_drift.py", "manifest.json"):
        shutil.copy(root / name, folder)
    shutil.copytree(root / "data", folder / "data")
    return folder


@pytest.fixture
def a_clone(root, tmp_path):
    return clone(root, tmp_path / "reasoning-drift-onset-detection-v0.2")


def test_words_that_look_like_nothing_stay_text(a_clone, monkeypatch, tmp_path):
    words = ["NA", "null", "None", "007", "1e5", "nan", "TRUE", "N/A"]
    rows = csv_rows(a_clone / "data" / "dev.csv")
    for row, word in zip(rows, words, strict=True):
        row["task"] = row["domain"] = word
    with open(a_clone / "data" / "dev.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    builder = reasoning_drift.ReasoningDrift(
        config_name="dev", base_path=str(a_clone), cache_dir=str(tmp_path / "cache")
    )
    builder.download_and_prepare()
    dataset = builder.as_dataset("dev")
    assert dataset["task"][:] == words
    assert dataset["domain"][:] == words


def test_an_edited_file_is_not_served_from_the_cache(a_clone, monkeypatch):
    monkeypatch.setattr(schema, "resource", lambda name: a_clone / name)
    assert reasoning_drift.load("dev")[0]["task"] != "Another task."
    path = a_clone / "data" / "dev.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(csv_rows(path)[0]["task"], "Another task."), encoding="utf-8")
    assert reasoning_drift.load("dev")[0]["task"] == "Another task."


def test_bad_data_is_refused_with_its_problems(a_clone, monkeypatch):
    monkeypatch.setattr(schema, "resource", lambda name: a_clone / name)
    path = a_clone / "data" / "dev.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("latent_drift", "latent", 1), encoding="utf-8")
    with pytest.raises(drift_onset.InvalidInput, match="unknown_outcome_mode"):
        reasoning_drift.load("dev")


@pytest.mark.parametrize("config", ROWS)
def test_a_clone_loads_by_its_card_as_load_does(a_clone, config):
    dataset = datasets.load_dataset(str(a_clone), config, split=config)
    expected = reasoning_drift.load(config)
    assert dataset.features == expected.features
    assert dataset.to_list() == expected.to_list()


def test_a_clone_has_blind_apart_from_test(a_clone):
    found = datasets.load_dataset(str(a_clone))
    assert {name: len(split) for name, split in found.items()} == {
        "train": 16,
        "validation": 8,
        "test": 12,
    }
    assert None not in found["test"]["outcome_mode"]
    assert datasets.load_dataset(str(a_clone), split="validation").num_rows == 8


def test_rows_stream_as_they_load(a_clone):
    streamed = datasets.load_dataset(str(a_clone), "test", split="test", streaming=True)
    assert list(streamed) == reasoning_drift.load("test").to_list()


def test_the_script_runs_before_datasets_4_and_is_refused_after(a_clone):
    script = str(a_clone / "reasoning_drift.py")
    if MAJOR >= 4:
        with pytest.raises(RuntimeError, match="no longer supported"):
            datasets.load_dataset(script, "test")
        return
    dataset = datasets.load_dataset(script, "test", split="test", trust_remote_code=True)
    assert dataset.to_list() == reasoning_drift.load("test").to_list()


def test_load_and_demo_work_from_a_wheel_outside_a_clone(root, tmp_path):
    installed, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(installed), str(root)], check=True)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import drift_onset, reasoning_drift\n"
        "assert drift_onset.__file__.startswith(sys.argv[1]), drift_onset.__file__\n"
        "assert len(reasoning_drift.load('test')) == 12\n"
        "from drift_onset.cli import main\n"
        "sys.exit(main(['demo', '--output', 'out']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(installed)],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert "component_mean" in done.stdout
    assert (elsewhere / "out" / "predictions.csv").exists()
    assert (elsewhere / "out" / "report.json").exists()
