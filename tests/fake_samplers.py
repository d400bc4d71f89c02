"""Stand-ins for the samplers of Dream and LLaDA: their loops, with a model that knows its text.

What cannot be had here are the checkpoints. The loops do what the published ones do: Dream calls
its hook once before the first step with neither step nor logits, then after every transfer, and
changes the canvas in place; LLaDA predicts everywhere, writes what it trusts most within the
current block, and its decoding records keep the predictions and the positions.
"""

import numpy as np

MASK, END = 12, 13
SYMBOLS = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "=", "<|mdm_mask|>", "<|end|>"]


class Tokenizer:
    """One token a symbol, with special tokens as transformers has them."""

    mask_token_id = MASK
    all_special_ids = (MASK, END)

    def decode(self, ids):
        return "".join(SYMBOLS[token] for token in ids)


def tokens(text):
    return [SYMBOLS.index(symbol) for symbol in text.replace(".", "")] + [END] * text.count(".")


def dream(target, prompt_length, order, hook, history=None, array=np.array, best=None):
    """Sample `target`, writing the positions of `order` step by step."""
    x = array(target)
    x[:, prompt_length:] = MASK
    x = hook(None, x, None)
    for step, positions in enumerate(order):
        logits = np.full((*np.shape(target), len(SYMBOLS)), -1.0)
        np.put_along_axis(logits, np.array(best or target)[..., None], 1.0, axis=-1)
        for position in positions:
            x[:, position] = array(target)[:, position]
        x = hook(step, x, array(logits))
        if history is not None:
            history.append(x + 0)
    return x


def llada_record(target, prompt_length, block_length, seed, forced=()):
    """Decode one sequence and keep what decoding-analysis datasets keep.

    Returns:
        The record with numpy arrays, and the canvas after every step, prompt included.
    """
    rng = np.random.default_rng(seed)
    length = len(target)
    x = np.array(target)
    x[prompt_length:] = MASK
    for position in forced:
        x[position] = target[position]
    x0_history, indices_history, canvases = [], [], []
    for start in range(prompt_length, length, block_length):
        block_x0, block_indices = [], []
        for _ in range(block_length):
            x0 = rng.integers(0, MASK, length)  # what was written is predicted anew, and wrongly
            masked = np.flatnonzero(x == MASK)
            masked = masked[(masked >= start) & (masked < start + block_length)]
            chosen = rng.choice(masked, min(1, len(masked)), replace=False)
            x0[chosen] = np.array(target)[chosen]
            x[chosen] = x0[chosen]
            block_x0.append(x0)
            block_indices.append(np.stack([np.zeros_like(chosen), chosen], axis=1))
            canvases.append(x.copy())
        x0_history.append(np.stack(block_x0))
        indices_history.append(block_indices)
    record = {
        "x0_history": x0_history,
        "true_indices_history": indices_history,
        "prompt_token_len": prompt_length,
        "gen_ids": [int(token) for token in target[prompt_length:]],
    }
    return record, np.stack(canvases)
