"""The metrics of denoising trajectories: by hand, against slow loops, and their properties."""

import json
import math
import random
from itertools import pairwise

import numpy as np
import pytest
import slow_trajectories as slow
from hypothesis import given, settings
from hypothesis import strategies as st

import traj_eval
from traj_eval import demo, evaluate_trajectories, load_trajectories, metrics
from traj_eval.measures import OSCILLATION_FLIP_RATE, RATIONALIZATION_EARLY_FACTOR

APPROXIMATE = ("temporal_entropy",)


def steps_of(verdicts, numbers=None, texts=None):
    numbers = numbers or range(len(verdicts))
    texts = texts or [""] * len(verdicts)
    return [
        {"step": number, "verdict": verdict, "text": text}
        for number, verdict, text in zip(numbers, verdicts, texts, strict=True)
    ]


EVERY_16 = [*range(0, 241, 16), 255]


# --- by hand -------------------------------------------------------------------------------


def test_real_sequence_under_a_reasoning_prompt():
    """Dream on Mercury_LBS10610, every 16th step: None three times, A twice, C to the end."""
    steps = steps_of([None] * 3 + ["A"] * 2 + ["C"] * 12, EVERY_16)
    assert metrics.verdict_convergence_step(steps) == 80
    assert metrics.flip_rate(steps) == 1 / 13
    found = metrics.step_consistency(steps)
    assert found.step_consistency == 1 - 1 / 13
    assert found.longest_stable_run == 12
    assert metrics.rationalization_components(steps).early_factor == 1 - 5 / 17
    assert metrics.regime(steps) == "genuine"


def test_real_sequence_under_a_direct_prompt():
    """Dream on Mercury_7175875: None once, C to the end, and hardly a token changes after that."""
    steps = steps_of([None] + ["C"] * 16, EVERY_16)
    assert metrics.verdict_convergence_step(steps) == 16
    assert metrics.flip_rate(steps) == 0.0
    assert metrics.step_consistency(steps).longest_stable_run == 16
    found = metrics.rationalization_components(steps)
    assert found.early_factor == 1 - 1 / 17
    assert found.gated_score == 0.0
    assert found.score == 0.3 * (1 - 1 / 17)
    assert metrics.regime(steps) == "genuine"


@pytest.mark.parametrize(
    ("verdicts", "convergence", "flips", "longest"),
    [
        ([None, "A", None, "A"], 1, 0.0, 1),
        (["A", "A", None], None, 0.0, 2),
        (["A", None, "B", None, "A"], 4, 1.0, 1),
        (["A", "B", "B", "A", "A", "A"], 3, 2 / 5, 3),
        ([None, None], None, 0.0, 0),
        (["A"], 0, 0.0, 1),
        ([None, "A"], 1, 0.0, 1),
        (["B", "A", None, None, "A"], 1, 0.5, 1),
    ],
)
def test_verdict_metrics_by_hand(verdicts, convergence, flips, longest):
    assert metrics.verdict_convergence_step(verdicts) == convergence
    assert metrics.flip_rate(verdicts) == flips
    found = metrics.step_consistency(verdicts)
    assert found.to_dict() == {"step_consistency": 1 - flips, "longest_stable_run": longest}


def test_components_by_hand():
    texts = ["[MASK]B", "[MASK]BB", "[MASK]BB", "aBB", "aBBcc"]
    found = metrics.rationalization_components(steps_of("ABBBB", texts=texts))
    assert found.early_factor == 1 - 1 / 5
    assert found.post_change_rate == 2 / 3  # a written mask token is a change
    assert found.length_growth == 3 / 2  # from BB to aBBcc, not clipped
    assert found.score == 0.3 * (1 - 1 / 5) + 0.4 * (2 / 3) + 0.3 * 1
    assert found.gated_score == (1 - 1 / 5) * (2 / 3 + 1) / 2
    shrunk = metrics.rationalization_components(steps_of("AA", texts=["long text", "short"]))
    assert shrunk.length_growth == 0.0
    from_nothing = metrics.rationalization_components(steps_of("AA", texts=["[MASK]", "abc"]))
    assert from_nothing.length_growth == 3.0
    none = metrics.rationalization_components(steps_of(["A", None]))
    assert set(none.to_dict().values()) == {None}


def test_weights_are_options_and_named_defaults():
    steps = steps_of("BA", texts=["", ""])
    assert metrics.WEIGHTS == (0.3, 0.4, 0.3)
    assert metrics.rationalization_components(steps, weights=(1, 0, 0)).score == 0.5
    found = evaluate_trajectories([{"id": "a", "gold": None, "steps": steps}], weights=(2, 0, 0))
    assert found["aggregate"]["mean_score"] == 1.0
    assert found["signature"]["options"]["weights"] == [2, 0, 0]


def test_clocks_with_edits():
    steps = steps_of("AAAAA", [0, 2, 4, 8, 16])
    for step, masked, answer in zip(
        steps, [1, 0, 0, 0, 0], [None, "4", "5", "4", "4"], strict=True
    ):
        step.update(answer_masked=bool(masked), answer=answer, reasoning_committed=0.25)
    assert metrics.answer_commitment_step(steps) == 2
    assert metrics.answer_commitment_step(steps, edits=True) == 8
    assert metrics.stability_commitment_lag(steps) == 2
    assert metrics.stability_commitment_lag(steps, edits=True) == 8
    assert metrics.unwritten_reasoning_at_convergence(steps) == 0.75
    without = [{k: v for k, v in step.items() if k != "answer"} for step in steps]
    assert metrics.answer_commitment_step(without, edits=True) is None
    assert metrics.unwritten_reasoning_at_convergence(steps_of("AA")) is None


def test_votes_entropy_and_lost_answers_by_hand():
    one = {"id": "a", "gold": "A", "steps": steps_of(["A", "A", None, "A", "B", "B"])}
    assert metrics.temporal_vote(one, "fixed") == "A"  # 3 to 2
    assert metrics.temporal_vote(one, "linear") == "B"  # 1 + 2 + 4 to 5 + 6
    assert metrics.temporal_vote(one, "exponential") == "B"
    assert metrics.temporal_vote(["A", "B"], "fixed") == "B"  # a tie goes to the later one
    assert metrics.temporal_vote([None]) is None
    assert metrics.temporal_entropy(one) == pytest.approx(
        -(0.6 * math.log(0.6) + 0.4 * math.log(0.4)), abs=1e-15
    )
    assert metrics.temporal_entropy([None, None]) is None
    assert metrics.ever_correct(one) is True
    assert metrics.lost_correct(one) is True
    assert metrics.lost_correct({**one, "gold": "B"}) is False
    assert metrics.ever_correct({**one, "gold": None}) is None
    with pytest.raises(ValueError, match="Expected argument `weights` to be one of fixed, linear"):
        metrics.temporal_vote(one, "cubic")


def test_accuracy_coverage_and_conditional_accuracy():
    named = [("A", "A"), ("B", "A"), (None, "A"), ("A", None), (None, None)]
    many = [
        {"id": str(k), "gold": gold, "steps": steps_of([final])}
        for k, (final, gold) in enumerate(named)
    ]
    found = metrics.trajectory_accuracy(many)
    assert found.to_dict() == {
        "accuracy": 1 / 3,
        "coverage": 3 / 5,
        "conditional_accuracy": 1 / 2,
        "n": 5,
    }
    assert metrics.trajectory_accuracy(many[0])["accuracy"] == 1.0
    nothing = metrics.trajectory_accuracy(many[4:])
    assert (nothing.accuracy, nothing.coverage, nothing.conditional_accuracy) == (None, 0.0, None)
    with pytest.raises(ValueError, match="at least one trajectory"):
        metrics.trajectory_accuracy([])


@pytest.mark.parametrize(
    ("verdicts", "texts", "expected"),
    [
        (["A", None], ["", ""], "undecided"),
        (["B", "A", "A"], ["", "", ""], "oscillation"),  # flip rate of exactly 0.5
        (["A", "A", "A"], ["a", "b", "b"], "rationalization"),  # activity of exactly 0.5
        (["A", "A", "A", "A"], ["a", "b", "b", "b"], "genuine"),
        (["B", "A", "A", "A"], ["a", "b", "c", "d"], "rationalization"),  # early factor 0.75
        (["B", "B", "A", "A"], ["a", "b", "c", "d"], "genuine"),
    ],
)
def test_regimes_at_their_bounds(verdicts, texts, expected):
    assert (OSCILLATION_FLIP_RATE, RATIONALIZATION_EARLY_FACTOR) == (0.5, 0.75)
    assert metrics.regime(steps_of(verdicts, texts=texts)) == expected


# --- the demo --------------------------------------------------------------------------------


def test_the_demo_gives_its_table():
    found = evaluate_trajectories(load_trajectories(demo.path()), group_by=["condition"])
    assert [row[1:] for row in demo.rows(found)] == [
        ["5", "1.0000", "4", "0.286", "0.333"],
        ["5", "1.0000", "0", "0.000", "1.000"],
        ["5", "1.0000", "7", "1.000", "0.037"],
    ]
    assert [row[0] for row in demo.rows(found)] == [
        "Genuine reasoning (genuine-0..4)",
        "Rationalization (rationalization-0..4)",
        "Oscillation (oscillation-0..4)",
    ]
    names = [f"{kind}-{k}" for kind in demo.ARCHETYPES for k in range(5)]
    assert [row["id"] for row in found["trajectories"]] == names
    for row in found["trajectories"]:
        assert row["n_steps"] == 8
        assert row["regime"] == row["condition"]


# --- against slow loops ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("edits", [False, True])
def test_rows_equal_slow_loops(seed, edits):
    letters = ("ABC", [str(k) for k in range(40)])[seed % 2]
    many = slow.trajectories(seed, 300, letters=letters)
    found = evaluate_trajectories(many, edits=edits, resamples=0)
    for trajectory, row in zip(many, found["trajectories"], strict=True):
        expected = slow.row(trajectory, edits=edits)
        for name, value in expected.items():
            if name in APPROXIMATE and value is not None:
                assert row[name] == pytest.approx(value, abs=1e-12), name
            else:
                assert row[name] == value, (name, trajectory)
                assert type(row[name]) is type(value), name


def test_aggregates_are_exact_means_of_the_rows():
    many = slow.trajectories(7, 400)
    found = evaluate_trajectories(many, resamples=0)
    everything = {(): found["aggregate"]}
    fields = ("model", "task", "condition")
    everything |= {tuple(group[f] for f in fields): group for group in found["groups"]}
    for key, group in everything.items():
        rows = [
            row for row in found["trajectories"] if not key or key == tuple(map(row.get, fields))
        ]
        assert group["n"] == len(rows) > 0
        decided = [row for row in rows if row["final_verdict"] is not None]
        judged = [row for row in decided if row["gold"] is not None]
        expected = {
            "accuracy": slow.mean([row["correct"] for row in rows]),
            "coverage": len(decided) / len(rows),
            "conditional_accuracy": slow.mean([row["correct"] for row in judged]),
            "mean_convergence_step": slow.mean([row["verdict_convergence_step"] for row in rows]),
            "mean_unwritten_reasoning": slow.mean(
                [row["unwritten_reasoning_at_convergence"] for row in rows]
            ),
            "temporal_vote_linear": slow.mean(
                [
                    row["temporal_vote_linear"] == row["gold"]
                    for row in rows
                    if row["gold"] is not None
                ]
            ),
        }
        for name in (
            *("flip_rate", "step_consistency", "early_factor", "post_change_rate", "score"),
            *("length_growth", "gated_score", "answer_commitment_step", "temporal_entropy"),
            "stability_commitment_lag",
        ):
            expected[f"mean_{name}"] = slow.mean([row[name] for row in rows])
            assert group["defined"][f"mean_{name}"] == sum(row[name] is not None for row in rows)
        for name in ("ever_correct", "lost_correct"):
            expected[name] = slow.mean([row[name] for row in rows])
        assert {name: group[name] for name in expected} == expected
        assert sum(group["regimes"].values()) == len(rows)
        for name, n in group["regimes"].items():
            assert n == sum(row["regime"] == name for row in rows)
    assert sum(group["n"] for group in found["groups"]) == 400


# --- properties --------------------------------------------------------------------------------

VERDICTS = st.lists(st.sampled_from([None, "A", "B", "C"]), min_size=1, max_size=12)


@given(VERDICTS)
@settings(max_examples=60, deadline=None)
def test_flip_rate_and_consistency_sum_to_one(verdicts):
    rate, found = metrics.flip_rate(verdicts), metrics.step_consistency(verdicts)
    assert rate + found.step_consistency == 1
    assert 0 <= rate <= 1
    assert 0 <= found.longest_stable_run <= len(verdicts)


@given(VERDICTS, st.permutations(["A", "B", "C"]))
@settings(max_examples=60, deadline=None)
def test_relabelling_changes_nothing(verdicts, names):
    renamed = dict(zip("ABC", names, strict=True))
    steps, other = steps_of(verdicts), steps_of([renamed.get(v) for v in verdicts])
    one = {"id": "a", "gold": "A", "steps": steps}
    two = {"id": "a", "gold": renamed["A"], "steps": other}
    texts = ("gold", "final_verdict", *(f"temporal_vote_{kind}" for kind in metrics.VOTES))
    first, second = (evaluate_trajectories([t], resamples=0)["trajectories"][0] for t in (one, two))
    for name, value in first.items():
        expected = renamed.get(value) if name in texts else value
        assert second[name] == expected, name


@given(VERDICTS, st.lists(st.integers(0, 12), max_size=5))
@settings(max_examples=60, deadline=None)
def test_undecided_steps_change_no_flip_rate(verdicts, places):
    more = list(verdicts)
    for place in places:
        more.insert(min(place, len(more)), None)
    assert metrics.flip_rate(more) == metrics.flip_rate(verdicts)


@given(st.integers(0, 10_000), st.lists(st.integers(0, 30), max_size=4), st.randoms())
@settings(max_examples=25, deadline=None)
def test_merging_parts_is_evaluating_the_whole(seed, cuts, shuffler):
    from traj_eval.chunks import of_items
    from traj_eval.evaluation import Evaluator, Options, results
    from traj_eval.tally import Tally

    many = slow.trajectories(seed, 30)
    options = Options(resamples=20)
    bounds = sorted({0, 30, *cuts})
    tallies = []
    for start, end in pairwise(bounds):
        evaluator = Evaluator(options)
        for chunk in of_items(many[start:end], "<part>"):
            evaluator.add(chunk)
        tallies.append(evaluator.tally())
    shuffler.shuffle(tallies)
    merged = Tally({})
    for tally in tallies:
        merged += tally
    found = results(merged, options, "").to_dict()
    whole = evaluate_trajectories(many, resamples=20).to_dict()
    for key in ("aggregate", "groups"):
        assert found[key] == whole[key]


def test_order_does_not_matter():
    many = slow.trajectories(3, 50)
    other = list(many)
    random.Random(1).shuffle(other)
    first, second = evaluate_trajectories(many), evaluate_trajectories(other)
    assert first["aggregate"] == second["aggregate"]
    assert first["groups"] == second["groups"]


# --- intervals and results ------------------------------------------------------------


def test_intervals_against_resampled_rows():
    many = slow.trajectories(11, 120, optional=True)
    found = evaluate_trajectories(many, resamples=20_000)
    rng = np.random.default_rng(5)
    rows = found["trajectories"]
    names = {
        "accuracy": "correct",
        "mean_flip_rate": "flip_rate",
        "mean_length_growth": "length_growth",
        "mean_temporal_entropy": "temporal_entropy",
        "mean_stability_commitment_lag": "stability_commitment_lag",
    }
    for aggregate, name in names.items():
        values = np.array([math.nan if row[name] is None else row[name] for row in rows], float)
        means = np.nanmean(values[rng.integers(len(rows), size=(20_000, len(rows)))], axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        interval = found["aggregate"]["intervals"][aggregate]
        width = high - low
        assert width > 0
        assert interval["low"] == pytest.approx(low, abs=0.04 * width), aggregate
        assert interval["high"] == pytest.approx(high, abs=0.04 * width), aggregate
        assert interval["n"] == np.count_nonzero(~np.isnan(values))
        assert not interval["degenerate"]


def test_many_distinct_values_are_put_into_cells():
    from drift_core.resampling import bootstrap_mean

    rng = np.random.default_rng(0)
    values = np.sort(rng.lognormal(0, 1, 5000))
    found = bootstrap_mean(values, np.ones(5000, np.int64), 0, 20_000, np.random.default_rng(1))
    half = 1.96 * values.std() / math.sqrt(5000)
    assert found.low == pytest.approx(values.mean() - half, abs=0.08 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.08 * half)


def test_an_interval_does_not_depend_on_the_other_groups():
    many = slow.trajectories(12, 80)
    apart = evaluate_trajectories(many, group_by=["condition"], resamples=50)["groups"]
    for group in apart:
        those = [t for t in many if t.get("condition") == group["condition"]]
        alone = evaluate_trajectories(those, group_by=[], resamples=50)["aggregate"]
        assert {name: group[name] for name in alone} == alone


def test_the_seed_decides():
    many = slow.trajectories(14, 60)
    first, again, other = (
        evaluate_trajectories(many, seed=seed)["aggregate"]["intervals"] for seed in (1, 1, 2)
    )
    assert first == again
    assert first["mean_length_growth"] != other["mean_length_growth"]


def test_results_are_strict_json_and_say_how_they_were_made():
    many = slow.trajectories(13, 9)
    found = evaluate_trajectories(many, resamples=10, seed=3, edits=True, group_by=["source"])
    assert json.loads(found.to_json()) == found.to_dict()
    assert (
        found.to_json()
        == evaluate_trajectories(
            many, resamples=10, seed=3, edits=True, group_by=["source"]
        ).to_json()
    )
    made = found["signature"]
    assert made["scorer"] == f"traj-eval {traj_eval.__version__}"
    assert (made["n"], made["seed"]) == (9, 3)
    assert made["options"]["resamples"] == 10
    assert made["options"]["edits"] is True
    other = evaluate_trajectories([*many[1:], many[0]], resamples=0)
    assert other["signature"]["input_sha256"] != made["input_sha256"]
    single = evaluate_trajectories(many[:1], resamples=10).to_json()
    assert json.loads(single)["aggregate"]["intervals"]["coverage"]["degenerate"] is True


def test_groups_that_mix_sources_and_masks_that_are_not_named_are_noted():
    steps = [{"step": 0, "verdict": "A", "text": "[MASK]"}]
    many = [
        {"id": f"{source}{k}", "gold": "A", "condition": "xy"[k], "source": source, "steps": steps}
        for source, k in (("canvas", 0), ("x0", 0), ("canvas", 1), (None, 1))
    ]

    def notes(many, **options):
        return evaluate_trajectories(many, resamples=0, **options)["signature"]["notes"]

    (note,) = notes(many)
    assert note.startswith("1 of 2 groups mix the sources canvas and x0")
    assert note.endswith("--group-by model,task,condition,source")
    assert notes(many, group_by=["condition", "source"]) == []
    assert notes(many, group_by=[])[0].endswith("--group-by source")
    assert notes(many[::2]) == []
    for other in ("<|mask|>", "<mask>", "[mask]", "<|mdm_mask|>"):
        plain = {"id": "q", "gold": None, "steps": [{"step": 0, "verdict": None, "text": "so x"}]}
        masked = {**plain, "id": "a", "steps": [{**steps[0], "text": f"so {other}{other}"}]}
        assert notes([plain, masked]) == [
            f"the texts have no '[MASK]', but a has '{other}': name it in the field `mask`"
        ]
        assert notes([plain, {**masked, "mask": other}]) == []
        assert notes([masked, many[0]]) == []  # some have it: the other may be text
    assert notes([plain]) == []


def test_exact_means_do_not_depend_on_order():
    from drift_core.exact import ExactSum

    def exact_mean(values, n):
        return ExactSum.of_counted(values, n).mean()

    rng = np.random.default_rng(0)
    values = rng.standard_normal(500) * 10.0 ** rng.integers(-200, 200, 500)
    n = rng.integers(1, 10**9, 500)
    repeated = [v for v, k in zip(values.tolist(), n.tolist(), strict=True) for v in [(v, k)]]
    from fractions import Fraction

    total = sum(Fraction(v) * k for v, k in repeated)
    assert exact_mean(values, n) == float(total / int(n.sum()))
    assert exact_mean(values[::-1], n[::-1]) == exact_mean(values, n)
    assert exact_mean(np.zeros(1), np.ones(1, np.int64)) == 0.0
    assert exact_mean(np.zeros(0), np.zeros(0, np.int64)) is None


def test_wrong_options_and_inputs_are_told():
    one = {"id": "a", "gold": None, "steps": steps_of("A")}
    with pytest.raises(ValueError, match="`group_by` to be some of model, task, condition, source"):
        evaluate_trajectories([one], group_by=["colour"])
    with pytest.raises(ValueError, match="`weights` to be three finite numbers"):
        evaluate_trajectories([one], weights=(1, 2))
    with pytest.raises(ValueError, match=r"none below 0, but got \(0.3, -0.1, 0.3\)"):
        metrics.rationalization_components(one, weights=(0.3, -0.1, 0.3))
    with pytest.raises(ValueError, match="`resamples` to be at least 0"):
        evaluate_trajectories([one], resamples=-1)
    with pytest.raises(ValueError, match="at least one trajectory"):
        evaluate_trajectories([])
    with pytest.raises(traj_eval.InvalidInput) as caught:
        evaluate_trajectories([one, {**one, "gold": 4}, one, "text"])
    assert [(p.line, p.code) for p in caught.value.problems] == [
        (1, "type"),
        (3, "type"),
        (2, "duplicate_id"),
    ]
    for bad in ([1, 2], [], "AB", {"steps": None}, [{"step": 0}]):
        with pytest.raises(ValueError, match="steps"):
            metrics.flip_rate(bad)
    with pytest.raises(ValueError, match=r"steps\[0\].text: is missing"):
        metrics.rationalization_components([{"step": 0, "verdict": "A"}])
