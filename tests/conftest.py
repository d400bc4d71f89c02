"""Every test process has its own Hugging Face caches and no network."""

import gc
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
os.environ["PIP_NO_BUILD_ISOLATION"] = "0"  # pip's way to say: build with what is installed

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the repository."""
    return ROOT


@pytest.fixture(scope="module", autouse=True)
def _loaded_by_now() -> None:
    """Put aside what is loaded: older versions of Arrow search all objects at every chunk."""
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a library that is not here, by its name; where all are meant to be, fail."""
    needed = [name for marker in item.iter_markers("needs") for name in marker.args]
    needed += ["torch"] if item.get_closest_marker("torch") else []
    for name in needed:
        if importlib.util.find_spec(name) is None:
            message = f"needs {name}, which a leg of continuous integration installs"
            (pytest.fail if os.environ.get("ALL_LIBRARIES") else pytest.skip)(message)
