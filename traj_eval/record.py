"""Recorders for samplers of diffusion language models.

Three ways lead to the same trajectories:

- Dream calls a hook after every step: `generation_tokens_hook_func=recorder`;
- Dream keeps its canvases: `from_history(output.history, tokenizer, …)`;
- LLaDA's loop is in the user's hands: `recorder.observe(x)` after each transfer.

Canvases may be torch tensors on any device, numpy arrays or nested lists; torch is not imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from traj_eval.frames import (
    SOURCES,
    AnswerSpan,
    Extract,
    Tokens,
    View,
    answer_spans,
    text_decoder,
    token_array,
    trajectory,
)

LLADA_MASK_ID = 126336
"""Number of LLaDA's mask token, `<|mdm_mask|>`."""

_NO_VERDICTS = (
    "every verdict will be null: pass `extract`, such as extractor('choice') of "
    "traj_eval.extract, or `answer_span`; or fill verdicts in later: python -m traj_eval extract"
)


@dataclass(frozen=True)
class _Frame:
    """What is kept of a step: n × length tokens, and the full predictions if they are wanted."""

    step: int
    canvas: Tokens
    x0: Tokens | None


class Recorder:
    """Records one call of a sampler, for a batch of n sequences.

    Args:
        tokenizer: has `decode` and, if there are any, `all_special_ids`, or is itself a function
            from token numbers to text.
        ids: n identifiers.
        prompt_length: tokens before the generation, padding of the prompt included.
        gold: n right verdicts; None where one is not known.
        mask_id: number of the mask token; that of the tokenizer if it names one, else LLaDA's
            126336.
        answer_span: where the answer stands, `(start, end)`, end excluded, counted from the start
            of the canvas: one for all, n of them, or a function of the final canvas as a list of
            tokens. With it the clocks of the commitment are recorded.
        extract: text of the generation → verdict or None; see `traj_eval.extract.extractor`.
            Without it the text of the answer span is the verdict, once no mask is left in it;
            without both there are no verdicts, and a warning says so.
        source: `canvas` reads texts and verdicts from what is written, `x0` from the full
            prediction, in which every mask is filled with the best guess of the step.
        every: record the steps that this number divides, and the last.
        form: `text`, or `canvas` to store the tokens of every recorded step beside the texts, for
            sequences whose answer span is known.
        model: written into every trajectory, where given, as are the next two.
        task: what was asked.
        condition: how it was asked or sampled.

    Raises:
        ValueError: an argument is out of its range.

    Example:
        >>> words = ["2", "+", "=", "4", "<mask>"]
        >>> recorder = Recorder(lambda ids: "".join(words[i] for i in ids), ids=["sum"],
        ...                     prompt_length=3, gold=["4"], mask_id=4, answer_span=(4, 5))
        >>> recorder.observe([[0, 1, 0, 2, 4]])
        >>> recorder.observe([[0, 1, 0, 2, 3]])
        >>> for step in recorder.trajectories()[0]["steps"]:
        ...     print(step["step"], step["text"], step["verdict"])
        0 =[MASK] None
        1 =4 4
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        ids: Sequence[str],
        prompt_length: int,
        gold: Sequence[str | None] | None = None,
        mask_id: int | None = None,
        answer_span: AnswerSpan | None = None,
        extract: Extract | None = None,
        source: Literal["canvas", "x0"] = "canvas",
        every: int = 1,
        form: Literal["text", "canvas"] = "text",
        model: str | None = None,
        task: str | None = None,
        condition: str | None = None,
    ) -> None:
        if mask_id is None:
            mask_id = getattr(tokenizer, "mask_token_id", None)
        self.mask_id = LLADA_MASK_ID if mask_id is None else int(mask_id)
        self._ids = _ids(ids)
        self._gold = [None] * len(ids) if gold is None else list(gold)
        if len(self._gold) != len(self._ids):
            raise ValueError(
                f"Expected argument `gold` to be {len(ids)} values, one for each id, "
                f"but got {len(self._gold)}"
            )
        if source not in SOURCES:
            raise ValueError(f"Expected argument `source` to be canvas or x0, but got {source!r}")
        if form not in ("text", "canvas"):
            raise ValueError(f"Expected argument `form` to be text or canvas, but got {form!r}")
        if form == "canvas" and answer_span is None:
            raise ValueError("Expected argument `answer_span` for the form canvas, but got None")
        if every < 1:
            raise ValueError(f"Expected argument `every` to be 1 or more, but got {every}")
        named = {"model": model, "task": task, "condition": condition}
        self._view = View(
            decode=text_decoder(tokenizer, self.mask_id),
            mask_id=self.mask_id,
            prompt_length=prompt_length,
            extract=extract,
            source=source,
            meta={key: value for key, value in named.items() if value is not None},
            keep_tokens=form == "canvas",
        )
        self._answer_span = answer_span
        self._every = every
        self._initial_masks: int | None = None
        self._kept: list[_Frame] = []
        self._latest: _Frame | None = None
        if extract is None and answer_span is None:
            warnings.warn(_NO_VERDICTS, stacklevel=2)

    def __call__(self, step: int | None, x: Any, logits: Any) -> Any:
        """Record a call of Dream's `generation_tokens_hook_func`.

        The first call, with neither step nor logits, shows the canvas before any denoising. It is
        checked and not recorded, so that the hook and the history give the same trajectory. Where
        a later step is None, or starts again as in samplers that count within blocks, it is the
        one after the last.

        Args:
            step: number of the denoising step.
            x: n × length tokens.
            logits: n × length × vocabulary, those that this step's tokens were drawn from.

        Returns:
            `x`, the same object, unchanged.
        """
        if step is None and logits is None and self._is_start(x):
            return x
        needed = self._view.source == "x0" and logits is not None
        self.observe(x, x0=_best(logits) if needed else None, step=step)
        return x

    def observe(self, x: Any, *, x0: Any = None, step: int | None = None) -> None:
        """Record a canvas, to be called after the transfer of each step.

        Args:
            x: n × length tokens, or length tokens of one sequence. They are copied.
            x0: the full prediction of this step, of the same shape; needed for the source `x0`.
                Where `x` is written already, what is written counts.
            step: number of the step; the one after the last where it is None or does not grow.

        Raises:
            ValueError: the shape is not that of n sequences or not that of the calls before, or
                `x0` is needed and missing.
        """
        canvas = self._canvas(x, "x")
        prediction = None
        if self._view.source == "x0":
            if x0 is None:
                raise ValueError("Expected argument `x0` (or logits) for the source x0, got None")
            full = self._canvas(x0, "x0")
            prediction = np.where(canvas == self.mask_id, full, canvas)
        follows = 0 if self._latest is None else self._latest.step + 1
        step = follows if step is None else max(int(step), follows)
        self._latest = _Frame(step, canvas, prediction)
        if step % self._every == 0:
            self._kept.append(self._latest)

    def trajectories(self) -> list[dict[str, Any]]:
        """Give the recorded steps as n trajectories in the file format.

        Raises:
            ValueError: nothing was recorded, no mask was ever seen, or an answer span lies outside
                of the generation.
        """
        if self._latest is None:
            raise ValueError("nothing was recorded: was the recorder given to the sampler?")
        frames = self._kept
        if not frames or frames[-1] is not self._latest:
            frames = [*frames, self._latest]
        self._check_masks(frames)
        canvases = np.stack([frame.canvas for frame in frames], axis=1)
        spans = answer_spans(self._answer_span, canvases[:, -1], self._view.prompt_length)
        predictions = _x0(frames) if self._view.source == "x0" else [None] * len(spans)
        steps = [frame.step for frame in frames]
        return [
            trajectory(name, gold, steps, canvas, replace(self._view, answer_span=span), x0)
            for name, gold, canvas, span, x0 in zip(
                self._ids, self._gold, canvases, spans, predictions, strict=True
            )
        ]

    def _is_start(self, x: Any) -> bool:
        """Tell whether this is the canvas before any denoising, and check that it is one."""
        masks = self._generation(self._canvas(x, "x")) == self.mask_id
        if self._latest is not None:
            if self._initial_masks is not None and masks.sum() >= self._initial_masks:
                raise ValueError(
                    "this recorder holds a generation already: make a new one for each call"
                )
            return False
        if not masks.any():
            raise ValueError(self._no_mask())
        self._initial_masks = int(masks.sum())
        return True

    def _canvas(self, x: Any, name: str) -> Tokens:
        """Give tokens as an array of its own, and check its shape."""
        array = token_array(x, name)
        n, prompt = len(self._ids), self._view.prompt_length
        if array.ndim == 1:
            array = array[None]
        same = self._latest is None or array.shape == self._latest.canvas.shape
        if array.ndim != 2 or len(array) != n or array.shape[1] <= prompt or not same:
            expected = f"({n}, more than {prompt})" if same else f"{self._latest_shape()} as before"
            raise ValueError(
                f"Expected argument `{name}` to be of shape {expected}, but got {array.shape}"
            )
        return array

    def _latest_shape(self) -> tuple[int, ...]:
        return () if self._latest is None else self._latest.canvas.shape

    def _generation(self, canvas: Tokens) -> Tokens:
        return canvas[:, self._view.prompt_length :]

    def _no_mask(self) -> str:
        return (
            f"Expected argument `mask_id` to be the mask token of the sampler, but {self.mask_id} "
            "is nowhere in the generation"
        )

    def _check_masks(self, frames: Sequence[_Frame]) -> None:
        """Refuse a wrong mask number, which would make everything look written from the start."""
        seen = any((self._generation(frame.canvas) == self.mask_id).any() for frame in frames)
        if len(frames) > 1 and not seen and self._initial_masks is None:
            raise ValueError(self._no_mask())


def from_history(history: Iterable[Any], tokenizer: Any, **options: Any) -> list[dict[str, Any]]:
    """Give the trajectories of canvases that a sampler kept, Dream's `output.history`.

    Args:
        history: the n × length canvases after each step.
        tokenizer: as for `Recorder`.
        **options: the other arguments of `Recorder`; the source can only be `canvas`.

    Returns:
        n trajectories in the file format, the same that a recorder gives as the hook.

    Raises:
        ValueError: the history is empty, or as for `Recorder`.

    Example:
        >>> history = [[[7, 9]], [[7, 8]]]
        >>> found = from_history(history, lambda ids: "".join(".ab?"[i - 6] for i in ids),
        ...                      ids=["q"], prompt_length=1, mask_id=9, answer_span=(1, 2))
        >>> [step["text"] for step in found[0]["steps"]]
        ['[MASK]', 'b']
    """
    recorder = Recorder(tokenizer, **options)
    for step, canvas in enumerate(history):
        recorder.observe(canvas, step=step)
    return recorder.trajectories()


def _ids(ids: Sequence[str]) -> list[str]:
    if isinstance(ids, str) or not ids or not all(isinstance(name, str) for name in ids):
        raise ValueError(f"Expected argument `ids` to be a list of names, but got {ids!r}")
    if len(set(ids)) != len(ids):
        raise ValueError(f"Expected argument `ids` to be distinct, but got {list(ids)!r}")
    return list(ids)


def _best(logits: Any) -> Any:
    """Give the most probable token of each position, on the device where the logits are."""
    return (logits if hasattr(logits, "argmax") else np.asarray(logits)).argmax(-1)


def _x0(frames: Sequence[_Frame]) -> Tokens:
    """Give n × steps × length full predictions."""
    return np.stack([frame.x0 for frame in frames if frame.x0 is not None], axis=1)
