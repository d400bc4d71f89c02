"""Build the repositories of the Hub: the dataset, and one Space for each evaluate module."""

from __future__ import annotations

import ast
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from errno import EIO
from pathlib import Path
from typing import Any

from drift_core import __version__
from drift_core.files import write_json, write_text
from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import loads
from drift_onset import card, repository
from drift_onset.hub import DATASET, OWNER, croissant, tasks
from drift_onset.splits import splits

RECORD = "build.json"
_COPIED = ("schema.json", "manifest.json", "LICENSE", "CITATION.cff", "reasoning_drift.py")
_REQUIREMENTS = "requirements.txt"
_State = tuple[str | None, tuple[str, ...]]  # commit, files that differ from it


@dataclass(frozen=True)
class Repository:
    """A repository of the Hub and the folder that becomes it.

    Attributes:
        folder: its folder below the target.
        id: `owner/name`.
        type: `dataset` or `space`.
    """

    folder: str
    id: str
    type: str


@dataclass(frozen=True)
class Build:
    """What was built, and from which state of the clone.

    Attributes:
        version: of the package.
        commit: of the clone; None if it is no git repository.
        changed: files of the clone that differ from the commit.
        repositories: what becomes a repository.
        sha256: file below the target → checksum.
    """

    version: str
    commit: str | None
    changed: tuple[str, ...]
    repositories: tuple[Repository, ...]
    sha256: dict[str, str]


def build(root: Path, target: Path, owner: str = OWNER, wheel: bool = False) -> Build:
    """Build all repositories into a folder.

    Args:
        root: the clone.
        target: folder to make; an earlier build there is replaced, anything else is not touched.
        owner: user or organisation on the Hub.
        wheel: put a wheel of the package into each Space and require that, for as long as the
            package index has no such version.

    Raises:
        InvalidInput: the clone has problems.
        FileExistsError: the target holds something else than an earlier build.
    """
    problems = list(_check(root))
    if problems:
        raise InvalidInput(problems)
    if target.exists() and not (target / RECORD).is_file() and any(target.iterdir()):
        message = "holds something else than an earlier build; name a new or empty folder"
        raise FileExistsError(17, message, str(target))
    state = _state(root, target)  # before anything is written, perhaps into the clone
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".hub-build-", dir=target.parent) as temporary:
        made = Path(temporary) / "hub"
        built = _build(root, made, owner, wheel, state)
        if target.exists():
            target.rename(Path(temporary) / "earlier")
        made.rename(target)
    return built


def read(target: Path) -> Build:
    """Read what `build` noted.

    Raises:
        OSError: there is no such file.
        ValueError: it is no record of a build.
    """
    try:
        found: Any = loads((target / RECORD).read_text(encoding="utf-8"))
        listed = tuple(Repository(**entry) for entry in found.pop("repositories"))
        return Build(repositories=listed, changed=tuple(found.pop("changed")), **found)
    except (TypeError, KeyError, AttributeError):
        raise ValueError("is no record of a build") from None


def checksums(target: Path) -> dict[str, str]:
    """Give file → sha256 of everything built."""
    files = (path for path in sorted(target.rglob("*")) if path.is_file())
    return {
        path.relative_to(target).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path != target / RECORD
    }


def _check(root: Path) -> Iterator[Problem]:
    """Give what keeps a clone from being built."""
    if not (root / repository.MANIFEST).is_file():
        message = f"is no clone of the benchmark, it has no {repository.MANIFEST}; give --root"
        yield Problem.of_file("file_missing", root, message)
        return
    yield from repository.check(root)[1]
    modules = [path.parent for path in sorted(root.glob("metric/*/README.md"))]
    needed = [root / name for name in (*_COPIED, card.SOURCE)]
    needed += [module / name for module in modules for name in ("app.py", _REQUIREMENTS)]
    for path in needed:
        if not path.is_file():
            yield Problem.of_file(
                "file_missing", path, "is missing; a repository of the Hub needs it"
            )
    for path in sorted(root.glob("metric/*/*.py")):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            yield Problem.of_file(
                "python_invalid", path, f"is no Python: {escaped(str(error))[1:-1]}"
            )


def _build(root: Path, target: Path, owner: str, wheel: bool, state: _State) -> Build:
    listed = [Repository("dataset", f"{owner}/{DATASET}", "dataset")]
    _dataset(root, target / "dataset")
    for module in sorted(path.parent for path in root.glob("metric/*/app.py")):
        space = Repository(module.name, f"{owner}/{module.name}", "space")
        _space(root, module, target / module.name, space.id if wheel else None)
        listed.append(space)
    built = Build(__version__, *state, tuple(listed), checksums(target))
    write_json(target / RECORD, asdict(built))
    return built


def _dataset(root: Path, target: Path) -> None:
    (target / "data").mkdir(parents=True)
    for split in splits():
        for name in (split.file, split.parquet):
            shutil.copyfile(root / name, target / name)
    for name in _COPIED:
        shutil.copyfile(root / name, target / name)
    shutil.copyfile(root / card.SOURCE, target / card.CARD)
    write_json(target / "croissant.json", croissant.document(target))
    write_text(target / "eval.yaml", _yaml(tasks.document()))


def _space(root: Path, module: Path, target: Path, wheel_for: str | None) -> None:
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(module, target, ignore=ignored)
    if wheel_for:
        # A Space is installed from its requirements.txt alone, before its files are there: a
        # path would not be found, the address of the file in the Space is.
        from huggingface_hub import hf_hub_url

        name = _wheel(root, target)
        url = hf_hub_url(wheel_for, name, repo_type="space")
        write_text(target / _REQUIREMENTS, f"reasoning-drift @ {url}\n")


def _wheel(root: Path, target: Path) -> str:
    source = str(root.resolve())  # pip takes a bare name for that of a package
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(target), source]
    done = subprocess.run(command, capture_output=True, text=True)
    found = next(target.glob(f"reasoning_drift-{__version__}-*.whl"), None)
    if done.returncode or found is None:
        raise OSError(EIO, f"no wheel: {done.stderr.strip()[-500:]}", str(root))
    return found.name


def _state(root: Path, target: Path) -> _State:
    """Give the commit of a clone and the files that differ from it, but for an earlier build."""

    def git(*arguments: str) -> str | None:
        try:
            command = ["git", "-C", str(root), *arguments]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout

    commit = git("rev-parse", "HEAD")
    status = git("status", "--porcelain", "--untracked-files=normal")
    if commit is None or status is None:
        return None, ()
    changed = [line[3:] for line in status.splitlines()]
    return commit.strip(), tuple(
        name for name in changed if target.resolve() != (root / name).resolve()
    )


def _yaml(value: Any) -> str:
    import yaml

    dumper_class = type("Dumper", (yaml.SafeDumper,), {})

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    yaml.add_representer(str, text, dumper_class)
    dumped: str = yaml.dump(value, Dumper=dumper_class, sort_keys=False, allow_unicode=True)
    return dumped
