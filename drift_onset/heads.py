"""What a training loop hands over → checked numpy arrays: logits of five heads, and labels.

Every head speaks in codes: a label is its position in schema order; onset and residual are
pointers, in which place 0 means none and place k the k-th step or constraint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_core.problems import InvalidInput, Problem
from drift_onset import schema
from drift_onset.counts import label_sizes
from drift_onset.reading.cells import Bools

MASKED = -100
LENGTHS = ("n_steps", "n_constraints")
LABEL_NAMES = (*schema.targets(), *LENGTHS)
# The pointers, and the length that bounds each.
BOUNDS = dict(zip([t for t in schema.targets() if t not in label_sizes()], LENGTHS, strict=True))

Array = npt.NDArray[Any]


def as_numpy(values: Any) -> Array:
    """Give an array or a tensor of any library as numpy."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":  # numpy has no such type
            values = values.float()
        values = values.numpy()
    return np.asarray(values)


def _named(source: Any, names: Sequence[str], what: str) -> dict[str, Array]:
    """Give arrays by name, from a mapping or in the order of the names."""
    if isinstance(source, Mapping):
        missing = [name for name in names if name not in source]
        if missing:
            raise ValueError(f"Expected `{what}` to hold {', '.join(names)}; {missing} are missing")
        return {name: as_numpy(source[name]) for name in names}
    if not isinstance(source, (tuple, list)) or len(source) != len(names):
        many = isinstance(source, (tuple, list))
        got = f"{len(source)} arrays" if many else f"one {type(source).__name__}"
        wanted = f"{len(names)} arrays in the order {', '.join(names)}"
        raise ValueError(f"Expected `{what}` to be a mapping or {wanted} but got {got}")
    return {name: as_numpy(values) for name, values in zip(names, source, strict=True)}


def chosen(logits: Any, counted: Bools) -> dict[str, Array]:
    """Give the logits of the items that count; what has another number of rows stays as it is."""
    heads = _named(logits, schema.targets(), "predictions")
    if counted.all():
        return heads
    return {t: v[counted] if v.shape[:1] == counted.shape else v for t, v in heads.items()}


class _Faults(list[Problem]):
    """Problems of arrays, one for each kind and array: with the first item, and how many."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file

    def add(self, code: str, name: str, message: str, item: int | None = None) -> None:
        self.append(Problem(code, self.file, item, None, name, None, message))

    def add_items(self, code: str, name: str, items: Any, message: str) -> None:
        found = np.flatnonzero(items)
        if len(found):
            others = f", and so in {len(found)} items" if len(found) > 1 else ""
            self.add(code, name, message + others, int(found[0]))

    def stop(self) -> None:
        if self:
            raise InvalidInput(self)


def places(length: Array, width: int) -> Bools:
    """Tell which of a pointer's places exist: none and one for each step or constraint.

    Args:
        length: n numbers of steps or constraints.
        width: number of places that the head has.

    Returns:
        n × width booleans.
    """
    exist: Bools = np.arange(width) <= length[:, None]
    return exist


def check_logits(logits: Any, lengths: Mapping[str, Array]) -> dict[str, Array]:
    """Check the logits of five heads.

    Args:
        logits: target → n × width numbers, or five such arrays in the order of the targets.
        lengths: `n_steps` and `n_constraints`, n whole numbers from 1 each.

    Returns:
        target → n × width numbers; what stands in places beyond a length was not looked at.

    Raises:
        InvalidInput: shapes or values do not fit.
        ValueError: there are not five arrays.
    """
    heads = _named(logits, schema.targets(), "predictions")
    faults = _Faults("<predictions>")
    n = lengths[LENGTHS[0]].size
    for name, length in lengths.items():
        if length.dtype.kind not in "iu" or length.shape != (n,) or (length < 1).any():
            faults.add("length_value", name, f"expected {n} whole numbers from 1")
    faults.stop()
    for target, values in heads.items():
        for message in _misshapen(target, values, n, lengths):
            faults.add("logits_shape", target, message)
    faults.stop()
    for target, values in heads.items():
        exist = _exist(target, values, lengths)
        readable = values < np.inf  # neither infinity nor NaN
        faults.add_items(
            "logits_value", target, (exist & ~readable).any(axis=1), "got NaN or infinity"
        )
        nothing = ~(exist & ~np.isneginf(values)).any(axis=1)
        faults.add_items("logits_value", target, nothing, "got no place but such with -infinity")
    faults.stop()
    return heads


def _exist(target: str, values: Array, lengths: Mapping[str, Array]) -> Bools:
    if target in BOUNDS:
        return places(lengths[BOUNDS[target]], values.shape[1])
    return np.ones(values.shape, np.bool_)


def _misshapen(target: str, values: Array, n: int, lengths: Mapping[str, Array]) -> Iterator[str]:
    if values.dtype.kind not in "fiu" or values.ndim != 2 or len(values) != n:
        yield f"got {values.dtype} of shape {values.shape}, expected {n} rows of numbers"
    elif target in BOUNDS:
        longest = int(lengths[BOUNDS[target]].max(initial=0))
        if values.shape[1] < 1 + longest:
            what = BOUNDS[target].removeprefix("n_")
            wanted = f"one for none and one for each of up to {longest} {what}"
            yield f"got {values.shape[1]} logits a row, expected {wanted}"
    elif values.shape[1] != label_sizes()[target]:
        wanted = f"one for each label, {label_sizes()[target]}"
        yield f"got {values.shape[1]} logits a row, expected {wanted}"


def check_labels(labels: Any) -> tuple[dict[str, Array], Bools]:
    """Check gold codes and lengths.

    Args:
        labels: name → n whole numbers for each of `LABEL_NAMES`, or these arrays in that order.
            An item whose five targets are all -100 is left out.

    Returns:
        The arrays of the items that count, and n booleans that tell which these are.

    Raises:
        InvalidInput: shapes or values do not fit, or gold breaks the state rules.
        ValueError: arrays are missing.
    """
    named = _named(labels, LABEL_NAMES, "label_ids")
    faults = _Faults("<references>")
    n = named[LABEL_NAMES[0]].size
    for name, values in named.items():
        if values.dtype.kind not in "iu" or values.shape != (n,):
            got = f"{values.dtype} of shape {values.shape}"
            faults.add("label_shape", name, f"got {got}, expected {n} whole numbers")
    faults.stop()
    masked = np.stack([named[target] == MASKED for target in schema.targets()])
    counted: Bools = ~np.logical_and.reduce(masked)
    partly = masked.any(axis=0) & counted
    for target, hidden in zip(schema.targets(), masked, strict=True):
        faults.add_items("label_masked", target, hidden & partly, "is -100 and others are not")
    for name in LENGTHS:
        none = (named[name] < 1) & counted
        faults.add_items("label_value", name, none, "is below 1; lengths must be known")
    for target in schema.targets():
        outside = _outside(target, named) & counted & (named[target] != MASKED)
        faults.add_items("label_value", target, outside, f"is no code of {target}")
    faults.stop()
    unlawful = np.zeros(n, np.bool_)
    unlawful[counted] = ~is_lawful({t: named[t][counted] for t in schema.targets()})
    faults.add_items("label_state", schema.targets()[0], unlawful, "breaks the state rules")
    faults.stop()
    return {name: values[counted] for name, values in named.items()}, counted


def _outside(target: str, named: Mapping[str, Array]) -> Bools:
    bounded = target in BOUNDS
    highest = named[BOUNDS[target]] if bounded else np.array(label_sizes()[target] - 1)
    outside: Bools = (named[target] < 0) | (named[target] > highest)
    return outside


def is_lawful(codes: Mapping[str, Array]) -> Bools:
    """Tell which states the rules of the schema allow.

    Args:
        codes: target → n codes; onset and residual 0 for blank.

    Returns:
        n booleans.
    """
    sizes = [label_sizes().get(target, 2) for target in schema.targets()]
    grid = np.zeros(sizes, np.bool_)
    grid[tuple(np.array(schema.lawful_states()).T)] = True
    at = [(c > 0).astype(np.int64) if t in BOUNDS else c for t, c in codes.items()]
    lawful: Bools = grid[tuple(at)]
    return lawful
