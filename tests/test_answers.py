"""Reading what models write: right where it can be read, unreadable with the reason where not."""

import csv
import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_states import TARGETS, lawful_state
from scripted_answers import rows, sayings

from drift_onset import answers, evaluation, predictions, schema

STEPS, CONSTRAINTS = 6, 4
STATE = {
    "outcome_mode": "visible_failure",
    "first_drift_step": 3,
    "mechanism_family": "scope_collapse",
    "repair_outcome": "unrepaired",
    "residual_constraint_id": 1,
}
WHOLE = json.dumps(STATE)


def read(text, **options):
    return answers.read(text, "a", steps=STEPS, constraints=CONSTRAINTS, **options)


def state_of(answer):
    return {name: answer.row[f"predicted_{name}"] for name in TARGETS}


def changed(**values):
    return json.dumps({**STATE, **values})


READABLE = {
    "bare": WHOLE,
    "as columns": json.dumps({f"predicted_{name}": value for name, value in STATE.items()}),
    "case of keys": json.dumps({name.title(): value for name, value in STATE.items()}),
    "own scenario": changed(scenario_id="a"),
    "more keys": changed(explanation="Step 3 {closes} the set.", steps=[{"n": 3}]),
    "fence": f"```json\n{json.dumps(STATE, indent=2)}\n```",
    "backticks": f"It is `{WHOLE}`.",
    "prose with braces": f"Let S = {{A, B}} and \\frac{{a}}{{b}}. {WHOLE} So {{C}} holds.",
    "other objects": f'{{"note": 1}} {WHOLE} {{}} {{"confidence": 0.5}}',
    "twice the same": f"{WHOLE}\nFinal: {changed(scenario_id='a')}",
    "broken draft first": f"{WHOLE[:60]}\nAgain, in full: {WHOLE}",
    "in a list": f"[{WHOLE}]",
    "after thinking": f"<think>{changed(first_drift_step=2)}</think>{WHOLE}",
    "digits as text": changed(first_drift_step="3", residual_constraint_id="1"),
    "whole float": changed(first_drift_step=3.0),
}

UNREADABLE = {
    "nothing": ("", "no_answer", "is empty"),
    "None": (None, "no_answer", "is empty"),
    "prose": ("The onset is step 3.", "no_answer", "holds no answer object"),
    "inside another": (json.dumps({"answer": STATE}), "no_answer", "no answer object"),
    "two that differ": (WHOLE + changed(first_drift_step=2), "answers_differ", "differ"),
    "confidence differs": (changed(confidence=0.5) + WHOLE, "answers_differ", "differ"),
    "cut off": (WHOLE[:-1], "answer_cut_off", "cut off"),
    "cut off in a number": (changed(confidence=0.25)[:-4], "answer_cut_off", "cut off"),
    "cut off after a whole one": (WHOLE + "Rather: " + WHOLE[:70], "answer_cut_off", "cut off"),
    "cut off in a fence": (f"```json\n{WHOLE[:-1]}\n```", "answer_cut_off", "cut off"),
    "cut off while thinking": (f"<think>{WHOLE}", "answer_cut_off", "thinking"),
    "garbage inside": (WHOLE[:-1] + " I think}", "json_invalid", "not JSON"),
    "comma at the end": (WHOLE[:-1] + ",}", "json_invalid", "not JSON"),
    "keys without quotes": ("{outcome_mode: no_drift}", "json_invalid", "double quotes"),
    "single quotes": (str(STATE), "json_invalid", "double quotes"),
    "broken after a whole one": (f"{WHOLE} {{'outcome_mode': 1}}", "json_invalid", "not JSON"),
    "key twice": (WHOLE[:-1] + ', "outcome_mode": "no_drift"}', "json_duplicate_key", "outcome"),
    "key in two forms": (changed(Outcome_Mode="latent_drift"), "json_duplicate_key", "twice"),
    "NaN": (changed(confidence=float("nan")), "json_number", "NaN"),
    "huge": (WHOLE.replace("3", "3" * 5000), "json_number", "32 bits"),
    "deep": (changed(x=json.loads("[" * 70 + "]" * 70)), "json_depth", "64"),
    "very deep": ('{"outcome_mode":' * 100_000, "json_invalid", "nested"),
    "key missing": (
        json.dumps({name: STATE[name] for name in TARGETS[:-1]}),
        "answer_key_missing",
        "residual_constraint_id",
    ),
    "other scenario": (changed(scenario_id="b"), "unknown_scenario", "'b', expected 'a'"),
    "other scenario first": (changed(scenario_id="b") + WHOLE, "answers_differ", "differ"),
    "onset from zero": (changed(first_drift_step=0), "first_drift_step_integer", "got '0'"),
    "onset beyond": (changed(first_drift_step=7), "onset_bounds", "from 1 to 6"),
    "residual from zero": (
        changed(residual_constraint_id=0),
        "residual_constraint_id_integer",
        "got '0'",
    ),
    "residual beyond": (changed(residual_constraint_id=5), "residual_bounds", "from 1 to 4"),
    "residual as text": (
        changed(residual_constraint_id="Keep all options."),
        "residual_constraint_id_integer",
        "Keep all options.",
    ),
    "half a step": (changed(first_drift_step=3.5), "first_drift_step_integer", "3.5"),
    "true": (changed(first_drift_step=True), "first_drift_step_integer", "true"),
    "label as a number": (changed(outcome_mode=3), "unknown_outcome_mode", "got '3'"),
    "label in capitals": (changed(repair_outcome="UNREPAIRED"), "unknown_repair_outcome", "UNREP"),
    "label as null": (changed(mechanism_family=None), "unknown_mechanism_family", "scope_collapse"),
    "percentage": (changed(confidence=91), "confidence_range", "a share, not a percentage"),
    "unlawful": (changed(outcome_mode="recovered_drift"), "state_recovered", "full_repair"),
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_what_can_be_read(text):
    answer = read(text)
    assert answer.row is not None, answer.why()
    assert state_of(answer) == STATE
    assert answer.problems == ()
    assert answer.row["confidence"] is None


@pytest.mark.parametrize(("text", "code", "words"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_says_why(text, code, words):
    answer = read(text)
    assert answer.row is None
    assert code in [problem.code for problem in answer.problems]
    assert words in answer.why()
    assert {problem.scenario_id for problem in answer.problems} == {"a"}


def test_all_problems_of_an_answer_come_at_once():
    answer = read(changed(first_drift_step=0, residual_constraint_id=9, confidence=2))
    assert {problem.column for problem in answer.problems} == {
        "predicted_first_drift_step",
        "predicted_residual_constraint_id",
        "confidence",
    }


def test_the_scripted_sayings_are_read_as_they_are_meant(root):
    """The twelve that the harnesses are run on, with the bounds of their scenarios."""
    meant = sayings(root)
    found = []
    with (root / "data" / "test.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sizes = {n: len(json.loads(row[f"{n}_json"])) for n in ("constraints", "trajectory")}
            name = row["scenario_id"]
            answer = answers.read(
                meant[name][0],
                name,
                steps=sizes["trajectory"],
                constraints=sizes["constraints"],
            )
            found += [dict(answer.row)] if answer.row else []
    assert found == rows(meant)
    assert len(found) == 6


lawful = st.integers(0, 2**32).map(lambda n: lawful_state(random.Random(n), STEPS, CONSTRAINTS))
prose = st.text(st.characters(exclude_characters='{}"<', exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=150, deadline=None)
@given(
    state=lawful, before=prose, after=prose, indent=st.sampled_from([None, 0, 3]), data=st.data()
)
def test_prose_order_and_case_do_not_matter(state, before, after, indent, data):
    keys = data.draw(st.permutations(list(state)))
    form = data.draw(st.sampled_from([str.upper, str.title, "predicted_{}".format]))
    indent = data.draw(st.sampled_from([None, 0, 3]))
    text = json.dumps({form(key): state[key] for key in keys}, indent=indent)
    assert state_of(read(f"{before}{text}{after}")) == state


@settings(max_examples=150, deadline=None)
@given(state=lawful, data=st.data())
def test_no_part_of_an_answer_is_taken_for_the_whole(state, data):
    text = json.dumps(state)
    assert read(text[: data.draw(st.integers(0, len(text) - 1))]).row is None


@settings(max_examples=150, deadline=None)
@given(first=lawful, second=lawful)
def test_two_answers_count_only_if_they_are_one(first, second):
    answer = read(f"{json.dumps(first)} no: {json.dumps(second)}")
    assert (answer.row is not None) == (first == second)


@settings(max_examples=300, deadline=None)
@given(state=lawful, data=st.data())
def test_what_is_read_of_spoilt_text_is_a_valid_row(state, data, tmp_path_factory):
    """One character is changed: never an error, and never a row that a file could not hold."""
    text = json.dumps({**state, "confidence": 0.5})
    at = data.draw(st.integers(0, len(text) - 1))
    spoilt = text[:at] + data.draw(st.sampled_from('0123456789.,:"{}e-x ')) + text[at + 1 :]
    row = read(spoilt).row
    if row is not None:
        blind = tmp_path_factory.mktemp("spoilt")
        predictions.write(blind / "p.csv", [row])
        inputs = {
            "scenario_id": "a",
            "domain": "d",
            "task": "t",
            "constraints_json": json.dumps([f"c{n}" for n in range(CONSTRAINTS)]),
            "trajectory_json": json.dumps([{"step": n, "text": "s"} for n in range(1, STEPS + 1)]),
        }
        with (blind / "b.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(inputs))
            writer.writeheader()
            writer.writerow(inputs)
        assert evaluation.validate_predictions(blind / "p.csv", blind / "b.csv") == (1, [])


@pytest.mark.parametrize(
    "part", ['{"a" ', '{"a":{', '{"', '{"outcome_mode":"', "{", "\\frac{a}{b}"]
)
def test_hostile_text_takes_no_quadratic_time(part):
    """Ten times the text takes about ten times as long, not a hundred times."""
    spent = []
    for times in (20_000, 200_000):
        start = time.perf_counter()
        assert read(part * times).row is None
        spent.append(time.perf_counter() - start)
    assert spent[1] < 40 * spent[0] + 0.5


def test_with_hidden_constraints_the_residual_is_neither_asked_nor_judged():
    four = {name: STATE[name] for name in TARGETS[:-1]}
    for repair, residual in (("unrepaired", 1), ("failed_repair", 1)):
        row = read(json.dumps({**four, "repair_outcome": repair}), hide_constraints=True).row
        assert row["predicted_residual_constraint_id"] == residual
    recovered = {**four, "outcome_mode": "recovered_drift", "repair_outcome": "full_repair"}
    assert read(json.dumps(recovered), hide_constraints=True).row["confidence"] is None
    said = json.dumps({**four, "residual_constraint_id": 99, "confidence": 7})
    assert read(said, hide_constraints=True).row is not None
    assert read(json.dumps({**four, "first_drift_step": 9}), hide_constraints=True).row is None
    assert read(json.dumps(four)).row is None


def test_targets_of_these_tests_are_those_of_the_schema():
    assert schema.targets() == TARGETS
