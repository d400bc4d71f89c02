"""The richer form of a trajectory: what token ids say of the answer and the reasoning.

A canvas is the sequence of token ids at one step, prompt included. Positions from `prompt_length`
on are generated; those inside `answer_span` are the answer, the others the reasoning.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_core.problems import escaped
from traj_eval import schema
from traj_eval.schema import Fault

Tokens = npt.NDArray[np.intc]

# In place of what is looked at elsewhere.
_SOUND = {"tokens": [], "steps": [{"step": 0, "verdict": None, "text": ""}]}


def faults(trajectory: Mapping[str, Any]) -> Iterator[Fault]:
    """Give what is wrong with a canvas that follows the schema.

    Args:
        trajectory: a trajectory with `tokens`.
    """
    tokens, steps = trajectory["tokens"], trajectory["steps"]
    if len(tokens) != len(steps):
        message = f"has {len(tokens)} canvases for {len(steps)} steps; expected one a step"
        yield Fault("canvas_count", "tokens", str(len(tokens)), message)
    if not tokens:
        return
    length = len(tokens[0])
    if not length:
        yield Fault("canvas_empty", "tokens[0]", "[]", "is empty; expected one token or more")
        return
    for k, row in enumerate(tokens):
        if len(row) != length:
            message = (
                f"has {len(row)} tokens where tokens[0] has {length}; the canvas has one length "
                "from the first step to the last: pad it"
            )
            yield Fault("canvas_length", f"tokens[{k}]", str(len(row)), message)
            break
    prompt = trajectory.get("prompt_length") or 0
    if prompt > length:
        message = f"got {prompt}; the canvas has {length} tokens"
        yield Fault("prompt_outside", "prompt_length", str(prompt), message)
        return
    start, end = trajectory["answer_span"]
    if not prompt <= start < end <= length:
        message = (
            f"got {escaped([start, end])}; expected [start, end) with {prompt} ≤ start < end ≤ "
            f"{length}: positions in the canvas, prompt included, after the prompt"
        )
        yield Fault("answer_span", "answer_span", escaped([start, end]), message)


def tokens_of(trajectory: Mapping[str, Any], *, only_ints: bool = False) -> Tokens:
    """Give the canvases as an array, if everything about them is certainly right.

    Args:
        trajectory: one with `tokens`; its steps are not looked at.
        only_ints: whether it is known that no token is true or false.

    Returns:
        n × length token ids.

    Raises:
        ValueError, TypeError, OverflowError: not everything is.
    """
    rows = trajectory["tokens"]
    flat = array("i")
    for row in rows:
        flat.fromlist(row)
        if not only_ints and not set(map(type, row)) <= {int}:
            raise TypeError
    if schema.faults({**trajectory, **_SOUND}) or any(faults(trajectory)):
        raise ValueError
    tokens = np.frombuffer(flat, np.intc).reshape(len(rows), -1)
    if tokens.min() < 0:
        raise ValueError
    return tokens


def derived(trajectory: Mapping[str, Any], tokens: Tokens | None = None) -> dict[str, Any]:
    """Fill in what the canvas says; what the steps say themselves is kept.

    Args:
        trajectory: a valid trajectory with `tokens`.
        tokens: the same, if they are an array already.

    Returns:
        A trajectory whose steps have `answer_masked`, `answer` (the token ids of the answer span,
        for comparing) and `reasoning_committed` (absent if nothing lies outside the span).

    Example:
        >>> step = {"step": 0, "verdict": None, "text": "? ? 7"}
        >>> canvas = {"tokens": [[0, 0, 7]], "mask_id": 0, "answer_span": [2, 3]}
        >>> found = derived({"id": "a", "gold": None, "steps": [step], **canvas})["steps"][0]
        >>> found["answer_masked"], found["answer"], found["reasoning_committed"]
        (False, '7', 0.0)
    """
    tokens = np.array(trajectory["tokens"], np.intc) if tokens is None else tokens
    start, end = trajectory["answer_span"]
    prompt = trajectory.get("prompt_length") or 0
    masked = tokens == trajectory["mask_id"]
    in_answer = masked[:, start:end].sum(axis=1)
    found: dict[str, list[Any]] = {
        "answer_masked": (in_answer > 0).tolist(),
        "answer": [" ".join(map(str, row)) for row in tokens[:, start:end].tolist()],
    }
    width = tokens.shape[1] - prompt - (end - start)
    if width:
        written = width - (masked[:, prompt:].sum(axis=1) - in_answer)
        found["reasoning_committed"] = (written / width).tolist()
    steps = [
        {**step, **{k: v for k, v in zip(found, said, strict=True) if step.get(k) is None}}
        for step, said in zip(trajectory["steps"], zip(*found.values(), strict=True), strict=True)
    ]
    return {**trajectory, "steps": steps}
