"""Ledger, history and blessings: nothing acknowledged is lost, and what is torn is told."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta, timezone

import pytest

from drift_core.problems import InvalidInput
from drift_gauge import bless, golden, history, json_lines
from drift_gauge.drift import DriftReport
from drift_gauge.effector_drift import EffectClass, reach_from_ledger
from drift_gauge.ledger import EffectLedger

ANCHOR = {"recall_at_k": 0.5, "overlap": 0.5, "mean_distance": 0.25}

# Runs in a process of its own. Every call that the disk sees is counted, and the process kills
# itself in the middle of the one that it was told.
DYING = """
import os, signal, sys
work, fatal = sys.argv[1], int(sys.argv[2])
calls = 0
def dying(call, half):
    def wrapped(*arguments, **options):
        global calls
        calls += 1
        if calls == fatal:
            half(*arguments)
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **options)
    return wrapped
write = os.write
os.write = dying(write, lambda handle, data: write(handle, data[: len(data) // 2]))
os.fsync = dying(os.fsync, lambda handle: None)
os.replace = dying(os.replace, lambda *paths: None)
def acknowledge(text):
    write(1, (text + "\\n").encode())
"""

APPENDING = """
from drift_gauge.ledger import EffectLedger
ledger = EffectLedger(work + "/ledger.jsonl")
for number in range(4):
    ledger.append({"number": number, "class": number % 3})
    acknowledge(str(number))
"""

BLESSING = """
import hashlib, pathlib
from drift_gauge import bless
path = pathlib.Path(work) / "baseline.json"
for number in (1, 2):
    metrics = {"recall_at_k": number / 8, "overlap": 0.5, "mean_distance": 0.25}
    bless.bless(path, bless.renewed(path, "mine", metrics), by=str(number))
    acknowledge(hashlib.sha256(path.read_bytes()).hexdigest())
"""


def until_it_survives(script, work_of):
    """Run a script that dies at its first call to the disk, then at its second, and so on."""
    for fatal in range(1, 60):
        work = work_of(fatal)
        done = subprocess.run(
            [sys.executable, "-c", DYING + script, str(work), str(fatal)],
            capture_output=True,
            text=True,
        )
        yield work, done.stdout.split()
        if done.returncode == 0:
            return
        assert done.returncode == -signal.SIGKILL, done.stderr
    raise AssertionError("never survived")


def test_a_killed_append_loses_nothing_acknowledged(tmp_path):
    torn_lines = 0

    def work_of(fatal):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        return folder

    for work, acknowledged in until_it_survives(APPENDING, work_of):
        ledger = EffectLedger(work / "ledger.jsonl")
        rows, torn = ledger.read()
        numbers = [row["number"] for row in rows]
        assert numbers[: len(acknowledged)] == [int(number) for number in acknowledged]
        assert len(numbers) <= len(acknowledged) + 1  # written whole, but not acknowledged
        torn_lines += len(torn)
        ledger.append({"number": 99, "class": 2})
        assert [row["number"] for row in ledger.read()[0]] == [*numbers, 99]
        assert len(ledger.read()[1]) == len(torn)
    assert torn_lines >= 4  # or the process did not die where it should


def test_a_killed_blessing_loses_nothing_acknowledged(tmp_path):
    first = json.dumps({"retriever": "mine", "metrics": ANCHOR, "effectors": {}}).replace(
        "{}", '{"baseline_reach": 0.5, "reach_tol": 0.25}'
    )

    def work_of(fatal):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        (folder / "baseline.json").write_text(first)
        return folder

    for work, acknowledged in until_it_survives(BLESSING, work_of):
        live = (work / "baseline.json").read_bytes()
        document = golden.load_baseline(work / "baseline.json")
        assert document["effectors"] == {"baseline_reach": 0.5, "reach_tol": 0.25}
        versions = [hashlib.sha256(first.encode()).hexdigest(), *acknowledged]
        kept = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in work.glob("*.bak")}
        assert set(versions[:-1]) <= set(kept)  # every version before the last acknowledged one
        newest = hashlib.sha256(live).hexdigest()
        assert newest == versions[-1] or versions[-1] in kept
        log = work / bless.LOG_NAME
        blessings = [row for _, row in json_lines.read(log)[0]] if log.exists() else []
        logged = [row["new_sha256"] for row in blessings]
        assert logged[: len(acknowledged)] == acknowledged
        assert newest in (versions[0], *logged)  # none without its line in the log
        assert bless.bless(work / "baseline.json", document).old_sha256 == newest


def test_the_disk_has_it_before_it_is_acknowledged(tmp_path, monkeypatch):
    calls = []

    def watched(name):
        call = getattr(os, name)

        def record(*arguments, **options):
            calls.append(name)
            return call(*arguments, **options)

        monkeypatch.setattr(os, name, record)

    for name in ("write", "fsync", "replace"):
        watched(name)
    EffectLedger(tmp_path / "ledger.jsonl").append(1)
    assert calls == ["write", "fsync", "fsync"]  # the line, then the name of the new file
    calls.clear()
    path = tmp_path / "baseline.json"
    bless.bless(path, bless.renewed(path, "mine", ANCHOR))
    # the log and its name, then the new baseline: content first, name last
    assert calls == ["write", "fsync", "fsync", "fsync", "replace", "fsync"]


def test_a_file_cut_at_any_byte(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger = EffectLedger(path)
    for number in range(3):
        ledger.append({"who": "é☃", "number": number, "class": number})
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        rows, torn = ledger.read()
        complete = sum(end - 1 <= cut for end in ends)  # whole even if its line end is missing
        assert len(rows) == complete, cut
        assert len(torn) == (cut not in (0, *ends) and cut + 1 not in ends), cut
        ledger.append(EffectClass.REVERSIBLE)
        assert len(ledger.read()[0]) == complete + 1
        assert ledger.read()[0][-1] == {"class": EffectClass.REVERSIBLE}


def test_a_torn_line_is_reported_and_skipped(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"class": 2}\n{"class": "irrev')
    ledger = EffectLedger(path)
    with pytest.warns(RuntimeWarning, match=r"ledger\.jsonl:2: torn line, skipped"):
        rows = ledger.all()
    assert rows == [{"class": EffectClass.IRREVERSIBLE}]
    with pytest.warns(RuntimeWarning, match="torn line"):
        assert reach_from_ledger(ledger).n == 1


@pytest.mark.parametrize(
    ("line", "is_torn"),
    [
        ('{"class": 1, "who": "a}', True),
        ('{"class": 1, "who": "a\\"}', True),
        ('{"class": 1, "tags": ["a", {"b": "}"}', True),
        ("{", True),
        ('{"class": 1 "who": "a"}', False),
        ('{"class": 1, "who": "{"]]', False),
        ('"class": 1}', False),
    ],
)
def test_only_a_line_that_never_ends_is_torn(tmp_path, line, is_torn):
    path = tmp_path / "ledger.jsonl"
    for text in (f'{{"class": 2}}\n{line}\n{{"class": 1}}\n', f'{{"class": 2}}\n{line}\n'):
        path.write_text(text)
        if is_torn:
            rows, torn = EffectLedger(path).read()
            assert [problem.line for problem in torn] == [2]
            assert len(rows) == text.count("\n") - 1
        else:
            with pytest.raises(InvalidInput, match=r"ledger\.jsonl:2: ") as caught:
                EffectLedger(path).read()
            assert [problem.code for problem in caught.value.problems] == ["json_invalid"]


def test_wrong_ledger_lines_are_all_named(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"class": 1}\n{"class": 3}\n{"effect": "x"}\n')
    with pytest.raises(InvalidInput) as caught:
        EffectLedger(path).all()
    assert [problem.line for problem in caught.value.problems] == [2, 3]
    path.write_text('{"class": 1}\nhello\n[1]\n{"class": 1, "class": 2}\n{"class": NaN}\n')
    with pytest.raises(InvalidInput) as caught:
        EffectLedger(path).all()
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5]


def test_a_ledger_keeps_what_it_was_given(tmp_path):
    ledger = EffectLedger(tmp_path / "new" / "ledger.jsonl")
    assert ledger.all() == []
    ledger.append({"class": "sensing", "effect": "read\nmail", "cost": 0.5})
    ledger.append(2)
    assert ledger.all() == [
        {"class": EffectClass.SENSING, "effect": "read\nmail", "cost": 0.5},
        {"class": EffectClass.IRREVERSIBLE},
    ]
    for bad in ({"effect": "x"}, {"class": 3}, {"class": True}, 7, "undo"):
        with pytest.raises(ValueError, match=r"class|expected 0, 1, 2"):
            ledger.append(bad)
    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range float"):
        ledger.append({"class": 1, "cost": float("nan")})
    with pytest.raises(ValueError, match="beyond 64 bits"):
        ledger.append({"class": 1, "big": 2**70})
    assert len(ledger.all()) == 2
    ledger.append({"class": 1, "milliseconds": 1_767_225_600_000})
    assert ledger.all()[-1]["milliseconds"] == 1_767_225_600_000


def test_two_processes_append_to_one_ledger(tmp_path):
    path = tmp_path / "ledger.jsonl"
    script = (
        "import sys; from drift_gauge.ledger import EffectLedger\n"
        "for n in range(50): EffectLedger(sys.argv[1]).append({'by': sys.argv[2], 'class': 1})\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    running = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [process.wait() for process in running] == [0, 0]
    assert sorted(row["by"] for row in EffectLedger(path).all()) == ["a"] * 50 + ["b"] * 50


def reading(value, theta=1.0, *, kind="x"):
    signature = {"retriever": "mine", "golden_sha256": kind, "baseline_sha256": "b"}
    inside = value <= theta
    return DriftReport(value, theta, inside, True, {"recall_at_k": value}, signature=signature)


def test_history_comes_back_as_it_was_appended(tmp_path):
    path = tmp_path / "log.jsonl"
    start = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
    for day, value in enumerate([0.0, 0.5, float("inf")]):
        history.append_reading(path, reading(value), time=start + timedelta(days=day))
    with open(path, "ab") as file:
        file.write(b'{"time": "2026-')
    found, torn = history.load_history(path)
    assert [one.drift for one in found] == [0.0, 0.5, float("inf")]
    assert [one.time for one in found] == [start + timedelta(days=day) for day in range(3)]
    assert [problem.line for problem in torn] == [4]
    row = json.loads(path.read_text().splitlines()[0])
    assert set(row["versions"]) == {"reasoning-drift", "python", "numpy"}
    with pytest.raises(ValueError, match="offset from UTC"):
        history.append_reading(path, reading(0), time=datetime(2026, 1, 1))


def test_wrong_history_lines_are_all_named(tmp_path):
    path = tmp_path / "log.jsonl"
    history.append_reading(path, reading(0.5))
    good = json.loads(path.read_text())
    changes = [
        {"drift": -1},
        {"drift": "Infinity"},
        {"time": "yesterday"},
        {"time": "2026-01-01T00:00:00"},
        {"per_axis": {"recall_at_k": None}},
        {"theta": True},
        {"within_tolerance": 1},
    ]
    path.write_text("".join(json.dumps({**good, **change}) + "\n" for change in changes))
    with pytest.raises(InvalidInput) as caught:
        history.load_history(path)
    named = [(problem.line, problem.column) for problem in caught.value.problems]
    assert named == [(at, next(iter(change))) for at, change in enumerate(changes, start=1)]
    path.write_text("\n")
    with pytest.raises(InvalidInput, match="expected a reading, got none"):
        history.load_history(path)


def test_calibration_is_the_quantile_of_what_can_be_compared(tmp_path):
    path = tmp_path / "log.jsonl"
    for value in (9.0, 8.0):
        history.append_reading(path, reading(value, kind="older"))
    for value in (0.0, 1.0, float("inf"), 2.0, 3.0):
        history.append_reading(path, reading(value))
    before = path.read_bytes()
    readings = history.load_history(path)[0]
    found = history.calibrate(readings, 0.5)
    assert found == history.Calibration(1.5, 0.5, 4, 1, 2)
    assert history.calibrate(readings, 1.0).theta == 3.0
    assert path.read_bytes() == before
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="`quantile`"):
            history.calibrate(readings, bad)
    with pytest.raises(ValueError, match="every D is ∞"):
        history.calibrate([one for one in readings if one.drift == float("inf")])
    with pytest.raises(ValueError, match="at least one reading"):
        history.calibrate([])


def test_a_blessing_needs_what_it_blesses(tmp_path):
    path = tmp_path / "baseline.json"
    with pytest.raises(ValueError, match=r"metrics\.mean_distance: None"):
        bless.renewed(path, "mine", {**ANCHOR, "mean_distance": None})
    assert not path.exists()
    document = bless.renewed(path, "mine", ANCHOR)
    done = bless.bless(path, document)
    assert (done.old_sha256, done.kept_as) == (None, None)
    assert done.by
    with pytest.raises(ValueError, match="blessed with 'mine', but 'theirs' was measured"):
        bless.renewed(path, "theirs", ANCHOR)
    with pytest.raises(ValueError, match="missing key `retriever`"):
        bless.bless(path, {"metrics": ANCHOR})
    assert golden.load_baseline(path) == document


@pytest.mark.skipif(os.name != "posix", reason="links and modes of POSIX")
def test_a_blessing_through_a_link_keeps_the_link(tmp_path):
    real = tmp_path / "real" / "baseline.json"
    real.parent.mkdir()
    real.write_text(json.dumps({"retriever": "mine", "metrics": ANCHOR}))
    link = tmp_path / "baseline.json"
    link.symlink_to(real)
    done = bless.bless(link, bless.renewed(link, "mine", ANCHOR))
    assert link.is_symlink()
    assert (real.parent / done.kept_as).exists()
    assert (real.parent / bless.LOG_NAME).exists()
