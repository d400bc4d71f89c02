"""Plants faults in copies of the real data: edits of files, and what the validator must say."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from drift_core.problems import InvalidInput, Problem, escaped
from drift_onset import evaluation, repository, splits
from drift_onset.reading import typed
from drift_onset.schema import BLIND, LABELLED, PREDICTED, resource, targets

TEST, BLINDED, PREDICTIONS = "data/test.csv", "data/test_blind.csv", "predictions.csv"
MANIFEST, CARD = "manifest.json", "README.md"
FILE_OF_KIND = {"labelled": TEST, "blind": BLINDED, "predictions": PREDICTIONS}

Edit = Callable[[Path], object]
Place = tuple[str, str, "int | None", "str | None", "str | None", "str | None"]


@dataclass(frozen=True)
class Check:
    """One check: the fault that it must report, and the lawful near miss that it must not.

    Attributes:
        code: the problem code.
        kind: `labelled`, `blind`, `predictions` or `repository`.
        what: the fault in words, for the name of the test.
        fault: plants the fault in a copy of the repository.
        twin: plants the near miss.
        line, scenario, column, value: where and what the problem must be.
        file: the file at fault; that of the kind if left out.
        also: problems that the same fault brings along by its nature, in the same form.
    """

    code: str
    kind: str
    what: str
    fault: Edit
    twin: Edit
    line: int | None = None
    scenario: str | None = None
    column: str | None = None
    value: str | None = None
    file: str | None = None
    also: tuple[Place, ...] = field(default=())

    def expected(self) -> list[Place]:
        file = self.file or FILE_OF_KIND[self.kind]
        first = (self.code, file, self.line, self.scenario, self.column, self.value)
        return sorted([first, *self.also], key=repr)

    def __str__(self) -> str:
        return f"{self.code}-{self.kind}-{self.what}".replace(" ", "_")


@dataclass(frozen=True)
class Row:
    """Cells of one row: the number in RDOD2-0xx, and column → text."""

    number: int
    cells: dict[str, str]


def row(number: int, **texts: str) -> Row:
    return Row(number, texts)


def cell(
    code: str,
    kind: str,
    number: int,
    column: str,
    planted: str | Row,
    lawful: str | Row | Edit,
    also: tuple[Place, ...] = (),
) -> Check:
    """Describe a check of one cell: what is planted there, and what may stand there.

    The number is that of the row at fault, RDOD2-0xx; the column is named without `predicted_`.
    What is planted is a text for the cell, or a row if the fault needs other cells too; what is
    lawful likewise, or any edit.
    """
    bad = planted if isinstance(planted, Row) else Row(number, {column: planted})
    good = Row(number, {column: lawful}) if isinstance(lawful, str) else lawful
    text = bad.cells[column]
    return Check(
        code,
        kind,
        column,
        _set(kind, bad),
        _set(kind, good) if isinstance(good, Row) else good,
        line=number - 23,  # RDOD2-025 stands in line 2
        scenario=text if column == "scenario_id" else scenario_id(number),
        column=_full_name(kind, column),
        value=escaped(text),
        also=also,
    )


def scenario_id(number: int) -> str:
    return f"RDOD2-{number:03}"


def _full_name(kind: str, column: str) -> str:
    return PREDICTED + column if kind == "predictions" and column in targets() else column


def _set(kind: str, row: Row) -> Edit:
    texts = {_full_name(kind, column): text for column, text in row.cells.items()}
    return cells(FILE_OF_KIND[kind], scenario_id(row.number), **texts)


def copy_repository(root: Path) -> None:
    """Copy the data and the manifest, and add predictions that are right in every cell."""
    shutil.copytree(resource("data"), root / "data")
    for name in (MANIFEST, CARD):
        shutil.copy(resource("schema.json").with_name(name), root)
    rows = []
    for row in read(root / TEST)[1]:
        residual = row["residual_constraint_failure"]
        constraints = json.loads(row["constraints_json"])
        row["residual_constraint_id"] = (
            residual if residual == "none" else str(constraints.index(residual) + 1)
        )
        answers = {PREDICTED + name: row[name] for name in targets()}
        rows.append({"scenario_id": row["scenario_id"], **answers, "confidence": "0.9"})
    write(root / PREDICTIONS, list(rows[0]), rows)


def read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return list(reader.fieldnames or ()), list(reader)


def write(path: Path, header: list[str], rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode())


def original(column: str, number: int = 25) -> str:
    """Give a cell of test.csv as it is."""
    return read(resource("data") / "test.csv")[1][number - 25][column]


def cells(name: str, scenario: str, **values: str) -> Edit:
    """Change cells of one row."""

    def edit(root: Path) -> None:
        header, rows = read(root / name)
        (row,) = (row for row in rows if row["scenario_id"] == scenario)
        assert set(values) <= set(row)
        row.update(values)
        write(root / name, header, rows)

    return edit


def rows(name: str, change: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> Edit:
    """Add, drop or reorder rows."""

    def edit(root: Path) -> None:
        header, found = read(root / name)
        write(root / name, header, change(found))

    return edit


def raw(name: str, change: Callable[[bytes], bytes]) -> Edit:
    """Change the bytes of a file; the change must change something."""

    def edit(root: Path) -> None:
        before = (root / name).read_bytes()
        after = change(before)
        assert after != before
        (root / name).write_bytes(after)

    return edit


def swap(name: str, old: str, new: bytes) -> Edit:
    """Replace the first occurrence of a text by bytes."""
    return raw(name, lambda data: data.replace(old.encode(), new, 1))


def removed(name: str) -> Edit:
    return lambda root: (root / name).unlink()


def with_manifest(*edits: Edit) -> Edit:
    """Do the edits, then rewrite the manifest, so that only the rest of them is at fault."""

    def edit(root: Path) -> None:
        for one in edits:
            one(root)
        for split in splits.splits():
            try:
                table = typed.read(root / split.file, split.record, label_ids=True)
            except InvalidInput:
                continue  # a file at fault has no typed form
            pq.write_table(table, root / split.parquet)
        files = {split.file: repository.describe(split, root) for split in splits.splits()}
        (root / MANIFEST).write_text(json.dumps({"files": files}), encoding="utf-8")

    return edit


def problems(kind: str, root: Path, gold: str = TEST) -> list[Problem]:
    """Validate a copy of the repository, or the file of it that the kind says."""
    if kind == "repository":
        return repository.check(root)[1]
    if kind == "predictions":
        return evaluation.validate_predictions(root / PREDICTIONS, root / gold)[1]
    record = LABELLED if kind == "labelled" else BLIND
    return evaluation.validate_file(root / FILE_OF_KIND[kind], record)[1]


def places(found: list[Problem], root: Path) -> list[Place]:
    """Give problems without their messages, files relative to the copy."""
    return sorted(
        (
            (
                p.code,
                Path(p.file).relative_to(root).as_posix(),
                p.line,
                p.scenario_id,
                p.column,
                p.value,
            )
            for p in found
        ),
        key=repr,
    )
