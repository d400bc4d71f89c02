"""What retrievers give: rows, checked, as the columns that are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from drift_core.problems import InvalidInput, Problem, escaped
from drift_gauge import columns
from drift_gauge.documents import text_fault
from drift_gauge.numbers import number_fault

Rows = Sequence[Mapping[str, Any]]


def asked(
    retriever: Callable[[str, int], Any], retriever_name: str | None, name: str, query: str, k: int
) -> Rows:
    """Ask a retriever one query and give the first k rows of its answer.

    Args:
        retriever: (query, k) → rows.
        retriever_name: what a problem calls it; None if it has none.
        name: of the query.
        query: what is asked.
        k: at least 1.

    Raises:
        InvalidInput: a ValueError that names the query: the retriever raised something, which is
            the cause of this error, or gave no rows.
    """
    try:
        return first(name, k, retriever(query, k))
    except InvalidInput as error:
        named = [replace(p, scenario_id=p.scenario_id or name) for p in error.problems]
        raise InvalidInput(named) from error
    except Exception as error:
        who = "the retriever" if retriever_name is None else f"retriever {escaped(retriever_name)}"
        message = f"{who} raised {type(error).__name__}: {error}"
        found = Problem("retriever", "<retriever>", None, name, None, None, message)
        raise InvalidInput([found]) from error


def first(name: str, k: int, answer: Any) -> Rows:
    """Give the first k rows of an answer.

    Args:
        name: of the query.
        k: at least 1.
        answer: an iterable of rows.

    Raises:
        InvalidInput: a ValueError; it is no such thing.
    """
    if isinstance(answer, (str, bytes, Mapping)) or not isinstance(answer, Iterable):
        raise InvalidInput([_problem(name, 0, answer, None, "a list of rows")])
    return list(islice(answer, k))


def check(ids: Sequence[str], answers: Sequence[Rows]) -> None:
    """Look at every row of every query.

    Args:
        ids: n names of queries.
        answers: n lists of rows.

    Raises:
        InvalidInput: a ValueError that names every row without a `title`, and every `_distance`
            that is not a finite number; None is as good as no distance.
    """
    problems = [
        _problem(name, rank, row, column, expected)
        for name, rows in zip(ids, answers, strict=True)
        for rank, row in enumerate(rows)
        for column, expected in _faults(row)
    ]
    if problems:
        raise InvalidInput(problems)


def _faults(row: Any) -> list[tuple[str | None, str]]:
    """Give columns and what was expected of them; the column is None for what is no row."""
    if not isinstance(row, Mapping):
        return [(None, "a row: a mapping with `title`")]
    faults: list[tuple[str | None, str]] = []
    if fault := text_fault(row.get("title")):
        faults.append(("title", fault))
    distance = row.get("_distance")
    if distance is not None and (fault := number_fault(distance)):
        faults.append(("_distance", fault))
    return faults


def _problem(name: str, rank: int, row: Any, column: str | None, expected: str) -> Problem:
    shown = escaped(row.get(column) if column else row)
    message = f"{shown}, expected {expected}"
    return Problem("row", "<retriever>", rank, name, column, shown, message)


def rates(expected: Sequence[Sequence[str]], answers: Sequence[Rows]) -> columns.Rates:
    """Measure checked rows.

    Args:
        expected: n lists of titles.
        answers: n lists of rows, all of which count.
    """
    titles = [[row["title"] for row in rows] for rows in answers]
    wanted, retrieved = columns.encode(expected, titles)
    distances = np.full(retrieved.shape, np.nan)
    for at, rows in enumerate(answers):
        for rank, row in enumerate(rows):
            if row.get("_distance") is not None:
                distances[at, rank] = row["_distance"]
    return columns.rates(wanted, retrieved, distances, ~np.isnan(distances))
