"""Odd inputs and odd surroundings: what people and pipelines do to the commands."""

import io
import json
import os
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest

import drift_onset
from drift_core.console import BROKEN_PIPE
from drift_core.files import replacing
from drift_core.problems import InvalidInput
from drift_onset import cli, metric_input
from drift_onset.reading import csv_chunks, records, tables
from drift_onset.schema import header

GOLD, EXAMPLE = "data/test.csv", "baseline/example_predictions.csv"


@pytest.fixture
def predictions(root, tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes((root / EXAMPLE).read_bytes())
    return path


def errors(root, predictions, capsys):
    code = cli.main(["validate", "predictions", str(predictions), "--gold", str(root / GOLD)])
    return code, capsys.readouterr().err.splitlines()[:-1]


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


# --- quotation marks ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("visible_failure", '"visible"_failure', "text follows a closing quotation mark"),
        ("RDOD2-036", '"RDOD2"-036', "text follows a closing quotation mark"),
        ("RDOD2-036,", '"RDOD2-036,', "opened and not closed"),
        ("RDOD2-026,", '"RDOD2-026,', "opened and not closed"),
    ],
)
def test_a_lost_quotation_mark_is_one_problem(root, predictions, capsys, old, new, says):
    change(predictions, old, new)
    code, lines = errors(root, predictions, capsys)
    assert code == 1
    assert len(lines) == 1, lines
    assert says in lines[0]


def test_a_file_cut_off_within_its_last_cell_is_told(root, tmp_path, capsys):
    data = (root / "data/test_blind.csv").read_bytes().rstrip()
    assert data.endswith(b'"')
    (tmp_path / "blind.csv").write_bytes(data[:-1])
    assert cli.main(["validate", "blind", str(tmp_path / "blind.csv")]) == 1
    assert "opened and not closed" in capsys.readouterr().err


def test_a_quotation_mark_within_a_plain_cell_is_text(root, tmp_path):
    path = tmp_path / "blind.csv"
    text = (root / "data/test_blind.csv").read_text(encoding="utf-8")
    path.write_text(text.replace("clinical_reasoning", '5" pipe', 1), encoding="utf-8")
    assert drift_onset.validate_file(path, "model_input") == (12, [])


# --- where files are read from and written to -------------------------------------------------


def test_what_is_no_regular_file_is_said_plainly(root, tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, kind in ((pipe, "no regular file"), (tmp_path, "a directory")):
        assert cli.main(["validate", "blind", str(path)]) == 1
        assert kind in capsys.readouterr().err


def test_links_and_devices_are_kept(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600
    with replacing("/dev/null") as temporary:
        temporary.write_text("gone")
    assert not os.path.isfile("/dev/null")


def test_a_write_error_names_the_file_that_was_asked_for(root, tmp_path, capsys):
    sources = [str(root / GOLD), str(root / EXAMPLE)]
    assert cli.main(["score", *sources, "--output", str(tmp_path)]) == 1
    assert f"{tmp_path}: is a directory" in capsys.readouterr().err


def test_table_and_report_are_written_both_or_not_at_all(root, tmp_path, capsys):
    sources = [str(root / GOLD), str(root / EXAMPLE)]
    report, table = tmp_path / "r.json", tmp_path / "t.csv"
    table.mkdir()
    assert cli.main(["score", *sources, "--output", str(report), "--table", str(table)]) == 1
    assert os.listdir(tmp_path) == ["t.csv"]


def test_an_output_never_overwrites_an_input(root, predictions, capsys):
    before = predictions.read_bytes()
    gold = str(root / GOLD)
    for arguments in (
        ["score", gold, str(predictions), "--output", str(predictions)],
        ["score", gold, str(predictions), "--table", str(predictions)],
        ["score", gold, str(predictions), "--output", "x.csv", "--table", "x.csv"],
        ["baseline", str(predictions), str(predictions)],
    ):
        assert cli.main(arguments) == 2
        assert "would overwrite" in capsys.readouterr().err
    assert predictions.read_bytes() == before


def test_nothing_is_built_from_bad_data(root, tmp_path, capsys):
    (tmp_path / "data").mkdir()
    assert cli.main(["build", str(tmp_path)]) == 1
    assert not (tmp_path / "manifest.json").exists()


# --- terminals and pipes ------------------------------------------------------------------------


def run(root, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "drift_onset.cli", *arguments],
        cwd=root,
        capture_output=True,
        env={**os.environ, **environment},
    )


def test_a_terminal_without_unicode_is_no_reason_to_fail(root, tmp_path):
    text = (root / EXAMPLE).read_text(encoding="utf-8").replace("RDOD2-025", "Ω-025")
    (tmp_path / "Ω.csv").write_text(text, encoding="utf-8")
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    done = run(root, "score", GOLD, EXAMPLE, **ascii_only)
    assert done.returncode == 0, done.stderr
    path = str(tmp_path / "Ω.csv")
    done = run(root, "validate", "predictions", path, "--gold", GOLD, "--json", **ascii_only)
    assert done.returncode == 1
    found = [json.loads(line) for line in done.stdout.decode("ascii").splitlines()]
    assert {problem["scenario_id"] for problem in found} == {"Ω-025", "RDOD2-025"}


def test_a_reader_that_leaves_early_is_no_problem_of_the_input(root):
    command = f"{sys.executable} -m drift_onset.cli score {GOLD} {EXAMPLE} --json | head -c 10"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode in (0, BROKEN_PIPE)
    assert done.stderr == ""


def test_messages_hold_nothing_that_a_terminal_acts_on(root, predictions, capsys):
    change(predictions, "RDOD2-036", "\x1b[31mRDOD2\u202e-036\x9b")
    change(predictions, "visible_failure", "\x1b[2J")
    code, lines = errors(root, predictions, capsys)
    assert code == 1
    assert all(line.isprintable() for line in lines)
    assert any("\\x1b[31m" in line for line in lines)


def test_messages_are_of_a_bearable_length(root, predictions, capsys):
    change(predictions, "RDOD2-036", "x" * 100_000)
    change(predictions, "visible_failure", "y" * 100_000)
    _, lines = errors(root, predictions, capsys)
    assert max(map(len, lines)) < 1_000


@pytest.mark.parametrize("option", ["--seed=-1", "--seed=x", "--resamples=-1", "--resamples=1_0"])
def test_numbers_out_of_range_are_wrong_usage(root, option, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["score", str(root / GOLD), str(root / EXAMPLE), option])
    assert ended.value.code == 2


# --- one fault, one problem -----------------------------------------------------------------------


def test_a_bad_byte_hides_nothing_else_of_its_row(root, predictions, capsys):
    data = predictions.read_bytes()
    row = next(line for line in data.splitlines() if line.startswith(b"RDOD2-025"))
    predictions.write_bytes(data.replace(row, b"RDOD2-025,visible_f\xff,99,zzz,unrepaired,2,0.2"))
    _, lines = errors(root, predictions, capsys)
    codes = sorted(line.rsplit("[", 1)[1][:-1] for line in lines)
    assert codes == ["encoding", "onset_bounds", "unknown_mechanism_family"]


def test_an_identifier_that_cannot_be_read_is_told_once(root, predictions, capsys):
    data = predictions.read_bytes()
    predictions.write_bytes(data.replace(b"RDOD2-025", b"RDOD2-\xff25", 1))
    _, lines = errors(root, predictions, capsys)
    assert len(lines) == 1, lines
    predictions.write_bytes(data.replace(b"RDOD2-025", b"RDOD2\t025", 1))
    _, lines = errors(root, predictions, capsys)
    assert len(lines) == 1, lines


@pytest.mark.parametrize("how", ["utf-16", "reversed header"])
def test_an_unreadable_file_is_never_scored_as_wrong_answers(root, predictions, capsys, how):
    text = predictions.read_text(encoding="utf-8")
    if how == "utf-16":
        predictions.write_text(text, encoding="utf-16")
    else:
        first, rest = text.split("\n", 1)
        predictions.write_text(",".join(first.split(",")[::-1]) + "\n" + rest, encoding="utf-8")
    arguments = ["score", str(root / GOLD), str(predictions), "--on-invalid", "incorrect"]
    assert cli.main(arguments) == 1
    assert cli.main(["validate", "predictions", str(predictions), "--gold", str(root / GOLD)]) == 1
    assert "missing_prediction" not in capsys.readouterr().err


def test_blank_means_the_same_in_cells_and_in_json(root, tmp_path):
    text = (root / "data/test_blind.csv").read_text(encoding="utf-8")
    first = text.splitlines()[1]
    for blank in ("\u200b", "\ufeff", "\u00a0", "\x85", "\x1c"):
        for place in ("clinical_reasoning", json.loads(cell(first, 3))[0]):
            path = tmp_path / "blind.csv"
            path.write_text(text.replace(place, blank, 1), encoding="utf-8", newline="")
            assert drift_onset.validate_file(path, "model_input")[1], (blank, place)


def cell(line, number):
    import csv

    return next(csv.reader([line]))[number]


# --- rows in memory ---------------------------------------------------------------------


def row(**values):
    state = ("latent_drift", 3, "scope_collapse", "unrepaired", 1)
    names = [name.removeprefix("predicted_") for name in header("prediction")]
    return {**dict(zip(names, ("a", *state), strict=True)), **values}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (None, "got NoneType"),
        (3, "got int"),
        ([], "has no rows"),
        ([None], "item 0 is None"),
        ([[1]], "item 0 is list"),
        ({"scenario_id": "a"}, "column scenario_id is one str"),
        ({"scenario_id": ["a"], "outcome_mode": []}, "different lengths"),
        ({1: ["a"]}, "column named 1"),
        (pa.table([["a"], ["b"]], names=["x", "x"]), "more than one column named x"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "more than one column named x"),
        (pd.Series([1]), "item 0 is int"),
        ([{"scenario_id": "a"}], "lacks the columns"),
    ],
)
def test_what_is_no_table_of_rows_is_said_plainly(source, says):
    for gold, answers in ((source, [row()]), ([row()], source)):
        with pytest.raises(InvalidInput, match=says):
            drift_onset.score(gold, answers)


ODD = [2**70, object(), 1j, b"x", "a\ud800", [1], {"a": 1}, pd.NaT, pd.NA]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("column", ["outcome_mode", "first_drift_step", "confidence"])
def test_values_of_any_kind_are_problems_and_not_tracebacks(value, column):
    missing = value is pd.NaT or value is pd.NA
    if missing and column == "confidence":
        assert drift_onset.score([row()], [row(confidence=value)]).scores.confidence_coverage == 0
        return
    with pytest.raises(InvalidInput, match=column):
        drift_onset.score([row()], [row(**{column: value})])


def test_missing_values_of_pandas_are_blank_in_every_form():
    blank = ("no_drift", None, "none", "not_applicable", None)
    names = list(row())
    gold = [row(), dict(zip(names, ("b", *blank), strict=True))]
    frame = pd.DataFrame(gold)
    for source in (frame, frame.to_dict("records"), frame.to_dict("list"), pa.table(frame)):
        report = drift_onset.score(source, source)
        assert report.scores.complete_primary_accuracy == 1.0


@pytest.mark.parametrize("options", [{"seed": -1}, {"seed": 1.5}, {"resamples": "a"}])
def test_options_are_checked(options):
    with pytest.raises(ValueError, match="Expected argument"):
        drift_onset.score([row()], [row()], **options)


def test_a_cell_may_have_carriage_returns_wherever_a_block_ends(tmp_path, monkeypatch):
    path = tmp_path / "f.csv"
    path.write_bytes(b"one,two\n" + b'a,"x\r\ny"\n' * 50)
    for block in range(16, 40):
        monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", block)
        file = records.CsvFile(path, ("one", "two"))
        found = [text for batch in file.batches() for text in batch.table["two"].to_pylist()]
        assert found == ["x\r\ny"] * 50


def test_the_report_goes_to_a_stream_without_a_buffer(root, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["score", str(root / GOLD), str(root / EXAMPLE), "--json"]) == 0
    assert json.loads(stream.getvalue())["benchmark"]["n"] == 12


# --- the wrong file, the wrong rows ------------------------------------------------------------


def test_one_kind_of_file_is_recognised_for_another(root, capsys):
    gold, blind, answers = (str(root / name) for name in (GOLD, "data/test_blind.csv", EXAMPLE))
    for arguments, kind in (
        (["score", answers, gold], "a prediction file with confidence"),
        (["score", blind, answers], "a blind file"),
        (["validate", "blind", gold], "a labelled file"),
        (["baseline", gold, "never.csv"], "a labelled file"),
    ):
        assert cli.main(arguments) == 1
        assert f"is the header of {kind}" in capsys.readouterr().err


def test_predictions_for_another_split_are_one_problem(root, predictions, capsys):
    code = cli.main(["score", str(root / "data/dev.csv"), str(predictions)])
    err = capsys.readouterr().err.splitlines()
    assert code == 1
    assert len(err) == 2
    assert "another split" in err[0]


@pytest.mark.parametrize("rows", [[{"outcome_mode": "no_drift"}] * 2, [{}] * 2, [None] * 2])
def test_rows_without_the_keys_are_a_problem_or_wrong(rows):
    gold = [row(), row(scenario_id="b")]
    with pytest.raises(InvalidInput, match=r"lacks the columns|is None"):
        metric_input.evaluate_rows(rows, gold)
    found = metric_input.evaluate_rows(rows, gold, on_invalid="incorrect")
    assert found["component_mean"] == 0.0


def test_inputs_without_labels_are_no_references():
    inputs = [{"scenario_id": "a", "task": "x", "constraints_json": '["c"]'}]
    with pytest.raises(InvalidInput, match="inputs without labels"):
        metric_input.evaluate_rows([row()], inputs)


def test_words_for_nothing_get_a_hint(root, predictions, capsys):
    text = predictions.read_text(encoding="utf-8").replace(",,none,", ",NaN,none,", 1)
    predictions.write_text(text, encoding="utf-8")
    assert "leave the cell empty" in errors(root, predictions, capsys)[1][0]


def test_blank_gold_in_memory_is_a_problem():
    blank = dict.fromkeys(row())
    with pytest.raises(InvalidInput, match="blank_row"):
        drift_onset.score([row(), blank], [row()], on_invalid="incorrect")
    quoted = {**row(), "residual_constraint_failure": None, "constraints": ["x", "y"]}
    del quoted["residual_constraint_id"]
    for value in (None, "", 1, True, ["x"]):
        quoted["residual_constraint_failure"] = value
        with pytest.raises(InvalidInput, match="residual_constraint_failure"):
            drift_onset.score([quoted], [row()])
    quoted["residual_constraint_failure"] = "x"
    assert drift_onset.score([quoted], [row()]).scores.complete_primary_accuracy == 1.0


@pytest.mark.parametrize("values", [[10**400, 1.5], [10**5000], ["no_drift", b"no_drift"]])
def test_columns_of_odd_values_lose_nothing(values):
    made = tables.column_array(values)
    assert len(made) == len(values)
    assert made.type == pa.string()
    if len(values) == 2 and isinstance(values[1], bytes):
        assert made.to_pylist() == ["no_drift", "b'no_drift'"]


def test_nan_of_arrow_is_missing_too():
    gold = {name: [value] for name, value in row().items()}
    answers = {**gold, "confidence": pa.array([float("nan")])}
    assert drift_onset.score(gold, pa.table(answers)).scores.confidence_coverage == 0


def test_problems_of_permuted_columns_name_their_scenario(root, predictions, capsys):
    lines = predictions.read_bytes().splitlines()
    swapped = [
        b",".join([cells[1], cells[0], *cells[2:]]) for cells in (x.split(b",") for x in lines)
    ]
    swapped[1] = swapped[1].replace(b"0.2", b"0.\xff")
    predictions.write_bytes(b"\n".join(swapped))
    assert "RDOD2-025: confidence" in errors(root, predictions, capsys)[1][1]


def test_the_report_may_go_to_a_pipe(root):
    command = f"{sys.executable} -m drift_onset.cli score {GOLD} {EXAMPLE} --output /dev/stdout"
    done = subprocess.run(
        ["bash", "-c", f"{command} | cat"], cwd=root, capture_output=True, text=True
    )
    assert '"signature"' in done.stdout
    assert done.stderr == ""
