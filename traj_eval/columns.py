"""Trajectories as arrays: verdicts as codes, steps end to end, texts reduced to what is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import ne
from typing import Any

import numpy as np
import numpy.typing as npt

from traj_eval.layout import UNKNOWN, Layout
from traj_eval.runs import UNDECIDED, Bools, Codes, Ints, Runs, convergence_index

Floats = npt.NDArray[np.float64]
BLOCK = 1 << 17


@dataclass(frozen=True)
class Columns:
    """n trajectories with m steps in all.

    Attributes:
        offsets: n + 1 places; the steps of trajectory k lie at offsets[k] up to offsets[k + 1].
        step: m numbers of denoising steps.
        verdict: m codes, -1 for undecided.
        gold: n codes, -1 for none.
        changed: m flags: the text differs from that of the step before.
        text_length: n × 2 lengths in characters without mask tokens: at the convergence index
            (0 where there is none) and at the end.
        answer_masked: m times 0 or 1, -1 where it is not known.
        answer: m codes, -1 where it is not known.
        committed: m shares of the reasoning, NaN where it is not known.
        labels: code → verdict or answer.
        named: `id`, `model`, `task`, `condition` and `source` of the n trajectories.
    """

    offsets: Ints
    step: Ints
    verdict: Codes
    gold: Codes
    changed: Bools
    text_length: Ints
    answer_masked: npt.NDArray[np.int8]
    answer: Codes
    committed: Floats
    labels: Sequence[str] = ()
    named: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of trajectories."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """Numbers of steps."""
        return np.diff(self.offsets)

    def blocks(self, steps: int = BLOCK) -> Iterator[Columns]:
        """Give the same in parts that fit into a processor's cache."""
        start = 0
        while start < self.n:
            end = int(np.searchsorted(self.offsets, self.offsets[start] + steps))
            end = min(max(end, start + 1), self.n)
            yield self._part(start, end)
            start = end

    def _part(self, start: int, end: int) -> Columns:
        if (start, end) == (0, self.n):
            return self
        steps = slice(int(self.offsets[start]), int(self.offsets[end]))
        rows = slice(start, end)
        return Columns(
            offsets=self.offsets[start : end + 1] - self.offsets[start],
            step=self.step[steps],
            verdict=self.verdict[steps],
            gold=self.gold[rows],
            changed=self.changed[steps],
            text_length=self.text_length[rows],
            answer_masked=self.answer_masked[steps],
            answer=self.answer[steps],
            committed=self.committed[steps],
            labels=self.labels,
            named={name: column[rows] for name, column in self.named.items()},
        )


class _Numbering(dict[str | None, int]):
    """Texts → codes in the order of their arrival; None is -1."""

    def __init__(self) -> None:
        super().__init__({None: UNDECIDED})

    def __missing__(self, text: str | None) -> int:
        code = len(self) - 1
        self[text] = code
        return code

    def codes(self, texts: Sequence[str | None]) -> Codes:
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))

    def labels(self) -> list[str]:
        return [text for text in self if text is not None]


class Builder:
    """Collects layouts until there are enough steps to be worth the arrays.

    Layouts are let go at once, so that the texts of one chunk are in memory and not those of all.
    """

    def __init__(self) -> None:
        self._numbering = _Numbering()
        self._parts: list[dict[str, Any]] = []
        self._named: dict[str, list[str | None]] = {}
        self.n_steps = 0

    def add(self, layout: Layout) -> None:
        """Add the trajectories of a layout, which must be valid."""
        m, steps = len(layout.step), layout.steps
        offsets = np.concatenate([[0], np.cumsum(layout.lengths, dtype=np.int64)])
        verdict = self._numbering.codes(steps["verdict"])
        changed = np.empty(m, np.bool_)
        texts = steps["text"]
        changed[1:] = np.fromiter(map(ne, islice(texts, 1, None), texts), np.bool_, m - 1)
        changed[offsets[:-1]] = False
        self._parts.append(
            {
                "lengths": layout.lengths,
                "step": layout.step,
                "verdict": verdict,
                "gold": self._numbering.codes(layout.trajectories["gold"]),
                "changed": changed,
                "text_length": _text_lengths(layout, verdict, offsets),
                "answer_masked": layout.answer_masked,
                "answer": self._answers(steps.get("answer"), m),
                "committed": layout.committed,
            }
        )
        for name in ("id", "model", "task", "condition", "source"):
            self._named.setdefault(name, []).extend(layout.trajectories[name])
        self.n_steps += m

    def take(self) -> Columns:
        """Give what was added, at least one trajectory, and start again."""
        parts = self._parts
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        lengths = joined.pop("lengths")
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        columns = Columns(offsets, **joined, labels=self._numbering.labels(), named=self._named)
        self.__init__()  # type: ignore[misc]
        return columns

    def _answers(self, answers: list[str | None] | None, m: int) -> Codes:
        if answers is None:
            return np.full(m, UNKNOWN, np.int32)
        return self._numbering.codes(answers)


def _text_lengths(layout: Layout, verdict: Codes, offsets: Ints) -> Ints:
    """Measure the two texts of each trajectory whose length is asked for."""
    last = offsets[1:] - 1
    converged = convergence_index(Runs.of(verdict, offsets).decided(), verdict[last])
    texts, masks = layout.steps["text"], layout.trajectories["mask"]
    lengths = [
        (_length(texts[at], mask) if found >= 0 else 0, _length(texts[end], mask))
        for at, found, end, mask in zip(
            (offsets[:-1] + converged).tolist(),
            converged.tolist(),
            last.tolist(),
            masks,
            strict=True,
        )
    ]
    return np.array(lengths, np.int64)


def _length(text: str, mask: str) -> int:
    return len(text) - len(mask) * text.count(mask)
