"""D, the effector gauge, the gate and the structural axes: by hand, and as laws."""

import math
import subprocess
import sys
from dataclasses import replace

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift_gauge import drift, effector_drift, gate, golden, structure
from drift_gauge.drift import Axis, DriftConfig, Profile
from drift_gauge.effector_drift import EffectClass, EffectorAnchor
from drift_gauge.golden import GoldenQuery, GoldenReport, QueryResult

ANCHOR = {
    "recall_at_k": 0.75,
    "overlap": 0.5,
    "mean_distance": 0.25,
    "frustration": 0.125,
    "min_conductance": 0.5,
}
AT_ANCHOR = Profile(0.75, 0.5, 0.25, True, 0.125, 0.5)
CFG = DriftConfig(0.125, 0.25, 0.0625, 1.0, None, 0.25, 0.125)
WORSE = {  # one step in the bad direction of each axis
    "recall_at_k": -1,
    "overlap": -1,
    "mean_distance": 1,
    "frustration": 1,
    "min_conductance": -1,
}

share = st.floats(0, 1)
profiles = st.builds(Profile, share, share, st.floats(0, 2), st.booleans(), share, share)
tolerance = st.one_of(st.just(0.0), st.floats(1e-6, 10))
configs = st.builds(
    DriftConfig, tolerance, tolerance, tolerance, st.floats(0, 5), st.none(), tolerance, tolerance
)
anchors = st.fixed_dictionaries(
    {
        "recall_at_k": share,
        "overlap": share,
        "mean_distance": st.floats(0, 2),
        "frustration": share,
        "min_conductance": share,
    }
)


def in_range(name, value):
    return min(max(value, 0.0), 2.0 if name == "mean_distance" else 1.0)


def report_of(recall, overlap, distance):
    return GoldenReport([QueryResult("q", ("a",), recall, overlap, distance)])


def test_defaults_are_those_of_the_design():
    assert DriftConfig() == DriftConfig(
        recall_tol=0.1,
        overlap_tol=0.1,
        distance_tol=0.05,
        theta=1.0,
        blessed_fingerprint=None,
        frustration_tol=0.25,
        conductance_tol=0.1,
    )
    assert EffectorAnchor() == EffectorAnchor(baseline_reach=0.0, reach_tol=0.5)
    assert [(c.name, int(c)) for c in EffectClass] == [
        ("SENSING", 0),
        ("REVERSIBLE", 1),
        ("IRREVERSIBLE", 2),
    ]


@pytest.mark.parametrize(
    ("value", "baseline", "tolerance", "higher", "expected"),
    [
        (0.5, 1.0, 0.25, True, 2.0),
        (1.0, 0.5, 0.25, True, 0.0),
        (1.0, 0.5, 0.25, False, 2.0),
        (0.5, 1.0, 0.25, False, 0.0),
        (0.5, 0.5, 0.0, True, 0.0),
        (0.25, 0.5, 0.0, True, math.inf),
        (0.75, 0.5, 0.0, True, 0.0),
        (None, 0.5, 0.25, True, math.inf),
    ],
)
def test_deterioration_by_hand(value, baseline, tolerance, higher, expected):
    assert Axis("x", value, baseline, tolerance, higher).deterioration() == expected


def test_d_by_hand():
    profile = Profile(0.75 - 3 * 0.125, 0.5, 0.25 + 4 * 0.0625, True)
    reading = drift.drift(profile, ANCHOR, CFG)
    assert reading.per_axis == {"recall_at_k": 3.0, "overlap": 0.0, "mean_distance": 4.0}
    assert reading.drift == 5.0  # sqrt(3² + 0² + 4²)
    assert not reading.within_tolerance
    assert drift.drift(profile, ANCHOR, replace(CFG, theta=5.0)).within_tolerance


def test_structural_axes_count_where_both_sides_have_them():
    worse = replace(AT_ANCHOR, frustration=0.375, min_conductance=0.25)
    reading = drift.drift(worse, ANCHOR, CFG)
    assert reading.per_axis["frustration"] == 1.0
    assert reading.per_axis["min_conductance"] == 2.0
    assert reading.drift == math.sqrt(5)
    three = {name: ANCHOR[name] for name in ("recall_at_k", "overlap", "mean_distance")}
    assert set(drift.drift(worse, three, CFG).per_axis) == set(three)
    plain = replace(worse, frustration=None, min_conductance=None)
    assert drift.drift(plain, ANCHOR, CFG).drift == 0
    assert drift.drift(plain, ANCHOR, CFG) == drift.drift(plain, three, CFG)
    with pytest.raises(ValueError, match="frustation"):
        drift.profile_from_report(
            report_of(1, 1, 0), constitution_intact=True, structural={"frustation": 0.1}
        )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"recall_at_k": 1.01}, "recall_at_k: 1.01, expected a finite number ≥ 0 and ≤ 1"),
        ({"overlap": -0.01}, "overlap: -0.01"),
        ({"mean_distance": -0.01}, "mean_distance: -0.01, expected a finite number ≥ -1e-06"),
        ({"min_conductance": 1.5}, "min_conductance: 1.5"),
        ({"min_conductance": math.nan}, "min_conductance: nan"),
        ({"frustration": math.nan}, "frustration: nan, expected a finite number"),
    ],
)
def test_a_profile_out_of_range_is_named(change, named):
    three = {name: ANCHOR[name] for name in ("recall_at_k", "overlap", "mean_distance")}
    for profile in (replace(AT_ANCHOR, **change), replace(Profile(1, 1, 0, False), **change)):
        for anchor in (ANCHOR, three):  # also where the axis does not count
            with pytest.raises(ValueError) as caught:  # noqa: PT011  looked for below
                drift.drift(profile, anchor, CFG)
            assert named in str(caught.value)


def test_rounding_and_other_scales_are_in_range():
    at_the_edge = replace(AT_ANCHOR, mean_distance=-1e-7, min_conductance=1 + 1e-12)
    assert drift.drift(at_the_edge, ANCHOR, CFG).drift == 0
    dots = {**ANCHOR, "mean_distance": -3.0}  # a dot product, blessed below 0
    assert drift.drift(replace(AT_ANCHOR, mean_distance=-3.5), dots, CFG).drift == 0


def test_reasons_have_digits_enough():
    a, b = 0.81862745, 0.81862746
    cfg = replace(CFG, recall_tol=0.0)
    reading = drift.drift(replace(AT_ANCHOR, recall_at_k=a), {**ANCHOR, "recall_at_k": b}, cfg)
    assert reading.reasons == (
        "D = inf is above Θ = 1: recall_at_k 0.81862745 against 0.81862746 with tolerance 0",
    )
    reading = drift.drift(replace(AT_ANCHOR, recall_at_k=0.75 - 0.1250001), ANCHOR, CFG)
    assert reading.reasons[0].startswith("D = 1.000001 is above Θ = 1: recall_at_k 0.625 against")
    baseline = {**DOCUMENT["metrics"], "distance_tol": 0.0, "mean_distance": 0.2499999}
    cfg = replace(CFG, distance_tol=0.0)
    report = report_of(1.0, 0.5, 0.25)
    reading = drift.drift_from_report(report, baseline, cfg, intact=True)
    reasons = gate.gate(True, report, baseline, reading).reasons
    assert "mean_distance 0.25 against 0.2499999 with tolerance 0" in reasons[0]


@pytest.mark.parametrize("name", ["frustration", "min_conductance"])
def test_a_structural_axis_of_one_side_is_noted(name):
    three = {key: ANCHOR[key] for key in ("recall_at_k", "overlap", "mean_distance")}
    for metrics, structural, notes in (
        (three, {name: 0.5}, (f"{name} is measured but not blessed: it does not count",)),
        ({**three, name: 0.5}, None, (f"{name} is blessed but not measured: it does not count",)),
        ({**three, name: 0.5}, {name: None}, (f"{name} is blessed but not measured: it does ",)),
        ({**three, name: 0.5}, {name: 0.5}, ()),
        (three, None, ()),
    ):
        reading = drift.drift_from_report(
            report_of(0.75, 0.5, 0.25), metrics, CFG, intact=True, structural=structural
        )
        assert len(reading.notes) == len(notes)
        assert all(a.startswith(b) for a, b in zip(reading.notes, notes, strict=True))
        assert reading.drift == 0


@given(profiles, anchors, configs)
def test_d_is_never_negative_and_in_band_is_what_it_says(profile, anchor, cfg):
    reading = drift.drift(profile, anchor, cfg)
    assert reading.drift >= 0
    inside = reading.drift <= cfg.theta * (1 + 1e-9) and profile.constitution_intact
    assert reading.within_tolerance == inside
    assert bool(reading.reasons) != inside
    squares = math.fsum(value**2 for value in reading.per_axis.values())
    assert math.isclose(reading.drift, math.sqrt(squares), rel_tol=1e-12, abs_tol=1e-150)


@given(anchors, configs, st.data())
def test_improvement_is_no_drift(anchor, cfg, data):
    better = {
        name: in_range(name, anchor[name] - direction * data.draw(st.floats(0, 1)))
        for name, direction in WORSE.items()
    }
    profile = Profile(constitution_intact=True, **better)
    reading = drift.drift(profile, anchor, cfg)
    assert reading.drift == 0
    assert reading.within_tolerance


@given(profiles, anchors, configs, st.sampled_from(sorted(WORSE)), st.floats(0, 1))
def test_d_never_falls_when_an_axis_gets_worse(profile, anchor, cfg, name, step):
    value = in_range(name, getattr(profile, name) + WORSE[name] * step)
    worse = replace(profile, **{name: value})
    before, after = (drift.drift(p, anchor, cfg) for p in (profile, worse))
    assert after.drift >= before.drift
    assert before.within_tolerance or not after.within_tolerance


def test_reach_by_hand():
    reach = effector_drift.reach_of([0, 1, 1, 2])
    assert reach == effector_drift.EffectorReach(1.0, 0.25, 2, 4)
    assert effector_drift.reach_of([]) == effector_drift.EffectorReach(0.0, 0.0, 0, 0)
    assert effector_drift.measure_effector_drift([]).within_tolerance
    axis = effector_drift.effector_reach_axis(reach, EffectorAnchor(0.5, 0.25))
    assert (axis.value, axis.baseline, axis.tolerance) == (1.0, 0.5, 0.25)
    assert not axis.higher_is_better
    reading = effector_drift.measure_effector_drift([0, 1, 1, 2], EffectorAnchor(0.5, 0.25))
    assert reading.deterioration == 2.0
    assert not reading.within_tolerance
    assert effector_drift.measure_effector_drift([0, 0], EffectorAnchor(0.5)).deterioration == 0


@given(st.lists(st.sampled_from(EffectClass), max_size=40))
def test_reach_lies_in_its_bounds(classes):
    reach = effector_drift.reach_of(classes)
    assert 0 <= reach.mean_reach <= reach.max_class <= 2
    assert reach.n == len(classes)
    assert reach.mean_reach == (sum(classes) / len(classes) if classes else 0)


@pytest.mark.parametrize("bad", [3, -1, 1.0, True, None, "Reversible", "undo", float("nan")])
def test_unknown_classes_are_named(bad):
    with pytest.raises(ValueError, match="proposal 1: class"):
        effector_drift.reach_of([0, bad])


def test_reach_from_anything_that_has_all():
    class Rows:
        def __init__(self, rows):
            self.rows = rows

        def all(self):
            return self.rows

    for rows in ([{"class": 2}, {"class": "sensing"}], [EffectClass.IRREVERSIBLE, 0]):
        assert effector_drift.reach_from_ledger(Rows(rows)).mean_reach == 1.0


GOLDEN = [GoldenQuery("one", "first?", ("a",), 2)]
DOCUMENT = {
    "retriever": "mine",
    "metrics": {"recall_at_k": 1.0, "overlap": 0.5, "mean_distance": 0.25},
    "drift": {"recall_tol": 1.0, "overlap_tol": 1.0, "distance_tol": 0.5, "drift_tolerance": 1.0},
}


def answer(*titles, distance=0.25):
    return lambda query, k: [{"title": title, "_distance": distance} for title in titles]


@pytest.mark.parametrize(
    ("approved", "retriever", "is_open", "within", "fallen"),
    [
        (True, answer("a", "b"), True, True, ()),
        (False, answer("a", "b"), False, True, ()),
        # a regression that D alone lets pass: one tolerance of recall is a whole title
        (True, answer("b", "c"), False, False, ("recall_at_k", "overlap")),
        (True, answer("a", "b", distance=0.9), False, False, ("mean_distance",)),
        (True, answer("a", "b", distance=0.6), True, True, ()),
    ],
)
def test_the_gate(approved, retriever, is_open, within, fallen):
    validate = gate.build_golden_validator(retriever, golden=GOLDEN, baseline=DOCUMENT)
    decision = validate(approved)
    assert decision.open == bool(decision) == is_open
    assert decision.drift.within_tolerance == within
    assert decision.regressions == fallen
    assert bool(decision.reasons) != is_open
    assert list(decision.to_dict()) == ["open", "approved", "regressions", "drift", "reasons"]


def test_a_golden_set_that_was_not_blessed_closes_the_gate():
    right = golden.evaluate(GOLDEN, answer("a", "b"))
    easy = [GoldenQuery("easy", "?", (), 1)]
    blessed = {**DOCUMENT, "golden_sha256": right.golden_sha256}
    for queries, baseline, is_open in (
        (GOLDEN, blessed, True),
        (GOLDEN, DOCUMENT, True),  # not known
        ([GoldenQuery("one", "first?", ("a",), 2)], blessed, True),  # equal, another object
        ([GoldenQuery("one", "first?", ("a", "b"), 2)], blessed, False),
        ([*GOLDEN, *easy], blessed, False),
    ):
        decision = gate.build_golden_validator(
            answer("a", "b"), golden=queries, baseline=baseline, intact=True
        )(True)
        assert decision.open == is_open
        told = "the baseline was blessed on another golden set"
        assert any(told in reason for reason in decision.reasons) != is_open
        assert any(told in note for note in decision.drift.notes) != is_open
        assert decision.drift.within_tolerance  # a note for D alone
    by_hand = report_of(1.0, 0.5, 0.25)  # of no known set
    reading = drift.drift_from_report(by_hand, blessed, drift.config_of(blessed), intact=True)
    assert gate.gate(True, by_hand, blessed, reading).open


def test_an_own_golden_set_is_measured_against_the_default_baseline():
    reading = drift.measure_drift(answer("a", "b", distance=0.25), golden=GOLDEN)
    assert reading.within_tolerance
    assert "another golden set" in reading.notes[0]


def test_a_regression_closes_the_gate_where_d_is_in_band():
    golden_set = [*GOLDEN, GoldenQuery("two", "second?", ("b",), 2)]
    retriever = answer("a", "c")
    baseline = {**DOCUMENT, "metrics": {**DOCUMENT["metrics"], "recall_at_k": 1.0}}
    decision = gate.build_golden_validator(retriever, golden=golden_set, baseline=baseline)(True)
    assert decision.drift.within_tolerance
    assert not decision.open
    assert decision.regressions == ("recall_at_k", "overlap")
    assert "recall_at_k 0.5 against 1" in decision.reasons[0]


def test_the_gate_asks_once_and_wants_a_plain_yes():
    asked = []

    def retriever(query, k):
        asked.append(query)
        return [{"title": "a", "_distance": 0.25}]

    validate = gate.build_golden_validator(retriever, golden=GOLDEN, baseline=DOCUMENT)
    assert validate(True).open
    assert asked == ["first?"]
    for bad in ("no", 1, None):
        with pytest.raises(ValueError, match="`approved` to be True or False"):
            validate(bad)


def test_a_baseline_of_another_retriever_is_an_error():
    class Mine:
        name = "theirs"

        def __call__(self, query, k):
            return []

    for run in (drift.measure_drift, gate.build_golden_validator):
        with pytest.raises(ValueError, match=r"blessed with 'mine', but the retriever is 'theirs'"):
            run(Mine(), golden=GOLDEN, baseline=DOCUMENT)


def test_whole_baseline_and_metrics_section_give_the_same():
    report = report_of(0.5, 0.25, 0.5)
    cfg = drift.config_of(DOCUMENT)
    whole = drift.drift_from_report(report, DOCUMENT, cfg, intact=True)
    section = drift.drift_from_report(report, DOCUMENT["metrics"], cfg, intact=True)
    assert whole == section
    assert golden.regressions(report, DOCUMENT) == ["recall_at_k", "overlap"]
    with pytest.raises(ValueError, match=r"`distance_tol` of the metrics, 0\.5, to be that of"):
        drift.drift_from_report(report, DOCUMENT, DriftConfig(), intact=True)


def signed_graph(n, edges, seed, mean=0.0):
    rng = np.random.default_rng(seed)
    graph = networkx.gnm_random_graph(n, edges, seed=seed)
    for a, b in graph.edges:
        graph.edges[a, b]["weight"] = float(rng.normal(mean))
    return graph


@pytest.mark.parametrize(
    ("n", "edges", "mean"), [(12, 20, 0), (60, 300, 0), (400, 3000, 0), (400, 3000, -5)]
)
def test_frustration_is_the_smallest_eigenvalue_of_the_signed_laplacian(n, edges, mean):
    graph = signed_graph(n, edges, n, mean)
    weights = networkx.to_numpy_array(graph)
    degree = np.abs(weights).sum(axis=1)
    kept = degree > 0
    scale = 1 / np.sqrt(degree[kept])
    laplacian = np.eye(kept.sum()) - scale[:, None] * weights[kept][:, kept] * scale
    expected = np.linalg.eigvalsh(laplacian)[0]
    found = structure.alignment_snapshot(graph)
    assert list(found) == ["frustration"]
    assert found["frustration"] == pytest.approx(expected, abs=1e-9)
    assert structure.alignment_snapshot(graph) == found


def test_two_camps_are_not_frustrated():
    graph = networkx.complete_graph(6)
    for a, b in graph.edges:
        graph.edges[a, b]["weight"] = 1.0 if (a < 3) == (b < 3) else -1.0
    assert structure.alignment_snapshot(graph)["frustration"] == pytest.approx(0, abs=1e-12)
    graph.edges[0, 1]["weight"] = -1.0
    assert structure.alignment_snapshot(graph)["frustration"] > 0.05


def test_conductance_is_networkx_on_the_strengths():
    graph = signed_graph(40, 160, seed=3)
    strengths = graph.copy()
    for a, b in graph.edges:
        strengths.edges[a, b]["weight"] = abs(graph.edges[a, b]["weight"])
    communities = [set(range(10)), set(range(10, 25)), {30}, set(range(40))]
    found = structure.alignment_snapshot(graph, communities)
    expected = min(networkx.conductance(strengths, c, weight="weight") for c in communities[:3])
    assert found["min_conductance"] == pytest.approx(expected, rel=1e-12)


def test_graphs_without_much_in_them():
    assert structure.alignment_snapshot(networkx.Graph()) == {"frustration": 0.0}
    assert structure.alignment_snapshot(networkx.empty_graph(3), [{0}]) == {"frustration": 0.0}
    apart = networkx.Graph([(0, 1), (2, 3)])
    assert structure.alignment_snapshot(apart, [{0, 1}])["min_conductance"] == 0.0


def test_graphs_that_cannot_be_measured():
    bad = networkx.Graph()
    bad.add_edge(0, 1, weight=math.nan)
    graph = networkx.path_graph(3)
    for arguments, message in [
        ((networkx.DiGraph([(0, 1)]),), "undirected"),
        ((bad,), "finite"),
        ((graph, [{0}, {7}]), r"community 1 to hold nodes of the graph but got \[7\]"),
        ((graph, [set()]), "but got none"),
    ]:
        with pytest.raises(ValueError, match=message):
            structure.alignment_snapshot(*arguments)


def test_a_snapshot_feeds_the_gauge():
    snapshot = structure.alignment_snapshot(networkx.Graph([(0, 1), (1, 2)]), [{0}])
    reading = drift.drift_from_report(
        report_of(0.75, 0.5, 0.25), ANCHOR, CFG, intact=True, structural=snapshot
    )
    assert set(reading.per_axis) == set(ANCHOR)


def test_importing_the_gauge_costs_numpy_alone():
    code = (
        "import sys, drift_gauge, drift_gauge.retrievers, drift_gauge.history, drift_gauge.bless\n"
        "heavy = {'scipy', 'networkx', 'matplotlib', 'lancedb', 'pyarrow', 'onnxruntime', 'rich',"
        " 'datasets', 'evaluate', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
