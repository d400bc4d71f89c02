"""`python -m drift_gauge`."""

import sys

from drift_gauge.cli import main

if __name__ == "__main__":
    sys.exit(main())
