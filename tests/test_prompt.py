"""What models are asked, which scenarios, and how several samples of one are counted."""

import json
import random
import sys
from collections import Counter
from pathlib import Path

import jsonschema_rs
import pytest
from random_states import TARGETS, lawful_state

import drift_onset
from drift_onset import answers, cli, prompt, schema
from drift_onset.answers import Answer
from drift_onset.harness import scenarios, scoring

LABELLED = ("train", "dev", "test")


def labelled_rows():
    return [row for split in LABELLED for row in scenarios.load(split)]


def read(text, row, **options):
    sizes = {"steps": len(row["trajectory"]), "constraints": len(row["constraints"])}
    return answers.read(text, row["scenario_id"], **sizes, **options)


def test_every_label_and_rule_is_explained_in_the_words_of_the_schema():
    text = prompt.instructions()
    for field in schema.label_targets():
        for label, meaning in schema.meanings(field).items():
            assert f"- {label}: {meaning}" in text
    for rule in schema.definition("state")["allOf"]:
        assert f"- {rule['description']}" in text
    for key in (*schema.header(schema.PREDICTION), "confidence"):
        assert f"\n{key}: " in text


def test_a_question_shows_the_inputs_and_nothing_else():
    blind = scenarios.load("test_blind")
    for row, without_labels in zip(scenarios.load("test"), blind, strict=True):
        text = prompt.question(row)
        assert text == prompt.question(without_labels)
        for number, constraint in enumerate(row["constraints"], 1):
            assert f"\n{number}. {constraint}" in text
        for step in row["trajectory"]:
            assert f"\n{step['step']}. {step['text']}" in text
        hidden = prompt.question(row, hide_constraints=True)
        assert not [constraint for constraint in row["constraints"] if constraint in hidden]
        assert all(step["text"] in hidden for step in row["trajectory"])
    hidden = prompt.instructions(hide_constraints=True)
    assert "residual_constraint_id" not in hidden
    assert "confidence" not in hidden


@pytest.mark.parametrize("hidden", [False, True])
def test_right_answers_read_back_as_gold_and_fit_the_schema(hidden):
    validator = jsonschema_rs.Draft202012Validator(prompt.answer_schema(hidden))
    rows = labelled_rows()
    given = [read(prompt.answer(row, hidden), row, hide_constraints=hidden) for row in rows]
    gold = [scenarios.gold(row) for row in rows]
    for row, answer, right in zip(rows, given, gold, strict=True):
        assert validator.is_valid(json.loads(prompt.answer(row, hidden)))
        found = scoring.correct(right, answer)
        assert all(found[target] for target in TARGETS[: 4 if hidden else 5])
    found = scoring.metrics(gold, given, hidden)
    assert found["component_mean"] == 1.0
    assert ("complete_primary_accuracy" in found) is not hidden
    spoilt = {**json.loads(prompt.answer(rows[0], hidden)), "predicted_outcome_mode": "drift"}
    assert not validator.is_valid(spoilt)


def test_examples_are_of_train_seeded_and_never_the_question_itself():
    train = scenarios.load("train")
    drawn = scenarios.examples(5, seed=3)
    assert drawn == scenarios.examples(5, seed=3) != scenarios.examples(5, seed=4)
    for row in train:
        shown = [example["scenario_id"] for example in scenarios.without(drawn, row)]
        assert len(set(shown)) == 5
        assert row["scenario_id"] not in shown
    assert scenarios.examples(0, seed=0) == []
    for n in (-1, 16):
        with pytest.raises(ValueError, match=f"Expected argument `fewshot` .* got {n}"):
            scenarios.examples(n, seed=0)


def test_scenarios_come_from_a_file_and_bad_sources_are_named(root, tmp_path):
    assert scenarios.load("test", str(root / "data" / "dev.csv")) == scenarios.load("dev")
    assert scenarios.gold(scenarios.load("test_blind")[0]) is None
    with pytest.raises(ValueError, match="train, dev, test, test_blind but got 'all'"):
        scenarios.load("all")
    bad = tmp_path / "bad.csv"
    text = (root / "data" / "dev.csv").read_text(encoding="utf-8")
    bad.write_text(text.replace("latent_drift", "latent"), encoding="utf-8")
    with pytest.raises(drift_onset.InvalidInput, match="unknown_outcome_mode"):
        scenarios.load("dev", str(bad))


def given(*states, confidences=None):
    """Give answers of one scenario; a state of None is an unreadable one."""
    found = []
    for at, state in enumerate(states):
        row = state and {"scenario_id": "a", **{f"predicted_{k}": v for k, v in state.items()}}
        found.append(Answer("a", row and {**row, "confidence": (confidences or {}).get(at)}))
    return found


def test_whole_states_are_voted_on():
    rng = random.Random(0)
    a, b = (lawful_state(rng, outcomes=(o,)) for o in ("latent_drift", "recovered_drift"))
    c = {**a, "mechanism_family": b["mechanism_family"], "first_drift_step": 6}
    winner = scoring.vote(given(b, a, None, c, a, confidences={1: 0.5, 3: 1.0, 4: 0.8}))
    assert winner.row == {**given(a)[0].row, "confidence": 0.65}
    assert scoring.vote(given(b, a, a, b, None)).row == given(b)[0].row, "the first of equals"
    assert scoring.vote(given(None, None, a)).row == given(a)[0].row, "unreadable: no vote"
    assert scoring.vote(given(None, None)).row is None


def test_a_vote_is_that_of_a_plain_count():
    rng = random.Random(1)
    options = [lawful_state(rng) for _ in range(3)]
    for _ in range(200):
        cast = [rng.choice([None, *options]) for _ in range(rng.randint(1, 7))]
        counts = Counter(json.dumps(state) for state in cast if state)
        winner = scoring.vote(given(*cast)).row
        if not counts:
            assert winner is None
            continue
        state = {name: winner[f"predicted_{name}"] for name in TARGETS}
        most = [text for text, n in counts.items() if n == max(counts.values())]
        assert json.dumps(state) == min(most, key=lambda text: cast.index(json.loads(text)))


def test_answers_are_voted_by_scenario():
    rng = random.Random(2)
    a, b = lawful_state(rng), lawful_state(rng)
    one = given(a, b, b)
    other = [Answer("b", None), *(Answer("b", {**x.row, "scenario_id": "b"}) for x in given(a))]
    mixed = [one[0], other[0], one[1], other[1], one[2]]
    found = scoring.voted(mixed)
    assert [answer.scenario_id for answer in found] == ["a", "b"]
    assert found[0].row == one[1].row
    assert found[1].row == other[1].row


def test_unreadable_answers_are_wrong_and_counted():
    rows = scenarios.load("test")
    gold = [scenarios.gold(row) for row in rows]
    right = [read(prompt.answer(row), row) for row in rows]
    nothing = [read("", row) for row in rows]
    found = scoring.metrics(gold, nothing)
    assert (found["n"], found["n_unanswered"]) == (12, 12)
    assert found["component_mean"] == found["complete_primary_accuracy"] == 0.0
    assert found["mean_absolute_onset_error"] is None
    assert "expected_calibration_error" not in found
    half = scoring.metrics(gold, right[:6] + nothing[6:])
    assert (half["n"], half["n_unanswered"]) == (12, 6)
    assert half["complete_primary_accuracy"] == 0.5


def test_one_scenario_twice_among_the_references_is_refused():
    row = scenarios.load("test")[0]
    answer = read(prompt.answer(row), row)
    with pytest.raises(drift_onset.InvalidInput, match="duplicate_id"):
        scoring.metrics(2 * [scenarios.gold(row)], [answer])


def test_from_inspect_names_the_extra_that_it_needs(root, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    made = tmp_path / "p.csv"
    assert cli.main(["from-inspect", str(root / "README.md"), "--output", str(made)]) == 1
    assert "pip install 'reasoning-drift[inspect]'" in capsys.readouterr().err
    assert not made.exists()


def test_the_tasks_are_where_the_command_says(capsys):
    import yaml

    for harness in ("inspect", "lm-eval"):
        assert cli.main(["tasks", harness]) == 0
        path = Path(capsys.readouterr().out.strip().partition("@")[0])
        assert path.exists()
    names = set()
    for file in path.glob("*.yaml"):
        loader = type("Loader", (yaml.SafeLoader,), {})
        yaml.add_constructor("!function", lambda at, node: node.value, loader)
        names.add(yaml.load(file.read_text(encoding="utf-8"), loader)["task"])
    assert names >= {"reasoning_drift", "reasoning_drift_dev", "reasoning_drift_train"}
    page = (Path(__file__).parents[1] / "docs" / "running_models.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in names)
