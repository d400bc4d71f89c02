"""The pages on recording and on the denoising run: code that runs, numbers of the data."""

import gzip
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from code_blocks import all_blocks, blocks
from fake_samplers import MASK, Tokenizer, dream, llada_record, tokens

from traj_eval.io import load_trajectories
from traj_eval.metrics import evaluate_trajectories


def test_every_block_is_run_by_a_test_of_this_file(root):
    kinds = [
        (page, kind, label)
        for page in ("recording.md", "denoising_run.md")
        for kind, label, _ in all_blocks(root, f"docs/{page}")
    ]
    assert set(kinds) == {
        *(("recording.md", "python", label) for label in ("dream", "llada", "records", "save")),
        ("denoising_run.md", "bash", ""),
        ("denoising_run.md", "python", ""),
    }


@pytest.fixture
def given(tmp_path, monkeypatch):
    """What the user has: a tokenizer and a sampler. The stand-ins do what the published ones do."""
    monkeypatch.chdir(tmp_path)
    return {"tokenizer": Tokenizer()}


def test_dream_and_saving(root, given):
    target = [tokens("1+2=3..")]

    def diffusion_generate(input_ids, generation_tokens_hook_func, **options):
        history = []
        assert options["output_history"]
        assert options["return_dict_in_generate"]
        order = [[position] for position in range(3, 7)]
        x = dream(target, input_ids.shape[1], order, generation_tokens_hook_func, history)
        return SimpleNamespace(sequences=x, history=history)

    given |= {
        "model": SimpleNamespace(diffusion_generate=diffusion_generate),
        "input_ids": np.array(target)[:, :3],
        "attention_mask": None,
    }
    code = blocks(root, "docs/recording.md", "python", "dream")
    exec("\n".join([*code, *blocks(root, "docs/recording.md", "python", "save")]), given)
    assert [step["step"] for step in given["trajectories"][0]["steps"]] == [0, 3]
    assert load_trajectories("trajectories.jsonl") == given["trajectories"]


def test_llada(root, given):
    record, canvases = llada_record(tokens("6*7=42.".replace("*", "+")), 2, 5, 0)
    given["prompt"] = canvases[:1, :2]
    given["denoising_steps"] = lambda prompt: zip(
        canvases, np.concatenate(record["x0_history"]), strict=True
    )
    exec("\n".join(blocks(root, "docs/recording.md", "python", "llada")), given)
    (found,) = given["trajectories"]
    assert found["source"] == "x0"
    assert found["steps"][-1]["verdict"] == "42"
    assert evaluate_trajectories([found])["aggregate"]["accuracy"] == 1.0


@pytest.mark.torch
def test_records(root, given, tmp_path):
    import torch

    record, _ = llada_record([126336 if t == MASK else t for t in tokens("6+7=13.")], 2, 5, 0)
    record["x0_history"] = [torch.from_numpy(block) for block in record["x0_history"]]
    record["true_indices_history"] = [
        [torch.from_numpy(pairs) for pairs in block] for block in record["true_indices_history"]
    ]
    (tmp_path / "question_histories").mkdir()
    torch.save(record, tmp_path / "question_histories" / "question_0000_steps_005.pt")
    given["tokenizer"] = lambda ids: "".join("?" if t == 126336 else str(t) for t in ids)
    exec("\n".join(blocks(root, "docs/recording.md", "python", "records")), given)
    assert given["trajectories"][0]["id"] == "question_0000_steps_005"


def shell(root, tmp_path, command):
    """Run commands as in a clone, with this interpreter as `python`."""
    (tmp_path / "examples").symlink_to(root / "examples")
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python").chmod(0o755)
    script = f'set -e; PATH="{tmp_path}:$PATH"; export PYTHONPATH="{root}" OMP_NUM_THREADS=1\n'
    return subprocess.run(
        ["bash", "-c", script + command], cwd=tmp_path, capture_output=True, text=True
    )


def test_commands_on_the_committed_files(root, tmp_path):
    command = next(b for b in blocks(root, "docs/denoising_run.md", "bash") if "traj_eval" in b)
    done = shell(root, tmp_path, command)
    assert done.returncode == 0, done.stderr
    assert "| denoise-arithmetic | a*b+c*d | answer_first/blocks | 64 | 0.6719 |" in done.stdout
    for picture in ("components.png", "strip.png"):
        assert (tmp_path / "results" / picture).read_bytes()[:4] == b"\x89PNG"


@pytest.mark.torch
def test_the_short_run(root, tmp_path):
    """All of the example, from training to pictures, at toy size."""
    (command,) = (b for b in blocks(root, "docs/denoising_run.md", "bash") if "denoise_" in b[:40])
    done = shell(root, tmp_path, command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| denoise-arithmetic | a*b+c*d |") == 12
    made = {path.name for path in (tmp_path / "results" / "try").iterdir()}
    for source in ("canvas", "x0"):
        assert {f"denoise_arithmetic_{source}.jsonl.gz", f"components_{source}.png"} <= made
        results = json.loads((tmp_path / "results" / "try" / f"results_{source}.json").read_text())
        assert [group["n"] for group in results["groups"]] == [4] * 6


def test_python_blocks_print_what_the_page_says(root):
    code = "\n".join(blocks(root, "docs/denoising_run.md", "python"))
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    bent, confidence, random = done.stdout.splitlines()
    assert f"# {bent}\n" in code
    assert f"# {confidence}; {random}\n" in code


@pytest.mark.parametrize("source", ["canvas", "x0"])
def test_tables_are_those_of_the_data(root, source):
    page = (root / "docs" / "denoising_run.md").read_text(encoding="utf-8")
    rows = page.split(f"<!-- {source} -->\n")[1].split("\n\n")[0].splitlines()[2:]
    path = root / "examples" / f"denoise_arithmetic_{source}.jsonl.gz"
    groups = {
        group["condition"]: group
        for group in evaluate_trajectories(load_trajectories(path), resamples=0)["groups"]
    }
    assert len(rows) == len(groups) == 6
    names = (
        "accuracy", "mean_convergence_step", "mean_answer_commitment_step",
        "mean_stability_commitment_lag", "mean_unwritten_reasoning", "mean_early_factor",
        "mean_post_change_rate", "mean_length_growth", "mean_gated_score",
    )  # fmt: skip
    for row in rows:
        condition, *numbers = [cell.strip(" `") for cell in row.strip("|").split("|")]
        assert numbers == [f"{groups[condition][name]:.2f}" for name in names]


def test_what_the_page_says_of_the_canvas_runs(root):
    """Lag 0, step 16 throughout, and 47 right in three conditions."""
    path = root / "examples" / "denoise_arithmetic_canvas.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        rows = evaluate_trajectories(map(json.loads, lines), resamples=0)["trajectories"]
    assert {row["stability_commitment_lag"] for row in rows} == {0}
    blocked = [row for row in rows if row["condition"] == "answer_first/blocks"]
    assert {row["answer_commitment_step"] for row in blocked} == {16}
    assert {row["post_change_rate"] for row in rows} == {0.0, 1.0}
