"""State rules: the if/then of schema.json, held against whole columns.

A row is reduced to what the rules can tell apart, and each distinct state is judged once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_onset import schema
from drift_onset.reading import cells
from drift_onset.reading.cells import BLANK, UNREADABLE
from drift_onset.reading.findings import Findings
from drift_onset.schema import Field

_OMIT: Any = object()


def _symbols(field: Field, codes: Any) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Reduce a column to what rules can tell apart: symbols, and a value standing for each."""
    if field.labels:
        return codes.astype(np.int64) - UNREADABLE, [_OMIT, _OMIT, *field.labels]
    if "number" in field.types:
        return np.where(np.isnan(codes), 0, np.where(np.isinf(codes), 2, 1)), [None, 0.5, _OMIT]
    if "integer" in field.types:
        return np.where(codes == BLANK, 0, np.where(codes > BLANK, 1, 2)), [None, 1, _OMIT]
    # Text that rules compare with `none` only; what quotes no constraint is not none either.
    return np.where(codes == BLANK, 0, 1), [schema.NONE, "other"]


@lru_cache(maxsize=65536)
def _breaches(kind: str, names: tuple[str, ...], values: tuple[Any, ...]) -> list[tuple[str, str]]:
    record = {n: v for n, v in zip(names, values, strict=True) if v is not _OMIT}
    return schema.broken_rules(kind, record)


def hold(check: Findings, read: Mapping[str, Any], kind: str, columns: Mapping[str, str]) -> None:
    """Hold rows to the state rules of the schema, once for each distinct state."""
    ruled = schema.ruled_columns(kind)
    key = np.zeros(len(check.bad), np.int64)
    choices = []
    for name in ruled:
        codes = read.get(name)
        if codes is None:
            text = check.columns[name]
            codes = np.where(cells.equals(text, schema.NONE), BLANK, 1)
        symbols, values = _symbols(schema.fields(kind)[name], codes)
        choices.append(values)
        key = key * len(values) + symbols
    distinct, inverse = np.unique(key, return_inverse=True)
    for index, code in enumerate(distinct.tolist()):
        values = []
        for options in reversed(choices):
            code, symbol = divmod(code, len(options))
            values.append(options[symbol])
        breaches = _breaches(kind, ruled, tuple(reversed(values)))
        if breaches:
            for row in np.flatnonzero(inverse == index).tolist():
                if not check.blank[row]:
                    for rule, name in breaches:
                        text = schema.rule_texts()[rule]
                        check.add(row, rule, columns.get(name, name), f"but {text}")
