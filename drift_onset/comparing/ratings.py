"""Labelled and prediction files of several raters → what each of them says of each scenario."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import loads
from drift_onset import pairing, schema
from drift_onset.reading.loading import Loaded, read_file
from drift_onset.reading.records import CsvFile

Codes = npt.NDArray[np.int32]

MISSING = -1
PRESENCE = "drift_presence"
SECONDARY = ("severity", "drift_mechanism")  # only labelled files have them


@dataclass(frozen=True)
class Ratings:
    """What r raters say of n scenarios.

    Attributes:
        raters: their names.
        ids: the scenarios that at least one rater has, in the order in which they first appear.
        codes: field → n × r codes, MISSING (-1) where a rater says nothing; labels in schema
            order, onset and residual as numbers from 1 with 0 for none.
        names: field → the text of each code; a field that has numbers is not in it.
        sha256: of all of this, for the signature.
    """

    raters: tuple[str, ...]
    ids: tuple[str, ...]
    codes: Mapping[str, Codes]
    names: Mapping[str, Sequence[str]]
    sha256: str

    def text(self, field: str, code: int) -> str | None:
        """Give a code as a file has it; None for a rating that is missing."""
        if code == MISSING:
            return None
        if field in self.names:
            return self.names[field][code]
        return str(code) if code else "none" if field == schema.targets()[-1] else "blank"


def read(paths: Sequence[str]) -> Ratings:
    """Read the files of at least two raters.

    Args:
        paths: labelled or prediction files, in any mixture; each is one rater.

    Raises:
        InvalidInput: a file has problems, stands there twice, or has no scenario in common with the
            others; or labelled files give a scenario different constraints or steps.
    """
    problems = _repeated(paths)
    kinds = [_kind(path) for path in paths]
    loaded = [read_file(path, kind) for path, kind in zip(paths, kinds, strict=True)]
    for one, kind in zip(loaded, kinds, strict=True):
        if kind == schema.PREDICTION:  # else reading looked for them
            one.findings += pairing.duplicates(one.states)[1]
    _held_to_each_other(loaded)
    problems += [problem for one in loaded for problem in one.problems()]
    if not problems:
        problems += _apart(loaded)
    labelled = {
        k: _secondary(path)
        for k, (path, kind) in enumerate(zip(paths, kinds, strict=True))
        if kind == schema.LABELLED and not problems
    }
    problems += _different_inputs(paths, labelled)
    if problems:
        raise InvalidInput(problems)
    return _joined(names(paths), loaded, labelled)


def _kind(path: str) -> str:
    """Tell a labelled file from one of predictions by its header."""
    found = CsvFile(Path(path), schema.header(schema.PREDICTION)).found
    return schema.PREDICTION if any(schema.PREDICTED in name for name in found) else schema.LABELLED


def _repeated(paths: Sequence[str]) -> list[Problem]:
    seen: dict[str, str] = {}
    problems = []
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            message = f"is the same file as {seen[real]}; expected one file a rater"
            problems.append(Problem.of_file("duplicate_rater", path, message))
        seen.setdefault(real, path)
    return problems


def names(paths: Sequence[str]) -> tuple[str, ...]:
    """Name files without their endings, with as much of the path as tells them apart."""
    parts = [Path(path).with_suffix("").parts for path in paths]
    for length in range(1, max(map(len, parts)) + 1):
        found = ["/".join(part[-length:]) for part in parts]
        if len(set(found)) == len(found):
            return tuple(found)
    return tuple(paths)


def _held_to_each_other(loaded: Sequence[Loaded]) -> None:
    """Hold predictions to the bounds that labelled files give for the same scenarios."""
    known = [one for one in loaded if one.is_readable and one.states.steps.any()]
    for one in loaded:
        if one.states.steps.any() or not one.is_readable:
            continue
        told: set[tuple[int | None, str]] = set()
        for gold in known:
            for found in pairing.pair(gold.states, one.states)[1]:
                if found.code.endswith("_bounds") and (found.record, found.code) not in told:
                    told.add((found.record, found.code))
                    one.findings.append(found)


def _apart(loaded: Sequence[Loaded]) -> list[Problem]:
    """Find raters that share no scenario with any other."""
    ids = [set(one.states.ids.to_pylist()) for one in loaded]
    message = "has no scenario in common with any other rater"
    return [
        Problem.of_file("unknown_scenario", one.name, message)
        for k, one in enumerate(loaded)
        if not any(ids[k] & other for at, other in enumerate(ids) if at != k)
    ]


def _secondary(path: str) -> dict[str, dict[str, str]]:
    """Read the columns of a labelled file that the states do not hold, by scenario."""
    names = (*SECONDARY, "constraints_json", "trajectory_json")
    file = CsvFile(Path(path), schema.header(schema.LABELLED))
    return {row["scenario_id"]: {name: row[name] for name in names} for _, row in file.rows()}


def _different_inputs(
    paths: Sequence[str], labelled: Mapping[int, Mapping[str, Mapping[str, str]]]
) -> list[Problem]:
    """Find scenarios that two labelled files give different constraints or steps."""
    first: dict[tuple[str, str], tuple[Any, str]] = {}
    problems = []
    for k, rows in labelled.items():
        for scenario, row in rows.items():
            for column in ("constraints_json", "trajectory_json"):
                value = loads(row[column])
                kept, where = first.setdefault((scenario, column), (value, paths[k]))
                if kept != value:
                    message = (
                        f"differs from the same scenario in {where}; expected one text for all"
                    )
                    shown = escaped(row[column], 60)
                    problems.append(
                        Problem("other_inputs", paths[k], None, scenario, column, shown, message)
                    )
    return problems


def _joined(
    names: tuple[str, ...],
    loaded: Sequence[Loaded],
    labelled: Mapping[int, Mapping[str, Mapping[str, str]]],
) -> Ratings:
    listed = [one.states.ids.to_pylist() for one in loaded]
    ids = tuple(dict.fromkeys(scenario for rows in listed for scenario in rows))
    place = {scenario: k for k, scenario in enumerate(ids)}
    shape = (len(ids), len(loaded))
    codes = {target: np.full(shape, MISSING, np.int32) for target in schema.targets()}
    for k, one in enumerate(loaded):
        at = [place[scenario] for scenario in listed[k]]
        for target in codes:
            codes[target][at, k] = one.states.codes[target]
    texts: dict[str, Sequence[str]] = {t: schema.labels(t) for t in schema.label_targets()}
    outcome = codes[schema.targets()[0]]
    family = codes[schema.label_targets()[1]]
    # schema.json: the family is `none` without drift, and only then.
    drift = (family != schema.labels(schema.label_targets()[1]).index(schema.NONE)).astype(np.int32)
    codes[PRESENCE] = np.where(outcome == MISSING, np.int32(MISSING), drift)
    texts[PRESENCE] = ("no", "yes")
    for field in SECONDARY:
        options = schema.fields(schema.LABELLED)[field].labels or sorted(
            {row[field] for rows in labelled.values() for row in rows.values()}
        )
        texts[field] = options
        codes[field] = np.full(shape, MISSING, np.int32)
        for k, rows in labelled.items():
            for scenario, row in rows.items():
                codes[field][place[scenario], k] = options.index(row[field])
    digest = sha256("\0".join([*names, *ids]).encode())
    for field in sorted(codes):
        digest.update(codes[field].astype("<i4").tobytes())
    return Ratings(names, ids, codes, texts, digest.hexdigest())
