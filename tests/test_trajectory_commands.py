"""The commands over trajectories, as people type them."""

import json
import os
import sys
from pathlib import Path

import pytest
import slow_trajectories as slow

from drift_core import console
from traj_eval import evaluate_trajectories, extract, plots
from traj_eval.__main__ import main

DEMO = "examples/synthetic_demo.jsonl"


@pytest.fixture(autouse=True)
def _in_the_clone(root, monkeypatch):
    monkeypatch.chdir(root)


@pytest.fixture
def shards(tmp_path):
    folder = tmp_path / "shards"
    (folder / "more").mkdir(parents=True)
    for k, place in enumerate(("a.jsonl", "b.jsonl", "more/c.jsonl")):
        lines = [json.dumps(t) for t in slow.trajectories(k, 20)]
        (folder / place).write_text("\n".join([*lines, "", ""]))
    return folder


def test_demo_prints_the_table_and_says_that_it_is_synthetic(capsys, monkeypatch):
    for has_rich in (True, False):
        monkeypatch.setattr(console, "has_rich", lambda has_rich=has_rich: has_rich)
        assert main(["demo"]) == 0
        printed = capsys.readouterr().out
        rows = [line.split() for line in printed.splitlines()]
        assert [
            "Genuine",
            "reasoning",
            "(genuine-0..4)",
            "5",
            "1.0000",
            "4",
            "0.286",
            "0.333",
        ] in rows
        assert [
            "Rationalization",
            "(rationalization-0..4)",
            "5",
            "1.0000",
            "0",
            "0.000",
            "1.000",
        ] in rows
        assert ["Oscillation", "(oscillation-0..4)", "5", "1.0000", "7", "1.000", "0.037"] in rows
        assert "synthetic" in printed
        assert "evidence about any model" in printed


def test_run_writes_results_as_the_package_gives_them(shards, tmp_path, capsys):
    output, rows = tmp_path / "out" / "results.json", tmp_path / "rows.jsonl"
    assert main(["run", "--input", str(shards), "--output", str(output), "--seed", "4"]) == 0
    printed = capsys.readouterr().out
    assert "3 blank lines skipped" in printed
    assert " n=60 seed=4 " in printed
    many = [{**t, "id": f"{k}/{t['id']}"} for k in range(3) for t in slow.trajectories(k, 20)]
    expected = evaluate_trajectories(many, seed=4)
    found = json.loads(output.read_text(), parse_constant=pytest.fail)
    assert list(found) == ["aggregate", "groups", "trajectories", "signature"]
    assert found["aggregate"] == expected["aggregate"]
    assert found["groups"] == expected["groups"]
    assert [r["regime"] for r in found["trajectories"]] == [
        r["regime"] for r in expected["trajectories"]
    ]
    command = ["run", "--input", str(shards / "a.jsonl"), str(shards / "more")]
    command += ["--output", str(output), "--trajectories", str(rows), "--group-by", "condition"]
    assert main([*command, "--edits", "--resamples", "0"]) == 0
    less = json.loads(output.read_text())
    assert less["trajectories"] == []
    assert [group["condition"] for group in less["groups"]] == ["direct", "reasoning", None]
    assert less["aggregate"]["intervals"] == {}
    lines = list(map(json.loads, rows.read_text().splitlines()))
    assert len(lines) == less["signature"]["n"] == 40
    kept = [slow.row(t, edits=True) for k in (0, 2) for t in slow.trajectories(k, 20)]
    assert [r["answer_commitment_step"] for r in lines] == [
        r["answer_commitment_step"] for r in kept
    ]
    one = evaluate_trajectories(slow.trajectories(0, 20), group_by=[], resamples=0)
    assert main(["run", "--input", str(shards / "a.jsonl"), "--group-by", ""]) == 0
    assert f"{one['aggregate']['accuracy']:.4f}" in capsys.readouterr().out


def test_bad_input_is_told_on_stderr_and_writes_nothing(tmp_path, capsys):
    bad, output = tmp_path / "bad.jsonl", tmp_path / "results.json"
    bad.write_text('{"id": "x", "gold": null, "steps": []}\n{"id": "y"}\nnothing\n')
    for command in (
        ["run", "--input", str(bad), "--output", str(output)],
        ["validate", str(bad), DEMO],
    ):
        assert main(command) == 1
        told = capsys.readouterr()
        assert told.out == ""
        for words in (
            f"{bad}:1: x: steps: has no steps",
            f"{bad}:2: y: gold",
            f"{bad}:3: not JSON",
        ):
            assert words in told.err
        assert "problems found" in told.err
    assert not output.exists()
    assert main(["validate", str(bad), "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [p["line"] for p in found] == [1, 2, 2, 3]
    for command in (
        ["table", str(bad)],
        ["table", DEMO],
        ["plot", "components", DEMO, "--output", "x.png"],
    ):
        assert main(command) == 1
        assert "results" in capsys.readouterr().err
    gone = str(tmp_path / "gone")
    for command, expected in (
        (["run", "--input", gone], ".jsonl, .jsonl.gz, .parquet, or a folder of them"),
        (["validate", gone], ".jsonl, .jsonl.gz, .parquet, or a folder of them"),
        (["table", gone], "what `traj_eval run --output` writes"),
    ):
        assert main(command) == 1
        assert f"{gone}: is not there; expected {expected}" in capsys.readouterr().err


def test_validate_says_what_was_checked(shards, capsys):
    assert main(["validate", str(shards), DEMO]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("a.jsonl: 20 trajectories checked, 1 blank line skipped, no problems")
    assert lines[-1] == f"{DEMO}: 15 trajectories checked, no problems"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["run", "--input", DEMO, "--group-by", "colour"],
        ["run", "--input", DEMO, "--group-by", "task,task"],
        ["run", "--input", DEMO, "--engine", "ray"],
        ["run", "--input", DEMO, "--resamples", "-1"],
        ["run", "--input", DEMO, "--output", ""],
        ["extract", "--input", DEMO, "--output", "x.jsonl", "--extractor", "magic"],
        ["validate", ""],
        ["run", "--input", ""],
        ["table", ""],
        ["plot", "strips", "", "--id", "a", "--output", "x.png"],
    ],
)
def test_wrong_usage(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main(command)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "output", "endings"),
    [
        (["plot", "strips", DEMO, "--id", "genuine-0"], "p.xyz", ".pdf, .png, .svg"),
        (["plot", "components", "no-such-results.json"], "picture", ".pdf, .png, .svg"),
        (["extract", "--input", DEMO, "--extractor", "choice"], "ex.txt", ".jsonl, .jsonl.gz"),
        (["extract", "--input", DEMO, "--extractor", "choice"], "ex.gz", ".jsonl, .jsonl.gz"),
    ],
)
def test_endings_are_looked_at_first(command, output, endings, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command, "--output", output])
    assert caught.value.code == 2
    expected = f"argument --output: {output!r}, expected an ending out of {endings}\n"
    assert capsys.readouterr().err.endswith(expected)
    assert not os.path.exists(output)


def test_nothing_is_written_over_its_input(tmp_path, capsys):
    copy = tmp_path / "t.jsonl"
    copy.write_bytes(Path(DEMO).read_bytes())
    link, picture = tmp_path / "link.jsonl", tmp_path / "link.png"
    os.symlink(copy, link)
    os.symlink(copy, picture)
    for command in (
        ["run", "--input", str(copy), "--output", str(link)],
        ["run", "--input", str(copy), "--trajectories", str(copy)],
        ["run", "--input", str(copy), "--output", "same", "--trajectories", "same"],
        ["extract", "--input", str(copy), "--output", str(link), "--extractor", "choice"],
        ["plot", "strips", str(copy), "--id", "genuine-0", "--output", str(picture)],
        ["table", str(copy), "--output", str(copy)],
    ):
        assert main(command) == 2
        assert "would overwrite" in capsys.readouterr().err
    assert copy.read_bytes() == Path(DEMO).read_bytes()


def test_table_in_markdown(tmp_path, capsys):
    results, table = tmp_path / "results.json", tmp_path / "table.md"
    lines = [json.loads(line) for line in Path(DEMO).read_text().splitlines()]
    for k, t in enumerate(lines):
        t["condition"] = "a|b" if k < 12 else None
        if k == 1:
            t["steps"][-1]["verdict"] = None
        if k == 2:
            t["gold"] = None
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert main(["run", "--input", str(tmp_path / "t.jsonl"), "--output", str(results)]) == 0
    capsys.readouterr()
    assert main(["table", str(results), "--min-n", "5", "--output", str(table)]) == 0
    printed = capsys.readouterr().out
    assert printed == table.read_text()
    found = json.loads(results.read_text())["groups"][0]
    interval = found["intervals"]["accuracy"]
    assert printed.splitlines() == [
        "| Checkpoint | Task | Condition | n | Accuracy | Coverage | Conditional Accuracy | "
        "Mean Convergence Step | Notes |",
        "|---|---|---|--:|--:|--:|--:|--:|---|",
        "| synthetic | science questions | a\\|b | 12 | 0.9091 | 0.9167 | 1.0000 | "
        f"{(4 * 4 + 2 * 7) / 11:.1f} | accuracy 95 % {interval['low']:.3f} to "
        f"{interval['high']:.3f}; 1 undecided; 1 without gold |",
        "",
        "Left out, with n < 5: 1.",
    ]
    again = tmp_path / "again.json"
    again.write_bytes(results.read_bytes())
    assert main(["table", str(results), str(again)]) == 0
    assert capsys.readouterr().out.count("| synthetic | science questions | – | 3 |") == 2

    assert main(["table", str(results), "--min-n", "13"]) == 0
    told = capsys.readouterr()
    assert "Left out, with n < 13: 2." in told.out
    assert told.err == "the table has no rows: no group has 13 trajectories, the largest has 12\n"
    assert main(["table", str(results), "--min-n", "12"]) == 0
    assert capsys.readouterr().err == ""
    link = tmp_path / "link.json"
    link.symlink_to(results)
    assert main(["table", str(results), str(link)]) == 2
    assert capsys.readouterr() == ("", f"{link} is given twice\n")


def test_what_is_odd_about_the_input_is_said_beside_the_numbers(tmp_path, capsys):
    path, lines = tmp_path / "t.jsonl", []
    for source in ("canvas", "x0"):
        steps = [{"step": 0, "verdict": "A", "text": "<|mask|> A"}]
        lines.append({"id": source, "gold": "A", "source": source, "steps": steps})
    path.write_text("\n".join(map(json.dumps, lines)))
    masks = "the texts have no '[MASK]', but canvas has '<|mask|>': name it in the field `mask`"
    output = tmp_path / "r.json"
    assert main(["run", "--input", str(path), "--output", str(output)]) == 0
    told = capsys.readouterr()
    first, second = told.err.splitlines()
    assert first == f"note: {masks}"
    assert second.startswith("note: 1 of 1 groups mix the sources canvas and x0")
    assert second.endswith("--group-by model,task,condition,source")
    assert json.loads(output.read_text())["signature"]["notes"] == [
        line.removeprefix("note: ") for line in (first, second)
    ]
    command = ["run", "--input", str(path), "--group-by", "model,task,condition,source"]
    assert main(command) == 0
    assert capsys.readouterr().err == f"{first}\n"
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().err == f"note: {path}: {masks}\n"
    for k, line in enumerate(lines):
        (tmp_path / f"{k}.jsonl").write_text(json.dumps(line))
    assert main(["run", "--input", str(tmp_path / "0.jsonl"), str(tmp_path / "1.jsonl")]) == 0
    assert capsys.readouterr().err == f"{told.err}"  # as if it were one file
    assert main(["run", "--input", DEMO]) == main(["validate", DEMO]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture
def drawn(monkeypatch):
    """What the plots are given; they draw it as well."""
    calls = []
    for name in ("verdict_strips", "component_bars"):
        draw = getattr(plots, name)

        def spy(what, path, draw=draw):
            calls.append((what, path))
            draw(what, path)

        monkeypatch.setattr(plots, name, spy)
    return calls


def test_plots_are_given_what_they_draw(tmp_path, drawn, capsys):
    image = str(tmp_path / "p.png")
    strips = ["plot", "strips", DEMO, "--output", image]
    assert main([*strips, "--id", "oscillation-1", "--id", "genuine-0"]) == 0
    trajectories, path = drawn.pop()
    assert [t["id"] for t in trajectories] == ["oscillation-1", "genuine-0"]
    assert path == image
    assert main([*strips, "--id", "genuine-0", "--id", "gone", "--condition", "genuine"]) == 1
    told = capsys.readouterr().err
    assert "gone: no such trajectory [unknown_id]" in told
    assert "genuine-0" not in told
    assert main([*strips, "--id", "a", "--id", "b", "--id", "c"]) == 2
    assert main([*strips, "--id", "genuine-0", "--condition", "no"]) == 1
    expected = "genuine-0: no such trajectory of condition no; its conditions: genuine"
    assert expected in capsys.readouterr().err
    many = tmp_path / "many.jsonl"
    lines = [
        {"id": name, "gold": None, "model": model, "condition": condition, "steps": [step]}
        for name, model, conditions in (("q", "m", "abc"), ("r", "m", "ab"), ("q", "n", "aa"))
        for condition in conditions
        for step in [{"step": 0, "verdict": None, "text": ""}]
    ]
    lines[-1]["model"] = "o"
    many.write_text("\n".join(map(json.dumps, lines)))
    strips[2] = str(many)
    assert main([*strips, "--id", "q", "--id", "r"]) == 2
    most = "at most two are drawn"
    expected = f"--id: q matches 5, r matches 2; {most}: choose with --condition out of a, b, c\n"
    assert capsys.readouterr().err == expected
    assert main([*strips, "--id", "q", "--condition", "a"]) == 2
    expected = f"--id: q matches 3; {most}: give fewer ids, or a file that holds fewer of them\n"
    assert capsys.readouterr().err == expected
    assert not drawn
    assert main([*strips, "--id", "q", "--id", "r", "--condition", "b"]) == 0
    assert [(t["id"], t["condition"]) for t in drawn.pop()[0]] == [("q", "b"), ("r", "b")]
    assert main([*strips, "--id", "r"]) == 0
    assert [t["condition"] for t in drawn.pop()[0]] == ["a", "b"]
    results = str(tmp_path / "results.json")
    assert main(["run", "--input", DEMO, "--output", results]) == 0
    assert main(["plot", "components", results, "--output", image]) == 0
    found, _ = drawn.pop()
    assert found == json.loads(Path(results).read_text())


def test_a_plot_without_its_library_is_told_in_words(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    image = tmp_path / "p.png"
    strips = ["plot", "strips", DEMO, "--id", "genuine-0", "--output", str(image)]
    assert main(strips) == 1
    told = capsys.readouterr().err
    assert told == "matplotlib is not installed: pip install 'reasoning-drift[plots]'\n"
    assert not image.exists()


def test_extract_fills_in_verdicts(tmp_path, capsys, monkeypatch):
    asked, real = [], extract.extractor
    monkeypatch.setattr(extract, "extractor", lambda *of: asked.append(of) or real(*of))
    source, output = tmp_path / "t.jsonl", tmp_path / "out.jsonl.gz"
    lines = [json.loads(line) for line in Path(DEMO).read_text().splitlines()[10:]]
    bare = json.loads(json.dumps(lines))
    for t in bare:
        for step in t["steps"][1:]:
            del step["verdict"]
    source.write_text("\n".join(map(json.dumps, [*bare[:1], *bare[1:]])) + "\n\n")
    command = ["extract", "--input", str(source), "--output", str(output), "--extractor"]
    assert main([*command, "choice"]) == 0
    assert asked == [("choice", None)]
    assert capsys.readouterr().out.splitlines() == [
        f"{output}: 5 trajectories, 35 of 35 steps decided",
        "5 verdicts that the file had kept; --overwrite replaces them",
    ]
    from traj_eval import load_trajectories

    assert load_trajectories(output) == lines
    for t in bare:
        t["steps"][0]["verdict"] = "Z"
    source.write_text("\n".join(map(json.dumps, bare)))
    assert main([*command, "choice", "--overwrite"]) == 0
    assert load_trajectories(output) == lines
    assert "--overwrite" not in capsys.readouterr().out
    assert main([*command, "regex", "--pattern", "("]) == 2
    assert main([*command, "regex"]) == 2
    assert main([*command, "choice", "--pattern", "x"]) == 2
    capsys.readouterr()
    folder = ["extract", "--input", str(tmp_path), *command[3:], "choice"]
    assert main(folder) == 2
    assert f"--input: {tmp_path} is a folder, expected a file" in capsys.readouterr().err
    before = output.read_bytes()
    source.write_text('{"id": "a", "gold": null, "steps": [{"step": 0}]}\n[]\n{')
    assert main([*command, "choice"]) == 1
    told = capsys.readouterr().err
    for words in (":1: a: steps[0].text", ":2: got", ":3: not JSON"):
        assert words in told
    assert output.read_bytes() == before
    source.write_text("\n")
    assert main([*command, "choice"]) == 1
    assert "holds no trajectories" in capsys.readouterr().err


def test_progress_on_large_files(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(console, "_PROGRESS_BYTES", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    for has_rich in (True, False):
        monkeypatch.setattr(console, "has_rich", lambda has_rich=has_rich: has_rich)
        with console.progress([DEMO], "evaluating") as told:
            assert told is not None
            told(os.path.getsize(DEMO))
    assert "evaluating: 100 %" in capsys.readouterr().err


def test_the_page_says_what_the_demo_and_the_package_say(root):
    from traj_eval import demo, load_trajectories, schema
    from traj_eval.tally import AGGREGATES

    page = (root / "docs" / "traj_eval.md").read_text(encoding="utf-8")
    found = evaluate_trajectories(load_trajectories(DEMO), resamples=0)
    for row in [demo.HEADER, *demo.rows(found)]:
        assert f"| {' | '.join(row)} |" in page
    for name in (*AGGREGATES, *schema.fields(), *schema.step_fields()):
        assert f"`{name}`" in page or f'"{name}"' in page, name
