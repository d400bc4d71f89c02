"""The scenarios that a model is asked about: packaged, from a file, or from the Hub."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from drift_core.problems import InvalidInput
from drift_onset import schema
from drift_onset.reading import typed
from drift_onset.reading.loading import read_table
from drift_onset.reading.records import CsvFile
from drift_onset.reading.tables import as_table
from drift_onset.schema import BLIND, LABELLED
from drift_onset.splits import splits

EXAMPLES_FROM = "train"


def load(split: str = "test", data: str | None = None) -> list[dict[str, Any]]:
    """Load scenarios as typed rows.

    Args:
        split: `train`, `dev`, `test` or `test_blind`.
        data: None for the data that ships with the package; else the path of a labelled or blind
            CSV file, for which the split is not looked at; else whatever `load_dataset` takes, as
            the name of the dataset on the Hub or the path of a clone.

    Returns:
        Rows with labels as texts and `constraints` and `trajectory` decoded; without labels if
        blind.

    Raises:
        ValueError: there is no such split.
        InvalidInput: the data has problems.
    """
    names = [known.name for known in splits()]
    if split not in names:
        wanted = ", ".join(names)
        raise ValueError(f"Expected argument `split` to be one of {wanted} but got {split!r}")
    if data is None:
        return _from_file(schema.resource("data") / f"{split}.csv")
    if os.path.isfile(data):
        return _from_file(Path(data))
    return _from_hub(data, split)


def examples(n: int, seed: int, data: str | None = None) -> list[dict[str, Any]]:
    """Draw labelled scenarios of the train split, one more than are shown to a model.

    The spare one takes the place of an example that is the question itself, see `without`.

    Args:
        n: how many examples a model is shown.
        seed: of Python's generator.
        data: as in `load`; beside a CSV file they come from the packaged data.

    Raises:
        ValueError: there are not so many.
    """
    if n <= 0:
        if n < 0:
            raise ValueError(f"Expected argument `fewshot` to be 0 or more but got {n}")
        return []
    pool = load(EXAMPLES_FROM, None if data is None or os.path.isfile(data) else data)
    if n >= len(pool):
        most = len(pool) - 1
        raise ValueError(f"Expected argument `fewshot` to be at most {most} but got {n}")
    return random.Random(seed).sample(pool, n + 1)


def without(drawn: list[dict[str, Any]], scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the drawn examples but for the spare one: the question itself, or else the last."""
    others = [row for row in drawn if row["scenario_id"] != scenario["scenario_id"]]
    return others[: len(drawn) - 1]


def gold(scenario: dict[str, Any]) -> dict[str, Any] | None:
    """Give identifier and targets of a labelled scenario; None of a blind one."""
    if schema.targets()[0] not in scenario:
        return None
    return {name: scenario[name] for name in ("scenario_id", *schema.targets())}


def _from_file(path: Path) -> list[dict[str, Any]]:
    found = CsvFile(path, schema.header(BLIND)).found
    kind = LABELLED if schema.targets()[0] in found else BLIND
    rows: list[dict[str, Any]] = typed.read(path, kind).to_pylist()
    return rows


def _from_hub(name: str, split: str) -> list[dict[str, Any]]:
    import datasets

    rows: list[dict[str, Any]] = datasets.load_dataset(name, split, split=split).to_list()
    for row in rows:
        for field in schema.fields(LABELLED).values():
            if field.labels and field.name in row:
                row[field.name] = field.labels[row[field.name]]
    if rows and gold(rows[0]):
        problems = read_table(as_table(rows), "state", name).problems()
        if problems:
            raise InvalidInput(problems)
    return rows
