"""Is this the header that was expected, and if not, what is it?"""

from __future__ import annotations

from collections.abc import Sequence

from drift_core.problems import escaped
from drift_onset import schema
from drift_onset.reading.findings import HEADER, Finding

SHOWN = 5
ORDER = "header_order"


def judge(found: list[str], columns: Sequence[str], optional: Sequence[str]) -> list[Finding]:
    """Find what is wrong with a header.

    Args:
        found: names as they stand in the file.
        columns: required names, in order.
        optional: names that may follow them.

    Returns:
        Findings, none if it is right. With `header_order` alone the rows can be read by name.
    """
    allowed = [*columns, *optional]
    wanted = f"expected {','.join(columns)}"
    if optional:
        wanted += f", optionally followed by {','.join(optional)}"
    if len(found) == 1 and any(mark in found[0] for mark in ";\t"):
        mark = "semicolons" if ";" in found[0] else "tabs"
        return [_fault("header", f"header looks separated by {mark}, expected commas", found[0])]
    own = set(columns) <= set(found) <= set(allowed)
    for kind, header in _known().items():
        if set(header) == set(found) and not own:
            return [_fault("header", f"is the header of {kind}; {wanted}", ",".join(found))]
    faults = _unknown(
        found, allowed, wanted, is_blind=tuple(columns) == schema.header(schema.BLIND)
    )
    for position, name in enumerate(found, 1):
        if name in allowed and name in found[: position - 1]:
            faults.append(_fault("header_duplicate", f"column {position} repeats {name}", name))
    missing = [name for name in columns if name not in found]
    if missing:
        what = "no column fits"
        if len(missing) < len(columns):
            what = f"missing column{'s' * (len(missing) > 1)} {','.join(missing)}"
        faults.append(_fault("header", f"{what}; {'expected as above' if faults else wanted}"))
    if not faults and found != allowed[: len(found)]:
        message = f"columns are out of order; {wanted}"
        faults.append(_fault(ORDER, message, ",".join(found)))
    return faults


def _unknown(found: list[str], allowed: list[str], wanted: str, *, is_blind: bool) -> list[Finding]:
    faults: list[Finding] = []
    strange = [(p, name) for p, name in enumerate(found, 1) if name not in allowed]
    for position, name in strange[:SHOWN]:
        is_label = is_blind and name in schema.fields(schema.LABELLED)
        code = "blind_label_column" if is_label else "header"
        extra = "label columns must not be in this file; " if is_label else ""
        shown = escaped(name, 40) if name else "an empty name (a pandas index?)"
        more = "expected as above" if faults else wanted
        faults.append(_fault(code, f"column {position} is {shown}; {extra}{more}", name))
    if len(strange) > SHOWN:
        faults.append(_fault("header", f"and {len(strange) - SHOWN} more unknown columns"))
    return faults


def _known() -> dict[str, tuple[str, ...]]:
    """Give the kinds of file in words, with their headers, to recognise one for another."""
    optional = schema.optional_columns(schema.PREDICTION)
    return {
        "a labelled file": schema.header(schema.LABELLED),
        "a blind file": schema.header(schema.BLIND),
        "a prediction file": schema.header(schema.PREDICTION),
        "a prediction file with confidence": (*schema.header(schema.PREDICTION), *optional),
    }


def _fault(code: str, message: str, value: str | None = None) -> Finding:
    return Finding(HEADER, None, code, None, None if value is None else escaped(value), message)
