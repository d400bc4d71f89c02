"""A page that scores a prediction file of the test split on both leaderboards."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from pathlib import Path

import gradio

import drift_onset
from drift_onset import schema

GOLD = schema.resource("data") / "test.csv"


def rows(section, intervals):
    """Give the rows of a table: metric, value, 95 % interval."""
    found = []
    for name, value in section.items():
        if name != "primary_ranking_metric":
            interval = intervals.get(name) or {"low": None}
            shown = "" if value is None else f"{value:.3f}"
            low_high = (interval["low"], interval.get("high"))
            between = "" if None in low_high else f"{low_high[0]:.3f} to {low_high[1]:.3f}"
            found.append([name, shown, between])
    return found


def score(path):
    """Score a file; give a line on it and one table for each part of the report."""
    if path is None:
        return "Choose a prediction file first.", None, None, None
    try:
        report = drift_onset.score(GOLD, path).to_dict()
    except drift_onset.InvalidInput as error:
        told = "\n".join(f"- `{problem}`" for problem in error.problems)
        told = told.replace(str(Path(path)), Path(path).name)
        return f"{len(error.problems)} problems found, nothing was scored:\n{told}", *3 * (None,)
    intervals = report["uncertainty"]["intervals"]
    sections = [part for name, part in report.items() if name.startswith("leaderboard_")]
    tables = [rows(part, intervals) for part in (*sections, report["secondary_diagnostics"])]
    signature = report["signature"]
    return f"n = {signature['n']}, {signature['scorer']}", *tables


def table(label):
    """Give an empty table."""
    return gradio.Dataframe(headers=["metric", "value", "95 % interval"], label=label)


with gradio.Blocks(title="reasoning_state", analytics_enabled=False) as page:
    gradio.Markdown("# Reasoning state\nBoth leaderboards of " + schema.document()["title"])
    file = gradio.File(label="predictions.csv, one row for each test scenario", type="filepath")
    button = gradio.Button("Score", variant="primary")
    told = gradio.Markdown()
    tables = [
        table("A: component capability"),
        table("B: complete reasoning state"),
        table("Diagnostics"),
    ]
    button.click(score, inputs=file, outputs=[told, *tables])
    with gradio.Accordion("Metric card", open=False):
        card = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
        gradio.Markdown(card.split("---\n", 2)[2])

if __name__ == "__main__":
    page.launch()
