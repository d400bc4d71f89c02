"""A real denoising run from nothing: train, sample, record, score and draw in two minutes on a CPU.

    python examples/denoise_arithmetic.py --output results/denoising

A masked-diffusion transformer of a hundred thousand weights learns arithmetic in two steps (see
arithmetic_diffusion.py) and then solves exercises that it has not seen, under two layouts, the
working first or the answer first, and three samplers. The recorder watches every step. What comes
out, and why, is told in docs/denoising_run.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

try:
    import torch
except ImportError:
    raise SystemExit("this needs torch; in the clone: pip install -e '.[torch,plots]'") from None
from arithmetic_diffusion import (
    ANSWER_SPANS,
    LENGTH,
    MASK_ID,
    PROMPT_LENGTH,
    Denoiser,
    Problem,
    decode,
    encode,
    sample,
    shuffled_problems,
    train,
)

from drift_core.console import print_table
from traj_eval.metrics import evaluate_trajectories
from traj_eval.plots import component_bars, verdict_strips
from traj_eval.record import Recorder
from traj_eval.table import markdown

SAMPLERS: dict[str, dict[str, Any]] = {
    "confidence": {"remasking": "low_confidence", "block_length": LENGTH},
    "blocks": {"remasking": "low_confidence", "block_length": 17},
    "random": {"remasking": "random", "block_length": LENGTH},
}
SOURCES = ("canvas", "x0")
HELD_OUT = 512


def record(
    model: Denoiser, problems: Sequence[Problem], layout: str, sampler: str, seed: int
) -> dict[str, list[dict[str, Any]]]:
    """Sample exercises under one condition.

    Returns:
        Source → one trajectory an exercise, both of the same run.
    """
    start, end = ANSWER_SPANS[layout]
    recorders = {
        source: Recorder(
            decode,
            ids=[p.question for p in problems],
            gold=[p.answer for p in problems],
            prompt_length=PROMPT_LENGTH,
            mask_id=MASK_ID,
            answer_span=(PROMPT_LENGTH + start, PROMPT_LENGTH + end),
            source=source,
            model="denoise-arithmetic",
            task="a*b+c*d",
            condition=f"{layout}/{sampler}",
        )
        for source in SOURCES
    }

    def observe(x: torch.Tensor, x0: torch.Tensor) -> None:
        for recorder in recorders.values():
            recorder.observe(x, x0=x0)

    prompts = encode([problem.prompt(layout) for problem in problems])
    sample(model, prompts, observe=observe, seed=seed, **SAMPLERS[sampler])
    return {source: recorder.trajectories() for source, recorder in recorders.items()}


def write_trajectories(path: Path, trajectories: Sequence[dict[str, Any]]) -> None:
    """Write JSON Lines, packed; the same trajectories give the same bytes."""
    lines = "".join(json.dumps(trajectory) + "\n" for trajectory in trajectories)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def main(argv: Sequence[str] | None = None) -> None:
    """Run all of it."""
    options = parser().parse_args(argv)
    torch.set_num_threads(options.threads)
    options.output.mkdir(parents=True, exist_ok=True)
    problems = shuffled_problems(options.seed)
    held_out, learned = problems[:HELD_OUT], problems[HELD_OUT:]
    print(f"training on {len(learned)} exercises for {options.steps} steps")
    start = time.process_time()
    model = train(learned, steps=options.steps, seed=options.seed, report=print_loss)
    seconds = time.process_time() - start
    print(f"trained in {seconds:.0f} CPU seconds; sampling {options.items} of {HELD_OUT} exercises")
    found: dict[str, list[dict[str, Any]]] = {source: [] for source in SOURCES}
    for sampler in SAMPLERS:
        for layout in ANSWER_SPANS:
            recorded = record(model, held_out[: options.items], layout, sampler, options.seed)
            for source, trajectories in recorded.items():
                found[source] += trajectories
    settings = {
        "seed": options.seed,
        "training_steps": options.steps,
        "training_cpu_seconds": round(seconds),
        "weights": sum(weights.numel() for weights in model.parameters()),
        "items": options.items,
        "samplers": SAMPLERS,
        "torch": torch.__version__,
        "threads": options.threads,
    }
    (options.output / "denoise_arithmetic.json").write_text(json.dumps(settings, indent=2) + "\n")
    for source, trajectories in found.items():
        write_trajectories(options.output / f"denoise_arithmetic_{source}.jsonl.gz", trajectories)
        report(trajectories, source, options.output)


def parser() -> argparse.ArgumentParser:
    """Give the options of the command line."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("--output", type=Path, default=Path("results/denoising"), metavar="FOLDER")
    made.add_argument("--steps", type=int, default=4400, help="batches to train for")
    made.add_argument("--items", type=int, default=64, help="exercises a condition, up to 512")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--threads", type=int, default=1)
    return made


def print_loss(step: int, loss: float) -> None:
    """Show how the training goes."""
    if step % 500 == 0:
        print(f"  step {step}: loss {loss:.3f}", flush=True)


def report(trajectories: Sequence[dict[str, Any]], source: str, folder: Path) -> None:
    """Score the trajectories, print the tables, draw the pictures."""
    results = evaluate_trajectories(trajectories)
    results.write(folder / f"results_{source}.json")
    print(f"\nTexts and verdicts from the {source}:\n")
    print(markdown(results["groups"]))
    print_clocks(results["groups"])
    component_bars(results, folder / f"components_{source}.png")
    pair = telling_pair(trajectories)
    if pair:
        verdict_strips(pair, folder / f"strips_{source}.png")


CLOCKS = {
    "mean_convergence_step": "T_stab",
    "mean_answer_commitment_step": "T_commit",
    "mean_stability_commitment_lag": "lag",
    "mean_unwritten_reasoning": "unwritten",
    "mean_early_factor": "early",
    "mean_post_change_rate": "change",
    "mean_length_growth": "growth",
    "mean_gated_score": "gated",
}


def print_clocks(groups: Sequence[Mapping[str, Any]]) -> None:
    """Print the clocks of the commitment and the components of every condition."""
    rows = [[g["condition"], *(f"{g[name]:.2f}" for name in CLOCKS)] for g in groups]
    print_table(("condition", *CLOCKS.values()), rows)


def telling_pair(trajectories: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pick an exercise that block-wise sampling solves working first and not answer first."""

    def right(trajectory: dict[str, Any]) -> bool:
        return bool(trajectory["steps"][-1]["verdict"] == trajectory["gold"])

    by_layout = {
        layout: {t["id"]: t for t in trajectories if t["condition"] == f"{layout}/blocks"}
        for layout in ANSWER_SPANS
    }
    working_first, answer_first = by_layout["reasoning_first"], by_layout["answer_first"]
    for name, trajectory in working_first.items():
        if right(trajectory) and not right(answer_first[name]):
            return [trajectory, answer_first[name]]
    return []


if __name__ == "__main__":
    main()
