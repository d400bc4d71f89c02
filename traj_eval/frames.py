"""Canvases of one sequence → one trajectory in the file format.

A canvas is the row of tokens that a diffusion language model denoises: the prompt, then the
generation, in which positions that are not decided yet hold the mask token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from traj_eval.canvas import derived

MASK = "[MASK]"
SOURCES = ("canvas", "x0")

Tokens = npt.NDArray[np.int64]
Decode = Callable[[Sequence[int]], str]
Extract = Callable[[str], str | None]
Span = tuple[int, int]
AnswerSpan = Span | Sequence[Span | None] | Callable[[list[int]], Span | None]


@dataclass(frozen=True)
class View:
    """How the canvases of one sequence are read.

    Attributes:
        decode: token numbers → text, with masks as `[MASK]`; see `text_decoder`.
        mask_id: number of the mask token.
        prompt_length: tokens before the generation.
        answer_span: first position of the answer and the one after its last, counted from the
            start of the canvas, prompt included; None if it is not known.
        extract: text of the generation → verdict or None. Without it the text of the answer span
            is the verdict, once no mask is left in it; without both there are no verdicts.
        source: `canvas` or `x0`, what texts and verdicts are read from.
        meta: `model`, `task` and `condition`, where given.
        keep_tokens: whether the trajectory carries its canvases, if the answer span is known; what
            they say of the answer and the reasoning is then left to the reader of the file.
    """

    decode: Decode
    mask_id: int
    prompt_length: int = 0
    answer_span: Span | None = None
    extract: Extract | None = None
    source: str = "canvas"
    meta: Mapping[str, str] = field(default_factory=dict)
    keep_tokens: bool = False


def text_decoder(tokenizer: Any, mask_id: int) -> Decode:
    """Give a function from token numbers to text that shows masks as `[MASK]`.

    Special tokens other than the mask, such as those that end a text or pad it, are left out: a
    generation is padded with hundreds of them.

    Args:
        tokenizer: has `decode`, as the tokenizers of transformers do, or is itself a function from
            a list of token numbers to text.
        mask_id: number of the mask token.

    Raises:
        ValueError: the tokenizer gives no text for the mask.

    Example:
        >>> decode = text_decoder(lambda ids: "".join("ab<m>"[i : 5 if i == 2 else i + 1]
        ...                                           for i in ids), mask_id=2)
        >>> decode([0, 2, 1])
        'a[MASK]b'
    """
    decode = getattr(tokenizer, "decode", tokenizer)
    special = set(getattr(tokenizer, "all_special_ids", ())) - {mask_id}
    shown = decode([mask_id]).strip()
    if not shown:
        raise ValueError(
            f"Expected argument `tokenizer` to show the mask token {mask_id}, "
            "but it decodes it to nothing"
        )

    def text(tokens: Sequence[int]) -> str:
        kept = [token for token in tokens if token not in special]
        decoded: str = decode(kept) if kept else ""
        return decoded.replace(shown, MASK)

    return text


def token_array(x: Any, name: str) -> Tokens:
    """Copy tokens off whatever holds them: samplers change theirs in place.

    Args:
        x: a torch tensor on any device, a numpy array or nested lists.
        name: of the argument, for messages.

    Raises:
        ValueError: rows of unequal length, or not integers.
    """
    if hasattr(x, "detach"):
        x = x.detach().cpu().numpy()
    try:
        array = np.array(x)
    except ValueError:
        raise ValueError(f"Expected argument `{name}` to have rows of one length") from None
    if array.dtype.kind not in "iu":
        raise ValueError(f"Expected argument `{name}` to be token numbers, but got {array.dtype}")
    return array.astype(np.int64, copy=False)


def answer_spans(given: AnswerSpan | None, final: Tokens, prompt_length: int) -> list[Span | None]:
    """Give where the answer of each sequence stands.

    Args:
        given: one span for all, one for each of n sequences, or a function of a final canvas.
        final: n × length tokens, the final canvases.
        prompt_length: tokens before the generation.

    Raises:
        ValueError: not n spans, or one that lies outside of the generation.
    """
    n, length = final.shape
    spans: list[Any]
    if callable(given):
        spans = [given(row) for row in final.tolist()]
    elif given is None or isinstance(given[0], (int, np.integer)):
        spans = [given] * n
    else:
        spans = list(given)
    if len(spans) != n:
        raise ValueError(
            f"Expected argument `answer_span` to be {n} pairs, one for each id, "
            f"but got {len(spans)}"
        )
    for span in spans:
        if span is not None and not prompt_length <= span[0] < span[1] <= length:
            raise ValueError(
                f"Expected argument `answer_span` to lie between {prompt_length} and {length}, "
                f"the generation, but got {tuple(span)}"
            )
    return [None if span is None else (int(span[0]), int(span[1])) for span in spans]


def trajectory(
    name: str,
    gold: str | None,
    steps: Sequence[int],
    canvas: Tokens,
    view: View,
    x0: Tokens | None = None,
) -> dict[str, Any]:
    """Describe n canvases as a trajectory in the file format.

    Args:
        name: identifier of the trajectory.
        gold: right verdict, None if it is not known.
        steps: n step numbers, strictly increasing.
        canvas: n × length tokens, after the transfer of each step.
        view: how they are read.
        x0: n × length tokens of the full predictions, committed tokens kept; texts and verdicts
            are read from them if the source is `x0`.

    Returns:
        A mapping that strict JSON can hold. `answer_masked` and `reasoning_committed` are always
        those of the canvas; they are there if the answer span is known, `reasoning_committed` if
        there are tokens outside of it. In the canvas form the tokens stand in their place.
    """
    shown = canvas if x0 is None else x0
    texts = _decoded(shown[:, view.prompt_length :], view.decode)
    verdicts = _verdicts(texts, shown, view)
    found: dict[str, Any] = {
        "id": name,
        "gold": gold,
        **view.meta,
        "source": view.source,
        "steps": [
            {"step": step, "verdict": verdict, "text": text}
            for step, verdict, text in zip(steps, verdicts, texts, strict=True)
        ],
    }
    if view.answer_span is None:
        return found
    span = list(view.answer_span)
    layout = {"mask_id": view.mask_id, "prompt_length": view.prompt_length, "answer_span": span}
    if view.keep_tokens:
        return {**found, "tokens": canvas.tolist(), **layout}
    answers = _decoded(canvas[:, slice(*span)], view.decode)
    for step, answer in zip(found["steps"], answers, strict=True):
        step["answer"] = answer
    told = derived({**found, **layout}, canvas.astype(np.intc))
    return {key: told[key] for key in found}


def _decoded(rows: Tokens, decode: Decode) -> list[str]:
    """Decode n rows, equal neighbours once."""
    texts: list[str] = []
    for at, row in enumerate(rows):
        same = at > 0 and np.array_equal(row, rows[at - 1])
        texts.append(texts[-1] if same else decode(row.tolist()))
    return texts


def _verdicts(texts: Sequence[str], shown: Tokens, view: View) -> list[str | None]:
    if view.extract is not None:
        return [view.extract(text) or None for text in texts]
    if view.answer_span is None:
        return [None] * len(texts)
    answers = _decoded(shown[:, slice(*view.answer_span)], view.decode)
    return [None if MASK in answer else answer.strip() or None for answer in answers]
