"""The repository as a whole: its data files, what is built from them, and its card."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from drift_core.files import replacing, write_json
from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import loads
from drift_onset import card, schema
from drift_onset.reading import typed
from drift_onset.reading.findings import Finding
from drift_onset.reading.loading import Loaded, read_file
from drift_onset.reading.records import CsvFile
from drift_onset.splits import Split, splits

MANIFEST = "manifest.json"


def describe(split: Split, root: Path) -> dict[str, Any]:
    """Say what a data file holds: rows, sha256, header."""
    path = root / split.file
    file = CsvFile(path, schema.header(split.record))
    return {
        "rows": sum(1 for _ in file.rows()),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "header": list(file.found),
    }


def build(root: Path) -> list[Path]:
    """Write what is derived from the CSV files: typed Parquet, and manifest.json.

    Args:
        root: folder that holds `data`.

    Returns:
        The files written. With one version of pyarrow their bytes are always the same.

    Raises:
        InvalidInput: the data has problems.
    """
    problems = _check_data(root)[1]
    if problems:
        raise InvalidInput(problems)
    for split in splits():
        table = typed.read(root / split.file, split.record, label_ids=True)
        with replacing(root / split.parquet) as temporary:
            pq.write_table(table, temporary)
    described = {split.file: describe(split, root) for split in splits()}
    write_json(root / MANIFEST, {"files": described})
    return [*(root / split.parquet for split in splits()), root / MANIFEST]


def check(root: Path) -> tuple[dict[str, int], list[Problem]]:
    """Check the repository.

    Args:
        root: folder that holds `data` and `manifest.json`; its cards are checked where it has any.

    Returns:
        File → number of rows, and the problems of all files and between them.
    """
    rows, problems = _check_data(root)
    if not problems:  # what is derived is of interest once its source is right
        problems += _parquet(root)
    return rows, [*problems, *_manifest(root), *card.check(root)]


def _check_data(root: Path) -> tuple[dict[str, int], list[Problem]]:
    loaded = {split.name: read_file(str(root / split.file), split.record) for split in splits()}
    for split in splits():
        if loaded[split.name].is_readable:
            _identifiers(split, loaded[split.name])
    _overlap(loaded)
    test, blind = loaded["test"], loaded["test_blind"]
    if test.is_readable and blind.is_readable:
        _blind_ids(test, blind)
        _blind_inputs(root, test, blind)
    problems = [problem for one in loaded.values() for problem in one.problems()]
    return {one.name: len(one.states) for one in loaded.values()}, problems


def _named(loaded: Loaded) -> list[tuple[int, str]]:
    """Give the rows that have an identifier, with it."""
    ids = loaded.states.ids.to_pylist()
    return [(row, ids[row]) for row in np.flatnonzero(loaded.states.named).tolist()]


def _identifiers(split: Split, loaded: Loaded) -> None:
    named = _named(loaded)
    for row, scenario in named:
        if scenario not in split.ids:
            wanted = f"expected {split.ids[0]} to {split.ids[-1]}"
            message = f"{escaped(scenario, 60)} does not belong to {split.name}; {wanted}"
            loaded.add(row, "repository_id", "scenario_id", message)
    ids = [scenario for _, scenario in named]
    absent = [n for n in split.ids if n not in ids and n not in loaded.unread]
    if len(absent) > loaded.nameless:
        for scenario in absent:
            message = f"{scenario} is missing from {split.name}"
            finding = Finding(None, scenario, "repository_id", "scenario_id", None, message)
            loaded.findings.append(finding)
    if sorted(ids) == sorted(split.ids) and ids != list(split.ids):
        row, scenario = next(
            pair for pair, wanted in zip(named, split.ids, strict=True) if pair[1] != wanted
        )
        loaded.add(row, "repository_id", "scenario_id", f"{scenario} is out of order")


def _overlap(loaded: dict[str, Loaded]) -> None:
    seen: dict[str, str] = {}
    for split in splits():
        if split.record == schema.LABELLED:
            for row, scenario in _named(loaded[split.name]):
                other = seen.setdefault(scenario, split.name)
                if other != split.name:
                    message = f"{escaped(scenario, 60)} stands in {other} and in {split.name}"
                    loaded[split.name].add(row, "split_overlap", "scenario_id", message)


def _blind_ids(test: Loaded, blind: Loaded) -> None:
    left, right = ([scenario for _, scenario in _named(one)] for one in (test, blind))
    unread = {*test.unread, *blind.unread}
    only = sorted((set(left) ^ set(right)) - unread)
    shared = set(left) & set(right)
    message = ""
    if len(only) > test.nameless + blind.nameless:
        message = f"identifiers of test and test_blind differ in {', '.join(map(escaped, only))}"
    elif [n for n in left if n in shared] != [n for n in right if n in shared]:
        repeated = len(set(left)) < len(left) or len(set(right)) < len(right)
        message = "" if repeated else "identifiers of test and test_blind are in another order"
    if message:
        blind.findings.append(Finding(None, None, "blind_ids", "scenario_id", None, message))


def _blind_inputs(root: Path, test: Loaded, blind: Loaded) -> None:
    full = _first_rows(root, "test")
    for record, row in _first_rows(root, "test_blind").values():
        scenario = row["scenario_id"]
        expected = full.get(scenario, (record, row))[1]
        for name in schema.header(schema.BLIND):
            if row[name] != expected[name]:
                message = f"got {escaped(row[name], 60)}, test has {escaped(expected[name], 60)}"
                value = escaped(row[name])
                finding = Finding(record, scenario, "blind_inputs", name, value, message)
                blind.findings.append(finding)


def _first_rows(root: Path, name: str) -> dict[str, tuple[int, dict[str, str]]]:
    """Give identifier → row number and cells; the first row where one is repeated."""
    split = next(split for split in splits() if split.name == name)
    found: dict[str, tuple[int, dict[str, str]]] = {}
    file = CsvFile(root / split.file, schema.header(split.record))
    for record, row in file.rows():
        found.setdefault(row["scenario_id"], (record, row))
    return found


def _parquet(root: Path) -> Iterator[Problem]:
    """Hold the Parquet files to their CSV; contents, since bytes depend on the version of Arrow."""
    for split in splits():
        path = root / split.parquet
        expected = typed.read(root / split.file, split.record, label_ids=True)

        def problem(
            code: str, message: str, scenario: str | None = None, column: str | None = None
        ) -> Problem:
            again = f"{message}; run `reasoning-drift build {root}`"
            return Problem(code, str(path), None, scenario, column, None, again)  # noqa: B023

        try:
            found = pq.read_table(path)
        except (OSError, pa.ArrowException) as error:
            code = "parquet_content" if path.exists() else "file_missing"
            yield problem(code, f"cannot be read: {escaped(str(error), 80)[1:-1]}")
            continue
        if found.schema != expected.schema or found.num_rows != expected.num_rows:
            yield problem("parquet_content", f"rows or types are not those of {split.file}")
            continue
        for name in expected.column_names:
            pairs = zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
            for row, (got, wanted) in enumerate(pairs):
                if got != wanted:
                    message = f"got {escaped(got, 60)}, {split.file} has {escaped(wanted, 60)}"
                    scenario = expected["scenario_id"][row].as_py()
                    yield problem("parquet_content", message, scenario, name)


def _manifest(root: Path) -> Iterator[Problem]:
    path = root / MANIFEST
    again = f"run `reasoning-drift build {root}` if the data is right"

    def problem(code: str, message: str, column: str | None = None) -> Problem:
        return Problem(code, str(path), None, None, column, None, f"{message}; {again}")

    try:
        manifest = loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        yield problem("file_missing", f"cannot be read: {error.strerror}")
        return
    except ValueError as error:
        yield problem("json_invalid", f"is no manifest: {escaped(str(error), 200)[1:-1]}")
        return
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict) or not all(isinstance(v, dict) for v in files.values()):
        yield problem("json_invalid", "is no manifest: expected an object of files")
        return
    for split in splits():
        if not (root / split.file).is_file() or not (root / split.file).stat().st_size:
            continue
        for key, value in describe(split, root).items():
            noted = files.get(split.file, {}).get(key)
            if noted != value or type(noted) is not type(value):
                shown = f"{split.file}: {key} is {escaped(value)} but the manifest has "
                yield problem("manifest_checksum", shown + escaped(noted), key)
