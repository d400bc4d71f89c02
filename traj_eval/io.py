"""Read trajectory files: JSON Lines, plain or compressed, Parquet, and folders of them."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from drift_core.problems import InvalidInput, Problem
from traj_eval import chunks, damage, keys, masks
from traj_eval.chunks import Chunk
from traj_eval.duplicates import Identifiers

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
CHUNK_BYTES = 1 << 20
MAX_PROBLEMS = 10_000
_ENDINGS = ", ".join(ENDINGS)
PathLike = str | os.PathLike[str]
OnBytes = Callable[[int], None]


@dataclass
class Reader:
    """One file, or a part of one, read once, chunk by chunk.

    Attributes:
        path: the file.
        start: byte from which on lines are read: those that begin there or later.
        end: byte before which a line must begin to be read; None for all.
        on_bytes: called with the number of bytes whenever some were read.
        seen: the trajectories so far.
        blank: blank lines that were skipped so far.
        n_lines: all lines so far.
        problems: what was found so far, at most 10,000 and a note of how many more there are.
        note: what its masks look like, if they are not as the file says; None if nothing is odd.
        sha256: of the lines, once a whole file was read: the same for a file and its `.gz`; for
            Parquet of the file; empty for a part.
    """

    path: str
    start: int = 0
    end: int | None = None
    on_bytes: OnBytes | None = None
    seen: Identifiers = field(default_factory=Identifiers)
    blank: int = 0
    n_lines: int = 0
    problems: list[Problem] = field(default_factory=list)
    note: str | None = None
    sha256: str = ""

    def __iter__(self) -> Iterator[Chunk]:
        """Give the chunks, as long as nothing is wrong; what follows is read for its problems."""
        more = 0
        for chunk in self._parquet() if self.path.endswith(".parquet") else self._lines():
            self.blank += chunk.blank
            if self.start == 0 and not self.seen and chunk.layout is not None:
                self.note = masks.note(chunk.layout)
            self.n_lines += chunk.n_lines
            self.seen.add(chunk)
            room = max(0, MAX_PROBLEMS - len(self.problems))
            self.problems += chunk.problems[:room]
            more += len(chunk.problems[room:])
            if not self.problems and chunk.layout is not None:
                yield chunk
            del chunk  # its memory serves the next one while it is still in the cache
        if more:
            message = f"has {more} more problems, which are not listed"
            self.problems.append(Problem.of_file("more_problems", self.path, message))

    def found(self) -> list[Problem]:
        """Give everything that is wrong with a file that was read to its end."""
        found = self.problems + self.seen.problems(self.path)
        return found if found or self.seen else [no_trajectories(self.path)]

    def _parquet(self) -> Iterator[Chunk]:
        from traj_eval import parquet

        try:
            yield from parquet.read(self.path, self.on_bytes)
        except InvalidInput as error:
            self.problems += error.problems
        self.sha256 = file_sha256(self.path)

    def _lines(self) -> Iterator[Chunk]:
        digest = hashlib.sha256()
        whole = self.start == 0 and self.end is None
        with open(self.path, "rb", buffering=CHUNK_BYTES) as raw:
            pieces = self._pieces(raw)
            while True:
                try:
                    lines = next(pieces, [])
                except damage.GZIP_ERRORS as error:
                    self.problems.append(damage.gzip_problem(self.path, error))
                    break
                if not lines:
                    break
                if whole:
                    digest.update(b"".join(lines))
                if self.start == 0 and self.n_lines == 0:
                    lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
                    if damage.is_utf16(lines[0]):
                        self.problems.append(damage.utf16_problem(self.path))
                        break
                    if damage.is_pretty(lines):
                        self.problems.append(damage.pretty_problem(self.path))
                        break
                yield chunks.of_lines(lines, self.n_lines + 1, self.path)
        self.sha256 = digest.hexdigest() if whole else ""

    def _pieces(self, raw: IO[bytes]) -> Iterator[list[bytes]]:
        """Give whole lines, about a megabyte at a time."""
        packed = self.path.endswith(".gz")
        file: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
        place = 0
        if self.start:  # the line that begins before belongs to the part before
            raw.seek(self.start - 1)
            place = self.start - 1 + len(raw.readline())
        told = place
        while self.end is None or place < self.end:
            room = CHUNK_BYTES if self.end is None else min(CHUNK_BYTES, self.end - place)
            # A hint is exceeded by one line: the one that begins at the end is not ours.
            lines = file.readlines(room - 1) if room > 1 else [file.readline()]
            if not lines:
                return
            place += sum(map(len, lines))
            if self.on_bytes is not None:
                read = raw.tell() if packed else place
                self.on_bytes(read - told)
                told = read
            yield lines


def raw_values(path: str, on_bytes: OnBytes | None = None) -> Iterator[tuple[int, Any]]:
    """Give what each line of a file holds, whether or not it is a trajectory.

    Args:
        path: JSON Lines, plain or compressed, or Parquet.
        on_bytes: called with the number of bytes whenever some were read.

    Yields:
        The line, or row, counted from 1, and its value; or a `Problem` where it has none.
    """
    if path.endswith(".parquet"):
        from traj_eval import parquet

        yield from enumerate(parquet.rows(path, on_bytes), 1)
        return
    reader, number = Reader(path, on_bytes=on_bytes), 0
    with open(path, "rb", buffering=CHUNK_BYTES) as raw:
        try:
            for line in chain.from_iterable(reader._pieces(raw)):
                number += 1
                if number == 1 and damage.is_utf16(line):
                    yield 1, damage.utf16_problem(path)
                    return
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if not line.isspace():
                    value, problem = keys.parse(line, path, number)
                    yield number, problem or value
        except damage.GZIP_ERRORS as error:
            yield number + 1, damage.gzip_problem(path, error)


def file_sha256(path: str) -> str:
    """Give the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while data := file.read(CHUNK_BYTES):
            digest.update(data)
    return digest.hexdigest()


def no_trajectories(path: str) -> Problem:
    """Give the problem of a file without trajectories."""
    message = "holds no trajectories; expected one a line"
    return Problem.of_file("no_trajectories", path, message)


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
            message = f"is a folder without trajectory files; expected some of {_ENDINGS}"
            problems.append(Problem.of_file("no_files", path, message))
        elif not os.path.exists(path):
            message = f"is not there; expected {_ENDINGS}, or a folder of them"
            problems.append(Problem.of_file("no_file", path or "''", message))
        found += inside
    seen: set[str] = set()
    for path in found:
        real = os.path.realpath(path)
        if real in seen:
            message = "is read twice; its trajectories would count twice"
            problems.append(Problem.of_file("same_file", path, message))
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
        reader = Reader(path, on_bytes=on_bytes)
        for chunk in reader:
            if not problems:
                yield from map(dict, chunk.trajectories)
        problems += reader.found()
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
