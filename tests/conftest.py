"""Every test process has its own Hugging Face caches and no network."""

import importlib.util
import os
import tempfile
from pathlib import Path

import pytest

_home = tempfile.TemporaryDirectory(prefix="reasoning-drift-hf-")
os.environ["HF_HOME"] = _home.name
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
os.environ["COLUMNS"] = "100"

ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the repository."""
    return ROOT


def pytest_collection_modifyitems(config, items):
    """Deselect, and name, what needs torch where it is not installed and not asked for."""
    asked = "torch" in (config.getoption("markexpr") or "")
    if asked or importlib.util.find_spec("torch"):
        return
    left_out = [item for item in items if item.get_closest_marker("torch")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
        config.stash[_LEFT_OUT] = [item.nodeid for item in left_out]


def pytest_report_collectionfinish(config):
    """Say which tests were left out; `pytest -m torch` runs them where torch is installed."""
    names = config.stash.get(_LEFT_OUT, [])
    return [f"torch is not installed, deselected: {name}" for name in names]
