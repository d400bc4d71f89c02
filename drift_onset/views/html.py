"""Sheets as one page that needs nothing else: no script, no file, no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from drift_onset.views.sheets import (
    DEGENERATE,
    GROUP,
    PLAIN,
    Amount,
    Cell,
    Heat,
    Mark,
    Row,
    Sheet,
    Span,
)

_STYLE = """\
:root { color-scheme: light dark; --accent: #2563b0; --good: #1a7f45; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --accent: #7db2f0; --good: #62c98d; --bad: #f28b82; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  background: Canvas; color: CanvasText; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .4rem; }
.lead { font-size: 1.05rem; border-left: 4px solid var(--accent); padding: .2rem .9rem; }
.lead p { margin: .35rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .6rem; text-align: right; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
th { border-bottom-color: currentColor; font-weight: 600; vertical-align: bottom; }
.left { text-align: left; }
tr.strong td, tr.group td { font-weight: 700; } tr.faint td { opacity: .6; }
tr.group td { padding-top: .7rem; }
tr.group td:first-child { text-align: left; }
.good { color: var(--good); } .bad { color: var(--bad); }
.note, footer { font-size: .9rem; opacity: .8; } footer { margin-top: 2.5rem; }
.bar { white-space: nowrap; }
.axis { display: inline-block; position: relative; width: 6rem; height: .7em; margin-left: .6rem;
  background: color-mix(in srgb, currentColor 10%, transparent); }
.axis i, .axis b, .axis u { position: absolute; top: 0; bottom: 0; }
.axis i { background: color-mix(in srgb, var(--accent) 55%, transparent); min-width: 1px; }
.axis b { width: 2px; margin-left: -1px; background: currentColor; }
.axis u { width: 1px; background: color-mix(in srgb, currentColor 55%, transparent); }
"""


@dataclass(frozen=True)
class Section:
    """Some sheets under a heading; closed ones are opened by a click."""

    title: str
    sheets: tuple[Sheet, ...]
    is_open: bool = True


def page(
    title: str, lead: Sequence[str], sections: Sequence[Section], closing: Sequence[str]
) -> str:
    """Give a whole page.

    Args:
        title: of the page.
        lead: what a reader should know first, a sentence each.
        sections: the tables.
        closing: how to read them and how they were made.
    """
    sheets = [sheet for section in sections for sheet in section.sheets]
    marks = [DEGENERATE] if any(sheet.has_degenerate for sheet in sheets) else []
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>",
            f"<h1>{escape(title)}</h1>",
            f'<div class="lead">{_paragraphs(lead)}</div>',
            *map(_section, sections),
            f"<footer>{_paragraphs([*marks, *closing])}</footer>\n</body>\n</html>\n",
        ]
    )


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _section(section: Section) -> str:
    body = "\n".join(map(_sheet, section.sheets))
    if section.is_open:
        return body
    return f"<details><summary>{escape(section.title)}</summary>\n{body}\n</details>"


def _sheet(sheet: Sheet) -> str:
    header = "".join(
        f'<th scope="col"{_left(k, sheet)}>{escape(name)}</th>'
        for k, name in enumerate(sheet.header)
    )
    rows = "\n".join(_row(row, sheet) for row in sheet.rows)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in sheet.notes)
    table = f"<table><thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    return f'<h2>{escape(sheet.title)}</h2>\n<div class="wide">{table}</div>{notes}'


def _row(row: Row, sheet: Sheet) -> str:
    style = f' class="{row.style}"' if row.style != PLAIN else ""
    if row.style == GROUP and len(row.cells) == 1:
        width = len(sheet.header)
        return f'<tr{style}><td colspan="{width}">{escape(str(row.cells[0]))}</td></tr>'
    cells = "".join(_cell(cell, _left(k, sheet)) for k, cell in enumerate(row.cells))
    return f"<tr{style}>{cells}</tr>"


def _left(k: int, sheet: Sheet) -> str:
    return ' class="left"' if k < sheet.left else ""


def _cell(cell: Cell, attributes: str) -> str:
    text, bar = escape(str(cell)), ' class="bar"'
    if isinstance(cell, Mark):
        return (
            f'<td{attributes}><span class="{"good" if cell.is_right else "bad"}">{text}</span></td>'
        )
    if isinstance(cell, Heat):
        colour = f"color-mix(in srgb, var(--accent) {60 * cell.share:.0f}%, transparent)"
        return f'<td{attributes} style="background: {colour}">{text}</td>'
    if isinstance(cell, Amount):
        return f"<td{bar}>{text}{_axis(0.0, cell.share, None, (0.0, 1.0))}</td>"
    if isinstance(cell, Span) and cell.low is not None and cell.high is not None and cell.scale:
        return f"<td{bar}>{text}{_axis(cell.low, cell.high, cell.value, cell.scale)}</td>"
    return f"<td{attributes}>{text}</td>"


def _axis(low: float, high: float, value: float | None, scale: tuple[float, float]) -> str:
    """Draw a bar from low to high on a scale, with a tick at the value and a line at 0 inside."""
    start, end = scale

    def at(x: float) -> float:
        return 100 * min(max((x - start) / (end - start), 0.0), 1.0)

    parts = [f'<i style="left: {at(low):.1f}%; width: {at(high) - at(low):.1f}%"></i>']
    if start < 0 < end:
        parts.append(f'<u style="left: {at(0.0):.1f}%"></u>')
    if value is not None:
        parts.append(f'<b style="left: {at(value):.1f}%"></b>')
    return f'<span class="axis" aria-hidden="true">{"".join(parts)}</span>'
