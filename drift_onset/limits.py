"""What the options of scoring may be. Free of imports, so that `--help` answers at once."""

ON_INVALID = ("error", "incorrect")
MAX_RESAMPLES = 100_000
MAX_SEED = 2**63 - 1
COMPARE_RESAMPLES = 10_000
FEW_ROWS = 100  # below, a single row moves an accuracy by more than one point
