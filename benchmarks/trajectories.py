"""Denoising trajectories: metrics on columns against plain loops, files against their parser.

1. Metrics on columns, `traj_eval.measures.measure`, against a plain-Python reference: the loops of
   the tests, over dicts that are in memory. Both compute everything that a row of the results has.
2. `python -m traj_eval run FILE --output …` as a whole process against the time in which the faster
   of json and orjson parses the same lines and does nothing with them, timed inside a fresh process
   around the loop alone. Both run in turn; the least times are compared.
3. The peak of that process and the processes it starts, as the system reports them.

Run `python benchmarks/trajectories.py`; `--megabytes 1000` is what the targets are about.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

METRICS_TARGET, RUN_TARGET, MEMORY_TARGET = 50, 2, 500_000_000
STEPS, POOL = 64, 256
_PARSE = """
import json, sys, time
loads = json.loads
if sys.argv[2] == "orjson":
    from orjson import loads
start = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    for line in file:
        loads(line)
print(time.perf_counter() - start)
"""
_METRICS = """
import json, sys, time
sys.path[:0] = sys.argv[1:3]
import trajectories
print(json.dumps(trajectories.contest(int(sys.argv[3]))))
"""
WORDS = (
    "so",
    "the",
    "answer",
    "because",
    "energy",
    "moves",
    "plant",
    "12",
    "4.5",
    "therefore",
    ",",
)


def trajectory(rng: random.Random, tokens: int) -> dict[str, object]:
    """Draw a canvas that fills up, and verdicts that settle."""
    canvas, order = ["[MASK]"] * tokens, rng.sample(range(tokens), tokens)
    verdict, steps = None, []
    for k in range(STEPS):
        for place in order[k * tokens // STEPS : (k + 1) * tokens // STEPS]:
            canvas[place] = " " + rng.choice(WORDS)
        if rng.random() < 0.1:
            verdict = rng.choice("ABCD")
        written = (k + 1) * tokens // STEPS
        steps.append(
            {
                "step": 4 * k,
                "verdict": verdict,
                "text": "".join(canvas),
                "answer_masked": verdict is None,
                "reasoning_committed": round(written / tokens, 4),
            }
        )
    return {
        "gold": rng.choice("ABCD"),
        "model": "m",
        "task": "t",
        "condition": rng.choice(("direct", "reasoning")),
        "steps": steps,
    }


def write(path: Path, megabytes: int, tokens: int, seed: int = 0) -> int:
    """Write a file of about that size; a pool of trajectories comes again under other ids."""
    rng = random.Random(seed)
    pool = [json.dumps(trajectory(rng, tokens))[1:] for _ in range(POOL)]
    n = size = 0
    with path.open("w") as out:
        while size < megabytes * 1_000_000:
            size += out.write(f'{{"id": "item-{n}", {pool[n % POOL]}\n')
            n += 1
    return n


def contest(n: int, sample: int = 2000) -> dict[str, float]:
    """Time the metrics of n trajectories on columns, and the reference on some of them.

    Raises:
        AssertionError: the numbers differ.
    """
    import numpy as np
    import slow_trajectories as slow

    from traj_eval.columns import Builder, Columns
    from traj_eval.layout import lay_out
    from traj_eval.measures import measure
    from traj_eval.votes import VOTES

    rng = random.Random(1)
    votes = {f"temporal_vote_{kind}" for kind in VOTES}  # a verdict there, whether it is right here
    many = [{"id": f"t{k}", **trajectory(rng, 16)} for k in range(sample)]
    builder = Builder()
    builder.add(lay_out(many))
    part = builder.take()
    copies = -(-n // sample)
    columns = Columns(
        np.concatenate([[0], np.cumsum(np.tile(part.lengths, copies))]),
        *(
            np.tile(getattr(part, name), (copies, *[1] * (getattr(part, name).ndim - 1)))
            for name in (
                *("step", "verdict", "gold", "changed", "text_length"),
                *("answer_masked", "answer", "committed"),
            )
        ),
        labels=part.labels,
    )
    times = []
    for _ in range(5):
        start = time.perf_counter()
        found = measure(columns)
        times.append(time.perf_counter() - start)
    peers = []
    for _ in range(3):
        start = time.perf_counter()
        rows = [slow.row(one) for one in many]
        peers.append(time.perf_counter() - start)
    for name in found.values.keys() & rows[0].keys() - votes:
        for row, value in zip(rows, found.values[name].tolist(), strict=False):
            expected = math.nan if row[name] is None else float(row[name])
            same = math.isclose(expected, value, abs_tol=1e-12)
            assert same or (math.isnan(expected) and math.isnan(value)), (name, expected, value)
    return {"ours": min(times) / columns.n, "reference": min(peers) / sample, "n": columns.n}


class Peak(threading.Thread):
    """The largest sum of the resident sizes of a process and those below it, looked at often."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.bytes, self.done = pid, 0, False

    def run(self) -> None:
        """Look until it is done."""
        while not self.done:
            self.bytes = max(self.bytes, sum(map(_resident, [self.pid, *_descendants(self.pid)])))
            time.sleep(0.02)


def _descendants(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [int(c) for task in tasks for c in (task / "children").read_text().split()]
    except OSError:
        return []
    return children + [other for child in children for other in _descendants(child)]


def _resident(pid: int) -> int:
    """Give the resident size; pages that processes share count for each of them."""
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def evaluate(path: Path, n: int) -> tuple[float, int]:
    """Run the command; give wall time in seconds and the peak in bytes.

    Raises:
        RuntimeError: it fails, or gives another number of trajectories.
    """
    output = path.with_name("results.json")
    command = [sys.executable, "-m", "traj_eval", "run", "--input", path, "--output", output]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = Peak(process.pid)
    peak.start()
    text, _ = process.communicate()
    wall = time.perf_counter() - start
    peak.done = True
    if process.returncode or f" n={n} " not in text:
        raise RuntimeError(f"expected results of {n} trajectories, got {text}")
    return wall, peak.bytes


def parse(path: Path, parser: str) -> float:
    """Give the time in seconds in which a parser goes through the lines."""
    command = [sys.executable, "-c", _PARSE, path, parser]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def said(name: str, value: float, target: float, better: bool, unit: str = "") -> str:
    """Say whether a value is within its target."""
    met = value >= target if better else value <= target
    sign = "≥" if better else "≤"
    return f"{name}: {value:.2f}{unit}, target {sign} {target}{unit}: {'met' if met else 'MISSED'}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Denoising trajectories: speed and memory.")
    parser.add_argument("--trajectories", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tokens", type=int, nargs="*", default=[64, 256], help="of a canvas")
    args = parser.parse_args()
    here = Path(__file__).resolve()
    paths = (str(here.parent), str(here.parents[1] / "tests"))
    command = [sys.executable, "-c", _METRICS, *paths, str(args.trajectories)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(f"metrics of {found['n']:.0f} trajectories × {STEPS} steps, microseconds a trajectory:")
    print(f"  columns {1e6 * found['ours']:.2f}, plain loops {1e6 * found['reference']:.1f}")
    print(said("  ratio", found["reference"] / found["ours"], METRICS_TARGET, True))
    for tokens in args.tokens:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trajectories.jsonl"
            n = write(path, args.megabytes, tokens)
            times: dict[str, list[float]] = {"json": [], "orjson": [], "run": []}
            peaks = []
            for _ in range(args.repeats):
                for name in ("json", "orjson"):
                    times[name].append(parse(path, name))
                wall, peak = evaluate(path, n)
                times["run"].append(wall)
                peaks.append(peak)
            least = {name: min(values) for name, values in times.items()}
            size = path.stat().st_size
        print(f"run on {n} trajectories × {STEPS} steps, canvas of {tokens}, {size / 1e9:.2f} GB:")
        print("  " + ", ".join(f"{name} {value:.2f} s" for name, value in least.items()))
        fastest = min(least["json"], least["orjson"])
        print(said("  ratio", least["run"] / fastest, RUN_TARGET, False))
        print(said("  memory", max(peaks) / 1e6, MEMORY_TARGET / 1e6, False, " MB"))


if __name__ == "__main__":
    main()
