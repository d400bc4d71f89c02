"""Files or items → measures → counts → results: the way through the package."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem
from drift_core.strict_json import dumps
from traj_eval import masks, rows
from traj_eval.aggregate import aggregates
from traj_eval.chunks import Chunk, of_items
from traj_eval.columns import BLOCK, Builder, Columns
from traj_eval.duplicates import Identifiers
from traj_eval.measures import WEIGHTS, Measures, measure
from traj_eval.results import Results
from traj_eval.tally import Key, Tally, sort_key

GROUP_FIELDS = ("model", "task", "condition")
MAY_GROUP = (*GROUP_FIELDS, "source")
_TALLIED = 1 << 16


@dataclass(frozen=True)
class Options:
    """What changes the numbers.

    Attributes:
        group_by: fields whose values make a group.
        weights: of early factor, post-change rate and length growth in the additive score.
        edits: whether a written answer that is changed again is not committed.
        resamples: bootstrap resamples for the intervals; 0 for none.
        seed: of the resampling.

    Raises:
        ValueError: a field that does not group, weights that are not three finite numbers or
            are negative, or negative resamples or seed.
    """

    group_by: tuple[str, ...] = GROUP_FIELDS
    weights: tuple[float, float, float] = WEIGHTS
    edits: bool = False
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        unknown = [name for name in self.group_by if name not in MAY_GROUP]
        if unknown or len(set(self.group_by)) < len(self.group_by):
            expected = ", ".join(MAY_GROUP)
            raise ValueError(
                f"Expected argument `group_by` to be some of {expected} but got {self.group_by}"
            )
        sound = all(0 <= weight < float("inf") for weight in self.weights)
        if len(self.weights) != len(WEIGHTS) or not sound:
            raise ValueError(
                "Expected argument `weights` to be three finite numbers, none below 0, but got "
                f"{self.weights}"
            )
        for name in ("resamples", "seed"):
            if getattr(self, name) < 0:
                raise ValueError(
                    f"Expected argument `{name}` to be at least 0 but got {getattr(self, name)}"
                )


class Evaluator:
    """Takes chunks, keeps counts; the rows of a batch are handed on and forgotten.

    Args:
        options: what to compute.
        on_rows: called with every batch; nothing if None.
    """

    def __init__(
        self, options: Options, on_rows: Callable[[Columns, Measures], None] | None = None
    ) -> None:
        self._options = options
        self._on_rows = on_rows
        self._builder = Builder()
        self._measures: list[Measures] = []
        self._keys: list[Key] = []
        self._sources: list[str | None] = []
        self._tally = Tally({})

    def add(self, chunk: Chunk) -> None:
        """Add the valid trajectories of a chunk."""
        if chunk.layout is not None:
            self._builder.add(chunk.layout)
        if self._builder.n_steps >= BLOCK:
            self._measure()

    def tally(self) -> Tally:
        """Give the counts of all that was added."""
        self._measure()
        self._count()
        return self._tally

    def _measure(self) -> None:
        if not self._builder.n_steps:
            return
        columns, options = self._builder.take(), self._options
        found = measure(columns, weights=options.weights, edits=options.edits)
        if self._on_rows is not None:
            self._on_rows(columns, found)
        self._measures.append(found)
        named = [columns.named[name] for name in options.group_by]
        self._keys += list(zip(*named, strict=True)) if named else [()] * columns.n
        self._sources += columns.named["source"]
        if len(self._keys) >= _TALLIED:
            self._count()

    def _count(self) -> None:
        self._tally += Tally.of(self._measures, self._keys, self._sources)
        self._measures, self._keys, self._sources = [], [], []


def results(
    tally: Tally,
    options: Options,
    sha256: str,
    found: Sequence[Mapping[str, Any]] = (),
    notes: Iterable[str | None] = (),
) -> Results:
    """Make results of counts.

    Args:
        tally: counts of at least one trajectory.
        options: that they were made with.
        sha256: of the input.
        found: the rows.
        notes: what is odd about the input; the first that is not None is kept.
    """
    keys = sorted(tally.groups, key=sort_key)
    total = tally.total
    if total is None:
        raise ValueError("Expected at least one trajectory but got none")
    whole, *parts = aggregates(
        [total, *(tally.groups[key] for key in keys)],
        resamples=options.resamples,
        seed=options.seed,
    )
    named = [dict(zip(options.group_by, key, strict=True)) for key in keys]
    kept = asdict(options)
    return Results(
        aggregate=whole.to_dict(),
        groups=[{**name, **part.to_dict()} for name, part in zip(named, parts, strict=True)],
        trajectories=found,
        signature={
            "scorer": f"traj-eval {__version__}",
            "input_sha256": sha256,
            "n": total.n,
            "seed": kept.pop("seed"),
            "options": {name: list(v) if type(v) is tuple else v for name, v in kept.items()},
            "notes": [*islice(filter(None, notes), 1), *_mixed(tally, options)],
        },
    )


def _mixed(tally: Tally, options: Options) -> Iterator[str]:
    """Say how many groups average over what should not be compared."""
    mixed = sum(group.sources >= {"canvas", "x0"} for group in tally.groups.values())
    if mixed:
        fields = ",".join([*options.group_by, "source"])
        yield (
            f"{mixed} of {len(tally.groups)} groups mix the sources canvas and x0, whose verdicts "
            f"should not be compared: --group-by {fields}"
        )


def evaluate_items(trajectories: Iterable[Any], options: Options) -> Results:
    """Evaluate trajectories in memory; see `traj_eval.metrics.evaluate_trajectories`."""
    name = "<trajectories>"
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    evaluator = Evaluator(options, lambda c, m: found.extend(rows.rows(c, m)))
    seen, digest = Identifiers(), hashlib.sha256()
    note: str | None = None
    for chunk in of_items(trajectories, name):
        if not seen and chunk.layout is not None:
            note = masks.note(chunk.layout)
        seen.add(chunk)
        problems += chunk.problems
        if not problems:
            evaluator.add(chunk)
            for one in chunk.trajectories:
                digest.update(dumps(one).encode() + b"\n")
    problems += seen.problems(name)
    if problems:
        raise InvalidInput(problems)
    return results(evaluator.tally(), options, digest.hexdigest(), found, [note])
