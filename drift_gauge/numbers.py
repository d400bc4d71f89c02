"""What counts as a number here, and how far one may be past its limit."""

from __future__ import annotations

import math
from typing import Any

SLACK = 1e-9


def finite(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Give a value back if it is a finite number within its range.

    Args:
        name: what the message calls it.
        value: anything.
        low: least value allowed.
        high: greatest value allowed.

    Raises:
        ValueError: not a number, NaN, infinite or out of range.

    Example:
        >>> finite("recall_tol", float("nan"), low=0)
        Traceback (most recent call last):
        ...
        ValueError: Expected argument `recall_tol` to be a finite number ≥ 0 but got nan
    """
    fault = number_fault(value, low, high)
    if fault:
        raise ValueError(f"Expected argument `{name}` to be {fault} but got {value!r}")
    return float(value)


def number_fault(value: Any, low: float = -math.inf, high: float = math.inf) -> str | None:
    """Say what was expected instead of a value, or None if the value is fine."""
    if _is_number(value) and math.isfinite(value) and low <= value <= high:
        return None
    bounds = [f"≥ {low:g}"] if math.isfinite(low) else []
    bounds += [f"≤ {high:g}"] if math.isfinite(high) else []
    return " ".join(["a finite number", " and ".join(bounds)]).strip()


def _is_number(value: Any) -> bool:
    """Tell whether a value is a real number of Python or numpy; True and False are not."""
    return (
        hasattr(value, "__float__")
        and hasattr(value, "__lt__")
        and not (isinstance(value, (str, bytes)) or type(value).__name__.startswith("bool"))
        and getattr(value, "ndim", 0) == 0
    )


def whole(name: str, value: Any, low: int) -> int:
    """Give a value back if it is a whole number of at least `low`.

    Raises:
        ValueError: not an int (of Python or numpy), or below `low`.
    """
    fault = whole_fault(value, low)
    if fault:
        raise ValueError(f"Expected argument `{name}` to be {fault} but got {value!r}")
    return int(value)


def whole_fault(value: Any, low: int) -> str | None:
    """Say what was expected instead of a value, or None if the value is fine."""
    is_whole = hasattr(value, "__index__") and _is_number(value)
    return None if is_whole and value >= low else f"a whole number ≥ {low}"


def deterioration(
    value: float | None, baseline: float, tolerance: float, *, higher_is_better: bool
) -> float:
    """Give how far a value is past its baseline in the bad direction, in tolerances.

    Args:
        value: the measured value; None if there was nothing to measure.
        baseline: the blessed value.
        tolerance: what counts as one unit; 0 tolerates nothing.
        higher_is_better: which direction is bad.

    Returns:
        max(0, deterioration) / tolerance: 0 at or better than the baseline; ∞ for any
        deterioration past a tolerance of 0, and for a value that is not there.

    Example:
        >>> deterioration(0.75, 1.0, 0.125, higher_is_better=True)
        2.0
    """
    if value is None:
        return math.inf
    worse = baseline - value if higher_is_better else value - baseline
    if worse <= 0:
        return 0.0
    return worse / tolerance if tolerance > 0 else math.inf


def within(value: float, limit: float) -> bool:
    """Tell whether a value is at most its limit, with a relative slack of 1e-9.

    Floats make a deterioration of exactly one tolerance 1.0000000000000002.

    Example:
        >>> within((0.35 - 0.30) / 0.05, 1.0), within(1.00001, 1.0)
        (True, False)
    """
    return value <= limit * (1 + SLACK)


def apart(text: str, value: float | None, limit: float) -> str:
    """Fill two numbers into a text, with as many digits as it takes to tell them apart.

    Args:
        text: holds `{}` twice.
        value: a number; None if it was not measured.
        limit: what it is told beside.

    Example:
        >>> apart("{} against {}", 0.81862, 0.81863)
        '0.81862 against 0.81863'
    """
    if value is None:
        return text.format("unmeasured", f"{limit:.4g}")
    for digits in range(4, 18):
        shown = f"{value:.{digits}g}", f"{limit:.{digits}g}"
        if shown[0] != shown[1]:
            break
    return text.format(*shown)


def jsonable(value: float) -> float | str:
    """Give a number as JSON has it: ∞ is the text "inf"."""
    return "inf" if value == math.inf else value
