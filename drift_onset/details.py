"""What pictures show of a scoring: confusion matrices, calibration by bin, offsets of the onset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from drift_onset import schema
from drift_onset.counts import Columns, Counts, Ints
from drift_onset.reading.cells import BILLION, BLANK
from drift_onset.scores import CALIBRATION_BINS, by_bin, confusion


@dataclass(frozen=True)
class Bin:
    """Rows whose confidence lies in one bin, (low, high]; 0 is in the first.

    Attributes:
        low, high: its ends.
        n: rows.
        confidence: their mean confidence; None without rows.
        accuracy: share of them with all five targets right; None without rows.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Details:
    """What pictures show.

    Attributes:
        confusions: label target → m × (m + 1) counts, gold by prediction in schema order; the last
            column holds unanswered rows.
        bins: ten bins of confidence; empty if no row has one.
        offsets: predicted less gold step → rows, without gaps, over rows where both are steps.
        blanks: rows of which gold, the prediction, or both have no onset, and unanswered ones.
    """

    confusions: Mapping[str, Ints]
    bins: Sequence[Bin]
    offsets: Mapping[int, int]
    blanks: Mapping[str, int]


def details(side_by_side: Columns, counts: Counts) -> Details:
    """Collect what pictures show.

    Args:
        side_by_side: n coded rows.
        counts: of the same rows.
    """
    gold, predicted = side_by_side.onset
    both = (gold > BLANK) & (predicted > BLANK)
    values, n = np.unique((predicted - gold)[both], return_counts=True)
    found = dict(zip(values.tolist(), n.tolist(), strict=True))
    offsets = {k: found.get(k, 0) for k in range(min(found), max(found) + 1)} if found else {}
    return Details(
        confusions={target: confusion(counts, target) for target in schema.label_targets()},
        bins=_bins(counts),
        offsets=offsets,
        blanks={
            "rightly none": int(((gold == BLANK) & (predicted == BLANK)).sum()),
            "missed drift": int(((gold > BLANK) & (predicted == BLANK)).sum()),
            "drift where none is": int(((gold == BLANK) & (predicted > BLANK)).sum()),
            "unanswered": int((predicted < BLANK).sum()),
        },
    )


def _bins(counts: Counts) -> list[Bin]:
    n, total = by_bin(counts.confidence_n), by_bin(counts.confidence_sum)
    if not n.sum():
        return []
    found = []
    for k in range(CALIBRATION_BINS):
        rows = int(n[k].sum())
        confidence = int(total[k].sum()) / (BILLION * rows) if rows else None
        accuracy = int(n[k, 1]) / rows if rows else None
        low, high = k / CALIBRATION_BINS, (k + 1) / CALIBRATION_BINS
        found.append(Bin(low, high, rows, confidence, accuracy))
    return found
