"""Scores of parts of the rows: by any column of the gold file, or by what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from drift_core.problems import InvalidInput, Problem
from drift_core.resampling import Interval
from drift_onset import schema, scores, uncertainty
from drift_onset.counts import Columns, Counts, count_columns
from drift_onset.limits import FEW_ROWS
from drift_onset.pairing import Pairs
from drift_onset.reading.cells import BLANK
from drift_onset.reading.records import CsvFile, as_path
from drift_onset.reading.tables import as_table
from drift_onset.scores import Scores

MAX_STRATA = 200
SHORT, LONG = 4, 8  # steps: up to 4 are short, from 8 on long


@dataclass(frozen=True)
class Stratum:
    """The rows that have one value in a column.

    Attributes:
        value: the value, as it stands in the column; `(blank)` for a blank cell.
        scores: of these rows.
        intervals: metric → 95 % interval.
    """

    value: str
    scores: Scores
    intervals: Mapping[str, Interval]

    @property
    def is_small(self) -> bool:
        """Whether there are too few rows to rank anything by."""
        return self.scores.n < FEW_ROWS

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {
            "value": self.value,
            "n": self.scores.n,
            "n_invalid": self.scores.n_invalid,
            "small": self.is_small,
            "scores": self.scores.metrics(),
            "intervals": {name: found.to_dict() for name, found in self.intervals.items()},
        }


def stratify(
    pairs: Pairs,
    side_by_side: Columns,
    gold: Any,
    by: Sequence[str],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, list[Stratum]]:
    """Score every part of the rows.

    Args:
        pairs: gold and predictions.
        side_by_side: the same, as columns.
        gold: where the gold came from, see `drift_onset.score`.
        by: columns of the gold, or `length_band` or `onset_third`.
        resamples: see `drift_onset.score`.
        seed: see `drift_onset.score`.

    Returns:
        Column → strata, in the order of the labels where the column has them, else of the texts.

    Raises:
        InvalidInput: there is no such column, or it has more than 200 values.
    """
    found: dict[str, list[Stratum]] = {}
    problems: list[Problem] = []
    for column in by:
        try:
            values, code = _values(column, pairs, gold)
        except InvalidInput as error:
            problems += error.problems
            continue
        found[column] = []
        for k, value in enumerate(values):
            rows = code == k
            invalid = int((pairs.answer[rows] < 0).sum())
            counted = count_columns(side_by_side.take(rows), invalid)
            found[column].append(_stratum(value, counted, resamples, seed))
    if problems:
        raise InvalidInput(problems)
    return found


def _stratum(value: str, counted: Counts, resamples: int, seed: int) -> Stratum:
    scored = scores.score(counted)
    intervals = uncertainty.intervals(counted, scored, resamples=resamples, seed=seed)
    return Stratum(value, scored, intervals)


def _values(column: str, pairs: Pairs, gold: Any) -> tuple[list[str], Any]:
    """Give the values that occur, in order, and for each row which one it has."""
    if column in DERIVED:
        names, code = DERIVED[column](pairs)
    else:
        texts = ["(blank)" if text in (None, "") else str(text) for text in _column(column, gold)]
        names = _ordered(column, set(texts))
        if len(names) > MAX_STRATA:
            message = f"has {len(names)} different values, expected at most {MAX_STRATA}"
            raise _refused(gold, column, message)
        if len(names) == len(texts) > 1:
            raise _refused(gold, column, "has another value in each row: there are no parts")
        place = {name: k for k, name in enumerate(names)}
        code = np.asarray([place[text] for text in texts])
    present = [k for k in range(len(names)) if (code == k).any()]
    return [names[k] for k in present], np.searchsorted(present, code)


def _ordered(column: str, texts: set[str]) -> list[str]:
    field = schema.fields(schema.LABELLED).get(column)
    if field and field.labels:
        return [label for label in field.labels if label in texts]

    def key(text: str) -> tuple[bool, float, str]:
        try:
            return False, float(text), text
        except ValueError:
            return True, 0.0, text

    return sorted(texts, key=key)


def _column(column: str, gold: Any) -> Iterable[Any]:
    path = as_path(gold)
    if path is None:
        table = as_table(gold)
        _known(column, table.column_names, gold)
        labels = schema.fields(schema.LABELLED)
        values = table[column].to_pylist()
        names = labels[column].labels if column in labels else ()
        ids = names and pa.types.is_integer(table.schema.field(column).type)
        return [names[v] for v in values] if ids else values
    file = CsvFile(Path(path), schema.header(schema.LABELLED))
    _known(column, file.header, gold)
    return (text for batch in file.batches() for text in batch.table[column].to_pylist())


def _known(column: str, names: Sequence[str], gold: Any) -> None:
    if column not in names:
        possible = ", ".join([*DERIVED, *names])
        raise _refused(gold, column, f"is no column to part the rows by; expected {possible}")


def _refused(gold: Any, column: str, message: str) -> InvalidInput:
    name = "<gold>" if as_path(gold) is None else str(gold)
    return InvalidInput([Problem("stratum", name, None, None, column, None, message)])


def _length_band(pairs: Pairs) -> tuple[list[str], Any]:
    steps = pairs.gold.steps
    names = [f"short, up to {SHORT}", f"medium, {SHORT + 1} to {LONG - 1}", f"long, from {LONG}"]
    code = np.where(steps <= SHORT, 0, np.where(steps < LONG, 1, 2))
    return [*names, "length not known"], np.where(steps > 0, code, 3)


def _onset_third(pairs: Pairs) -> tuple[list[str], Any]:
    """Part by relative onset: (0, 1/3], (1/3, 2/3], (2/3, 1]."""
    onset, steps = pairs.gold.codes[schema.targets()[1]], pairs.gold.steps
    third = np.minimum((3 * onset.astype(np.int64) - 1) // np.maximum(steps, 1), 2)
    code = np.where(onset == BLANK, 3, np.where(steps > 0, third, 4))
    return ["early", "middle", "late", "no onset", "length not known"], code


DERIVED = {"length_band": _length_band, "onset_third": _onset_third}
