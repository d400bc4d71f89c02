"""Logits of five heads → states: the best place of each head, or the most probable lawful state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_onset import schema
from drift_onset.heads import BOUNDS, LENGTHS, as_numpy, check_logits, is_lawful, places
from drift_onset.reading.cells import Bools, Codes

Floats = npt.NDArray[np.float64]
Heads = dict[str, Floats]

_BLOCK = 1 << 12


@dataclass(frozen=True)
class Decoded:
    """States of n items.

    Attributes:
        codes: target → n int32 codes: labels as positions in schema order, onset and residual as
            numbers from 1, 0 for none.
        lawful: n booleans, whether the rules of the schema allow the state.
        confidence: n float64 in [0, 1], the probability that all five targets are right.
    """

    codes: dict[str, Codes]
    lawful: Bools
    confidence: Floats

    def to_columns(self) -> dict[str, list[Any]]:
        """Give the states as columns that metric and scorer take; see `state_columns`."""
        return {**state_columns(self.codes), "confidence": self.confidence.tolist()}


def state_columns(codes: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Give codes as columns that metric and scorer take: labels as texts, none as None.

    Args:
        codes: arrays or tensors by name, the five targets among them; the rest is left aside.

    Example:
        >>> codes = {"outcome_mode": [0], "first_drift_step": [0], "mechanism_family": [0],
        ...          "repair_outcome": [0], "residual_constraint_id": [0]}
        >>> state_columns(codes)["outcome_mode"], state_columns(codes)["first_drift_step"]
        (['no_drift'], [None])
    """
    columns: dict[str, list[Any]] = {}
    for target in schema.targets():
        listed = as_numpy(codes[target]).tolist()
        if target in BOUNDS:
            columns[target] = [number or None for number in listed]
        else:
            columns[target] = [schema.labels(target)[code] for code in listed]
    return columns


def _argmax(log_p: Heads) -> tuple[list[Any], Bools, Floats]:
    """Take the best place of each head; the confidence is the product of their probabilities."""
    codes = {target: values.argmax(axis=0) for target, values in log_p.items()}
    joint = _sum(values.max(axis=0) for values in log_p.values())
    return list(codes.values()), is_lawful(codes), np.exp(joint)


def _lawful(log_p: Heads) -> tuple[list[Any], Bools, Floats]:
    """Take the most probable lawful state; the confidence is its share of what is lawful.

    The rules see of a pointer only whether it is none, so that its best step stands for all steps
    in the search, and their sum in the share.
    """
    table = np.array(schema.lawful_states()).T
    best, mass = [], []
    for (target, values), row in zip(log_p.items(), table, strict=True):
        one = any_ = values
        if target in BOUNDS:
            one = np.stack([values[0], values[1:].max(axis=0)])
            any_ = np.stack([values[0], _log_sum_exp(values[1:])])
        best.append(one[row])
        mass.append(any_[row])
    joint = _sum(best)
    at = joint.argmax(axis=0)
    top = joint.max(axis=0)
    possible = top > -np.inf
    said = [values.argmax(axis=0) for values in log_p.values()]
    codes = []
    for (target, values), row, other in zip(log_p.items(), table, said, strict=True):
        code = row[at]
        if target in BOUNDS:
            code = code * (1 + values[1:].argmax(axis=0))
        codes.append(np.where(possible, code, other))
    whole = _log_sum_exp(_sum(mass))
    return codes, possible, np.exp(top - np.where(possible, whole, 0.0))


_DECODERS: dict[str, Callable[[Heads], tuple[list[Any], Bools, Floats]]] = {
    "argmax": _argmax,
    "lawful": _lawful,
}
DECODES = tuple(_DECODERS)


def check_decode(decode: str) -> None:
    """Raise a ValueError unless there is such a way to decode."""
    if decode not in DECODES:
        wanted = " or ".join(map(repr, DECODES))
        raise ValueError(f"Expected argument `decode` to be {wanted} but got {decode!r}")


def decode_states(
    logits: Any, n_steps: Any, n_constraints: Any, *, decode: str = "argmax"
) -> Decoded:
    """Turn the logits of five heads into states.

    Args:
        logits: target → n × width numbers (arrays or tensors), or five of them in the order of the
            targets. A label head has one place for each label in schema order; a pointer has place
            0 for none and place k for step or constraint k. -infinity rules a place out. Whatever
            stands in places beyond the lengths is not read.
        n_steps: n numbers of steps, from 1.
        n_constraints: n numbers of constraints, from 1.
        decode: `argmax` takes the best place of each head, which may break the state rules;
            `lawful` takes the most probable of the lawful states.

    Returns:
        States. With `argmax` the confidence is the joint probability, the product over the heads;
        with `lawful` that of the state divided by that of all lawful states. Where every lawful
        state has probability 0, the codes are those of `argmax` and the confidence is 0.

    Raises:
        InvalidInput: a width does not fit, or a logit is NaN or +infinity.
        ValueError: there is no such way to decode, or there are not five heads.

    Example:
        >>> import numpy as np
        >>> sure = {"outcome_mode": [[9, 0, 0, 0.0]], "first_drift_step": [[0, 5.0]],
        ...         "mechanism_family": np.eye(9)[:1], "repair_outcome": np.eye(5)[:1],
        ...         "residual_constraint_id": [[2, 0.0]]}
        >>> decode_states(sure, [1], [1]).lawful.tolist()
        [False]
        >>> decode_states(sure, [1], [1], decode="lawful").to_columns()["first_drift_step"]
        [None]
    """
    check_decode(decode)
    lengths = dict(zip(LENGTHS, map(as_numpy, (n_steps, n_constraints)), strict=True))
    heads = check_logits(logits, lengths)
    n = lengths[LENGTHS[0]].size
    codes = {target: np.empty(n, np.int32) for target in heads}
    lawful, confidence = np.empty(n, np.bool_), np.empty(n)
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        log_p = {target: _log_probabilities(target, heads, lengths, rows) for target in heads}
        found, lawful[rows], confidence[rows] = _DECODERS[decode](log_p)
        for target, values in zip(codes, found, strict=True):
            codes[target][rows] = values
    return Decoded(codes, lawful, confidence)


def _log_probabilities(
    target: str, heads: Mapping[str, Any], lengths: Mapping[str, Any], rows: slice
) -> Floats:
    """Give the log probabilities of a block, place by item, -infinity where there is no place."""
    values = heads[target][rows].astype(np.float64)
    if target in BOUNDS:
        values[~places(lengths[BOUNDS[target]][rows], values.shape[1])] = -np.inf
    across = np.ascontiguousarray(values.T)
    return across - _log_sum_exp(across)


def _sum(parts: Iterable[Floats]) -> Floats:
    """Add one by one: numpy's own order would depend on how wide the padding is."""
    return reduce(np.add, parts)


def _log_sum_exp(values: Floats) -> Floats:
    """Give log(sum(exp)) over the first axis; -infinity where there is nothing but that."""
    top = values.max(axis=0)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found: Floats = top + np.log(_sum(np.exp(values - top)))
    return found
