"""The built-in demo: three archetypes with one accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from traj_eval.table import shown

ARCHETYPES = {
    "genuine": "Genuine reasoning",
    "rationalization": "Rationalization",
    "oscillation": "Oscillation",
}
HEADER = (
    "Archetype (synthetic)",
    "Trajectories",
    "Final Accuracy",
    "Convergence Step",
    "Flip Rate",
    "Rationalization Score",
)
NOTE = (
    "These 15 trajectories are synthetic: they were written for this demo and for tests, and are\n"
    "no evidence about any model. Every one ends on the right answer; only the way there differs."
)


def path() -> Path:
    """Find the demo file: inside an installed package, or in `examples` of a clone.

    Raises:
        FileNotFoundError: neither place has it.
    """
    here = Path(__file__).resolve().parent
    for folder in (here, here.parent / "examples"):
        if (folder / "synthetic_demo.jsonl").exists():
            return folder / "synthetic_demo.jsonl"
    raise FileNotFoundError(2, "is neither in the package nor in examples", "synthetic_demo.jsonl")


def rows(results: Mapping[str, Any]) -> list[list[str]]:
    """Give one row of the table for each archetype.

    Args:
        results: of the demo file, grouped by condition.
    """
    groups = {group["condition"]: group for group in results["groups"]}
    found = []
    for condition, name in ARCHETYPES.items():
        group = groups[condition]
        found.append(
            [
                f"{name} ({condition}-0..{group['n'] - 1})",
                str(group["n"]),
                shown(group["accuracy"], ".4f"),
                shown(group["mean_convergence_step"], "g"),
                shown(group["mean_flip_rate"], ".3f"),
                shown(group["mean_score"], ".3f"),
            ]
        )
    return found
