"""Functions of the task for lm-evaluation-harness, which loads this file by its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import datasets

from drift_onset import answers, prompt, schema
from drift_onset.harness import scenarios, scoring
from drift_onset.scores import DIAGNOSTICS, LEADERBOARD_A, LEADERBOARD_B

LABELLED = ("train", "dev", "test")
METRICS = (*LEADERBOARD_A, *LEADERBOARD_B, *DIAGNOSTICS, scoring.N, scoring.UNANSWERED)
Items = Sequence[Mapping[str, Any]]


def dataset(
    data: str | None = None, hide_constraints: bool = False, **_: Any
) -> dict[str, datasets.Dataset]:
    """Give the labelled splits as documents.

    Args:
        data: None for the packaged data, or the dataset's name on the Hub; `--metadata` sets it.
        hide_constraints: leave the constraints out of the prompt.
        **_: what else lm-evaluation-harness hands over.
    """
    splits = {split: scenarios.load(split, data) for split in LABELLED}
    return {
        split: datasets.Dataset.from_list([_document(row, hide_constraints) for row in rows])
        for split, rows in splits.items()
    }


def _document(row: dict[str, Any], hidden: bool) -> dict[str, Any]:
    return {
        "instructions": prompt.instructions(hidden) + "\n\n",
        "question": prompt.question(row, hidden),
        "answer": prompt.answer(row, hidden),
        "steps": len(row["trajectory"]),
        "constraints": len(row["constraints"]),
        "hide_constraints": hidden,
        **(scenarios.gold(row) or {}),
    }


def all_samples(responses: Iterable[Sequence[str]], documents: Any) -> list[Sequence[str]]:
    """Keep every sample of a document, a filter: `repeats` is the number of votes."""
    return list(responses)


def process_results(doc: dict[str, Any], results: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Read one document's answers; every metric gets the whole of it."""
    given = [
        answers.read(
            text,
            doc["scenario_id"],
            steps=doc["steps"],
            constraints=doc["constraints"],
            hide_constraints=doc["hide_constraints"],
        )
        for text in results[0]
    ]
    item = {
        "gold": {name: doc[name] for name in ("scenario_id", *schema.targets())},
        "answer": scoring.packed(scoring.vote(given)),
        "hide_constraints": doc["hide_constraints"],
    }
    hidden = (*scoring.HIDDEN_METRICS, scoring.N, scoring.UNANSWERED)
    return {name: item for name in (hidden if doc["hide_constraints"] else METRICS)}


def _aggregation(name: str) -> Callable[[Items], float]:
    """Give the function that scores all documents and picks one metric; NaN where it has none."""

    def aggregate(items: Items) -> float:
        found = scoring.metrics(
            [item["gold"] for item in items],
            [scoring.unpacked(item["answer"]) for item in items],
            any(item["hide_constraints"] for item in items),
        )
        value = found.get(name)
        return float("nan") if value is None else value

    return aggregate


# One function for each metric, under its name: the YAML files refer to them.
globals().update({name: _aggregation(name) for name in METRICS})
