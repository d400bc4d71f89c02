"""One run reports everything, on the stream where it belongs, and destroys nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from planting import PREDICTIONS, TEST, cells, copy_repository, rows, scenario_id

from drift_onset import cli

# number of the row in RDOD2-0xx, column, text, code
TEN_FAULTS = [
    (25, "task", " ", "task_text"),
    (26, "severity", "low", "secondary_no_drift"),
    (27, "correction_source", "reviewer", "unknown_correction_source"),
    (28, "trajectory_length", "4", "trajectory_length_value"),
    (29, "visible_failure_step", "9", "visible_failure_bounds"),
    (30, "constraints_json", '["a", "A"]', "constraint_duplicate"),
    (31, "annotation_confidence", "95", "annotation_confidence_range"),
    (32, "relative_onset_position", "0.3", "relative_onset_value"),
    (33, "lost_constraint", "Something else.", "lost_constraint_text"),
    (34, "mechanism_family", "none", "state_drift"),
]


@pytest.fixture
def ten_faults(tmp_path: Path) -> Path:
    copy_repository(tmp_path)
    for number, column, text, _ in TEN_FAULTS:
        cells(TEST, scenario_id(number), **{column: text})(tmp_path)
    return tmp_path / TEST


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from drift_onset.cli import entry_point; entry_point()"]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_ten_faults_in_one_run(ten_faults: Path) -> None:
    done = run("validate", "labelled", ten_faults)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    *told, last = done.stderr.splitlines()
    assert last == "10 problems found"
    assert len(told) == 10
    for line, (number, column, _, code) in zip(told, TEN_FAULTS, strict=True):
        assert line.startswith(f"{ten_faults}:{number - 23}: {scenario_id(number)}: {column}: got ")
        assert line.endswith(f"[{code}]")


def test_ten_faults_as_json_lines(ten_faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["validate", "labelled", "--json", str(ten_faults)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    found = [json.loads(line) for line in out.splitlines()]
    assert [list(problem) for problem in found] == 10 * [
        ["code", "file", "line", "scenario_id", "column", "value", "message"]
    ]
    told = [(p["line"], p["scenario_id"], p["column"], p["code"]) for p in found]
    assert told == [(n - 23, scenario_id(n), column, code) for n, column, _, code in TEN_FAULTS]
    assert {p["file"] for p in found} == {str(ten_faults)}


def test_clean_file_says_what_was_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_repository(tmp_path)
    assert cli.main(["validate", "repository", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for count, split in ((16, "train"), (8, "dev"), (12, "test"), (12, "test_blind")):
        assert f"{split}.csv: {count} rows checked, no problems\n" in out


def test_problems_of_gold_and_predictions_in_one_run(
    ten_faults: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ten_faults.parents[1]
    cells(PREDICTIONS, "RDOD2-028", predicted_first_drift_step="4")(root)
    rows(PREDICTIONS, lambda found: found[:-1])(root)
    told = []
    for command in (["score"], ["validate", "predictions", "--gold"]):
        assert cli.main([*command, str(ten_faults), str(root / PREDICTIONS)]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert "12 problems found" in err
        assert "[onset_bounds]" in err
        assert "[missing_prediction]" in err
        told.append(err)
    assert told[0] == told[1]


@pytest.mark.parametrize("before", ["an older report", None])
@pytest.mark.parametrize("script", [cli.main, partial(cli.script, "score")])
def test_rejected_score_writes_nothing(
    script: object, before: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_repository(tmp_path)
    cells(PREDICTIONS, "RDOD2-025", predicted_repair_outcome="repaired")(tmp_path)
    report = tmp_path / "results" / "report.json"
    if before is not None:
        report.parent.mkdir()
        report.write_text(before)
    there = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    arguments = [str(tmp_path / TEST), str(tmp_path / PREDICTIONS), "--output", str(report)]
    assert callable(script)
    assert script([*(["score"] if script is cli.main else []), *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "[unknown_repair_outcome]" in err
    now = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert now == there
    if before is not None:
        assert report.read_text() == before


def test_failure_while_writing_leaves_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_repository(tmp_path)
    report = tmp_path / "report.json"
    report.write_text("an older report")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(report))

    there = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("os.replace", full)
    arguments = [str(tmp_path / TEST), str(tmp_path / PREDICTIONS), "--output", str(report)]
    assert cli.main(["score", *arguments]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{report}: No space left on device\n")
    assert report.read_text() == "an older report"
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.parametrize(
    "arguments",
    [["validate"], ["validate", "predictions", "x.csv"], ["score", "x.csv"], ["scores"], []],
)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().out == ""
