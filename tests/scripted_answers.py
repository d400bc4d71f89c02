"""What scripted models say of the twelve test scenarios, and how each saying must be read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

TARGETS = (
    "outcome_mode",
    "first_drift_step",
    "mechanism_family",
    "repair_outcome",
    "residual_constraint_id",
)


def gold(root: Path) -> dict[str, dict]:
    """Read the five targets of the test split, without the package's own code."""
    found = {}
    with (root / "data" / "test.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            onset, residual = row["first_drift_step"], row["residual_constraint_failure"]
            constraints = json.loads(row["constraints_json"])
            state = {name: row[name] for name in TARGETS[:-1]}
            state["first_drift_step"] = int(onset) if onset else None
            known = residual != "none"
            state["residual_constraint_id"] = constraints.index(residual) + 1 if known else None
            found[row["scenario_id"]] = state
    return found


def sayings(root: Path) -> dict[str, tuple[str, dict | None]]:
    """Give scenario → what is said of it, and the state that was meant; None if unreadable."""
    right = gold(root)
    ids = list(right)
    wrong = {
        "outcome_mode": "visible_failure",
        "first_drift_step": 2,
        "mechanism_family": "scope_collapse",
        "repair_outcome": "failed_repair",
        "residual_constraint_id": 2,
    }

    def said(scenario, state=None, **more):
        return json.dumps({"scenario_id": scenario, **(state or right[scenario]), **more})

    def shouted(scenario):
        keys = {f"PREDICTED_{name.upper()}": value for name, value in right[scenario].items()}
        return json.dumps({**keys, "Confidence": 0.35}, indent=4)

    off_by_one = {**wrong, "residual_constraint_id": 0}
    unlawful = {**wrong, "outcome_mode": "no_drift"}
    texts = {
        ids[0]: (said(ids[0], confidence=0.91), {**right[ids[0]], "confidence": 0.91}),
        ids[1]: (f"```json\n{said(ids[1])}\n```", right[ids[1]]),
        ids[2]: (
            f"Let {{x}} be the onset. So `{said(ids[2], wrong, confidence=0.6)}`. Any questions?",
            {**wrong, "confidence": 0.6},
        ),
        ids[3]: (f"```json\n{said(ids[3])[:-9]}", None),
        ids[4]: ("", None),
        ids[5]: (shouted(ids[5]), {**right[ids[5]], "confidence": 0.35}),
        ids[6]: (f"{said(ids[6])}\nOr rather:\n{said(ids[6], wrong)}", None),
        ids[7]: (said(ids[7], off_by_one), None),
        ids[8]: (said(ids[9], right[ids[8]]), None),
        ids[9]: (f"<think>{said(ids[9], wrong)}</think>\n{said(ids[9])}", right[ids[9]]),
        ids[10]: (f"{said(ids[10], wrong)}\n\nFinal answer:\n{said(ids[10], wrong)}", wrong),
        ids[11]: (said(ids[11], unlawful), None),
    }
    return texts


def rows(meant: dict[str, tuple[str, dict | None]]) -> list[dict]:
    """Give the readable ones as rows of a prediction file."""
    return [
        {
            "scenario_id": scenario,
            **{f"predicted_{name}": state[name] for name in TARGETS},
            "confidence": state.get("confidence"),
        }
        for scenario, (_, state) in meant.items()
        if state is not None
    ]
