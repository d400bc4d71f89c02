"""Train the reference model with transformers' Trainer: on train, chosen on dev, scored on test.

Every configuration is trained; the epoch and then the configuration with the lowest loss on dev are
kept. (With eight scenarios in dev the leaderboards move in steps too large to choose by.) The test
split is scored once, at the end, from predictions on its blind inputs.

Run `python examples/train_reference.py` in a clone with the extra `train`; minutes on two cores.
"""

from __future__ import annotations

import argparse
import itertools
import os
from pathlib import Path

from reference_model import (
    BATCH,
    EPOCHS,
    EVAL_BATCH,
    Scenarios,
    StateModel,
    answers,
    collate,
    leaderboards,
    seeded,
    write_history,
)
from rich.console import Console
from transformers import Trainer, TrainingArguments

import drift_onset
from drift_core.files import write_json
from drift_onset import schema, training
from drift_onset.scores import METRICS
from drift_onset.show import show

CONFIGURATIONS = tuple(itertools.product((16, 64), (1e-3, 3e-3)))


def fitted(
    splits: tuple[Scenarios, Scenarios], hidden: int, learning_rate: float, folder: Path
) -> Trainer:
    """Train one configuration.

    Args:
        splits: train and dev.
        hidden: see `StateModel`.
        learning_rate: of AdamW, constant.
        folder: where the best and the last epoch are saved.

    Returns:
        The trainer, holding the model of the epoch with the lowest loss on dev.
    """
    seeded()
    processes = int(os.environ.get("WORLD_SIZE", 1))
    arguments = TrainingArguments(
        str(folder),
        num_train_epochs=EPOCHS,
        per_device_train_batch_size=BATCH // processes,
        per_device_eval_batch_size=EVAL_BATCH // processes,
        learning_rate=learning_rate,
        lr_scheduler_type="constant",
        max_grad_norm=0.0,
        optim="adamw_torch",
        label_names=list(training.LABEL_NAMES),
        batch_eval_metrics=True,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model="loss",
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,
        disable_tqdm=True,
        report_to="none",
        use_cpu=True,
    )
    metrics = training.ComputeMetrics(decode="lawful")
    trainer = Trainer(StateModel(hidden), arguments, collate, *splits, compute_metrics=metrics)
    trainer.train()
    return trainer


def history(trainer: Trainer) -> list[dict[str, float]]:
    """Give loss and metrics of dev after each epoch, as the other loops have them."""
    entries = [entry for entry in trainer.state.log_history if "eval_loss" in entry]
    names = ("loss", *METRICS)
    return [
        {name: entry[f"eval_{name}"] for name in names if f"eval_{name}" in entry}
        for entry in entries
    ]


def write(output: Path, trainer: Trainer, chosen: dict[str, float]) -> None:
    """Write predictions on the blind test, their report, and how the model was trained."""
    write_history(output, trainer.args.world_size, history(trainer))
    write_json(output / "training.json", chosen)
    blind = Scenarios("test_blind")
    predictions = output / "predictions.csv"
    training.write_predictions(predictions, blind.ids, answers(trainer.model, blind))
    report = drift_onset.score(schema.resource("data") / "test.csv", predictions)
    report.write(output / "report.json")
    show(report.to_dict(), Console())


def main() -> None:
    """Train, choose, predict, score."""
    parser = argparse.ArgumentParser(description="Train and score the reference model.")
    parser.add_argument("--output", type=Path, default=Path("results/reference"))
    output = parser.parse_args().output
    splits = Scenarios("train"), Scenarios("dev")
    tried: list[tuple[dict[str, float], Trainer]] = []
    for hidden, learning_rate in CONFIGURATIONS:
        folder = output / "checkpoints" / f"{hidden}-{learning_rate}"
        trainer = fitted(splits, hidden, learning_rate, folder)
        best = min(history(trainer), key=lambda epoch: epoch["loss"])
        found = {"hidden": hidden, "learning_rate": learning_rate, "dev_loss": best["loss"]}
        tried.append((found, trainer))
        if trainer.is_world_process_zero():
            print(*(f"{name} {v:g} " for name, v in found.items()), leaderboards(best), flush=True)
    chosen, trainer = min(tried, key=lambda one: one[0]["dev_loss"])
    if trainer.is_world_process_zero():
        write(output, trainer, {**chosen, "configurations": len(tried)})


if __name__ == "__main__":
    main()
