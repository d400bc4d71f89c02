"""Retrieval rates and their drift from a blessed baseline as an evaluate module."""

import datasets
import evaluate

from drift_gauge import metric_input


class AlignmentDrift(evaluate.Metric):
    """Rates of retrieved titles, and D where a baseline is given."""

    def _info(self):
        titles = datasets.Sequence(datasets.Value("string"))
        numbers = datasets.Sequence(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description=metric_input.DESCRIPTION,
            inputs_description=metric_input.INPUTS,
            citation=metric_input.CITATION,
            features=datasets.Features(
                {
                    "predictions": {"titles": titles, "distances": numbers},
                    # A float, because an integer column would turn 2.5 into 2.
                    "references": {"expected": titles, "k": datasets.Value("float64")},
                }
            ),
        )

    def add(self, *, prediction=None, reference=None):
        """Add what one query gave, and what was expected."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions=None, references=None):
        """Add what some queries gave, and what was expected."""
        filled = metric_input.filled
        evaluate.Metric.add_batch(
            self,
            predictions=[filled(row, "predictions") for row in predictions],
            references=[filled(row, "references") for row in references],
        )

    def compute(self, *, predictions=None, references=None, **options):
        """Score what was added, or the predictions and references given here."""
        given = predictions is not None and references is not None
        if self.writer is None and self.num_process == 1:
            if not given:
                raise ValueError("nothing to score: give predictions and references, or add some")
            return metric_input.score_rows(predictions, references, **options)
        return evaluate.Metric.compute(
            self, predictions=predictions, references=references, **options
        )

    def _compute(self, predictions, references, **options):
        return metric_input.score_rows(predictions, references, **options)
