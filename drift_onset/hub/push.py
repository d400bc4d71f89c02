"""Push what was built to the Hub, whole and from a known state only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from errno import EIO
from pathlib import Path

from drift_core import __version__
from drift_core.problems import Problem, escaped
from drift_onset import card, repository
from drift_onset.hub.build import RECORD, Build, Repository, checksums, read

_AGAIN = "run `reasoning-drift hub build` again"


def check(target: Path) -> tuple[Build | None, list[Problem]]:
    """Give what was built and every reason not to push it.

    Args:
        target: folder that `build` made.
    """
    try:
        built = read(target)
    except OSError as error:
        message = (
            f"cannot be read: {error.strerror}; expected what `reasoning-drift hub build` made"
        )
        return None, [Problem.of_file("file_missing", target / RECORD, message)]
    except ValueError as error:
        message = f"{escaped(str(error), 200)[1:-1]}; {_AGAIN}"
        return None, [Problem.of_file("json_invalid", target / RECORD, message)]
    problems = [*_state(target, built), *_files(target, built)]
    for one in built.repositories:
        if one.type == "dataset":
            problems += _dataset(target / one.folder)
    return built, problems


def push(
    target: Path, built: Build, create_pr: bool = False, say: Callable[[str], None] = print
) -> None:
    """Push each repository in one commit, the dataset first.

    Args:
        target: folder that `build` made and `check` found fit.
        built: what is in it.
        create_pr: open a pull request instead of committing to main.
        say: told the address of each commit.

    Raises:
        OSError: the Hub refuses, or cannot be reached.
    """
    for one in built.repositories:
        try:
            say(f"{one.type} {one.id}: {_upload(target, built, one, create_pr)}")
        except Exception as error:  # the client's own errors differ from version to version
            told = " ".join(str(error).split())
            raise OSError(EIO, f"{told}; {_hint(error, create_pr)}", one.id) from error


def _hint(error: Exception, create_pr: bool) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None:
        return "check the network; what is listed above was sent, this and what follows was not"
    if create_pr and status == 404:
        return "a pull request needs a repository that is there, and a login (`hf auth login`)"
    return "log in with `hf auth login` as somebody who may write there"


def _upload(target: Path, built: Build, one: Repository, create_pr: bool) -> str:
    from huggingface_hub import HfApi

    api = HfApi()
    if not create_pr:
        sdk = "gradio" if one.type == "space" else None
        api.create_repo(one.id, repo_type=one.type, space_sdk=sdk, exist_ok=True)
    done = api.upload_folder(
        repo_id=one.id,
        repo_type=one.type,
        folder_path=target / one.folder,
        commit_message=f"reasoning-drift {built.version}, {built.commit}",
        create_pr=create_pr,
    )
    return done.pr_url or done.commit_url


def files(target: Path, one: Repository) -> list[tuple[str, int]]:
    """Give the files of a repository with their bytes."""
    folder = target / one.folder
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [(path.relative_to(folder).as_posix(), path.stat().st_size) for path in found]


def _state(target: Path, built: Build) -> Iterator[Problem]:
    path = target / RECORD
    if built.version != __version__:
        message = f"built by version {built.version}, this is {__version__}; {_AGAIN}"
        yield Problem.of_file("hub_state", path, message)
    if built.commit is None:
        message = "built from a folder that is no git repository: nobody could find its source"
        yield Problem.of_file("hub_state", path, f"{message}; build it from a clone")
    if built.changed:
        listed = ", ".join(built.changed[:10])
        message = f"built from a clone with changes that are not committed ({listed})"
        yield Problem.of_file("hub_state", path, f"{message}; commit them, then {_AGAIN}")


def _files(target: Path, built: Build) -> Iterator[Problem]:
    found = checksums(target)
    for name in sorted({*found, *built.sha256}):
        if found.get(name) != built.sha256.get(name):
            kind = "is new" if name not in built.sha256 else "is missing"
            kind = "was changed" if name in found and name in built.sha256 else kind
            yield Problem.of_file("hub_state", target / name, f"{kind} since the build; {_AGAIN}")


def _dataset(folder: Path) -> Iterator[Problem]:
    yield from repository.check(folder)[1]
    for text in card.advice(folder):
        yield Problem.of_file("card_content", folder, text)
