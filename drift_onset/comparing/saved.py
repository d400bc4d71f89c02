"""Reports read back from the files that `reasoning-drift score --output` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import loads
from drift_onset import schema
from drift_onset.scores import BOARDS, LEADERBOARD_A, LEADERBOARD_B

_ROUNDING = 1e-9
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
        faults = list(_faults(report))
    except (KeyError, TypeError, AttributeError) as error:
        lacking = f" ({error} is missing)" if isinstance(error, KeyError) else ""
        raise invalid(path, f"is no report{lacking}; {EXPECTED}", "json_invalid") from None
    if faults:
        raise invalid(path, f"is no report: {'; '.join(faults)}; {EXPECTED}")
    return dict(report)


def _faults(report: Any) -> Iterator[str]:
    """Say what in a report cannot have come from one scoring."""
    signature = report["signature"]
    n = signature["n"]
    for name, kind in (("scorer", str), ("gold_sha256", str), ("n", int), ("n_invalid", int)):
        if type(signature[name]) is not kind:
            yield f"{name} is {escaped(signature[name])}"
    if report["benchmark"]["n"] != n or n <= 0:
        yield f"n is {escaped(report['benchmark']['n'])} and {escaped(n)}"
    intervals = report["uncertainty"]["intervals"]
    for board, metrics in BOARDS.items():
        for metric in metrics:
            yield from _value(metric, report[board][metric], intervals.get(metric))
    mean, *parts = (report[next(iter(BOARDS))][metric] for metric in LEADERBOARD_A)
    if abs(mean - sum(parts) / len(parts)) >= _ROUNDING:
        yield f"{LEADERBOARD_A[0]} is {mean}, not the mean of its parts"
    board_a, board_b = (report[board] for board in BOARDS)
    for accuracy, hits in (
        (LEADERBOARD_A[2], board_a[LEADERBOARD_A[2]]),
        (LEADERBOARD_B[0], board_b[LEADERBOARD_B[0]]),
    ):
        if abs(hits * n - round(hits * n)) >= _ROUNDING * n:
            yield f"{accuracy} is {hits}, which is no number of {n} rows"
    for target in schema.label_targets():
        for label in schema.labels(target):
            support = report["class_support"][target][label]
            f1 = report["per_class_metrics"][target][label]["f1"]
            if not (all(type(support[s]) is int for s in ("gold", "predicted")) and 0 <= f1 <= 1):
                yield f"support or F1 of {label} is out of range"


def _value(metric: str, value: Any, interval: Any) -> Iterator[str]:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        yield f"{metric} is {escaped(value)}, expected 0 to 1"
    elif interval is not None and interval["method"] == "wilson":
        low, high = interval["low"], interval["high"]
        if not low - _ROUNDING <= value <= high + _ROUNDING:
            yield f"{metric} is {value}, outside of its interval"


def invalid(path: Path, message: str, code: str = "report_content") -> InvalidInput:
    """Give the error for one report."""
    return InvalidInput([Problem.of_file(code, path, message)])


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
