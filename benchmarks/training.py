"""The adapter of training loops against the example's encoder on the same items.

Ours is `ComputeMetrics` on gathered logits of all items, for both ways to decode. The peer is
tokenising and encoding their steps and constraints with the encoder of the example. That takes
hours for all items, so it is measured on a sample of items and scaled by their number; the
sentences are drawn from the training split. Memory of ours is the peak of what numpy allocates,
for all items and for half of them.

Run `python benchmarks/training.py`; needs the extra `train`.
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from counting import timed
from rich import box
from rich.console import Console
from rich.table import Table

from drift_onset import schema, training
from drift_onset.reading import typed

TARGET, LINEAR = 0.10, 1.2
CONSTRAINTS = 4
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def items(n: int, steps: int, rng: np.random.Generator) -> Any:
    """Draw logits and lawful labels as a Trainer hands them over; every item has all the steps."""
    lawful = np.array(schema.lawful_states())
    gold = lawful[rng.integers(0, len(lawful), n)]
    widths, labels = [], []
    for target, codes in zip(schema.targets(), gold.T, strict=True):
        names = schema.fields("state")[target].labels
        places = steps if target == schema.targets()[1] else CONSTRAINTS
        labels.append(codes if names else codes * rng.integers(1, places + 1, n))
        widths.append(len(names) or 1 + places)
    labels += [np.full(n, steps), np.full(n, CONSTRAINTS)]
    logits = [rng.normal(0, 2, (n, width)).astype(np.float32) for width in widths]
    return SimpleNamespace(predictions=tuple(logits), label_ids=tuple(labels))


def peak(evaluation: Any, decode: str) -> float:
    """Give the most memory that the adapter holds at a time, in megabytes."""
    metrics = training.ComputeMetrics(decode)
    tracemalloc.start()
    metrics(evaluation)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 1e6


def sentences(items: int, steps: int, rng: np.random.Generator) -> list[str]:
    """Draw the steps and constraints of some items from the training split, with replacement."""
    table = typed.read(schema.resource("data") / "train.csv", schema.LABELLED)
    written = [step["text"] for one in table["trajectory"].to_pylist() for step in one]
    rules = [rule for one in table["constraints"].to_pylist() for rule in one]
    return [*rng.choice(written, items * steps), *rng.choice(rules, items * CONSTRAINTS)]


def main() -> None:
    """Measure, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--sample", type=int, default=32, help="items that are encoded")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    sys.path.insert(0, str(_EXAMPLES))
    import torch
    from reference_model import Encoder

    torch.set_num_threads(2)
    rng = np.random.default_rng(0)
    encoder = Encoder()
    texts = [str(text) for text in sentences(args.sample, args.steps, rng)]
    encoder(texts[:64])
    sampled, _ = timed(lambda: encoder(texts), args.repeats)
    scaled = sampled * args.items / args.sample
    whole, half = (items(n, args.steps, rng) for n in (args.items, args.items // 2))

    table = Table(title=f"{args.items:,} items of {args.steps} steps", box=box.SIMPLE_HEAD)
    for name in ("way", "seconds", "share", "memory, MB", "of half, MB"):
        table.add_column(name, justify="left" if name == "way" else "right")
    table.add_row("tokenising and encoding, scaled", f"{scaled:.0f}", "–", "–", "–")
    shares, growth = [], []
    for decode in training.DECODES:
        metrics = training.ComputeMetrics(decode)
        seconds, _ = timed(lambda metrics=metrics: metrics(whole), args.repeats)
        memory, smaller = peak(whole, decode), peak(half, decode)
        shares.append(seconds / scaled)
        growth.append(memory / (2 * smaller))
        row = (f"{seconds:.2f}", f"{shares[-1]:.4%}", f"{memory:.0f}", f"{smaller:.0f}")
        table.add_row(f"ComputeMetrics(decode={decode!r})", *row)
    console = Console(width=100)
    console.print(table)
    words = sum(len(ids) for ids in encoder.tokenizer(texts)["input_ids"]) / len(texts)
    console.print(f"encoded: {args.sample} items in {sampled:.2f} s, {words:.0f} tokens a sentence")
    met = "met" if max(shares) <= TARGET else "MISSED"
    console.print(f"share {max(shares):.4%}: target ≤ {TARGET:.0%}, {met}")
    met = "met" if max(growth) <= LINEAR else "MISSED"
    console.print(
        f"memory of all by twice that of half: {max(growth):.2f}, target ≤ {LINEAR}, {met}"
    )


if __name__ == "__main__":
    main()
