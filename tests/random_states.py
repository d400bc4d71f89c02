"""Random lawful data for tests, written without the package's own reading or checking code."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

OUTCOMES = ("no_drift", "latent_drift", "recovered_drift", "visible_failure")
FAMILIES = (
    "none",
    "premature_constraint_closure",
    "scope_collapse",
    "causal_scope_collapse",
    "multi_causal_collapse",
    "multi_objective_collapse",
    "proxy_substitution",
    "evidence_suppression",
    "evaluation_scope_collapse",
)
REPAIRS = ("not_applicable", "full_repair", "partial_repair", "failed_repair", "unrepaired")
LABELS = {"outcome_mode": OUTCOMES, "mechanism_family": FAMILIES, "repair_outcome": REPAIRS}
TARGETS = (
    "outcome_mode",
    "first_drift_step",
    "mechanism_family",
    "repair_outcome",
    "residual_constraint_id",
)
LABELLED_HEADER = (
    "scenario_id",
    "domain",
    "task",
    "constraints_json",
    "trajectory_json",
    "outcome_mode",
    "first_drift_step",
    "mechanism_family",
    "repair_outcome",
    "residual_constraint_failure",
    "drift_mechanism",
    "correction_source",
    "lost_constraint",
    "visible_failure_step",
    "severity",
    "recommended_repair",
    "repair_instruction",
    "trajectory_length",
    "relative_onset_position",
    "trajectory_structure",
    "annotation_confidence",
)
PREDICTION_HEADER = ("scenario_id", *(f"predicted_{name}" for name in TARGETS))

_REPAIRS_OF = {
    "latent_drift": ("failed_repair", "unrepaired"),
    "recovered_drift": ("full_repair", "partial_repair"),
    "visible_failure": ("failed_repair", "unrepaired"),
}


def lawful_state(rng, steps=6, constraints=4, outcomes=OUTCOMES, families=FAMILIES[1:]):
    """Draw the five targets of one row; `rng` is a random.Random."""
    outcome = rng.choice(outcomes)
    if outcome == "no_drift":
        values = (outcome, None, "none", "not_applicable", None)
    else:
        repair = rng.choice(_REPAIRS_OF[outcome])
        residual = None if repair == "full_repair" else rng.randint(1, constraints)
        values = (outcome, rng.randint(1, steps), rng.choice(families), repair, residual)
    return dict(zip(TARGETS, values, strict=True))


def gold_rows(rng, n, **options):
    """Draw n gold rows: identifier, five targets, constraints and steps as lists of texts."""
    rows = []
    for number in range(n):
        constraints = [f'Rule {k}, "as it is"' for k in range(1, rng.randint(2, 5))]
        steps = [f"Step {k} é {{x}}" for k in range(1, rng.randint(2, 8))]
        state = lawful_state(rng, len(steps), len(constraints), **options)
        # Identifiers of several lengths, not in their own order.
        name = f"id-{(number * 7919) % 100_003}"
        rows.append({"scenario_id": name, **state, "constraints": constraints, "steps": steps})
    return rows


def answer_rows(rng, gold, confidence=None, right=0.5, **options):
    """Draw a lawful prediction for every gold row.

    `confidence` gives one for each row (or None); without it there is no such column.
    """
    rows = []
    for row in gold:
        steps, constraints = len(row["steps"]), len(row["constraints"])
        state = {name: row[name] for name in TARGETS}
        if rng.random() > right:
            state = lawful_state(rng, steps, constraints, **options)
        elif state["first_drift_step"] is not None and rng.random() < 0.3:
            state["first_drift_step"] = rng.randint(1, steps)
        answer = {"scenario_id": row["scenario_id"]}
        answer.update({f"predicted_{name}": value for name, value in state.items()})
        if confidence is not None:
            answer["confidence"] = confidence()
        rows.append(answer)
    return rows


def five_targets(rows):
    """Give gold rows with the identifier and the five targets only."""
    return [{name: row[name] for name in ("scenario_id", *TARGETS)} for row in rows]


def labelled_record(rng, row):
    """Give a gold row as a whole labelled record, blank as None, decoded columns included."""
    constraints, steps = row["constraints"], row["steps"]
    onset, residual, outcome = (
        row["first_drift_step"],
        row["residual_constraint_id"],
        row["outcome_mode"],
    )
    drift = outcome != "no_drift"
    attempted = row["repair_outcome"] not in ("not_applicable", "unrepaired")
    source = rng.choice(("self_correction", "external_intervention", "mixed"))
    trajectory = [{"step": k, "text": text} for k, text in enumerate(steps, 1)]
    return {
        "scenario_id": row["scenario_id"],
        "domain": "NA",
        "task": "Decide; carefully,\nin two lines.",
        "constraints_json": json.dumps(constraints),
        "trajectory_json": json.dumps(trajectory, ensure_ascii=rng.random() < 0.5),
        "outcome_mode": outcome,
        "first_drift_step": onset,
        "mechanism_family": row["mechanism_family"],
        "repair_outcome": row["repair_outcome"],
        "residual_constraint_failure": "none" if residual is None else constraints[residual - 1],
        "drift_mechanism": "early_narrowing" if drift else "none",
        "correction_source": source if attempted else "not_applicable",
        "lost_constraint": rng.choice(constraints) if drift else "none",
        "visible_failure_step": (
            rng.randint(onset, len(steps)) if outcome == "visible_failure" else None
        ),
        "severity": rng.choice(("low", "medium", "high")) if drift else "none",
        "recommended_repair": "reopen" if drift else "none",
        "repair_instruction": "null",
        "trajectory_length": len(steps),
        "relative_onset_position": onset / len(steps) if drift else None,
        "trajectory_structure": "linear",
        "annotation_confidence": 0.75,
        "constraints": constraints,
        "trajectory": trajectory,
        "residual_constraint_id": residual,
    }


def csv_text(rows, header, line_end="\n"):
    """Write rows as CSV; None is a blank cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, header, extrasaction="ignore", lineterminator=line_end)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_gold(path, rng, rows, *, bom=False, line_end="\n"):
    """Write gold rows as a labelled file; gives its path."""
    records = [labelled_record(rng, row) for row in rows]
    text = csv_text(records, LABELLED_HEADER, line_end)
    Path(path).write_bytes(text.encode("utf-8-sig" if bom else "utf-8"))
    return path


def write_answers(path, rows):
    """Write predictions as a file, with a confidence column if the rows have one; its path."""
    header = PREDICTION_HEADER
    if rows and "confidence" in rows[0]:
        header = (*header, "confidence")
    Path(path).write_text(csv_text(rows, header), encoding="utf-8", newline="\n")
    return path
