"""The metrics of a trajectory as plain loops over plain dicts: what the vectorised code must equal.

Also random trajectories to hold the two to each other.
"""

import math
import random
from fractions import Fraction
from itertools import pairwise

WEIGHTS = (0.3, 0.4, 0.3)


def written(text, mask):
    return len(text.replace(mask, ""))


def convergence_index(verdicts):
    if verdicts[-1] is None:
        return None
    found = None
    for i in range(len(verdicts) - 1, -1, -1):
        if verdicts[i] is None:
            continue
        if verdicts[i] != verdicts[-1]:
            break
        found = i
    return found


def vote(verdicts, weight):
    totals, latest = {}, {}
    for i, verdict in enumerate(verdicts):
        if verdict is not None:
            totals[verdict] = totals.get(verdict, 0) + weight(i, len(verdicts))
            latest[verdict] = i
    return max(totals, key=lambda v: (totals[v], latest[v]), default=None)


def commitment_index(steps, edits):
    if any(step.get("answer_masked") is None for step in steps):
        return None
    if edits and steps[-1].get("answer") is None:
        return None
    found = None
    for i in range(len(steps) - 1, -1, -1):
        if steps[i]["answer_masked"]:
            break
        if edits and steps[i].get("answer") != steps[-1]["answer"]:
            break
        found = i
    return found


def row(trajectory, weights=WEIGHTS, edits=False):
    """Everything about one trajectory."""
    steps, gold = trajectory["steps"], trajectory["gold"]
    mask = trajectory.get("mask", "[MASK]")
    verdicts = [step["verdict"] for step in steps]
    n, final = len(steps), verdicts[-1]
    decided = [verdict for verdict in verdicts if verdict is not None]
    changes = 0
    for a, b in pairwise(decided):
        changes += a != b
    flip = changes / (len(decided) - 1) if len(decided) > 1 else 0.0
    longest = length = 0
    for i, verdict in enumerate(verdicts):
        length = (length + 1 if i and verdict == verdicts[i - 1] else 1) if verdict else 0
        longest = max(longest, length)
    found = {
        "id": trajectory["id"],
        "n_steps": n,
        "final_verdict": final,
        "flip_rate": flip,
        "step_consistency": 1 - flip,
        "longest_stable_run": longest,
        "correct": None if gold is None else final == gold,
        "ever_correct": None if gold is None else gold in decided,
        "lost_correct": None if gold is None else gold in decided and final != gold,
        "temporal_vote_fixed": vote(verdicts, lambda i, n: 1),
        "temporal_vote_linear": vote(verdicts, lambda i, n: i + 1),
        "temporal_vote_exponential": vote(verdicts, lambda i, n: math.exp(5 * ((i + 1) / n - 1))),
        "temporal_entropy": None,
    }
    if decided:
        shares = [decided.count(verdict) / len(decided) for verdict in set(decided)]
        found["temporal_entropy"] = -sum(p * math.log(p) for p in shares) + 0.0
    at = convergence_index(verdicts)
    names = ("early_factor", "post_change_rate", "length_growth", "score", "gated_score")
    found.update(dict.fromkeys(names))
    found["verdict_convergence_step"] = None if at is None else steps[at]["step"]
    if at is not None:
        after = range(at + 1, n)
        changed = sum(steps[i]["text"] != steps[i - 1]["text"] for i in after)
        early = 1 - at / n
        post = changed / len(after) if after else 0.0
        start = written(steps[at]["text"], mask)
        growth = max(0.0, (written(steps[-1]["text"], mask) - start) / max(1, start))
        clipped = min(growth, 1.0)
        score = weights[0] * early + weights[1] * post + weights[2] * clipped
        gated = early * (post + clipped) / 2
        found.update(zip(names, (early, post, growth, score, gated), strict=True))
    commit = commitment_index(steps, edits)
    found["answer_commitment_step"] = None if commit is None else steps[commit]["step"]
    found["stability_commitment_lag"] = None
    if commit is not None and at is not None:
        found["stability_commitment_lag"] = steps[commit]["step"] - steps[at]["step"]
    found["unwritten_reasoning_at_convergence"] = None
    if at is not None and steps[at].get("reasoning_committed") is not None:
        found["unwritten_reasoning_at_convergence"] = 1.0 - steps[at]["reasoning_committed"]
    found["regime"] = regime(found)
    return found


def regime(found):
    if found["verdict_convergence_step"] is None:
        return "undecided"
    if found["flip_rate"] >= 0.5:
        return "oscillation"
    activity = found["post_change_rate"] + found["length_growth"]
    if found["early_factor"] >= 0.75 and activity >= 0.5:
        return "rationalization"
    return "genuine"


def mean(values):
    """The exact mean of doubles, rounded once."""
    values = [Fraction(value) for value in values if value is not None]
    return float(sum(values) / len(values)) if values else None


TEXTS = (
    "",
    "[MASK]",
    "[MASK][MASK]",
    "so",
    "so it is",
    "so it is[MASK]",
    "naïve 中",
    "no [MASK] x",
)


def trajectory(rng: random.Random, name, *, letters="ABC", n=None, optional=None):
    """A valid random trajectory."""
    n = n or rng.choice((1, 1, 2, 3, 5, 8, 13))
    optional = rng.choice((True, False)) if optional is None else optional
    undecided, sticky = rng.choice((0, 0.3, 0.9)), rng.choice((0, 0.5, 0.9))
    number, verdict, steps = rng.randint(0, 3), None, []
    for _ in range(n):
        if rng.random() >= sticky:
            verdict = None if rng.random() < undecided else rng.choice(letters)
        step = {"step": number, "verdict": verdict, "text": rng.choice(TEXTS)}
        if optional:
            step["answer_masked"] = rng.random() < 0.4
            step["answer"] = rng.choice(("1", "2", None))
            step["reasoning_committed"] = rng.choice((0, 1, 0.25, rng.random()))
        steps.append(step)
        number += rng.choice((1, 1, 4, 16))
    found = {"id": name, "gold": rng.choice((*letters, None)), "steps": steps}
    if rng.random() < 0.7:
        found["condition"] = rng.choice(("direct", "reasoning"))
    if rng.random() < 0.3:
        found["model"] = rng.choice(("a", "b", None))
    if rng.random() < 0.2:
        found["mask"] = "so"
    return found


def trajectories(seed, n=200, **options):
    rng = random.Random(seed)
    return [trajectory(rng, f"t{k}", **options) for k in range(n)]
