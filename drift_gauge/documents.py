"""The two frozen documents as dicts: what may stand in them, and everything that is wrong."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import StrictJsonError, loads
from drift_gauge.numbers import number_fault, whole_fault

Path = str | os.PathLike[str]
Check = Callable[[Any], str | None]

DEFAULT_K = 5
IN_MEMORY = "<baseline>"


def _number(low: float = float("-inf"), high: float = float("inf")) -> Check:
    return lambda value: number_fault(value, low, high)


def text_fault(value: Any) -> str | None:
    """Say what was expected instead of a value, or None if it is text with something in it."""
    return None if isinstance(value, str) and value.strip() else "text that is not blank"


def _titles_fault(value: Any) -> str | None:
    if isinstance(value, (list, tuple)) and not any(map(text_fault, value)):
        return None
    return "a list of titles"


def _fingerprint_fault(value: Any) -> str | None:
    return None if value is None else text_fault(value)


_share, _tolerance = _number(0, 1), _number(0)


@dataclass(frozen=True)
class Section:
    """The keys of one object, and what each value has to be."""

    required: Mapping[str, Check]
    optional: Mapping[str, Check] = field(default_factory=dict)


METRICS = Section(
    {"recall_at_k": _share, "overlap": _share, "mean_distance": _number()},
    {
        "frustration": _number(),
        "min_conductance": _number(),
        "distance_tol": _tolerance,
    },
)
DRIFT = Section(
    {name: _tolerance for name in ("recall_tol", "overlap_tol", "distance_tol", "drift_tolerance")},
    {
        "constitution_fingerprint": _fingerprint_fault,
        "frustration_tol": _tolerance,
        "conductance_tol": _tolerance,
    },
)
EFFECTORS = Section({"baseline_reach": _number(0, 2), "reach_tol": _tolerance})
SECTIONS = {"metrics": METRICS, "drift": DRIFT, "effectors": EFFECTORS}
QUERY = Section(
    {"id": text_fault, "query": text_fault, "expected": _titles_fault},
    {"k": lambda value: whole_fault(value, 1)},
)


def read_checked(path: Path, problems_of: Callable[[Any, Path], list[Problem]]) -> dict[str, Any]:
    """Read a file that holds one JSON object, and check what stands in it.

    Args:
        path: the file.
        problems_of: names everything that is wrong with the object; also gets the path.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: it is not UTF-8 or strict JSON, the object is empty, or has problems.
    """
    number = None
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
        value = loads(text)
    except UnicodeDecodeError as error:
        raise InvalidInput([problem("encoding", path, None, f"not UTF-8: {error}")]) from None
    except StrictJsonError as error:
        number = problem(error.code, path, None, str(error))
        if error.code != "json_number":
            raise InvalidInput([number]) from None
        value = json.loads(text)  # so that the check can name the key that holds the NaN
    what = "an empty object" if value == {} else type(value).__name__
    empty = problem("json_type", path, None, f"{what}, expected an object that is not empty")
    if not isinstance(value, dict):
        raise InvalidInput([empty])
    problems = problems_of(value, path) or ([number] if number else [])
    problems = problems or ([] if value else [empty])
    if problems:
        raise InvalidInput(problems)
    return value


def baseline_problems(document: Mapping[str, Any], file: Path = IN_MEMORY) -> list[Problem]:
    """Name everything that is wrong with a baseline, but for sections that are not there.

    Args:
        document: `retriever`, `golden_sha256`, `metrics`, `drift`, `effectors`, or some of them.
        file: what the problems call it.
    """
    problems = _unknown(document, ("retriever", "golden_sha256", *SECTIONS), file, "")
    if "retriever" in document and text_fault(document["retriever"]):
        problems.append(_wrong(file, "retriever", document["retriever"], "the name of a retriever"))
    if "golden_sha256" in document and not _is_sha256(document["golden_sha256"]):
        expected = "64 hexadecimal digits in lower case"
        problems.append(_wrong(file, "golden_sha256", document["golden_sha256"], expected))
    for name in SECTIONS.keys() & document.keys():
        problems += section_problems(name, document[name], file)
    return problems or _two_tolerances(document, file)


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def whole_baseline_problems(document: Mapping[str, Any], file: Path) -> list[Problem]:
    """Name everything that is wrong with a baseline that has to name a retriever and metrics."""
    missing = [
        problem("missing_key", file, name, f"missing key `{name}`")
        for name in ("retriever", "metrics")
        if name not in document
    ]
    return missing + baseline_problems(document, file)


def _two_tolerances(document: Mapping[str, Any], file: Path) -> list[Problem]:
    """Compare the two places where distance_tol may stand."""
    blessed = document.get("metrics", {}).get("distance_tol")
    used = document.get("drift", {}).get("distance_tol")
    if blessed is None or used is None or blessed == used:
        return []
    return [_wrong(file, "metrics.distance_tol", blessed, f"{used}, as in drift")]


def section_problems(name: str, section: Any, file: Path = IN_MEMORY) -> list[Problem]:
    """Name everything that is wrong with the section `metrics`, `drift` or `effectors`."""
    return object_problems(SECTIONS[name], section, file, f"{name}.", None)


def blessed_metrics(baseline: Mapping[str, Any]) -> dict[str, float]:
    """Give the metrics of a baseline, checked, with the `distance_tol` of its `drift` section.

    Args:
        baseline: a whole baseline, or its `metrics` section.

    Raises:
        InvalidInput: a ValueError that names every problem; an empty baseline is one.
    """
    if not isinstance(baseline, Mapping):
        raise ValueError(f"Expected argument `baseline` to be a mapping but got {baseline!r}")
    if "metrics" not in baseline:
        problems = section_problems("metrics", baseline)
    else:
        problems = baseline_problems(baseline, IN_MEMORY)
    if problems:
        raise InvalidInput(problems)
    if "metrics" not in baseline:
        return dict(baseline)
    used = {k: v for k, v in baseline.get("drift", {}).items() if k == "distance_tol"}
    return {**baseline["metrics"], **used}


def golden_problems(document: Mapping[str, Any], file: Path) -> list[Problem]:
    """Name everything that is wrong with a golden set, `{"queries": [...]}`."""
    problems = _unknown(document, ("queries",), file, "")
    if "queries" not in document:
        message = "missing key `queries`, expected a list of at least one query"
        return [*problems, problem("missing_key", file, "queries", message)]
    queries = document["queries"]
    if not isinstance(queries, list) or not queries:
        return [*problems, _wrong(file, "queries", queries, "a list of at least one query")]
    seen: set[str] = set()
    for at, query in enumerate(queries):
        problems += object_problems(QUERY, query, file, f"queries[{at}].", _id_of(query))
        name = _id_of(query)
        if name is not None and name in seen:
            message = f"duplicate id {escaped(name)}, expected every id once"
            problems.append(problem("duplicate_id", file, f"queries[{at}].id", message, name))
        seen.add(name or "")
    return problems


def _id_of(query: Any) -> str | None:
    name = query.get("id") if isinstance(query, Mapping) else None
    return name if isinstance(name, str) and name.strip() else None


def object_problems(
    section: Section, value: Any, file: Path, prefix: str = "", query_id: str | None = None
) -> list[Problem]:
    """Name everything that is wrong with one object; `prefix` says where it stands."""
    if not isinstance(value, Mapping):
        return [_wrong(file, prefix.rstrip("."), value, "an object", query_id)]
    checks = {**section.required, **section.optional}
    problems = _unknown(value, checks, file, prefix, query_id)
    for name in section.required:
        if name not in value:
            message = f"missing key `{prefix}{name}`"
            problems.append(problem("missing_key", file, prefix + name, message, query_id))
    for name, check in checks.items():
        expected = check(value[name]) if name in value else None
        if expected:
            problems.append(_wrong(file, prefix + name, value[name], expected, query_id))
    return problems


def _unknown(
    value: Mapping[str, Any],
    known: Mapping[str, Any] | tuple[str, ...],
    file: Path,
    prefix: str,
    query_id: str | None = None,
) -> list[Problem]:
    return [
        problem(
            "unknown_key",
            file,
            f"{prefix}{name}",
            f"unknown key `{prefix}{name}`, expected {', '.join(known)}",
            query_id,
        )
        for name in value
        if name not in known
    ]


def _wrong(
    file: Path, column: str, value: Any, expected: str, query_id: str | None = None
) -> Problem:
    message = f"{escaped(value)}, expected {expected}"
    return Problem("value", str(file), None, query_id, column, escaped(value), message)


def problem(
    code: str, file: Path, column: str | None, message: str, query_id: str | None = None
) -> Problem:
    """Give a problem of a document; see `Problem`."""
    return Problem(code, str(file), None, query_id, column, None, message)
