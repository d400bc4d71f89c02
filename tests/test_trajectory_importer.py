"""Decoding records as published → trajectories, or what is wrong with them."""

import sys

import numpy as np
import pytest
from fake_samplers import MASK, Tokenizer, llada_record, tokens
from hypothesis import given
from hypothesis import strategies as st

from drift_core.problems import InvalidInput
from traj_eval.decoding_record import BadRecord, rebuild
from traj_eval.importer import import_decoding_records, iter_decoding_records

TARGET = tokens("12+3=15=15..")
PROMPT = 5


def record(seed=0, block_length=7, **changes):
    made, canvases = llada_record(TARGET, PROMPT, block_length, seed, changes.pop("forced", ()))
    answer = {
        "ans_posidx": 8,
        "pred_ans": "15",
        "pred_token_id": tokens("15"),
        "gt_text": "15",
        "gt_token_id": tokens("15"),
        "correct": True,
        "pred_text": "15=15",
    }
    made = {**made, **answer, **changes}
    return {key: value for key, value in made.items() if value is not Ellipsis}, canvases


@given(st.integers(0, 9), st.sampled_from([1, 7]), st.booleans(), st.sets(st.integers(5, 11)))
def test_canvases_are_those_of_the_loop(seed, block_length, with_generation, forced):
    """Whatever was predicted for tokens that were written already, and whatever was forced."""
    changes = {} if with_generation else {"gen_ids": ...}
    made, canvases = record(seed, block_length, forced=forced, **changes)
    told = {} if with_generation else {place - PROMPT: TARGET[place] for place in forced}
    rebuilt = rebuild(made, told, MASK)
    assert np.array_equal(rebuilt.canvas, canvases[:, PROMPT:])
    raw = np.concatenate(made["x0_history"])[:, PROMPT:]
    for canvas, full, predicted in zip(rebuilt.canvas, rebuilt.x0, raw, strict=True):
        for written, shown, guess in zip(canvas, full, predicted, strict=True):
            assert shown == (guess if written == MASK else written)
    assert rebuilt.answer_span == (3, 5)


def test_an_answer_that_was_not_found_has_no_place():
    """A search that finds nothing gives -1, which the files hold as the prompt's last position."""
    for changes in ({"ans_posidx": PROMPT - 1}, {"pred_token_id": []}, {"ans_posidx": ...}):
        assert rebuild(record(**changes)[0], {}, MASK).answer_span is None


def with_entry(key, value, block=0):
    made, _ = record()
    return {**made, key: [value if at == block else part for at, part in enumerate(made[key])]}


X0, INDICES = "x0_history", "true_indices_history"
STEP = np.array([[0, 5]])
BAD = [
    ([], None, "expected a dict, got list"),
    ({"gen_ids": []}, X0, "missing keys: x0_history, true_indices_history, prompt_token_len"),
    (record(prompt_token_len="5")[0], "prompt_token_len", "expected a whole number.*'5'"),
    (record(prompt_token_len=-1)[0], "prompt_token_len", "expected a whole number.*-1"),
    (record(prompt_token_len=12)[0], "prompt_token_len", "12 tokens leave no generation"),
    (record(x0_history=[])[0], X0, "expected a list with one entry a block"),
    (with_entry(X0, np.ones(12, int)), X0, "expected integers|expected steps × length"),
    (with_entry(X0, np.ones((7, 12))), X0, "expected integers, got float64"),
    (record(block_length=1, x0_history=[np.ones((1, 12), int)] * 6 + [np.ones((1, 9), int)])[0],
     X0, r"blocks of one length, got \[9, 12\]"),
    (with_entry(INDICES, [STEP] * 6), INDICES, "6 steps, but x0_history has 7"),
    (with_entry(INDICES, [np.array([[1, 5]])] * 7), INDICES, "step 0: expected a batch of one"),
    (with_entry(INDICES, [STEP, np.array([[0, 12]])] * 4), INDICES, "step 1: position 12 is out"),
    (with_entry(INDICES, [STEP, np.array([[0, 4]])] * 4), INDICES, "position 4.*5 to 11"),
    (with_entry(INDICES, [np.array([[0, 5, 6]])] * 7), INDICES, r"expected N × 2 .* \(1, 3\)"),
    (record(gen_ids=[1, 2])[0], "gen_ids", "2 tokens, but x0_history has 7"),
    (record(gen_ids=[*TARGET[5:11], 0])[0], "gen_ids", "position 6 of the generation is 0"),
    (record(gen_ids=..., forced=[7, 8])[0], "gen_ids", r"no step commits positions \[2, 3\]"),
    (record(ans_posidx=11)[0], "ans_posidx", "answer at 6 to 8 of 7"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "column", "message"), BAD)
def test_bad_records(made, column, message):
    with pytest.raises(BadRecord, match=message) as raised:
        rebuild(made, {}, MASK)
    assert raised.value.column == column


def test_empty_answers_are_no_verdict_and_no_gold(monkeypatch):
    """Torch does nothing but read the file; what it would give is given here."""
    made, _ = record(pred_ans="", gt_text="", gt_token_id=[])
    monkeypatch.setattr("traj_eval.importer._loader", lambda: lambda path: made)
    (found,) = import_decoding_records("question.pt", mask_id=MASK)
    assert found["gold"] is found["steps"][-1]["verdict"] is None


def test_without_torch_the_message_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'reasoning-drift\[torch\]'"):
        import_decoding_records(tmp_path)


def save(path, made):
    import torch

    def tensors(value):
        if isinstance(value, np.ndarray):
            return torch.from_numpy(value)
        return [tensors(part) for part in value] if isinstance(value, list) else value

    torch.save({key: tensors(value) for key, value in made.items()}, path)


@pytest.mark.torch
def test_a_file_without_a_tokenizer(tmp_path):
    made, canvases = record(pred_ans="fifteen", gt_text="XV", gt_token_id=tokens("16"))
    path = tmp_path / "question_0007_steps_007.pt"
    save(path, made)
    options = {"mask_id": MASK, "task": "GSM8K", "model": "LLaDA"}
    (found,) = import_decoding_records(path, **options)
    assert [found[key] for key in ("id", "gold", "model", "task", "source")] == [
        "question_0007_steps_007", "XV", "LLaDA", "GSM8K", "canvas",
    ]  # fmt: skip
    assert [step["step"] for step in found["steps"]] == list(range(7))
    for step, row in zip(found["steps"], canvases[:, PROMPT:].tolist(), strict=True):
        assert step["text"] == " ".join("[MASK]" if t == MASK else str(t) for t in row)
        assert step["answer_masked"] is (MASK in row[3:5])
        assert step["verdict"] == (None if MASK in row[3:5] else "fifteen")
        assert step["reasoning_committed"] == sum(t != MASK for t in row[:3] + row[5:]) / 5
    (full,) = import_decoding_records(path, source="x0", **options)
    assert full["source"] == "x0"
    guesses = rebuild(made, {}, MASK).x0[:, 3:5].tolist()
    named = {tuple(tokens("15")): "fifteen", tuple(tokens("16")): "XV"}
    assert [step["verdict"] for step in full["steps"]] == [
        named.get(tuple(pair), " ".join(map(str, pair))) for pair in guesses
    ]
    assert full["steps"][-1]["verdict"] == "fifteen"


@pytest.mark.torch
def test_a_file_with_a_tokenizer_and_an_extractor(tmp_path):
    from traj_eval.extract import extractor

    save(tmp_path / "q.pt", record()[0])
    (found,) = import_decoding_records(
        tmp_path / "q.pt", Tokenizer(), extract=extractor("number"), mask_id=MASK, form="canvas"
    )
    last = found["steps"][-1]
    assert (last["text"], last["verdict"], last["step"]) == ("15=15", "15", 6)
    assert all("[MASK]" in step["text"] for step in found["steps"][:-1])
    assert (found["answer_span"], found["prompt_length"], len(found["tokens"])) == ([3, 5], 0, 7)


class Untrusted:
    """Would run code if it were unpickled without care."""

    def __reduce__(self):
        return (print, ("run",))


@pytest.mark.torch
def test_a_folder_names_all_its_bad_files_and_runs_nothing(tmp_path, capsys):
    import torch

    save(tmp_path / "question_0000.pt", record(1)[0])
    (tmp_path / "question_0001.pt").write_text("no torch file")
    torch.save({"x0_history": Untrusted()}, tmp_path / "question_0002.pt")
    save(tmp_path / "question_0003.pt", record(gen_ids=[1, 2])[0])
    save(tmp_path / "question_0004.pt", record(4, 1)[0])
    (tmp_path / "notes.txt").write_text("not read")
    seen = []
    read = (seen.append(found["id"]) for found in iter_decoding_records(tmp_path, mask_id=MASK))
    with pytest.raises(InvalidInput) as raised:
        list(read)
    assert seen == ["question_0000", "question_0004"]
    problems = raised.value.problems
    assert [p.scenario_id for p in problems] == [f"question_000{k}" for k in (1, 2, 3)]
    assert all(p.file.endswith(f"{p.scenario_id}.pt") for p in problems)
    assert "weights_only=True" in problems[0].message
    assert "weights_only=True" in problems[1].message
    assert (problems[2].column, problems[2].message[:8]) == ("gen_ids", "2 tokens")
    assert capsys.readouterr().out == ""


@pytest.mark.torch
def test_paths_without_records(tmp_path):
    with pytest.raises(InvalidInput, match=r"without files that end in \.pt"):
        import_decoding_records(tmp_path)
    with pytest.raises(FileNotFoundError):
        import_decoding_records(tmp_path / "question.pt")
