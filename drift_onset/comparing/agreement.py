"""How far raters of the same scenarios agree, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from drift_core import __version__, resampling
from drift_core.resampling import Interval
from drift_onset import schema
from drift_onset.comparing import kappas
from drift_onset.comparing.kappas import Measure
from drift_onset.comparing.ratings import MISSING, PRESENCE, SECONDARY, Ratings, read
from drift_onset.counts import Ints
from drift_onset.evaluation import check_options
from drift_onset.scores import Floats

EXPLORATORY = SECONDARY[-1:]
MAX_RATERS = 50


@dataclass(frozen=True)
class Agreed:
    """One measure of one field.

    Attributes:
        value: None where it is not defined.
        interval: over resampled scenarios.
    """

    value: float | None
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {"value": self.value, "interval": self.interval.to_dict()}


@dataclass(frozen=True)
class Agreement:
    """Everything one study of agreement gives.

    Attributes:
        raters: their names.
        n: scenarios that at least one rater has.
        n_by_all: scenarios that every rater has.
        fields: field → measure → how far all raters agree.
        pairs: field → pair of raters → Cohen's kappa, weighted for severity.
        disputed: one row for each scenario and field on which raters differ: scenario_id, field and
            ratings by rater, None where one says nothing.
        notes: what a reader has to know.
        signature: what made these numbers.
    """

    raters: tuple[str, ...]
    n: int
    n_by_all: int
    fields: Mapping[str, Mapping[str, Agreed]]
    pairs: Mapping[str, Mapping[tuple[str, str], Agreed]]
    disputed: Sequence[Mapping[str, Any]]
    notes: Sequence[str]
    signature: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Give the study with its keys in their fixed order; strict JSON can hold it."""
        return {
            "raters": list(self.raters),
            "n": self.n,
            "n_by_all": self.n_by_all,
            "fields": {
                field: {
                    "exploratory": field in EXPLORATORY,
                    "measures": {name: found.to_dict() for name, found in measures.items()},
                    "pairs": [
                        {"raters": list(pair), **found.to_dict()}
                        for pair, found in self.pairs.get(field, {}).items()
                    ],
                }
                for field, measures in self.fields.items()
            },
            "disputed": [dict(row) for row in self.disputed],
            "notes": list(self.notes),
            "signature": dict(self.signature),
        }


def agree(paths: Sequence[str], *, resamples: int = 1000, seed: int = 0) -> Agreement:
    """Measure how far raters agree.

    Args:
        paths: at least two labelled or prediction files, one a rater. A scenario that some rater
            does not have is missing there; Fleiss' kappa is over the scenarios that all have.
        resamples: bootstrap resamples of the scenarios for the intervals, at least 1.
        seed: of the resampling.

    Returns:
        Measures with intervals for drift presence, the five targets, severity and, as exploratory,
        the fine mechanism; the last two from labelled files alone.

    Raises:
        InvalidInput: see `ratings.read`.
        ValueError: an argument is out of its range.

    Example:
        >>> test = str(schema.resource("data") / "test.csv")
        >>> agree([test])
        Traceback (most recent call last):
        ...
        ValueError: Expected argument `paths` to be 2 to 50 files but got 1
    """
    check_options(resamples, seed)
    if not resamples:
        raise ValueError("Expected argument `resamples` to be at least 1 but got 0")
    if not 2 <= len(paths) <= MAX_RATERS:
        wanted = f"2 to {MAX_RATERS} files"
        raise ValueError(f"Expected argument `paths` to be {wanted} but got {len(paths)}")
    ratings = read(paths)
    fields: dict[str, dict[str, Agreed]] = {}
    pairs: dict[str, dict[tuple[str, str], Agreed]] = {}
    for field in _fields(ratings):
        fields[field], pairs[field] = _measure(ratings, field, resamples, seed)
    rated = ratings.codes[schema.targets()[0]] != MISSING
    return Agreement(
        raters=ratings.raters,
        n=len(ratings.ids),
        n_by_all=int(rated.all(axis=1).sum()),
        fields=fields,
        pairs={field: found for field, found in pairs.items() if found},
        disputed=_disputed(ratings),
        notes=_notes(ratings, fields),
        signature={
            "scorer": f"reasoning-drift {__version__}",
            "ratings_sha256": ratings.sha256,
            "n": len(ratings.ids),
            "raters": len(ratings.raters),
            "seed": seed,
            "options": {"resamples": resamples},
        },
    )


@cache
def _order() -> tuple[str, ...]:
    return (PRESENCE, *schema.targets(), *SECONDARY)


def _fields(ratings: Ratings) -> list[str]:
    """Give the fields that some scenario has from two raters."""
    known = {f: ((ratings.codes[f] != MISSING).sum(axis=1) >= 2).any() for f in _order()}
    return [field for field in _order() if known[field] or field not in SECONDARY]


def _measure(
    ratings: Ratings, field: str, resamples: int, seed: int
) -> tuple[dict[str, Agreed], dict[tuple[str, str], Agreed]]:
    """Give every measure of a field, and Cohen's kappa of each pair of raters."""
    codes = ratings.codes[field]
    rates = (codes != MISSING).any(axis=0)  # files of predictions lack the secondary fields
    raters = [name for name, does in zip(ratings.raters, rates.tolist(), strict=True) if does]
    rows, n = np.unique(codes[:, rates], axis=0, return_counts=True)
    size = len(ratings.names.get(field, ()))
    measures: dict[str, tuple[Measure, int]] = {}
    rated = (rows != MISSING).sum(axis=1)
    twice, by_all = int(n[rated >= 2].sum()), int(n[rated == rows.shape[1]].sum())
    measures["exact_agreement"] = (kappas.pairwise(rows, np.equal), twice)
    ordinal = field == SECONDARY[0]
    cohens: dict[tuple[str, str], tuple[Measure, int]] = {}
    if field == schema.targets()[1]:
        measures["within_one_agreement"] = (kappas.pairwise(rows, _within_one), twice)
    elif field != schema.targets()[-1]:
        if field not in EXPLORATORY:
            cohens = _cohens(raters, rows, n, size, ordinal)
            name = "weighted_kappa" if ordinal else "cohen_kappa"
            mean = kappas.mean_of([measure for measure, _ in cohens.values()])
            measures[name] = (mean, twice)
        if not ordinal:
            measures["fleiss_kappa"] = (kappas.fleiss(rows, size), by_all)
        measures["krippendorff_alpha"] = (kappas.alpha(rows, size, ordinal=ordinal), twice)
    found = _with_intervals({**measures, **cohens}, n, resamples, seed)
    return {k: found[k] for k in measures}, {k: found[k] for k in cohens}


def _within_one(a: Any, b: Any) -> Any:
    return (a == b) | ((a > 0) & (b > 0) & (np.abs(a - b) <= 1))


def _cohens(
    raters: Sequence[str], rows: Any, n: Ints, size: int, weighted: bool
) -> dict[tuple[str, str], tuple[Measure, int]]:
    found = {}
    for a, b in combinations(range(len(raters)), 2):
        both = (rows[:, a] != MISSING) & (rows[:, b] != MISSING)
        kappa = kappas.cohen(rows[:, a], rows[:, b], size, weighted=weighted)
        found[raters[a], raters[b]] = (kappa, int(n[both].sum()))
    return found


def _with_intervals(
    measures: Mapping[Any, tuple[Measure, int]], n: Ints, resamples: int, seed: int
) -> dict[Any, Agreed]:
    def work(size: int, rng: np.random.Generator) -> dict[Any, Floats]:
        drawn = resampling.draw(n, size, rng)
        return {key: measure(drawn) for key, (measure, _) in measures.items()}

    drawn = resampling.in_blocks(work, resamples, seed)
    found = {}
    for key, (measure, rows) in measures.items():
        value = float(measure(n[None, :])[0])
        interval = resampling.percentile(drawn[key], rows)
        found[key] = Agreed(value if np.isfinite(value) else None, interval)
    return found


def _disputed(ratings: Ratings) -> list[dict[str, Any]]:
    found = []
    for k, scenario in enumerate(ratings.ids):
        for field in _order()[1:]:
            codes = ratings.codes[field][k].tolist()
            if len({code for code in codes if code != MISSING}) > 1:
                texts = [ratings.text(field, code) for code in codes]
                said = dict(zip(ratings.raters, texts, strict=True))
                found.append({"scenario_id": scenario, "field": field, "ratings": said})
    return found


def _notes(ratings: Ratings, fields: Mapping[str, Mapping[str, Agreed]]) -> list[str]:
    notes = []
    rated = ratings.codes[schema.targets()[0]] != MISSING
    for k, rater in enumerate(ratings.raters):
        if missing := int((~rated[:, k]).sum()):
            notes.append(f"{rater} lacks {missing} of {len(ratings.ids)} scenarios")
    for a, b in combinations(range(len(ratings.raters)), 2):
        if all((c[:, a] == c[:, b]).all() for c in ratings.codes.values()):
            names = f"{ratings.raters[a]} and {ratings.raters[b]}"
            notes.append(f"{names} give the same answers throughout: are they two raters?")
    undefined = [
        f"{field} {name}"
        for field, measures in fields.items()
        for name, found in measures.items()
        if found.value is None
    ]
    if undefined:
        reason = "raters use one class only, or no scenario is rated by as many as it takes"
        notes.append(f"not defined, because {reason}: {', '.join(undefined)}")
    return notes
