"""What the evaluate modules here have in common; the only file of this package that needs evaluate.

Rows go through evaluate's cache as text: its typed columns would turn 3.5 into 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import datasets
import evaluate

from drift_core import CITATION, packing


class PackedMetric(evaluate.Metric):  # type: ignore[misc]
    """A metric over rows of any form, packed into text for the cache.

    A module says `DESCRIPTION` and `INPUTS`, how to `score` two lists of items and, where it is not
    as below, what to cite, whether it `NEEDS_REFERENCES`, how to `pack` an item, and how to take a
    batch apart into items.
    """

    DESCRIPTION = INPUTS = ""
    CITATION = CITATION
    NEEDS_REFERENCES = True
    pack = staticmethod(packing.pack)
    writer: Any
    filelock: Any
    filelocks: Any
    score: Callable[..., dict[str, Any]]

    @staticmethod
    def as_items(batch: Any) -> list[Any]:
        """Take a batch apart into its items."""
        return list(batch)

    def _info(self) -> Any:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=self.DESCRIPTION,
            inputs_description=self.INPUTS,
            citation=self.CITATION,
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add one prediction and its reference."""
        super().add(prediction=self.pack(prediction), reference=self.pack(reference))

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add some predictions and their references."""
        items = self.as_items(predictions)
        others = [None] * len(items) if references is None else self.as_items(references)
        packed = [list(map(self.pack, items)), list(map(self.pack, others))]
        super().add_batch(predictions=packed[0], references=packed[1])

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """Score what was added, or what is given here."""
        if self.writer is None and self.num_process == 1:
            if predictions is None or (references is None and self.NEEDS_REFERENCES):
                needed = "predictions and references" if self.NEEDS_REFERENCES else "predictions"
                raise ValueError(f"nothing to score: give {needed}, or add some")
            return self.score(predictions, references, **options)
        try:
            return super().compute(predictions=predictions, references=references, **options)
        except Exception:
            self._forget()
            raise

    def _forget(self) -> None:
        """Drop what was added, so that a failed compute leaves nothing to the next one."""
        if self.writer is not None:
            self.writer.finalize()
        for lock in self.filelocks or ([self.filelock] if self.filelock else []):
            lock.release()
        self.writer = self.filelock = self.cache_file_name = self.data = None
        self.filelocks = self.file_paths = None

    def _compute(self, predictions: Any, references: Any, **options: Any) -> Any:
        unpack = packing.unpack
        return self.score(unpack(predictions), unpack(references), **options)
