"""Files → parts that are counted one by one, in this process, in several, or on a cluster.

However the parts are shared out, the numbers are the same to the last bit: counts are merged
exactly, and nothing else is computed before they are.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from multiprocessing.context import BaseContext

from drift_core import cluster
from drift_core.problems import InvalidInput, Problem
from traj_eval import damage, rows
from traj_eval.columns import Columns
from traj_eval.duplicates import Identifiers
from traj_eval.evaluation import Evaluator, Options, results
from traj_eval.io import MAX_PROBLEMS, OnBytes, Reader, file_sha256, no_trajectories
from traj_eval.measures import Measures
from traj_eval.results import Results
from traj_eval.tally import Tally

PART_BYTES = 1 << 25
PROCESSES_FROM = 1 << 26
ENGINES = ("local", "dask")
_LARGER_BLOCK = 31 << 20


@dataclass(frozen=True)
class Part:
    """Something to count; it can be sent to another process.

    Attributes:
        path: the file.
        options: what to compute.
        start, end: the bytes between which its lines begin; the whole file where end is None.
        rows_path: where the row of each trajectory goes, as JSON Lines; nowhere if None.
    """

    path: str
    options: Options
    start: int = 0
    end: int | None = None
    rows_path: str | None = None

    @property
    def n_bytes(self) -> int:
        """Number of bytes."""
        return (os.path.getsize(self.path) if self.end is None else self.end) - self.start


@dataclass(frozen=True)
class Counted:
    """What one part gave.

    Attributes:
        path: the file.
        tally: counts of its trajectories.
        seen: its trajectories.
        problems: what is wrong; the counts say nothing if there is anything.
        n_lines, blank: numbers of all lines and of those that are blank.
        sha256: of the lines; empty if it is not the whole file.
        note: see `traj_eval.io.Reader`.
    """

    path: str
    tally: Tally
    seen: Identifiers
    problems: Sequence[Problem]
    n_lines: int
    blank: int
    sha256: str
    note: str | None


def split(path: str, options: Options) -> list[Part]:
    """Cut a file into parts, if it can be read from the middle and is large enough."""
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    if size <= PART_BYTES or path.endswith((".gz", ".parquet")):
        return [Part(path, options)]
    starts = range(0, size, PART_BYTES)
    return [Part(path, options, start, min(start + PART_BYTES, size)) for start in starts]


def count(part: Part, on_bytes: OnBytes | None = None) -> Counted:
    """Read, measure and count one part in bounded memory."""
    _keep_freed_memory()
    reader = Reader(part.path, part.start, part.end, on_bytes)
    if part.rows_path is None:
        tally = _drained(reader, Evaluator(part.options))
    else:
        with open(part.rows_path, "w", encoding="utf-8", newline="\n") as out:

            def write(columns: Columns, measures: Measures) -> None:
                out.writelines(f"{line}\n" for line in rows.lines(columns, measures))

            tally = _drained(reader, Evaluator(part.options, write))
    return Counted(
        part.path,
        tally,
        reader.seen,
        reader.problems,
        reader.n_lines,
        reader.blank,
        reader.sha256,
        reader.note,
    )


@cache
def _keep_freed_memory() -> None:
    """Have the C library keep the memory of one chunk for the next.

    glibc gives blocks back to the system unless it has seen a larger one come and go, and fresh
    pages for every chunk cost a third of the time. This one is never touched.
    """
    bytes(_LARGER_BLOCK)


def _drained(reader: Reader, evaluator: Evaluator) -> Tally:
    for chunk in reader:
        evaluator.add(chunk)
        del chunk  # its memory serves the next one
    return evaluator.tally()


def evaluate_files(
    paths: Sequence[str],
    options: Options,
    *,
    engine: str = "local",
    rows_in: str | None = None,
    processes: int = 1,
    on_bytes: OnBytes | None = None,
) -> tuple[Results, int, list[str]]:
    """Evaluate files in bounded memory.

    Args:
        paths: at least one file.
        options: what to compute.
        engine: `local` or `dask`, a local cluster of two workers.
        rows_in: a folder for the rows; none are written if None.
        processes: how many processes may share large files; a script that asks for more than one
            needs the usual `if __name__ == "__main__":`.
        on_bytes: called with the number of bytes whenever some were read.

    Returns:
        The results without rows, the number of blank lines, and the files that hold the rows as
        JSON Lines, in order.

    Raises:
        InvalidInput: with the problems of all files.
    """
    parts = [part for path in paths for part in split(path, options)]
    if rows_in is not None:
        names = [os.path.join(rows_in, f"{k:06}.jsonl") for k in range(len(parts))]
        parts = [replace(part, rows_path=name) for part, name in zip(parts, names, strict=True)]
    cut = sorted({part.path for part in parts if part.end is not None})
    with ThreadPoolExecutor(1) as beside:
        digests = beside.map(file_sha256, cut)
        counted = list(_counted(parts, engine, processes, on_bytes))
        sha256 = dict(zip(cut, digests, strict=True))
    whole = [_joined(path, list(of), sha256) for path, of in groupby(counted, lambda c: c.path)]
    blank = sum(one.blank for one in whole)
    written = [part.rows_path for part in parts if part.rows_path is not None]
    return _combined(whole, options), blank, written


def _counted(
    parts: Sequence[Part], engine: str, processes: int, on_bytes: OnBytes | None
) -> Iterator[Counted]:
    if engine == "dask":
        yield from _told(cluster.mapped(count, parts), parts, on_bytes)
    elif processes > 1 and len(parts) > 1 and sum(p.n_bytes for p in parts) >= PROCESSES_FROM:
        with ProcessPoolExecutor(min(processes, len(parts)), _fresh_processes()) as pool:
            yield from _told(pool.map(count, parts), parts, on_bytes)
    else:
        for part in parts:
            yield count(part, on_bytes)


def _fresh_processes() -> BaseContext:
    """Give a way to start processes that are no copies of this one, with its threads' locks."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])  # imported once, not by each of them
    return context


def _told(
    counted: Iterable[Counted], parts: Sequence[Part], on_bytes: Callable[[int], None] | None
) -> Iterator[Counted]:
    for part, one in zip(parts, counted, strict=True):
        if on_bytes is not None:
            on_bytes(part.n_bytes)
        yield one


def _joined(path: str, parts: Sequence[Counted], sha256: dict[str, str]) -> Counted:
    """Put the parts of one file together; lines are counted on from part to part."""
    seen, tally, lines, blank = Identifiers(), Tally({}), 0, 0
    problems: list[Problem] = []
    for part in parts:
        shifted = [
            replace(p, line=None if p.line is None else p.line + lines) for p in part.problems
        ]
        problems += shifted
        seen.extend(part.seen, lines)
        lines += part.n_lines
        blank += part.blank
        tally += part.tally
        if any(problem.code in damage.WHOLE_FILE for problem in part.problems):
            break
    problems += seen.problems(path)
    if not problems and not seen:
        problems.append(no_trajectories(path))
    digest = sha256.get(path, parts[0].sha256)
    return Counted(path, tally, seen, problems, lines, blank, digest, parts[0].note)


def _combined(counted: Sequence[Counted], options: Options) -> Results:
    problems = [problem for one in counted for problem in one.problems]
    if problems:
        raise InvalidInput(problems[: MAX_PROBLEMS + 1])
    tally = Tally({})
    for one in counted:
        tally += one.tally
    hashes = [one.sha256 for one in counted]
    whole = hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
    return results(tally, options, whole, notes=[one.note for one in counted])
