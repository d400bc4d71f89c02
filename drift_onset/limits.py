"""What the options of scoring may be. Free of imports, so that `--help` answers at once."""

ON_INVALID = ("error", "incorrect")
MAX_RESAMPLES = 100_000
MAX_SEED = 2**63 - 1
