"""From the arguments of a command to a golden report and the anchor that it is held against."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from drift_core.console import has_rich
from drift_core.problems import InvalidInput, Problem
from drift_gauge import documents
from drift_gauge.anchor import Anchor
from drift_gauge.axes import STRUCTURAL, value_fault
from drift_gauge.corpus import load_corpus, unknown_titles
from drift_gauge.golden import (
    BASELINE_PATH,
    GOLDEN_DIR,
    GOLDEN_SET_PATH,
    GoldenQuery,
    GoldenReport,
    evaluate_named,
    load_baseline,
    load_golden_set,
)
from drift_gauge.retrievers import EMBEDDED, SHIPPED, opened


@dataclass(frozen=True)
class Measured:
    """What a command measured.

    Attributes:
        report: what the golden set gave.
        structural: structural axes, if any were given.
    """

    report: GoldenReport
    structural: Mapping[str, float]

    def values(self) -> dict[str, float | None]:
        """Give the measured value of every axis."""
        return {**self.report.as_metrics(), **self.structural}


_EXPECTED = {
    "golden": "a golden set",
    "baseline": "a baseline, as `bless` writes it",
    "structure": "a JSON object of structural axes",
    "ledger": "a ledger of proposed effects",
    "log": "a log, as `measure --log` writes it",
}


def check_files(args: argparse.Namespace) -> None:
    """Look whether the files that the command is to read are there.

    Raises:
        InvalidInput: a ValueError that names every missing file and what it was to be.
    """
    given = {name: getattr(args, name) for name in args.reads}
    problems = [
        documents.problem("no_file", path, None, f"no such file, expected {_EXPECTED[name]}")
        for name, path in given.items()
        if path and not os.path.exists(path)
    ]
    if problems:
        raise InvalidInput(problems)


def baseline_path(args: argparse.Namespace) -> Path:
    """Give the baseline of the arguments, or the package's for their retriever."""
    if args.baseline:
        return Path(args.baseline)
    if args.retriever == EMBEDDED:
        return BASELINE_PATH
    return GOLDEN_DIR / f"baseline.{args.retriever}.json"


def golden_set(args: argparse.Namespace) -> list[GoldenQuery]:
    """Give the golden set of the arguments, or the package's."""
    return load_golden_set(args.golden) if args.golden else load_golden_set()


def anchor(args: argparse.Namespace) -> Anchor:
    """Give the anchor of the arguments: golden set, baseline and live constitution.

    Raises:
        InvalidInput: a ValueError that names what is wrong with a file, also that the baseline was
            blessed with another retriever.
        OSError: a file cannot be read.
    """
    path = baseline_path(args)
    found = Anchor.of(args.retriever, golden_set(args), load_baseline(path), file=path)
    return replace(found, constitution=getattr(args, "constitution", None))


def ask(args: argparse.Namespace, golden: Sequence[GoldenQuery]) -> Measured:
    """Ask the retriever of the arguments the golden set.

    Raises:
        InvalidInput: a ValueError that names what is wrong with a file or a row.
        MissingExtra: what the retriever needs is not installed.
        OSError: a file cannot be read.
    """
    structural = documents.read_checked(args.structure, _structure) if args.structure else {}
    corpus = load_corpus(args.corpus) if args.corpus else load_corpus()
    if args.retriever in SHIPPED:
        problems = unknown_titles(golden, corpus, args.golden or GOLDEN_SET_PATH)
        if problems:
            raise InvalidInput(problems)
    with _status(f"asking {args.retriever}"), opened(args.retriever, corpus) as retriever:
        report = evaluate_named(golden, retriever, args.retriever)
    return Measured(report, structural)


def _structure(value: Mapping[str, Any], path: documents.Path) -> list[Problem]:
    checks = {name: partial(_axis_fault, name) for name in STRUCTURAL}
    return documents.object_problems(documents.Section({}, checks), value, path)


def _axis_fault(name: str, value: Any) -> str | None:
    return value_fault(name, value, {})


def _status(text: str) -> Any:
    """Show on a terminal that something takes a while."""
    if not (has_rich() and sys.stderr.isatty()):
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(text)
