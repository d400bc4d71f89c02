"""Every check of the validator and the scorer: one planted fault, one lawful near miss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_cells import CELLS
from planted_files import FILES
from planted_repository import REPOSITORY
from planting import BLINDED, PREDICTIONS, TEST, Check, cells, copy_repository, places, problems

import drift_onset
from drift_core.problems import InvalidInput
from drift_onset import schema
from drift_onset.schema import BLIND, LABELLED, PREDICTION

CHECKS = [*CELLS, *FILES, *REPOSITORY]
PREDICTION_CHECKS = [check for check in CHECKS if check.kind == "predictions"]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_fault_is_reported(check: Check, tmp_path: Path) -> None:
    copy_repository(tmp_path)
    check.fault(tmp_path)
    found = problems(check.kind, tmp_path)
    assert places(found, tmp_path) == check.expected()
    for problem in found:
        assert problem.message
        assert f"[{problem.code}]" in str(problem)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_near_miss_is_lawful(check: Check, tmp_path: Path) -> None:
    copy_repository(tmp_path)
    before = contents(tmp_path)
    check.twin(tmp_path)
    assert contents(tmp_path) != before
    assert problems(check.kind, tmp_path) == []


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("check", PREDICTION_CHECKS, ids=str)
def test_scorer_rejects_what_the_validator_reports(check: Check, tmp_path: Path) -> None:
    copy_repository(tmp_path)
    check.fault(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        drift_onset.score(tmp_path / TEST, tmp_path / PREDICTIONS, resamples=0)
    assert places(list(caught.value.problems), tmp_path) == check.expected()


@pytest.mark.parametrize("check", PREDICTION_CHECKS, ids=str)
def test_blind_file_serves_as_gold(check: Check, tmp_path: Path) -> None:
    copy_repository(tmp_path)
    check.fault(tmp_path)
    found = problems("predictions", tmp_path, gold=BLINDED)
    assert places(found, tmp_path) == check.expected()


def test_copy_is_without_fault(tmp_path: Path) -> None:
    copy_repository(tmp_path)
    for kind in ("labelled", "blind", "predictions", "repository"):
        assert problems(kind, tmp_path) == []


# What a column is named after: the codes that its schema gives rise to.
def column_codes() -> set[str]:
    codes = set()
    for kind in (LABELLED, BLIND, PREDICTION):
        for name, column in schema.fields(kind).items():
            base = name.removeprefix(schema.PREDICTED)
            if column.decoded_from is not None or "contentSchema" in column.schema:
                continue
            if column.labels:
                codes.add(f"unknown_{base}")
            elif "integer" in column.types:
                codes.add(f"{base}_integer")
            elif "number" in column.types:
                codes.add(f"{base}_range")
            else:
                codes.add(f"{base}_text")
    return codes


def test_every_rule_has_a_check() -> None:
    assert set(schema.rule_texts()) <= {check.code for check in CHECKS}


def test_every_column_has_a_check() -> None:
    assert len(column_codes()) > 15
    assert column_codes() <= {check.code for check in CHECKS}


def test_state_rules_have_a_check_for_both_kinds() -> None:
    for rule in schema.definition("state")["allOf"]:
        kinds = {check.kind for check in CHECKS if check.code == rule["title"]}
        assert kinds == {"labelled", "predictions"}, rule["title"]


NO_POSITION = ["0", "-1", "+3", "03", "\uff13", "3.5", "3e0", "3,0", " 3", "3\u00a0", "2147483648"]
NO_POSITION += ["TRUE", "nan", "NaN", "NA", "N/A", "None", "null", "NONE", "-", "three"]


@pytest.mark.parametrize("text", NO_POSITION)
@pytest.mark.parametrize("column", ["first_drift_step", "residual_constraint_id"])
def test_text_that_is_no_position(column: str, text: str, tmp_path: Path) -> None:
    copy_repository(tmp_path)
    cells(PREDICTIONS, "RDOD2-025", **{f"predicted_{column}": text})(tmp_path)
    (problem,) = problems("predictions", tmp_path)
    assert (problem.code, problem.column) == (f"{column}_integer", f"predicted_{column}")
    assert (problem.line, problem.value) == (2, ascii(text))


@pytest.mark.parametrize("text", ["3", "3.0", "3.000"])
def test_integer_as_table_libraries_write_it(text: str, tmp_path: Path) -> None:
    copy_repository(tmp_path)
    cells(PREDICTIONS, "RDOD2-025", predicted_first_drift_step=text)(tmp_path)
    assert problems("predictions", tmp_path) == []
    report = drift_onset.score(tmp_path / TEST, tmp_path / PREDICTIONS, resamples=0)
    assert report.scores.exact_onset_accuracy == 1.0
    assert json.loads(report.to_json())["prediction_table"][0]["predicted_first_drift_step"] == 3
