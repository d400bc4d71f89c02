"""Fast paths accept nothing that the slow ones refuse, and give the same results."""

from __future__ import annotations

import json
import math
import os
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drift_core import strict_json
from drift_core.strict_json import StrictJsonError
from drift_onset.reading import csv_chunks, json_cells, plain_json, records
from drift_onset.reading.cells import BLANK, UNREADABLE
from drift_onset.reading.records import CsvFile

# Texts -------------------------------------------------------------------------------------------

WORDS = (
    *("none", "None", "NONE ", " none", "none ", "nonee", "a", "A", "b", "B", "Straße", "STRASSE"),
    *(
        "é",
        "e\u0301",
        "İ",
        "ı",
        "",
        " ",
        "  ",
        "\t",
        "\u00a0",
        "\u2028",
        "\u0085x",
        "x\x7f",
        "\x7f",
    ),
    *('"', '","', '", "', '"]', "]", "[", "{", "}", "{}", '{"step": 1', "\\", "\\n", "\n", "\r\n"),
    *(", ", ",", ":", "null", "1", "\ufeff", "😀", "~", "!", "#", " lead", "trail ", "z|}~"),
)
texts = st.sampled_from(WORDS) | st.text('aA "\\{},é', max_size=6) | st.text(max_size=4)
simple_texts = st.text("abcXYZ ,.'", min_size=1, max_size=8)


@st.composite
def written(draw, values):
    """Write a value as JSON in one of the forms that a cell may have, sometimes spoilt."""
    value = draw(values)
    separators = draw(st.sampled_from([(", ", ": "), (",", ":"), (", ", ":"), (" ,", ": ")]))
    cell = json.dumps(value, ensure_ascii=draw(st.booleans()), separators=separators)
    if draw(st.integers(0, 5)) == 0 and cell:
        at = draw(st.integers(0, len(cell) - 1))
        piece = draw(st.sampled_from(["", " ", '"', ",", "{", "}", "\\", "\n", "0", "[", "]"]))
        cell = cell[:at] + piece + cell[at + draw(st.integers(0, 1)) :]
    if draw(st.integers(0, 9)) == 0:
        cell = (
            draw(st.sampled_from([" ", "", "\n", "\ufeff"])) + cell + draw(st.sampled_from(" \n,"))
        )
    try:
        cell.encode()
    except UnicodeEncodeError:  # no UTF-8 file can hold it
        cell = json.dumps(value)
    return cell


constraint_lists = st.lists(texts | simple_texts, max_size=5) | st.lists(simple_texts, max_size=8)
constraint_cells = written(
    constraint_lists | st.lists(st.none() | st.integers() | texts, max_size=3) | texts
)


@st.composite
def steps(draw):
    """Draw a trajectory, often with something wrong in it."""
    pieces = draw(st.lists(texts | simple_texts, max_size=5))
    items = [{"step": number, "text": text} for number, text in enumerate(pieces, 1)]
    if items and draw(st.integers(0, 2)) == 0:
        item = items[draw(st.integers(0, len(items) - 1))]
        change = draw(st.sampled_from(["number", "extra", "order", "missing", "type", "repeat"]))
        if change == "number":
            item["step"] = draw(st.sampled_from([0, 2, 3, -1, 1.0, 2.0, True, "1", None, 10**10]))
        elif change == "extra":
            item[draw(st.sampled_from(["note", "", "Step", "text "]))] = 1
        elif change == "order":
            item["step"] = item.pop("step")
        elif change == "missing":
            del item[draw(st.sampled_from(["step", "text"]))]
        elif change == "type":
            item["text"] = draw(st.sampled_from([None, 1, [], {}, {"step": 1, "text": "a"}]))
        else:
            items.append(item)
    return items


trajectory_cells = written(steps())


# JSON cells --------------------------------------------------------------------------------------


def expected_counts(name, cells):
    """Judge every cell by itself on the slow path."""
    counts, faults, values = [], [], []
    for row, cell in enumerate(cells):
        value, found = json_cells.decode(name, cell)
        counts.append(UNREADABLE if value is None else len(value))
        faults += [(row, code, message) for code, message in found]
        values.append(value or [])
    return counts, faults, values


@given(st.lists(trajectory_cells, min_size=1, max_size=6))
@settings(max_examples=250, deadline=None)
@example(['[{"step": 1, "text": "a{b"}]', '[{"step": 1, "text": "a"}, {"step": 2, "text": "}"}]'])
@example(['[{"step": 1, "text": " a"}]', '[{"step": 1, "text": "\u00a0"}]'])
@example(['[{"step": 01, "text": "a"}]', '[{"step": 1, "text": "a"}]\n', "[]", "", "[{}]"])
@example(['[{"step": 1, "text": "a"}, {"step": 1, "text": "b"}]'])
@example(['[{"step": 1, "text": "a\\q"}]', '[{"step": 1, "text": "a\\ud800"}]'])
@example(['[{"step": 1, "text": "a\\"}]', '[{"step": 1, "text": "\\u00a0"}]'])
@example(['[{"step": 1, "text": "a", "text": "b"}]', '[{"step": 1, "text": "a\x00"}]'])
def test_trajectories_are_judged_as_one_by_one(cells):
    expected, expected_faults, _ = expected_counts("trajectory", cells)
    # In the middle of a larger buffer, as a column of a slice is.
    column = pa.array(["[{{{", "é", *cells, "{"], pa.string()).slice(2, len(cells))
    counts, faults = json_cells.trajectories(column)
    assert counts.tolist() == expected
    assert faults == expected_faults


@given(st.lists(st.tuples(constraint_cells, texts, st.integers(0, 9)), min_size=1, max_size=6))
@settings(max_examples=500, deadline=None)
@example([('["a", "A"]', "a", 9), ('["a","b"]', "b", 9), ('["a", "b"]', "none", 9)])
@example([('["none "]', "none ", 9), ('["a", "NONE"]', "a", 9), ('["a\u007f"]', "a\u007f", 9)])
@example([('["a", "b", "a"]', "a", 9), ('["x, y", "z"]', "x, y", 9), ("[]", "", 9), ("", "", 9)])
@example([('["a"", "b"]', "a", 9), ('["a", "b",]', "a", 9), ('["a"] ', "a", 9), ('[""]', "", 9)])
def test_constraints_are_judged_as_one_by_one(rows):
    cells = [cell for cell, _, _ in rows]
    expected, expected_faults, values = expected_counts("constraints", cells)
    wanted = [
        # Mostly a text that is there, so that numbers are looked up.
        own[pick % len(own)] if own and pick < 7 else text
        for own, (_, text, pick) in zip(values, rows, strict=True)
    ]
    numbers = []
    for own, text in zip(values, wanted, strict=True):
        hits = [k for k, constraint in enumerate(own, 1) if constraint == text]
        numbers.append(BLANK if text == "none" else hits[0] if hits else UNREADABLE)
    quoted = {"one": pa.array(wanted, pa.string()), "two": pa.array(["none"] * len(rows))}
    counts, found, faults = json_cells.constraints(pa.array(cells, pa.string()), quoted)
    assert counts.tolist() == expected
    assert faults == expected_faults
    assert found["one"].tolist() == numbers
    assert found["two"].tolist() == [BLANK] * len(rows)


@given(trajectory_cells)
@settings(max_examples=150, deadline=None)
def test_plain_trajectories_are_faultless(cell):
    plain, counts = plain_json.trajectories(pa.array([cell]))
    if plain[0]:
        value, faults = json_cells.decode("trajectory", cell)
        assert not faults
        assert len(value) == counts[0]


@pytest.mark.parametrize("steps", [1, 2, 9, 10, 11, 99])
def test_what_json_dumps_writes_is_plain(steps):
    texts = ["First {of} all: [1], 50 % – ünïcode.", "x", "[{", "a, b"]
    trajectory = [{"step": k + 1, "text": texts[k % 4]} for k in range(steps)]
    constraints = [f"Rule {k}, with [brackets] and {{braces}}." for k in range(steps)]
    column = pa.array([json.dumps(trajectory, ensure_ascii=False)] * 3)
    plain, counts = plain_json.trajectories(column[1:])
    assert plain.tolist() == [True, True]
    assert counts.tolist() == [steps, steps]
    for separators in (None, (",", ":")):
        column = pa.array(["", json.dumps(constraints, separators=separators), "[]"])
        plain, counts, values = plain_json.constraints(column)
        assert plain.tolist() == [False, True, False]
        assert counts.tolist() == [0, steps, 0]
        assert values.to_pylist() == constraints


def test_one_changed_character_is_never_taken_for_plain():
    """Every character of a plain cell but those of the texts is needed."""
    cell = json.dumps([{"step": k + 1, "text": f"t{k}"} for k in range(11)])
    changed = [cell[:k] + "~" + cell[k + 1 :] for k in range(len(cell))]
    cut = [cell[:k] + cell[k + 1 :] for k in range(len(cell))]
    for variant in changed + cut:
        if plain_json.trajectories(pa.array([variant]))[0][0]:
            assert json_cells.decode("trajectory", variant)[1] == []
    cell = json.dumps(["one", "two", "three"])
    changed = [cell[:k] + "~" + cell[k + 1 :] for k in range(len(cell))]
    cut = [cell[:k] + cell[k + 1 :] for k in range(len(cell))]
    for variant in changed + cut:
        plain, _, values = plain_json.constraints(pa.array([variant]))
        if plain[0]:
            assert json_cells.decode("constraints", variant)[0] == values.to_pylist()


@pytest.mark.parametrize("spoilt", ["none ", "None", "NONE  ", "none"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_constraint_of_none_is_never_plain(spoilt, place):
    constraints = ["first", "second"]
    constraints.insert(place, spoilt)
    cell = json.dumps(constraints)
    counts, _, faults = json_cells.constraints(pa.array([cell]), {})
    assert json_cells.decode("constraints", cell)[1]
    assert counts.tolist() == [UNREADABLE]
    assert [code for _, code, _ in faults] == ["constraints_structure"]


@pytest.mark.parametrize("count", [1, 39, 40, 41, 60])
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_trajectories_of_any_length(count, separators):
    items = [{"step": k, "text": f"Step {k}"} for k in range(1, count + 1)]
    right = json.dumps(items, separators=separators)
    items[-1]["step"] += 1
    wrong = json.dumps(items, separators=separators)
    counts, faults = json_cells.trajectories(pa.array([right, wrong, right]))
    assert counts.tolist() == [count, UNREADABLE, count]
    assert [(row, code) for row, code, _ in faults] == [(1, "step_number")]


def test_plain_cells_are_not_parsed(monkeypatch):
    """The fast path is taken where it is meant to be; else the tests above would test nothing."""

    def refuse(name, text):
        raise AssertionError(f"parsed {text}")

    monkeypatch.setattr(json_cells, "decode", refuse)
    cells = ['["Rule one, in force.", "Rule two"]', '["a","b","c"]', '["a"]']
    quoted = {"q": pa.array(["Rule two", "c", "none"])}
    counts, numbers, faults = json_cells.constraints(pa.array(cells), quoted)
    assert counts.tolist() == [2, 3, 1]
    assert numbers["q"].tolist() == [2, 3, 0]
    assert faults == []
    cells = ['[{"step": 1, "text": "A naïve } step"}, {"step": 2, "text": "B"}]']
    counts, faults = json_cells.trajectories(pa.array(cells))
    assert counts.tolist() == [2]
    assert faults == []
    with pytest.raises(AssertionError, match="parsed"):
        json_cells.trajectories(pa.array(['[{"step": 2, "text": "A"}]']))


# CSV ---------------------------------------------------------------------------------------------

HEADER = ("one", "two", "three")
CELLS = (
    *("", "a", "NA", "null", "None", "007", " x ", "é😀", '"', '""', 'a"b', ",", "a,b", "\n"),
    *("x\ny", "\r\n", "l\r\nm", "\r", "#", "\u2028", "\ufeff", "'", "a" * 40, "\t", "\n\n\n"),
)
cell_texts = st.sampled_from(CELLS) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
)


def quote(cell, always):
    if always or any(mark in cell for mark in '",\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def line_ends(text):
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1


@st.composite
def csv_files(draw, cells=cell_texts, max_rows=14):
    """Draw a well-formed file: its bytes, its rows, and the lines on which they start."""
    rows = draw(st.lists(st.tuples(cells, cells, cells), max_size=max_rows))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    rng = random.Random(draw(st.integers(0, 2**32)))
    blanks = draw(st.sampled_from([0.0, 0.3]))
    text, lines = "", []

    def blank_lines():
        return end * rng.randint(1, 3) if rng.random() < blanks else ""

    text += blank_lines() + ",".join(HEADER) + end
    for row in rows:
        text += blank_lines()
        lines.append(1 + line_ends(text))
        text += ",".join(quote(cell, rng.random() < 0.3) for cell in row) + end
    text += blank_lines()
    if rows and not blanks and draw(st.booleans()):
        text = text[: -len(end)]
    data = text.encode("utf-8-sig" if draw(st.booleans()) else "utf-8")
    return data, rows, lines


def cells_of(tables):
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def read_fast(file):
    """Read as far as the fast reader goes; whether it came to the end."""
    tables = []
    try:
        for _, table in file._fast(lambda batch: batch.table):
            tables.append(table)
    except csv_chunks.NeedsCare:
        return tables, False
    return tables, True


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "file.csv"


@given(csv_files(), st.sampled_from([48, 100, 400, 1 << 20]), st.sampled_from([1, 3, 10_000]))
@settings(max_examples=400, deadline=None)
def test_both_csv_readers_give_the_rows(path, made, block, chunk):
    data, rows, lines = made
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_chunks, "CHUNK_BYTES", block)
        patched.setattr(records, "CHUNK_ROWS", chunk)
        file = CsvFile(path, HEADER)
        assert file.header == HEADER
        fast, complete = read_fast(file)
        assert cells_of(fast) == (rows if complete else rows[: sum(t.num_rows for t in fast)])
        # A carriage return in a cell goes the careful way, see csv_chunks.is_plain.
        # So does a chunk that begins with what Arrow would take for a byte order mark.
        assert complete or any(mark in cell for row in rows for cell in row for mark in "\r\ufeff")

        careful = list(file._careful(0))
        assert cells_of(batch.table for batch in careful) == rows
        numbers = [n for batch in careful for n in batch.records.tolist()]
        assert numbers == list(range(len(rows)))

        batches = list(file.batches())
        assert cells_of(batch.table for batch in batches) == rows
        numbers = [n for batch in batches for n in batch.records.tolist()]
        assert numbers == list(range(len(rows)))
        assert all(batch.table.schema.types == [pa.string()] * 3 for batch in batches)

        assert file.lines(range(len(rows))) == dict(enumerate(lines))
        assert file.lines({len(rows) // 2} if rows else ()) == (
            {len(rows) // 2: lines[len(rows) // 2]} if rows else {}
        )
        assert file.findings == []


def written_rows(n):
    return [(f"id {k}", f'"{k}"\nline two', "é" * (k % 9)) for k in range(n)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_many_blocks_on_the_fast_path(path, monkeypatch, end):
    rows = written_rows(500)
    body = [",".join(quote(cell, False) for cell in row) for row in rows]
    path.write_bytes((end.join([",".join(HEADER), *body]) + end).encode())
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 700)
    tables, complete = read_fast(CsvFile(path, HEADER))
    assert complete
    assert len(tables) > 10
    assert cells_of(tables) == rows


@pytest.mark.parametrize("at", [0, 1, 250, 499])
def test_a_row_may_be_larger_than_a_chunk(path, monkeypatch, at):
    rows = written_rows(500)
    rows[at] = ("large", "x" * 5000, "\n" * 50)
    body = [",".join(quote(cell, False) for cell in row) for row in rows]
    path.write_text("\n".join([",".join(HEADER), *body]), encoding="utf-8")
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 700)
    monkeypatch.setattr(records, "CHUNK_ROWS", 64)
    file = CsvFile(path, HEADER)
    tables, complete = read_fast(file)
    assert complete
    assert cells_of(tables) == rows
    batches = list(file.batches())
    assert cells_of(batch.table for batch in batches) == rows
    assert np.concatenate([batch.records for batch in batches]).tolist() == list(range(500))
    assert file.findings == []


@pytest.mark.parametrize("at", [0, 3, 250, 499])
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (b"a,b", "cell_count"),
        (b"a,b,c,d", "cell_count"),
        (b",", "cell_count"),
        (b" ", "cell_count"),
        (b"a,\xff,c", "encoding"),
        (b"a,\0,c", "nul"),
    ],
)
def test_a_fault_is_told_once_with_its_line(path, monkeypatch, at, fault, code):
    """What the fast reader had already given is neither repeated nor lost."""
    rows = written_rows(500)
    body = [",".join(quote(cell, False) for cell in row).encode() for row in rows]
    body.insert(at, fault)
    path.write_bytes(b"\n".join([",".join(HEADER).encode(), *body]))
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 700)
    monkeypatch.setattr(records, "CHUNK_ROWS", 64)
    file = CsvFile(path, HEADER)
    batches = list(file.batches())
    numbers = [number for batch in batches for number in batch.records.tolist()]
    read = list(zip(numbers, cells_of(batch.table for batch in batches), strict=True))
    # The faulty row itself may be left out or come with a mark.
    others = [number for number in range(501) if number != at]
    assert [pair for pair in read if pair[0] != at] == list(zip(others, rows, strict=True))
    assert numbers == sorted(numbers)
    assert [(f.record, f.code) for f in file.findings] == [(at, code)]
    # Every row before it takes two lines.
    assert file.lines({at}) == {at: 2 + 2 * at}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_block_may_end_within_a_line_end_of_a_cell(path, monkeypatch, end):
    rows = [("a" * (k % 7), "x\r\ny", "\r\n" * (k % 3)) for k in range(60)]
    body = [",".join(quote(cell, False) for cell in row) for row in rows]
    path.write_bytes((end.join([",".join(HEADER), *body]) + end).encode())
    for block in range(60, 110):
        monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", block)
        file = CsvFile(path, HEADER)
        assert cells_of(batch.table for batch in file.batches()) == rows, block
        assert file.findings == []


@pytest.mark.parametrize("newlines", ["\n", "\r\n", "\n\n\n"])
def test_a_file_without_rows(path, newlines):
    path.write_bytes((",".join(HEADER) + newlines).encode())
    file = CsvFile(path, HEADER)
    assert file.header == HEADER
    assert cells_of(batch.table for batch in file.batches()) == []
    assert file.findings == []


def test_progress_is_told_on_the_way(path, monkeypatch):
    rows = written_rows(300)
    body = [",".join(quote(cell, False) for cell in row) for row in rows]
    path.write_text("\n".join([",".join(HEADER), *body]), encoding="utf-8")
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 700)
    told = []
    batches = CsvFile(path, HEADER, progress=told.append).batches()
    next(batches)
    assert 0 < sum(told) < os.path.getsize(path) / 2
    rest = list(batches)
    assert len(told) > len(rest) / 2
    assert all(number >= 0 for number in told)


# Strict JSON -------------------------------------------------------------------------------------

json_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
int32 = st.integers(-(2**31) + 1, 2**31 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | int32 | finite | json_texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(json_texts, inner, max_size=4),
    max_leaves=15,
)


def same(a, b):
    """Equality that tells 1 from 1.0 and True."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return a == b


@given(json_values, st.booleans())
@settings(deadline=None)
def test_what_is_written_is_read(value, escape):
    assert same(strict_json.loads(json.dumps(value, ensure_ascii=escape)), value)
    assert same(strict_json.loads(strict_json.dumps(value)), value)
    assert same(strict_json.loads(strict_json.dumps(value, indent=2)), value)


@given(st.text(max_size=30) | st.text('[]{}":,0123456789.eE+-ntf\\u d', max_size=20))
@settings(max_examples=300, deadline=None)
@example("\ufeff[]")
@example('"\\ud800"')
@example("[1,]")
@example("-")
@example("NaN")
def test_any_text_is_read_as_json_does_or_refused(text):
    code, value = None, None
    try:
        value = strict_json.loads(text)
    except StrictJsonError as error:
        code = error.code
    if code is None:
        assert same(json.loads(text), value)
    else:
        assert code in ("json_invalid", "json_duplicate_key", "json_number", "json_depth")


@given(st.integers())
@example(2**31)
@example(-(2**31) - 1)
def test_integers_beyond_int32_are_refused(number):
    for text in (str(number), f"[{number}]"):
        if -(2**31) < number < 2**31:
            strict_json.loads(text)
        elif number != -(2**31):
            with pytest.raises(StrictJsonError) as caught:
                strict_json.loads(text)
            assert caught.value.code == "json_number"


@pytest.mark.parametrize(
    "text", ["9" * 5000, "-" + "9" * 5000, "1e999", "-1e999", "1" * 400 + ".5"]
)
def test_huge_numbers(text):
    with pytest.raises(StrictJsonError) as caught:
        strict_json.loads(f'[{{"step": {text}}}]')
    assert caught.value.code == "json_number"
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_constants_are_refused_both_ways(name):
    with pytest.raises(StrictJsonError) as caught:
        strict_json.loads(f"[{name}]")
    assert caught.value.code == "json_number"
    with pytest.raises(ValueError, match="JSON compliant"):
        strict_json.dumps([float(name.replace("Infinity", "inf"))])
    assert strict_json.loads(f'["{name}"]') == [name]


@given(st.dictionaries(json_texts, json_values, min_size=1, max_size=4), st.data())
@settings(deadline=None)
def test_duplicate_keys_are_refused_at_any_place(value, data):
    key = data.draw(st.sampled_from(sorted(value)))
    inside = json.dumps(value)[:-1] + f", {json.dumps(key)}: null}}"
    for text in (inside, f"[1, {inside}]", f'{{"outer": [{inside}]}}'):
        with pytest.raises(StrictJsonError) as caught:
            strict_json.loads(text)
        assert caught.value.code == "json_duplicate_key"


def test_keys_that_escapes_make_equal():
    with pytest.raises(StrictJsonError) as caught:
        strict_json.loads('{"a": 1, "\\u0061": 2}')
    assert caught.value.code == "json_duplicate_key"


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a": ', "}"), ('[{"a": ', "}]")])
def test_depth_is_bounded(start, end):
    levels = start.count("[") + start.count("{")
    deepest = 64 // levels
    value = strict_json.loads(start * deepest + "1" + end * deepest)
    assert json.dumps(value) == start * deepest + "1" + end * deepest
    for depth in (deepest + 1, 200_000):
        for text in (start * depth + "1" + end * depth, start * depth):
            with pytest.raises(StrictJsonError) as caught:
                strict_json.loads(text)
            assert caught.value.code == "json_depth"


def test_many_brackets_that_are_not_deep():
    flat = [[{}] for _ in range(500)]
    assert strict_json.loads(json.dumps(flat)) == flat
    quoted = ['[{"' * 200, '\\"[[' * 200, "\\"]
    assert strict_json.loads(json.dumps(quoted)) == quoted


@pytest.mark.parametrize(
    "text", ['"\\ud800"', '{"\\udfff": 1}', '["a\\udc00b"]', '"\\udc00\\ud800"']
)
def test_unpaired_surrogates_are_refused(text):
    with pytest.raises(StrictJsonError) as caught:
        strict_json.loads(text)
    assert caught.value.code == "json_invalid"
    assert strict_json.loads('"\\ud83d\\ude00"') == "😀"


def test_floats_keep_their_bits():
    for number in (0.1, 1 / 3, 5e-324, math.pi, 1.7976931348623157e308, -0.0):
        assert math.copysign(1, strict_json.loads(repr(number))) == math.copysign(1, number)
        assert strict_json.loads(strict_json.dumps(number)) == number


# Malformed CSV -----------------------------------------------------------------------------------

odd_bytes = st.text(st.sampled_from('",,"\r\n\nab\ufeff'), max_size=40)


@given(odd_bytes, st.sampled_from([3, 7, 20, 1 << 20]))
@settings(max_examples=1500, deadline=None)
def test_arrow_never_reads_what_the_csv_module_would_not(path, body, chunk):
    path.write_bytes(b"one,two,three\n" + body.encode())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csv_chunks, "CHUNK_BYTES", chunk)
        patched.setattr(csv_chunks, "PIECE_BYTES", 5)
        file = CsvFile(path, HEADER)
        tables, complete = read_fast(file)
        careful = CsvFile(path, HEADER)
        rows = cells_of(batch.table for batch in careful._careful(0))
        if complete:
            assert cells_of(tables) == rows
            assert careful.findings == []
        both = CsvFile(path, HEADER)
        assert cells_of(batch.table for batch in both.batches()) == rows
        assert [f.record for f in both.findings] == [f.record for f in careful.findings]


def test_a_lost_quotation_mark_costs_no_more_than_reading(path, monkeypatch):
    monkeypatch.setattr(csv_chunks, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(csv_chunks, "_LARGEST_ROW", 10_000)
    path.write_bytes(b'one,two,three\n"a,b,c\n' + b"a,b,c\n" * 20_000)
    seen = []
    last = csv_chunks._last_row_end
    monkeypatch.setattr(
        csv_chunks, "_last_row_end", lambda data: (seen.append(len(data)), last(data))[1]
    )
    assert [f.code for f in list_findings(CsvFile(path, HEADER))] == ["quoting"]
    assert sum(seen) < 200_000


def list_findings(file):
    list(file.batches())
    return file.findings


@pytest.mark.parametrize("cell", ['"', '""', '""""""', '"""""" ', "", "[", '["', '[""]', '[{"step'])
def test_short_cells_are_judged_and_not_fatal(cell):
    column = pa.array([cell])
    assert plain_json.trajectories(column)[0].tolist() == [False]
    assert plain_json.constraints(column)[0].tolist() == [False]


def test_quoted_texts_are_not_copied_once_a_constraint():
    many = json.dumps([f"rule {k}" for k in range(90)])
    long = "x" * 30_000_000
    counts, numbers, faults = json_cells.constraints(pa.array([many]), {"q": pa.array([long])})
    assert (counts[0], numbers["q"][0], faults) == (90, UNREADABLE, [])
