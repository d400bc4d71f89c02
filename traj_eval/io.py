"""Read trajectory files: JSON Lines, plain or compressed, Parquet, and folders of them."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from drift_core.problems import InvalidInput, Problem
from traj_eval import chunks
from traj_eval.chunks import Chunk
from traj_eval.duplicates import Identifiers

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
CHUNK_BYTES = 1 << 19
MAX_PROBLEMS = 10_000

PathLike = str | os.PathLike[str]
OnBytes = Callable[[int], None]


@dataclass
class Reader:
    """One file, read once, chunk by chunk.

    Attributes:
        path: the file.
        on_bytes: called with the number of bytes whenever some were read.
        blank: blank lines that were skipped so far.
        n: valid trajectories so far.
        problems: what was found so far, at most 10,000 and a note of how many more there are.
        sha256: of the lines, once they were all read: the same for a file and its `.gz`; for
            Parquet of the file.
    """

    path: str
    on_bytes: OnBytes | None = None
    blank: int = 0
    n: int = 0
    problems: list[Problem] = field(default_factory=list)
    sha256: str = ""

    def __iter__(self) -> Iterator[Chunk]:
        """Give the chunks, as long as nothing is wrong; what follows is read for its problems."""
        seen, more = Identifiers(self.path), 0
        for chunk in self._chunks():
            self.blank += chunk.blank
            self.n += len(chunk.trajectories)
            found = [*chunk.problems, *seen.add(chunk)]
            room = max(0, MAX_PROBLEMS - len(self.problems))
            self.problems += found[:room]
            more += len(found[room:])
            if not self.problems and chunk.layout is not None:
                yield chunk
        if more:
            self._note("more_problems", None, f"has {more} more problems, which are not listed")
        if not self.n and not self.problems:
            self._note("no_trajectories", None, "holds no trajectories; expected one a line")

    def _note(self, code: str, line: int | None, message: str) -> None:
        self.problems.append(Problem(code, self.path, line, None, None, None, message))

    def _chunks(self) -> Iterator[Chunk]:
        if self.path.endswith(".parquet"):
            from traj_eval import parquet

            try:
                yield from parquet.read(self.path, self.on_bytes)
            except InvalidInput as error:
                self.problems += error.problems
            with open(self.path, "rb") as file:
                self.sha256 = _digest(iter(lambda: file.read(CHUNK_BYTES), b""))
            return
        digest = hashlib.sha256()
        line = 1
        with ThreadPoolExecutor(1) as beside, open(self.path, "rb") as raw:
            hashed: Future[None] | None = None
            lines = self._pieces(raw)
            while True:
                try:
                    data = next(lines, b"")
                except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                    self._note("gzip", line, _gzip_message(error))
                    break
                if not data:
                    break
                if hashed is not None:
                    hashed.result()
                hashed = beside.submit(digest.update, data)
                data = data.removeprefix(b"\xef\xbb\xbf") if line == 1 else data
                if line == 1 and _is_pretty(data):
                    self._note(
                        "not_json_lines",
                        1,
                        "holds JSON over several lines; expected one object per line "
                        "(`jq -c . FILE` writes it so)",
                    )
                    break
                yield chunks.of_lines(data, line, self.path)
                line += data.count(b"\n")
            if hashed is not None:
                hashed.result()
        self.sha256 = digest.hexdigest()

    def _pieces(self, raw: IO[bytes]) -> Iterator[bytes]:
        """Give whole lines, about half a megabyte at a time."""
        packed = self.path.endswith(".gz")
        file: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
        told = 0
        while data := file.read(CHUNK_BYTES):
            if not data.endswith(b"\n"):
                data += file.readline()
            if self.on_bytes is not None:
                read = raw.tell() if packed else told + len(data)
                self.on_bytes(read - told)
                told = read
            yield data


def _digest(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _gzip_message(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the compressed file ends too early: it was cut off; copy or make it again"
    return f"is not a sound gzip file ({error}); copy or make it again"


def _is_pretty(data: bytes) -> bool:
    """Tell whether a file opens a bracket on its first line and goes on on the next."""
    head = data.lstrip().split(b"\n", 2)
    return len(head) > 1 and head[0].strip() in (b"{", b"[", b"[{")


def files(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Give the files that some paths stand for.

    Args:
        paths: files, and folders that are searched for `.jsonl`, `.jsonl.gz` and `.parquet`, the
            folders inside them too.

    Returns:
        Paths of files, those of a folder in the order of their names.

    Raises:
        InvalidInput: a path is not there, a folder holds no such file, or a file comes twice.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    problems: list[Problem] = []
    for path in (os.fspath(one) for one in given):
        inside = _inside(path) if os.path.isdir(path) else [path]
        if not inside:
            endings = ", ".join(ENDINGS)
            message = f"is a folder without trajectory files; expected some of {endings}"
            problems.append(Problem("no_files", path, None, None, None, None, message))
        elif not os.path.exists(path):
            problems.append(Problem("no_file", path, None, None, None, None, "is not there"))
        found += inside
    seen: set[str] = set()
    for path in found:
        real = os.path.realpath(path)
        if real in seen:
            message = "is read twice; its trajectories would count twice"
            problems.append(Problem("same_file", path, None, None, None, None, message))
        seen.add(real)
    if problems:
        raise InvalidInput(problems)
    return found


def _inside(folder: str) -> list[str]:
    names = Path(folder).rglob("*")
    return sorted(
        str(path)
        for path in names
        if path.name.endswith(ENDINGS) and not path.name.startswith(".") and path.is_file()
    )


def read_trajectories(
    paths: PathLike | Sequence[PathLike], on_bytes: OnBytes | None = None
) -> Iterator[dict[str, Any]]:
    """Read trajectories one by one, so that a file may be larger than memory.

    Args:
        paths: one or more files or folders, see `files`.
        on_bytes: called with the number of bytes whenever some were read.

    Yields:
        Trajectories in the file format; what a canvas says is filled in. After the first problem
        there are no more: the rest is read for its problems alone.

    Raises:
        InvalidInput: at the end, with all problems of all files.
    """
    problems: list[Problem] = []
    for path in files(paths):
        reader = Reader(path, on_bytes)
        for chunk in reader:
            if not problems:
                yield from map(dict, chunk.trajectories)
        problems += reader.problems
    if problems:
        raise InvalidInput(problems)


def load_trajectories(paths: PathLike | Sequence[PathLike]) -> list[dict[str, Any]]:
    """Load trajectories into memory.

    Args:
        paths: one or more files or folders: `.jsonl`, `.jsonl.gz`, `.parquet`.

    Returns:
        One dict a trajectory, in the file format. Where a file carries token ids, `answer_masked`,
        `answer` and `reasoning_committed` are filled in from them.

    Raises:
        InvalidInput: with all problems of all files: file, line, identifier, field, what came and
            what was expected.
        OSError: a file cannot be read.
    """
    return list(read_trajectories(paths))
