"""A study of agreement, laid out as sheets. Nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_onset.limits import FEW_ROWS
from drift_onset.views.sheets import FAINT, GROUP, MISSING, Row, Sheet, number, span

CLOSING = (
    "Intervals: bootstrap over scenarios. Fleiss' kappa is over the scenarios that every rater "
    "has, Cohen's the mean over pairs of raters; Krippendorff's alpha uses all ratings there are. "
    "Weights and distances of severity follow its order. Exploratory measures are no ground for "
    "conclusions."
)


def sheets(agreement: Mapping[str, Any], most_disputes: int) -> list[Sheet]:
    """Lay out the measures, the pairs of raters where there are several, and the disputes.

    Args:
        agreement: its JSON form.
        most_disputes: how many rows of disputes to show.
    """
    several = len(agreement["raters"]) > 2
    pairs = [_pairs(agreement)] if several else []
    return [_measures(agreement), *pairs, _disputed(agreement, most_disputes)]


def closing(agreement: Mapping[str, Any]) -> list[str]:
    """Give what a reader has to know of all the tables."""
    few = [f"n = {agreement['n']}: read the intervals."] if agreement["n"] < FEW_ROWS else []
    return [CLOSING, *agreement["notes"], *few]


def count_line(agreement: Mapping[str, Any]) -> str:
    """Say who rated how much."""
    raters = agreement["raters"]
    by_all = agreement["n_by_all"]
    return f"{len(raters)} raters, {agreement['n']} scenarios, {by_all} of them rated by all"


def _measures(agreement: Mapping[str, Any]) -> Sheet:
    rows = []
    for field, found in agreement["fields"].items():
        title = f"{field}, exploratory" if found["exploratory"] else field
        rows.append(Row((title,), GROUP))
        for name, measure in found["measures"].items():
            cells = (
                name,
                number(measure["value"]),
                span(measure["interval"], measure["value"], _scale(name)),
                str(measure["interval"]["n"]),
            )
            rows.append(Row(cells, FAINT if found["exploratory"] else ""))
    return Sheet("Agreement", ("measure", "value", "95 % interval", "scenarios"), tuple(rows))


def _scale(measure: str) -> tuple[float, float]:
    """Give the axis of a measure: shares start at 0, what is corrected for chance at -1."""
    return (0.0, 1.0) if measure.endswith("_agreement") else (-1.0, 1.0)


def _pairs(agreement: Mapping[str, Any]) -> Sheet:
    rows = []
    for field, found in agreement["fields"].items():
        if not found["pairs"]:
            continue
        weighted = ", weighted" if "weighted_kappa" in found["measures"] else ""
        rows.append(Row((field + weighted,), GROUP))
        for pair in found["pairs"]:
            interval = pair["interval"]
            cells = (
                " · ".join(pair["raters"]),
                number(pair["value"]),
                span(interval, pair["value"], _scale("kappa")),
                str(interval["n"]),
            )
            rows.append(Row(cells))
    header = ("raters", "Cohen's kappa", "95 % interval", "scenarios")
    return Sheet("Pair by pair", header, tuple(rows))


def _disputed(agreement: Mapping[str, Any], most: int) -> Sheet:
    rows, last = [], None
    for dispute in agreement["disputed"][:most]:
        if dispute["scenario_id"] != last:
            last = dispute["scenario_id"]
            rows.append(Row((last,), GROUP))
        said = dispute["ratings"].values()
        rows.append(Row((dispute["field"], *(MISSING if s is None else s for s in said))))
    more = len(agreement["disputed"]) - most
    notes = (f"{more} more disputes are in the JSON (--output).",) if more > 0 else ()
    header = ("in dispute", *agreement["raters"])
    return Sheet("Scenarios in dispute", header, tuple(rows), notes, left=len(header))
