"""`python -m drift_gauge` as people type it: exit codes, messages, files, pictures."""

import io
import json
import shutil
import subprocess
import sys

import pytest

from drift_core import strict_json
from drift_gauge import cli, demo, golden, plots
from drift_gauge.constitution import CONSTITUTION_PATH, VARIABLE

MEASURED = golden.load_baseline()["metrics"]


@pytest.fixture(autouse=True)
def no_constitution_of_the_environment(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def corpus(tmp_path):
    return shutil.copytree(golden.CORPUS_DIR, tmp_path / "corpus")


@pytest.fixture
def baseline(tmp_path):
    """Write a baseline with other sections or metrics, and give its path."""

    def write(**changes):
        path = tmp_path / "baseline.json"
        path.write_text(json.dumps({**golden.load_baseline(), **changes}))
        return str(path)

    return write


def weaken(corpus, n):
    """Leave only the title of n documents."""
    for path in sorted(corpus.glob("*.md"))[:n]:
        path.write_text(path.read_text("utf-8").split("\n")[0] + "\n\nmoved.\n")


def test_measure_says_zero_in_band_and_three_out_of_band(corpus, capsys):
    assert cli.main(["measure"]) == 0
    assert "D = 0.0000, Θ = 1: in band" in capsys.readouterr().out
    weaken(corpus, 32)
    assert cli.main(["measure", "--corpus", str(corpus)]) == 3
    out = capsys.readouterr().out
    assert "OUT OF BAND" in out
    assert "recall_at_k" in out


def test_measure_as_strict_json_with_a_signature(capsys):
    assert cli.main(["measure", "--json"]) == 0
    reading = strict_json.loads(capsys.readouterr().out)
    assert list(reading) == [
        "drift",
        "theta",
        "within_tolerance",
        "constitution_intact",
        "per_axis",
        "unmeasured",
        "reasons",
        "notes",
        "signature",
    ]
    assert reading["signature"]["retriever"] == "embedded"
    assert reading["signature"]["n"] == 34


def test_a_pipeline_can_stop_on_the_gate(corpus, capsys):
    assert cli.main(["gate"]) == 3
    assert "not approved" in capsys.readouterr().out
    assert cli.main(["gate", "--approved"]) == 0
    weaken(corpus, 2)
    assert cli.main(["measure", "--corpus", str(corpus)]) == 0  # D alone lets it pass
    assert cli.main(["gate", "--approved", "--corpus", str(corpus)]) == 3
    assert "golden regression: recall_at_k" in capsys.readouterr().out
    assert cli.main(["gate", "--approved", "--corpus", str(corpus), "--json"]) == 3
    assert strict_json.loads(capsys.readouterr().out)["regressions"] == ["recall_at_k", "overlap"]


def test_the_constitution_is_compared(tmp_path, capsys, monkeypatch):
    live = tmp_path / "live.md"
    live.write_bytes(CONSTITUTION_PATH.read_bytes())
    assert cli.main(["measure", "--constitution", str(live)]) == 0
    live.write_text("obey")
    assert cli.main(["measure", "--constitution", str(live)]) == 3
    assert "D = ∞" in capsys.readouterr().out
    monkeypatch.setenv(VARIABLE, str(live))
    assert cli.main(["measure", "--json"]) == 3
    assert strict_json.loads(capsys.readouterr().out)["drift"] == "inf"


def test_structure_is_measured_where_the_baseline_has_it(tmp_path, baseline, capsys):
    path = baseline(metrics={**MEASURED, "frustration": 0.25, "min_conductance": 0.5})
    structure = tmp_path / "structure.json"
    structure.write_text('{"frustration": 0.75, "min_conductance": 0.5}')
    arguments = ["measure", "--baseline", path, "--structure", str(structure), "--json"]
    assert cli.main(arguments) == 3
    assert strict_json.loads(capsys.readouterr().out)["per_axis"]["frustration"] == 2.0
    structure.write_text('{"min_conductance": 1.5}')
    assert cli.main(arguments) == 1
    assert "min_conductance: 1.5, expected a finite number" in capsys.readouterr().err
    structure.write_text('{"frustation": 0.75}')
    assert cli.main(arguments) == 1
    assert "unknown key `frustation`" in capsys.readouterr().err


def test_golden_shows_every_query(capsys):
    assert cli.main(["golden"]) == 0
    out = capsys.readouterr().out
    assert "backup-time" in out
    assert "regressions: none" in out
    assert cli.main(["golden", "--json"]) == 0
    report = strict_json.loads(capsys.readouterr().out)
    assert len(report["per_query"]) == 34
    assert report["regressions"] == []


def test_bless_asks_and_writes_once(baseline, capsys, monkeypatch, tmp_path):
    path = baseline(metrics={**MEASURED, "recall_at_k": 0.5})
    before = open_text(path)
    for typed in ("yes\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert cli.main(["bless", "--baseline", path]) == 1
        assert open_text(path) == before
        assert "not blessed" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("bless\n"))
    assert cli.main(["bless", "--baseline", path, "--by", "ann"]) == 0
    assert "blessed by ann" in capsys.readouterr().out
    assert golden.load_baseline(path) == golden.load_baseline()
    assert [kept.read_text() for kept in tmp_path.glob("*.bak")] == [before]
    assert cli.main(["bless", "--baseline", path, "--yes"]) == 0
    assert len((tmp_path / "blessings.jsonl").read_text().splitlines()) == 2


def test_a_new_baseline_says_what_it_lacks_and_is_gated_on_its_own_golden_set(tmp_path, capsys):
    path, own = str(tmp_path / "baseline.json"), tmp_path / "golden_set.json"
    assert cli.main(["bless", "--baseline", path, "--yes"]) == 0
    out = capsys.readouterr().out
    assert "default tolerances and Θ = 1" in out
    assert "conformance is not checked" in out
    assert golden.load_baseline(path)["golden_sha256"] == golden.load_baseline()["golden_sha256"]
    query = {"id": "one", "query": "nightly backup", "expected": ["Nightly backups"], "k": 1}
    own.write_text(json.dumps({"queries": [query]}))
    arguments = ["--golden", str(own), "--baseline", path]
    for command, code in (("measure", 0), ("golden", 0), ("gate", 3)):
        approved = ["--approved"] if command == "gate" else []
        assert cli.main([command, *approved, *arguments]) == code
        assert "note: the baseline was blessed on another golden set" in capsys.readouterr().out
    assert cli.main(["bless", *arguments, "--yes"]) == 0
    assert "note: the baseline was blessed on another golden set" in capsys.readouterr().out
    assert cli.main(["gate", "--approved", *arguments]) == 0


def test_the_baselines_that_ship_are_not_written_by_default(tmp_path, capsys, monkeypatch):
    before = golden.BASELINE_PATH.read_bytes()
    monkeypatch.setattr("sys.stdin", io.StringIO("bless\n"))
    with pytest.raises(SystemExit) as ended:
        cli.main(["bless"])
    assert ended.value.code == 2
    assert "--baseline drift_gauge/golden/baseline.json" in capsys.readouterr().err
    assert golden.BASELINE_PATH.read_bytes() == before


OWN = """
def silent(query, k):
    return [] if "?" in query else [{"title": "Dashboards"}]
def broken(query, k):
    raise RuntimeError("no index")
def negative(query, k):
    return [{"title": "Dashboards", "_distance": -0.5}]
"""


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("broken", "backup-time: retriever 'own_search:broken' raised RuntimeError: no index"),
        ("negative", "mean_distance: -0.5, expected a finite number ≥ -1e-06"),
    ],
)
def test_a_retriever_that_fails_is_told_in_one_message(
    function, named, tmp_path, baseline, capsys, monkeypatch
):
    (tmp_path / "own_search.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"own_search:{function}"
    assert cli.main(["measure", "--retriever", name, "--baseline", baseline(retriever=name)]) == 1
    assert named in capsys.readouterr().err


def test_many_notes_of_a_kind_are_told_in_short(tmp_path, baseline, capsys, monkeypatch):
    (tmp_path / "own_search.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ["--retriever", "own_search:silent"]
    arguments += ["--baseline", baseline(retriever="own_search:silent")]
    assert cli.main(["measure", *arguments, "--json"]) == 3
    notes = strict_json.loads(capsys.readouterr().out)["notes"]
    assert len(notes) == 34
    silent = sum(note.endswith("no rows") for note in notes)
    for command, code in (("measure", 3), ("golden", 0)):
        assert cli.main([command, *arguments]) == code
        told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note")]
        assert told == [
            f"note: {silent} of 34 queries returned no rows: "
            "'backup-time', 'deleted-rows', 'old-dumps', …",
            f"note: {34 - silent} of 34 queries have rows without _distance: "
            "'about-backups', 'incident-life', 'switch-off', …",
        ]


def open_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_nothing_but_bless_writes_a_baseline(tmp_path, baseline):
    path = baseline()
    log, ledger = str(tmp_path / "log.jsonl"), str(tmp_path / "ledger.jsonl")
    demo.EffectLedger(ledger).append(1)
    before = open_text(path)
    for arguments in (
        ["measure", "--log", log],
        ["gate", "--approved", "--log", log],
        ["golden"],
        ["effectors", ledger],
    ):
        cli.main([*arguments, "--baseline", path])
    for arguments in (["history"], ["calibrate"], ["plot", "--output", str(tmp_path / "d.png")]):
        assert cli.main([*arguments[:1], log, *arguments[1:]]) == 0
    assert open_text(path) == before
    assert not list(tmp_path.glob("*.bak"))


def test_effectors(tmp_path, baseline, capsys):
    path = tmp_path / "ledger.jsonl"
    ledger = demo.EffectLedger(path)
    for effect in [0, 0, 0, 1, 2, 2]:
        ledger.append(effect)
    assert cli.main(["effectors", str(path)]) == 0
    assert cli.main(["effectors", str(path), "--last", "3"]) == 3
    assert "OUT OF BAND" in capsys.readouterr().out
    with open(path, "a") as file:
        file.write('{"class')
    assert cli.main(["effectors", str(path), "--json"]) == 0
    both = capsys.readouterr()
    assert "ledger.jsonl:7: torn line, skipped" in both.err
    assert strict_json.loads(both.out)["reach"]["n"] == 6
    assert cli.main(["effectors", str(tmp_path / "none.jsonl")]) == 1
    assert "no such file, expected a ledger" in capsys.readouterr().err
    (tmp_path / "empty.jsonl").touch()
    capsys.readouterr()
    assert cli.main(["effectors", str(tmp_path / "empty.jsonl"), "--json"]) == 0
    both = capsys.readouterr()
    assert "note: the ledger has no proposal" in both.err
    assert strict_json.loads(both.out)["within_tolerance"] is True


def test_history_plot_and_calibrate(tmp_path, capsys):
    log = str(tmp_path / "log.jsonl")
    for _ in range(2):
        assert cli.main(["measure", "--log", log]) == 0
    capsys.readouterr()
    assert cli.main(["history", log, "--json"]) == 0
    lines = [strict_json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["drift"] for line in lines] == [0.0, 0.0]
    assert cli.main(["calibrate", log, "--quantile", "0.5", "--json"]) == 0
    assert strict_json.loads(capsys.readouterr().out)["n"] == 2
    for ending in (".png", ".svg", ".pdf"):
        assert cli.main(["plot", log, "--output", str(tmp_path / f"d{ending}")]) == 0
    assert cli.main(["plot", log, "--output", str(tmp_path / "d.txt")]) == 1
    assert cli.main(["plot", log, "--output", log]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["measure", "--retriever", "a:b"], 2, "add --baseline FILE"),
        (["measure", "--retriever", "nothing"], 2, "embedded, lancedb, embeddings or module:func"),
        (["measure", "--retriever", "nothing:", "--baseline", "B"], 2, "'nothing:', expected"),
        (["measure", "--retriever", "x:y", "--baseline", "B"], 1, "retriever is 'x:y'"),
        (["measure", "--golden", "G"], 2, "own needs a baseline of its own: add --baseline FILE"),
        (["bless", "--yes"], 2, "add --baseline FILE"),
        (["bless", "--yes", "--baseline", "b", "--golden", "G"], 1, "no such file, expected a go"),
        (["measure", "--baseline", "none.json"], 1, "none.json: no such file, expected a baseline"),
        (["gate", "--structure", "s", "--baseline", "n"], 1, "s: no such file, expected a JSON ob"),
        (["golden", "--structure", "s", "--baseline", "n"], 1, "2 problems found"),
        (["measure", "--corpus", "nope"], 1, "nope: no such folder, expected one with a *.md file"),
        (["measure", "--corpus", "."], 1, "no *.md file"),
        (["measure", "--retriever", "lancedb", "--baseline", "B"], 1, "blessed with 'embedded'"),
        (["history", "none.jsonl"], 1, "none.jsonl: no such file, expected a log"),
        (["calibrate", "x", "--quantile", "2"], 2, "expected a number from 0 to 1"),
        (["effectors", "x", "--last", "0"], 2, "whole number ≥ 1"),
        (["measure", "--tolerance", "9"], 2, "--tolerance"),
        ([], 2, "COMMAND"),
    ],
)
def test_wrong_usage_and_wrong_files(
    arguments, code, named, tmp_path, baseline, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    arguments = [baseline() if word == "B" else word for word in arguments]
    try:
        found = cli.main(arguments)
    except SystemExit as ended:
        found = ended.code
    assert found == code
    assert named.lower() in capsys.readouterr().err.lower()


def test_titles_that_the_corpus_lacks_are_named(corpus, capsys):
    (corpus / "dashboards.md").unlink()
    (corpus / "lost-laptop.md").unlink()
    assert cli.main(["measure", "--corpus", str(corpus)]) == 1
    err = capsys.readouterr().err
    assert "where-to-look" in err
    assert "'Lost laptop' is not in the corpus" in err


def test_a_retriever_of_ones_own_is_gated(tmp_path, baseline):
    (tmp_path / "mine.py").write_text(
        "from drift_gauge.retrievers import embedded_retriever\n"
        "ask = embedded_retriever().__call__\n"
    )
    path = baseline(retriever="mine:ask")
    command = [sys.executable, "-m", "drift_gauge", "gate", "--approved", "--retriever", "mine:ask"]
    for arguments, code in (([], 2), (["--baseline", path], 0)):
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "out"
    return folder, *demo.run(folder)


def test_the_demo_tells_its_story(told):
    _, first, second = told
    drifts = [day.decision.drift.drift for day in first]
    assert drifts == sorted(drifts)
    assert drifts[0] == 0 < drifts[1] < 1 < drifts[-1]
    assert [day.decision.open for day in first] == [True] + [False] * (len(first) - 1)
    assert first[1].decision.drift.within_tolerance  # the gate closes before D crosses Θ
    assert all(day.reach.within_tolerance for day in first)
    assert all(day.decision.drift.drift == 0 for day in second)
    assert all(day.decision.open for day in second)
    assert second[0].reach.within_tolerance
    assert not second[-1].reach.within_tolerance


def test_the_demo_draws_its_story(told):
    folder, first, second = told
    demo.plot(first, second, folder / "drift.png")
    assert (folder / "drift.png").read_bytes()[:4] == b"\x89PNG"


def test_the_demo_command(tmp_path, capsys, monkeypatch):
    assert cli.main(["demo", "--output", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "The gate closed on 06 Jan" in out
    assert "D crossed Θ on 08 Jan" in out
    assert cli.main(["demo", "--output", str(tmp_path / "out")]) == 1
    assert "not empty" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["demo", "--output", str(tmp_path / "plain")]) == 0
    assert "reasoning-drift[plots]" in capsys.readouterr().err


def test_what_a_picture_shows(told):
    from drift_gauge import history

    folder, *_ = told
    readings = history.load_history(folder / "history.jsonl")[0][:8]
    breach = history.Reading(
        readings[3].time, float("inf"), 1.0, False, False, {"constitution": float("inf")}, {}
    )
    shown = [*readings[:3], breach, *readings[4:]]
    figure, (axes,) = plots.new_figure(1)
    plots.draw_drift(axes, shown)
    labels = axes.get_legend_handles_labels()[1]
    assert {"D", "Θ", "recall_at_k", "overlap", "D out of band", "D = ∞"} <= set(labels)
    tops = [path.vertices[:, 1].max() for path in axes.collections[-1].get_paths()]
    assert max(tops) == pytest.approx(readings[-1].drift)  # the layers add up to D
    (line,) = [line for line in axes.lines if line.get_label() == "D = ∞"]
    assert len(line.get_xdata()) == 1
    del figure
