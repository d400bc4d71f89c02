"""What inspect-ai finds under the name of the package: `drift_onset/reasoning_drift`."""

from __future__ import annotations

from inspect_ai import task

from drift_onset.harness.inspect_task import reasoning_drift

# Inspect puts the name of the package in front where the module lies in site-packages. In an
# editable install it does so only if package and distribution have one name, and these have not.
if "site-packages" not in __file__:
    task(name="drift_onset/reasoning_drift")(reasoning_drift)
