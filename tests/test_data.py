"""What the 36 scenarios must show, and what must not give them away."""

import json
import re
from collections import Counter, defaultdict

import pyarrow as pa
import pytest

from drift_onset import schema
from drift_onset.reading import typed
from drift_onset.splits import splits

LABELLED = [split for split in splits() if split.record == schema.LABELLED]


@pytest.fixture(scope="module")
def rows(root):
    """All labelled rows, decoded, with the name of their split."""
    found = []
    for split in LABELLED:
        table: pa.Table = typed.read(root / split.file, split.record)
        found += [{**row, "split": split.name} for row in table.to_pylist()]
    return found


@pytest.fixture(scope="module")
def drift(rows):
    return [row for row in rows if row["first_drift_step"]]


def texts(row):
    steps = [step["text"] for step in row["trajectory"]]
    return [row["task"], *row["constraints"], *steps, row["repair_instruction"]]


def third(row):
    position = row["first_drift_step"] / row["trajectory_length"]
    return "early" if position <= 1 / 3 else "middle" if position <= 2 / 3 else "late"


def length_class(row):
    n = row["trajectory_length"]
    return "short" if n <= 4 else "medium" if n <= 7 else "long"


def test_outcomes_are_balanced_in_each_split(rows):
    counted = Counter((row["split"], row["outcome_mode"]) for row in rows)
    for split, each in (("train", 4), ("dev", 2), ("test", 3)):
        assert all(counted[split, mode] == each for mode in schema.labels("outcome_mode"))


def test_every_family_repair_and_source_is_there(drift, rows):
    families = Counter(row["mechanism_family"] for row in drift)
    tested = [row for row in rows if row["split"] == "test"]
    assert set(families) == set(schema.labels("mechanism_family")) - {"none"}
    assert min(families.values()) >= 3
    for field in ("mechanism_family", "repair_outcome", "correction_source"):
        assert {row[field] for row in tested} == set(schema.labels(field))


def test_no_family_goes_with_one_outcome_or_domain(drift):
    for field in ("outcome_mode", "domain"):
        values = defaultdict(set)
        for row in drift:
            values[row["mechanism_family"]].add(row[field])
        assert min(map(len, values.values())) >= 3, field


def test_domains(rows):
    domains = Counter(row["domain"] for row in rows)
    expected = (
        "clinical_reasoning scientific_reasoning legal_reasoning engineering machine_learning "
        "policy_analysis ecology operations cybersecurity historical_analysis"
    )
    assert set(expected.split()) <= set(domains)
    assert max(domains.values()) <= 5


def test_lengths(rows):
    assert min(row["trajectory_length"] for row in rows) == 3
    assert max(row["trajectory_length"] for row in rows) == 12
    for split in LABELLED:
        lengths = {length_class(row) for row in rows if row["split"] == split.name}
        assert lengths == {"short", "medium", "long"}
    for field in ("constraints", "trajectory"):
        low, high = (3, 5) if field == "constraints" else (3, 12)
        assert all(low <= len(row[field]) <= high for row in rows)


def test_onsets_and_residuals_are_spread(drift):
    thirds = Counter(map(third, drift))
    assert min(thirds[name] for name in ("early", "middle", "late")) >= len(drift) / 5
    steps = Counter(row["first_drift_step"] for row in drift)
    assert max(steps.values()) <= 0.30 * len(drift)
    residuals = Counter(row["residual_constraint_id"] for row in drift)
    del residuals[None]
    assert max(residuals.values()) <= 0.45 * len(drift)
    other = [
        row
        for row in drift
        if row["residual_constraint_id"]
        and row["residual_constraint_failure"] != row["lost_constraint"]
    ]
    assert len(other) >= 3


def test_lag_to_the_visible_failure_varies(drift):
    lags = {
        row["visible_failure_step"] - row["first_drift_step"]
        for row in drift
        if row["visible_failure_step"]
    }
    assert min(lags) == 0
    assert max(lags) >= 4
    assert len(lags) >= 4


def test_the_last_step_is_not_always_the_failure(drift):
    visible = [row for row in drift if row["visible_failure_step"]]
    last = sum(row["visible_failure_step"] == row["trajectory_length"] for row in visible)
    assert last <= len(visible) / 2


def test_steps_are_a_sentence_or_two(rows):
    for row in rows:
        for step in row["trajectory"]:
            assert 8 <= len(step["text"].split()) <= 45, (row["scenario_id"], step)


def test_no_two_scenarios_share_a_run_of_eight_words(rows):
    seen = {}
    for row in rows:
        for text in texts(row):
            words = re.findall(r"[a-z0-9']+", text.lower())
            for start in range(len(words) - 7):
                run = " ".join(words[start : start + 8])
                owner = seen.setdefault(run, row["scenario_id"])
                assert owner == row["scenario_id"], f"{run!r} in {owner} and {row['scenario_id']}"


def test_strong_words_stand_on_both_sides(rows):
    """Controls use the words that drift is thought to use; some onsets use none of them."""
    strong = re.compile(r"\b(clearly|confirms?|therefore|all|rules? out|ruled out|every)\b", re.I)
    controls = [row for row in rows if not row["first_drift_step"]]
    spoken = [row for row in controls if strong.search(json.dumps(row["trajectory"]))]
    assert len(spoken) >= len(controls) / 2
    onsets = [
        row["trajectory"][row["first_drift_step"] - 1]["text"]
        for row in rows
        if row["first_drift_step"]
    ]
    assert sum(not strong.search(text) for text in onsets) >= len(onsets) / 2


# --- what trivial predictors reach ---------------------------------------------------------

TARGETS = schema.targets()


def state(row):
    return tuple(row[name] for name in TARGETS)


def majority(values):
    return Counter(values).most_common(1)[0][0]


def majority_class(fitted, row):
    return majority(map(state, fitted))


def length_only(fitted, row):
    near = [other for other in fitted if other["trajectory_length"] == row["trajectory_length"]]
    return majority(map(state, near or fitted))


def onset_prior(fitted, row):
    """The most frequent relative position among drift cases, with the most frequent state."""
    drifting = [other for other in fitted if other["first_drift_step"]]
    relative = majority(round(other["relative_onset_position"], 1) for other in drifting)
    onset = max(1, round(relative * row["trajectory_length"]))
    best = majority(map(state, drifting))
    return (best[0], onset, *best[2:])


def last_step(fitted, row):
    best = majority(state(other) for other in fitted if other["first_drift_step"])
    return (best[0], row["trajectory_length"], *best[2:])


PREDICTORS = (majority_class, onset_prior, last_step, length_only)


def outcome_by_length(fitted, row):
    near = [other for other in fitted if other["trajectory_length"] == row["trajectory_length"]]
    return majority(other["outcome_mode"] for other in (near or fitted))


@pytest.mark.parametrize("fitted_on", ["train+dev", "all"])
def test_trivial_predictors_do_not_get_far(rows, fitted_on, capsys):
    tested = [row for row in rows if row["split"] == "test"]
    fitted = rows if fitted_on == "all" else [row for row in rows if row["split"] != "test"]
    lines = []
    for predictor in PREDICTORS:
        pairs = [(predictor(fitted, row), row) for row in tested]
        complete = sum(guess == state(row) for guess, row in pairs) / len(tested)
        onset = sum(guess[1] == row["first_drift_step"] for guess, row in pairs) / len(tested)
        lines.append(f"{predictor.__name__}: complete {complete:.2f}, onset {onset:.2f}")
        assert complete <= 0.25, lines[-1]
        assert onset <= 0.45, lines[-1]
    hits = sum(outcome_by_length(fitted, row) == row["outcome_mode"] for row in tested)
    lines.append(f"outcome from length: {hits / len(tested):.2f}")
    assert hits / len(tested) <= 0.40, lines[-1]
    with capsys.disabled():
        print(f"\nfitted on {fitted_on}, tried on test:", *lines, sep="\n  ")


def test_bag_of_words_is_printed(rows, capsys):
    """Leave one out over all 36; a number to know, with a bound far below usefulness."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import RidgeClassifier
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.pipeline import make_pipeline

    documents = [" ".join(texts(row)[:-1]) for row in rows]
    lines = []
    for target in ("outcome_mode", "mechanism_family", "repair_outcome"):
        model = make_pipeline(TfidfVectorizer(), RidgeClassifier())
        gold = [row[target] for row in rows]
        guesses = cross_val_predict(model, documents, gold, cv=LeaveOneOut())
        share = sum(g == h for g, h in zip(gold, guesses, strict=True)) / len(rows)
        lines.append(
            f"{target} {share:.2f}, majority {Counter(gold).most_common(1)[0][1] / 36:.2f}"
        )
        assert share <= 0.5, lines[-1]
    with capsys.disabled():
        print("\nbag of words, leave one out:", *lines, sep="\n  ")
