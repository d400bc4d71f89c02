"""The main job from end to end, on the data that ships with the package."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from drift_core.files import write_json
from drift_core.problems import InvalidInput
from drift_onset import baseline, evaluation, show
from drift_onset.reading.records import CsvFile
from drift_onset.schema import LABELLED, PREDICTION, header, optional_columns, resource


def _rows(path: Path, kind: str) -> list[dict[str, str]]:
    optional = optional_columns(kind) if kind == PREDICTION else ()
    file = CsvFile(path, header(kind), optional)
    return [row for _, row in file.rows()]


def run(folder: Path, console: Console) -> None:
    """Predict, validate, score through evaluate, and show both leaderboards.

    Args:
        folder: where predictions and report go; it is made.
        console: where to print.

    Raises:
        InvalidInput: the predictions do not validate.
    """
    data, predictions = resource("data"), folder / "predictions.csv"
    n = baseline.run(data / "test_blind.csv", predictions)
    _say(console, f"1. baseline: {n} predictions from {data / 'test_blind.csv'}")
    gold = data / "test.csv"
    rows, problems = evaluation.validate_predictions(predictions, gold)
    if problems:
        raise InvalidInput(problems)
    _say(console, f"2. validate: {rows} rows, no problems")
    with console.status("3. score: loading the evaluate library, which takes some seconds"):
        import evaluate

        metric = evaluate.load(str(resource("metric") / "reasoning_state"))
        report = metric.compute(
            predictions=_rows(predictions, PREDICTION),
            references=_rows(gold, LABELLED),
            report=True,
        )
    _say(console, '3. score: evaluate.load("reasoning_state").compute(...)\n')
    write_json(folder / "report.json", report)
    show.show(report, console)
    _say(console, f"\npredictions: {predictions}\nreport:      {folder / 'report.json'}")


def _say(console: Console, text: str) -> None:
    """Print a line that may hold a path: as it is, in one piece."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
