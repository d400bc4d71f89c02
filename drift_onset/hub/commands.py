"""What `reasoning-drift hub` does. Each takes parsed arguments and gives an exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from drift_core.console import OK, PROBLEMS, USAGE, print_problems
from drift_core.problems import printable

if TYPE_CHECKING:
    from drift_onset.hub.build import Build


def build(args: argparse.Namespace) -> int:
    """Build the dataset and the Spaces."""
    from drift_onset.hub import build as building

    if not _is_repository("--owner", args.owner, f"{args.owner}/x"):
        return USAGE
    target = Path(args.target)
    built = building.build(Path(args.root), target, args.owner, args.wheel)
    _show(target, built)
    if built.commit is None or built.changed:
        print("not from a clean clone: `hub push` will refuse it", file=sys.stderr)
    return OK


def push(args: argparse.Namespace) -> int:
    """Check what was built, show it and, if asked to, push it."""
    from drift_onset.hub import push as pushing

    target = Path(args.target)
    built, problems = pushing.check(target)
    if built is None or problems:
        print_problems(problems)
        return PROBLEMS
    _show(target, built)
    if not args.yes:
        print("dry run, nothing was sent; with --yes it is pushed")
        return OK
    pushing.push(target, built, args.create_pr, lambda text: print(printable(text)))
    return OK


def result(args: argparse.Namespace) -> int:
    """Write the scores of a model as its repository has them."""
    from drift_onset.hub import result as results

    if not _is_repository("--model", args.model, args.model):
        return USAGE
    report = results.read(Path(args.report))
    try:
        path = results.write(report, Path(args.output), args.revision)
    except ImportError:
        print("hub result needs huggingface_hub 1.4 or newer", file=sys.stderr)
        return PROBLEMS
    print(printable(f"written: {path}"))
    upload = f"hf upload {args.model} {path} {path.parent.name}/{path.name} --create-pr"
    print(printable(f"to show it on the Hub: {upload}"))
    return OK


def _is_repository(option: str, value: str, name: str) -> bool:
    """Tell whether the Hub could have such a repository, and say so if not."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(name)
        if "/" not in name:
            raise HFValidationError("expected owner/name")
    except HFValidationError as error:
        print(printable(f"{option} {value}: {error}"), file=sys.stderr)
        return False
    return True


def _show(target: Path, built: Build) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from drift_onset.hub.push import files

    table = Table(box=box.SIMPLE_HEAD)
    for name in ("repository", "type", "files", "bytes"):
        table.add_column(name, justify="right" if name in ("files", "bytes") else "left")
    for one in built.repositories:
        found = files(target, one)
        size = sum(size for _, size in found)
        table.add_row(one.id, one.type, str(len(found)), f"{size:,}")
    Console().print(table)
    print(printable(f"in {target}"))
