"""Rows → a prediction file."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from typing import Any

from drift_core.files import replacing
from drift_onset import schema
from drift_onset.schema import PREDICTED, PREDICTION


def write(path: str | os.PathLike[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a prediction file, whole or not at all; its folder is made.

    Args:
        path: the file.
        rows: mappings of the columns to values; None is blank, for the residual `none`.

    Raises:
        OSError: the file cannot be written.
    """
    header = (*schema.header(PREDICTION), *schema.optional_columns(PREDICTION))
    blanks = {name: "" for name in header} | {PREDICTED + schema.targets()[-1]: schema.NONE}
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(blanks[n] if row[n] is None else row[n] for n in header)
