"""Agreement against statsmodels, scikit-learn, krippendorff and loops over pairs of raters."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import warnings

import krippendorff
import numpy as np
import pytest
from random_states import (
    FAMILIES,
    LABELLED_HEADER,
    LABELS,
    OUTCOMES,
    TARGETS,
    answer_rows,
    csv_text,
    gold_rows,
    labelled_record,
    write_answers,
    write_gold,
)
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from drift_onset import InvalidInput, cli
from drift_onset.comparing import kappas
from drift_onset.comparing.agreement import agree
from drift_onset.comparing.ratings import MISSING

NOMINAL = ("drift_presence", *LABELS)


def ratings(seed, n=60, raters=4, classes=5, missing=0.0):
    """Draw ratings that agree more often than by chance."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=(n, 1))
    codes = np.where(rng.random((n, raters)) < 0.6, truth, rng.integers(classes, size=(n, raters)))
    return np.where(rng.random(codes.shape) < missing, MISSING, codes)


def value(measure, n):
    return float(measure(np.ones((1, n), np.int64))[0])


@pytest.mark.parametrize("seed", range(4))
def test_fleiss_against_statsmodels(seed):
    codes = ratings(seed)
    table = np.stack([(codes == c).sum(axis=1) for c in range(5)], axis=1)
    assert value(kappas.fleiss(codes, 5), 60) == pytest.approx(fleiss_kappa(table), abs=1e-12)
    # Rows that not every rater has are left out.
    more = np.vstack([codes, [[0, 1, 2, MISSING]] * 7])
    assert value(kappas.fleiss(more, 5), 67) == pytest.approx(fleiss_kappa(table), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_cohen_against_scikit_learn(seed):
    codes = ratings(seed, raters=2, missing=0.1)
    a, b = codes.T
    known = (codes != MISSING).all(axis=1)
    for weighted in (False, True):
        expected = cohen_kappa_score(
            a[known], b[known], labels=range(5), weights="quadratic" if weighted else None
        )
        found = value(kappas.cohen(a, b, 5, weighted=weighted), 60)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_against_krippendorff(missing, level):
    for seed in range(3):
        codes = ratings(seed, missing=missing)
        data = np.where(codes == MISSING, np.nan, codes.astype(float)).T
        expected = krippendorff.alpha(data, level_of_measurement=level)
        found = value(kappas.alpha(codes, 5, ordinal=level == "ordinal"), 60)
        assert found == pytest.approx(expected, abs=1e-12)


def test_counted_rows_are_rows_repeated():
    """Weights, which the bootstrap draws, mean the same as writing a row several times."""
    codes, rng = ratings(9, n=20, missing=0.2), np.random.default_rng(1)
    n = rng.integers(4, size=20)
    repeated = np.repeat(codes, n, axis=0)
    for make in (
        lambda rows: kappas.fleiss(rows, 5),
        lambda rows: kappas.alpha(rows, 5),
        lambda rows: kappas.alpha(rows, 5, ordinal=True),
        lambda rows: kappas.cohen(rows[:, 0], rows[:, 1], 5, weighted=True),
        lambda rows: kappas.pairwise(rows, np.equal),
    ):
        whole = value(make(repeated), len(repeated))
        both = make(codes)(np.stack([n, np.ones_like(n)]))
        assert both[0] == pytest.approx(whole, abs=1e-12)
        assert both[1] == pytest.approx(value(make(codes), 20), abs=1e-12)


def test_what_is_not_defined():
    one_class = np.zeros((5, 3), np.int64)
    alone = np.array([[0, MISSING, MISSING], [MISSING, 1, MISSING]])
    for rows in (one_class, alone):
        n = len(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isnan(value(kappas.fleiss(rows, 2), n))
            assert np.isnan(value(kappas.alpha(rows, 2), n))
            assert np.isnan(value(kappas.alpha(rows, 2, ordinal=True), n))
            assert np.isnan(value(kappas.cohen(rows[:, 0], rows[:, 1], 2), n))
    assert value(kappas.pairwise(one_class, np.equal), 5) == 1.0
    assert np.isnan(value(kappas.pairwise(alone, np.equal), 2))
    never = [kappas.cohen(one_class[:, 0], one_class[:, 1], 2)]
    assert np.isnan(value(kappas.mean_of(never), 5))


@pytest.fixture
def study(tmp_path):
    """Two labelled files and two of predictions, one of which lacks some scenarios."""
    rng = random.Random(5)
    gold = gold_rows(rng, 40)
    seconds = []
    for row in answer_rows(rng, gold, right=0.7):
        state = {t: row[f"predicted_{t}"] for t in TARGETS}
        seconds.append({**next(g for g in gold if g["scenario_id"] == row["scenario_id"]), **state})
    records = {}
    for name, rows in (("anna", gold), ("ben", seconds)):
        records[name] = [
            {
                **labelled_record(rng, row),
                "drift_mechanism": rng.choice(("x", "y")) if row["first_drift_step"] else "none",
            }
            for row in rows
        ]
        # The same inputs to the letter are not needed, the same content is.
        text = csv_text(records[name], LABELLED_HEADER)
        (tmp_path / f"{name}.csv").write_text(text, "utf-8", newline="\n")
    for name, right, lacking in (("cleo", 0.6, 0), ("dan", 0.5, 12)):
        rows = answer_rows(rng, gold, lambda: 0.5, right)[lacking:]
        write_answers(tmp_path / f"{name}.csv", rows)
        said = {row["scenario_id"]: row for row in rows}
        records[name] = [
            {t: said[g["scenario_id"]][f"predicted_{t}"] for t in TARGETS}
            if g["scenario_id"] in said
            else None
            for g in gold
        ]
    return tmp_path, [g["scenario_id"] for g in gold], records


def column(record, field):
    if record is None or (field not in record and field != "drift_presence"):
        return None
    if field == "drift_presence":
        return record["outcome_mode"] != "no_drift"
    found = record[field]
    return "blank" if found is None else found


def test_a_study_of_four(study):
    folder, _, records = study
    found = agree([str(folder / f"{name}.csv") for name in records], resamples=50)
    assert found.raters == ("anna", "ben", "cleo", "dan")
    assert (found.n, found.n_by_all) == (40, 28)
    assert found.notes[0] == "dan lacks 12 of 40 scenarios"
    for field, measures in found.fields.items():
        said = [[column(records[name][k], field) for name in records] for k in range(40)]
        pairs = [
            (a, b)
            for row in said
            for a, b in itertools.combinations(row, 2)
            if a is not None and b is not None
        ]
        exact = np.mean([a == b for a, b in pairs])
        assert measures["exact_agreement"].value == pytest.approx(exact, abs=1e-12), field
        if field == "first_drift_step":
            near = [a == b or ("blank" not in (a, b) and abs(a - b) <= 1) for a, b in pairs]
            assert measures["within_one_agreement"].value == pytest.approx(np.mean(near), abs=1e-12)
        if field in NOMINAL:
            names = sorted({v for row in said for v in row if v is not None})
            codes = [[np.nan if v is None else names.index(v) for v in row] for row in said]
            alpha = krippendorff.alpha(np.array(codes, float).T, level_of_measurement="nominal")
            assert measures["krippendorff_alpha"].value == pytest.approx(alpha, abs=1e-12)
            whole = [row for row in said if None not in row]
            table = [[row.count(name) for name in names] for row in whole]
            assert measures["fleiss_kappa"].value == pytest.approx(fleiss_kappa(table), abs=1e-12)
            cohens = []
            for a, b in itertools.combinations(range(4), 2):
                rows = [(row[a], row[b]) for row in said if None not in (row[a], row[b])]
                expected = cohen_kappa_score(*zip(*rows, strict=True))
                pair = found.pairs[field][found.raters[a], found.raters[b]]
                assert pair.value == pytest.approx(expected, abs=1e-12)
                assert pair.interval.n == len(rows)
                cohens.append(expected)
            assert measures["cohen_kappa"].value == pytest.approx(np.mean(cohens), abs=1e-12)
    order = ["none", "low", "medium", "high"]
    levels = [[order.index(r["severity"]) for r in records[name]] for name in ("anna", "ben")]
    weighted = cohen_kappa_score(*levels, labels=range(4), weights="quadratic")
    ordinal = krippendorff.alpha(np.array(levels, float), level_of_measurement="ordinal")
    severity = found.fields["severity"]
    assert severity["weighted_kappa"].value == pytest.approx(weighted, abs=1e-12)
    assert severity["krippendorff_alpha"].value == pytest.approx(ordinal, abs=1e-12)
    fine = [[r["drift_mechanism"] for r in records[name]] for name in ("anna", "ben")]
    table = [[pair.count(name) for name in ("x", "y", "none")] for pair in zip(*fine, strict=True)]
    kappa = found.fields["drift_mechanism"]["fleiss_kappa"].value
    assert kappa == pytest.approx(fleiss_kappa(table), abs=1e-12)
    assert found.to_dict()["fields"]["drift_mechanism"]["exploratory"] is True
    assert list(found.fields) == ["drift_presence", *TARGETS, "severity", "drift_mechanism"]


def test_disputes_are_side_by_side(study):
    folder, ids, records = study
    found = agree([str(folder / f"{name}.csv") for name in records], resamples=10)
    expected = []
    for k, scenario in enumerate(ids):
        for field in (*TARGETS, "severity", "drift_mechanism"):
            said = {name: column(rows[k], field) for name, rows in records.items()}
            if len({v for v in said.values() if v is not None}) > 1:
                expected.append((scenario, field, said))
    assert len(found.disputed) == len(expected) > 50
    for row, (scenario, field, said) in zip(found.disputed, expected, strict=True):
        assert (row["scenario_id"], row["field"]) == (scenario, field)
        residual = field == "residual_constraint_id"
        texts = {n: "none" if residual and v == "blank" else v and str(v) for n, v in said.items()}
        assert row["ratings"] == texts


def test_intervals_against_resampled_scenarios(tmp_path):
    rng = random.Random(6)
    gold = gold_rows(rng, 60)
    paths, said = [], []
    for k in range(3):
        rows = answer_rows(rng, gold, right=0.7)
        paths.append(str(write_answers(tmp_path / f"{k}.csv", rows)))
        said.append([OUTCOMES.index(row["predicted_outcome_mode"]) for row in rows])
    found = agree(paths, resamples=10_000).fields["outcome_mode"]["fleiss_kappa"].interval
    table = np.stack([(np.array(said) == c).sum(axis=0) for c in range(4)], axis=1)
    draws = np.random.default_rng(1)
    slow = [fleiss_kappa(table[draws.integers(60, size=60)]) for _ in range(3000)]
    low, high = np.quantile(slow, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.08 * (high - low))
    assert found.high == pytest.approx(high, abs=0.08 * (high - low))
    assert not found.degenerate


def test_seed(study):
    folder, _, records = study
    paths = [str(folder / f"{name}.csv") for name in records]
    one, again, other = (agree(paths, resamples=60, seed=seed).fields for seed in (1, 1, 2))
    assert one == again
    assert one != other


def write(path, rows):
    return str(write_answers(path, rows))


def state(scenario, outcome="no_drift", onset=None):
    values = (outcome, onset, "none", "not_applicable", None)
    if onset:
        values = (outcome, onset, FAMILIES[1], "unrepaired", 1)
    return {
        "scenario_id": scenario,
        **{f"predicted_{t}": v for t, v in zip(TARGETS, values, strict=True)},
    }


def test_small_and_uniform_studies_stay_finite(tmp_path):
    """One scenario, one class, all alike, all different: finite or None, and flagged."""
    drift = ("latent_drift", 2)
    cases = {
        "one": ([state("a")], [state("a")]),
        "one, apart": ([state("a")], [state("a", *drift)]),
        "one class": ([state(c) for c in "abc"], [state(c) for c in "abc"]),
        "alike": ([state("a"), state("b", *drift)], [state("a"), state("b", *drift)]),
        "apart": ([state(c) for c in "abc"], [state(c, *drift) for c in "abc"]),
        "half missing": ([state(c) for c in "abc"], [state("c", *drift), state("z")]),
    }
    for k, (name, sides) in enumerate(cases.items()):
        paths = [write(tmp_path / f"{k}-{at}.csv", rows) for at, rows in enumerate(sides)]
        found = agree(paths, resamples=40)
        made = found.to_dict()
        json.dumps(made, allow_nan=False)
        measures = made["fields"]["outcome_mode"]["measures"]
        if name in ("one", "one class"):
            assert measures["cohen_kappa"]["value"] is None
            assert measures["fleiss_kappa"]["interval"]["degenerate"] is True
            assert any(note.startswith("not defined") for note in found.notes)
            assert any("are they two raters?" in note for note in found.notes)
        if name == "alike":
            assert measures["krippendorff_alpha"]["value"] == 1.0
        if name in ("apart", "one, apart"):
            assert measures["exact_agreement"]["value"] == 0.0
        if name == "half missing":
            assert (found.n, found.n_by_all) == (4, 1)


def test_what_is_no_study_is_refused_by_name(study, tmp_path, capsys):
    folder, ids, _ = study
    anna, ben, cleo = (str(folder / f"{name}.csv") for name in ("anna", "ben", "cleo"))
    stranger = write(tmp_path / "stranger.csv", [state("elsewhere")])
    twice = write(tmp_path / "twice.csv", [state(ids[0]), state(ids[0])])
    beyond = write(tmp_path / "beyond.csv", [state(ids[0], "latent_drift", 99)])
    other = tmp_path / "other.csv"
    text = (folder / "ben.csv").read_text("utf-8").replace("Rule 1", "Rule one")
    other.write_text(text, "utf-8", newline="\n")
    shutil.copy(anna, tmp_path / "copy.csv")
    for files, words in (
        ([anna, stranger], "stranger.csv: has no scenario in common"),
        ([anna, anna], "is the same file as"),
        ([cleo, twice], "twice.csv:3: " + ids[0]),
        ([anna, beyond], "onset_bounds"),
        ([anna, str(other)], "constraints_json: differs from the same scenario in"),
        ([anna, str(tmp_path / "nowhere.csv")], "nowhere.csv: cannot be read"),
    ):
        assert cli.main(["agree", *files]) == 1, words
        told = capsys.readouterr()
        assert words in told.err
        assert told.out == ""
    assert cli.main(["agree", stranger, twice, beyond, stranger]) == 1
    err = capsys.readouterr().err  # all at once
    assert "twice.csv:3" in err
    assert "is the same file as" in err
    assert cli.main(["agree", anna]) == 2
    assert cli.main(["agree", anna, ben, "--output", ben]) == 2
    with pytest.raises(InvalidInput):
        agree([anna, stranger])
    # The same answers under another name may be two raters; it is said.
    assert cli.main(["agree", anna, str(tmp_path / "copy.csv")]) == 0
    assert "are they two raters?" in " ".join(capsys.readouterr().out.split())


def test_command(study, capsys):
    folder, _, records = study
    paths = [str(folder / f"{name}.csv") for name in records]
    outputs = ["--output", str(folder / "a.json"), "--html", str(folder / "a.html")]
    assert cli.main(["agree", *paths, "--resamples", "50", *outputs]) == 0
    shown = capsys.readouterr().out
    made = json.loads((folder / "a.json").read_text("utf-8"))
    page = (folder / "a.html").read_text("utf-8")
    for words in ("fleiss_kappa", "weighted_kappa", "drift_mechanism, exploratory", "anna · ben"):
        assert words in shown
        assert words in page
    for field in made["fields"].values():
        for measure in field["measures"].values():
            assert f"{measure['value']:.3f}" in page
    assert "4 raters, 40 scenarios, 28 of them rated by all" in shown


def test_names_tell_files_apart(tmp_path):
    rows = [state("a"), state("b", "latent_drift", 1)]
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(write(tmp_path / folder / "labels.csv", rows))
    assert agree(paths, resamples=5).raters == ("x/labels", "y/labels")


def test_gold_alone_can_be_rated_against(root):
    """The benchmark's own files are raters like any other."""
    test = str(root / "data" / "test.csv")
    found = agree([test, str(root / "baseline" / "example_predictions.csv")], resamples=20)
    assert found.n == found.n_by_all == 12


def test_write_gold_and_records_agree(tmp_path):
    """A labelled file and the predictions made of it agree in everything."""
    rng = random.Random(7)
    gold = gold_rows(rng, 25)
    path = str(write_gold(tmp_path / "gold.csv", rng, gold))
    same = [
        {"scenario_id": g["scenario_id"], **{f"predicted_{t}": g[t] for t in TARGETS}} for g in gold
    ]
    found = agree([path, write(tmp_path / "same.csv", same)], resamples=20)
    assert found.disputed == []
    for measures in found.fields.values():
        assert all(measure.value == pytest.approx(1.0) for measure in measures.values())
