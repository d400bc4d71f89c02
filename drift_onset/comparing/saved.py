"""Reports read back from the files that `reasoning-drift score --output` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import loads
from drift_onset import schema
from drift_onset.scores import BOARDS, LEADERBOARD_A

EXPECTED = "expected what `reasoning-drift score --output FILE` writes, unchanged"


def read(path: Path) -> dict[str, Any]:
    """Read a report and check that it is one.

    Args:
        path: the file.

    Raises:
        InvalidInput: it cannot be read, is no strict JSON, or lacks what every report has.
    """
    try:
        report = loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise invalid(path, f"cannot be read: {error.strerror}", "file_missing") from None
    except ValueError as error:
        message = f"is no report ({escaped(str(error), 200)[1:-1]}); {EXPECTED}"
        raise invalid(path, message, "json_invalid") from None
    try:
        is_whole = _is_whole(report)
    except (KeyError, TypeError, AttributeError):
        is_whole = False
    if not is_whole:
        raise invalid(path, f"is no report; {EXPECTED}", "json_invalid")
    return dict(report)


def _is_whole(report: Any) -> bool:
    signature = report["signature"]
    whole = all(isinstance(signature[name], str) for name in ("scorer", "gold_sha256"))
    whole &= all(type(signature[name]) is int for name in ("n", "n_invalid"))
    whole &= report["benchmark"]["n"] == signature["n"] > 0
    intervals = report["uncertainty"]["intervals"]
    for board, metrics in BOARDS.items():
        values = [report[board][metric] for metric in metrics]
        whole &= all(type(v) in (int, float) and 0 <= v <= 1 for v in values)
    mean, *parts = (report[next(iter(BOARDS))][metric] for metric in LEADERBOARD_A)
    whole &= abs(mean - sum(parts) / len(parts)) < 1e-9
    for interval in intervals.values():
        whole &= {"low", "high", "degenerate", "n"} <= interval.keys()
    for target in schema.label_targets():
        for label in schema.labels(target):
            support = report["class_support"][target][label]
            whole &= all(type(support[side]) is int for side in ("gold", "predicted"))
            whole &= 0 <= report["per_class_metrics"][target][label]["f1"] <= 1
    return bool(whole)


def invalid(path: Path, message: str, code: str = "report_content") -> InvalidInput:
    """Give the error for one report."""
    return InvalidInput([Problem(code, str(path), None, None, None, None, message)])


def mismatches(path: Path, report: dict[str, Any], expected: dict[str, Any], whose: str) -> None:
    """Raise unless the signature of a report has the expected values.

    Args:
        path: the file, to name it.
        report: what was read from it.
        expected: names of the signature and their values.
        whose: what these values are of, to say so.
    """
    problems: list[Problem] = []
    for name, wanted in expected.items():
        got = report["signature"][name]
        if got != wanted:
            message = f"{name} is {escaped(got)}, {whose} {escaped(wanted)}"
            problems += invalid(path, message).problems
    if problems:
        raise InvalidInput(problems)
