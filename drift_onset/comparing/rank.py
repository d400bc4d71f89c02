"""A folder of reports → the two leaderboards, apart."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem
from drift_onset import schema, splits
from drift_onset.comparing import saved
from drift_onset.comparing.references import Reference, references
from drift_onset.reading.loading import read_file
from drift_onset.scores import BOARDS

MODEL, REFERENCE = "model", "reference"
_DIGITS = 12  # scores that differ by rounding alone are a tie


@dataclass(frozen=True)
class Entry:
    """One row of a leaderboard.

    Attributes:
        rank: competition rank (1, 2, 2, 4); None for a reference, which is placed, not ranked.
        name: of the model or the reference.
        kind: `model` or `reference`.
        method: how a reference got its values; `scored` for a model.
        n, n_invalid: scenarios, and those of them without a readable answer, counted as wrong.
        values: metric → value, the ranking one first.
        low, high: 95 % interval of the ranking metric, None where there is none.
        degenerate: whether the interval says nothing.
    """

    rank: int | None
    name: str
    kind: str
    method: str
    n: int
    n_invalid: int
    values: Mapping[str, float]
    low: float | None
    high: float | None
    degenerate: bool

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        fields = ("rank", "name", "kind", "method", "n", "n_invalid")
        return {
            **{name: getattr(self, name) for name in fields},
            **self.values,
            **{name: getattr(self, name) for name in ("low", "high", "degenerate")},
        }


@dataclass(frozen=True)
class Leaderboards:
    """Both leaderboards over the same scenarios.

    Attributes:
        boards: section of a report → its rows, best first.
        support: label target → label → gold rows.
        f1: label target → label → model → F1.
        signature: what the reports have in common.
    """

    boards: Mapping[str, Sequence[Entry]]
    support: Mapping[str, Mapping[str, int]]
    f1: Mapping[str, Mapping[str, Mapping[str, float]]]
    signature: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Give both leaderboards with their keys in a fixed order."""
        return {
            **{
                board: {
                    "primary_ranking_metric": BOARDS[board][0],
                    "rows": [entry.to_dict() for entry in entries],
                }
                for board, entries in self.boards.items()
            },
            "class_support": {target: dict(found) for target, found in self.support.items()},
            "per_class_f1": {
                target: {label: dict(found) for label, found in by_label.items()}
                for target, by_label in self.f1.items()
            },
            "signature": dict(self.signature),
        }

    def to_csv(self) -> str:
        """Give both leaderboards as one CSV; a column tells them apart."""
        metrics = [metric for board in BOARDS.values() for metric in board]
        first = ("leaderboard", "rank", "name", "kind", "method", "n", "n_invalid")
        text = io.StringIO()
        header = [*first, *metrics, "low", "high", "degenerate"]
        writer = csv.DictWriter(text, header, lineterminator="\n")
        writer.writeheader()
        for board, entries in self.boards.items():
            writer.writerows({"leaderboard": board, **entry.to_dict()} for entry in entries)
        return text.getvalue()


def rank(folder: str | Path, gold: str | Path | None = None) -> Leaderboards:
    """Rank the models of a folder of reports.

    Args:
        folder: every `.json` in it is a report; its name without the ending is the model's.
        gold: the labelled file that the reports are on, for the reference rows; if None, the split
            of the benchmark that they are on, and no reference rows if it is none of these.

    Returns:
        The leaderboards, reference rows included.

    Raises:
        InvalidInput: there is no report, a file is none, or a report is on other data or of another
            version of the scorer than the rest; each is named.
    """
    paths = sorted(path for path in Path(folder).glob("*.json") if path.is_file())
    if not paths:
        what = "has no .json file" if Path(folder).is_dir() else "is no folder"
        message = f"{what}; expected one report a model, each {saved.EXPECTED[9:]}"
        raise saved.invalid(Path(folder), message, "file_missing")
    reports: dict[Path, dict[str, Any]] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            reports[path] = saved.read(path)
        except InvalidInput as error:
            problems += error.problems
    source, expected, whose = _expected(list(reports.values()), gold)
    for path, report in reports.items():
        try:
            saved.mismatches(path, report, expected, whose)
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    rows = references(source) if source else []
    named = {path.stem: report for path, report in reports.items()}
    return Leaderboards(
        boards={board: _board(board, named, rows) for board in BOARDS},
        support={
            target: {label: c["gold"] for label, c in by_label.items()}
            for target, by_label in next(iter(named.values()))["class_support"].items()
        },
        f1=_f1(named),
        signature=expected,
    )


def _expected(
    reports: Sequence[Mapping[str, Any]], gold: str | Path | None
) -> tuple[Path | None, dict[str, Any], str]:
    """Give the labelled file, what every signature has to say, and whose words these are."""
    scorer = {"scorer": f"reasoning-drift {__version__}"}
    if gold is not None:
        return Path(gold), {**scorer, **_identity(Path(gold))}, f"{gold} with this version has"
    if not reports:
        return None, {}, ""
    names = ("gold_sha256", "n")
    found = Counter(tuple(report["signature"][name] for name in names) for report in reports)
    most, times = found.most_common(1)[0]
    common = dict(zip(names, most, strict=True))
    shipped = {split.name: split for split in splits.splits() if split.record == schema.LABELLED}
    for split in shipped.values():
        path = schema.resource("data").parent / split.file
        if _identity(path) == common:
            return path, {**scorer, **common}, f"{split.file} with this version has"
    return None, {**scorer, **common}, f"{times} of {len(reports)} reports have"


def _identity(path: Path) -> dict[str, Any]:
    loaded = read_file(str(path), schema.LABELLED)
    if problems := loaded.problems():
        raise InvalidInput(problems)
    return {"gold_sha256": loaded.states.sha256(), "n": len(loaded.states)}


def _board(
    board: str, reports: Mapping[str, Mapping[str, Any]], rows: Sequence[Reference]
) -> list[Entry]:
    metrics = BOARDS[board]
    scores = {name: round(report[board][metrics[0]], _DIGITS) for name, report in reports.items()}
    entries = []
    for name, report in reports.items():
        place = 1 + sum(other > scores[name] for other in scores.values())
        interval = report["uncertainty"]["intervals"].get(metrics[0], {})
        entries.append(
            Entry(
                rank=place,
                name=name,
                kind=MODEL,
                method="scored",
                n=report["signature"]["n"],
                n_invalid=report["signature"]["n_invalid"],
                values={metric: report[board][metric] for metric in metrics},
                low=interval.get("low"),
                high=interval.get("high"),
                degenerate=bool(interval.get("degenerate", False)),
            )
        )
    entries += [_reference(row, metrics) for row in rows]
    entries.sort(key=lambda e: (-round(e.values[metrics[0]], _DIGITS), e.kind, e.name))
    return entries


def _reference(row: Reference, metrics: Sequence[str]) -> Entry:
    interval = row.intervals.get(metrics[0])
    return Entry(
        rank=None,
        name=row.name,
        kind=REFERENCE,
        method=row.method,
        n=row.n,
        n_invalid=0,
        values={metric: row.values[metric] for metric in metrics},
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        degenerate=bool(interval and interval.degenerate),
    )


def _f1(reports: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        target: {
            label: {
                name: report["per_class_metrics"][target][label]["f1"]
                for name, report in reports.items()
            }
            for label in schema.labels(target)
        }
        for target in schema.label_targets()
    }
