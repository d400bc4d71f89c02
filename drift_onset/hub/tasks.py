"""eval.yaml: the benchmark as the Hub's own evaluation tasks, one for each leaderboard.

The Hub runs tasks of a closed list of frameworks, here inspect-ai, whose scorers compare an answer
with one column. So a task of the Hub asks for one part of the state; the official numbers come from
the scorer and stand under the task of their leaderboard.
"""

from __future__ import annotations

from typing import Any

from drift_onset import prompt, schema
from drift_onset.hub import SUMMARY
from drift_onset.scores import LEADERBOARD_A, LEADERBOARD_B

FRAMEWORK = "inspect-ai"

# The Hub fills columns in and runs no code, so lists are shown as the columns hold them.
_INPUT = f"""\
{prompt.OPENING}

Task: {{prompt}}

Constraints, as a JSON list: {{constraints_json}}

Trajectory, as a JSON list of steps: {{trajectory_json}}

"""


def document() -> dict[str, Any]:
    """Give what eval.yaml holds."""
    return {
        "name": schema.document()["title"],
        "description": SUMMARY,
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            _task(LEADERBOARD_A[0], "outcome_mode", _outcome_question(), r"ANSWER:\s*(\d+)"),
            _task(LEADERBOARD_B[0], "first_drift_step", _onset_question(), r"ANSWER:\s*(\d+|None)"),
        ],
    }


def _task(name: str, target: str, question: str, pattern: str) -> dict[str, Any]:
    shown = ["constraints_json", "trajectory_json"]
    return {
        "id": name,
        "config": "test",
        "split": "test",
        "field_spec": {"input": "task", "target": target, "metadata": shown},
        "solvers": [
            {"name": "prompt_template", "args": {"template": _INPUT + question}},
            {"name": "generate"},
        ],
        "scorers": [{"name": "pattern", "args": {"pattern": pattern}}],
    }


def _outcome_question() -> str:
    options = enumerate(schema.meanings("outcome_mode").items())
    listed = "\n".join(f"{code}: {label}. {meaning}" for code, (label, meaning) in options)
    last = "End with a line that says ANSWER: and the number of the state."
    return f"{prompt.meaning('outcome_mode')} Which is it?\n{listed}\n\n{last}\n"


def _onset_question() -> str:
    last = "End with a line that says ANSWER: and the number of the step, or None without drift."
    return f"Name the first drift step. {prompt.meaning('first_drift_step')}\n\n{last}\n"
