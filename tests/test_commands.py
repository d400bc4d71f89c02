"""The commands as people type them, in a copy of the repository."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from drift_onset import baseline, cli

SCRIPTS = ("scorer", "baseline")
REPORT_KEYS = [
    "benchmark",
    "leaderboard_a_component_capability",
    "leaderboard_b_complete_reasoning_state",
    "secondary_diagnostics",
    "class_support",
    "per_class_metrics",
    "prediction_table",
    "uncertainty",
    "signature",
]


@pytest.fixture
def clone(root, tmp_path):
    for name in (*SCRIPTS, "data", "drift_onset", "drift_core"):
        shutil.copytree(root / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("schema.json", "manifest.json"):
        shutil.copy(root / name, tmp_path)
    return tmp_path


def run(*arguments, cwd, **options):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        **options,
    )


def test_the_benchmarks_own_commands(clone):
    script = "scorer/validate.py"
    labelled = ["data/train.csv", "data/dev.csv", "data/test.csv"]
    gold = ["--gold", "data/test.csv"]
    for arguments in (
        [script, "repository"],
        [script, "labelled", *labelled],
        [script, "blind", "data/test_blind.csv"],
        ["baseline/baseline.py", "data/test_blind.csv", "predictions.csv"],
        [script, "predictions", "predictions.csv", *gold],
        [script, "predictions", "predictions.csv", "--gold", "data/test_blind.csv"],
    ):
        done = run(*arguments, cwd=clone)
        assert done.returncode == 0, done.stderr
        assert done.stdout
    done = run(
        "scorer/score.py",
        "data/test.csv",
        "predictions.csv",
        "--output",
        "results/score_report.json",
        cwd=clone,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert list(report) == REPORT_KEYS
    assert json.loads((clone / "results/score_report.json").read_text("utf-8")) == report
    assert report["benchmark"] == {
        "name": "Reasoning Drift Onset Detection v0.2",
        "evaluation_type": "structured_reasoning_state",
        "n": 12,
    }
    assert list(report["leaderboard_a_component_capability"]) == [
        "primary_ranking_metric",
        "component_mean",
        "outcome_mode_macro_f1",
        "exact_onset_accuracy",
        "mechanism_family_macro_f1",
        "repair_outcome_macro_f1",
    ]
    assert list(report["secondary_diagnostics"]) == [
        "within_one_onset_accuracy",
        "mean_absolute_onset_error",
        "residual_constraint_exact_accuracy",
        "expected_calibration_error",
        "confidence_coverage",
    ]


def test_example_predictions_are_the_baselines(root, tmp_path):
    assert baseline.run(root / "data" / "test_blind.csv", tmp_path / "p.csv") == 12
    expected = (root / "baseline" / "example_predictions.csv").read_bytes()
    assert (tmp_path / "p.csv").read_bytes() == expected


def test_scoring_twelve_rows_imports_no_heavy_library(root):
    code = (
        "import sys\n"
        "from drift_onset.cli import main\n"
        "assert main(['score', 'data/test.csv', 'baseline/example_predictions.csv']) == 0\n"
        "heavy = {'datasets', 'evaluate', 'pandas', 'matplotlib', 'torch', 'huggingface_hub'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = run("-c", code, cwd=root)
    assert done.returncode == 0, done.stderr
    assert "component_mean" in done.stdout


@pytest.mark.parametrize("command", [[], ["score"], ["validate"], ["validate", "predictions"]])
def test_help_and_wrong_usage(command, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--help"])
    assert ended.value.code == 0
    assert "usage" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--no-such-option"])
    assert ended.value.code == 2


@pytest.fixture
def sources(root):
    return [str(root / "data/test.csv"), str(root / "baseline/example_predictions.csv")]


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_table_takes_the_rows_out_of_the_report(sources, tmp_path, capsys, ending):
    path = tmp_path / "new" / f"rows.{ending}"
    assert cli.main(["score", *sources, "--table", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["prediction_table"] == []
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    readers = {
        "parquet": pyarrow.parquet.read_table,
        "csv": pyarrow.csv.read_csv,
        "jsonl": pyarrow.json.read_json,
    }
    table = readers[ending](path)
    assert cli.main(["score", *sources, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["prediction_table"]
    assert table.column_names == list(rows[0])
    assert table["scenario_id"].to_pylist() == [row["scenario_id"] for row in rows]
    assert table["outcome_mode_correct"].to_pylist() == [
        row["outcome_mode_correct"] for row in rows
    ]


def test_an_unknown_ending_of_the_table_is_wrong_usage(sources, tmp_path, capsys):
    assert cli.main(["score", *sources, "--table", str(tmp_path / "rows.xlsx")]) == 2
    assert ".parquet, .csv, .jsonl" in capsys.readouterr().err


def test_people_see_support_n_and_intervals(sources, tmp_path, capsys):
    output = tmp_path / "made" / "report.json"
    assert cli.main(["score", *sources, "--output", str(output)]) == 0
    shown = capsys.readouterr().out
    for words in ("n = 12", "gold", "pred.", "95 % interval", "premature_constraint_closure"):
        assert words in shown
    assert output.exists()


def test_on_invalid_incorrect_counts_instead_of_stopping(sources, tmp_path, capsys):
    gold, predictions = sources
    lines = Path(predictions).read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace("visible_failure", "no_drift")  # an unlawful combination
    path = tmp_path / "p.csv"
    path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    assert cli.main(["score", gold, str(path)]) == 1
    assert "state_no_drift" in capsys.readouterr().err
    assert cli.main(["score", gold, str(path), "--on-invalid", "incorrect", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["signature"]["n_invalid"] == 2
    assert report["signature"]["options"]["on_invalid"] == "incorrect"
    assert report["benchmark"]["n"] == 12


def test_what_is_derived_is_built_the_same_again(root, tmp_path, capsys):
    for name in ("first", "second"):
        shutil.copytree(root / "data", tmp_path / name / "data")
        for path in (tmp_path / name / "data").glob("*.parquet"):
            path.unlink()
        assert cli.main(["build", str(tmp_path / name)]) == 0
        assert cli.main(["validate", "repository", str(tmp_path / name)]) == 0
    made = [path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*.*")]
    assert len(made) == 9
    for path in made:
        first, second = (tmp_path / name / path for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()
    manifest = (tmp_path / "first" / "manifest.json").read_bytes()
    assert manifest == (root / "manifest.json").read_bytes()


def test_people_see_what_was_counted_as_wrong(sources, tmp_path, capsys):
    gold, predictions = sources
    lines = Path(predictions).read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "p.csv"
    path.write_text("".join(lines[:-2]), encoding="utf-8")
    assert cli.main(["score", gold, str(path), "--on-invalid", "incorrect"]) == 0
    assert "n = 12, of which 2 missing or invalid and counted as wrong" in capsys.readouterr().out


@pytest.mark.parametrize("rows", [1, 8])
def test_predictions_for_other_scenarios_are_no_zero(root, tmp_path, capsys, rows):
    """Wrong throughout or for another split: only the second can be told, and is."""
    lines = (root / "baseline/example_predictions.csv").read_text("utf-8").splitlines(keepends=True)
    moved = [line.replace("RDOD2-0", "RDOD2-9") for line in lines[1 : 1 + rows]]
    path = tmp_path / "p.csv"
    command = ["score", str(root / "data/test.csv"), str(path), "--on-invalid", "incorrect"]
    path.write_text("".join([lines[0], *moved]), "utf-8")
    assert cli.main(command) == 1
    assert "are these predictions for another split?" in capsys.readouterr().err
    # One scenario in common, even one that cannot be read: answers to this gold.
    for known in (lines[1], lines[1].replace(",2,", ",2,,,"), lines[1].replace(",2,", ",2.5,")):
        path.write_text("".join([lines[0], *moved, known]), "utf-8")
        assert cli.main(command) == 0


def test_comparing_takes_two_systems_and_writes_pages(root, tmp_path, capsys):
    test, answers = str(root / "data/test.csv"), str(root / "baseline/example_predictions.csv")
    assert cli.main(["compare", answers, answers, "--gold", test]) == 2
    assert "is given twice, expected two systems" in capsys.readouterr().err
    other = str(root / "baseline/reference_predictions.csv")
    page = ["--html", str(tmp_path / "x.txt")]
    assert cli.main(["compare", answers, other, "--gold", test, *page]) == 2
    assert "expected .html" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_parts_of_one_row_each_are_none(root, capsys):
    test, answers = str(root / "data/test.csv"), str(root / "baseline/example_predictions.csv")
    assert cli.main(["score", test, answers, "--by", "scenario_id", "--by", "task"]) == 1
    err = capsys.readouterr().err
    assert err.count("has another value in each row") == 2


def test_one_log_makes_one_prediction_file(tmp_path, capsys):
    logs = [tmp_path / name for name in ("a.eval", "b.eval")]
    for age, log in enumerate(logs):
        log.touch()
        os.utime(log, (1e9 + age, 1e9 + age))
    assert cli.main(["from-inspect", *map(str, logs), "--output", str(tmp_path / "p.csv")]) == 2
    assert f"expected one; the newest is {logs[1]}" in capsys.readouterr().err
