"""A model's scores in the form in which the Hub shows them beside the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from drift_core import __version__
from drift_core.files import write_text
from drift_onset import schema
from drift_onset.comparing import saved
from drift_onset.hub import DATASET, OWNER
from drift_onset.reading.loading import read_file
from drift_onset.scores import BOARDS

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

SECTIONS = {board: metrics[0] for board, metrics in BOARDS.items()}


def read(path: Path) -> dict[str, Any]:
    """Read a report and check that it is one of this scorer on the test split.

    Raises:
        InvalidInput: it is not.
    """
    report = saved.read(path)
    intervals = report["uncertainty"]["intervals"]
    if not all(metric in intervals for metric in SECTIONS.values()):
        raise saved.invalid(path, "has no bootstrap intervals; score with --resamples 1000")
    scorer, gold_sha256, n = _expected()
    expected = {"scorer": scorer, "gold_sha256": gold_sha256, "n": n}
    saved.mismatches(path, report, expected, "a report of this version on the test split has")
    return report


def _expected() -> tuple[str, str, int]:
    gold = read_file(str(schema.resource("data") / "test.csv"), schema.LABELLED).states
    return f"reasoning-drift {__version__}", gold.sha256(), len(gold)


def entries(report: dict[str, Any], revision: str | None = None) -> list[EvalResultEntry]:
    """Give one entry for each leaderboard.

    Args:
        report: the JSON report.
        revision: commit of the dataset on the Hub.
    """
    from huggingface_hub import EvalResultEntry

    signature = report["signature"]
    found = []
    for section, metric in SECTIONS.items():
        interval = report["uncertainty"]["intervals"][metric]
        notes = f"n = {signature['n']}"
        if interval["low"] is not None:
            notes += f", 95 % interval {interval['low']:.3f} to {interval['high']:.3f}"
        if signature["n_invalid"]:
            notes += f", {signature['n_invalid']} missing or unreadable answers counted as wrong"
        found.append(
            EvalResultEntry(
                dataset_id=f"{OWNER}/{DATASET}",
                task_id=metric,
                value=report[section][metric],
                dataset_revision=revision,
                notes=f"{notes}; {signature['scorer']}",
            )
        )
    return found


def write(report: dict[str, Any], folder: Path, revision: str | None = None) -> Path:
    """Write the entries where a model repository has them.

    Args:
        report: the JSON report.
        folder: of the model repository.
        revision: commit of the dataset on the Hub.

    Returns:
        The file, `.eval_results/` and the dataset's name in that folder.
    """
    import yaml
    from huggingface_hub import eval_result_entries_to_yaml

    path = folder / ".eval_results" / f"{DATASET}.yaml"
    listed = eval_result_entries_to_yaml(entries(report, revision))
    write_text(path, yaml.safe_dump(listed, sort_keys=False, allow_unicode=True))
    return path
