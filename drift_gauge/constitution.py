"""Whether the live constitution is the blessed one, to the byte."""

from __future__ import annotations

import hashlib
import os

from drift_gauge.golden import GOLDEN_DIR

CONSTITUTION_PATH = GOLDEN_DIR / "constitution.md"
VARIABLE = "DRIFT_GAUGE_CONSTITUTION"

Path = str | os.PathLike[str]


def constitution_fingerprint(path: Path) -> str:
    """Give the SHA-256 of a file's bytes, in lower-case hexadecimal.

    Raises:
        OSError: the file cannot be read.

    Example:
        >>> constitution_fingerprint(CONSTITUTION_PATH)[:8]
        '33de26e2'
    """
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def breach(blessed: str | None, path: Path | None = None) -> str | None:
    """Say why the live constitution is not the blessed one.

    Args:
        blessed: the blessed fingerprint; None if none was blessed.
        path: the live file; None for the one that DRIFT_GAUGE_CONSTITUTION names, and without
            that the fixture of the golden set.

    Returns:
        The reason; None if the constitution is intact or none was blessed.
    """
    if blessed is None:
        return None
    named = path or os.environ.get(VARIABLE)
    live = named or CONSTITUTION_PATH
    where = f"{live}" if named else f"no argument and no {VARIABLE}, so the fixture {live}"
    try:
        found = constitution_fingerprint(live)
    except OSError as error:
        return f"a constitution was blessed, but no live one can be read: {where}: {error.strerror}"
    if found == blessed.lower():
        return None
    return (
        f"the live constitution is not the blessed one: {where} has {found}, but {blessed} was "
        "blessed: restore the file, or bless it anew by writing its SHA-256 into the baseline as "
        "`constitution_fingerprint`"
    )
