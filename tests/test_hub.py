"""The names on the Hub, end to end over HTTP: built, pushed and loaded, each by its own process."""

import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import datasets
import pytest
from clones import committed
from loopback_hub import COMMIT, serving

from drift_onset import cli

pytestmark = pytest.mark.loading

DATASET = "ClarusC64/reasoning-drift-onset-detection-v0.2"
METRIC = "ClarusC64/reasoning_state"


def environment(endpoint, home, **more):
    return {
        **os.environ,
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "NO_PROXY": "*",
        **more,
    }


def command(*arguments, **options):
    """Run `reasoning-drift` as a process."""
    line = [sys.executable, "-W", "ignore", "-m", "drift_onset.cli", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, **options)


def client(code, endpoint, home, **more):
    """Run Python that knows the Hub by this endpoint only; give what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environment(endpoint, home, **more),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def clone(root, tmp_path_factory):
    return committed(root, tmp_path_factory.mktemp("source") / "clone")


@pytest.fixture(scope="module")
def built(clone, tmp_path_factory):
    target = tmp_path_factory.mktemp("built") / "hub"
    assert cli.main(["hub", "build", str(target), "--root", str(clone)]) == 0
    return target


@pytest.fixture(scope="module")
def hub(built, tmp_path_factory):
    """A Hub that got its repositories from `hub push`."""
    folder = tmp_path_factory.mktemp("hub")
    with serving({}, new=folder / "repositories") as endpoint:
        known = environment(endpoint, folder / "home", HF_TOKEN="hf_test")
        done = command("hub", "push", built, "--yes", env=known)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("/commit/") == len(names(built))
        yield endpoint


def names(built):
    """Give what the Hub calls the repositories that were built."""
    from drift_onset.hub import build

    return [f"{one.type}s/{one.id}" for one in build.read(built).repositories]


LOAD = """
import datasets, reasoning_drift
for config in ("train", "dev", "test", "test_blind"):
    found = datasets.load_dataset("{source}", config, split=config)
    expected = reasoning_drift.load(config)
    assert found.features == expected.features, (found.features, expected.features)
    assert found.to_list() == expected.to_list()
    print(len(found))
"""

WHOLE = f"""
import datasets
print({{name: len(split) for name, split in datasets.load_dataset("{DATASET}").items()}})
print(datasets.load_dataset("{DATASET}", split="validation").num_rows)
"""


def test_every_config_loads_by_name_and_again_without_the_hub(hub, tmp_path):
    load = LOAD.format(source=DATASET)
    assert client(load, hub, tmp_path).split() == ["16", "8", "12", "12"]
    nowhere = "http://127.0.0.1:9"
    again = client(load, nowhere, tmp_path, HF_HUB_OFFLINE="1")
    assert again.split() == ["16", "8", "12", "12"]


def test_every_config_loads_from_the_built_folder_and_a_clone(built, clone, tmp_path):
    for number, source in enumerate((built / "dataset", clone)):
        code = LOAD.format(source=source)
        home = tmp_path / str(number)
        assert client(code, "http://127.0.0.1:9", home).split() == ["16", "8", "12", "12"]


def test_the_splits_of_a_cycle_load_by_name(hub, tmp_path):
    assert client(WHOLE, hub, tmp_path) == "{'train': 16, 'validation': 8, 'test': 12}\n8\n"


def test_streaming_and_a_pinned_revision(hub, tmp_path):
    code = f"""
import datasets
from huggingface_hub import snapshot_download
rows = datasets.load_dataset("{DATASET}", "test", split="test", streaming=True)
print(sum(1 for _ in rows))
pinned = datasets.load_dataset("{DATASET}", "test", split="test", revision="{COMMIT}")
print(len(pinned))
folder = snapshot_download("{DATASET}", repo_type="dataset")
print(len(datasets.load_dataset(folder, "dev", split="dev")))
"""
    assert client(code, hub, tmp_path).split() == ["12", "12", "8"]


def test_a_revision_that_is_not_there_is_an_error(hub, tmp_path):
    code = f"""
import datasets
try:
    datasets.load_dataset("{DATASET}", "test", revision="0.1")
except Exception as error:
    print(type(error).__name__, "0.1" in str(error) or "revision" in str(error).lower())
"""
    assert client(code, hub, tmp_path).split()[1:] == ["True"]


def test_the_metric_loads_by_name(hub, tmp_path):
    code = f"""
import evaluate, reasoning_drift
metric = evaluate.load("{METRIC}")
gold = reasoning_drift.load("test")
print(metric.compute(predictions=gold, references=gold)["complete_primary_accuracy"])
"""
    assert client(code, hub, tmp_path).split() == ["1.0"]


def test_models_are_asked_the_scenarios_of_the_hub(hub, tmp_path):
    code = f"""
from drift_onset.harness import scenarios
for split in ("train", "dev", "test", "test_blind"):
    print(scenarios.load(split, "{DATASET}") == scenarios.load(split))
print(scenarios.examples(3, 0, "{DATASET}") == scenarios.examples(3, 0))
"""
    assert client(code, hub, tmp_path).split() == 5 * ["True"]


def test_the_first_lines_of_the_readme_run_on_every_source(root, hub, built, clone, tmp_path):
    block = (root / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert len(block.splitlines()) == 5
    assert f'"{DATASET}"' in block
    seen = set()
    for number, source in enumerate((DATASET, built / "dataset", clone)):
        code = block.replace(DATASET, str(source))
        seen.add(client(code, hub, tmp_path / str(number)))
    door = "from reasoning_drift import load\ntest = load('test')\n"
    seen.add(client(door + "".join(block.splitlines(True)[3:]), hub, tmp_path))
    if int(datasets.__version__.split(".")[0]) < 4:
        script = block.replace(DATASET, str(clone / "reasoning_drift.py"))
        script = script.replace('split="test"', 'split="test", trust_remote_code=True')
        seen.add(client(script, hub, tmp_path / "script"))
    assert len(seen) == 1


def test_pull_requests_leave_main_as_it_is(built, tmp_path):
    folder = tmp_path / "repositories"
    repositories = {}
    for name in names(built):
        repositories[name] = folder / name
        repositories[name].mkdir(parents=True)
    with serving(repositories, new=folder) as endpoint:
        known = environment(endpoint, tmp_path / "home", HF_TOKEN="hf_test")
        done = command("hub", "push", built, "--yes", "--create-pr", env=known)
    assert (done.returncode, done.stdout.count("/discussions/1")) == (0, len(repositories)), (
        done.stderr
    )
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_a_push_that_the_hub_refuses_is_told_without_a_traceback(built, tmp_path):
    with serving({}, new=tmp_path / "repositories") as endpoint:
        known = environment(endpoint, tmp_path / "home", HF_TOKEN="hf_wrong")
        done = command("hub", "push", built, "--yes", env=known)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{DATASET}: ")
    assert "401" in done.stderr
    assert "hf auth login" in done.stderr
    assert "Traceback" not in done.stderr
    known["HF_ENDPOINT"] = "http://127.0.0.1:9"
    done = command("hub", "push", built, "--yes", env=known)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{DATASET}: ")
    assert "Traceback" not in done.stderr


def test_the_wheel_of_a_space_is_what_its_requirements_name(clone, tmp_path):
    """A Space is installed from its requirements.txt alone.

    The clone goes by its bare name, which for pip would be that of a package on the index.
    """
    folder, home = tmp_path / "repositories", tmp_path / "home"
    with serving({}, new=folder) as endpoint:
        known = environment(endpoint, home, HF_TOKEN="hf_test")
        target = tmp_path / "hub"
        build = ("hub", "build", target, "--root", clone.name, "--wheel")
        done = command(*build, env=known, cwd=clone.parent)
        assert done.returncode == 0, done.stderr
        assert command("hub", "push", target, "--yes", env=known).returncode == 0
        shutil.copy(folder / "space" / METRIC / "requirements.txt", tmp_path)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
        installed = [str(tmp_path / "site"), "-r", str(tmp_path / "requirements.txt")]
        subprocess.run([*pip, *installed], check=True)
    assert (tmp_path / "site" / "drift_onset" / "schema.json").is_file()


@pytest.mark.needs("gradio")
def test_every_space_starts_from_its_folder_and_scores(root, hub, built, tmp_path):
    from gradio_client import Client, handle_file

    def asked(address, name, *values):
        client = Client(address, verbose=False, analytics_enabled=False)
        return client.predict(*values, api_name=name)

    for folder in sorted(path.parent for path in built.glob("*/app.py")):
        with space(folder, tmp_path) as address:
            with urllib.request.urlopen(address) as page:
                assert b"gradio" in page.read()
            if folder.name == "reasoning_state":
                file = handle_file(str(root / "baseline" / "example_predictions.csv"))
                found = asked(address, "/score", file)
                assert found[0].startswith("n = 12")
                assert ["component_mean", "0.144"] in [row[:2] for row in found[1]["data"]]
            elif folder.name == "denoising_trajectory":
                file = handle_file(str(root / "examples" / "synthetic_demo.jsonl"))
                found = asked(address, "/measure", file)
                assert found[0].startswith("n = 15")
                assert ["oscillation", "mean_flip_rate", "1.000"] in [
                    [row[0].split(" / ")[-1], *row[1:]] for row in found[1]["data"]
                ]
            else:
                rows = '[{"titles": ["a"]}]', '[{"expected": ["a", "b"], "k": 1}]'
                assert '"recall_at_k": 0.5' in asked(address, "/measure", *rows, "")
                assert "Expected" in asked(address, "/measure", "[]", '[{"k": 0}]', "")


class space:  # noqa: N801
    """Run a Space as the Hub does: `python app.py` in its folder, with a port of its own."""

    def __init__(self, folder, home):
        self.folder, self.home = folder, home

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-u", "app.py"],
            cwd=self.folder,
            env=environment("http://127.0.0.1:9", self.home, GRADIO_ANALYTICS_ENABLED="False"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        told = []
        for line in self.process.stdout:
            told.append(line)
            if "http://127.0.0.1:" in line:
                return line.split("URL:")[1].strip()
        raise AssertionError("".join(told))

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.mark.needs("gradio")
def test_spaces_name_the_gradio_that_they_are_tested_with(built):
    import gradio

    from drift_onset import card

    for readme in built.glob("*/README.md"):
        found = card.read(Path(readme))
        if readme.parent.name != "dataset":
            assert found["sdk_version"] == gradio.__version__
            assert (found["sdk"], found["app_file"]) == ("gradio", "app.py")


@pytest.mark.needs("mlcroissant")
def test_croissant_gives_the_records(built, tmp_path):
    code = f"""
import mlcroissant, reasoning_drift
def plain(value):
    return value.decode() if isinstance(value, bytes) else value
described = mlcroissant.Dataset(jsonld="{built}/dataset/croissant.json")
for config in ("train", "dev", "test", "test_blind"):
    expected = reasoning_drift.load(config).remove_columns(["constraints", "trajectory"])
    found = [
        {{key.split("/")[1]: plain(value) for key, value in record.items()}}
        for record in described.records(config)
    ]
    assert found == expected.to_list()
labels = [record["outcome_mode/label"] for record in described.records("outcome_mode")]
assert labels == list(reasoning_drift.load("test").features["outcome_mode"].names)
"""
    client(code, "http://127.0.0.1:9", tmp_path)


@pytest.mark.needs("inspect_ai")
def test_the_tasks_of_the_hub_run_in_their_framework(hub, tmp_path):
    """Both tasks of eval.yaml through inspect, with a model that always gives one answer."""
    code = f"""
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
for task, answer in (
    ("component_mean", "It ends badly.\\nANSWER: 3"),
    ("complete_primary_accuracy", "ANSWER: None"),
):
    def answers():
        while True:
            output = ModelOutput.from_content("mockllm/model", answer)
            output.usage = ModelUsage()
            yield output
    log = eval(
        f"hf/{DATASET}/{{task}}", model=get_model("mockllm/model", custom_outputs=answers()),
        display="none", log_dir="{tmp_path}/logs",
    )[0]
    assert log.status == "success", log.error
    assert "RDOD" not in log.samples[0].messages[0].text
    assert "Trajectory, as a JSON list" in log.samples[0].messages[0].text
    print("\\naccuracy", log.results.scores[0].metrics["accuracy"].value)
"""
    told = client(code, hub, tmp_path).splitlines()
    assert [line for line in told if line.startswith("accuracy")] == 2 * ["accuracy 0.25"]
