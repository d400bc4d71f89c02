"""Every test process has its own Hugging Face caches and no network."""

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


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the repository."""
    return ROOT
