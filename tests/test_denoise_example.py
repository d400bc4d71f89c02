"""The denoising run: its real loop at toy size, and the data that it left."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

DATA = ("canvas", "x0")


@pytest.fixture
def example(root, monkeypatch):
    """The example's modules; they need torch."""
    monkeypatch.syspath_prepend(str(root / "examples"))
    import arithmetic_diffusion
    import denoise_arithmetic
    import torch

    torch.set_num_threads(1)  # two threads that wait for each other take longer than one

    return arithmetic_diffusion, denoise_arithmetic


def committed(root, source):
    path = root / "examples" / f"denoise_arithmetic_{source}.jsonl.gz"
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_without_torch_the_message_names_the_extra(root):
    code = (
        "import runpy, sys; sys.modules['torch'] = None; "
        "runpy.run_path('examples/denoise_arithmetic.py', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "this needs torch; in the clone: pip install -e '.[torch,plots]'\n"


@pytest.mark.torch
def test_layouts_by_hand(example):
    arithmetic, _ = example
    problem = arithmetic.Problem(7, 6, 8, 9)
    working = "7*6=42;8*9=72;2+2=04;0+4+7=11"
    assert problem.prompt("reasoning_first") == "R7*6+8*9="
    assert problem.generation("reasoning_first") == f"{working};#114"
    assert problem.generation("answer_first") == f"#114;{working}"
    problems = arithmetic.shuffled_problems(0)
    assert len(set(problems)) == 8**4
    for layout, (start, end) in arithmetic.ANSWER_SPANS.items():
        for problem in problems:
            text = problem.generation(layout)
            assert len(problem.prompt(layout)) == arithmetic.PROMPT_LENGTH
            assert len(text) == arithmetic.LENGTH
            assert text[start:end] == problem.answer
            for equation in text.replace(f"#{problem.answer}", "").strip(";").split(";"):
                left, right = equation.split("=")
                assert eval(left) == int(right)


@pytest.mark.torch
def test_training_learns_and_repeats_itself(example):
    import torch

    arithmetic, _ = example
    problems, losses = arithmetic.shuffled_problems(0)[:200], []
    found = [
        arithmetic.train(problems, steps=100, batch=8, seed=3, report=lambda *at: losses.append(at))
        for _ in range(2)
    ]
    assert losses[0] == losses[1]
    assert (losses[0][0], losses[0][1] < 2.5) == (100, True)  # 2.83 is blind guessing
    for one, other in zip(*(model.parameters() for model in found), strict=True):
        assert torch.equal(one, other)


@pytest.mark.torch
@pytest.mark.parametrize("layout", ["reasoning_first", "answer_first"])
@pytest.mark.parametrize("sampler", ["confidence", "blocks", "random"])
def test_the_recorder_sees_what_the_loop_does(example, layout, sampler):
    import torch

    arithmetic, run = example
    torch.manual_seed(1)
    model = arithmetic.Denoiser().eval()
    problems = arithmetic.shuffled_problems(0)[:3]
    canvases, predictions = [], []
    settings = run.SAMPLERS[sampler]
    arithmetic.sample(
        model,
        arithmetic.encode([problem.prompt(layout) for problem in problems]),
        observe=lambda x, x0: (canvases.append(x.clone()), predictions.append(x0.clone())),
        seed=5,
        **settings,
    )
    recorded = run.record(model, problems, layout, sampler, seed=5)
    first, mask = arithmetic.PROMPT_LENGTH, arithmetic.MASK_ID
    start, end = arithmetic.ANSWER_SPANS[layout]
    before = torch.full((3, arithmetic.LENGTH), mask)
    for step, (canvas, full) in enumerate(zip(canvases, predictions, strict=True)):
        canvas, full = canvas[:, first:], full[:, first:]
        changed = canvas != before
        assert changed.sum(dim=1).tolist() == [1, 1, 1]
        block = step // settings["block_length"]
        assert (changed.nonzero()[:, 1] // settings["block_length"] == block).all()
        for at, problem in enumerate(problems):
            seen, guessed = (recorded[source][at]["steps"][step] for source in DATA)
            answer = arithmetic.decode(canvas[at, start:end].tolist())
            assert seen["text"] == arithmetic.decode(canvas[at].tolist())
            assert seen["verdict"] == (None if "[" in answer else answer)
            assert guessed["text"] == arithmetic.decode(full[at].tolist())
            assert guessed["verdict"] == arithmetic.decode(full[at, start:end].tolist())
            assert guessed["answer_masked"] is seen["answer_masked"] is ("[" in answer)
            assert recorded["x0"][at]["gold"] == problem.answer
        before = canvas
    assert not (before == mask).any()


@pytest.mark.torch
def test_low_confidence_keeps_the_surest_prediction(example):
    import torch

    arithmetic, _ = example
    torch.manual_seed(2)
    model = arithmetic.Denoiser().eval()
    prompts = arithmetic.encode([arithmetic.Problem(3, 4, 5, 6).prompt("answer_first")])
    kept = [torch.cat([prompts, torch.full((1, arithmetic.LENGTH), arithmetic.MASK_ID)], dim=1)]
    arithmetic.sample(model, prompts, observe=lambda x, x0: kept.append(x.clone()))
    for before, after in pairwise(kept):
        with torch.no_grad():
            surest = model(before).softmax(-1).max(-1)
        (position,) = (before != after)[0].nonzero()[0].tolist()
        for other in (before == arithmetic.MASK_ID)[0].nonzero()[:, 0].tolist():
            assert surest.values[0, position] >= surest.values[0, other]
        assert after[0, position] == surest.indices[0, position]


@pytest.mark.parametrize("source", DATA)
def test_committed_trajectories(root, source):
    found = committed(root, source)
    settings = json.loads((root / "examples" / "denoise_arithmetic.json").read_text())
    assert settings["items"] == 64
    assert set(Counter(t["condition"] for t in found).values()) == {64}
    layouts = ("reasoning_first", "answer_first")
    assert {t["condition"] for t in found} == {
        f"{layout}/{sampler}" for sampler in settings["samplers"] for layout in layouts
    }
    assert len({tuple(t["id"] for t in found[at : at + 64]) for at in range(0, 384, 64)}) == 1
    for trajectory in found:
        assert trajectory["source"] == source
        assert int(trajectory["gold"]) == eval(trajectory["id"])
        assert [step["step"] for step in trajectory["steps"]] == list(range(34))
        last = trajectory["steps"][-1]
        assert last["text"].count(f"#{last['verdict']}") == 1


def test_both_sources_are_of_one_run(root):
    for canvas, full in zip(*(committed(root, source) for source in DATA), strict=True):
        for seen, guessed in zip(canvas["steps"], full["steps"], strict=True):
            written = seen["text"].replace("[MASK]", "_")
            assert len(written) == len(guessed["text"]) == 34
            assert all(w in ("_", g) for w, g in zip(written, guessed["text"], strict=True))
            assert seen["answer_masked"] == guessed["answer_masked"]
