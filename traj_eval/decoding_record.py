"""One decoding record → canvases, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drift_core.problems import escaped
from traj_eval.frames import Span, Tokens

_NEEDED = ("x0_history", "true_indices_history", "prompt_token_len")


class BadRecord(ValueError):
    """What is wrong with one record.

    Args:
        column: the key that is at fault, None if it is the whole file.
        message: what came and what was expected.
    """

    def __init__(self, column: str | None, message: str) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True)
class Rebuilt:
    """What a record says of its generation.

    Attributes:
        canvas: steps × length tokens, after the commits of each step.
        x0: steps × length tokens of the full predictions, committed tokens kept.
        answer_span: where the predicted answer stands in the generation, None if there is none.
        answers: tokens of the predicted and of the right answer → their texts.
    """

    canvas: Tokens
    x0: Tokens
    answer_span: Span | None
    answers: Mapping[tuple[int, ...], str]


def rebuild(record: Any, forced: Mapping[int, int], mask_id: int) -> Rebuilt:
    """Rebuild the canvases of one record.

    Args:
        record: what the torch file holds.
        forced: position in the generation → token that stood there before the first step.
        mask_id: number of the mask token.

    Raises:
        BadRecord: a key is missing, or what it holds does not fit the others.
    """
    if not isinstance(record, Mapping):
        raise BadRecord(None, f"expected a dict, got {type(record).__name__}")
    missing = [key for key in _NEEDED if key not in record]
    if missing:
        raise BadRecord(missing[0], f"missing keys: {', '.join(missing)}")
    prompt = _whole_number(record, "prompt_token_len")
    predictions = _predictions(record)[:, prompt:]
    length = predictions.shape[1]
    if not length:
        raise BadRecord("prompt_token_len", f"{prompt} tokens leave no generation")
    commits = _commits(record, len(predictions), prompt, length)
    canvas = _replayed(record, predictions, commits, forced, mask_id)
    return Rebuilt(
        canvas=canvas,
        x0=np.where(canvas == mask_id, predictions, canvas),
        answer_span=_answer_span(record, prompt, length),
        answers=_answers(record),
    )


def _whole_number(record: Mapping[str, Any], key: str) -> int:
    """Give an integer, which may have been saved as a tensor of one."""
    value = record[key]
    try:
        number = int(value)
    except (TypeError, ValueError, RuntimeError):
        number = -1
    if isinstance(value, (str, float)) or number < 0:
        raise BadRecord(key, f"expected a whole number, 0 or more, got {escaped(value)}")
    return number


def _tensor(value: Any, key: str) -> Tokens:
    try:
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    except (TypeError, ValueError, RuntimeError):
        raise BadRecord(key, f"expected a tensor of integers, got {escaped(value)}") from None
    if array.size and array.dtype.kind not in "iu":
        raise BadRecord(key, f"expected integers, got {array.dtype}")
    return array.astype(np.int64)


def _blocks(record: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = record[key]
    if not isinstance(value, (list, tuple)) or not value:
        raise BadRecord(key, f"expected a list with one entry a block, got {escaped(value)}")
    return value


def _predictions(record: Mapping[str, Any]) -> Tokens:
    """Give all steps × (prompt + generation) full predictions."""
    key = "x0_history"
    blocks = []
    for block in _blocks(record, key):
        rows = block if hasattr(block, "numpy") else np.stack([_tensor(r, key) for r in block])
        array = _tensor(rows, key)
        if array.ndim == 3 and array.shape[1] == 1:  # a batch of one kept its dimension
            array = array[:, 0]
        if array.ndim != 2:
            raise BadRecord(key, f"expected steps × length in each block, got {array.shape}")
        blocks.append(array)
    widths = {block.shape[1] for block in blocks}
    if len(widths) > 1:
        raise BadRecord(key, f"expected blocks of one length, got {sorted(widths)}")
    return np.concatenate(blocks)


def _commits(record: Mapping[str, Any], steps: int, prompt: int, length: int) -> list[Tokens]:
    """Give for each step the positions in the generation that were committed."""
    key = "true_indices_history"
    commits = []
    for step, entry in enumerate(e for block in _blocks(record, key) for e in block):
        pairs = _tensor(entry, key)
        if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2):
            raise BadRecord(key, f"step {step}: expected N × 2 indices, got {pairs.shape}")
        rows, positions = pairs.reshape(-1, 2).T
        if rows.any():
            raise BadRecord(key, f"step {step}: expected a batch of one, got row {rows.max()}")
        outside = positions[(positions < prompt) | (positions >= prompt + length)]
        if len(outside):
            raise BadRecord(
                key,
                f"step {step}: position {outside[0]} is outside of the generation, "
                f"{prompt} to {prompt + length - 1}",
            )
        commits.append(positions - prompt)
    if len(commits) != steps:
        raise BadRecord(key, f"{len(commits)} steps, but x0_history has {steps}")
    return commits


def _replayed(
    record: Mapping[str, Any],
    predictions: Tokens,
    commits: Sequence[Tokens],
    forced: Mapping[int, int],
    mask_id: int,
) -> Tokens:
    """Give the canvas after each step.

    Tokens that no step committed were there before the first: those of `gen_ids`, or `forced`.
    """
    length = predictions.shape[1]
    generated = _generated(record, length)
    never = np.setdiff1d(np.arange(length), np.concatenate(commits))
    unknown = [int(p) for p in never if generated is None and int(p) not in forced]
    if unknown:
        raise BadRecord(
            "gen_ids",
            f"no step commits positions {unknown[:8]} of the generation and there is no gen_ids "
            "to say what stands there: give these tokens as `forced`",
        )
    current = np.full(length, mask_id, np.int64)
    current[never] = [forced[int(p)] for p in never] if generated is None else generated[never]
    canvas = np.empty_like(predictions)
    for step, positions in enumerate(commits):
        current[positions] = predictions[step, positions]
        canvas[step] = current
    if generated is not None and not np.array_equal(current, generated):
        at = int(np.flatnonzero(current != generated)[0])
        raise BadRecord(
            "gen_ids",
            f"position {at} of the generation is {generated[at]}, but the committed "
            f"prediction is {current[at]}",
        )
    return canvas


def _generated(record: Mapping[str, Any], length: int) -> Tokens | None:
    if record.get("gen_ids") is None:
        return None
    generated = _tensor(record["gen_ids"], "gen_ids").reshape(-1)
    if len(generated) != length:
        raise BadRecord("gen_ids", f"{len(generated)} tokens, but x0_history has {length}")
    return generated


def _answer_span(record: Mapping[str, Any], prompt: int, length: int) -> Span | None:
    """Give where the predicted answer stands in the generation; None if there is none.

    Where no answer was found the files have the position before the generation, from a search
    that gives -1.
    """
    tokens = record.get("pred_token_id")
    if record.get("ans_posidx") is None or tokens is None or not len(tokens):
        return None
    start = int(record["ans_posidx"]) - prompt
    end = start + len(tokens)
    if start < 0:
        return None
    if end > length:
        raise BadRecord("ans_posidx", f"answer at {start} to {end} of {length} generated tokens")
    return start, end


def _answers(record: Mapping[str, Any]) -> dict[tuple[int, ...], str]:
    answers: dict[tuple[int, ...], str] = {}
    for tokens, text in (("gt_token_id", "gt_text"), ("pred_token_id", "pred_ans")):
        if record.get(tokens) is not None and record.get(text) is not None:
            answers[tuple(_tensor(record[tokens], tokens).reshape(-1).tolist())] = str(record[text])
    return answers
