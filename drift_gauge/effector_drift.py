"""How far the hands reach: blast-radius drift of proposed effects against a frozen anchor.

The reversibility classes measure a distance from the reversible origin; the mean class of a window
of proposals is its reach, from 0 to 2. This gauge stands on its own and never enters the gate: that
the hands reach further is another concern than that retrieval regressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from drift_core.problems import InvalidInput, escaped
from drift_gauge import documents
from drift_gauge.axes import Axis
from drift_gauge.golden import BASELINE_PATH
from drift_gauge.numbers import finite, jsonable, within


class EffectClass(IntEnum):
    """How far an effect reaches; the higher, the harder it is to undo."""

    SENSING = 0
    REVERSIBLE = 1
    IRREVERSIBLE = 2

    @classmethod
    def parse(cls, value: Any) -> EffectClass:
        """Read a class from its number or its name in lower case.

        Raises:
            ValueError: neither; True and 1.0 are not numbers of a class.

        Example:
            >>> EffectClass.parse("reversible") is EffectClass.parse(1)
            True
        """
        by_name = {effect.label: effect for effect in cls}
        if isinstance(value, str) and value in by_name:
            return by_name[value]
        is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if is_whole and 0 <= value < len(cls):
            return cls(int(value))
        raise ValueError(f"{escaped(value)}, expected 0, 1, 2 or {', '.join(by_name)}")

    @property
    def label(self) -> str:
        """Its name in lower case."""
        return self.name.lower()


class Ledger(Protocol):
    """Anything whose `all()` gives proposals."""

    def all(self) -> Iterable[Any]:
        """Give every proposal: a mapping with `class`, or a class."""


@dataclass(frozen=True)
class EffectorReach:
    """How far a window of proposals reached.

    Attributes:
        mean_reach: mean class, from 0 to 2; 0 without proposals.
        irreversible_fraction: share of irreversible ones, from 0 to 1.
        max_class: the highest class, 0 without proposals.
        n: number of proposals.
    """

    mean_reach: float
    irreversible_fraction: float
    max_class: int
    n: int


@dataclass(frozen=True)
class EffectorAnchor:
    """The frozen fixed points: the `effectors` section of a baseline.

    Attributes:
        baseline_reach: the reach that its owner expects, from 0 to 2.
        reach_tol: one unit of rising reach, at least 0.

    Raises:
        ValueError: a number is NaN, infinite or out of range.
    """

    baseline_reach: float = 0.0
    reach_tol: float = 0.5

    def __post_init__(self) -> None:
        finite("baseline_reach", self.baseline_reach, 0, 2)
        finite("reach_tol", self.reach_tol, 0)


@dataclass(frozen=True)
class EffectorDriftReport:
    """One reading of the effector gauge.

    Attributes:
        reach: what was measured.
        deterioration: how far reach rose past the anchor, in tolerances; at least 0.
        within_tolerance: deterioration ≤ 1 + 1e-9.
        anchor: what it was measured against.
    """

    reach: EffectorReach
    deterioration: float
    within_tolerance: bool
    anchor: EffectorAnchor

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order, with "inf" for ∞."""
        return {
            "reach": asdict(self.reach),
            "deterioration": jsonable(self.deterioration),
            "within_tolerance": self.within_tolerance,
            "anchor": asdict(self.anchor),
        }


def reach_of(classes: Iterable[int]) -> EffectorReach:
    """Summarise a window of proposals.

    Args:
        classes: the reversibility class of each; an `EffectClass`, its number or its name.

    Raises:
        ValueError: a value is no class.

    Example:
        >>> reach_of([EffectClass.SENSING, EffectClass.IRREVERSIBLE])
        EffectorReach(mean_reach=1.0, irreversible_fraction=0.5, max_class=2, n=2)
    """
    found = [_class_at(at, value) for at, value in enumerate(classes)]
    n = len(found)
    if not n:
        return EffectorReach(0.0, 0.0, 0, 0)
    irreversible = found.count(EffectClass.IRREVERSIBLE)
    return EffectorReach(sum(found) / n, irreversible / n, int(max(found)), n)


def _class_at(at: int, value: Any) -> EffectClass:
    try:
        return EffectClass.parse(value)
    except ValueError as error:
        raise ValueError(f"proposal {at}: class {error}") from None


def effector_reach_axis(reach: EffectorReach, anchor: EffectorAnchor) -> Axis:
    """Give reach as a drift axis; reaching further than the anchor is the bad direction."""
    return Axis(
        "effector_reach",
        reach.mean_reach,
        anchor.baseline_reach,
        anchor.reach_tol,
        higher_is_better=False,
    )


def measure_effector_drift(
    classes: Iterable[int], anchor: EffectorAnchor | None = None
) -> EffectorDriftReport:
    """Read the effector gauge.

    Args:
        classes: see `reach_of`.
        anchor: what to measure against; None for the default anchor.

    Example:
        >>> measure_effector_drift([0, 0, 1, 1]).deterioration
        1.0
    """
    return effector_drift_of(reach_of(classes), anchor)


def effector_drift_of(
    reach: EffectorReach, anchor: EffectorAnchor | None = None
) -> EffectorDriftReport:
    """Read the effector gauge off a reach that is there already."""
    against = EffectorAnchor() if anchor is None else anchor
    deterioration = effector_reach_axis(reach, against).deterioration()
    return EffectorDriftReport(reach, deterioration, within(deterioration, 1.0), against)


def reach_from_ledger(ledger: Ledger) -> EffectorReach:
    """Summarise every proposal of a ledger; a window of it is the caller's to cut.

    Args:
        ledger: anything whose `all()` gives mappings with `class`, or classes.
    """
    return reach_of(row["class"] if isinstance(row, Mapping) else row for row in ledger.all())


def load_effector_anchor(path: documents.Path = BASELINE_PATH) -> EffectorAnchor:
    """Read the `effectors` section of a baseline; the defaults where it has none.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: a ValueError that names everything wrong with the file.
    """
    return anchor_of(documents.read_checked(path, documents.baseline_problems))


def anchor_of(baseline: Mapping[str, Any]) -> EffectorAnchor:
    """Give the anchor of a whole baseline; the default where it has no `effectors` section."""
    problems = documents.baseline_problems(baseline)
    if problems:
        raise InvalidInput(problems)
    return EffectorAnchor(**baseline.get("effectors", {}))
