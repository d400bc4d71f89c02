"""Copies of this repository for tests to change, build and commit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_WHO = ("-c", "user.name=Test", "-c", "user.email=test@example.org")


def copied(root: Path, target: Path) -> Path:
    """Copy the files of the repository, without what tools leave there."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "results", "reasoning-drift-demo")
    shutil.copytree(root, target, ignore=ignored)
    return target


def committed(root: Path, target: Path) -> Path:
    """Copy the repository and commit it: a clean clone."""
    copied(root, target)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", str(target), *_WHO, *arguments], check=True)
    return target
