"""The reference model in a plain PyTorch loop: `metric.add_batch` per step, `compute` per epoch.

Run `python examples/train_loop.py` in a clone with the extra `train`. The numbers are those of
`train_reference.py` for the configuration that it chooses.
"""

from __future__ import annotations

import argparse
from copy import deepcopy
from pathlib import Path
from typing import Any

import evaluate
import torch
from reference_model import (
    BATCH,
    EPOCHS,
    EVAL_BATCH,
    LEARNING_RATE,
    Scenarios,
    StateModel,
    answers,
    collate,
    leaderboards,
    seeded,
    write_history,
)
from torch.utils.data import DataLoader

from drift_onset import schema, training

METRIC = str(schema.resource("metric") / "reasoning_state")


@torch.no_grad()
def evaluated(model: StateModel, batches: DataLoader[Any], metric: Any) -> dict[str, float]:
    """Give loss and metrics of a split."""
    model.eval()
    loss = seen = 0
    for batch in batches:
        output = model(**batch)
        decoded = training.decode_states(
            output, batch["n_steps"], batch["n_constraints"], decode="lawful"
        )
        metric.add_batch(predictions=decoded.to_columns(), references=training.state_columns(batch))
        loss += output["loss"].item() * len(batch["n_steps"])
        seen += len(batch["n_steps"])
    return {"loss": loss / seen, **metric.compute(on_invalid="incorrect")}


def fitted(train: Scenarios, dev: Scenarios) -> tuple[StateModel, list[dict[str, float]]]:
    """Train; give the model of the epoch with the lowest loss on dev, and what dev said."""
    seeded()
    model, metric = StateModel(), evaluate.load(METRIC)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.0)
    batches = DataLoader(train, BATCH, shuffle=True, collate_fn=collate)
    dev_batches = DataLoader(dev, EVAL_BATCH, collate_fn=collate)
    history: list[dict[str, float]] = []
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for batch in batches:
            optimizer.zero_grad()
            model(**batch)["loss"].backward()
            optimizer.step()
        found = evaluated(model, dev_batches, metric)
        if not history or found["loss"] < min(one["loss"] for one in history):
            best = deepcopy(model.state_dict())
        history.append(found)
        print(f"epoch {epoch}  loss {found['loss']:.4f}  {leaderboards(found)}", flush=True)
    model.load_state_dict(best)
    return model, history


def main() -> None:
    """Train, and write predictions and what dev said after each epoch."""
    parser = argparse.ArgumentParser(description="Train the reference model in a plain loop.")
    parser.add_argument("--output", type=Path, default=Path("results/loop"))
    output = parser.parse_args().output
    model, history = fitted(Scenarios("train"), Scenarios("dev"))
    blind = Scenarios("test_blind")
    training.write_predictions(output / "predictions.csv", blind.ids, answers(model, blind))
    write_history(output, 1, history)


if __name__ == "__main__":
    main()
