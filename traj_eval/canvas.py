"""The richer form of a trajectory: what token ids say of the answer and the reasoning.

A canvas is the sequence of token ids at one step, prompt included. Positions from `prompt_length`
on are generated; those inside `answer_span` are the answer, the others the reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drift_core.problems import escaped
from traj_eval.schema import Fault


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
    for k, row in enumerate(tokens):
        if len(row) != length:
            message = (
                f"has {len(row)} tokens where tokens[0] has {length}; the canvas has one length "
                "from the first step to the last: pad it"
            )
            yield Fault("canvas_length", f"tokens[{k}]", str(len(row)), message)
            break
    prompt = trajectory.get("prompt_length", 0)
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


def derived(trajectory: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in what the canvas says; what the steps say themselves is kept.

    Args:
        trajectory: a valid trajectory with `tokens`.

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
    mask, (start, end) = trajectory["mask_id"], trajectory["answer_span"]
    prompt = trajectory.get("prompt_length", 0)
    steps = []
    for step, row in zip(trajectory["steps"], trajectory["tokens"], strict=True):
        answer = row[start:end]
        found: dict[str, Any] = {
            "answer_masked": mask in answer,
            "answer": " ".join(map(str, answer)),
        }
        width = len(row) - prompt - len(answer)
        if width:
            masks = row.count(mask) - answer.count(mask)
            masks -= row[:prompt].count(mask) if prompt else 0
            found["reasoning_committed"] = (width - masks) / width
        steps.append({**step, **{k: v for k, v in found.items() if step.get(k) is None}})
    return {**trajectory, "steps": steps}
