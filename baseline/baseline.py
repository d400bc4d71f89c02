"""The benchmark's weak baseline; `reasoning-drift baseline` does the same."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drift_onset.cli import script

if __name__ == "__main__":
    sys.exit(script("baseline"))
