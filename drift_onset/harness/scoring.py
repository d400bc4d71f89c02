"""Answers of many scenarios → the benchmark's own scores, for whichever harness ran the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any

from drift_core.problems import Problem
from drift_onset.answers import NAME, Answer
from drift_onset.evaluation import report_pairs, rows_to_pairs
from drift_onset.prompt import CONFIDENCE
from drift_onset.schema import PREDICTED, targets
from drift_onset.scores import DIAGNOSTICS, LEADERBOARD_A, LEADERBOARD_B

UNANSWERED = "n_unanswered"
N = "n"
# What needs no residual, and so can be scored where the constraints were hidden.
HIDDEN_METRICS = (*LEADERBOARD_A, *DIAGNOSTICS[:2])


def vote(answers: Sequence[Answer]) -> Answer:
    """Give the answer that most of several samples of one scenario agree on.

    Whole states are voted on, all five targets together: fields voted apart could combine to
    a state that no sample gave, or that is unlawful. Unreadable samples have no vote. Of states
    with equally many votes the one that was given first wins.

    Args:
        answers: at least one, of one scenario, in the order of the samples.

    Returns:
        The state with most votes; its confidence is the mean of those that voted for it and gave
        one. Unreadable if all are.
    """
    ballots: dict[tuple[Any, ...], list[Answer]] = {}
    for answer in answers:
        if answer.row is not None:
            state = tuple(answer.row[PREDICTED + target] for target in targets())
            ballots.setdefault(state, []).append(answer)
    if not ballots:
        return answers[0]
    winners = max(ballots.values(), key=len)
    if len(winners) == 1:
        return winners[0]
    given = [w.row[CONFIDENCE] for w in winners if w.row and w.row[CONFIDENCE] is not None]
    mean = round(fsum(given) / len(given), 9) if given else None
    return Answer(winners[0].scenario_id, {**winners[0].as_row(), CONFIDENCE: mean})


def voted(answers: Iterable[Answer]) -> list[Answer]:
    """Give one answer for each scenario, in the order in which the scenarios first come."""
    by_scenario: dict[str, list[Answer]] = {}
    for answer in answers:
        by_scenario.setdefault(answer.scenario_id, []).append(answer)
    return [vote(given) for given in by_scenario.values()]


def metrics(
    references: Sequence[Mapping[str, Any]],
    answers: Sequence[Answer],
    hide_constraints: bool = False,
) -> dict[str, float | None]:
    """Score answers on both leaderboards, unreadable ones as wrong.

    Args:
        references: one gold row for each scenario.
        answers: one answer for each of them, in any order.
        hide_constraints: whether the constraints were hidden. What needs the residual is left out
            then: complete-primary accuracy, residual accuracy, and the calibration against it.

    Returns:
        Metric → value as in a report, then `n` and `n_unanswered`.

    Raises:
        InvalidInput: the references have problems, such as one scenario twice.
    """
    rows = [answer.as_row() for answer in answers]
    pairs = rows_to_pairs(references, rows, "incorrect")
    scores = report_pairs(pairs, on_invalid="incorrect", resamples=0, with_table=False).scores
    named = scores.metrics()
    wanted = HIDDEN_METRICS if hide_constraints else (*LEADERBOARD_A, *LEADERBOARD_B, *DIAGNOSTICS)
    found = {name: named[name] for name in wanted if name in named}
    return {**found, N: scores.n, UNANSWERED: scores.n_invalid}


def correct(reference: Mapping[str, Any], answer: Answer) -> dict[str, bool]:
    """Tell which targets of one answer are right; none of an unreadable one is."""
    row = answer.row
    return {t: row is not None and row[PREDICTED + t] == reference[t] for t in targets()}


def packed(answer: Answer) -> dict[str, Any]:
    """Give an answer as plain values that a log can hold."""
    row = None if answer.row is None else dict(answer.row)
    return {"scenario_id": answer.scenario_id, "row": row, "why": answer.why()}


def unpacked(found: Mapping[str, Any]) -> Answer:
    """Give the answer that `packed` packed; why it is unreadable comes as one problem."""
    scenario, why = found["scenario_id"], found["why"]
    fault = Problem("unreadable_answer", NAME, None, scenario, None, None, why)
    return Answer(scenario, found["row"], (fault,) if why else ())
