"""A deliberately weak baseline: cue words, no understanding.

It shows that the pipeline runs from blind inputs to a report. It is not meant to be good.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from drift_core.problems import InvalidInput
from drift_core.strict_json import loads
from drift_onset import predictions, schema
from drift_onset.reading.loading import read_file
from drift_onset.reading.records import CsvFile

_CLOSING = re.compile(
    r"\b(therefore|clearly|confirms?|proves?|all|rules? out|because|main|best|accepted)\b", re.I
)
_CORRECTING = re.compile(
    r"\b(withdrawn|restored?|reopened|review(er|ed|s)?|corrected|redone)\b", re.I
)
_DECIDING = re.compile(
    r"\b(recommend(s|ed)?|approved?|ordered|signed|concludes?|award(s|ed)?)\b", re.I
)
_WORD = re.compile(r"[a-z]{4,}")
_CONFIDENCE = 0.2

_NO_DRIFT, _LATENT, _RECOVERED, _VISIBLE = schema.labels("outcome_mode")
_NOT_APPLICABLE, _FULL, _PARTIAL, _FAILED, _UNREPAIRED = schema.labels("repair_outcome")


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _closest(text: str, others: Sequence[str]) -> int:
    """Give the position of the text that shares most words; the first one on a tie."""
    own = _words(text)
    shared = [len(own & _words(other)) for other in others]
    return shared.index(max(shared))


def predict(constraints: Sequence[str], steps: Sequence[str]) -> dict[str, Any]:
    """Guess the state of one trajectory.

    The first step but the opening one that has a closing word is taken as the onset. The
    constraint that shares most words with it counts as lost, and the family is the one whose
    description in schema.json shares most words with that constraint.

    Args:
        constraints: the governing constraints, in order.
        steps: the texts of the steps, in order.

    Returns:
        The five targets, blanks as None; the combination is always lawful.
    """
    onset = next((n for n, text in enumerate(steps, 1) if n > 1 and _CLOSING.search(text)), None)
    if onset is None:
        values: tuple[Any, ...] = (_NO_DRIFT, None, schema.NONE, _NOT_APPLICABLE, None)
        return dict(zip(schema.targets(), values, strict=True))
    lost = 1 + _closest(steps[onset - 1], constraints)
    families = schema.meanings("mechanism_family")
    del families[schema.NONE]
    family = list(families)[_closest(constraints[lost - 1], list(families.values()))]
    after = steps[onset:]
    if any(_CORRECTING.search(text) for text in after):
        values = (_RECOVERED, onset, family, _FULL, None)
    elif any(_DECIDING.search(text) for text in after):
        values = (_VISIBLE, onset, family, _UNREPAIRED, lost)
    else:
        values = (_LATENT, onset, family, _UNREPAIRED, lost)
    return dict(zip(schema.targets(), values, strict=True))


def run(blind: str | os.PathLike[str], output: str | os.PathLike[str]) -> int:
    """Write baseline predictions for a blind file.

    Args:
        blind: the inputs.
        output: the prediction file, written whole or not at all; its folder is made.

    Returns:
        The number of predictions.

    Raises:
        InvalidInput: the blind file has problems.
    """
    rows = [_row(*found) for found in inputs(blind, schema.BLIND)]
    predictions.write(output, rows)
    return len(rows)


def inputs(path: str | os.PathLike[str], kind: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Read what a model may see: identifiers, constraints and the texts of the steps.

    Args:
        path: a blind or labelled file.
        kind: `model_input` or `labelled_record`.

    Raises:
        InvalidInput: the file has problems.
    """
    problems = read_file(str(path), kind).problems()
    if problems:
        raise InvalidInput(problems)
    for _, row in CsvFile(Path(path), schema.header(kind)).rows():
        steps = [step["text"] for step in loads(row["trajectory_json"])]
        yield row["scenario_id"], loads(row["constraints_json"]), steps


def _row(scenario: str, constraints: Sequence[str], steps: Sequence[str]) -> dict[str, Any]:
    state = predict(constraints, steps)
    named = {schema.PREDICTED + target: value for target, value in state.items()}
    return {"scenario_id": scenario, **named, "confidence": _CONFIDENCE}
