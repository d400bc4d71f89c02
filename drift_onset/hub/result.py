"""A model's scores in the form in which the Hub shows them beside the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from drift_core import __version__
from drift_core.files import replacing
from drift_core.problems import InvalidInput, Problem, escaped
from drift_core.strict_json import loads
from drift_onset import schema
from drift_onset.hub import DATASET, OWNER
from drift_onset.loading import read_file
from drift_onset.scores import LEADERBOARD_A, LEADERBOARD_B

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

_EXPECTED = "expected what `reasoning-drift score --output FILE` writes, unchanged"
SECTIONS = {
    "leaderboard_a_component_capability": LEADERBOARD_A[0],
    "leaderboard_b_complete_reasoning_state": LEADERBOARD_B[0],
}


def read(path: Path) -> dict[str, Any]:
    """Read a report and check that it is one of this scorer on the test split.

    Raises:
        InvalidInput: it is not.
    """
    try:
        report = loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _invalid(path, f"cannot be read: {error.strerror}", "file_missing") from None
    except ValueError as error:
        message = f"is no report ({escaped(str(error), 200)[1:-1]}); {_EXPECTED}"
        raise _invalid(path, message, "json_invalid") from None
    try:
        signature = report["signature"]
        found = (signature["scorer"], signature["gold_sha256"], signature["n"])
        values = [report[section][metric] for section, metric in SECTIONS.items()]
        intervals = [report["uncertainty"]["intervals"][metric] for metric in SECTIONS.values()]
        complete = all(isinstance(v, float) and 0 <= v <= 1 for v in values)
        section = report[next(iter(SECTIONS))]
        parts = [section[name] for name in LEADERBOARD_A[1:]]
        complete &= abs(section[LEADERBOARD_A[0]] - sum(parts) / len(parts)) < 1e-9
        complete &= all({"low", "high"} <= interval.keys() for interval in intervals)
    except (KeyError, TypeError, AttributeError):
        complete = False
    if not complete:
        raise _invalid(path, f"is no report; {_EXPECTED}", "json_invalid")
    expected = _expected()
    for name, got, wanted in zip(("scorer", "gold_sha256", "n"), found, expected, strict=True):
        if got != wanted:
            message = f"{name} is {escaped(got)}, a report on the test split has {escaped(wanted)}"
            raise _invalid(path, f"{message}; score data/test.csv with this version")
    return dict(report)


def _expected() -> tuple[str, str, int]:
    gold = read_file(str(schema.resource("data") / "test.csv"), schema.LABELLED).states
    return f"reasoning-drift {__version__}", gold.sha256(), len(gold)


def _invalid(path: Path, message: str, code: str = "report_content") -> InvalidInput:
    return InvalidInput([Problem(code, str(path), None, None, None, None, message)])


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
    with replacing(path) as temporary:
        text = yaml.safe_dump(listed, sort_keys=False, allow_unicode=True)
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
