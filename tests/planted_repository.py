"""Checks between the files of the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from planted_files import SWAPPED
from planting import (
    BLINDED,
    CARD,
    MANIFEST,
    TEST,
    Check,
    Edit,
    Place,
    cells,
    raw,
    removed,
    rows,
    with_manifest,
)

TRAIN, DEV = "data/train.csv", "data/dev.csv"
CHANGED = cells(DEV, "RDOD2-017", domain="another_domain")
LAWFUL = with_manifest(CHANGED)
COMPACT = raw(MANIFEST, lambda data: json.dumps(json.loads(data)).encode())
BOTH = with_manifest(cells(TEST, "RDOD2-025", domain="x"), cells(BLINDED, "RDOD2-025", domain="x"))


def swap_rows(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return [found[1], found[0], *found[2:]]


def without_last(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return found[:-1]


def other_domain(root: Path) -> None:
    table = pq.read_table(root / "data/dev.parquet")
    domains = ["x", *table["domain"].to_pylist()[1:]]
    at = table.column_names.index("domain")
    pq.write_table(table.set_column(at, "domain", [domains]), root / "data/dev.parquet")


def texts_only(root: Path) -> None:
    table = pq.read_table(root / "data/dev.parquet")
    pq.write_table(table.select(["scenario_id", "task"]), root / "data/dev.parquet")


def cut_off(root: Path) -> None:
    data = (root / "data/dev.parquet").read_bytes()
    (root / "data/dev.parquet").write_bytes(data[:-100])


def renamed(name: str, old: str, new: str) -> Edit:
    return cells(name, old, scenario_id=new)


def at(code: str, file: str, scenario: str, line: int | None = None) -> Place:
    value = None if line is None else f"'{scenario}'"
    return code, file, line, scenario, "scenario_id", value


# fmt: off
REPOSITORY = [
    Check("file_missing", "repository", "split", removed(DEV), LAWFUL, file=DEV),
    Check("file_missing", "repository", "manifest", removed(MANIFEST), COMPACT, file=MANIFEST),
    Check("file_empty", "repository", "split", raw(TRAIN, lambda data: b""), LAWFUL, file=TRAIN),
    Check("json_invalid", "repository", "manifest", raw(MANIFEST, lambda data: data[:-3]), COMPACT,
          file=MANIFEST),
    Check("manifest_checksum", "repository", "content", CHANGED, LAWFUL,
          column="sha256", file=MANIFEST,
          also=(("parquet_content", "data/dev.parquet", None, "RDOD2-017", "domain", None),)),
    Check("manifest_checksum", "repository", "rows",
          raw(MANIFEST, lambda data: data.replace(b'"rows": 8', b'"rows": 9')), COMPACT,
          column="rows", file=MANIFEST),
    Check("manifest_checksum", "repository", "header",
          raw(MANIFEST, lambda data: data.replace(b'"task"', b'"tasks"', 1)), COMPACT,
          column="header", file=MANIFEST),
    Check("repository_id", "repository", "not of the split",
          with_manifest(renamed(DEV, "RDOD2-024", "RDOD2-037")), LAWFUL,
          9, "RDOD2-037", "scenario_id", "'RDOD2-037'", DEV,
          also=(at("repository_id", DEV, "RDOD2-024"),)),
    Check("repository_id", "repository", "missing from the split",
          with_manifest(rows(DEV, without_last)), LAWFUL,
          scenario="RDOD2-024", column="scenario_id", file=DEV),
    Check("repository_id", "repository", "out of order", with_manifest(rows(DEV, swap_rows)),
          LAWFUL, 2, "RDOD2-018", "scenario_id", "'RDOD2-018'", DEV),
    Check("split_overlap", "repository", "train in dev",
          with_manifest(renamed(DEV, "RDOD2-024", "RDOD2-016")), LAWFUL,
          9, "RDOD2-016", "scenario_id", "'RDOD2-016'", DEV,
          also=(at("repository_id", DEV, "RDOD2-016", 9), at("repository_id", DEV, "RDOD2-024"))),
    Check("blind_ids", "repository", "order", with_manifest(rows(BLINDED, swap_rows)), BOTH,
          column="scenario_id", file=BLINDED,
          also=(at("repository_id", BLINDED, "RDOD2-026", 2),)),
    Check("blind_ids", "repository", "one less", with_manifest(rows(BLINDED, without_last)), BOTH,
          column="scenario_id", file=BLINDED, also=(at("repository_id", BLINDED, "RDOD2-036"),)),
    Check("blind_inputs", "repository", "task",
          with_manifest(cells(BLINDED, "RDOD2-025", task="Another task.")), BOTH,
          2, "RDOD2-025", "task", "'Another task.'", BLINDED),
    Check("blind_inputs", "repository", "space in JSON",
          with_manifest(cells(BLINDED, "RDOD2-025", constraints_json='["a"]')), BOTH,
          2, "RDOD2-025", "constraints_json", ascii('["a"]'), BLINDED),
    Check("header_order", "repository", "two columns swapped",
          with_manifest(raw(DEV, lambda data: data.replace(b"domain,task", b"task,domain", 1))),
          LAWFUL, 1, file=DEV, value=SWAPPED),
    Check("parquet_content", "repository", "a cell", other_domain, LAWFUL, None, "RDOD2-017",
          "domain", None, DEV.replace("csv", "parquet")),
    Check("parquet_content", "repository", "types", texts_only, LAWFUL,
          file=DEV.replace("csv", "parquet")),
    Check("parquet_content", "repository", "cut off", cut_off, LAWFUL,
          file=DEV.replace("csv", "parquet")),
    Check("file_missing", "repository", "Parquet", removed(DEV.replace("csv", "parquet")), LAWFUL,
          file=DEV.replace("csv", "parquet")),
    Check("card_content", "repository", "features",
          raw(CARD, lambda data: data.replace(b"{name: task,", b"{name: tasks,", 1)),
          raw(CARD, lambda data: data + b"More words."), file=CARD),
    # one file that cannot be read brings no more than its own problem
    Check("encoding", "repository", "UTF-16",
          with_manifest(raw(DEV, lambda data: data.decode().encode("utf-16"))),
          with_manifest(raw(DEV, lambda data: b"\xef\xbb\xbf" + data)), file=DEV),
    Check("blind_label_column", "repository", "label",
          with_manifest(raw(BLINDED, lambda data: data.replace(b"\n", b",severity\n"))), BOTH,
          1, file=BLINDED, value="'severity'"),
    Check("cell_count", "repository", "one more",
          with_manifest(raw(BLINDED, lambda data: data.replace(b"025,", b"025,more,", 1))), BOTH,
          line=2, scenario="RDOD2-025", file=BLINDED, value="6"),
    Check("json_invalid", "repository", "nested manifest",
          raw(MANIFEST, lambda data: b"[" * 100_000), COMPACT, file=MANIFEST),
]
# fmt: on
