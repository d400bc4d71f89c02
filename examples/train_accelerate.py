"""The reference model in a loop under accelerate, on one process or several.

Run `ACCELERATE_USE_CPU=true torchrun --nproc_per_node 2 examples/train_accelerate.py` in a clone
with the extra `train`. The numbers are those of `train_loop.py`: the processes share each batch.
"""

from __future__ import annotations

import argparse
from copy import deepcopy
from pathlib import Path
from typing import Any

import evaluate
import torch
from accelerate import Accelerator
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
from train_loop import METRIC

from drift_onset import schema, training


def gathered(accelerator: Accelerator, arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Give the batches of all processes as one, without the items that only filled it up."""
    padded = accelerator.pad_across_processes(arrays, dim=1, pad_index=training.MASKED)
    return accelerator.gather_for_metrics(padded)


@torch.no_grad()
def evaluated(accelerator: Accelerator, model: Any, batches: Any, metric: Any) -> dict[str, float]:
    """Give loss and metrics of a split, the same on every process."""
    model.eval()
    losses = []
    for batch in batches:
        output = model(**batch)
        logits = gathered(accelerator, {target: output[target] for target in schema.targets()})
        gold = gathered(accelerator, {name: batch[name] for name in training.LABEL_NAMES})
        decoded = training.decode_states(
            logits, gold["n_steps"], gold["n_constraints"], decode="lawful"
        )
        metric.add_batch(predictions=decoded.to_columns(), references=training.state_columns(gold))
        each = output["loss"].repeat(len(batch["n_steps"]))
        losses.append(accelerator.gather_for_metrics(each))
    loss = torch.cat(losses).mean().item()
    return {"loss": loss, **metric.compute(on_invalid="incorrect")}


def fitted(
    accelerator: Accelerator, train: Scenarios, dev: Scenarios
) -> tuple[StateModel, list[dict[str, float]]]:
    """Train; give the model of the epoch with the lowest loss on dev, and what dev said."""
    seeded()
    # Every process scores what was gathered, in a cache of its own.
    metric = evaluate.load(METRIC, experiment_id=f"process-{accelerator.process_index}")
    model = StateModel()
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.0)
    share = accelerator.num_processes
    model, optimizer, batches, dev_batches = accelerator.prepare(
        model,
        optimizer,
        DataLoader(train, BATCH // share, shuffle=True, collate_fn=collate),
        DataLoader(dev, EVAL_BATCH // share, collate_fn=collate),
    )
    history: list[dict[str, float]] = []
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for batch in batches:
            optimizer.zero_grad()
            accelerator.backward(model(**batch)["loss"])
            optimizer.step()
        found = evaluated(accelerator, model, dev_batches, metric)
        if not history or found["loss"] < min(one["loss"] for one in history):
            best = deepcopy(accelerator.unwrap_model(model).state_dict())
        history.append(found)
        line = f"epoch {epoch}  loss {found['loss']:.4f}  {leaderboards(found)}"
        accelerator.print(line, flush=True)
    own = accelerator.unwrap_model(model)
    own.load_state_dict(best)
    return own, history


def main() -> None:
    """Train, and write predictions and what dev said after each epoch."""
    parser = argparse.ArgumentParser(description="Train the reference model under accelerate.")
    parser.add_argument("--output", type=Path, default=Path("results/accelerate"))
    output = parser.parse_args().output
    accelerator = Accelerator(cpu=True)
    model, history = fitted(accelerator, Scenarios("train"), Scenarios("dev"))
    if accelerator.is_main_process:
        blind = Scenarios("test_blind")
        training.write_predictions(output / "predictions.csv", blind.ids, answers(model, blind))
        write_history(output, accelerator.num_processes, history)
    accelerator.end_training()


if __name__ == "__main__":
    main()
