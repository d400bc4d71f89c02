"""The shell blocks of docs/running_models.md, against a model on loopback."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from clones import copied
from code_blocks import blocks
from loopback_chat import chatting
from scripted_answers import sayings

from drift_onset import prompt
from drift_onset.harness import scenarios

pytestmark = [pytest.mark.loading, pytest.mark.needs("inspect_ai", "lm_eval", "openai")]

ADDRESS = "http://127.0.0.1:8000/v1"


def shell(root, folder, url, n):
    """Run the first n blocks but those that install something, one after the other in one shell."""
    commands = [b for b in blocks(root, "docs/running_models.md", "bash") if "pip install" not in b]
    assert len(commands) == 4
    script = "\n".join(commands[:n])
    assert ADDRESS in script
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", f"set -e\n{script.replace(ADDRESS, url)}"],
        cwd=copied(root, folder),
        env={**os.environ, "PATH": path, "INSPECT_DISPLAY": "plain", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )


def results(folder):
    """Give the metrics that lm-evaluation-harness wrote."""
    (path,) = folder.glob("results/**/results_*.json")
    found = json.loads(path.read_text(encoding="utf-8"))["results"]["reasoning_drift"]
    return {name.split(",")[0]: value for name, value in found.items()}


def test_the_page_runs_as_it_stands(root, tmp_path):
    meant = sayings(root)
    hidden = {row["scenario_id"]: prompt.answer(row, True) for row in scenarios.load("test")}

    def answer(name):
        # The last run hides the constraints and shows examples.
        shown = len(seen.bodies[-1]["messages"]) > 2
        return hidden[name] if shown else meant[name][0]

    with chatting(answer) as seen:
        done = shell(root, tmp_path / "clone", seen.url, 4)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "predictions.csv: 6 predictions written" in done.stdout
    assert "n = 12, of which 6 missing or invalid and counted as wrong" in done.stdout
    found = results(tmp_path / "clone")
    assert (found["n"], found["n_unanswered"]) == (12, 6)
    shown = re.findall(r"component_mean +([0-9.]+) +\n", done.stdout)
    assert shown == [f"{found['component_mean']:.3f}", "1.000"], "the run, and that of the probe"


def test_an_endpoint_that_answers_nonsense_ends_well(root, tmp_path):
    with chatting(lambda name: "Ask me tomorrow.") as seen:
        done = shell(root, tmp_path / "clone", seen.url, 2)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stderr.count("[unanswered]") == 12
    assert "n = 12, of which 12 missing or invalid and counted as wrong" in done.stdout
    assert re.search(r"n_unanswered +12\.000", done.stdout)
