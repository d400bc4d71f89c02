"""Inputs on which tools of this kind were publicly seen to fail, and the right outcome of each."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import drift_onset
from drift_onset import cli, schema
from drift_onset.reading.records import CsvFile

CASES = Path(__file__).parent / "cases"
GOLD, PERFECT = "base/gold.csv", "base/pred_perfect.csv"
CONFIDENT = "base/pred_perfect_confidence.csv"

Lines = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Reject:
    """A file that must be rejected, and what the line of each problem must hold.

    Of a problem of a cell that is: line and identifier, column, value, what was expected.
    """

    file: str
    lines: Lines
    gold: str = GOLD


@dataclass(frozen=True)
class Accept:
    """Files that must be accepted, and metrics that must come out."""

    gold: str
    predictions: str
    metrics: dict[str, float]


ONSET, RESIDUAL = "predicted_first_drift_step", "predicted_residual_constraint_id"
STEPS, OF_CONSTRAINTS = "expected blank or 1..number of steps", "expected none, blank or 1.."
NOT_A_SHARE = "expected blank or a decimal number from 0 to 1"

# fmt: off
REJECTS = {
    # bobbyhadz.com/blog/python-unicodedecodeerror-utf-8-codec-cant-decode-byte-0x92-in-position
    "smart quotes of cp1252": Reject("cp1252/gold_cp1252.csv", (
        (":2: QA-001: ", "task", "not UTF-8: byte 0x92 at character 21", "expected UTF-8"),
    )),
    # iOfficeAI/OfficeCLI#352, asafdav/ng-csv#28
    "semicolons": Reject("semicolons/pred_semicolon.csv", (
        ("header looks separated by semicolons", "expected commas"),
    )),
    # pandas-dev/pandas#15203, sul-dlss/argo#4316, wireservice/csvkit#426
    "empty columns": Reject("spreadsheet_leftovers/trailing_empty_columns.csv", (
        ("column 7 is an empty name",),
        (":1: ", "column 8 is an empty name"),
    )),
    "rows of commas": Reject("spreadsheet_leftovers/comma_only_rows.csv", (
        (":6: ", "every cell is blank"),
        (":7: ", "every cell is blank"),
    )),
    "one cell more": Reject("spreadsheet_leftovers/extra_cell_one_row.csv", (
        (":4: QA-003: ", "7 cells, expected 6"),
    )),
    # pandas-dev/pandas#20717, calpaterson/csvbase#11
    "fraction": Reject("float_integers/pred_fraction.csv", (
        (":3: QA-002: ", ONSET, "'3.5'", STEPS),
    )),
    "float in gold": Reject("float_integers/gold_float_ints.csv", (
        (":3: QA-002: ", "first_drift_step", "'3.0'", STEPS),
        (":3: QA-002: ", "trajectory_length", "'4.0'", "expected the number of steps"),
    )),
    # pandas-dev/pandas#24681
    "words for nothing": Reject("missing_words/pred_missing_words.csv", (
        (":2: QA-001: ", ONSET, "'None'", STEPS),
        (":2: QA-001: ", RESIDUAL, "'None'", OF_CONSTRAINTS),
        (":4: QA-003: ", ONSET, "'NA'", STEPS),
        (":4: QA-003: ", RESIDUAL, "'N/A'", OF_CONSTRAINTS),
        (":5: QA-004: ", ONSET, "'nan'", STEPS),
    )),
    # project-koku/koku#4762, pandas-dev/pandas#54665
    "identifiers read as numbers": Reject("number_like_ids/pred_ids_excel.csv", (
        (":2: 7: ", "scenario_id", "'7' is no scenario"),
        (":3: 1.00E+05: ", "scenario_id", "'1.00E+05' is no scenario"),
        (":5: 10: ", "scenario_id", "'10' stands in an earlier row"),
        (": 007: has no prediction",),
        (": 1E5: has no prediction",),
        (": 010: has no prediction",),
    ), gold="number_like_ids/gold_ids.csv"),
    # frictionlessdata/frictionless-py#1172, microsoft/mstic#17
    "space that cannot be seen": Reject("invisible_space/pred_space_nbsp_zwsp.csv", (
        (":2: QA-001: ", "predicted_outcome_mode", "'no_drift '", "nearest is no_drift"),
        (":3: QA-002: ", "predicted_mechanism_family", r"'\xa0scope_collapse'"),
        (":4: QA-003: ", "predicted_repair_outcome", r"'full_repair\u200b'"),
        (":5: ", "scenario_id", "' QA-004' is no scenario"),
        (": QA-004: has no prediction",),
    )),
    # msgspec/msgspec#648
    "key twice": Reject("duplicate_key/gold_duplicate_key.csv", (
        (":2: QA-001: ", "trajectory_json", "first wording", "duplicate key 'text'"),
    )),
    # vshulcz/deja-vu#1098, openfoodfacts/openfoodfacts-server#8225
    "another normal form": Reject("normal_forms/gold_nfd_residual.csv", (
        (":3: QA-002: ", "residual_constraint_failure", r"re\u0301duire",
         "differs from constraint 1 in Unicode normalisation only"),
    )),
    "look-alike constraints": Reject("normal_forms/gold_twin_constraints.csv", (
        (":2: QA-001: ", "constraints_json", r"r\xe9duire", "constraint 2 looks like constraint 1"),
    )),
    # pyeve/cerberus#648, CZ-NIC/yangson#37
    "steps that are no integers": Reject("step_types/gold_step_types.csv", (
        (":2: QA-001: ", "trajectory_json", '"step":true', "step 1 step is a JSON boolean: True"),
        (":3: QA-002: ", "trajectory_json", "step 2.0", "expected 2"),
        (":4: QA-003: ", "trajectory_json", '"step":"1"', "step 1 step is a JSON string: '1'"),
        (":5: QA-004: ", "trajectory_json", '"text":true', "step 1 text"),
        (":5: QA-004: ", "trajectory_json", "step 3 text"),
    )),
    # huggingface/datasets#6778, zooniverse/panoptes#1449, evanplaice/jquery-csv#63
    "repr of Python": Reject("not_a_json_array/gold_python_repr.csv", (
        (":2: QA-001: ", "constraints_json", "['Keep both", "not JSON"),
        (":3: QA-002: ", "constraints_json", "['first rule' 'second rule']", "not JSON"),
    )),
    "JSON in JSON": Reject("not_a_json_array/gold_double_encoded.csv", (
        (":2: QA-001: ", "constraints_json", "Keep both", "expected a JSON array", "string"),
        (":3: QA-002: ", "trajectory_json", '{"1":"a","2":"b"}', "expected a JSON array", "object"),
    )),
    "backslash before quotes": Reject("not_a_json_array/gold_backslash_quotes.csv", (
        (":2: QA-001: ", "22 cells, expected 21"),
    )),
    # SLAPaper/ComfyUI-Image-Selector#11, patonlab/DBSTEP#14
    "counted from zero": Reject("zero_based/pred_zero_based.csv", (
        (":3: QA-002: ", RESIDUAL, "'0'", OF_CONSTRAINTS),
    )),
    "out of range": Reject("zero_based/pred_out_of_range.csv", (
        (":3: QA-002: ", RESIDUAL, "'-1'", OF_CONSTRAINTS),
        (":5: QA-004: ", RESIDUAL, "got '3'", "from 1 to 2"),
    )),
    "onset zero": Reject("zero_based/pred_onset_zero.csv", (
        (":2: QA-001: ", ONSET, "'0'", STEPS),
        (":3: QA-002: ", ONSET, "'0'", STEPS),
    )),
    # UKGovernmentBEIS/inspect_ai#972
    "scenario twice": Reject("id_sets/pred_duplicate_id.csv", (
        (":6: QA-002: ", "scenario_id", "'QA-002' stands in an earlier row"),
    )),
    "one missing, one extra": Reject("id_sets/pred_missing_and_extra.csv", (
        (":5: QA-999: ", "scenario_id", "'QA-999' is no scenario"),
        (": QA-004: has no prediction",),
    )),
    # NVIDIA/SkillSpector#89
    "percent": Reject("percent/pred_percent.csv", tuple(
        (f":{line}: QA-00{line - 1}: ", "confidence", f"'{value}'", NOT_A_SHARE, "percentage")
        for line, value in ((2, 91), (3, 80), (4, 70), (5, 95))
    )),
    "percent sign, decimal comma": Reject("percent/pred_percent_sign.csv", (
        (":2: QA-001: ", "confidence", "'91%'", NOT_A_SHARE, "percentage"),
        (":5: QA-004: ", "confidence", "'0,95'", NOT_A_SHARE),
    )),
}

RIGHT = {"component_mean": 1.0, "complete_primary_accuracy": 1.0}
ALL_RIGHT = {
    **RIGHT, "outcome_mode_macro_f1": 1.0, "mechanism_family_macro_f1": 1.0,
    "repair_outcome_macro_f1": 1.0, "exact_onset_accuracy": 1.0,
    "residual_constraint_exact_accuracy": 1.0,
}
ACCEPTS = {
    "base": Accept(GOLD, PERFECT, ALL_RIGHT),
    # UKGovernmentBEIS/inspect_ai#5361
    "byte order mark": Accept("bom/gold_bom.csv", "bom/pred_bom.csv", ALL_RIGHT),
    # pandas-dev/pandas#51141, pandas-dev/pandas#10018
    "line ends in cells": Accept("crlf_multiline/gold_crlf_multiline.csv", PERFECT, ALL_RIGHT),
    # pandas-dev/pandas#15203
    "blank lines": Accept(GOLD, "spreadsheet_leftovers/blank_lines_at_end.csv", ALL_RIGHT),
    # simonw/datasette-lite#84
    "cell of more than 131072 characters": Accept(
        "huge_cell/gold_huge_field.csv", PERFECT, ALL_RIGHT),
    # pandas-dev/pandas#20717, calpaterson/csvbase#11
    "3.0 for 3": Accept(GOLD, "float_integers/pred_float_ints.csv", ALL_RIGHT),
    # project-koku/koku#4762, pandas-dev/pandas#54665
    "identifiers that look like numbers": Accept(
        "number_like_ids/gold_ids.csv", "number_like_ids/pred_ids_intact.csv", ALL_RIGHT),
    # Lightning-AI/torchmetrics#300
    "classes that do not occur": Accept(
        "absent_classes/gold_two_classes.csv", "absent_classes/pred_perfect.csv", ALL_RIGHT),
    # UKGovernmentBEIS/inspect_ai#972
    "another order": Accept(GOLD, "id_sets/pred_shuffled.csv", ALL_RIGHT),
    # Lightning-AI/torchmetrics#3510, Lightning-AI/torchmetrics#1646
    "confidence 0 and 1": Accept(GOLD, "confidence_edges/pred_zero_and_one.csv",
        {**RIGHT, "expected_calibration_error": 0.5, "confidence_coverage": 1.0}),
    "confidence 1 beside 0.97": Accept(GOLD, "confidence_edges/pred_one_with_neighbour.csv",
        {"complete_primary_accuracy": 0.5, "expected_calibration_error": 0.485}),
    # openai/evals#1834
    "one row": Accept("single_row/gold_one.csv", "single_row/pred_one.csv", ALL_RIGHT),
}
# fmt: on


def told(err: str) -> list[str]:
    assert "Traceback" not in err
    *lines, last = err.splitlines()
    assert last == f"{len(lines)} problem{'s' * (len(lines) != 1)} found"
    return lines


def assert_lines(reject: Reject, found: list[str]) -> None:
    assert len(found) == len(reject.lines), found
    for line, parts in zip(found, reject.lines, strict=True):
        assert line.startswith(f"{CASES / reject.file}:")
        missing = [part for part in parts if part not in line]
        assert not missing, line


@pytest.mark.parametrize("reject", REJECTS.values(), ids=list(REJECTS))
def test_rejected(reject: Reject, capsys: pytest.CaptureFixture[str]) -> None:
    file, is_gold = str(CASES / reject.file), "gold" in Path(reject.file).name
    arguments = ["labelled", file]
    if not is_gold:
        arguments = ["predictions", file, "--gold", str(CASES / reject.gold)]
    assert cli.main(["validate", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert_lines(reject, told(err))


@pytest.mark.parametrize("reject", REJECTS.values(), ids=list(REJECTS))
def test_not_scored(reject: Reject, capsys: pytest.CaptureFixture[str]) -> None:
    is_gold = "gold" in Path(reject.file).name
    pair = (reject.file, PERFECT) if is_gold else (reject.gold, reject.file)
    assert cli.script("score", [str(CASES / name) for name in pair]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert_lines(reject, told(err))


def test_duplicate_key_names_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["validate", "labelled", str(CASES / "duplicate_key/gold_duplicate_key.csv")])
    (line,) = told(capsys.readouterr().err)
    assert "step 1" in line.split("characters), ")[1]


def score(accept: Accept, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert cli.script("score", [str(CASES / accept.gold), str(CASES / accept.predictions)]) == 0
    out, err = capsys.readouterr()
    assert err == ""

    def no_constant(text: str) -> None:
        raise AssertionError(f"{text} is not strict JSON")

    report: dict[str, Any] = json.loads(out, parse_constant=no_constant)
    return report


def metrics(report: dict[str, Any]) -> dict[str, float]:
    blocks = ("leaderboard_a_component_capability", "leaderboard_b_complete_reasoning_state")
    return {k: v for name in (*blocks, "secondary_diagnostics") for k, v in report[name].items()}


@pytest.mark.parametrize("accept", ACCEPTS.values(), ids=list(ACCEPTS))
def test_accepted(accept: Accept, capsys: pytest.CaptureFixture[str]) -> None:
    gold, predictions = str(CASES / accept.gold), str(CASES / accept.predictions)
    assert cli.main(["validate", "labelled", gold]) == 0
    assert cli.main(["validate", "predictions", predictions, "--gold", gold]) == 0
    assert capsys.readouterr().err == ""
    found = metrics(score(accept, capsys))
    assert {name: found[name] for name in accept.metrics} == pytest.approx(
        accept.metrics, abs=1e-12
    )


@pytest.mark.parametrize("name", ["byte order mark", "blank lines", "3.0 for 3"])
def test_same_report(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(ACCEPTS[name], capsys) == score(ACCEPTS["base"], capsys)


def test_row_order_makes_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    expected = score(Accept(GOLD, CONFIDENT, {}), capsys)
    base = score(ACCEPTS["base"], capsys)
    assert score(ACCEPTS["another order"], capsys) == base
    assert expected["secondary_diagnostics"] != base["secondary_diagnostics"]


def test_line_ends_in_cells_come_through_as_they_are() -> None:
    path = CASES / "crlf_multiline/gold_crlf_multiline.csv"
    data = path.read_bytes()
    task = b'Explain why\nparts arrived late,\r\nand ""when"".\rEnd.'
    assert task in data
    (batch,) = CsvFile(path, schema.header(schema.LABELLED)).batches()
    assert batch.table.num_rows == 4
    assert batch.table["task"][0].as_py().encode() == task.replace(b'""', b'"')


def test_huge_cell_leaves_the_csv_module_alone() -> None:
    before = csv.field_size_limit()
    path = CASES / "huge_cell/gold_huge_field.csv"
    file = CsvFile(path, schema.header(schema.LABELLED))
    (batch,) = file.batches()
    assert len(batch.table["trajectory_json"][0].as_py()) > before
    assert file.lines({3}) == {3: 5}
    assert drift_onset.validate_file(path, schema.LABELLED) == (4, [])
    assert csv.field_size_limit() == before
    with open(path, encoding="utf-8", newline="") as text, pytest.raises(csv.Error):
        list(csv.reader(text))


def test_identifiers_stay_text(capsys: pytest.CaptureFixture[str]) -> None:
    report = score(ACCEPTS["identifiers that look like numbers"], capsys)
    ids = [row["scenario_id"] for row in report["prediction_table"]]
    assert ids == ["007", "1E5", "010", "10"]


def test_one_row_has_no_spread(capsys: pytest.CaptureFixture[str]) -> None:
    intervals = score(ACCEPTS["one row"], capsys)["uncertainty"]["intervals"]
    assert intervals["component_mean"]["low"] == intervals["component_mean"]["high"] == 1.0
    assert all(interval["degenerate"] is True for interval in intervals.values())
