"""Every code block of the documentation runs, and what it repeats of the project is true."""

import re
import shutil
import subprocess
import sys

import pytest

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
]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.M | re.S)


def blocks(root, page, language):
    found = []
    for indent, kind, body in BLOCK.findall((root / page).read_text(encoding="utf-8")):
        if kind == language:
            found.append(re.sub(f"^{indent}", "", body, flags=re.M))
    return found


@pytest.fixture(scope="module")
def clone(root, tmp_path_factory):
    target = tmp_path_factory.mktemp("docs") / "clone"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "results", "reasoning-drift-demo")
    shutil.copytree(root, target, ignore=ignored)
    return target


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(root, clone, page):
    code = "\n".join(blocks(root, page, "python"))
    assert code
    done = subprocess.run([sys.executable, "-c", code], cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["README.md", "docs/traj_eval.md"])
def test_shell_blocks_run(root, clone, page):
    """All but those that make an environment, which continuous integration runs itself."""
    commands = [block for block in blocks(root, page, "bash") if "venv" not in block]
    assert len(commands) >= 2
    bin_folder = str(next(p for p in sys.path if p.endswith("site-packages"))) + "/../../../bin"
    for block in commands:
        script = f'set -e; PATH="{bin_folder}:$PATH"\n{block}'
        done = subprocess.run(["bash", "-c", script], cwd=clone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


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
    assert heads[0] == heads[1]
    found = yaml.safe_load(heads[0])
    assert {name: found[name] for name in ("configs", "dataset_info")} == card.front_matter()
    for kind in (schema.LABELLED, schema.BLIND):
        read = datasets.Features._from_yaml_list(card.features(kind))
        assert read == schema.features(kind)


@pytest.mark.parametrize(
    "module",
    ["drift_core.strict_json", "drift_core.files", "drift_core.problems", "drift_onset"]
    + [f"drift_onset.{name}" for name in ("schema", "uncertainty", "evaluation")]
    + ["drift_core.console", "drift_core.exact", "drift_core.resampling"]
    + ["traj_eval", "traj_eval.canvas", "traj_eval.metrics", "traj_eval.schema"]
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


def test_scores_to_compare_with_are_those_of_the_data(root):
    import drift_onset
    from drift_onset import schema, typed

    gold = root / "data" / "test.csv"
    ids = typed.read(gold, schema.LABELLED)["scenario_id"].to_pylist()
    blank = ("no_drift", None, "none", "not_applicable", None)
    names = ("scenario_id", *schema.targets())
    constant = [dict(zip(names, (scenario, *blank), strict=True)) for scenario in ids]
    readme = (root / "README.md").read_text(encoding="utf-8")
    table = readme.split("## What to compare with")[1]
    for answers in (constant, root / "baseline" / "example_predictions.csv"):
        scores = drift_onset.score(gold, answers, resamples=0).scores
        row = f"| {scores.component_mean:.3f} | {scores.complete_primary_accuracy:.3f} |"
        assert row in table


def test_card_and_readme_have_one_canary(root):
    found = {
        tuple(re.findall(r"reasoning-drift-canary-[0-9a-f-]{36}", (root / page).read_text("utf-8")))
        for page in PAGES[:2]
    }
    assert len(found) == 1
    assert len(found.pop()) == 1
