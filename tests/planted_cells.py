"""Checks of single cells: state rules, comparisons of columns, labels, numbers, text, JSON."""

from __future__ import annotations

import json
import unicodedata

from planting import Check, cell, original, row

GOLD, BLIND, PRED = "labelled", "blind", "predictions"

# RDOD2-025: six steps, three constraints, visible_failure at 5 from onset 3, unrepaired.
# RDOD2-026: no_drift. RDOD2-027: seven steps, latent_drift from 5, failed_repair.
# RDOD2-028: three steps, recovered_drift from 1, full_repair. RDOD2-033: partial_repair.
CONSTRAINTS: list[str] = json.loads(original("constraints_json"))
STEPS: list[dict[str, object]] = json.loads(original("trajectory_json"))
LOST_28 = original("lost_constraint", 28)
FIRST_26 = json.loads(original("constraints_json", 26))[0]
OTHER_33 = json.loads(original("constraints_json", 33))[3]

LATENT = {
    "outcome_mode": "latent_drift",
    "first_drift_step": "3",
    "mechanism_family": "scope_collapse",
    "repair_outcome": "unrepaired",
    "residual_constraint_id": "1",
}
UNDONE_28 = {"repair_outcome": "failed_repair", "residual_constraint_id": "1"}
PARTIAL_28 = {"repair_outcome": "partial_repair", "residual_constraint_id": "1"}
UNDONE_28_GOLD = {"repair_outcome": "failed_repair", "residual_constraint_failure": LOST_28}
PARTIAL_28_GOLD = {"repair_outcome": "partial_repair", "residual_constraint_failure": LOST_28}
FAILED_25 = {"repair_outcome": "failed_repair", "correction_source": "mixed"}
PARTIAL_25 = {"repair_outcome": "partial_repair", "correction_source": "mixed"}
VISIBLE_27 = {"outcome_mode": "visible_failure", "visible_failure_step": "6"}
FAR_27 = {"first_drift_step": "7", "relative_onset_position": "1"}
BLANK_28 = {"repair_outcome": "full_repair", "residual_constraint_id": ""}


def constraints(*items: object) -> str:
    """The constraints of RDOD2-025 and more items, as JSON."""
    return json.dumps([*CONSTRAINTS, *items], ensure_ascii=False)


def steps(number: object = 6, **more: object) -> str:
    """The steps of RDOD2-025, the last one changed, as JSON."""
    last = {**STEPS[-1], "step": number, **more}
    return json.dumps([*STEPS[:-1], last], ensure_ascii=False)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


# A text of brackets is no nesting; steps in another order of keys are the same steps.
BRACKETS = steps(text="[{" * 100)
TURNED = json.dumps([{"text": s["text"], "step": s["step"]} for s in STEPS])
SPREAD = json.dumps(CONSTRAINTS, indent=2).replace("\n", "\r\n")
TWICE = steps().replace('"step": 6,', '"step": 6, "step": 6,')
HUGE_FLOAT, HUGE_INT = (steps().replace(": 6", f": {n}") for n in ("1e999", "9" * 5000))
ACCENT, NO_ACCENT = "Le r\u00e9sum\u00e9 reste.", "Le resume reste."
DECOMPOSED = unicodedata.normalize("NFD", ACCENT)
SURROGATE, PAIR = constraints("x").replace('"x"', r'"\ud83d"'), constraints("\U0001f600")
SMALL = json.dumps(STEPS, separators=(",", ":"))

# fmt: off
STATES = [
    ("state_no_drift", PRED, 26, "first_drift_step", "3", row(26, **LATENT)),
    ("state_no_drift", PRED, 26, "residual_constraint_id", "1", ""),
    ("state_no_drift", PRED, 26, "repair_outcome", "full_repair", row(28, **BLANK_28)),
    ("state_no_drift", GOLD, 26, "mechanism_family", "scope_collapse",
     row(25, mechanism_family="scope_collapse")),
    ("state_drift", PRED, 25, "mechanism_family", "none", "scope_collapse"),
    ("state_drift", PRED, 25, "first_drift_step", "", "1"),
    ("state_drift", GOLD, 25, "mechanism_family", "none", "scope_collapse"),
    ("state_recovered", PRED, 28, "repair_outcome", row(28, **UNDONE_28), row(28, **PARTIAL_28)),
    ("state_recovered", GOLD, 28, "repair_outcome",
     row(28, **UNDONE_28_GOLD), row(28, **PARTIAL_28_GOLD)),
    ("state_unrecovered", PRED, 25, "repair_outcome", "partial_repair", "failed_repair"),
    ("state_unrecovered", GOLD, 25, "repair_outcome", row(25, **PARTIAL_25), row(25, **FAILED_25)),
    ("state_full_repair", PRED, 28, "residual_constraint_id", "1", ""),
    ("state_full_repair", GOLD, 28, "residual_constraint_failure", LOST_28,
     row(28, **PARTIAL_28_GOLD)),
    ("state_residual", PRED, 33, "residual_constraint_id", "none", "2"),
    ("state_residual", PRED, 33, "residual_constraint_id", "", "2"),
    ("state_residual", GOLD, 33, "residual_constraint_failure", "none", OTHER_33),
    ("secondary_no_drift", GOLD, 26, "lost_constraint", FIRST_26, row(25, severity="low")),
    ("secondary_no_drift", GOLD, 26, "severity", "low", row(25, severity="low")),
    ("secondary_no_drift", GOLD, 26, "drift_mechanism", "early", row(25, drift_mechanism="early")),
    ("secondary_no_drift", GOLD, 26, "recommended_repair", "x", row(25, recommended_repair="x")),
    ("secondary_drift", GOLD, 25, "lost_constraint", "none", CONSTRAINTS[1]),
    ("secondary_drift", GOLD, 25, "severity", "none", "high"),
    ("secondary_drift", GOLD, 25, "drift_mechanism", "none", "none_found"),
    ("secondary_drift", GOLD, 25, "recommended_repair", "none", "none_found"),
    ("secondary_drift", GOLD, 25, "relative_onset_position", "", "0.5"),
    ("visible_failure_step_presence", GOLD, 27, "visible_failure_step", "6", row(27, **VISIBLE_27)),
    ("visible_failure_step_presence", GOLD, 25, "visible_failure_step", "", "4"),
    ("correction_source_state", GOLD, 25, "correction_source", "mixed", row(25, **FAILED_25)),
    ("correction_source_state", GOLD, 27, "correction_source", "not_applicable", "mixed"),
]

COMPARISONS = [
    ("onset_bounds", PRED, 25, "first_drift_step", "7", "6"),
    ("onset_bounds", GOLD, 27, "first_drift_step", "8", row(27, **FAR_27)),
    ("visible_failure_bounds", GOLD, 25, "visible_failure_step", "2", "3"),
    ("visible_failure_bounds", GOLD, 25, "visible_failure_step", "7", "6"),
    ("residual_bounds", PRED, 25, "residual_constraint_id", "4", "3"),
    ("residual_constraint_text", GOLD, 25, "residual_constraint_failure",
     CONSTRAINTS[1] + " ", CONSTRAINTS[1]),
    ("lost_constraint_text", GOLD, 25, "lost_constraint", CONSTRAINTS[1].lower(), CONSTRAINTS[1]),
    ("trajectory_length_value", GOLD, 25, "trajectory_length", "5",
     row(25, trajectory_json=SMALL, trajectory_length="6")),
    ("relative_onset_value", GOLD, 25, "relative_onset_position", "0.5000006", "0.5000004"),
]

LABELS = [
    ("unknown_outcome_mode", GOLD, 25, "outcome_mode", "Visible_failure",
     row(25, outcome_mode="latent_drift", visible_failure_step="")),
    ("unknown_outcome_mode", PRED, 25, "outcome_mode", "visible_failure ", "latent_drift"),
    ("unknown_mechanism_family", GOLD, 25, "mechanism_family", "scope_colapse", "scope_collapse"),
    ("unknown_mechanism_family", PRED, 25, "mechanism_family", "\u00a0scope_collapse",
     "scope_collapse"),
    ("unknown_repair_outcome", GOLD, 25, "repair_outcome", "unrepaired\u200b",
     row(25, **FAILED_25)),
    ("unknown_repair_outcome", PRED, 25, "repair_outcome", "", "failed_repair"),
    ("unknown_correction_source", GOLD, 27, "correction_source", "MIXED", "mixed"),
    ("unknown_severity", GOLD, 25, "severity", "severe", "high"),
]

NUMBERS = [
    ("first_drift_step_integer", GOLD, 25, "first_drift_step", "3.0",
     row(25, first_drift_step="2", relative_onset_position="0.333333")),
    ("first_drift_step_integer", PRED, 25, "first_drift_step", "3.5", "3.0"),
    ("visible_failure_step_integer", GOLD, 25, "visible_failure_step", "05", "6"),
    ("residual_constraint_id_integer", PRED, 25, "residual_constraint_id", "0", "2"),
    ("trajectory_length_integer", GOLD, 25, "trajectory_length", "", row(25, domain="x")),
    ("trajectory_length_integer", GOLD, 25, "trajectory_length", "6.0", row(25, domain="x")),
    ("relative_onset_position_range", GOLD, 25, "relative_onset_position", "50%", ".5"),
    ("annotation_confidence_range", GOLD, 25, "annotation_confidence", "1.01", "1"),
    ("annotation_confidence_range", GOLD, 25, "annotation_confidence", "", "0"),
    ("confidence_range", PRED, 25, "confidence", "91", "0.91"),
    ("confidence_range", PRED, 25, "confidence", "nan", ""),
    ("confidence_range", PRED, 25, "confidence", "-0.1", "1e-1"),
]

TEXTS = [
    ("scenario_id_text", GOLD, 25, "scenario_id", "RDOD2\t025", "RDOD2 025 \u00e9"),
    ("scenario_id_text", BLIND, 25, "scenario_id", "\u3000", "007"),
    ("domain_text", GOLD, 25, "domain", "", "NA"),
    ("domain_text", BLIND, 25, "domain", " ", "null"),
    ("task_text", GOLD, 25, "task", "\u00a0\n", "\u00a0\nNone"),
    ("task_text", BLIND, 25, "task", "", "one line,\r\nand \"two\""),
    ("residual_constraint_failure_text", GOLD, 25, "residual_constraint_failure", "",
     CONSTRAINTS[1]),
    ("lost_constraint_text", GOLD, 25, "lost_constraint", " ", CONSTRAINTS[1]),
    ("drift_mechanism_text", GOLD, 25, "drift_mechanism", "Early-Closure", "early_closure_2"),
    ("recommended_repair_text", GOLD, 25, "recommended_repair", "reopen__branch", "reopen"),
    ("repair_instruction_text", GOLD, 25, "repair_instruction", "\t", "Reopen."),
    ("trajectory_structure_text", GOLD, 25, "trajectory_structure", "2_peaks", "peaks_2"),
]

JSON = [
    ("json_invalid", kind, 25, "constraints_json", "['a', 'b']", SPREAD) for kind in (GOLD, BLIND)
] + [
    ("json_invalid", GOLD, 25, "constraints_json", SURROGATE, PAIR),
    ("json_invalid", GOLD, 25, "trajectory_json", "", TURNED),
    ("json_invalid", BLIND, 25, "trajectory_json", steps() + ",", steps() + " "),
    ("json_duplicate_key", GOLD, 25, "trajectory_json", TWICE, TURNED),
    ("json_number", GOLD, 25, "trajectory_json", steps(float("nan")), SMALL),
    ("json_number", GOLD, 25, "trajectory_json", steps(2**31), SMALL),
    ("json_number", BLIND, 25, "trajectory_json", HUGE_FLOAT, SMALL),
    ("json_number", BLIND, 25, "trajectory_json", HUGE_INT, SMALL),
    ("json_depth", GOLD, 25, "trajectory_json", nested(65), BRACKETS),
    ("json_depth", BLIND, 25, "constraints_json", "[" * 100_000, constraints("[" * 100_000)),
    ("json_type", GOLD, 25, "constraints_json", '{"1": "a"}', constraints("a")),
    ("json_type", GOLD, 25, "trajectory_json", json.dumps(steps()), TURNED),
    ("json_type", BLIND, 25, "constraints_json", "null", '["null"]'),
    ("constraints_structure", GOLD, 26, "constraints_json", "[]", '["a"]'),
    ("constraints_structure", GOLD, 25, "constraints_json", constraints(" nONE "),
     constraints("None of them")),
    ("constraints_structure", GOLD, 25, "constraints_json", constraints(" "), constraints(".")),
    ("constraints_structure", BLIND, 25, "constraints_json", constraints(1), constraints("1")),
    ("trajectory_structure", GOLD, 25, "trajectory_json", steps(note="x"), TURNED),
    ("trajectory_structure", GOLD, 25, "trajectory_json", steps(text=""), steps(text="x")),
    ("trajectory_structure", GOLD, 25, "trajectory_json", steps(text=True), steps(text="true")),
    ("trajectory_structure", BLIND, 25, "trajectory_json", '["a"]', '[{"step": 1, "text": "a"}]'),
    ("constraint_duplicate", GOLD, 25, "constraints_json", constraints(ACCENT, DECOMPOSED),
     constraints(ACCENT, NO_ACCENT)),
    ("constraint_duplicate", BLIND, 25, "constraints_json", constraints(CONSTRAINTS[0].upper()),
     constraints(CONSTRAINTS[0] + ".")),
    ("step_number", GOLD, 25, "trajectory_json", steps(7), SMALL),
    ("step_number", GOLD, 25, "trajectory_json", steps(6.0), SMALL),
    ("step_number", BLIND, 25, "trajectory_json", steps(5), SMALL),
]
# fmt: on

CELLS: list[Check] = [cell(*one) for one in STATES + COMPARISONS + LABELS + NUMBERS + TEXTS + JSON]
