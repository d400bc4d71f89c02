"""Readings over time: a JSON Lines log, and the Θ that an observed curve would give."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np

from drift_core import __version__
from drift_core.problems import InvalidInput, Problem, escaped
from drift_gauge import json_lines
from drift_gauge.documents import text_fault
from drift_gauge.drift import DriftReport
from drift_gauge.numbers import finite, jsonable, number_fault


@dataclass(frozen=True)
class Reading:
    """One line of the log.

    Attributes:
        time: when the reading was made, with its offset from UTC.
        drift: D; ∞ after a breach or where something could not be measured.
        theta: Θ at that time.
        within_tolerance: whether D was in band.
        constitution_intact: whether the constitution was.
        per_axis: axis → deterioration in tolerances.
        signature: how it was made; readings with the same signature can be compared.
    """

    time: datetime
    drift: float
    theta: float
    within_tolerance: bool
    constitution_intact: bool
    per_axis: Mapping[str, float]
    signature: Mapping[str, Any]

    def kind(self) -> tuple[Any, ...]:
        """Give what has to be the same where two readings are compared."""
        return tuple(
            self.signature.get(name) for name in ("retriever", "golden_sha256", "baseline_sha256")
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order, with "inf" for ∞."""
        return {
            "time": self.time.isoformat(),
            "drift": jsonable(self.drift),
            "theta": self.theta,
            "within_tolerance": self.within_tolerance,
            "constitution_intact": self.constitution_intact,
            "per_axis": {name: jsonable(value) for name, value in self.per_axis.items()},
            "signature": dict(self.signature),
        }


def append_reading(
    path: json_lines.Path, report: DriftReport, *, time: datetime | None = None
) -> None:
    """Append one reading to a log: time, D, axes, Θ, signature and versions.

    Args:
        path: the log; it and its folder are made.
        report: the reading.
        time: when it was made, with an offset from UTC; None for now.

    Raises:
        OSError: the log cannot be written.
        ValueError: `time` has no offset.
    """
    at = datetime.now(timezone.utc) if time is None else time
    if at.tzinfo is None:
        raise ValueError(f"Expected argument `time` to have an offset from UTC but got {at}")
    versions = {
        "reasoning-drift": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    json_lines.append(path, {"time": at.isoformat(), **report.to_dict(), "versions": versions})


def load_history(path: json_lines.Path) -> tuple[list[Reading], list[Problem]]:
    """Read a log.

    Returns:
        The readings in the order of the file, and a problem for every torn line, which is skipped.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: a ValueError that names every line that is no reading, or that there is none.
    """
    lines, torn = json_lines.read(path)
    problems = [p for number, row in lines for p in _problems(path, number, row)]
    if not lines:
        problems.append(Problem.of_file("no_readings", path, "expected a reading, got none"))
    if problems:
        raise InvalidInput(problems)
    return [_reading(row) for _, row in lines], torn


_REQUIRED = ("time", "drift", "theta", "within_tolerance", "constitution_intact", "per_axis")


def _problems(path: json_lines.Path, number: int, row: Mapping[str, Any]) -> list[Problem]:
    faults = {name: "missing, expected a reading" for name in _REQUIRED if name not in row}
    faults.update(
        {
            name: f"{escaped(row[name])}, expected {expected}"
            for name in _REQUIRED
            if name in row and (expected := _fault(name, row[name]))
        }
    )
    return [
        Problem("reading", str(path), number, None, name, escaped(row.get(name)), message)
        for name, message in faults.items()
    ]


def _fault(name: str, value: Any) -> str | None:
    if name == "time":
        return None if _time(value) else "a time with its offset from UTC"
    if name == "per_axis":
        fine = isinstance(value, dict) and not any(_amount_fault(v) for v in value.values())
        return None if fine else 'an object of numbers ≥ 0 or "inf"'
    if name in ("within_tolerance", "constitution_intact"):
        return None if isinstance(value, bool) else "true or false"
    return number_fault(value, 0) if name == "theta" else _amount_fault(value)


def _amount_fault(value: Any) -> str | None:
    return None if value == "inf" or not number_fault(value, 0) else 'a number ≥ 0 or "inf"'


def _time(value: Any) -> datetime | None:
    if text_fault(value):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else None


def _reading(row: Mapping[str, Any]) -> Reading:
    return Reading(
        datetime.fromisoformat(row["time"]),
        float(row["drift"]),
        float(row["theta"]),
        row["within_tolerance"],
        row["constitution_intact"],
        {name: float(value) for name, value in row["per_axis"].items()},
        row.get("signature") or {},
    )


@dataclass(frozen=True)
class Calibration:
    """What Θ an observed curve would give; nothing is written anywhere.

    Attributes:
        theta: the quantile of D.
        quantile: which one, from 0 to 1.
        n: how many readings it is taken over.
        infinite: readings left out because D was ∞.
        others: readings left out because they were made against another anchor than the last one.
    """

    theta: float
    quantile: float
    n: int
    infinite: int
    others: int

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return asdict(self)


def calibrate(readings: Sequence[Reading], quantile: float = 0.95) -> Calibration:
    """Give the quantile of the observed D.

    Readings count if retriever, golden set, blessed metrics and tolerances are those of the last
    one, and D is finite.

    Args:
        readings: at least one.
        quantile: from 0 to 1, interpolated linearly.

    Raises:
        ValueError: the quantile is out of range, or no reading counts.
    """
    finite("quantile", quantile, 0, 1)
    if not readings:
        raise ValueError("Expected argument `readings` to hold at least one reading but got none")
    same = [reading for reading in readings if reading.kind() == readings[-1].kind()]
    observed = [reading.drift for reading in same if math.isfinite(reading.drift)]
    if not observed:
        message = "every D is ∞, expected a reading with a finite D"
        raise InvalidInput([Problem.of_file("no_readings", "<readings>", message)])
    theta = float(np.quantile(observed, quantile))
    infinite = len(same) - len(observed)
    return Calibration(theta, quantile, len(observed), infinite, len(readings) - len(same))
