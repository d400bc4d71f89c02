"""Recorders see what samplers do, and leave it as it is."""

import subprocess
import sys

import numpy as np
import pytest
from fake_samplers import END, MASK, Tokenizer, dream, tokens
from hypothesis import given
from hypothesis import strategies as st

from traj_eval.extract import extractor
from traj_eval.record import LLADA_MASK_ID, Recorder, from_history

TARGET = [tokens("1+2=3.."), tokens("4+4=9..")]
MASKED = [[*row[:4], MASK, *row[5:]] for row in TARGET]
ORDER = [[5], [3], [6], [4]]
OPTIONS = {
    "ids": ["right", "wrong"],
    "gold": ["3", "8"],
    "prompt_length": 3,
    "answer_span": (4, 5),
    "model": "fake",
    "condition": "direct",
}


def recorder(**changes):
    return Recorder(Tokenizer(), **{**OPTIONS, **changes})


def texts(trajectory, field="text"):
    return [step[field] for step in trajectory["steps"]]


def test_dream_hook_gives_the_trajectories_by_hand():
    hook, seen = recorder(), []

    def returned(step, x, logits):
        before = x.copy()
        assert hook(step, x, logits) is x
        assert (x == before).all()
        seen.append(step)
        return x

    dream(TARGET, 3, ORDER, returned)
    assert seen == [None, 0, 1, 2, 3]
    right, wrong = hook.trajectories()
    shares = [1 / 3, 2 / 3, 1.0, 1.0]
    expected = [None, None, None, "3"], ["[MASK]" * 3, "=[MASK][MASK]", "=[MASK]", "=3"]
    assert right == {
        "id": "right",
        "gold": "3",
        "model": "fake",
        "condition": "direct",
        "source": "canvas",
        "steps": [
            {
                "step": step,
                "verdict": verdict,
                "text": text,
                "answer_masked": verdict is None,
                "answer": verdict or "[MASK]",
                "reasoning_committed": pytest.approx(share),
            }
            for step, (verdict, text, share) in enumerate(zip(*expected, shares, strict=True))
        ],
    }
    assert (wrong["id"], wrong["gold"], texts(wrong)[-1]) == ("wrong", "8", "=9")


def test_hook_history_and_loop_agree():
    hook, loop, history = recorder(), recorder(), []
    dream(TARGET, 3, ORDER, hook, history)
    for canvas in history:
        loop.observe(canvas)
    assert hook.trajectories() == loop.trajectories()
    assert hook.trajectories() == from_history(tuple(history), Tokenizer(), **OPTIONS)


def test_a_sampled_recording_has_the_last_step():
    hook = recorder(every=2)
    dream(TARGET, 3, ORDER, hook)
    assert texts(hook.trajectories()[0], "step") == [0, 2, 3]


@pytest.mark.parametrize(
    ("numbers", "recorded"),
    [
        ([None, None, None], [0, 1, 2]),
        ([0, 1, 0, 1], [0, 1, 2, 3]),  # counted anew in every block
        ([0, 16, 255], [0, 16, 255]),
    ],
)
def test_steps_that_the_sampler_does_not_number(numbers, recorded):
    hook = recorder()
    start = np.array(TARGET)
    start[:, 3:] = MASK
    hook(None, start, None)
    for number in numbers:
        hook(number, np.array(TARGET), np.zeros((2, 7, 14)))
    assert texts(hook.trajectories()[0], "step") == recorded


def test_x0_is_the_full_prediction_with_what_is_written_kept():
    hook = recorder(source="x0", extract=extractor("regex", "=(.)"))
    other = [tokens("0+0=7+1"), tokens("0+0=6+2")]
    dream(TARGET, 3, ORDER, hook, best=other)
    right, wrong = hook.trajectories()
    assert right["source"] == "x0"
    assert texts(right) == ["=71", "=71", "=7", "=3"]  # the written end is no text
    assert texts(right, "verdict") == ["7", "7", "7", "3"]
    assert texts(wrong, "verdict") == ["6", "6", "6", "9"]
    assert texts(right, "answer_masked") == [True, True, True, False]
    assert texts(right, "answer") == ["[MASK]"] * 3 + ["3"]
    with pytest.raises(ValueError, match="x0"):
        recorder(source="x0").observe(TARGET)


@given(st.permutations(range(3, 7)), st.integers(3, 6), st.integers(1, 4))
def test_clocks_are_those_of_a_plain_loop(order, start, width):
    span = (start, min(7, start + width))
    kept = recorder(answer_span=span, form="canvas")
    told = recorder(answer_span=span)
    for hook in (kept, told):
        dream(TARGET, 3, [[position] for position in order], hook)
    for canvases, trajectory in zip(kept.trajectories(), told.trajectories(), strict=True):
        assert (canvases["mask_id"], canvases["prompt_length"]) == (MASK, 3)
        assert canvases["answer_span"] == list(span)
        for row, step in zip(canvases["tokens"], trajectory["steps"], strict=True):
            answer, reasoning = [], []
            for position, token in enumerate(row):
                if span[0] <= position < span[1]:
                    answer.append(token != MASK)
                elif position >= 3:
                    reasoning.append(token != MASK)
            assert step["answer_masked"] is (not all(answer))
            share = sum(reasoning) / len(reasoning) if reasoning else None
            assert step.get("reasoning_committed") == share


def test_answer_spans_of_each_sequence():
    def first_digit(final):
        assert all(isinstance(token, int) for token in final)
        return (4, 5) if final[4] == 3 else None

    for span in (first_digit, [(4, 5), None]):
        hook = recorder(answer_span=span)
        dream(TARGET, 3, ORDER, hook)
        right, wrong = hook.trajectories()
        assert texts(right, "verdict")[-1] == "3"
        assert texts(wrong, "verdict") == [None] * 4
        assert "answer_masked" not in wrong["steps"][0]


def test_canvases_of_any_kind():
    class Tensor:
        """As much of a torch tensor as is used, for where torch is not installed."""

        def __init__(self, values):
            self.values = values

        def detach(self):
            return self

        def cpu(self):
            return self

        def numpy(self):
            return np.array(self.values, np.int32)

    found = []
    for make in (list, np.array, Tensor, lambda x: np.array(x, np.uint16)):
        watch = recorder()
        watch.observe(make(MASKED))
        watch.observe(make(TARGET))
        found.append(watch.trajectories())
    assert all(one == found[0] for one in found)
    assert texts(found[0][1]) == ["=[MASK]", "=9"]
    alone = Recorder(Tokenizer(), ids=["one"], prompt_length=3, answer_span=(4, 5))
    alone.observe(MASKED[1])
    alone.observe(TARGET[1])
    assert texts(alone.trajectories()[0]) == texts(found[0][1])


def test_mask_of_llada_and_of_the_tokenizer():
    names = {5: "five", LLADA_MASK_ID: "<|mdm_mask|>"}
    with pytest.warns(UserWarning, match="every verdict will be null: pass `extract`.*answer_span"):
        watch = Recorder(lambda ids: "".join(names[i] for i in ids), ids=["a"], prompt_length=0)
    assert watch.mask_id == LLADA_MASK_ID == 126336
    watch.observe([[LLADA_MASK_ID, 5]])
    assert texts(watch.trajectories()[0]) == ["[MASK]five"]
    assert recorder().mask_id == MASK
    assert recorder(mask_id=3).mask_id == 3


@pytest.mark.torch
def test_dream_hook_with_torch():
    import torch

    plain = recorder(source="x0")
    dream(TARGET, 3, ORDER, plain)

    def array(values):
        tensor = torch.tensor(np.array(values))
        return tensor.bfloat16() if tensor.is_floating_point() else tensor

    hook = recorder(source="x0")
    dream(TARGET, 3, ORDER, hook, array=array)
    assert hook.trajectories() == plain.trajectories()


def observed(*canvases, **changes):
    watch = recorder(**changes)
    for canvas in canvases:
        watch.observe(canvas)
    return watch.trajectories()


WRONG = {
    "4 of a batch of 2": (lambda: observed(MASKED, MASKED * 2), r"shape \(2, 7\) as before"),
    "another length": (
        lambda: observed(MASKED, np.ones((2, 6), int)),
        r"as before, but got \(2, 6\)",
    ),
    "prompt only": (lambda: recorder().observe([[1, 2, 3]] * 2), r"\(2, more than 3\)"),
    "ragged": (lambda: recorder().observe([[1], [1, 2]]), "rows of one length"),
    "floats": (lambda: recorder().observe(np.ones((2, 7))), "token numbers, but got float64"),
    "no mask": (lambda: observed(TARGET, TARGET), "`mask_id` to be the mask token.*12 is nowhere"),
    "no mask at the start": (lambda: recorder()(None, np.array(TARGET), None), "12 is nowhere"),
    "nothing": (lambda: recorder().trajectories(), "nothing was recorded"),
    "two ids": (lambda: recorder(ids=["a", "a"]), "`ids` to be distinct"),
    "one text": (lambda: recorder(ids="ab"), "`ids` to be a list"),
    "gold": (lambda: recorder(gold=["3"]), "`gold` to be 2 values"),
    "source": (lambda: recorder(source="x1"), "`source` to be canvas or x0"),
    "form": (lambda: recorder(form="tokens"), "`form` to be text or canvas"),
    "no span": (lambda: recorder(form="canvas", answer_span=None), "`answer_span` for the form"),
    "every": (lambda: recorder(every=0), "`every` to be 1 or more"),
    "span in prompt": (lambda: observed(MASKED, answer_span=(2, 4)), "between 3 and 7"),
    "span at end": (lambda: observed(MASKED, answer_span=(6, 8)), "between 3 and 7"),
    "empty span": (lambda: observed(MASKED, answer_span=(4, 4)), "between 3 and 7"),
    "spans": (lambda: observed(MASKED, answer_span=[(4, 5)] * 3), "2 pairs.*got 3"),
    "mute": (lambda: Recorder(lambda ids: "", ids=["a"], prompt_length=0), "decodes it to nothing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_a_recorder_is_for_one_generation():
    hook = recorder()
    dream(TARGET, 3, ORDER, hook)
    with pytest.raises(ValueError, match="make a new one for each call"):
        dream(TARGET, 3, ORDER, hook)


def test_end_tokens_are_written_but_no_text():
    watch = recorder()
    watch.observe(MASKED)
    assert MASKED[0][-2:] == [END, END]
    assert texts(watch.trajectories()[0]) == ["=[MASK]"]
    assert texts(watch.trajectories()[0], "reasoning_committed") == [1.0]


def test_an_empty_verdict_of_an_extractor_is_none():
    found = observed(MASKED, TARGET, extract=lambda text: "" if "[" in text else text)
    assert texts(found[0], "verdict") == [None, "=3"]


def test_importing_what_records_needs_numpy_only():
    """Torch and matplotlib are imported where they are used."""
    names = ["record", "extract", "importer", "plots"]
    code = f"import sys; {'; '.join(f'import traj_eval.{name}' for name in names)}; "
    code += "print([name for name in ('torch', 'matplotlib', 'pyarrow') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
