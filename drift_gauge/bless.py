"""Blessing: the one place that writes a baseline.

Only its metrics are written anew, with the hash of the golden set that they were measured on; every
other section stays as it is. The old file is kept beside
the new one, and `blessings.jsonl` in the same folder says who blessed what and when. The log comes
first, so that there is no blessing without its line; its `new_sha256` is that of the file if the
blessing was completed.
"""

from __future__ import annotations

import getpass
import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from drift_core.files import replacing
from drift_core.problems import InvalidInput, escaped
from drift_core.strict_json import dumps
from drift_gauge import documents, json_lines
from drift_gauge.axes import STRUCTURAL
from drift_gauge.golden import load_baseline

LOG_NAME = "blessings.jsonl"


@dataclass(frozen=True)
class Blessing:
    """What was blessed, as the log has it.

    Attributes:
        time: when, in UTC.
        by: who.
        baseline: the name of the file.
        retriever: what was measured.
        metrics: the metrics that are blessed now.
        old_sha256: of the file before; None if there was none.
        new_sha256: of the file after.
        kept_as: the name of the file that keeps the old baseline; None if there was none.
    """

    time: str
    by: str
    baseline: str
    retriever: str
    metrics: Mapping[str, Any]
    old_sha256: str | None
    new_sha256: str
    kept_as: str | None

    def to_dict(self) -> dict[str, Any]:
        """Give the fields in their order."""
        return asdict(self)


def renewed(
    path: documents.Path,
    retriever: str,
    metrics: Mapping[str, Any],
    *,
    golden_sha256: str | None = None,
) -> dict[str, Any]:
    """Give the document that a blessing would write.

    Args:
        path: the baseline; it need not be there.
        retriever: the name of the retriever that was measured.
        metrics: the measured rates, and structural axes where they were measured.
        golden_sha256: of the golden set that they were measured on; None if not known, and then
            the document does not keep that of the metrics before.

    Returns:
        The document with new metrics. Structural axes that were not measured, and `distance_tol`,
        stay as they are.

    Raises:
        InvalidInput: a ValueError: the old baseline has problems or is that of another retriever,
            or a metric was not measured.
    """
    fresh: dict[str, Any] = {"retriever": retriever, "metrics": {}}
    old = load_baseline(path) if os.path.exists(path) else fresh
    if old["retriever"] != retriever:
        message = f"blessed with {escaped(old['retriever'])}, but {escaped(retriever)} was measured"
        raise InvalidInput([documents.problem("retriever", path, "retriever", message)])
    kept = {k: v for k, v in old["metrics"].items() if k in (*STRUCTURAL, "distance_tol")}
    on = {} if golden_sha256 is None else {"golden_sha256": golden_sha256}
    document = {
        "retriever": retriever,
        **on,
        **{k: v for k, v in old.items() if k not in ("retriever", "golden_sha256")},
        "metrics": {**metrics, **{k: v for k, v in kept.items() if k not in metrics}},
    }
    problems = documents.whole_baseline_problems(document, path)
    if problems:
        raise InvalidInput(problems)
    return document


def bless(path: documents.Path, document: Mapping[str, Any], *, by: str | None = None) -> Blessing:
    """Write a baseline that `renewed` gave, keep the old one beside it, and log it.

    Args:
        path: the baseline.
        document: what to write.
        by: who blesses; None for the user of the process.

    Returns:
        What the log has. When this returns, baseline, old file and log are on the disk.

    Raises:
        InvalidInput: a ValueError; the document is no whole baseline.
        OSError: a file cannot be written.
    """
    problems = documents.whole_baseline_problems(document, path)
    if problems:
        raise InvalidInput(problems)
    target = Path(os.path.realpath(path))
    new = (dumps(document, indent=2) + "\n").encode()
    old = target.read_bytes() if target.exists() else None
    now = datetime.now(timezone.utc)
    kept = None if old is None else _keep(target, old, now)
    blessing = Blessing(
        now.isoformat(),
        by or _user(),
        target.name,
        document["retriever"],
        document["metrics"],
        None if old is None else hashlib.sha256(old).hexdigest(),
        hashlib.sha256(new).hexdigest(),
        kept.name if kept else None,
    )
    json_lines.append(target.with_name(LOG_NAME), blessing.to_dict())
    _write(target, new)
    return blessing


def _keep(target: Path, old: bytes, now: datetime) -> Path:
    """Write the old baseline under a name that is free."""
    stamp = f"{now:%Y%m%dT%H%M%S.%fZ}"
    kept = target.with_name(f"{target.name}.{stamp}.bak")
    while kept.exists():
        kept = kept.with_name(f"{kept.name}.bak")
    _write(kept, old)
    return kept


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, and wait until the disk has it."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    json_lines.sync_folder(path.parent)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such user in a container
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
