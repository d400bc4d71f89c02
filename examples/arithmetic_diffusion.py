"""A masked-diffusion language model small enough to be trained while you wait.

The task is arithmetic in two steps, a × b + c × d, with the working written out: the products, the
sum of the units, the sum of the carry and the tens. One model learns two layouts, told apart by the
first character of the prompt:

    R7*6+8*9=  →  7*6=42;8*9=72;2+2=04;0+4+7=11;#114      the working first, then the answer
    A7*6+8*9=  →  #114;7*6=42;8*9=72;2+2=04;0+4+7=11      the answer first, then the working

Training and sampling are those of LLaDA (Nie et al., 2025, https://arxiv.org/abs/2502.09992) in
small: a share t ~ U(0, 1) of the generation is masked and predicted; the sampler starts from masks
alone and at every step keeps the predictions it trusts most, or random ones.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

SYMBOLS = "0123456789*+=;#RA"
MASK_ID = len(SYMBOLS)
PROMPT_LENGTH = 9
LENGTH = 34  # characters of a generation, the same in both layouts
LAYOUTS = {"reasoning_first": "R", "answer_first": "A"}
ANSWER_SPANS = {"reasoning_first": (31, 34), "answer_first": (1, 4)}  # within the generation


@dataclass(frozen=True)
class Problem:
    """One exercise, a × b + c × d, of numbers from 2 to 9."""

    a: int
    b: int
    c: int
    d: int

    @property
    def answer(self) -> str:
        """Three digits, with leading zeros."""
        return f"{self.a * self.b + self.c * self.d:03d}"

    @property
    def question(self) -> str:
        """The exercise as it is asked."""
        return f"{self.a}*{self.b}+{self.c}*{self.d}"

    def prompt(self, layout: str) -> str:
        """Give the prompt, whose first character asks for the layout."""
        return f"{LAYOUTS[layout]}{self.question}="

    def generation(self, layout: str) -> str:
        """Give what the model should write: the products, then their sum column by column."""
        (p, q), (r, s) = divmod(self.a * self.b, 10), divmod(self.c * self.d, 10)
        carry = (q + s) // 10
        working = (
            f"{self.a}*{self.b}={p}{q};{self.c}*{self.d}={r}{s};"
            f"{q}+{s}={q + s:02d};{carry}+{p}+{r}={carry + p + r:02d}"
        )
        if layout == "reasoning_first":
            return f"{working};#{self.answer}"
        return f"#{self.answer};{working}"


def shuffled_problems(seed: int) -> list[Problem]:
    """List the 4,096 exercises in a random order."""
    problems = [Problem(*numbers) for numbers in itertools.product(range(2, 10), repeat=4)]
    random.Random(seed).shuffle(problems)
    return problems


def encode(texts: Sequence[str]) -> Tensor:
    """Give n texts of one length as n × length token numbers."""
    return torch.tensor([[SYMBOLS.index(char) for char in text] for text in texts])


def decode(tokens: Sequence[int]) -> str:
    """Give the text of token numbers."""
    return "".join("[MASK]" if token == MASK_ID else SYMBOLS[token] for token in tokens)


class Denoiser(nn.Module):
    """A bidirectional transformer that predicts every masked character at once.

    Args:
        width: size of the embeddings.
        layers: number of encoder layers.
    """

    def __init__(self, width: int = 64, layers: int = 2) -> None:
        super().__init__()
        # Both embeddings have standard deviation 1: weaker positions are not learned in time.
        self.token = nn.Embedding(MASK_ID + 1, width)
        self.position = nn.Parameter(torch.randn(PROMPT_LENGTH + LENGTH, width))
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, MASK_ID))

    def forward(self, x: Tensor) -> Tensor:
        """Give n × length × symbols logits for n × length tokens; the mask is never predicted."""
        logits: Tensor = self.head(self.encoder(self.token(x) + self.position))
        return logits


def train(
    problems: Sequence[Problem],
    *,
    steps: int,
    seed: int,
    batch: int = 32,
    rate: float = 4e-3,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> Denoiser:
    """Train a model from scratch on both layouts.

    Args:
        problems: the exercises to learn from.
        steps: number of batches.
        seed: of the weights, the batches and the masks.
        batch: sequences a batch.
        rate: highest learning rate; it falls to zero along a cosine.
        report: called with step and loss every hundred steps.
    """
    torch.manual_seed(seed)
    model = Denoiser()
    prompts = encode([p.prompt(layout) for p in problems for layout in LAYOUTS])
    wanted = encode([p.generation(layout) for p in problems for layout in LAYOUTS])
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=steps, pct_start=0.1
    )
    for step in range(steps):
        chosen = torch.randint(len(prompts), (batch,))
        target = wanted[chosen]
        masked = torch.rand(target.shape) < torch.rand(batch, 1)
        x = torch.cat([prompts[chosen], target.masked_fill(masked, MASK_ID)], dim=1)
        logits = model(x)[:, PROMPT_LENGTH:]
        loss = functional.cross_entropy(logits[masked], target[masked])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % 100 == 0:
            report(step + 1, loss.item())
    return model.eval()


@torch.no_grad()
def sample(
    model: Denoiser,
    prompts: Tensor,
    *,
    observe: Callable[[Tensor, Tensor], None],
    remasking: str = "low_confidence",
    block_length: int = LENGTH,
    seed: int = 0,
) -> Tensor:
    """Denoise greedily, one character a step, as LLaDA's `generate` does.

    Args:
        model: the trained model.
        prompts: n × PROMPT_LENGTH tokens.
        observe: called after every transfer with the canvas, n × (PROMPT_LENGTH + LENGTH), and the
            full prediction x0 of the same shape; the canvas is changed in place afterwards.
        remasking: `low_confidence` keeps the most probable prediction, `random` any.
        block_length: the generation is finished block after block from the left; LENGTH is one
            block, 1 is left to right.
        seed: of the random order.

    Returns:
        The final canvas.
    """
    generator = torch.Generator().manual_seed(seed)
    x = torch.cat([prompts, torch.full((len(prompts), LENGTH), MASK_ID)], dim=1)
    for start in range(PROMPT_LENGTH, PROMPT_LENGTH + LENGTH, block_length):
        end = min(start + block_length, PROMPT_LENGTH + LENGTH)
        for _ in range(start, end):
            probability, prediction = model(x).softmax(-1).max(-1)
            if remasking == "random":
                probability = torch.rand(probability.shape, generator=generator)
            masked = x == MASK_ID
            x0 = torch.where(masked, prediction, x)
            open_positions = masked.clone()
            open_positions[:, end:] = False
            chosen = probability.masked_fill(~open_positions, -1.0).argmax(dim=1, keepdim=True)
            x.scatter_(1, chosen, x0.gather(1, chosen))
            observe(x, x0)
    return x
