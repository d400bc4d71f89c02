"""The rows of a report and the pictures' numbers, laid out as sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drift_onset import schema
from drift_onset.details import Details
from drift_onset.schema import PREDICTED
from drift_onset.views.sheets import MISSING, STRONG, Amount, Cell, Heat, Mark, Row, Sheet, number

MOST_ROWS = 1000
UNANSWERED = "unanswered"


def answer(value: Any) -> str:
    """Show one cell of the prediction table; blanks are `none`, as are residuals."""
    return schema.NONE if value is None else str(value)


def items(rows: Sequence[Mapping[str, Any]]) -> Sheet:
    """Lay out one row a scenario: what was predicted, and gold where that is wrong."""
    laid_out = []
    for row in rows[:MOST_ROWS]:
        unanswered = row[PREDICTED + schema.targets()[0]] is None
        cells: list[Cell] = [row["scenario_id"]]
        for target in schema.targets():
            gold, said = answer(row[f"gold_{target}"]), answer(row[PREDICTED + target])
            right = bool(row[f"{target}_correct"])
            said = UNANSWERED if unanswered else said
            cells.append(Mark(said if right else f"{said}; gold {gold}", right))
        cells.append(Mark("", bool(row["complete_primary_correct"])))
        confidence = row["confidence"]
        cells.append(MISSING if confidence is None else f"{confidence:.2f}")
        laid_out.append(Row(tuple(cells)))
    header = ("scenario", *schema.targets(), "complete", "confidence")
    more = len(rows) - MOST_ROWS
    notes = (f"{more} more rows are not shown.",) if more > 0 else ()
    return Sheet("Every scenario", header, tuple(laid_out), notes, left=len(header) - 1)


def confusion(target: str, details: Details) -> Sheet:
    """Lay out a confusion matrix; columns go by the numbers that the rows start with."""
    matrix, labels = details.confusions[target], schema.labels(target)
    rows = []
    for k, (label, counts) in enumerate(zip(labels, matrix.tolist(), strict=True)):
        total = max(sum(counts), 1)
        cells = [Heat(str(n) if n else "·", n / total) for n in counts]
        rows.append(Row((f"{k + 1} {label}", *cells, str(sum(counts)))))
    columns = [str(k + 1) for k in range(len(labels))]
    header = ("gold \\ predicted", *columns, UNANSWERED, "support")
    return Sheet(f"Confusion: {target}", header, tuple(rows))


def calibration(details: Details) -> Sheet | None:
    """Lay out the reliability diagram; None if no row has a confidence."""
    if not details.bins:
        return None
    rows = [
        Row(
            (
                f"{'(' if one.low else '['}{one.low:.1f}, {one.high:.1f}]",
                str(one.n),
                Amount(number(one.confidence), one.confidence or 0.0),
                Amount(number(one.accuracy), one.accuracy or 0.0),
            )
        )
        for one in details.bins
        if one.n
    ]
    header = ("confidence", "rows", "mean confidence", "complete-primary accuracy")
    note = "Calibrated confidence has equal bars in each row; bins without rows are left out."
    return Sheet("Reliability", header, tuple(rows), (note,))


def offsets(details: Details) -> Sheet:
    """Lay out the histogram of predicted less gold onset."""
    counted = {**{f"{k:+d}" if k else "0": n for k, n in details.offsets.items()}, **details.blanks}
    total = max(sum(counted.values()), 1)
    rows = [
        Row((name, Amount(str(n), n / total)), STRONG if name == "0" else "")
        for name, n in counted.items()
    ]
    return Sheet("Onset: predicted less gold step", ("offset", "rows"), tuple(rows))
