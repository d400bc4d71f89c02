"""Append-only logs: one JSON object a line, on disk before `append` returns.

A crash in the middle of an append leaves at most a torn last line. It is reported and skipped, and
what is appended after it starts on a new line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import StrictJsonError, dumps, loads

Path = str | os.PathLike[str]

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)  # as Windows wants it


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Append one row and wait until the disk has it; makes the file and its folder.

    Several processes may append to one file.

    Args:
        path: the log.
        row: what JSON has a form for; no NaN and no infinity.

    Raises:
        OSError: the file cannot be written.
        ValueError: the row is not strict JSON.
    """
    text = dumps(dict(row), ascii_only=True)
    _parsed(text)  # what could not be read back must not be acknowledged
    line = f"{text}\n".encode()
    folder = os.path.dirname(os.path.realpath(path))
    os.makedirs(folder, exist_ok=True)
    is_new = not os.path.exists(path)
    handle = os.open(path, _FLAGS, 0o666)
    try:
        with _locked(handle):
            size = os.fstat(handle).st_size
            if size and _last_byte(handle, size) != b"\n":
                line = b"\n" + line
            while line:
                line = line[os.write(handle, line) :]
            os.fsync(handle)
    finally:
        os.close(handle)
    if is_new:
        sync_folder(folder)


def _last_byte(handle: int, size: int) -> bytes:
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1)


@contextmanager
def _locked(handle: int) -> Iterator[None]:
    """Keep other processes from appending, where the system has such locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the names in a folder, where the system can tell."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[Problem]]:
    """Read a log.

    Args:
        path: the log; blank lines are allowed.

    Returns:
        The rows with the numbers of their lines, counted from 1, and one problem for every torn
        line: one that begins an object and does not end it.

    Raises:
        OSError: the file cannot be read.
        InvalidInput: a line is neither an object nor torn; all such lines are named. A torn line
            need not be the last one: whatever is appended after it starts on a new line.
    """
    rows: list[tuple[int, dict[str, Any]]] = []
    torn: list[Problem] = []
    bad: list[Problem] = []
    with open(path, "rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.strip():
                continue
            try:
                rows.append((number, _object(raw)))
            except StrictJsonError as error:
                is_torn = error.code == "json_invalid" and _never_ends(raw.strip())
                found = _problem(path, number, raw, error, is_torn)
                (torn if is_torn else bad).append(found)
    if bad:
        raise InvalidInput(bad)
    return rows, torn


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|["{}\[\]]')  # texts, and what opens or closes


def _never_ends(raw: bytes) -> bool:
    """Tell whether a line begins an object and does not end it, as a cut one."""
    if not raw.startswith(b"{"):
        return False
    depth = 0
    for token in _TOKEN.findall(raw):
        if token == b'"':  # a text that does not end
            return True
        depth += (token in (b"{", b"[")) - (token in (b"}", b"]"))
    return depth > 0


def _parsed(text: str) -> Any:
    return loads(text, int_bits=64)  # a time in milliseconds does not fit in 32


def _object(raw: bytes) -> dict[str, Any]:
    try:
        value = _parsed(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise StrictJsonError("json_invalid", "not UTF-8") from None
    if not isinstance(value, dict):
        message = f"{type(value).__name__}, expected one JSON object per line"
        raise StrictJsonError("json_type", message)
    return value


def _problem(path: Path, number: int, raw: bytes, error: StrictJsonError, torn: bool) -> Problem:
    code = "torn_line" if torn else error.code
    message = "torn line, skipped: expected one whole JSON object" if torn else str(error)
    shown = escaped(raw.decode("utf-8", errors="replace").rstrip("\r\n"))
    return Problem(code, str(path), number, None, None, shown, message)
