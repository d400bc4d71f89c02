"""A table for people, before it is known where it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PLAIN, STRONG, FAINT, GROUP = "", "strong", "faint", "group"
MISSING = "–"
DEGENERATE = "* one row, or resamples that do not vary: the interval says nothing"


@dataclass(frozen=True)
class Span:
    """An interval: text everywhere, on a page a bar as well.

    Attributes:
        low, high: its ends; None where it is not defined.
        degenerate: whether it says nothing.
        value: what it is the interval of.
        scale: ends of the axis that the bar is drawn on; None for no bar.
    """

    low: float | None
    high: float | None
    degenerate: bool
    value: float | None
    scale: tuple[float, float] | None = (0.0, 1.0)

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return MISSING
        return f"{number(self.low)} to {number(self.high)}" + (" *" if self.degenerate else "")


@dataclass(frozen=True)
class Amount:
    """A number and how much it is, from 0 to 1: on a page its cell is filled so far."""

    text: str
    share: float

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Heat(Amount):
    """An amount whose cell is coloured the stronger the more it is."""


@dataclass(frozen=True)
class Mark:
    """An answer, and whether it is right."""

    text: str
    is_right: bool

    def __str__(self) -> str:
        return f"{self.text} {'✓' if self.is_right else '✗'}".strip()


Cell = str | Mark | Span | Amount


@dataclass(frozen=True)
class Row:
    """The cells of a row, and whether it is emphasised, unimportant or heads those below."""

    cells: tuple[Cell, ...]
    style: str = PLAIN


@dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes:
        title: stands above it.
        header: names of the columns.
        rows: as many cells each as there are columns; a group row may have one.
        notes: sentences below it.
        left: how many columns, from the first, are flush left; the others are numbers.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    left: int = 1

    @property
    def has_degenerate(self) -> bool:
        """Whether some interval says nothing."""
        cells = (cell for row in self.rows for cell in row.cells)
        return any(isinstance(cell, Span) and cell.degenerate for cell in cells)


def number(value: float | None) -> str:
    """Show a score with three decimals."""
    return MISSING if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """Show a difference with its sign."""
    return MISSING if value is None else f"{value:+.3f}"


def heading(metric: str) -> str:
    """Name a metric at the head of a column, where it may be broken between words."""
    return metric.replace("_", " ").replace(" f1", " F1")


def span(
    interval: Mapping[str, Any] | None,
    value: float | None,
    scale: tuple[float, float] | None = (0.0, 1.0),
) -> Cell:
    """Show the JSON form of an interval; a dash where there is none."""
    if interval is None or interval["low"] is None:
        return MISSING
    return Span(interval["low"], interval["high"], interval["degenerate"], value, scale)


def signature_line(signature: Mapping[str, Any]) -> str:
    """Say in one line how numbers were made."""
    parts = [str(signature["scorer"])]
    for name, value in signature.items():
        if name in ("scorer", "options"):
            continue
        label = name.removesuffix("_sha256")
        if isinstance(value, Mapping):
            value = ",".join(f"{key}:{part}" for key, part in value.items())
        parts.append(f"{label}={value[:12] if name.endswith('_sha256') else value}")
    options = signature.get("options", {})
    return " ".join([*parts, *(f"{name}={value}" for name, value in options.items())])


def markdown(sheet: Sheet) -> str:
    """Give a sheet as a Markdown table, title and notes included."""
    rule = ["---" if k < sheet.left else "--:" for k in range(len(sheet.header))]
    lines = [sheet.header, rule]
    for row in sheet.rows:
        padded = [*map(str, row.cells), *[""] * (len(sheet.header) - len(row.cells))]
        strong = row.style in (STRONG, GROUP)
        lines.append([f"**{cell}**" if strong and cell else cell for cell in padded])
    table = "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)
    title = [f"### {sheet.title}"] if sheet.title else []
    return "\n\n".join([*title, table, *sheet.notes]) + "\n"


def _escaped(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def markdown_page(sheets: Sequence[Sheet]) -> str:
    """Give several sheets as one Markdown text."""
    return "\n".join(markdown(sheet) for sheet in sheets)
