"""Every code block of the documentation runs, and what it repeats of the project is true."""

import re
import subprocess
import sys

import pytest
from clones import copied
from code_blocks import blocks

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10; pytest brings tomli there
    import tomli as tomllib

pytestmark = pytest.mark.loading

PAGES = [
    "README.md",
    "dataset_card.md",
    "metric/reasoning_state/README.md",
    "metric/denoising_trajectory/README.md",
    "docs/traj_eval.md",
    "docs/comparing.md",
    "docs/running_models.md",
    "docs/training.md",
]
# Pages whose commands run as they stand, and how many; other pages have tests of their own.
COMMANDS = {"README.md": 2, "docs/comparing.md": 6, "docs/traj_eval.md": 1}


def from_hub(block):
    """Whether a block loads from the Hub; those run in test_hub.py, on a Hub of their own."""
    return "load_dataset(" in block


def trains(block):
    """Whether a block imports what trains; those run in test_training_torch.py, where it is."""
    wanted = r"^(from|import) (torch|transformers|accelerate|examples)\b"
    return re.search(wanted, block, re.M) is not None


@pytest.fixture(scope="module")
def clone(root, tmp_path_factory):
    return copied(root, tmp_path_factory.mktemp("docs") / "clone")


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(root, clone, page):
    found = blocks(root, page, "python")
    code = "\n".join(block for block in found if not from_hub(block) and not trains(block))
    assert code
    if page in COMMANDS and page != "README.md":  # its commands make the files its code reads
        run_shell_blocks(root, clone, page)
    done = subprocess.run([sys.executable, "-c", code], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run_shell_blocks(root, clone, page):
    """Run all but those that make an environment, which continuous integration runs itself."""
    printed = ""
    bin_folder = str(next(p for p in sys.path if p.endswith("site-packages"))) + "/../../../bin"
    for block in blocks(root, page, "bash"):
        if "venv" not in block:
            script = f'set -e; PATH="{bin_folder}:$PATH"\n{block}'
            done = subprocess.run(["bash", "-c", script], cwd=clone, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            printed += done.stdout
    return printed


def test_shell_blocks_run(root, clone):
    for page, least in COMMANDS.items():
        assert len(blocks(root, page, "bash")) >= least
        printed = run_shell_blocks(root, clone, page)
        for block in blocks(root, page, "text"):
            for line in block.splitlines():
                assert line in printed


def test_the_two_commands_are_one_line_each_with_their_environment(root):
    commands = [block for block in blocks(root, "README.md", "bash") if "venv" in block]
    assert len(commands) == 2
    for block in commands:
        assert len(block.splitlines()) == 1
        assert block.startswith("python3 -m venv ")


def test_the_prediction_example_is_valid(root, tmp_path):
    from drift_onset import evaluation, schema

    example = blocks(root, "README.md", "csv")[0]
    path, gold = tmp_path / "p.csv", tmp_path / "gold.csv"
    path.write_text(example, encoding="utf-8")
    lines = (root / "data" / "test.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    gold.write_text("".join(lines[:3]), encoding="utf-8")
    assert evaluation.validate_predictions(path, gold) == (2, [])
    names = example.splitlines()[0].split(",")
    assert tuple(names) == (
        *schema.header(schema.PREDICTION),
        *schema.optional_columns(schema.PREDICTION),
    )


def test_requirements_are_those_of_the_package(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (root / "requirements.txt").read_text().split("\n")[:-1] == project["dependencies"]


def test_lowest_versions_are_the_lower_bounds(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (root / ".ci" / "lowest.txt").read_text().split("\n")
    pinned = dict(line.split("==") for line in lines if "==" in line)
    padded = {name: f"{version}.0.0" for name, version in pinned.items()}
    for requirement in project["dependencies"]:
        name, version = requirement.split(">=")
        assert padded[name].startswith(version), requirement


def test_labels_in_the_card_are_those_of_the_schema(root):
    from drift_onset import schema

    card = (root / "dataset_card.md").read_text(encoding="utf-8")
    for label in (*schema.labels("outcome_mode"), *schema.labels("repair_outcome")):
        assert label in card
    for name in (*schema.header(schema.LABELLED), "constraints", "trajectory"):
        assert f"`{name}`" in card


def test_front_matter_is_that_of_the_schema(root):
    import datasets
    import yaml

    from drift_onset import card, schema

    heads = [(root / page).read_text(encoding="utf-8").split("---\n")[1] for page in PAGES[:2]]
    found = [yaml.safe_load(head) for head in heads]
    assert found[0] == found[1]
    assert {name: found[0][name] for name in ("configs", "dataset_info")} == card.front_matter()
    for kind in (schema.LABELLED, schema.BLIND):
        read = datasets.Features._from_yaml_list(card.features(kind))
        assert read == schema.features(kind)


@pytest.mark.parametrize(
    "module",
    ["drift_core.strict_json", "drift_core.files", "drift_core.problems", "drift_onset"]
    + [f"drift_onset.{n}" for n in ("schema", "uncertainty", "evaluation", "prompt", "answers")]
    + ["drift_onset.decoding", "drift_onset.training"]
    + ["drift_core.console", "drift_core.exact", "drift_core.resampling"]
    + ["traj_eval", "traj_eval.canvas", "traj_eval.metrics", "traj_eval.schema"]
    + [f"drift_onset.comparing.{n}" for n in ("agreement", "compare", "differences", "references")]
    + ["reasoning_drift"],
)
def test_docstring_examples_run(module):
    import doctest
    import importlib

    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


def test_label_tables_of_the_card_are_the_words_of_the_schema(root):
    from drift_onset import schema

    card = (root / "dataset_card.md").read_text(encoding="utf-8")
    for field in ("outcome_mode", "mechanism_family", "repair_outcome", "correction_source"):
        for option in schema.definition(field)["oneOf"]:
            assert f"| `{option['const']}` | {option['description']} |" in card


def test_scores_to_compare_with_are_those_of_the_code(root, capsys, tmp_path):
    import drift_onset
    from drift_onset import cli

    assert cli.main(["references", "--markdown"]) == 0
    readme = (root / "README.md").read_text(encoding="utf-8")
    compared = readme.split("## What to compare with")[1]
    assert capsys.readouterr().out in compared
    rows = [line for line in compared.splitlines() if " to 0." in line]
    for line, answers in zip(rows, files_to_compare_with(root, tmp_path), strict=True):
        report = drift_onset.score(root / "data" / "test.csv", answers)
        shown = []
        for name in ("component_mean", "complete_primary_accuracy"):
            interval, value = report.uncertainty[name], getattr(report.scores, name)
            shown.append(f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})")
        assert line.split(" | ", 1)[1] == f"{' | '.join(shown)} |"


def files_to_compare_with(root, folder):
    baseline = root / "baseline"
    header, *lines = (baseline / "example_predictions.csv").read_text("utf-8").splitlines()
    constant = [f"{line.split(',')[0]},no_drift,,none,not_applicable,none,0.2" for line in lines]
    (folder / "constant.csv").write_text("\n".join([header, *constant, ""]), "utf-8")
    names = ("example_predictions.csv", "reference_predictions.csv")
    return [folder / "constant.csv", *(baseline / name for name in names)]


def test_status_block_of_the_card(root):
    """A flag is set only where the card names a command that shows it."""
    import csv

    import yaml

    from drift_onset import __version__, schema

    card = (root / "dataset_card.md").read_text(encoding="utf-8")
    status = yaml.safe_load(blocks(root, "dataset_card.md", "yaml")[0])
    assert status["version"] == __version__
    flags = {name: value for name, value in status.items() if isinstance(value, bool)}
    shown = set(re.findall(r"`(\w+)`(?=[^|\n]*\|)", card.split("| flag | shown by |")[1]))
    unset = {"known_fixed_position_shortcut"}  # shown to be absent
    assert {name for name, value in flags.items() if value} == (shown & set(flags)) - unset
    with (root / "data" / "test.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    spaces = ("outcome_mode", "mechanism_family", "repair_outcome", "correction_source")
    complete = all({row[name] for row in rows} == set(schema.labels(name)) for name in spaces)
    assert status["blind_test_label_space_complete"] is complete


def test_the_bibtex_of_the_card_is_that_of_the_package(root):
    from drift_core import CITATION

    assert blocks(root, "dataset_card.md", "bibtex") == [CITATION]


def test_card_and_readme_have_one_canary(root):
    found = {
        tuple(re.findall(r"reasoning-drift-canary-[0-9a-f-]{36}", (root / page).read_text("utf-8")))
        for page in PAGES[:2]
    }
    assert len(found) == 1
    assert len(found.pop()) == 1
