"""The alignment drift gauge: D(t) over a frozen golden set, its gate, its history.

Importing it costs numpy and the standard library.

Example:
    >>> import drift_gauge
    >>> from drift_gauge.retrievers import embedded_retriever
    >>> reading = drift_gauge.measure_drift(embedded_retriever())
    >>> reading.drift <= reading.theta
    True
"""

from drift_core import __version__
from drift_gauge.drift import DriftConfig, DriftReport, measure_drift
from drift_gauge.effector_drift import EffectClass, EffectorAnchor, measure_effector_drift
from drift_gauge.gate import GateReport, build_golden_validator
from drift_gauge.golden import GoldenQuery, evaluate, load_baseline, load_golden_set
from drift_gauge.ledger import EffectLedger

__all__ = [
    "DriftConfig",
    "DriftReport",
    "EffectClass",
    "EffectLedger",
    "EffectorAnchor",
    "GateReport",
    "GoldenQuery",
    "__version__",
    "build_golden_validator",
    "evaluate",
    "load_baseline",
    "load_golden_set",
    "measure_drift",
    "measure_effector_drift",
]
