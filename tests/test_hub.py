"""The names on the Hub, end to end over HTTP, each client a process of its own."""

import os
import shutil
import subprocess
import sys

import pytest
from loopback_hub import COMMIT, serving

pytestmark = pytest.mark.loading

DATASET = "ClarusC64/reasoning-drift-onset-detection-v0.2"
METRIC = "ClarusC64/reasoning_state"


@pytest.fixture(scope="module")
def hub(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    dataset = folder / "dataset"
    dataset.mkdir()
    for name in ("README.md", "schema.json", "manifest.json", "LICENSE", "reasoning_drift.py"):
        shutil.copy(root / name, dataset)
    shutil.copytree(root / "data", dataset / "data")
    metric = shutil.copytree(
        root / "metric" / "reasoning_state",
        folder / "metric",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    with serving({f"datasets/{DATASET}": dataset, f"spaces/{METRIC}": metric}) as endpoint:
        yield endpoint


def client(code, endpoint, home, offline="0"):
    """Run Python that knows the Hub by this endpoint only; give what it printed."""
    environment = {
        **os.environ,
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": offline,
        "HF_HUB_DISABLE_XET": "1",
        "NO_PROXY": "*",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


LOAD = f"""
import datasets, reasoning_drift
for config in ("train", "dev", "test", "test_blind"):
    found = datasets.load_dataset("{DATASET}", config, split=config)
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
    assert client(LOAD, hub, tmp_path).split() == ["16", "8", "12", "12"]
    nowhere = "http://127.0.0.1:9"
    assert client(LOAD, nowhere, tmp_path, offline="1").split() == ["16", "8", "12", "12"]


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
