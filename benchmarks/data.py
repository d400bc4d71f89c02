"""Benchmark data: lawful states, and a gold and a prediction file in which no text repeats.

Everything follows from a seed. Labels come from schema.json, so that the data stay lawful when it
changes. Texts are joined from phrases whole columns at a time; each one carries the number of its
row and its place in the row, which keeps it unique.

Run `python benchmarks/data.py FOLDER --rows 1000000` to keep the files.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from drift_onset import schema

Codes = npt.NDArray[np.int32]
Texts = pa.StringArray

GOLD, PREDICTIONS = "gold.csv", "pred.csv"
SEED = 7
_BATCH_ROWS = 50_000
_STEPS, _CONSTRAINTS = (3, 8), (3, 4)
_RIGHT_SHARE = 0.5
_PHRASE_WORDS, _PHRASES = 4, 20_000
_NO_DRIFT, _LATENT, _RECOVERED, _VISIBLE = schema.labels("outcome_mode")


@dataclass(frozen=True)
class States:
    """The five targets of n rows as int32 codes.

    Attributes:
        labels: label target → positions in schema order.
        onset, residual: numbers from 1, 0 for blank.
    """

    labels: dict[str, Codes]
    onset: Codes
    residual: Codes


@dataclass(frozen=True)
class Sample:
    """n scenarios: lengths, gold and predicted states, and confidences with four decimals."""

    steps: Codes
    constraints: Codes
    gold: States
    predicted: States
    confidence: npt.NDArray[np.float64]


def _repairs(outcome: Codes, rng: np.random.Generator) -> Codes:
    """Draw one of the repair outcomes that each outcome allows."""
    names = schema.labels("repair_outcome")
    allowed = {
        _NO_DRIFT: ("not_applicable", "not_applicable"),
        _LATENT: ("failed_repair", "unrepaired"),
        _RECOVERED: ("full_repair", "partial_repair"),
        _VISIBLE: ("failed_repair", "unrepaired"),
    }
    choices = [[names.index(name) for name in allowed[o]] for o in schema.labels("outcome_mode")]
    return np.asarray(choices, np.int32)[outcome, rng.integers(0, 2, len(outcome))]


def _states(steps: Codes, constraints: Codes, rng: np.random.Generator) -> States:
    """Draw lawful states within the bounds of their scenarios."""
    n = len(steps)
    outcome = rng.integers(0, len(schema.labels("outcome_mode")), n, np.int32)
    drift = outcome != schema.labels("outcome_mode").index(_NO_DRIFT)
    family = rng.integers(1, len(schema.labels("mechanism_family")), n, np.int32)
    repair = _repairs(outcome, rng)
    left = drift & (repair != schema.labels("repair_outcome").index("full_repair"))
    return States(
        labels={
            "outcome_mode": outcome,
            "mechanism_family": np.where(drift, family, np.int32(0)),
            "repair_outcome": repair,
        },
        onset=np.where(drift, rng.integers(1, steps + 1, dtype=np.int32), np.int32(0)),
        residual=np.where(left, rng.integers(1, constraints + 1, dtype=np.int32), np.int32(0)),
    )


def _mixed(mask: npt.NDArray[np.bool_], one: States, other: States) -> States:
    return States(
        {name: np.where(mask, one.labels[name], other.labels[name]) for name in one.labels},
        np.where(mask, one.onset, other.onset),
        np.where(mask, one.residual, other.residual),
    )


def sample(rows: int, rng: np.random.Generator) -> Sample:
    """Draw gold and predictions; half of the predictions are right in everything."""
    steps = rng.integers(_STEPS[0], _STEPS[1] + 1, rows, np.int32)
    constraints = rng.integers(_CONSTRAINTS[0], _CONSTRAINTS[1] + 1, rows, np.int32)
    gold = _states(steps, constraints, rng)
    guess = _states(steps, constraints, rng)
    predicted = _mixed(rng.random(rows) < _RIGHT_SHARE, gold, guess)
    return Sample(steps, constraints, gold, predicted, rng.integers(0, 10_001, rows) / 10_000)


def phrases(rng: np.random.Generator) -> Texts:
    """Make phrases of made-up words, some thousands."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(5_000)]
    drawn = rng.choice(np.array(words), (_PHRASES, _PHRASE_WORDS))
    return pa.array([" ".join(phrase) for phrase in drawn.tolist()], pa.string())


def _glued(*parts: Texts | str) -> Texts:
    return pc.binary_join_element_wise(*parts, "")


def _numbers(values: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> Texts:
    return pa.array(values).cast(pa.string())


def _blank_or(values: Codes) -> Texts:
    return pc.if_else(pa.array(values > 0), _numbers(values), "")


def _sentences(
    start: str, row: npt.NDArray[np.int64], n_phrases: int, pool: Texts, rng: np.random.Generator
) -> Texts:
    drawn = [pool.take(pa.array(rng.integers(0, len(pool), len(row)))) for _ in range(n_phrases)]
    return pc.binary_join_element_wise(start, _numbers(row), *drawn, " ")


def _lists(items: Texts, lengths: Codes) -> Texts:
    """Join items row by row to a JSON list, quoted as a CSV cell."""
    ends = np.append(0, np.cumsum(lengths, dtype=np.int32)).astype(np.int32)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), items), ", ")
    return _glued('"[', joined, ']"')


def _label(name: str, codes: Codes) -> Texts:
    return pa.array(schema.labels(name), pa.string()).take(pa.array(codes))


def _places(lengths: Codes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Give, for the items of lists laid end to end, the list and the number within it."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    return row, np.arange(len(row)) - first[row] + 1


def _json_cells(
    drawn: Sample, first_row: int, pool: Texts, rng: np.random.Generator
) -> tuple[Texts, Texts, Texts]:
    """Give the constraints cells, the trajectory cells and all constraints end to end."""
    row, number = _places(drawn.constraints)
    texts = _sentences("Case", first_row + row, 2, pool, rng)
    constraints = _glued(texts, " keeps rule ", _numbers(number), ".")
    quoted = _glued('""', constraints, '""')
    row, number = _places(drawn.steps)
    texts = _sentences("Record", first_row + row, 3, pool, rng)
    steps = _glued(
        '{""step"": ', _numbers(number), ', ""text"": ""', texts, " at ", _numbers(number), '.""}'
    )
    return _lists(quoted, drawn.constraints), _lists(steps, drawn.steps), constraints


def _gold_cells(
    drawn: Sample, first_row: int, pool: Texts, rng: np.random.Generator
) -> dict[str, Texts]:
    state, n = drawn.gold, len(drawn.steps)
    row = np.arange(first_row, first_row + n)
    constraints, trajectory, rules = _json_cells(drawn, first_row, pool, rng)
    outcome = _label("outcome_mode", state.labels["outcome_mode"])
    repair = _label("repair_outcome", state.labels["repair_outcome"])
    drift = pa.array(state.onset > 0)
    # What is lost is what stays broken; where nothing stays broken it is the first constraint.
    starts = np.cumsum(drawn.constraints) - drawn.constraints
    lost = rules.take(pa.array(starts + np.maximum(state.residual, 1) - 1))
    visible = rng.integers(np.maximum(state.onset, 1), drawn.steps + 1, dtype=np.int32)
    untouched = pc.is_in(repair, pa.array(["not_applicable", "unrepaired"]))
    sources = pa.array(["self_correction", "external_intervention", "mixed"])
    cells = {
        "scenario_id": _glued("S", pc.utf8_lpad(_numbers(row), 7, "0")),
        "domain": pa.array(["operations"] * n),
        "task": _sentences("Settle", row, 3, pool, rng),
        "constraints_json": constraints,
        "trajectory_json": trajectory,
        "outcome_mode": outcome,
        "first_drift_step": _blank_or(state.onset),
        "mechanism_family": _label("mechanism_family", state.labels["mechanism_family"]),
        "repair_outcome": repair,
        "residual_constraint_failure": pc.if_else(pa.array(state.residual > 0), lost, "none"),
        "drift_mechanism": pc.if_else(drift, "sole_cause_entered", "none"),
        "correction_source": pc.if_else(
            untouched, "not_applicable", sources.take(pa.array(rng.integers(0, 3, n)))
        ),
        "lost_constraint": pc.if_else(drift, lost, "none"),
        "visible_failure_step": pc.if_else(pc.equal(outcome, _VISIBLE), _numbers(visible), ""),
        "severity": pc.if_else(drift, "low", "none"),
        "recommended_repair": pc.if_else(drift, "scope_restoration", "none"),
        "repair_instruction": _sentences("Redo", row, 2, pool, rng),
        "trajectory_length": _numbers(drawn.steps),
        "relative_onset_position": pc.if_else(
            drift, pa.array(state.onset / drawn.steps).cast(pa.string()), ""
        ),
        "trajectory_structure": pa.array(["late_turn"] * n),
        "annotation_confidence": pa.array(rng.integers(0, 101, n) / 100).cast(pa.string()),
    }
    return {name: cells[name] for name in schema.header(schema.LABELLED)}


def _prediction_cells(drawn: Sample, first_row: int) -> dict[str, Texts]:
    state, row = drawn.predicted, np.arange(first_row, first_row + len(drawn.steps))
    labels = {
        f"{schema.PREDICTED}{name}": _label(name, codes) for name, codes in state.labels.items()
    }
    residual = pc.if_else(pa.array(state.residual > 0), _numbers(state.residual), "none")
    cells = {
        "scenario_id": _glued("S", pc.utf8_lpad(_numbers(row), 7, "0")),
        "predicted_first_drift_step": _blank_or(state.onset),
        "predicted_residual_constraint_id": residual,
        "confidence": pa.array(drawn.confidence).cast(pa.string()),
        **labels,
    }
    return {name: cells[name] for name in _prediction_header()}


def _prediction_header() -> tuple[str, ...]:
    return (*schema.header(schema.PREDICTION), *schema.optional_columns(schema.PREDICTION))


def _csv_bytes(cells: dict[str, Texts]) -> memoryview:
    """Join cells, which are quoted where they have to be, to the lines of a CSV file."""
    lines = _glued(pc.binary_join_element_wise(*cells.values(), ","), "\n")
    return memoryview(lines.buffers()[2])


def write_files(folder: Path, rows: int, seed: int = SEED) -> tuple[Path, Path]:
    """Write a gold and a prediction file of the same scenarios.

    Args:
        folder: where to write; it is there.
        rows: number of scenarios.
        seed: of everything drawn.

    Returns:
        The paths of the gold and of the prediction file.
    """
    rng = np.random.default_rng(seed)
    pool = phrases(rng)
    paths = folder / GOLD, folder / PREDICTIONS
    with open(paths[0], "wb") as gold, open(paths[1], "wb") as predictions:
        gold.write(",".join(schema.header(schema.LABELLED)).encode() + b"\n")
        predictions.write(",".join(_prediction_header()).encode() + b"\n")
        for first_row in range(0, rows, _BATCH_ROWS):
            drawn = sample(min(_BATCH_ROWS, rows - first_row), rng)
            gold.write(_csv_bytes(_gold_cells(drawn, first_row, pool, rng)))
            predictions.write(_csv_bytes(_prediction_cells(drawn, first_row)))
        for file in (gold, predictions):
            file.flush()
            os.fsync(file.fileno())
    return paths


def main() -> None:
    """Write the files into a folder."""
    parser = argparse.ArgumentParser(description="Write a gold and a prediction file.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=SEED)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for path in write_files(args.folder, args.rows, args.seed):
        print(path)


if __name__ == "__main__":
    main()
