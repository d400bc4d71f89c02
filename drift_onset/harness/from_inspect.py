"""A log of inspect-ai → a prediction file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from drift_core import extras
from drift_core.problems import InvalidInput, Problem, escaped
from drift_onset import schema
from drift_onset.answers import Answer
from drift_onset.harness import scoring

_DONE = "success"
_EXPECTED = "expected a .eval or .json log of a finished run"


@dataclass(frozen=True)
class FromLog:
    """What a log holds.

    Attributes:
        answers: one for each scenario, several samples of one as their vote.
        unanswered: a problem for each scenario without a readable answer.
    """

    answers: tuple[Answer, ...]
    unanswered: tuple[Problem, ...]


def read(path: str) -> FromLog:
    """Read the answers of a finished log of the task.

    They are read again from what the model wrote, whether or not the log was scored.

    Args:
        path: a log as `.eval` or `.json`.

    Raises:
        InvalidInput: no log, one of another task or with hidden constraints, one that is not
            finished, a scenario that stands in it twice.
        MissingExtra: an ImportError; inspect-ai is not installed.
    """
    read_eval_log = extras.load("inspect_ai.log", "inspect").read_eval_log
    from drift_onset.harness import inspect_task

    if not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "does not exist"
        raise InvalidInput([_problem("file_missing", path, f"{what}; {_EXPECTED}")])
    try:
        log = read_eval_log(path)
    except Exception as error:  # zip, JSON and schema each have their own kinds
        told = (str(error) or type(error).__name__).splitlines()[0]
        message = f"is no log of inspect-ai ({told[:200]}); {_EXPECTED}"
        raise InvalidInput([_problem("log_unreadable", path, message)]) from None
    faults = list(_header_faults(log, path)) or list(_sample_faults(log, path))
    if faults:
        raise InvalidInput(faults)
    samples = sorted(log.samples, key=lambda sample: sample.epoch)
    given: list[Answer] = []
    for sample in samples:
        answer = inspect_task.read(sample.output.completion, str(sample.id), sample.metadata)
        if answer.row is None and sample.error is not None:
            why = sample.error.message.strip().splitlines()[-1:] or ["no reason is given"]
            fault = _problem("sample_error", path, f"failed: {why[0][-300:]}", str(sample.id))
            answer = replace(answer, problems=(fault,))
        given.append(answer)
    order = {str(name): at for at, name in enumerate(log.eval.dataset.sample_ids or ())}
    answers = sorted(scoring.voted(given), key=lambda a: order.get(a.scenario_id, len(order)))
    return FromLog(tuple(answers), tuple(_unanswered(answers, log, path)))


def _header_faults(log: Any, path: str) -> Iterator[Problem]:
    known = log.eval.metadata or {}
    ours = schema.document()["title"]
    if known.get("benchmark") != ours:
        found = f"of the task {escaped(log.eval.task)}"
        yield _problem("log_task", path, f"is a log {found}, expected one of {ours}")
        return
    if known.get("hide_constraints"):
        message = "was made with hidden constraints: it has no residuals, which predictions need"
        yield _problem("log_hidden_constraints", path, message)
    if log.status != _DONE:
        message = f"is not finished: its status is {log.status}; see `inspect eval-retry`"
        yield _problem("log_unfinished", path, message)
    elif not log.samples:
        yield _problem("log_samples", path, "holds no samples; were they logged?")


def _sample_faults(log: Any, path: str) -> Iterator[Problem]:
    """Find samples of another making, and scenarios that stand in the log too often or seldom."""
    from drift_onset.harness.inspect_task import BOUNDS, HIDDEN

    for sample in log.samples:
        if not {*BOUNDS, HIDDEN} <= sample.metadata.keys():
            message = "was not made by this task: steps and constraints are not noted"
            yield _problem("log_task", path, message, str(sample.id))
    epochs = log.eval.config.epochs or 1
    seen = Counter((str(sample.id), sample.epoch) for sample in log.samples)
    for (name, epoch), times in seen.items():
        if times > 1:
            message = f"stands in epoch {epoch} {times} times, expected once"
            yield _problem("duplicate_sample", path, message, name)
    for name, times in Counter(name for name, _ in seen).items():
        if times != epochs:
            message = f"has samples of {times} epochs, expected {epochs}: the log is not whole"
            yield _problem("log_unfinished", path, message, name)


def _unanswered(answers: Iterable[Answer], log: Any, path: str) -> Iterator[Problem]:
    for answer in answers:
        if answer.row is None:
            yield _problem("unanswered", path, answer.why(), answer.scenario_id)
    asked, listed = log.eval.dataset.samples or 0, len(log.eval.dataset.sample_ids or ())
    if listed < asked:
        message = (
            f"has {listed} of {asked} scenarios; was it made with --limit? The rest are missing"
        )
        yield _problem("log_limited", path, message)


def _problem(code: str, path: str, message: str, scenario: str | None = None) -> Problem:
    return Problem(code, path, None, scenario, None, None, message)
