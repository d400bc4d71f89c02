"""What schema.json says: columns, labels, types and rules."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import datasets

LABELLED, BLIND, PREDICTION = "labelled_record", "model_input", "prediction"
PREDICTED = "predicted_"
NONE = "none"


def resource(name: str) -> Path:
    """Find a file or folder that ships with the package.

    A wheel carries it inside the package; in a clone it stands beside the package.

    Args:
        name: `schema.json`, `data` or `metric`.

    Raises:
        FileNotFoundError: neither place has it.
    """
    here = Path(__file__).resolve().parent
    for folder in (here, here.parent):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"{name} is neither in {here} nor in {here.parent}")


@cache
def document() -> dict[str, Any]:
    """Give schema.json, parsed."""
    parsed: dict[str, Any] = json.loads(resource("schema.json").read_text(encoding="utf-8"))
    return parsed


def definition(name: str) -> dict[str, Any]:
    """Give one entry of `$defs`, by name."""
    found: dict[str, Any] = document()["$defs"][name]
    return found


@dataclass(frozen=True)
class Field:
    """A column: its name and its schema with the reference resolved."""

    name: str
    schema: Mapping[str, Any]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in schema order; empty for a column that is no label."""
        return tuple(option["const"] for option in self.schema.get("oneOf", ()))

    @property
    def types(self) -> tuple[str, ...]:
        """JSON types allowed; `null` among them means that a blank cell is."""
        kind = self.schema.get("type", "string")
        return (kind,) if isinstance(kind, str) else tuple(kind)

    @property
    def decoded_from(self) -> str | None:
        """The CSV column that this one is derived from, if it is."""
        return self.schema.get("x-decoded-from")


@cache
def fields(kind: str) -> dict[str, Field]:
    """Give the columns of a kind of record, in order, decoded and optional ones included.

    Args:
        kind: `labelled_record`, `model_input`, `prediction` or `state`.
    """
    schema = definition(kind)
    names = [*schema["required"], *(n for n in schema["properties"] if n not in schema["required"])]
    found = {}
    for name in names:
        own = schema["properties"][name]
        target = definition(own["$ref"].rsplit("/", 1)[1]) if "$ref" in own else {}
        found[name] = Field(name, {**target, **own})
    return found


@cache
def header(kind: str) -> tuple[str, ...]:
    """Give the required columns of a CSV file, in order."""
    required = definition(kind)["required"]
    return tuple(name for name in required if fields(kind)[name].decoded_from is None)


@cache
def optional_columns(kind: str) -> tuple[str, ...]:
    """Give the columns that may follow the required ones."""
    required = definition(kind)["required"]
    return tuple(name for name in fields(kind) if name not in required)


def labels(field: str) -> tuple[str, ...]:
    """Give the labels of a field, in schema order.

    Example:
        >>> labels("outcome_mode")
        ('no_drift', 'latent_drift', 'recovered_drift', 'visible_failure')
    """
    return Field(field, definition(field)).labels


def meanings(field: str) -> dict[str, str]:
    """Give label → what it means, in schema order.

    Example:
        >>> meanings("severity")["low"]
        'Little would follow from it.'
    """
    return {option["const"]: option["description"] for option in definition(field)["oneOf"]}


@cache
def targets() -> tuple[str, ...]:
    """Give the five primary targets, in order."""
    return tuple(definition("state")["required"])


@cache
def label_targets() -> tuple[str, ...]:
    """Give the primary targets that are labels, in order."""
    return tuple(name for name in targets() if fields("state")[name].labels)


@cache
def rule_texts() -> dict[str, str]:
    """Give every rule of the schema, state rules and `x-rules`, as code → text."""
    stated = [*definition("state")["allOf"], *definition(LABELLED)["allOf"]]
    texts = {rule["title"]: rule["description"] for rule in stated if "title" in rule}
    return {**texts, **{rule["code"]: rule["text"] for rule in document()["x-rules"]}}


@cache
def _rules(kind: str) -> list[tuple[str, set[str], Any]]:
    """Compile the if/then rules of a kind of record, each apart so that a breach has a name.

    Returns:
        For each rule its title, the columns that its `if` needs, and its validator.
    """
    import jsonschema_rs

    compiled: list[tuple[str, set[str], Any]] = []
    for rule in definition(kind).get("allOf", ()):
        if "$ref" in rule:
            compiled += _rules(rule["$ref"].rsplit("/", 1)[1])
        else:
            needed = set(rule["if"]["required"])
            compiled.append((rule["title"], needed, jsonschema_rs.Draft202012Validator(rule)))
    return compiled


@cache
def ruled_columns(kind: str) -> tuple[str, ...]:
    """Give the columns that the state rules of a kind of record look at, in its order."""
    names: set[str] = set()
    for rule in definition(kind).get("allOf", ()):
        if "$ref" in rule:
            names.update(ruled_columns(rule["$ref"].rsplit("/", 1)[1]))
        for part in ("if", "then", "else"):
            names.update(rule.get(part, {}).get("properties", ()))
    return tuple(name for name in fields(kind) if name in names)


def broken_rules(kind: str, record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Find the state rules that a record breaks.

    Args:
        kind: `labelled_record` or `state`.
        record: columns and their values, blank as None; a column that is left out is not judged.

    Returns:
        A pair (rule, column) for each breach.

    Example:
        >>> broken_rules("state", {"outcome_mode": "no_drift", "first_drift_step": 3})
        [('state_no_drift', 'first_drift_step')]
    """
    breaches = []
    for title, needed, validator in _rules(kind):
        if not needed <= record.keys():
            continue  # whether its `if` holds cannot be told
        for error in validator.iter_errors(dict(record)):
            breaches.append((title, str(error.instance_path[0])))
    return breaches


@cache
def lawful_states() -> tuple[tuple[int, ...], ...]:
    """Give every state that the rules allow, as far as rules can tell states apart.

    Returns:
        Codes in the order of the targets: labels as positions in schema order, onset and residual
        as 0 for blank and 1 for any number.

    Example:
        >>> lawful_states()[0]
        (0, 0, 0, 0, 0)
    """
    choices = [field.labels or (None, 1) for field in fields("state").values()]
    grid = itertools.product(*(range(len(options)) for options in choices))

    def state(codes: tuple[int, ...]) -> dict[str, Any]:
        values = (options[code] for options, code in zip(choices, codes, strict=True))
        return dict(zip(fields("state"), values, strict=True))

    return tuple(codes for codes in grid if not broken_rules("state", state(codes)))


@cache
def cell_validator(name: str) -> Any:
    """Compile the definition that a JSON cell must satisfy: `constraints` or `trajectory`."""
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/$defs/{name}", "$defs": document()["$defs"]}
    )


def _arrow_type(schema: Mapping[str, Any]) -> pa.DataType:
    if "$ref" in schema:
        return _arrow_type(definition(schema["$ref"].rsplit("/", 1)[1]))
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else next(k for k in kinds if k != "null")
    if kind == "array":
        return pa.list_(_arrow_type(schema["items"]))
    if kind == "object":
        return pa.struct([(n, _arrow_type(s)) for n, s in schema["properties"].items()])
    return {"integer": pa.int32(), "number": pa.float64(), "string": pa.string()}[kind]


@cache
def arrow_schema(kind: str, label_ids: bool = False) -> pa.Schema:
    """Give the typed columns of a kind of record as an Arrow schema.

    Args:
        kind: `labelled_record`, `model_input` or `prediction`.
        label_ids: whether labels are int64 positions, as a ClassLabel stores them, or texts.
    """
    typed = []
    for field in fields(kind).values():
        as_id = label_ids and field.labels
        typed.append((field.name, pa.int64() if as_id else _arrow_type(field.schema)))
    return pa.schema(typed)


def features(kind: str) -> datasets.Features:
    """Give the typed columns of a kind of record as datasets.Features.

    Args:
        kind: `labelled_record`, `model_input` or `prediction`.

    Returns:
        Labels as ClassLabel in schema order, steps, lengths and numbers of constraints as int32,
        shares as float64, constraints as a list of strings, the trajectory as a list
        of {step, text}.
    """
    import datasets

    typed = datasets.Features.from_arrow_schema(arrow_schema(kind))
    for field in fields(kind).values():
        if field.labels:
            typed[field.name] = datasets.ClassLabel(names=list(field.labels))
    return typed
