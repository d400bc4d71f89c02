"""Seven ways in which gauges of this kind fail, each shown on a naive version first."""

import json
import math
from pathlib import Path

import pytest

from drift_core import strict_json
from drift_gauge import bless, documents, drift, effector_drift, gate, golden, history
from drift_gauge.drift import DriftConfig, Profile
from drift_gauge.golden import GoldenQuery

CASES = Path(__file__).parent / "cases"
ANCHOR = {"recall_at_k": 0.8, "overlap": 0.5, "mean_distance": 0.3}
DOCUMENT = {
    "retriever": "mine",
    "metrics": ANCHOR,
    "drift": {
        "recall_tol": 0.1,
        "overlap_tol": 0.1,
        "distance_tol": 0.05,
        "drift_tolerance": 1.0,
        "constitution_fingerprint": "0" * 64,
    },
    "effectors": {"baseline_reach": 0.5, "reach_tol": 0.25},
}
GOLDEN = [GoldenQuery("one", "first?", ("a", "b"), 2), GoldenQuery("two", "second?", ("c",), 2)]


def naive_det(value, baseline, tolerance):
    """Deterioration as most people write it first."""
    return max(0.0, value - baseline) / tolerance


# 1. Blessing


def naive_bless(path, metrics):
    path.write_text(json.dumps({"metrics": metrics}))


def test_a_blessing_keeps_every_other_section(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(DOCUMENT))
    naive_bless(path, {**ANCHOR, "recall_at_k": 0.9})
    assert "drift" not in json.loads(path.read_text())  # Θ, tolerances, fingerprint: all gone

    text = json.dumps(DOCUMENT)
    path.write_text(text)
    new = {**ANCHOR, "recall_at_k": 0.9}
    done = bless.bless(path, bless.renewed(path, "mine", new), by="ann")
    assert golden.load_baseline(path) == {**DOCUMENT, "metrics": new}
    assert (tmp_path / done.kept_as).read_text() == text
    (line,) = (tmp_path / bless.LOG_NAME).read_text().splitlines()
    assert json.loads(line)["by"] == "ann"
    assert json.loads(line)["time"] == done.time


def test_a_blessing_says_on_which_golden_set(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({**DOCUMENT, "golden_sha256": "a" * 64}))
    document = bless.renewed(path, "mine", ANCHOR, golden_sha256="b" * 64)
    assert document == {**DOCUMENT, "golden_sha256": "b" * 64}
    assert list(document)[:2] == ["retriever", "golden_sha256"]
    assert bless.renewed(path, "mine", ANCHOR) == DOCUMENT  # that of the old metrics is not kept


def test_structural_anchors_survive_a_blessing_that_did_not_measure_them(tmp_path):
    path = tmp_path / "baseline.json"
    metrics = {**ANCHOR, "frustration": 0.125, "min_conductance": 0.5}
    path.write_text(json.dumps({**DOCUMENT, "metrics": metrics}))
    new = {**ANCHOR, "frustration": 0.25}
    document = bless.renewed(path, "mine", new)
    assert document["metrics"] == {**ANCHOR, "frustration": 0.25, "min_conductance": 0.5}


# 2. The edge of Θ


def test_a_deterioration_of_one_tolerance_is_in_band():
    value, baseline, tolerance = 0.4, 0.3, 0.1
    assert naive_det(value, baseline, tolerance) == 1.0000000000000002  # and so out of band

    cfg = DriftConfig(distance_tol=tolerance)
    reading = drift.drift(Profile(0.8, 0.5, value, True), ANCHOR, cfg)
    assert reading.drift == 1.0000000000000002
    assert reading.within_tolerance
    report = golden.GoldenReport([golden.QueryResult("q", ("a",), 0.8, 0.5, value)])
    assert golden.regressions(report, {**ANCHOR, "distance_tol": tolerance}) == []
    anchor = effector_drift.EffectorAnchor(0.3, 0.1)
    assert effector_drift.measure_effector_drift([0, 0, 0, 1, 1], anchor).within_tolerance

    above = drift.drift(Profile(0.8, 0.5, value + 1e-7, True), ANCHOR, cfg)
    assert not above.within_tolerance
    report = golden.GoldenReport([golden.QueryResult("q", ("a",), 0.8, 0.5, value + 1e-7)])
    assert golden.regressions(report, {**ANCHOR, "distance_tol": tolerance}) == ["mean_distance"]
    assert not effector_drift.measure_effector_drift([0, 0, 1, 1, 1], anchor).within_tolerance


def test_recall_and_overlap_may_not_drop_by_more_than_rounding():
    for drop, fallen in ((1e-12, []), (1e-7, ["recall_at_k", "overlap"])):
        report = golden.GoldenReport([golden.QueryResult("q", ("a",), 0.8 - drop, 0.5 - drop, 0.3)])
        assert golden.regressions(report, ANCHOR) == fallen


# 3. Nothing came back


def naive_distance(rows):
    distances = [row["_distance"] for row in rows if "_distance" in row]
    return sum(distances) / len(distances) if distances else 0.0


@pytest.mark.parametrize("rows", [[], [{"title": "a"}], [{"title": "a", "_distance": None}]])
def test_no_distance_never_reads_as_an_improvement(rows):
    assert naive_det(naive_distance([r for r in rows if r.get("_distance")]), 0.3, 0.05) == 0.0

    report = golden.evaluate(GOLDEN, lambda query, k: rows)
    assert report.mean_distance is None
    assert len(report.flags) == len(GOLDEN)
    reading = drift.drift_from_report(report, ANCHOR, DriftConfig(), intact=True)
    assert reading.drift == math.inf
    assert reading.unmeasured == ("mean_distance",)
    assert not reading.within_tolerance
    assert "mean_distance unmeasured" in reading.reasons[0]
    assert reading.notes == report.flags
    assert "mean_distance" in golden.regressions(report, ANCHOR)


def test_the_mean_is_over_the_queries_that_have_a_distance():
    answers = {"first?": [{"title": "a", "_distance": 0.5}, {"title": "b"}], "second?": []}
    report = golden.evaluate(GOLDEN, lambda query, k: answers[query])
    assert naive_distance(answers["first?"]) / 2 == 0.25  # an empty answer as distance 0
    assert report.mean_distance == 0.5
    assert report.flags == (
        "query 'one': 1 of 2 rows have no _distance",
        "query 'two' returned no rows",
    )


# 4. Explicitly empty


def naive_default(golden_set, default):
    return golden_set or default


def test_an_empty_set_or_baseline_is_an_error_and_not_the_default():
    assert naive_default([], GOLDEN) is GOLDEN

    def retriever(query, k):
        raise AssertionError("must not be asked")

    for given in ({"golden": []}, {"golden": GOLDEN, "baseline": {}}):
        with pytest.raises(ValueError, match=r"at least one query|missing key `metrics"):
            drift.measure_drift(retriever, **given)
        with pytest.raises(ValueError, match=r"at least one query|missing key `metrics"):
            gate.build_golden_validator(retriever, **given)
    with pytest.raises(ValueError, match="at least one query"):
        golden.evaluate([], retriever)


@pytest.mark.parametrize("text", ["{}", '{"queries": []}', "[]", "null", ""])
def test_an_empty_golden_set_file(tmp_path, text):
    path = tmp_path / "golden_set.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"golden_set\.json"):
        golden.load_golden_set(path)


@pytest.mark.parametrize("text", ["{}", "[]", ""])
def test_an_empty_baseline_file(tmp_path, text):
    path = tmp_path / "baseline.json"
    path.write_text(text)
    for load in (
        golden.load_baseline,
        drift.load_drift_config,
        effector_drift.load_effector_anchor,
    ):
        with pytest.raises(ValueError, match=r"baseline\.json"):
            load(path)


# 5. ∞ in JSON


def test_infinity_is_the_text_inf(tmp_path):
    breached = drift.drift(Profile(0.8, 0.5, 0.3, False), ANCHOR, DriftConfig())
    assert json.dumps({"drift": breached.drift}) == '{"drift": Infinity}'  # which is not JSON

    text = strict_json.dumps(breached.to_dict())
    assert strict_json.loads(text)["drift"] == "inf"
    assert strict_json.loads(text)["per_axis"] == {"constitution": "inf"}
    history.append_reading(tmp_path / "log.jsonl", breached)
    (reading,), _ = history.load_history(tmp_path / "log.jsonl")
    assert reading.drift == math.inf
    assert reading.per_axis == {"constitution": math.inf}
    far = effector_drift.measure_effector_drift([2], effector_drift.EffectorAnchor(0.0, 0.0))
    assert strict_json.loads(strict_json.dumps(far.to_dict()))["deterioration"] == "inf"


# 6. Numbers that disarm


def test_nan_and_negative_numbers_are_refused():
    assert naive_det(math.nan, 0.3, 0.05) == 0.0  # max(0, nan) is 0
    assert naive_det(9.9, 0.3, math.inf) == 0.0
    assert not math.nan < 5.0  # so that a check for D > Θ never trips

    with pytest.raises(ValueError, match="mean_distance: nan, expected a finite number"):
        drift.drift(Profile(0.8, 0.5, math.nan, True), ANCHOR, DriftConfig())
    for name in ("recall_tol", "overlap_tol", "distance_tol", "theta", "frustration_tol"):
        for bad in (math.nan, -1, -0.0001, math.inf, "0.1", True, None):
            with pytest.raises(ValueError, match=f"`{name}` to be a finite number ≥ 0 but got"):
                DriftConfig(**{name: bad})
    for bad in (math.nan, math.inf, -0.1, 1.1):
        with pytest.raises(ValueError, match="recall_at_k"):
            drift.drift(Profile(0.8, 0.5, 0.3, True), {**ANCHOR, "recall_at_k": bad}, DriftConfig())
    for arguments in ((math.nan, 0.5), (0.5, -1), (2.5, 0.5), (0.5, math.nan)):
        with pytest.raises(ValueError, match="finite number ≥ 0"):
            effector_drift.EffectorAnchor(*arguments)


def test_the_public_case_of_disarming_settings(tmp_path):
    rows = json.loads((CASES / "tolerances" / "bad_config.json").read_text("utf-8"))
    for settings in rows[:3]:
        with pytest.raises(ValueError, match=next(iter(settings))):
            DriftConfig(**settings)
    for settings, expected in zip(rows[3:], (math.inf, 0.0, 0.0), strict=True):
        cfg = DriftConfig(distance_tol=settings["distance_tol"])
        anchor = {**ANCHOR, "mean_distance": settings["baseline"]}
        reading = drift.drift(Profile(0.8, 0.5, settings["value"], True), anchor, cfg)
        assert reading.drift == expected
        assert reading.within_tolerance == (expected == 0)


def test_the_public_case_of_a_nan_distance():
    case = json.loads((CASES / "nan_distance" / "nan_distance.json").read_text("utf-8"))
    query = GoldenQuery("q", "?", tuple(case["expected"]), case["k"])
    with pytest.raises(ValueError, match=r"<retriever> item 1: q: _distance: nan, expected"):
        drift.measure_drift(lambda q, k: case["rows"], golden=[query], baseline=case["baseline"])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"metrics": {**ANCHOR, "recal_at_k": 1.0}}, "unknown key `metrics.recal_at_k`"),
        ({"metrics": {"overlap": 0.5, "mean_distance": 0.3}}, "key `metrics.recall_at_k`"),
        ({"drift": {**DOCUMENT["drift"], "tehta": 1.0}}, "unknown key `drift.tehta`"),
        ({"drift": {"recall_tol": 0.1}}, "missing key `drift.drift_tolerance`"),
        ({"drift": {}}, "missing key `drift.recall_tol`"),
        ({"effectors": {"reach_tol": 1}}, "missing key `effectors.baseline_reach`"),
        ({"drfit": {}}, "unknown key `drfit`"),
        ({"metrics": {**ANCHOR, "distance_tol": 0.06}}, "metrics.distance_tol"),
        ({"drift": {**DOCUMENT["drift"], "drift_tolerance": -1}}, "drift.drift_tolerance: -1"),
        ({"drift": {**DOCUMENT["drift"], "constitution_fingerprint": ""}}, "fingerprint"),
        ({"metrics": {**ANCHOR, "mean_distance": None}}, "metrics.mean_distance: None"),
        ({"metrics": None}, "metrics: None, expected an object"),
        ({"golden_sha256": "8e49"}, "golden_sha256: '8e49', expected 64 hexadecimal digits"),
        ({"golden_sha256": None}, "golden_sha256: None"),
    ],
)
def test_wrong_keys_and_values_are_named(tmp_path, change, named):
    document = {**DOCUMENT, **change}
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(document))
    for run in (
        lambda: golden.load_baseline(path),
        lambda: drift.load_drift_config(path),
        lambda: effector_drift.load_effector_anchor(path),
        lambda: drift.measure_drift(lambda q, k: [], golden=GOLDEN, baseline=document),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011  the name is looked for below
            run()
        assert named in str(caught.value)


def test_a_nan_in_a_file_is_named(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(
        json.dumps({**DOCUMENT, "drift": {**DOCUMENT["drift"], "recall_tol": math.nan}})
    )
    with pytest.raises(ValueError, match=r"drift\.recall_tol: nan, expected a finite number ≥ 0"):
        drift.load_drift_config(path)


def test_every_problem_at_once():
    drift_section = {**DOCUMENT["drift"], "recall_tol": -1, "thata": 1}
    metrics = {"recall_at_k": 2, "overlap": 0.5}
    problems = documents.baseline_problems({"metrics": metrics, "drift": drift_section})
    assert {problem.column for problem in problems} == {
        "metrics.recall_at_k",
        "metrics.mean_distance",
        "drift.recall_tol",
        "drift.thata",
    }


def test_absent_sections_mean_the_defaults_and_the_report_says_so(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"retriever": "mine", "metrics": ANCHOR}))
    assert drift.load_drift_config(path) == DriftConfig()
    assert effector_drift.load_effector_anchor(path) == effector_drift.EffectorAnchor()
    reading = drift.measure_drift(
        lambda q, k: [{"title": "a", "_distance": 0.1}],
        golden=GOLDEN,
        baseline=golden.load_baseline(path),
    )
    assert reading.notes == (
        "the baseline has no `drift` section: default tolerances and Θ = 1",
        "no constitution was blessed: conformance is not checked",
    )
    without = {"retriever": "mine", "metrics": ANCHOR, "drift": DOCUMENT["drift"]}
    named = drift.measure_drift(
        lambda q, k: [{"title": "a", "_distance": 0.1}], golden=GOLDEN, baseline=without
    )
    assert named.notes == ()


# 7. A breach


def naive_breach(dets, intact):
    """Conformance as one more axis."""
    return math.hypot(*dets, 0.0 if intact else 1.0)


@pytest.mark.parametrize("rates", [(0.8, 0.5, 0.3), (1.0, 1.0, 0.0), (0.0, 0.0, 2.0)])
def test_a_breach_trips_whatever_the_rates(rates):
    assert naive_breach([0.0, 0.0, 0.0], intact=False) <= 1.0  # so that a breach is in band

    reading = drift.drift(Profile(*rates, False), ANCHOR, DriftConfig(theta=1e9))
    assert reading.drift == math.inf
    assert reading.per_axis == {"constitution": math.inf}
    assert not reading.within_tolerance
    assert not reading.constitution_intact


def test_a_blessed_fingerprint_without_a_readable_file_is_a_breach(tmp_path, monkeypatch):
    live = tmp_path / "constitution.md"
    live.write_text("be kind")
    from drift_gauge.constitution import VARIABLE, constitution_fingerprint

    cfg = DriftConfig(blessed_fingerprint=constitution_fingerprint(live))
    assert drift.constitution_intact(DriftConfig())
    assert drift.constitution_intact(cfg, live)
    monkeypatch.setenv(VARIABLE, str(live))
    assert drift.constitution_intact(cfg)
    report = golden.evaluate(GOLDEN, lambda q, k: [{"title": "a", "_distance": 0.1}])
    assert drift.drift_from_report(report, ANCHOR, cfg).constitution_intact
    assert drift.drift_from_report(report, ANCHOR, cfg).notes == ()
    assert drift.drift_from_report(report, ANCHOR, DriftConfig()).notes == (
        "no constitution was blessed: conformance is not checked",
    )
    live.write_text("be kind.")
    assert not drift.constitution_intact(cfg)
    (reason,) = drift.drift_from_report(report, ANCHOR, cfg).reasons
    for named in (constitution_fingerprint(live), cfg.blessed_fingerprint, "restore the file"):
        assert named in reason
    live.unlink()
    for named in (str(live), str(tmp_path)):
        monkeypatch.setenv(VARIABLE, named)
        reading = drift.drift_from_report(report, ANCHOR, cfg)
        assert reading.drift == math.inf
        assert "no live one can be read" in reading.reasons[0]
        assert named in reading.reasons[0]
    monkeypatch.delenv(VARIABLE)
    reading = drift.drift_from_report(report, ANCHOR, cfg)
    assert reading.drift == math.inf
    assert f"no argument and no {VARIABLE}" in reading.reasons[0]
