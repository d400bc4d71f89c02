"""Checks of whole files and rows: bytes, header, shape, identifiers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from planting import (
    BLINDED,
    PREDICTIONS,
    TEST,
    Check,
    cells,
    original,
    raw,
    read,
    removed,
    rows,
    swap,
)

from drift_core.problems import escaped
from drift_onset import schema
from drift_onset.schema import resource

GOLD, BLIND, PRED = "labelled", "blind", "predictions"
HEADER = ",".join(schema.header(schema.PREDICTION))


def semicolons(data: bytes) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=";").writerows(csv.reader(data.decode().splitlines()))
    return text.getvalue().encode()


def quoted(data: bytes) -> bytes:
    """Quote every cell, CRLF at the end of lines, as some spreadsheets do."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows(csv.reader(io.StringIO(data.decode(), newline="")))
    return text.getvalue().encode()


def with_bom(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")


def each_line(first: bytes, other: bytes) -> Callable[[bytes], bytes]:
    """Add bytes at the end of the header and of every other line."""

    def change(data: bytes) -> bytes:
        head, *rest = data.splitlines()
        return b"".join([head + first + b"\n", *(line + other + b"\n" for line in rest)])

    return change


def first_two(data: bytes) -> bytes:
    return b"".join(data.splitlines(keepends=True)[:2])


def head(data: bytes) -> bytes:
    return data.splitlines(keepends=True)[0]


def without_confidence(data: bytes) -> bytes:
    return b"".join(line.rsplit(b",", 1)[0] + b"\n" for line in data.splitlines())


def last_column_first(data: bytes) -> bytes:
    """Move confidence to the front of header and rows."""
    lines = []
    for line in data.splitlines():
        rest, last = line.rsplit(b",", 1)
        lines.append(last + b"," + rest + b"\n")
    return b"".join(lines)


def swapped(data: bytes) -> bytes:
    return data.replace(b"domain,task", b"task,domain", 1)


def reverse(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return found[::-1]


def again(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return [*found, found[0]]


def lower_again(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return [*found, {**found[0], "scenario_id": "rdod2-025"}]


def stranger(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return [*found, {**found[0], "scenario_id": "RDOD2-099"}]


def without_last(found: list[dict[str, str]]) -> list[dict[str, str]]:
    return found[:-1]


REVERSED = rows(PREDICTIONS, reverse)
TASK = original("task")
REPLACED = ascii("\ufffd" + TASK[:19])

LABELLED_HEADER = ",".join(read(resource("data") / "test.csv")[0])
SWAPPED = escaped(LABELLED_HEADER.replace("domain,task", "task,domain"))
CONFIDENCE_FIRST = escaped(f"confidence,{HEADER}")

# fmt: off
FILES = [
    # bytes
    Check("encoding", GOLD, "byte of cp1252", swap(TEST, TASK[:6], b"\x92" + TASK[:6].encode()),
          swap(TEST, TASK[:6], "\u2019".encode()), 2, "RDOD2-025", "task", REPLACED),
    Check("encoding", BLIND, "byte of cp1252", swap(BLINDED, TASK[:6], b"\x92" + TASK[:6].encode()),
          swap(BLINDED, TASK[:6], "\u2019".encode()), 2, "RDOD2-025", "task", REPLACED),
    Check("encoding", GOLD, "UTF-16", raw(TEST, lambda data: data.decode().encode("utf-16")),
          raw(TEST, with_bom)),
    Check("encoding", BLIND, "UTF-16 without mark",
          raw(BLINDED, lambda data: data.decode().encode("utf-16-le")), raw(BLINDED, quoted)),
    Check("encoding", PRED, "UTF-16", raw(PREDICTIONS, lambda data: data.decode().encode("utf-16")),
          raw(PREDICTIONS, with_bom)),
    Check("nul", GOLD, "NUL in a cell", swap(TEST, TASK[:6], b"\0" + TASK[:6].encode()),
          swap(TEST, TASK[:6], "\u2400".encode()), 2, "RDOD2-025", "task", REPLACED),
    # header
    Check("header", PRED, "semicolons", raw(PREDICTIONS, semicolons), raw(PREDICTIONS, with_bom),
          1, value=escaped(f"{HEADER},confidence".replace(",", ";"))),
    Check("header", PRED, "unknown column", swap(PREDICTIONS, "confidence", b"Confidence"),
          raw(PREDICTIONS, without_confidence), 1, value="'Confidence'"),
    Check("header", PRED, "empty column", raw(PREDICTIONS, each_line(b",", b",")),
          raw(PREDICTIONS, quoted), 1, value="''"),
    Check("header", GOLD, "missing column", raw(TEST, lambda data: data.replace(
          b",annotation_confidence\n", b"\n", 1)), raw(TEST, quoted), 1),
    Check("header_duplicate", PRED, "column twice",
          raw(PREDICTIONS, each_line(b",confidence", b",1")),
          raw(PREDICTIONS, without_confidence), 1, value="'confidence'"),
    Check("header_order", GOLD, "two columns swapped", raw(TEST, swapped),
          cells(TEST, "RDOD2-025", domain="task", task="domain"),
          1, value=SWAPPED),
    Check("header_order", PRED, "confidence first", raw(PREDICTIONS, last_column_first),
          raw(PREDICTIONS, without_confidence),
          1, value=CONFIDENCE_FIRST),
    Check("blind_label_column", BLIND, "label", raw(BLINDED, each_line(b",severity", b",low")),
          raw(BLINDED, with_bom), 1, value="'severity'"),
    # shape
    Check("cell_count", GOLD, "one more", swap(TEST, "RDOD2-025,", b"RDOD2-025,more,"),
          swap(TEST, "RDOD2-025,", b'"RDOD2-025",'), 2, "RDOD2-025", None, "22"),
    Check("cell_count", BLIND, "one less", swap(BLINDED, "clinical_reasoning,", b""),
          swap(BLINDED, "clinical_reasoning,", b'"clinical,reasoning",'),
          2, "RDOD2-025", None, "4"),
    Check("cell_count", PRED, "one more", swap(PREDICTIONS, ",0.9\n", b",0.9,\n"),
          swap(PREDICTIONS, ",0.9\n", b",\n"), 2, "RDOD2-025", None, "8"),
    Check("blank_row", GOLD, "commas", raw(TEST, lambda data: data + b"," * 20 + b"\n"),
          raw(TEST, lambda data: data + b"\n\r\n"), 14),
    Check("blank_row", BLIND, "commas", raw(BLINDED, lambda data: data + b",,,,\n"),
          raw(BLINDED, lambda data: b"\n" + data + b"\n"), 14),
    Check("blank_row", PRED, "commas", raw(PREDICTIONS, lambda data: data + b",,,,,,\n"),
          raw(PREDICTIONS, lambda data: data.replace(b"\n", b"\n\n")), 14),
    Check("no_rows", GOLD, "header alone", raw(TEST, head), raw(TEST, first_two)),
    Check("no_rows", BLIND, "header alone", raw(BLINDED, head), raw(BLINDED, first_two)),
    Check("no_rows", PRED, "header alone", raw(PREDICTIONS, head), REVERSED),
    Check("file_empty", GOLD, "no byte", raw(TEST, lambda data: b""), raw(TEST, first_two)),
    Check("file_empty", PRED, "no byte", raw(PREDICTIONS, lambda data: b""), REVERSED),
    Check("file_missing", BLIND, "no file", removed(BLINDED), raw(BLINDED, first_two)),
    Check("file_missing", PRED, "no file", removed(PREDICTIONS), REVERSED),
    # identifiers
    Check("duplicate_id", GOLD, "row twice", rows(TEST, again), rows(TEST, lower_again),
          14, "RDOD2-025", "scenario_id", "'RDOD2-025'"),
    Check("duplicate_id", BLIND, "row twice", rows(BLINDED, again), rows(BLINDED, lower_again),
          14, "RDOD2-025", "scenario_id", "'RDOD2-025'"),
    Check("duplicate_id", PRED, "row twice", rows(PREDICTIONS, again), REVERSED,
          14, "RDOD2-025", "scenario_id", "'RDOD2-025'"),
    Check("unknown_scenario", PRED, "one too many", rows(PREDICTIONS, stranger), REVERSED,
          14, "RDOD2-099", "scenario_id", "'RDOD2-099'"),
    Check("missing_prediction", PRED, "one too few", rows(PREDICTIONS, without_last), REVERSED,
          None, "RDOD2-036"),
]
# fmt: on
