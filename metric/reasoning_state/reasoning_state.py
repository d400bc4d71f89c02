"""Both leaderboards of Reasoning Drift Onset Detection v0.2 as an evaluate module."""

import datasets
import evaluate

from drift_onset import metric_input


class ReasoningState(evaluate.Metric):
    """Rows go through evaluate's cache as text: its typed columns would turn 3.5 into 3."""

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=metric_input.DESCRIPTION,
            inputs_description=metric_input.INPUTS,
            citation=metric_input.CITATION,
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def add(self, *, prediction=None, reference=None):
        """Add one prediction and its reference."""
        pack = metric_input.pack
        evaluate.Metric.add(self, prediction=pack(prediction), reference=pack(reference))

    def add_batch(self, *, predictions=None, references=None):
        """Add some predictions and their references."""
        packed = [
            [metric_input.pack(row) for row in metric_input.as_rows(rows)]
            for rows in (predictions, references)
        ]
        evaluate.Metric.add_batch(self, predictions=packed[0], references=packed[1])

    def compute(self, *, predictions=None, references=None, **options):
        """Score what was added, or the predictions and references given here."""
        given = predictions is not None and references is not None
        if self.writer is None and self.num_process == 1:
            if not given:
                raise ValueError("nothing to score: give predictions and references, or add some")
            return metric_input.evaluate_rows(predictions, references, **options)
        try:
            return evaluate.Metric.compute(
                self, predictions=predictions, references=references, **options
            )
        except Exception:
            self._forget()
            raise

    def _forget(self):
        """Drop what was added, so that a failed compute leaves nothing to the next one."""
        if self.writer is not None:
            self.writer.finalize()
        locks = self.filelocks or ([self.filelock] if self.filelock else [])
        for lock in locks:
            lock.release()
        self.writer = self.filelock = self.cache_file_name = self.data = None
        self.filelocks = self.file_paths = None

    def _compute(self, predictions, references, **options):
        unpack = metric_input.unpack
        return metric_input.evaluate_rows(unpack(predictions), unpack(references), **options)
