"""A page that measures a file of denoising trajectories."""

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from pathlib import Path

import gradio

from traj_eval import InvalidInput, evaluate_trajectories, load_trajectories


def measure(path):
    """Measure a file; give a line on it and a table of groups."""
    if path is None:
        return "Choose a file of trajectories first.", None
    try:
        results = evaluate_trajectories(load_trajectories(path))
    except InvalidInput as error:
        told = "\n".join(f"- `{problem}`" for problem in error.problems)
        told = told.replace(str(Path(path)), Path(path).name)
        return f"{len(error.problems)} problems found, nothing was measured:\n{told}", None
    groups = [{"condition": "all", **results["aggregate"]}, *results["groups"]]
    named = ("model", "task", "condition")
    rows = [
        [" / ".join(filter(None, (group.get(name) for name in named))), name, shown(value)]
        for group in groups
        for name, value in group.items()
        if name == "n" or (isinstance(value, float | None) and name not in named)
    ]
    signature = results["signature"]
    return f"n = {signature['n']}, {signature['scorer']}", rows


def shown(value):
    """Show a number, or nothing where there is none."""
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


with gradio.Blocks(title="denoising_trajectory", analytics_enabled=False) as page:
    gradio.Markdown("# Denoising trajectory\nWhen a verdict stands, and what is written after it.")
    file = gradio.File(label="trajectories, .jsonl or .jsonl.gz", type="filepath")
    button = gradio.Button("Measure", variant="primary")
    told = gradio.Markdown()
    table = gradio.Dataframe(headers=["group", "metric", "value"], label="Means")
    button.click(measure, inputs=file, outputs=[told, table])
    with gradio.Accordion("Metric card", open=False):
        card = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
        gradio.Markdown(card.split("---\n", 2)[2])

if __name__ == "__main__":
    page.launch()
