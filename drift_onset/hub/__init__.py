"""The Hub: build the repositories, push them, publish a model's results."""

OWNER = "ClarusC64"
DATASET = "reasoning-drift-onset-detection-v0.2"
SUMMARY = (
    "Short reasoning trajectories under governing constraints. Where was a constraint lost, how, "
    "and was it repaired? The whole state is to be reconstructed."
)
