"""Gold and predictions side by side: the checks that need both, and which row answers which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from drift_core.problems import escaped
from drift_onset import schema
from drift_onset.reading.cells import Codes, mask, numbers
from drift_onset.reading.findings import Finding
from drift_onset.reading.states import States
from drift_onset.schema import PREDICTED


@dataclass(frozen=True)
class Pairs:
    """Which prediction answers which gold row.

    Attributes:
        gold: n gold states, in file order.
        predictions: the states of all prediction rows.
        answer: for each gold row the position of its prediction, -1 if it has none that counts.
    """

    gold: States
    predictions: States
    answer: npt.NDArray[np.int64]

    @property
    def n_invalid(self) -> int:
        """Number of gold rows without a prediction that counts."""
        return int((self.answer < 0).sum())


def duplicates(states: States) -> tuple[npt.NDArray[np.bool_], list[Finding]]:
    """Find identifiers that stand in more than one row.

    Returns:
        A mask of every row whose identifier is repeated, first ones included, and a finding for
        each repetition.
    """
    if states.are_ascending():
        return np.zeros(len(states), np.bool_), []
    first = numbers(pc.index_in(states.ids, value_set=states.ids))
    repeated = first != np.arange(len(first))
    repeated &= states.named
    every = repeated.copy()
    every[first[repeated]] = True
    findings = []
    for row in np.flatnonzero(repeated).tolist():
        scenario = states.ids[row].as_py()
        message = f"{escaped(scenario)} stands in an earlier row too; expected one row a scenario"
        findings.append(
            Finding(
                int(states.records[row]),
                scenario,
                "duplicate_id",
                "scenario_id",
                escaped(scenario),
                message,
            )
        )
    return every, findings


def pair(gold: States, predictions: States) -> tuple[Pairs, list[Finding]]:
    """Match predictions to gold by identifier and hold them to the bounds of their scenario.

    Args:
        gold: states with unique identifiers; `steps` and `constraints` bound the predictions.
        predictions: states in any order.

    Returns:
        The pairs, in which a prediction with any problem answers nothing, and the findings
        about the predictions. Rows without a proper identifier are left aside.
    """
    repeated, findings = duplicates(predictions)
    if gold.ids.equals(predictions.ids) and not findings:  # the usual case, and half the time
        of_gold = np.arange(len(gold))
        absent = np.zeros(len(gold), np.bool_)
    else:
        of_gold = numbers(pc.index_in(predictions.ids, value_set=gold.ids), -1)
        absent = mask(pc.is_null(pc.index_in(gold.ids, value_set=predictions.ids)))
    unknown = of_gold < 0
    for row in np.flatnonzero(unknown & predictions.named).tolist():
        scenario = predictions.ids[row].as_py()
        message = f"{escaped(scenario)} is no scenario of the gold file"
        findings.append(_finding(predictions, row, "unknown_scenario", "scenario_id", message))
    for row in np.flatnonzero(absent & gold.named).tolist():
        scenario = gold.ids[row].as_py()
        message = "has no prediction; expected one row for every gold scenario"
        findings.append(Finding(None, scenario, "missing_prediction", None, None, message))
    outside, bound_findings = _bounds(gold, predictions, of_gold)
    findings += bound_findings
    counted = predictions.valid & ~repeated & ~unknown & ~outside
    answer = np.full(len(gold), -1, np.int64)
    answer[of_gold[counted]] = np.flatnonzero(counted)
    return Pairs(gold, predictions, answer), findings


def unpaired(gold: States, predictions: States) -> Pairs:
    """Pair nothing, as where one of the sides could not be read."""
    return Pairs(gold, predictions, np.full(len(gold), -1, np.int64))


def by_position(gold: States, predictions: States) -> tuple[Pairs, list[Finding]]:
    """Match row by row, for data in memory without identifiers; both of one length."""
    rows = np.arange(len(gold))
    outside, findings = _bounds(gold, predictions, rows)
    answer = np.where(predictions.valid & ~outside, rows, -1)
    return Pairs(gold, predictions, answer), findings


def _finding(states: States, row: int, code: str, column: str, message: str) -> Finding:
    scenario = states.ids[row].as_py()
    value = scenario if column == "scenario_id" else str(states.codes[_target(column)][row])
    return Finding(int(states.records[row]), scenario, code, column, escaped(value), message)


def _target(column: str) -> str:
    return column.removeprefix(PREDICTED)


def _bounds(
    gold: States, predictions: States, of_gold: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], list[Finding]]:
    outside = np.zeros(len(predictions), np.bool_)
    findings: list[Finding] = []
    if not len(gold):
        return outside, findings
    onset, residual = schema.targets()[1], schema.targets()[-1]
    for target, lengths, code, what in (
        (onset, gold.steps, "onset_bounds", "a step"),
        (residual, gold.constraints, "residual_bounds", "a constraint"),
    ):
        bound = np.where(of_gold >= 0, lengths[of_gold], 0)
        predicted = predictions.codes[target]
        beyond = (bound > 0) & (predicted > bound)
        outside |= beyond
        for row in np.flatnonzero(beyond).tolist():
            got = escaped(str(predicted[row]))
            message = f"got {got}, expected blank or {what} from 1 to {bound[row]}"
            findings.append(_finding(predictions, row, code, PREDICTED + target, message))
    return outside, findings


def coded(pairs: Pairs, target: str, unanswered: int) -> tuple[Codes, Codes]:
    """Give gold and predicted codes of a target in gold order, unanswered rows with this code."""
    answer = pairs.answer
    predicted = pairs.predictions.codes[target]
    padded = np.append(predicted, np.int32(unanswered))
    return pairs.gold.codes[target], padded[answer]
