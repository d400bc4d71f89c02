"""The metric in training loops: logits and labels of a batch in, both leaderboards out.

numpy alone is needed here; tensors of torch are read where they come.

    from drift_onset import training
    Trainer(..., compute_metrics=training.ComputeMetrics(decode="lawful"))
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_core.files import replacing
from drift_core.problems import InvalidInput
from drift_onset import scores
from drift_onset.counts import Columns, Counts, count_columns, label_sizes
from drift_onset.decoding import DECODES, Decoded, check_decode, decode_states, state_columns
from drift_onset.heads import LABEL_NAMES, LENGTHS, MASKED, check_labels, chosen
from drift_onset.reading.cells import billionths
from drift_onset.reading.loading import read_table
from drift_onset.reading.tables import as_table
from drift_onset.schema import NONE, PREDICTED, PREDICTION, header, optional_columns, targets

__all__ = [
    "DECODES",
    "LABEL_NAMES",
    "MASKED",
    "ComputeMetrics",
    "Decoded",
    "count",
    "decode_states",
    "encode",
    "state_columns",
    "write_predictions",
]


def encode(rows: Any) -> dict[str, npt.NDArray[np.int64]]:
    """Turn gold rows into the label arrays of a training loop.

    Args:
        rows: n rows of the data in memory, see `drift_onset.score`; constraints and trajectory are
            among their columns.

    Returns:
        Name → n whole numbers, for each of `LABEL_NAMES`: the five targets as codes (labels as
        positions in schema order, onset and residual 0 for none), then `n_steps` and
        `n_constraints`.

    Raises:
        InvalidInput: the rows have problems, all of which it lists.

    Example:
        >>> from drift_onset import schema
        >>> from drift_onset.reading import typed
        >>> dev = typed.read(schema.resource("data") / "dev.csv", schema.LABELLED)
        >>> {name: values[:3].tolist() for name, values in encode(dev).items()}["n_steps"]
        [3, 9, 7]
    """
    loaded = read_table(as_table(rows), "state", "<rows>")
    problems = loaded.problems()
    if problems:
        raise InvalidInput(problems)
    states = loaded.states
    lengths = dict(zip(LENGTHS, (states.steps, states.constraints), strict=True))
    named = {**states.codes, **lengths}
    return {name: named[name].astype(np.int64) for name in LABEL_NAMES}


def count(predictions: Any, labels: Any, *, decode: str = "argmax") -> Counts:
    """Decode a batch and count it against its labels.

    Args:
        predictions: logits of five heads, see `decode_states`.
        labels: arrays or tensors by name as `encode` gives them, or in the order of `LABEL_NAMES`.
            An item whose five targets are all -100 is left out.
        decode: see `decode_states`.

    Returns:
        Counts; those of batches add up to those of the whole. A state that breaks the rules is
        unanswered: wrong in every component.

    Raises:
        InvalidInput: logits or labels do not fit; only some targets of an item are -100. Items are
            numbered within the batch, those of the logits without what was left out.
        ValueError: arrays are missing, or there is no such way to decode.
    """
    gold, counted = check_labels(labels)
    heads = chosen(predictions, counted)
    decoded = decode_states(heads, *(gold[name] for name in LENGTHS), decode=decode)
    sides = {}
    for target in targets():
        unanswered = label_sizes().get(target, -1)
        answer = np.where(decoded.lawful, decoded.codes[target], np.int32(unanswered))
        sides[target] = gold[target].astype(np.int32), answer
    confidence = np.where(decoded.lawful, billionths(decoded.confidence), -1)
    side_by_side = Columns(
        labels={target: sides[target] for target in label_sizes()},
        onset=sides[targets()[1]],
        residual=sides[targets()[-1]],
        confidence=confidence,
    )
    return count_columns(side_by_side, int((~decoded.lawful).sum()))


class ComputeMetrics:
    """What transformers' Trainer takes as `compute_metrics`: both leaderboards as flat numbers.

    It takes gathered arrays, and with `batch_eval_metrics=True` batch after batch, whose counts it
    keeps until the last. An error leaves nothing behind; after an evaluation that was broken off
    elsewhere, call `reset`.

    Args:
        decode: see `decode_states`.

    Raises:
        ValueError: there is no such way to decode.

    Example:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> logits = tuple(np.eye(width)[:1] for width in (4, 3, 9, 5, 3))
        >>> labels = tuple(np.array([code]) for code in (0, 0, 0, 0, 0, 2, 2))
        >>> batch = SimpleNamespace(predictions=logits, label_ids=labels)
        >>> compute_metrics = ComputeMetrics(decode="lawful")
        >>> compute_metrics(batch, compute_result=False)
        {}
        >>> found = compute_metrics(batch)
        >>> found["complete_primary_accuracy"], found["n"], found["n_invalid"]
        (1.0, 2, 0)
    """

    def __init__(self, decode: str = "argmax") -> None:
        check_decode(decode)
        self.decode = decode
        self.reset()

    def reset(self) -> None:
        """Forget the batches that were kept."""
        self._counts = Counts.empty()

    def __call__(self, evaluation: Any, compute_result: bool = True) -> dict[str, float]:
        """Count a batch, or everything.

        Args:
            evaluation: an `EvalPrediction`: `predictions` are the logits of five heads as in
                `decode_states`, `label_ids` the arrays of `LABEL_NAMES` in that order.
            compute_result: whether this is the last batch.

        Returns:
            The metrics by name, without those that have no value, then `n`, the items scored, and
            `n_invalid`, those whose state breaks the rules; nothing before the last batch.

        Raises:
            InvalidInput: see `count`.
            ValueError: see `count`; there was no item that counts.
        """
        kept, self._counts = self._counts, Counts.empty()
        kept += count(evaluation.predictions, evaluation.label_ids, decode=self.decode)
        if not compute_result:
            self._counts = kept
            return {}
        scored = scores.score(kept)
        numbers = {name: v for name, v in scored.metrics().items() if v is not None}
        return {**numbers, "n": scored.n, "n_invalid": scored.n_invalid}


def write_predictions(path: str | os.PathLike[str], ids: Sequence[str], decoded: Decoded) -> None:
    """Write a submission: a prediction file with confidences.

    Args:
        path: the file, written whole or not at all; its folder is made.
        ids: n scenario identifiers.
        decoded: n states, all of them lawful.

    Raises:
        ValueError: a state breaks the rules, or the numbers of rows differ.
        OSError: the file cannot be written.
    """
    n = len(decoded.lawful)
    if len(ids) != n:
        raise ValueError(f"Expected argument `ids` to be {n} identifiers but got {len(ids)}")
    broken = np.flatnonzero(~decoded.lawful)
    if len(broken):
        listed = ", ".join(str(ids[item]) for item in broken[:5].tolist())
        raise ValueError(
            f"Expected argument `decoded` to hold lawful states but got {len(broken)} that break "
            f"the rules ({listed}); decode with decode='lawful'"
        )
    columns = decoded.to_columns()
    residual = targets()[-1]
    columns[residual] = [NONE if number is None else number for number in columns[residual]]
    columns["confidence"] = [f"{value:.9f}" for value in columns["confidence"]]
    names = [*header(PREDICTION), *optional_columns(PREDICTION)]
    cells = [ids, *(columns[name.removeprefix(PREDICTED)] for name in names[1:])]
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(zip(*cells, strict=True))
