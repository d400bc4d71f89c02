"""What every command line here has in common: exit codes, problems on stderr, tables, progress."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from drift_core.extras import MissingExtra
from drift_core.problems import InvalidInput, Problem, printable
from drift_core.strict_json import dumps

OK, PROBLEMS, USAGE = 0, 1, 2
BROKEN_PIPE = 141  # as of a process that SIGPIPE ended
_PROGRESS_BYTES = 100_000_000
_WIDEST = 10_000


def guarded(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Run a command; bad input, files that cannot be written and missing extras are told in words.

    Args:
        run: takes the parsed arguments and gives an exit code.
        args: the parsed arguments.

    Returns:
        The exit code of the command, or 1 if it found problems.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not have every character
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run(args)
        sys.stdout.flush()
        return code
    except InvalidInput as error:
        print_problems(error.problems)
    except MissingExtra as error:
        print(printable(str(error)), file=sys.stderr)
    except BrokenPipeError:
        # Whoever reads has seen enough; nothing more may be written when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (OSError, ValueError) as error:
        if not isinstance(error, OSError) and "null byte" not in str(error):
            raise
        name = getattr(error, "filename", None) or "output"
        what = getattr(error, "strerror", None) or error
        print(printable(f"{name}: {what}"), file=sys.stderr)
    return PROBLEMS


def print_problems(problems: Sequence[Problem], as_json: bool = False) -> None:
    """Print problems where they belong: as the result if they were asked for as JSON."""
    if as_json:
        for problem in problems:
            print_json(problem.to_dict())
        return
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{counted(len(problems), 'problem')} found", file=sys.stderr)


def print_json(value: object, indent: int | None = None) -> None:
    """Print strict JSON; what the stream cannot show is escaped."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(dumps(value, indent=indent, ascii_only=not utf8))


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Say how many there are of something.

    Example:
        >>> counted(1, "row"), counted(2, "row"), counted(2, "trajectory", "trajectories")
        ('1 row', '2 rows', '2 trajectories')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def overwrites(outputs: Sequence[str | None], inputs: Sequence[str]) -> bool:
    """Tell, and say, whether a file to write is one to read or is to be written twice."""
    seen = {os.path.realpath(path): path for path in inputs}
    for output in filter(None, outputs):
        real = os.path.realpath(output)
        if real in seen:
            print(printable(f"{output} would overwrite {seen[real]}"), file=sys.stderr)
            return True
        seen[real] = output
    return False


@contextmanager
def progress(
    paths: Sequence[str], doing: str = "reading and checking"
) -> Iterator[Callable[[int], None] | None]:
    """Show how much of large files was read, on a terminal only.

    Args:
        paths: the files; together at least 100 MB, or nothing is shown.
        doing: what is done with them.

    Yields:
        A function to be told of every number of bytes read, or None where nothing is shown.
    """
    size = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
    if size < _PROGRESS_BYTES or not sys.stderr.isatty():
        yield None
        return
    if not has_rich():
        yield _plain_progress(size, doing)
        print(file=sys.stderr)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = (doing, BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda n: bar.advance(task, n)


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Show on a terminal that something takes a while."""
    if not (sys.stderr.isatty() and has_rich()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(doing):
        yield


def _plain_progress(size: int, doing: str) -> Callable[[int], None]:
    done, shown = 0, -1

    def advance(n: int) -> None:
        nonlocal done, shown
        done += n
        percent = min(100, 100 * done // size)
        if percent > shown:
            shown = percent
            print(f"\r{doing}: {percent} %", end="", file=sys.stderr, flush=True)

    return advance


def has_rich() -> bool:
    """Tell whether rich is installed."""
    try:
        import rich  # noqa: F401
    except ImportError:
        return False
    return True


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table: with rich where it is installed, else as plain text.

    Args:
        header: names of the columns; the first one is flush left, the others flush right.
        rows: the cells of each row, as many as there are columns.
        title: stands above.
    """
    if has_rich():
        from rich import box
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD)
        for k, name in enumerate(header):
            table.add_column(name, justify="right" if k else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(cell.replace("[", r"\[") for cell in row))
        console, widest = Console(), Console(width=_WIDEST).measure(table).maximum
        console.width = max(console.width, widest)  # a narrow terminal folds lines, it cuts none
        console.print(table)
        return
    print("\n".join([*filter(None, [title]), *_plain_table([header, *rows])]))


def _plain_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for k, row in enumerate(rows):
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        yield "  ".join(cells).rstrip()
        if k == 0:
            yield "  ".join("-" * w for w in widths)
