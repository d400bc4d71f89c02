"""What predictors without any understanding reach: the rows that a model has to beat.

Three of them are predictions and are scored as such. Uniform guessing is random, so that its scores
are expected values: exact where they can be, else the mean of a seeded simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_core.problems import InvalidInput
from drift_core.resampling import Interval
from drift_onset import baseline, evaluation, schema
from drift_onset.counts import label_sizes
from drift_onset.reading.cells import BLANK
from drift_onset.reading.loading import Loaded, read_file
from drift_onset.reading.states import States
from drift_onset.report import Report
from drift_onset.scores import LEADERBOARD_A, LEADERBOARD_B, component_mean, macro_f1

Floats = npt.NDArray[np.float64]

EXACT, SIMULATED, SCORED = "exact expectation", "simulated expectation", "scored"
OFFICIAL = (*LEADERBOARD_A, *LEADERBOARD_B)
SIMULATIONS = 10_000
_EXACT_ROWS = 2000  # the exact way takes time that grows with the square of the rows


@dataclass(frozen=True)
class Reference:
    """One row to compare with.

    Attributes:
        name: what it is called on a leaderboard.
        text: what it does.
        method: `scored`, `exact expectation` or `simulated expectation`.
        n: scenarios.
        values: the six official metrics.
        intervals: metric → 95 % interval, of what was scored only.
    """

    name: str
    text: str
    method: str
    n: int
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return {
            "name": self.name,
            "text": self.text,
            "method": self.method,
            "n": self.n,
            "values": dict(self.values),
            "intervals": {name: found.to_dict() for name, found in self.intervals.items()},
        }


def references(
    gold: str | Path, train: str | Path | None = None, *, resamples: int = 1000, seed: int = 0
) -> list[Reference]:
    """Give every reference row for a labelled file.

    Args:
        gold: the labelled file that models are scored on.
        train: the labelled file whose label frequencies the rows may know; that of the benchmark
            if None.
        resamples: for the intervals of what is scored.
        seed: of the resampling, and of the simulation where there is one.

    Returns:
        Uniform guessing, the most frequent state, the onset prior and the heuristic.

    Raises:
        InvalidInput: a file has problems.

    Example:
        >>> rows = references(schema.resource("data") / "test.csv", resamples=0)
        >>> [row.name for row in rows]
        ['uniform random', 'majority state', 'onset prior', 'heuristic']
    """
    train = train or schema.resource("data") / "train.csv"
    asked, known = read_file(str(gold), schema.LABELLED), read_file(str(train), schema.LABELLED)
    problems = asked.problems() + known.problems()
    if problems:
        raise InvalidInput(problems)
    answers = {
        "majority state": majority(asked.states, known.states),
        "onset prior": onset_prior(asked.states, known.states),
        "heuristic": _heuristic(asked),
    }
    texts = {
        "majority state": "the most frequent state of the training split, for every scenario",
        "onset prior": "drift at the most frequent step of the training split, never no drift",
        "heuristic": "cue words without understanding, `reasoning-drift baseline`",
    }
    found = [uniform(asked.states, seed=seed)]
    for name, rows in answers.items():
        report = evaluation.score(str(gold), rows, resamples=resamples, seed=seed)
        found.append(_scored(name, texts[name], report))
    return found


def _scored(name: str, text: str, report: Report) -> Reference:
    values = {metric: getattr(report.scores, metric) for metric in OFFICIAL}
    intervals = {n: found for n, found in report.uncertainty.items() if n in values}
    return Reference(name, text, SCORED, report.scores.n, values, intervals)


def majority(gold: States, train: States) -> list[dict[str, Any]]:
    """Answer every scenario with the most frequent state; the first in schema order on a tie."""
    coded = np.stack([train.codes[target] for target in schema.targets()], axis=1)
    states, n = np.unique(coded, axis=0, return_counts=True)
    return _constant(gold, states[np.argmax(n)].tolist())


def onset_prior(gold: States, train: States) -> list[dict[str, Any]]:
    """Answer with the most frequent onset and the most frequent way to drift.

    The family is the most frequent one as well; outcome and repair are the most frequent pair, and
    the residual is the one seen most often with this pair, so that the state is lawful. A number
    beyond the scenario is its last step or constraint.
    """
    outcome, onset, family, repair, residual = (train.codes[name] for name in schema.targets())
    drifted = onset != BLANK
    if not drifted.any():
        return majority(gold, train)
    ways = np.stack([outcome, repair, residual != BLANK], axis=1)
    distinct, n = np.unique(ways[drifted], axis=0, return_counts=True)
    way = distinct[np.argmax(n)]
    alike = drifted & (ways == way).all(axis=1)
    modes = (_mode(onset[drifted]), _mode(family[drifted]), _mode(residual[alike]))
    return _constant(gold, [way[0], modes[0], modes[1], way[1], modes[2]])


def _mode(codes: Any) -> int:
    values, n = np.unique(codes, return_counts=True)
    return int(values[np.argmax(n)])


def _constant(gold: States, state: list[int]) -> list[dict[str, Any]]:
    outcome, onset, family, repair, residual = state
    labels = {
        target: schema.labels(target)[code]
        for target, code in zip(schema.label_targets(), (outcome, family, repair), strict=True)
    }
    rows = []
    bounds = zip(gold.ids.to_pylist(), gold.steps.tolist(), gold.constraints.tolist(), strict=True)
    for scenario, steps, constraints in bounds:
        numbers = (min(onset, steps) or None, min(residual, constraints) or None)
        values = dict(zip((schema.targets()[1], schema.targets()[-1]), numbers, strict=True))
        rows.append({"scenario_id": scenario, **labels, **values})
    return rows


def _heuristic(gold: Loaded) -> list[dict[str, Any]]:
    return [
        {"scenario_id": scenario, **baseline.predict(constraints, steps)}
        for scenario, constraints, steps in baseline.inputs(gold.name, schema.LABELLED)
    ]


@cache
def lawful_kinds() -> tuple[tuple[int, bool, int, int, bool], ...]:
    """Give the kinds of lawful state: outcome, has an onset, family, repair, has a residual."""
    names = schema.targets()
    labels = [schema.labels(target) for target in schema.label_targets()]
    outcomes, families, repairs = (range(len(options)) for options in labels)
    kinds = []
    for kind in product(outcomes, (False, True), families, repairs, (False, True)):
        outcome, onset, family, repair, residual = kind
        values = (
            labels[0][outcome],
            1 if onset else None,
            labels[1][family],
            labels[2][repair],
            1 if residual else None,
        )
        if not schema.broken_rules("state", dict(zip(names, values, strict=True))):
            kinds.append(kind)
    return tuple(kinds)


def uniform(gold: States, *, simulations: int = SIMULATIONS, seed: int = 0) -> Reference:
    """Give the expected scores of guessing each lawful state of a scenario equally often.

    Accuracies are sums of probabilities. F1 of a class is 2 t / (s + t + f): its support s is
    fixed, and t and f, the right and wrong guesses of the class, are independent sums of
    independent draws, so that the expectation is a finite sum. The mean over classes keeps it
    exact as long as every class has support; where one has none, whether it counts is random too,
    and the macro-F1 are simulated, as they are beyond 2000 scenarios.

    Args:
        gold: states of a labelled file, with steps and constraints.
        simulations: how often to draw where the expectation is not exact.
        seed: of these draws.
    """
    shapes, of_row = np.unique(
        np.stack([gold.steps, gold.constraints], axis=1), axis=0, return_inverse=True
    )
    of_row = of_row.reshape(-1)
    chances = [_chances(int(steps), int(constraints)) for steps, constraints in shapes]
    onset = gold.codes[schema.targets()[1]]
    right = sum(
        (chance.blank_onset if step == BLANK else chance.each_onset)
        for chance, step in zip((chances[k] for k in of_row), onset.tolist(), strict=True)
    )
    n = len(onset)
    counted = {target: gold.codes[target] for target in schema.label_targets()}
    exact = n <= _EXACT_ROWS and all(
        len(np.unique(codes)) == label_sizes()[target] for target, codes in counted.items()
    )
    f1 = []
    for target, codes in counted.items():
        p = np.stack([chance.labels[target] for chance in chances])
        if exact:
            f1.append(_expected_macro_f1(codes, p[of_row]))
        else:
            f1.append(_simulated_macro_f1(codes, of_row, p, simulations, seed))
    parts = [f1[0], right / n, *f1[1:]]
    complete = sum(1 / chances[k].states for k in of_row) / n
    values = (component_mean(parts), *parts, complete)
    method = EXACT if exact else f"{SIMULATED}, {simulations} draws, seed {seed}"
    text = "each lawful state of the scenario equally often"
    named = dict(zip(OFFICIAL, map(float, values), strict=True))
    return Reference("uniform random", text, method, n, named, {})


@dataclass(frozen=True)
class _Chances:
    """What uniform guessing does for scenarios of one shape.

    Attributes:
        states: number of lawful states.
        labels: label target → probability of each label.
        blank_onset, each_onset: probability of no onset, and of any one step.
    """

    states: int
    labels: Mapping[str, Floats]
    blank_onset: float
    each_onset: float


def _chances(steps: int, constraints: int) -> _Chances:
    labels = {target: np.zeros(size) for target, size in label_sizes().items()}
    total = blank = 0
    for outcome, onset, family, repair, residual in lawful_kinds():
        states = (steps if onset else 1) * (constraints if residual else 1)
        total += states
        blank += 0 if onset else states
        for target, code in zip(labels, (outcome, family, repair), strict=True):
            labels[target][code] += states
    shares = {target: states / total for target, states in labels.items()}
    return _Chances(total, shares, blank / total, (total - blank) / total / steps)


def _expected_macro_f1(codes: Any, p: Floats) -> float:
    """Give the exact expectation; p holds, for each row, the probability of each label."""
    found = []
    for label in range(p.shape[1]):
        own = codes == label
        right, wrong = _successes(p[own, label]), _successes(p[~own, label])
        t, f = np.arange(len(right))[:, None], np.arange(len(wrong))[None, :]
        found.append(float(right @ (2 * t / (own.sum() + t + f)) @ wrong))
    return sum(found) / len(found)


def _successes(p: Floats) -> Floats:
    """Give the distribution of the number of successes of independent trials."""
    distribution = np.ones(1)
    for share in p.tolist():
        distribution = np.convolve(distribution, (1 - share, share))
    return distribution


def _simulated_macro_f1(codes: Any, of_row: Any, p: Floats, simulations: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    size = p.shape[1]
    matrices = np.zeros((simulations, size, size + 1), np.int64)
    groups, n = np.unique(np.stack([codes, of_row], axis=1), axis=0, return_counts=True)
    for (label, shape), rows in zip(groups.tolist(), n.tolist(), strict=True):
        matrices[:, label, :size] += rng.multinomial(rows, p[shape], size=simulations)
    return float(macro_f1(matrices).mean())
