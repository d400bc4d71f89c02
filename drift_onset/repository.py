"""The repository as a whole: its four files, its splits, its manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drift_core.files import write_text
from drift_core.problems import Problem, escaped
from drift_core.strict_json import dumps
from drift_onset import schema
from drift_onset.loading import Loaded, read_file
from drift_onset.records import CsvFile

MANIFEST = "manifest.json"
_ABSENT = ("file_missing", "file_empty")


@dataclass(frozen=True)
class Split:
    """A data file of the repository: its name, path, kind of record and identifiers."""

    name: str
    file: str
    record: str
    ids: tuple[str, ...]


def splits() -> list[Split]:
    """Give the data files in order, as schema.json lists them."""
    listed = dict(schema.document()["x-splits"])
    id_format = listed.pop("id_format")
    return [
        Split(
            name,
            entry["file"],
            entry["record"],
            tuple(id_format % number for number in range(entry["first"], entry["last"] + 1)),
        )
        for name, entry in listed.items()
    ]


def describe(root: Path) -> dict[str, Any]:
    """Say what the data files hold: file → rows, sha256, header."""
    described = {}
    for split in splits():
        path = root / split.file
        header = schema.header(split.record)
        rows = sum(batch.table.num_rows for batch in CsvFile(path, header).batches())
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        described[split.file] = {"rows": rows, "sha256": sha256, "header": list(header)}
    return described


def write_manifest(root: Path) -> None:
    """Write manifest.json for the data files as they are now."""
    write_text(root / MANIFEST, dumps({"files": describe(root)}, indent=2) + "\n")


def check(root: Path) -> tuple[dict[str, int], list[Problem]]:
    """Check the repository.

    Args:
        root: folder that holds `data` and `manifest.json`.

    Returns:
        File → number of rows, and the problems of all files and between them.
    """
    loaded = {split.name: read_file(str(root / split.file), split.record) for split in splits()}
    problems = [problem for one in loaded.values() for problem in one.problems()]
    for split in splits():
        problems += _identifiers(split, loaded[split.name])
    problems += _overlap(loaded)
    problems += _blind(root, loaded)
    if not any(problem.code in _ABSENT for problem in problems):
        problems += _manifest(root)
    return {one.name: len(one.states) for one in loaded.values()}, problems


def _problem(
    code: str, file: str, message: str, scenario: str | None = None, column: str | None = None
) -> Problem:
    return Problem(code, file, None, scenario, column, None, message)


def _identifiers(split: Split, loaded: Loaded) -> Iterator[Problem]:
    if any(finding.code in (*_ABSENT, "header") for finding in loaded.findings):
        return
    ids = loaded.states.ids.to_pylist()
    for scenario in ids:
        if scenario not in split.ids and scenario.strip():
            wanted = f"expected {split.ids[0]} to {split.ids[-1]}"
            message = f"{escaped(scenario)} does not belong to {split.name}; {wanted}"
            yield _problem("repository_id", loaded.name, message, scenario, "scenario_id")
    for scenario in split.ids:
        if scenario not in ids and scenario not in loaded.unread:
            message = f"{scenario} is missing from {split.name}"
            yield _problem("repository_id", loaded.name, message, scenario, "scenario_id")
    if sorted(ids) == sorted(split.ids) and ids != list(split.ids):
        message = f"identifiers of {split.name} are out of order"
        yield _problem("repository_id", loaded.name, message, None, "scenario_id")


def _overlap(loaded: dict[str, Loaded]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for split in splits():
        if split.record == schema.LABELLED:
            for scenario in loaded[split.name].states.ids.to_pylist():
                other = seen.setdefault(scenario, split.name)
                if other != split.name:
                    message = f"{escaped(scenario)} stands in {other} and in {split.name}"
                    file = loaded[split.name].name
                    yield _problem("split_overlap", file, message, scenario, "scenario_id")


def _blind(root: Path, loaded: dict[str, Loaded]) -> Iterator[Problem]:
    test, blind = (loaded[name] for name in ("test", "test_blind"))
    if any(f.code in (*_ABSENT, "header") for f in test.findings + blind.findings):
        return
    left, right = test.states.ids.to_pylist(), blind.states.ids.to_pylist()
    if left != right:
        only = sorted(set(left) ^ set(right))
        what = f"differ in {', '.join(map(escaped, only))}" if only else "are in another order"
        yield _problem("blind_ids", blind.name, f"identifiers of test and test_blind {what}")
    rows = {row["scenario_id"]: row for row in _rows(root, "test")}
    for row in _rows(root, "test_blind"):
        full = rows.get(row["scenario_id"], row)
        for name in schema.header(schema.BLIND):
            if row[name] != full[name]:
                message = f"{escaped(row[name], 60)} differs from test: {escaped(full[name], 60)}"
                yield _problem("blind_inputs", blind.name, message, row["scenario_id"], name)


def _rows(root: Path, name: str) -> list[dict[str, str]]:
    split = next(split for split in splits() if split.name == name)
    file = CsvFile(root / split.file, schema.header(split.record))
    return [row for batch in file.batches() for row in batch.table.to_pylist()]


def _manifest(root: Path) -> Iterator[Problem]:
    path = root / MANIFEST
    again = f"run `reasoning-drift manifest {root}` if the data is right"
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        yield _problem("file_missing", str(path), f"cannot be read; {again}")
        return
    except (ValueError, KeyError, TypeError) as error:
        yield _problem("json_invalid", str(path), f"is no manifest: {error}; {again}")
        return
    for file, facts in describe(root).items():
        noted = files.get(file) if isinstance(files, dict) else None
        for key, value in facts.items():
            found = noted.get(key) if isinstance(noted, dict) else None
            if found != value:
                message = f"{file}: {key} is {value} but the manifest has {found}; {again}"
                yield _problem("manifest_checksum", str(path), message, None, key)
