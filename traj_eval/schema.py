"""What schema.json says of a trajectory, and what a value breaks of it.

The package must run where no JSON Schema library is; the few keywords that schema.json uses are
read here. The tests hold this to a full implementation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from drift_core.problems import escaped

_PYTHON = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "null": type(None),
}
_JSON = {**{kind: name for name, kind in _PYTHON.items()}, float: "number", int: "number"}
_ARTICLES = {"object": "an object", "array": "an array", "string": "text", "null": "null"}
_MANY = 20


@cache
def document() -> dict[str, Any]:
    """Give schema.json, parsed."""
    text = Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


@cache
def fields() -> dict[str, dict[str, Any]]:
    """Give the fields of a trajectory: name → schema."""
    return dict(document()["properties"])


@cache
def step_fields() -> dict[str, dict[str, Any]]:
    """Give the fields of a step: name → schema."""
    return dict(document()["$defs"]["step"]["properties"])


@cache
def required_step_fields() -> tuple[str, ...]:
    """Give the names of the fields that every step has."""
    return tuple(document()["$defs"]["step"]["required"])


@cache
def python_types(schema_type: str | tuple[str, ...]) -> frozenset[type]:
    """Give the exact Python types of a JSON type, or of several: true is no integer."""
    names = (schema_type,) if isinstance(schema_type, str) else schema_type
    found = {_PYTHON[name] for name in names if name != "number"}
    return frozenset(found | {int, float} if "number" in names else found)


def types_of(schema: Mapping[str, Any]) -> frozenset[type]:
    """Give the exact Python types that a field may have."""
    if "enum" in schema:
        return frozenset(map(type, schema["enum"]))
    kind = schema["type"]
    return python_types(kind if isinstance(kind, str) else tuple(kind))


@dataclass(frozen=True)
class Fault:
    """What a value breaks of the schema.

    Attributes:
        code: `type`, `missing_field`, `unknown_field`, `range`, `length` or `not_allowed`.
        path: where, such as `steps[3].verdict`; empty for the value as a whole.
        value: what came, escaped; None where nothing did.
        message: what came and what was expected.
    """

    code: str
    path: str
    value: str | None
    message: str


def faults(value: Any) -> list[Fault]:
    """Give everything in which a parsed JSON value is not a trajectory.

    Args:
        value: what a line holds.

    Returns:
        The faults, in the order of the fields; none if the value follows the schema.

    Example:
        >>> [fault.message for fault in faults({"id": "a", "gold": 4, "steps": []})]
        ['got 4, a number; expected text or null', 'has no steps; expected at least one']
    """
    return list(_faults(value, document(), ""))


def _faults(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[Fault]:
    if "$ref" in schema:
        schema = document()["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if "enum" in schema and value not in schema["enum"]:
        options = " or ".join(map(_shown, schema["enum"]))
        message = f"got {escaped(value)}; expected {options}"
        yield Fault("not_allowed", path, escaped(value), message)
        return
    if type(value) not in types_of(schema):
        yield _wrong_type(value, schema, path)
        return
    if isinstance(value, dict):
        yield from _object_faults(value, schema, path)
    elif isinstance(value, list):
        yield from _array_faults(value, schema, path)
    elif isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            null = "; write null where there is none" if type(None) in types_of(schema) else ""
            yield Fault("length", path, "''", f"is empty; expected text{null}")
    elif value is not None and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high):
            expected = f"at least {low}" if high is None else f"{low} to {high}"
            message = f"got {value}; expected {expected}"
            yield Fault("range", path, escaped(value), message)


def _object_faults(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[Fault]:
    known = schema["properties"]
    for name in value:
        if name not in known:
            message = _misplaced(name, path) or _unknown(name, known)
            yield Fault("unknown_field", _joined(path, name), escaped(name), message)
    for name in schema["required"]:
        if name not in value:
            yield Fault("missing_field", _joined(path, name), None, _missing(name, known[name]))
    for rule in schema.get("allOf", ()):  # null is the same as not being there
        (name,) = rule["if"]["required"]
        for other in rule["then"]["required"] if value.get(name) is not None else ():
            if value.get(other) is None:
                message = f"is missing; `{name}` says nothing without it"
                if other == "tokens":
                    message += ": put `tokens`, one list of token ids a step, beside `steps`"
                yield Fault("missing_field", _joined(path, other), None, message)
    for name, inner in known.items():
        if name in value:
            yield from _faults(value[name], inner, _joined(path, name))


def _array_faults(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[Fault]:
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    if high is not None and not low <= len(value) <= high:
        yield Fault("length", path, None, f"has {len(value)} items; expected {high}")
    elif len(value) < low:
        name = path.rsplit(".", 1)[-1]
        yield Fault("no_steps", path, "[]", f"has no {name}; expected at least one")
    if _are_plain_ints(value, schema["items"]):
        return
    found = 0
    for k, item in enumerate(value):
        for fault in _faults(item, schema["items"], f"{path}[{k}]"):
            yield fault
            found += 1
        if found >= _MANY and path != "steps":  # a canvas of texts says it once
            return


def _are_plain_ints(value: list[Any], schema: Mapping[str, Any]) -> bool:
    """Tell at once what would take long for each item of a canvas."""
    if schema.get("type") != "integer" or not value or not set(map(type, value)) <= {int}:
        return False
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    return bool(low <= min(value) and max(value) <= high)


def _wrong_type(value: Any, schema: Mapping[str, Any], path: str) -> Fault:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    expected = " or ".join(_ARTICLES.get(kind, f"a {kind}") for kind in kinds)
    expected = expected.replace("a integer", "a whole number").replace("a boolean", "true or false")
    came = _JSON.get(type(value), type(value).__name__)
    message = f"got {escaped(value)}, {_ARTICLES.get(came, f'a {came}')}; expected {expected}"
    if path.endswith("verdict") and came == "number":
        message += f': write it as text, "{value}", the same way as the gold'
    if not path and came == "array":
        message += ": one trajectory a line, without brackets or commas around them"
    return Fault("type", path, escaped(value), message)


def _misplaced(name: str, path: str) -> str | None:
    """Say where a field belongs that is in a step and should be beside all of them."""
    if not path or name not in fields():
        return None
    return f"is no field of a step; put `{name}` beside `steps`"


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, known, 1)
    hint = f"did you mean `{near[0]}`?" if near else f"expected some of {', '.join(known)}"
    return f"is no field of the format; {hint}"


def _missing(name: str, schema: Mapping[str, Any]) -> str:
    if name == "verdict":
        return "is missing; write null where there is none, or fill it in with `traj_eval extract`"
    if None.__class__ in types_of(schema):
        return "is missing; write null where there is none"
    return "is missing"


def _shown(value: Any) -> str:
    return "null" if value is None else f'"{value}"'


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
