"""The frozen anchor as a whole: golden set, baseline and configuration that belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drift_core.problems import InvalidInput, escaped
from drift_gauge import documents
from drift_gauge.axes import DriftConfig, config_of
from drift_gauge.documents import blessed_metrics
from drift_gauge.golden import (
    GoldenQuery,
    Retriever,
    load_baseline,
    load_golden_set,
)
from drift_gauge.notes import NO_DRIFT_SECTION


@dataclass(frozen=True)
class Anchor:
    """What a retriever is measured against.

    Attributes:
        golden: the queries, at least one.
        baseline: a whole baseline, or its `metrics` section.
        cfg: tolerances and Θ.
        notes: which defaults it stands on.
        constitution: the live constitution; None for the one that the environment names.
    """

    golden: Sequence[GoldenQuery]
    baseline: Mapping[str, Any]
    cfg: DriftConfig
    notes: tuple[str, ...]
    constitution: documents.Path | None = None

    @classmethod
    def of(
        cls,
        retriever: Retriever | str,
        golden: Sequence[GoldenQuery] | None = None,
        baseline: Mapping[str, Any] | None = None,
        cfg: DriftConfig | None = None,
        *,
        file: documents.Path = documents.IN_MEMORY,
    ) -> Anchor:
        """Fill up what is None: from the package, and the configuration from the baseline.

        Args:
            retriever: a retriever, or its name; one without a name fits every baseline.
            golden: the queries; an empty set is an error, not the default.
            baseline: a whole baseline, or its `metrics` section; an empty one is an error.
            cfg: tolerances and Θ.
            file: what a problem calls the baseline.

        Raises:
            ValueError: the golden set or the baseline is empty or wrong, or the baseline is that
                of another retriever.
        """
        queries = load_golden_set() if golden is None else golden
        if not queries:
            raise ValueError("Expected argument `golden` to hold at least one query but got none")
        blessed = load_baseline() if baseline is None else baseline
        blessed_metrics(blessed)  # raises what is wrong with it
        _check_retriever(retriever, blessed, file)
        if cfg is not None:
            return cls(queries, blessed, cfg, ())
        config = config_of(blessed) if "metrics" in blessed else DriftConfig()
        return cls(queries, blessed, config, () if "drift" in blessed else (NO_DRIFT_SECTION,))


def _check_retriever(
    retriever: Retriever | str, baseline: Mapping[str, Any], file: documents.Path
) -> None:
    """Hold the name of a retriever to the one that a baseline was blessed with."""
    name = retriever if isinstance(retriever, str) else getattr(retriever, "name", None)
    blessed = baseline.get("retriever")
    if name is not None and blessed is not None and name != blessed:
        message = f"blessed with {escaped(blessed)}, but the retriever is {escaped(name)}"
        raise InvalidInput([documents.problem("retriever", file, "retriever", message)])
