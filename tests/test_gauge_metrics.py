"""Recall, overlap and distance: by hand, on columns against a plain loop, and merged."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift_core.exact import ExactSum
from drift_gauge import columns, golden, metrics

CASES = Path(__file__).parent / "cases"

titles = st.sampled_from("abcdef")
distances = st.one_of(st.none(), st.floats(0, 2), st.floats(-1e6, 1e6))
row = st.tuples(titles, distances)
query = st.tuples(st.lists(titles, max_size=4), st.lists(row, max_size=7))
queries = st.lists(query, min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("expected", "retrieved", "k", "recall", "overlap"),
    [
        (["a", "b"], ["a", "c", "b"], 3, 1.0, 2 / 3),
        (["a", "b"], ["a", "c", "b"], 2, 0.5, 1 / 3),
        (["a", "b"], ["c", "d"], 5, 0.0, 0.0),
        (["a", "a", "b"], ["b", "b", "b"], 3, 0.5, 0.5),
        ([], ["a"], 5, 1.0, 0.0),
        (["a"], [], 5, 0.0, 0.0),
        ([], [], 5, 1.0, 1.0),
        (["a"], ["b", "a"], 1, 0.0, 0.0),
    ],
)
def test_rates_by_hand(expected, retrieved, k, recall, overlap):
    assert metrics.recall_at_k(expected, retrieved, k) == recall
    assert metrics.set_overlap(expected, retrieved, k) == overlap


def test_duplicate_hits_count_once():
    case = json.loads((CASES / "duplicate_hits" / "duplicates.json").read_text("utf-8"))
    found = [hit["title"] for hit in case["rows"]]
    assert metrics.recall_at_k(case["expected"], found, case["k"]) == 0.5
    assert metrics.set_overlap(case["expected"], found, case["k"]) == 1 / 3
    asked = golden.GoldenQuery("q", "?", tuple(case["expected"]), case["k"])
    report = golden.evaluate([asked], lambda query, k: case["rows"])
    assert (report.recall_at_k, report.overlap) == (0.5, 1 / 3)
    assert report.mean_distance == pytest.approx(0.2)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, None, "3", float("nan")])
def test_k_below_one_or_no_whole_number(k):
    for measure in (metrics.recall_at_k, metrics.set_overlap):
        with pytest.raises(ValueError, match=r"`k` to be a whole number ≥ 1 but got"):
            measure(["a"], ["a"], k)
    with pytest.raises(ValueError, match="whole number"):
        golden.GoldenQuery("q", "?", ("a",), k)


def test_one_text_is_not_a_list_of_titles():
    with pytest.raises(ValueError, match="`expected`"):
        metrics.recall_at_k("ab", ["a", "b"], 2)
    with pytest.raises(ValueError, match="`retrieved`"):
        metrics.set_overlap(["a", "b"], "ab", 2)


def test_mean_distance_by_hand():
    assert metrics.mean_cosine_distance([]) == 0.0
    assert metrics.mean_cosine_distance([0.5]) == 0.5
    assert metrics.mean_cosine_distance(iter([0.25, 0.5, 1.5])) == 0.75
    for bad in (math.nan, math.inf, "0.5", None, True):
        with pytest.raises(ValueError, match="`distances`"):
            metrics.mean_cosine_distance([0.1, bad])


def measured(sample):
    """Measure on columns."""
    expected, retrieved = columns.encode(
        [e for e, _ in sample], [[title for title, _ in rows] for _, rows in sample]
    )
    values = np.zeros(retrieved.shape)
    known = np.zeros(retrieved.shape, bool)
    for at, (_, rows) in enumerate(sample):
        for rank, (_, distance) in enumerate(rows):
            if distance is not None:
                values[at, rank], known[at, rank] = distance, True
    return columns.rates(expected, retrieved, values, known)


@given(queries)
def test_columns_give_what_a_plain_loop_gives(sample):
    found = measured(sample)
    for at, (expected, rows) in enumerate(sample):
        got = [title for title, _ in rows]
        k = max(1, len(got))
        assert found.recall[at] == metrics.recall_at_k(expected, got, k)
        assert found.overlap[at] == metrics.set_overlap(expected, got, k)
        known = [distance for _, distance in rows if distance is not None]
        assert found.measured[at] == len(known)
        if known:
            assert found.distance[at] == metrics.mean_cosine_distance(known)
        else:
            assert math.isnan(found.distance[at])


@given(queries, st.data())
def test_parts_merge_to_the_whole_in_any_order(sample, data):
    whole = measured(sample).totals()
    parts = [measured([one]).totals() for one in data.draw(st.permutations(sample))]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    assert merged == whole


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_exact_sums_are_those_of_fractions(values):
    total = sum(map(Fraction, values))
    found = ExactSum.of(values)
    assert Fraction(found.units, 2**1127) == total
    assert found.mean() == float(total / len(values))


def test_many_rows_are_sorted_instead_of_compared_in_pairs():
    rng = np.random.default_rng(0)
    wide = rng.integers(-1, 60, (40, columns._FEW_ROWS + 30)).astype(np.int32)
    expected = rng.integers(-1, 60, (40, 8)).astype(np.int32)
    found = columns.rates(expected, wide)
    for at in range(40):
        wanted, got = set(expected[at]) - {-1}, set(wide[at]) - {-1}
        assert found.recall[at] == len(wanted & got) / len(wanted)
        assert found.overlap[at] == len(wanted & got) / len(wanted | got)


def test_columns_refuse_what_does_not_fit():
    codes = np.zeros((2, 3), np.int32)
    for arguments, message in [
        ((codes[:1], codes), "as many rows"),
        ((codes.astype(float), codes), "matrix of whole numbers"),
        ((codes, codes[0]), "matrix of whole numbers"),
        ((codes, codes - 2), "≥ -1"),
        ((codes, codes, np.zeros((3, 2))), "shape of `retrieved`"),
        ((codes, codes, np.zeros((2, 3)), np.ones((2, 2), bool)), "`has_distance`"),
        ((codes, codes, np.full((2, 3), np.nan)), "finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            columns.rates(*arguments)
    with pytest.raises(ValueError, match="NaN or infinity"):
        ExactSum.of([1.0, math.inf])
