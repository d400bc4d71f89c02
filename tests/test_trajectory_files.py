"""Reading trajectory files: every form, every fault, and the fast way against the careful one."""

import gzip
import json
import random
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import jsonschema_rs
import pyarrow as pa
import pyarrow.parquet
import pytest
import slow_trajectories as slow
from hypothesis import given, settings
from hypothesis import strategies as st

from drift_core.problems import InvalidInput
from traj_eval import checks, chunks, evaluate_trajectories, io, keys, load_trajectories, schema
from traj_eval.evaluation import Options
from traj_eval.parts import Part, count, evaluate_files
from traj_eval.tally import Tally

CASES = Path(__file__).parent / "cases" / "trajectories"


def step(number=0, verdict="A", text="A", **more):
    return {"step": number, "verdict": verdict, "text": text, **more}


def one(name="a", gold="A", steps=None, **more):
    return {"id": name, "gold": gold, "steps": steps or [step()], **more}


def write(path, many, end="\n", **options):
    lines = [t if isinstance(t, str) else json.dumps(t, **options) for t in many]
    path.write_text("".join(line + end for line in lines), encoding="utf-8", newline="")
    return path


def problems_of(path):
    with pytest.raises(InvalidInput) as caught:
        load_trajectories(path)
    return list(caught.value.problems)


# --- public failure cases -----------------------------------------------------------------------


def test_masks_that_come_back_stay_or_stand_elsewhere():
    """SJTU-DENG-Lab/Diffulex#39, ML-GSAI/LLaDA#27."""
    rows = evaluate_trajectories(load_trajectories(CASES / "masks.jsonl"))["trajectories"]
    found = {row["id"]: row for row in rows}
    assert {name: row["answer_commitment_step"] for name, row in found.items()} == {
        "remasked": 4,
        "masked-at-end": None,
        "mask-in-reasoning": 1,
    }
    assert found["remasked"]["flip_rate"] == 0.0
    assert found["masked-at-end"]["verdict_convergence_step"] is None


def test_a_single_step():
    """UKGovernmentBEIS/inspect_ai#4421."""
    found = evaluate_trajectories(load_trajectories(CASES / "single_step.jsonl"))
    row = found["trajectories"][0]
    assert (row["verdict_convergence_step"], row["flip_rate"]) == (0, 0.0)
    assert row["step_consistency"] == 1.0
    json.loads(found.to_json(), parse_constant=pytest.fail)


def test_no_steps():
    """UKGovernmentBEIS/inspect_ai#4421."""
    (problem,) = problems_of(CASES / "no_steps.jsonl")
    assert (problem.line, problem.scenario_id, problem.code) == (1, "empty", "no_steps")


def test_the_line_of_a_bad_line():
    """openai/evals#259."""
    (problem,) = problems_of(CASES / "bad_line_4.jsonl")
    assert problem.line == 4
    assert "line 1" not in problem.message
    assert "one object per line" in problem.message


def test_json_over_several_lines():
    """openai/evals#259."""
    (problem,) = problems_of(CASES / "pretty_printed.jsonl")
    assert "one object per line" in problem.message


def test_line_ends_of_windows_and_a_blank_last_line():
    """HASwitchPlate/openHASP#787."""
    path = CASES / "crlf_and_final_blank.jsonl"
    assert b"\r\n" in path.read_bytes()
    assert [t["id"] for t in load_trajectories(path)] == ["ok", "ok2"]
    _, blank, _ = evaluate_files([str(path)], Options(resamples=0))
    assert blank == 1


# --- faults ---------------------------------------------------------------------------------------

SPAN = {"tokens": [[7, 0, 0]], "mask_id": 0, "answer_span": [2, 3], "prompt_length": 1}
TWO = [step(0), step(1)]
FAULTS = {
    "verdict that is a number": (
        one(steps=[step(verdict=4)]),
        ("steps[0].verdict", 'got 4, a number; expected text or null: write it as text, "4"'),
    ),
    "steps out of order": (
        one(steps=[step(0), step(32), step(16)]),
        ("steps[2].step", "step 16 comes after step 32", "sort the steps"),
    ),
    "step twice": (one(steps=[step(3), step(3)]), ("steps[1].step", "step 3 is there twice")),
    "negative step": (one(steps=[step(-1)]), ("steps[0].step", "expected 0 to 2147483647")),
    "step as text": (one(steps=[step("1")]), ("steps[0].step", "expected a whole number")),
    "step as truth": (one(steps=[step(True)]), ("steps[0].step", "expected a whole number")),
    "step with a fraction": (one(steps=[step(1.0)]), ("steps[0].step", "expected a whole number")),
    "no verdict": (one(steps=[{"step": 0, "text": ""}]), ("steps[0].verdict", "traj_eval extract")),
    "no text": (one(steps=[{"step": 0, "verdict": None}]), ("steps[0].text", "is missing")),
    "no gold": ({"id": "a", "steps": [step()]}, ("gold", "write null where there is none")),
    "gold that is a number": (one(gold=3), ("gold", "expected text or null")),
    "empty id": (one(""), ("id", "is empty")),
    "misspelt field": (
        one(steps=[step(answer_maskd=True)]),
        ("steps[0].answer_maskd", "did you mean `answer_masked`?"),
    ),
    "unknown field": (one(colour="red"), ("colour", "is no field of the format")),
    "unknown source": (one(source="x1"), ("source", 'expected "canvas" or "x0"')),
    "empty verdict": (
        one(steps=[step(verdict="")]),
        ("steps[0].verdict", "is empty; expected text; write null where there is none"),
    ),
    "empty gold": (one(gold=""), ("gold", "is empty", "write null")),
    "canvas in a step": (
        one(steps=[step(tokens=[1, 2])]),
        ("steps[0].tokens", "is no field of a step; put `tokens` beside `steps`"),
    ),
    "canvas of nothing": (
        one(**{**SPAN, "tokens": [[]], "prompt_length": 0}),
        ("tokens[0]", "is empty; expected one token or more"),
    ),
    "negative token": (
        one(**{**SPAN, "tokens": [[7, -1, 0]]}),
        ("tokens[0][1]", "got -1; expected 0 to 2147483647"),
    ),
    "negative mask": (one(**{**SPAN, "mask_id": -1}), ("mask_id", "got -1; expected at least 0")),
    "canvas without its mask, by null": (
        one(**{**SPAN, "mask_id": None}),
        ("mask_id", "is missing; `tokens` says nothing without it"),
    ),
    "mask without a canvas, by null": (
        one(**{**SPAN, "tokens": None}),
        ("tokens", "is missing; `mask_id`", "`answer_span`", "`prompt_length`"),
    ),
    "empty mask": (one(mask=""), ("mask", "is empty")),
    "fields in some steps only": (
        one(steps=[step(0, answer_masked=True), step(1)]),
        ("steps[1].answer_masked", "in some steps and not in others", "steps[0] and steps[1]"),
    ),
    "null in some steps only": (
        one(steps=[step(0, reasoning_committed=0.5), step(1, reasoning_committed=None)]),
        ("steps[1].reasoning_committed", "in some steps and not in others"),
    ),
    "null among truths": (
        one(steps=[step(0, answer_masked=None), step(1, answer_masked=True)]),
        ("steps[1].answer_masked", "in some steps and not in others"),
    ),
    "share above one": (
        one(steps=[step(reasoning_committed=1.5)]),
        ("steps[0].reasoning_committed", "expected 0 to 1"),
    ),
    "truth as a share": (
        one(steps=[step(reasoning_committed=True)]),
        ("steps[0].reasoning_committed", "expected a number or null"),
    ),
    "number as truth": (
        one(steps=[step(answer_masked=1)]),
        ("steps[0].answer_masked", "expected true or false or null"),
    ),
    "canvas that changes its length": (
        one(steps=TWO, **{**SPAN, "tokens": [[7, 0, 0], [7, 0]]}),
        ("tokens[1]", "has 2 tokens where tokens[0] has 3", "pad it"),
    ),
    "too few canvases": (
        one(steps=TWO, **SPAN),
        ("tokens", "has 1 canvases for 2 steps; expected one a step"),
    ),
    "answer span outside": (
        one(**{**SPAN, "answer_span": [2, 4]}),
        ("answer_span", "got [2, 4]", "start < end ≤ 3"),
    ),
    "answer span in the prompt": (one(**{**SPAN, "answer_span": [0, 2]}), ("answer_span", "1 ≤")),
    "answer span of nothing": (one(**{**SPAN, "answer_span": [2, 2]}), ("answer_span",)),
    "answer span of three": (
        one(**{**SPAN, "answer_span": [1, 2, 3]}),
        ("answer_span", "has 3 items; expected 2"),
    ),
    "prompt beyond the canvas": (one(**{**SPAN, "prompt_length": 4}), ("prompt_length", "got 4")),
    "tokens that are no numbers": (
        one(**{**SPAN, "tokens": [[7, "x", True]]}),
        ("tokens[0][1]", "expected a whole number"),
    ),
    "canvas without its mask": (
        one(tokens=[[1]], answer_span=[0, 1]),
        ("mask_id", "is missing; `tokens` says nothing without it"),
    ),
    "span without a canvas": (
        one(answer_span=[0, 1]),
        ("tokens", "is missing", "put `tokens`, one list of token ids a step, beside `steps`"),
    ),
    "list of trajectories": ([one()], ("got", "one trajectory a line")),
    "text": ('"just text"', ("text; expected an object",)),
    "not JSON": ('{"id": "a", gold: 1}', ("not JSON", "at character 13")),
    "NaN": (
        '{"id": "a", "gold": null, "steps": [{"step": 0, "verdict": null, "text": "", '
        '"reasoning_committed": NaN}]}',
        ("NaN is not a JSON number",),
    ),
    "key twice": (
        '{"id": "a", "gold": "A", "steps": [{"step": 0, "verdict": "A", "verdict": "B", '
        '"text": ""}]}',
        ("duplicate key 'verdict'",),
    ),
    "key twice, with an escape and blanks": (
        '{"id": "a", "gold": "A", "gold" : "B", '
        '"steps": [{"step": 0, "verdict"\t: "A", "text": ""}]}',
        ("duplicate key 'gold'",),
    ),
    "lone surrogate": (
        '{"id": "a", "gold": null, "steps": [{"step": 0, "verdict": null, "text": "\\ud800"}]}',
        ("unpaired surrogate",),
    ),
    "deep": ("[" * 5000 + "]" * 5000, ("nested deeper",)),
    "huge number": (one(steps=[step(10**30)]), ("beyond 32 bits",)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_told_with_its_place(name, tmp_path):
    bad, words = FAULTS[name]
    path = write(tmp_path / "t.jsonl", [one("good"), bad, one("also good")])
    found = problems_of(path)
    text = "\n".join(map(str, found))
    assert {problem.line for problem in found} == {2}
    assert text.startswith(f"{path}:2: ")
    for word in words:
        assert word in text
    if isinstance(bad, dict) and bad["id"] and name != "huge number":
        assert {problem.scenario_id for problem in found} == {"a"}
    alone = problems_of(write(tmp_path / "alone.jsonl", [bad]))  # unlike nothing around it
    assert [(p.code, p.column) for p in alone] == [(p.code, p.column) for p in found]
    if isinstance(bad, dict):
        with pytest.raises(InvalidInput) as caught:
            evaluate_trajectories([one("good"), bad])
        in_memory = [(p.code, p.column, p.line) for p in caught.value.problems]
        if name != "huge number":  # told by the parser; in memory by its range
            assert in_memory == [(p.code, p.column, 1) for p in found]


def test_all_faults_of_all_files_come_at_once(tmp_path):
    bad = [fault for fault, _ in FAULTS.values()]
    first = write(tmp_path / "a.jsonl", [one("good"), *bad])
    second = write(tmp_path / "b.jsonl", [*bad, ""])
    found = problems_of(tmp_path)
    assert {p.line for p in found if p.file == str(first)} == set(range(2, 2 + len(bad)))
    assert {p.line for p in found if p.file == str(second)} == set(range(1, 1 + len(bad)))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(one()).encode() + b"\n" + b'{"id": "\x92"}\n')
    (problem,) = problems_of(path)
    assert (problem.line, problem.code) == (2, "not_utf8")
    assert "byte 0x92 at character 9" in problem.message


def test_the_same_trajectory_twice(tmp_path):
    many = [one("a"), one("b"), one("a", condition="x"), one("a"), one("b")]
    found = problems_of(write(tmp_path / "t.jsonl", many))
    assert [(p.line, p.scenario_id) for p in found] == [(4, "a"), (5, "b")]
    assert "in line 1" in found[0].message
    # In another file it may be another run.
    write(tmp_path / "t.jsonl", many[:3])
    write(tmp_path / "u.jsonl", many[:3])
    assert len(load_trajectories(tmp_path)) == 6


def test_files_that_are_not_what_they_seem(tmp_path):
    empty = write(tmp_path / "empty.jsonl", ["", " "])
    assert [p.code for p in problems_of(empty)] == ["no_trajectories"]
    whole = gzip.compress("\n".join(json.dumps(one(f"t{k}")) for k in range(5000)).encode())
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    assert problems_of(cut)[0].code == "gzip"
    assert "cut off" in problems_of(cut)[0].message
    (problem,) = problems_of(cut)
    good = zlib.decompressobj(wbits=31).decompress(cut.read_bytes()).count(b"\n")
    assert problem.line == good > 1000
    assert f"after line {good}, the last whole one" in problem.message
    (raw,) = (value for _, value in io.raw_values(str(cut)) if not isinstance(value, dict))
    assert raw == problem
    cut.write_bytes(whole[:-8] + bytes(8))
    assert "not a sound gzip file (CRC" in problems_of(cut)[0].message
    assert problems_of(cut)[0].line == 4999  # the end of the last one may be lost
    cut.write_bytes(whole[:4])
    assert (problems_of(cut)[0].line, problems_of(cut)[0].code) == (None, "gzip")
    cut.write_bytes(b"no gzip at all")
    assert "not a sound gzip file" in problems_of(cut)[0].message
    table = tmp_path / "t.parquet"
    table.write_bytes(b"no parquet")
    assert "not a sound Parquet file" in problems_of(table)[0].message
    folder = tmp_path / "nothing"
    folder.mkdir()
    found = problems_of([folder, tmp_path / "gone.jsonl", empty, empty])
    assert [p.code for p in found] == ["no_files", "no_file", "same_file"]
    expected = "is not there; expected .jsonl, .jsonl.gz, .parquet, or a folder of them"
    assert str(found[1]) == f"{tmp_path / 'gone.jsonl'}: {expected} [no_file]"
    assert str(problems_of([""])[0]) == f"'': {expected} [no_file]"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_two_bytes_a_character_are_told_once(tmp_path, encoding, monkeypatch):
    text = "".join(json.dumps(one(f"t{k}")) + "\n" for k in range(50))
    path = tmp_path / "t.jsonl"
    path.write_bytes(text.encode(encoding))
    (problem,) = problems_of(path)
    assert (problem.code, problem.line) == ("utf_16", None)
    assert "save the file as UTF-8" in problem.message
    assert [value for _, value in io.raw_values(str(path))] == [problem]
    monkeypatch.setattr("traj_eval.parts.PART_BYTES", 300)
    with pytest.raises(InvalidInput) as caught:
        evaluate_files([str(path)], Options())
    assert list(caught.value.problems) == [problem]


def test_problems_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(io, "MAX_PROBLEMS", 5)
    path = write(tmp_path / "t.jsonl", ["{}"] * 40)
    found = problems_of(path)
    assert [p.code for p in found[:5]] == ["missing_field"] * 5
    assert "115 more problems" in found[5].message  # three of each of 40 lines, less five


# --- forms ------------------------------------------------------------


def nulls_dropped(value):
    if isinstance(value, dict):
        keep = ("gold", "verdict")
        return {k: nulls_dropped(v) for k, v in value.items() if v is not None or k in keep}
    return [nulls_dropped(v) for v in value] if isinstance(value, list) else value


def test_every_form_of_file_gives_the_same(tmp_path):
    many = slow.trajectories(1, 120)
    plain = write(tmp_path / "t.jsonl", many)
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    marked = tmp_path / "bom.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n\n"))
    escaped = write(tmp_path / "escaped.jsonl", many, ensure_ascii=False, separators=(" , ", " : "))
    table = tmp_path / "t.parquet"
    names = ("id", "gold", "model", "condition", "mask", "steps")
    columns = {name: [t.get(name) for t in many] for name in names}
    pa.parquet.write_table(pa.table(columns), table, row_group_size=50)
    expected = evaluate_trajectories(many, resamples=10)
    hashes = set()
    for path in (plain, packed, marked, escaped, table):
        assert nulls_dropped(load_trajectories(path)) == nulls_dropped(many)
        found, blank, rows = evaluate_files(
            [str(path)], Options(resamples=10), rows_in=str(tmp_path)
        )
        assert found["aggregate"] == expected["aggregate"]
        assert found["groups"] == expected["groups"]
        assert blank == (120 if path == marked else 0)
        text = Path(rows[0]).read_text(encoding="utf-8")
        assert list(map(json.loads, text.splitlines())) == expected["trajectories"]
        Path(rows[0]).unlink()
        hashes.add(found["signature"]["input_sha256"])
        if path in (plain, packed):
            assert len(hashes) == 1  # of the lines, packed or not
    assert len(hashes) == 4


def test_null_in_an_optional_field_is_the_same_as_leaving_it_out(tmp_path):
    optional = [k for k in schema.fields() if k not in schema.document()["required"]]
    canvas = {k: v for k, v in SPAN.items() if k != "prompt_length"}
    bare = [one("a"), one("b", **canvas)]
    nulls = [{**dict.fromkeys(optional), **t} for t in bare]
    nulls[0]["steps"] = [{**dict.fromkeys(schema.step_fields()), **s} for s in nulls[0]["steps"]]
    full = jsonschema_rs.validator_for(schema.document())
    expected = evaluate_trajectories(bare, resamples=0)
    for name in optional:
        assert full.is_valid(one(**{name: None}))
        assert (
            evaluate_trajectories([{**bare[0], name: None}, bare[1]], resamples=0)["trajectories"]
            == (expected["trajectories"])
        )
    for many in (nulls, [nulls[0]], [nulls[1]]):
        assert all(map(full.is_valid, many))
        path = write(tmp_path / "t.jsonl", many)
        found = evaluate_files([str(path)], Options(resamples=0), rows_in=str(tmp_path))
        rows = [json.loads(line) for line in Path(found[2][0]).read_text().splitlines()]
        ids = [t["id"] for t in many]
        assert rows == [row for row in expected["trajectories"] if row["id"] in ids]
    nulls[0]["steps"] = bare[0]["steps"]
    for many in ([nulls[0]], [nulls[1]]):  # at full speed
        assert chunks._at_once([(json.dumps(t) + "\n").encode() for t in many]) is not None


def test_the_lines_on_the_page_are_valid_and_say_what_it_says(root):
    page = (root / "docs" / "traj_eval.md").read_text(encoding="utf-8")
    texts, canvas = map(json.loads, re.findall(r"^```json\n(.*?)^```$", page, re.M | re.S))
    for t in (texts, canvas):
        assert not schema.faults(t)
    (derived,) = chunks.of_values([canvas], [1], "page").trajectories
    assert [s["answer_masked"] for s in derived["steps"]] == [True, False, False]
    assert [s["reasoning_committed"] for s in derived["steps"]] == [0.0, 0.5, 1.0]
    assert evaluate_trajectories([texts])["aggregate"]["mean_unwritten_reasoning"] == 0.5


def test_a_canvas_says_what_is_masked():
    steps = [step(k, None if k < 2 else "9") for k in range(4)]
    tokens = [[5, 0, 0, 0, 0], [5, 8, 0, 0, 0], [5, 8, 0, 9, 0], [5, 8, 8, 9, 9]]
    canvas = one(
        steps=steps, gold="9", tokens=tokens, mask_id=0, answer_span=[3, 4], prompt_length=1
    )
    row = evaluate_trajectories([canvas])["trajectories"][0]
    assert row["answer_commitment_step"] == 2
    assert row["unwritten_reasoning_at_convergence"] == 1 - 1 / 3
    kept = [{**s, "answer_masked": True} for s in steps]
    assert (
        evaluate_trajectories([{**canvas, "steps": kept}])["trajectories"][0][
            "answer_commitment_step"
        ]
        is None
    )  # what the steps say themselves is kept
    whole = {**canvas, "answer_span": [1, 5]}
    assert (
        evaluate_trajectories([whole])["trajectories"][0]["unwritten_reasoning_at_convergence"]
        is None
    )  # no reasoning outside the span
    assert "answer_masked" not in steps[0]


@pytest.mark.parametrize("canvases", ["all", "some"])
def test_canvases_from_a_file(tmp_path, canvases):
    rng = random.Random(4)
    many = []
    for k in range(40):
        t = slow.trajectory(rng, f"t{k}", optional=False)
        if canvases == "all" or k % 2:
            tokens = [[rng.choice((0, 0, 5, 600)) for _ in range(9)] for _ in t["steps"]]
            t.update(tokens=tokens, mask_id=0, answer_span=[6, 8], prompt_length=rng.choice((0, 2)))
        many.append(t)
    path = write(tmp_path / "t.jsonl", many)
    found = load_trajectories(path)
    for t, read in zip(many, found, strict=True):
        for k, row in enumerate(t.get("tokens", ())):
            s = read["steps"][k]
            outside = [row[i] for i in range(t["prompt_length"], 9) if i not in (6, 7)]
            assert s["answer_masked"] == (0 in row[6:8])
            assert s["reasoning_committed"] == sum(x != 0 for x in outside) / len(outside)
    expected = evaluate_trajectories(many, resamples=0)
    assert evaluate_files([str(path)], Options(resamples=0))[0]["groups"] == expected["groups"]


# --- the fast way and the careful one ------------------------------------------------------------


def planted(rng):
    """A line of a file: a good trajectory, mostly, with something done to it."""
    t = slow.trajectory(rng, f"t{rng.randint(0, 10**6)}")
    kind = rng.randint(0, 9)
    s = rng.choice(t["steps"])
    values = [None, True, 1, 0, 0.5, 1.0, -1, 2**40, "", "x", [], {}, float("inf")]
    if kind == 0:
        s[rng.choice([*schema.step_fields(), "other"])] = rng.choice(values)
    elif kind == 1:
        t[rng.choice([*schema.fields(), "other"])] = rng.choice(values)
    elif kind == 2:
        s.pop(rng.choice(list(s)))
    elif kind == 3:
        rng.shuffle(t["steps"])
    elif kind == 8:
        n = len(t["steps"]) + (rng.random() < 0.1)
        tokens = [[rng.randint(0, 3) for _ in range(5)] for _ in range(n)]
        if rng.random() < 0.2:
            rng.choice(tokens)[rng.randint(0, 4)] = rng.choice(values)
        start, end = rng.randint(1, 4), rng.randint(3, 5)
        t.update(tokens=tokens, mask_id=0, answer_span=[start, end], prompt_length=1)
    text = json.dumps(t, ensure_ascii=rng.random() < 0.5)
    if kind == 4:
        text = text.replace('"verdict": ', '"verdict" : ')
    elif kind == 5:
        text = text.replace('"text":', '"text": "", "text":', 1)
    elif kind == 6:
        text = text.replace('"text": "', '"text": "he said \\"a\\": b : c!: ', 1)
    elif kind == 7:
        text = rng.choice(["", " ", text[:-1], "null", "[]", "{}", text + text])
    return text


def test_what_is_trusted_is_valid_and_read_alike():
    """Whatever the fast way takes without a closer look has no fault, and comes out the same."""
    rng, trusted = random.Random(0), 0
    for _ in range(1500):
        lines = [(planted(rng) + "\n").encode() for _ in range(rng.choice((1, 1, 2, 4)))]
        careful, faulty = [], False
        for line in lines:
            if line.isspace():
                continue
            value, problem = keys.parse(line, "f", 1)
            faulty |= problem is not None or bool(checks.problems(value, "f", 1))
            careful.append(value)
        chunk = chunks.of_lines(lines, 1, "f")
        assert bool(chunk.problems) == faulty, lines
        filled = [line for line in lines if not line.isspace()]
        fast = chunks._at_once(filled) if filled else None
        if fast is not None:
            trusted += 1
            assert not faulty
            for read, value in zip(fast[0], careful, strict=True):
                assert {**read, "steps": 0} == {**value, "steps": 0}
                for s, said in zip(read["steps"], value["steps"], strict=True):
                    assert s == {**said, **{k: s[k] for k in s if said.get(k) is None}}
    assert trusted > 300


def test_plain_files_take_the_fast_way(tmp_path):
    """The speed of everything hangs on it."""
    for ascii_only in (True, False):
        many = [slow.trajectory(random.Random(k), f"t{k}", optional=True) for k in range(50)]
        lines = [(json.dumps(t, ensure_ascii=ascii_only) + "\n").encode() for t in many]
        assert chunks._at_once(lines) is not None


@given(st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_the_schema_is_read_as_a_full_implementation_reads_it(seed):
    rng = random.Random(seed)
    text = planted(rng)
    try:
        value = json.loads(text)
    except ValueError:
        return
    if "Infinity" in text or any(k in text for k in ("1.0", "1099511627776")):
        return  # 1.0 is a whole number to JSON Schema, not to us
    full = jsonschema_rs.validator_for(schema.document())
    assert full.is_valid(value) == (not schema.faults(value))


def test_keys_are_counted_exactly():
    line = b'{"a" : "x\\": y : z!:", "b\\"": {"c"\t:1}, "d":[{"e": "\\\\"}]}\n'
    assert keys.are_unique([line], 5)
    assert not keys.are_unique([line], 4)
    assert keys.are_unique([b"{}\n"], 0)


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_every_way_to_cut_a_file_gives_every_line_once(tmp_path, end, monkeypatch):
    many = [one(f"t{k}", steps=[step(text="x" * (k % 4))]) for k in range(5)]
    path = str(write(tmp_path / "t.jsonl", many, end))
    size = Path(path).stat().st_size
    whole = count(Part(path, Options()))
    for chunk_bytes in (7, 150, 1 << 18):
        monkeypatch.setattr(io, "CHUNK_BYTES", chunk_bytes)
        for cut in range(1, size, 1 if chunk_bytes == 150 else 17):
            first = count(Part(path, Options(), 0, cut))
            second = count(Part(path, Options(), cut, size))
            assert len(first.seen) + len(second.seen) == 5
            assert first.n_lines + second.n_lines == whole.n_lines
            assert first.blank + second.blank == whole.blank
            merged = first.tally + second.tally
            assert merged.total is not None
            assert merged.total.n == 5


def test_lines_are_counted_on_from_part_to_part(tmp_path, monkeypatch):
    monkeypatch.setattr("traj_eval.parts.PART_BYTES", 300)
    bad = one("bad", steps=[step(verdict=1)])
    many = [*(one(f"t{k}") for k in range(20)), bad, one("t3"), "", "{"]
    path = write(tmp_path / "t.jsonl", many)
    assert len(__import__("traj_eval.parts").parts.split(str(path), Options())) > 5
    with pytest.raises(InvalidInput) as caught:
        evaluate_files([str(path)], Options())
    assert [(p.line, p.code) for p in caught.value.problems] == [
        (21, "type"),
        (24, "json_invalid"),
        (22, "duplicate_id"),
    ]


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_processes_and_cluster_give_the_numbers_of_one_process(tmp_path, engine, monkeypatch):
    folder = tmp_path / "shards"
    folder.mkdir()
    for k in range(3):
        write(folder / f"s{k}.jsonl", slow.trajectories(k, 60))
    paths = io.files(folder)
    options = Options(resamples=50)
    expected, _, _ = evaluate_files(paths, options)
    monkeypatch.setattr("traj_eval.parts.PROCESSES_FROM", 0)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    _, _, rows = evaluate_files(paths, options, rows_in=str(tmp_path / "one"))
    told = []
    found, _, others = evaluate_files(
        paths,
        options,
        engine=engine,
        processes=2,
        rows_in=str(tmp_path / "two"),
        on_bytes=told.append,
    )
    assert found.to_dict() == expected.to_dict()
    assert sum(told) == sum(Path(path).stat().st_size for path in paths)
    assert [Path(p).read_text() for p in others] == [Path(p).read_text() for p in rows]
    whole = [t for path in paths for t in load_trajectories(path)]
    renamed = [{**t, "id": f"{k}"} for k, t in enumerate(whole)]
    assert evaluate_trajectories(renamed, resamples=50)["groups"] == expected["groups"]


def test_merging_nothing():
    assert (Tally({}) + Tally({})).total is None


# --- nothing but numpy ------------------------------------------------------------

_ALONE = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        allowed = sys.stdlib_module_names | {"numpy", "drift_core", "traj_eval", "sitecustomize"}
        if name.split(".")[0] not in allowed and not name.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from traj_eval.__main__ import main
from traj_eval.io import load_trajectories
from traj_eval.metrics import evaluate_trajectories
assert main(["demo"]) == 0
assert main(["run", "--input", "examples/synthetic_demo.jsonl", "--output", sys.argv[1]]) == 0
trajs = load_trajectories("examples/synthetic_demo.jsonl")
results = evaluate_trajectories(trajs)
print(results["aggregate"])
print(main(["validate", sys.argv[2]]), main(["run", "--input", sys.argv[2], "--engine", "dask"]))
outside = {m.split(".")[0] for m in sys.modules} - sys.stdlib_module_names
print(sorted(m for m in outside if not m.startswith(("_", "cython"))))
"""


def test_the_quickstart_needs_numpy_alone(root, tmp_path):
    """And gives the same without orjson as with it."""
    table = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.Table.from_pylist([one()]), table)
    command = [sys.executable, "-c", _ALONE, str(tmp_path / "results.json"), str(table)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *_, aggregate, codes, modules = done.stdout.splitlines()
    assert modules == "['drift_core', 'numpy', 'traj_eval']"
    assert codes == "1 1"
    assert "needs pyarrow: pip install pyarrow" in done.stderr
    assert "pip install 'reasoning-drift[dask]'" in done.stderr
    assert "Genuine reasoning (genuine-0..4)" in done.stdout
    from traj_eval import demo

    expected, _, rows = evaluate_files([str(demo.path())], Options(), rows_in=str(tmp_path))
    assert aggregate == str(expected["aggregate"])
    written = json.loads((tmp_path / "results.json").read_text())
    lines = Path(rows[0]).read_text().splitlines()
    assert written == {**expected.to_dict(), "trajectories": list(map(json.loads, lines))}


def test_both_parsers_tell_the_same(tmp_path, monkeypatch):
    bad = [fault for fault, _ in FAULTS.values()]
    path = write(tmp_path / "t.jsonl", [one("good"), *bad])
    expected = problems_of(path)
    monkeypatch.setattr(chunks, "_loads", chunks.standard_loads)
    assert problems_of(path) == expected
    good = write(tmp_path / "good.jsonl", slow.trajectories(0, 100))
    assert load_trajectories(good) == slow.trajectories(0, 100)
    shutil.rmtree(tmp_path)
