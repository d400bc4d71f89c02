"""schema.json: well-formed, in the right order, and the rules it must state."""

from __future__ import annotations

import ast
import doctest
import itertools
import json
import random
import re
from pathlib import Path

import jsonschema_rs
import pytest
from random_states import (
    FAMILIES,
    LABELLED_HEADER,
    LABELS,
    OUTCOMES,
    PREDICTION_HEADER,
    REPAIRS,
    TARGETS,
    gold_rows,
    labelled_record,
)

from drift_onset import schema

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = json.loads((ROOT / "schema.json").read_text(encoding="utf-8"))
SOURCES = ("self_correction", "external_intervention", "mixed", "not_applicable")
SEVERITIES = ("none", "low", "medium", "high")
EVERY_LABEL = {**LABELS, "correction_source": SOURCES, "severity": SEVERITIES}


def test_schema_is_valid():
    assert DOCUMENT["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema_rs.meta.validate(DOCUMENT) is None
    jsonschema_rs.Draft202012Validator(DOCUMENT)
    assert not jsonschema_rs.meta.is_valid({**DOCUMENT, "$defs": {"a": {"type": "text"}}})
    assert schema.document() == DOCUMENT


def references(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_references_lead_somewhere():
    found = set(references(DOCUMENT))
    assert len(found) > 10
    for reference in found:
        assert reference.startswith("#/$defs/")
        assert reference.removeprefix("#/$defs/") in DOCUMENT["$defs"], reference


def test_labels_in_order():
    for name, labels in EVERY_LABEL.items():
        assert schema.labels(name) == labels
        assert [option["const"] for option in DOCUMENT["$defs"][name]["oneOf"]] == list(labels)
    with_labels = {name for name, value in DOCUMENT["$defs"].items() if "oneOf" in value}
    assert with_labels == set(EVERY_LABEL)


def test_every_label_is_described():
    seen = set()
    for name in EVERY_LABEL:
        for option in DOCUMENT["$defs"][name]["oneOf"]:
            assert set(option) == {"const", "description"}
            text = option["description"]
            assert len(text.split()) >= 2
            assert text[0].isupper()
            assert text.endswith(".")
            assert (name, text) not in seen
            seen.add((name, text))


def test_headers():
    assert schema.header("labelled_record") == LABELLED_HEADER
    blind = ("scenario_id", "domain", "task", "constraints_json", "trajectory_json")
    assert schema.header("model_input") == blind
    assert schema.header("prediction") == PREDICTION_HEADER
    assert schema.optional_columns("prediction") == ("confidence",)
    assert schema.targets() == TARGETS
    assert schema.label_targets() == tuple(LABELS)
    decoded = [f.name for f in schema.fields("labelled_record").values() if f.decoded_from]
    assert decoded == ["constraints", "trajectory", "residual_constraint_id"]
    assert schema.optional_columns("labelled_record") == ()
    assert schema.optional_columns("model_input") == ()


# The state ---------------------------------------------------------------------------------------


def lawful(outcome, has_onset, family, repair, has_residual):
    """The table of lawful states, row by row."""
    if outcome == "no_drift":
        return (
            not has_onset and family == "none" and repair == "not_applicable" and not has_residual
        )
    if not has_onset or family == "none":
        return False
    if outcome == "recovered_drift":
        return (repair == "full_repair" and not has_residual) or (
            repair == "partial_repair" and has_residual
        )
    return repair in ("failed_repair", "unrepaired") and has_residual


GRID = tuple(itertools.product(OUTCOMES, (False, True), FAMILIES, REPAIRS, (False, True)))


def test_lawful_states_are_those_of_the_table():
    expected = [
        (OUTCOMES.index(o), int(s), FAMILIES.index(f), REPAIRS.index(r), int(c))
        for o, s, f, r, c in GRID
        if lawful(o, s, f, r, c)
    ]
    assert schema.lawful_states() == tuple(expected)
    assert len(expected) == 1 + 3 * 8 * 2


def as_state(outcome, has_onset, family, repair, has_residual, number=1):
    values = (
        outcome,
        number if has_onset else None,
        family,
        repair,
        number if has_residual else None,
    )
    return dict(zip(TARGETS, values, strict=True))


def test_lawful_states_of_the_full_grid():
    assert len(GRID) == 4 * 2 * 9 * 5 * 2
    state = jsonschema_rs.Draft202012Validator(
        {"$ref": "#/$defs/state", "$defs": DOCUMENT["$defs"]}
    )
    found = 0
    for point in GRID:
        for number in (1, 7):
            record = as_state(*point, number=number)
            broken = schema.broken_rules("state", record)
            assert (broken == []) == lawful(*point), (record, broken)
            assert state.is_valid(record) == lawful(*point), record
        found += lawful(*point)
    # One without drift; eight families times two states each of the other three outcomes.
    assert found == 1 + 8 * 2 * 3


def test_breaches_name_a_rule_and_a_column_of_the_state():
    known = schema.rule_texts()
    for point in GRID:
        for rule, column in schema.broken_rules("state", as_state(*point)):
            assert known[rule]
            assert column in TARGETS[1:]


def without_one(record):
    for name in record:
        yield name, {key: value for key, value in record.items() if key != name}


def test_a_missing_target_is_not_judged():
    for point in GRID:
        if lawful(*point):
            for name, rest in without_one(as_state(*point)):
                assert schema.broken_rules("state", rest) == [], name


# Labelled records --------------------------------------------------------------------------------


def secondary_lawful(record):
    """The rules of the columns beside the five targets, in plain words."""
    drift = record["outcome_mode"] != "no_drift"
    if (record["severity"] != "none") != drift:
        return False
    if (record["drift_mechanism"] != "none") != drift:
        return False
    if (record["recommended_repair"] != "none") != drift:
        return False
    if (record["lost_constraint"] != "none") != drift:
        return False
    if (record["relative_onset_position"] is not None) != drift:
        return False
    if (record["visible_failure_step"] is not None) != (
        record["outcome_mode"] == "visible_failure"
    ):
        return False
    attempted = record["repair_outcome"] not in ("not_applicable", "unrepaired")
    return (record["correction_source"] != "not_applicable") == attempted


def test_secondary_rules_on_the_full_grid():
    choices = {
        "severity": ("none", "low", "high"),
        "drift_mechanism": ("none", "early_narrowing"),
        "recommended_repair": ("none", "reopen"),
        "lost_constraint": ("none", "Rule 1"),
        "relative_onset_position": (None, 0.5),
        "visible_failure_step": (None, 3),
        "correction_source": ("self_correction", "mixed", "not_applicable"),
    }
    # One lawful state for each pair of outcome and repair.
    states = {(p[0], p[3]): as_state(*p) for p in GRID if lawful(*p)}
    assert len(states) == 7
    found = 0
    for state in states.values():
        for values in itertools.product(*choices.values()):
            record = {**state, **dict(zip(choices, values, strict=True))}
            broken = schema.broken_rules("labelled_record", record)
            assert (broken == []) == secondary_lawful(record), (record, broken)
            assert all(column in choices for _, column in broken)
            found += secondary_lawful(record)
    # Two severities, and two sources where a repair was attempted.
    assert found == 1 + 2 * (2 + 2 + 2 + 2 + 1 + 1)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("repair", REPAIRS)
def test_correction_source_of_every_repair(source, repair):
    broken = schema.broken_rules(
        "labelled_record", {"repair_outcome": repair, "correction_source": source}
    )
    wrong = (source == "not_applicable") != (repair in ("not_applicable", "unrepaired"))
    assert broken == ([("correction_source_state", "correction_source")] if wrong else [])


def test_state_rules_hold_for_labelled_records_too():
    for point in GRID:
        state = as_state(*point)
        broken = schema.broken_rules("labelled_record", state)
        assert [b for b in broken if b[1] in TARGETS] == schema.broken_rules("state", state)


def test_a_missing_column_of_a_labelled_record_is_not_judged():
    """A cell that cannot be read is told once, not once more as a breach of what depends on it."""
    rng = random.Random(0)
    seen = set()
    for row in gold_rows(rng, 200):
        record = labelled_record(rng, row)
        assert schema.broken_rules("labelled_record", record) == []
        for name, rest in without_one(record):
            assert schema.broken_rules("labelled_record", rest) == [], name
        seen.add((record["outcome_mode"], record["repair_outcome"]))
    assert len(seen) == 7


def test_whole_records_against_the_schema():
    rng = random.Random(1)
    validators = {
        kind: jsonschema_rs.Draft202012Validator(
            {"$ref": f"#/$defs/{kind}", "$defs": DOCUMENT["$defs"]}
        )
        for kind in ("labelled_record", "model_input", "prediction")
    }
    anything = jsonschema_rs.Draft202012Validator(DOCUMENT)
    for row in gold_rows(rng, 60):
        record = labelled_record(rng, row)
        inputs = [*schema.header("model_input"), "constraints", "trajectory"]
        blind = {name: record[name] for name in inputs}
        answer = {f"predicted_{name}": row[name] for name in TARGETS}
        answer["scenario_id"] = row["scenario_id"]
        for kind, value in (
            ("labelled_record", record),
            ("model_input", blind),
            ("prediction", answer),
        ):
            for name, validator in validators.items():
                assert validator.is_valid(value) == (name == kind), (name, kind)
            assert anything.is_valid(value)
            assert not anything.is_valid({**value, "surplus": 1})
            for name, rest in without_one(value):
                assert not validators[kind].is_valid(rest), name
        assert validators["prediction"].is_valid({**answer, "confidence": 0.5})
        assert not validators["prediction"].is_valid({**answer, "confidence": 1.5})


def test_rules_are_named_once():
    stated = [*DOCUMENT["$defs"]["state"]["allOf"], *DOCUMENT["$defs"]["labelled_record"]["allOf"]]
    titles = [rule["title"] for rule in stated if "$ref" not in rule]
    codes = [rule["code"] for rule in DOCUMENT["x-rules"]]
    assert len({*titles, *codes}) == len(titles) + len(codes)
    assert set(schema.rule_texts()) == {*titles, *codes}
    assert all(set(rule) == {"code", "text"} and rule["text"] for rule in DOCUMENT["x-rules"])


# Labels in code ----------------------------------------------------------------------------------

LITERALS = {label for labels in EVERY_LABEL.values() for label in labels if "_" in label}
CODE = sorted(
    {
        ROOT / "reasoning_drift.py",
        *(ROOT / "drift_core").glob("*.py"),
        *(ROOT / "drift_onset").glob("*.py"),
        *(ROOT / "metric").rglob("*.py"),
        *(ROOT / "scorer").glob("*.py"),
        *(ROOT / "baseline").glob("*.py"),
    }
)


def without_examples(text):
    """Leave out the lines of doctest examples, which stand in docstrings or become part of one."""
    parts = doctest.DocTestParser().parse(text)
    return "".join(part for part in parts if isinstance(part, str))


def labels_in(source):
    """Find labels in strings and names of Python code, docstrings and comments left out."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings.add(id(first.value))
    found = []
    for node in ast.walk(tree):
        texts = []
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            if id(node) not in docstrings:
                value = node.value
                text = value.decode("latin-1") if isinstance(value, bytes) else value
                texts.append(without_examples(text))
        else:
            names = (getattr(node, name, None) for name in ("id", "attr", "arg", "name"))
            texts += [name for name in names if isinstance(name, str)]
        for text in texts:
            found += [(node.lineno, word) for word in re.findall(r"\w+", text) if word in LITERALS]
    return found


@pytest.mark.parametrize("file", CODE, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_label_is_restated_in_code(file):
    assert labels_in(file.read_text(encoding="utf-8")) == []


def test_what_counts_as_code():
    assert len(CODE) > 20
    assert len(LITERALS) > 15
    assert {"scope_collapse", "full_repair", "not_applicable", "self_correction"} <= LITERALS
    assert "mixed" not in LITERALS
    for source in (
        'x = "full_repair"',
        'x = {"no_drift": 1}',
        'x = f"is {y} full_repair"',
        "x = dict(no_drift=1)",
        "full_repair = 1",
        'x = "one of full_repair, other"',
        'x = b"full_repair"',
        'def f():\n    x = 1\n    "full_repair"',
        "match x:\n    case 'full_repair':\n        pass",
    ):
        assert len(labels_in(source)) == 1, source
    for source in (
        '"""Says full_repair."""',
        'def f():\n    """Says full_repair."""',
        "x = 1  # full_repair",
        'x = "full"\ny = "partial_repairs"',
        "X = '''\nExample:\n    >>> print('full_repair')\n    full_repair\n'''",
    ):
        assert labels_in(source) == [], source
