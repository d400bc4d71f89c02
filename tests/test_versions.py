"""Every line of docs/versions.md, on the version of datasets that runs this."""

import datasets
import pytest
from clones import copied
from loopback_hub import COMMIT, serving
from test_hub import DATASET, METRIC, client

pytestmark = pytest.mark.loading

COLUMN = {"3": 1, "4": 2, "5": 3}[datasets.__version__.split(".")[0]]

SAME = """
import datasets, reasoning_drift
from datasets import load_dataset
expected = reasoning_drift.load("test")
try:
    found = {call}
except RuntimeError as error:
    print("refused" if "no longer supported" in str(error) else error)
else:
    rows = list(found)
    same = rows == expected.to_list() and found.features == expected.features
    print("same" if same and len(rows) == 12 else rows[:1])
"""
WORKS = """
import evaluate, reasoning_drift
gold = reasoning_drift.load("test")
found = evaluate.load("{source}").compute(predictions=gold, references=gold)
print("works" if found["component_mean"] == 1.0 else found)
"""
BUILDER = """
import reasoning_drift
builder = reasoning_drift.ReasoningDrift(config_name="test", base_path="{clone}")
builder.download_and_prepare()
found = builder.as_dataset("test")
expected = reasoning_drift.load("test")
same = found.to_list() == expected.to_list() and found.features == expected.features
print("same" if same else found)
"""


def called(source, more=""):
    return SAME.format(call=f'load_dataset("{source}", "test", split="test"{more})')


LINES = {
    "`reasoning_drift.load(": lambda at: SAME.format(call='reasoning_drift.load("test")'),
    f'`load_dataset("{DATASET}"': lambda at: called(DATASET),
    "the same with `revision=`": lambda at: called(DATASET, f', revision="{COMMIT}"'),
    "the same with `streaming=": lambda at: called(DATASET, ", streaming=True"),
    "`load_dataset` with the path of a clone |": lambda at: called(at / "clone"),
    "`load_dataset` with the path of the folder `dataset`": lambda at: called(
        at / "hub" / "dataset"
    ),
    "`load_dataset` with the path of `reasoning_drift.py`": lambda at: called(
        at / "clone" / "reasoning_drift.py",
        ", trust_remote_code=True" if COLUMN == 1 else "",
    ),
    "`load_dataset` with the path of a clone in a folder called": lambda at: called(
        at / "reasoning_drift", ", trust_remote_code=True" if COLUMN == 1 else ""
    ),
    "`ReasoningDrift(": lambda at: BUILDER.format(clone=at / "clone"),
    f'`evaluate.load("{METRIC}")`': lambda at: WORKS.format(source=METRIC),
    "`evaluate.load` with the path": lambda at: WORKS.format(
        source=at / "clone" / "metric" / "reasoning_state"
    ),
}


@pytest.fixture(scope="module")
def places(root, tmp_path_factory):
    """A folder with a clone, the same in a folder called `reasoning_drift`, and what is built."""
    from drift_onset.hub import build

    at = tmp_path_factory.mktemp("versions")
    for name in ("clone", "reasoning_drift"):
        copied(root, at / name)
    build.build(root, at / "hub")
    return at


@pytest.fixture(scope="module")
def endpoint(places):
    repositories = {
        f"datasets/{DATASET}": places / "hub" / "dataset",
        f"spaces/{METRIC}": places / "hub" / "reasoning_state",
    }
    with serving(repositories) as address:
        yield address


def lines(root):
    text = (root / "docs" / "versions.md").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("| ")][1:]


def test_the_table_has_these_lines(root):
    starts = [[s for s in LINES if line.startswith(f"| {s}")] for line in lines(root)]
    assert starts == [[name] for name in LINES]


@pytest.mark.parametrize("start", LINES, ids=lambda text: text[:60])
def test_the_line_is_true(root, places, endpoint, tmp_path, start):
    line = next(line for line in lines(root) if line.startswith(f"| {start}"))
    promised = [cell.strip() for cell in line.strip("|").split("|")][COLUMN]
    assert client(LINES[start](places), endpoint, tmp_path).split("\n")[-2] == promised
