"""A story in two parts: a corpus that decays until D crosses Θ, and hands that reach further.

In the first part the gate closes and the effector gauge stays at rest; in the second part the
corpus is whole again, D stays 0 and the effector gauge trips. Time is made up: one reading a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from drift_gauge.anchor import Anchor
from drift_gauge.corpus import load_corpus
from drift_gauge.drift import reading_of
from drift_gauge.effector_drift import (
    EffectClass,
    EffectorDriftReport,
    anchor_of,
    measure_effector_drift,
)
from drift_gauge.gate import GateReport, gate
from drift_gauge.golden import evaluate
from drift_gauge.history import append_reading
from drift_gauge.ledger import EffectLedger
from drift_gauge.retrievers import EMBEDDED, embedded_retriever
from drift_gauge.trigrams import MAX_FEATURES

Corpus = Mapping[str, str]

_FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=timezone.utc)
_WINDOW = 10  # proposals a day
_IRREVERSIBLE = (0, 0, 0, 0, 0, 1, 3, 4)  # of them, on each day of the second part
_REVERSIBLE = (4, 4, 5, 6, 8, 8, 6, 6)


@dataclass(frozen=True)
class Day:
    """What was measured on one day.

    Attributes:
        time: when.
        what: what happened to the system since the day before.
        decision: of the gate, on a change that was approved.
        reach: the reading of the effector gauge over the proposals of that day.
    """

    time: datetime
    what: str
    decision: GateReport
    reach: EffectorDriftReport


@dataclass(frozen=True)
class System:
    """A corpus and how many trigrams its embedder knows."""

    corpus: Corpus
    max_features: int = MAX_FEATURES


def decay(corpus: Corpus) -> Iterator[tuple[str, System]]:
    """Give a system that gets worse from step to step, and what was done to it."""
    yield "as blessed", System(corpus)
    corpus = {title: text for title, text in corpus.items() if title != "Dashboards"}
    yield "a document dropped", System(corpus)
    corpus = _cut(corpus, list(corpus)[::4])
    yield "every fourth document truncated", System(corpus)
    corpus = _swap(corpus, "Backup retention", "Log retention")
    yield "two look-alikes swapped", System(corpus)
    corpus = _swap(corpus, "On-call rota", "Handing over on-call")
    yield "two more look-alikes swapped", System(corpus)
    yield "embedder weakened to 500 trigrams", System(corpus, 500)
    corpus = _cut(corpus, list(corpus))
    yield "every document truncated", System(corpus, 500)
    yield "embedder weakened to 250 trigrams", System(corpus, 250)


def _cut(corpus: Corpus, titles: list[str]) -> Corpus:
    """Leave the first sentence of some documents."""
    return {
        title: re.split(r"(?<=[.:?])\s", text)[0] if title in titles else text
        for title, text in corpus.items()
    }


def _swap(corpus: Corpus, one: str, other: str) -> Corpus:
    return {**corpus, one: corpus[other], other: corpus[one]}


def run(folder: Path) -> tuple[list[Day], list[Day]]:
    """Live through both parts.

    Args:
        folder: where `history.jsonl` and `ledger.jsonl` are appended to.

    Returns:
        The days of the first part and those of the second.
    """
    corpus = load_corpus()
    quiet = (_REVERSIBLE[0], _IRREVERSIBLE[0])
    first = [(what, system, quiet) for what, system in decay(corpus)]
    proposals = list(zip(_REVERSIBLE, _IRREVERSIBLE, strict=True))
    second = [
        (
            f"{reversible} reversible, {irreversible} irreversible of {_WINDOW}",
            System(corpus),
            (reversible, irreversible),
        )
        for reversible, irreversible in proposals
    ]
    days = [
        _day(folder, number, what, system, effects)
        for number, (what, system, effects) in enumerate([*first, *second])
    ]
    return days[: len(first)], days[len(first) :]


def _day(folder: Path, number: int, what: str, system: System, effects: tuple[int, int]) -> Day:
    anchor = Anchor.of(EMBEDDED)
    retriever = embedded_retriever(system.corpus, max_features=system.max_features)
    report = evaluate(anchor.golden, retriever)
    reading = reading_of(report, anchor, intact=True)
    time = _FIRST_DAY + timedelta(days=number)
    append_reading(folder / "history.jsonl", reading, time=time)
    decision = gate(True, report, anchor.baseline, reading)
    return Day(time, what, decision, _reach(folder, time, effects, anchor))


def _reach(
    folder: Path, time: datetime, effects: tuple[int, int], anchor: Anchor
) -> EffectorDriftReport:
    """Propose a day's effects, and read them back from the ledger."""
    ledger = EffectLedger(folder / "ledger.jsonl")
    reversible, irreversible = effects
    counts = (_WINDOW - reversible - irreversible, reversible, irreversible)
    for effect, n in zip(EffectClass, counts, strict=True):
        for _ in range(n):
            ledger.append({"time": time.isoformat(), "class": effect})
    window = ledger.all()[-_WINDOW:]
    return measure_effector_drift([row["class"] for row in window], anchor_of(anchor.baseline))


def plot(first: list[Day], second: list[Day], path: Path) -> None:
    """Draw both parts side by side.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    from drift_gauge import plots
    from drift_gauge.history import load_history

    readings = load_history(path.parent / "history.jsonl")[0]
    figure, axes = plots.new_figure(2)
    titles = (
        "The corpus decays: D crosses Θ, the gate is closed",
        "The hands reach further: D stays 0, the other gauge trips",
    )
    parts = ((first, readings[: len(first)]), (second, readings[len(first) :]))
    for panel, title, (days, own) in zip(axes, titles, parts, strict=True):
        plots.draw_drift(panel, own)
        plots.draw_reach(panel, [day.time for day in days], [day.reach for day in days])
        panel.set_title(title)
    top = max(panel.get_ylim()[1] for panel in axes)
    for panel in axes:
        panel.set_ylim(0, top)
    plots.save(figure, path)
