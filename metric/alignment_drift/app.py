"""A page that measures retrieved titles against expected ones, and their drift from a baseline."""

import json
import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from pathlib import Path

import gradio

from drift_core.strict_json import dumps, loads
from drift_gauge import metric_input

PREDICTIONS = [{"titles": ["Nightly backups", "Log retention"], "distances": [0.31, 0.41]}]
REFERENCES = [{"expected": ["Nightly backups", "Backup retention"], "k": 2}]
BASELINE = {"recall_at_k": 0.75, "overlap": 0.6, "mean_distance": 0.3}


def measure(predictions, references, baseline):
    """Measure JSON texts; give the scores, or what is wrong, as a text."""
    try:
        texts = {"predictions": predictions, "references": references}
        given = {name: loads(text) for name, text in texts.items()}
        if baseline.strip():
            given["baseline"] = loads(baseline)
        return dumps(metric_input.score_rows(**given), indent=2)
    except (ValueError, TypeError) as error:
        return str(error)


def box(label, value):
    """Give a field for JSON."""
    return gradio.Code(json.dumps(value, indent=2), language="json", label=label, lines=6)


with gradio.Blocks(title="alignment_drift", analytics_enabled=False) as page:
    gradio.Markdown("# Alignment drift\nRetrieval rates, and D, how far they are from a baseline.")
    inputs = [
        box("predictions: what was retrieved, a row for each query", PREDICTIONS),
        box("references: what was expected", REFERENCES),
        box("baseline, may be empty", BASELINE),
    ]
    button = gradio.Button("Measure", variant="primary")
    scores = gradio.Code(language="json", label="scores")
    button.click(measure, inputs=inputs, outputs=scores)
    with gradio.Accordion("Metric card", open=False):
        card = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
        gradio.Markdown(card.split("---\n", 2)[2])

if __name__ == "__main__":
    page.launch()
