"""Files that are whole or absent."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drift_core.strict_json import dumps

PICTURES = (".pdf", ".png", ".svg")

_UMASK = os.umask(0)  # it can only be read by setting it, which is safe while there is one thread
os.umask(_UMASK)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path that becomes `path` when the block ends without error.

    The parent folder is made. On an error nothing that was there before is touched and
    no half-written file stays behind. A symbolic link stays one: the file that it points to is
    replaced. A device or pipe, which cannot be replaced, is written to as it is.

    Args:
        path: the file to write.

    Yields:
        A path in the same folder, with the same ending, to be written by the block.

    Raises:
        OSError: the file cannot be written; the error names `path`.

    Example:
        >>> import tempfile, pathlib
        >>> out = pathlib.Path(tempfile.mkdtemp()) / "results" / "report.json"
        >>> with replacing(out) as temporary:
        ...     _ = temporary.write_text("{}")
        >>> out.read_text()
        '{}'
    """
    if os.path.isdir(path):
        raise IsADirectoryError(21, "is a directory, expected a file", str(path))
    if os.path.exists(path) and not os.path.isfile(path):
        yield Path(path)
        return
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{target.stem[:100]}-", suffix=target.suffix, dir=target.parent
        )
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(_mode(target))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def ending_fault(path: str | os.PathLike[str], endings: Sequence[str]) -> str | None:
    """Say what ending was expected of a file, or None if it has one of those.

    Args:
        path: the file; only its name is looked at.
        endings: with their dots, in small letters; those of the file may be large.

    Example:
        >>> ending_fault("strip.PNG", PICTURES) is None
        True
        >>> ending_fault("strip", PICTURES)
        'expected an ending out of .pdf, .png, .svg'
    """
    name = os.path.basename(path).lower()
    if any(name.endswith(ending) and name != ending for ending in endings):
        return None
    return f"expected an ending out of {', '.join(endings)}"


def _mode(target: Path) -> int:
    """Give the mode of the file that is replaced, or that of an ordinary new file."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    return 0o666 & ~_UMASK


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write strict JSON as a UTF-8 text file with LF line ends, whole or not at all.

    Raises:
        OSError: the file cannot be written.
        ValueError: a float is not finite.
    """
    write_text(path, dumps(value, indent=2) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file with LF line ends, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
