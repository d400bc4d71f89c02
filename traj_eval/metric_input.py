"""What the evaluate module needs of this package: any form of a trajectory, and scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from traj_eval.metrics import evaluate_trajectories

_OF_TEXTS = ("post_change_rate", "length_growth", "score", "gated_score")

DESCRIPTION = """\
Measures the denoising trajectories of diffusion language models: when the verdict becomes stable,
how often it changes, how much text is written after it stands, when the answer is committed; and
how often the final verdict is right.
"""

INPUTS = """
Args:
    predictions: one trajectory each: a sequence of verdicts (text or None), one a recorded step; or
        a dict with `verdicts`, `texts` or both, and optionally the step numbers, `numbers`; or a
        whole trajectory in the file format of traj_eval.
    references: the right verdicts, text or None; may be left out where trajectories hold them.
    extractor: `choice`, `number`, `boxed`, `yesno` or `regex`, for texts without verdicts.
    pattern: the regular expression of `regex`.
    report: give groups, rows, intervals and a signature as well.
    group_by, weights, edits, resamples, seed: see `traj_eval.metrics.evaluate_trajectories`.

Returns:
    n, accuracy, coverage, conditional_accuracy, mean_convergence_step, mean_flip_rate and the other
    means; None where no trajectory has a value.

Example:
    >>> import evaluate
    >>> metric = evaluate.load("metric/denoising_trajectory")
    >>> trajectories = [[None, "A", "C", "C"], ["B", "B"]]
    >>> found = metric.compute(predictions=trajectories, references=["C", "A"])
    >>> found["accuracy"], found["mean_convergence_step"], found["mean_flip_rate"]
    (0.5, 1.0, 0.25)
"""


def evaluate_items(
    predictions: Sequence[Any],
    references: Sequence[str | None] | None = None,
    *,
    extractor: str | None = None,
    pattern: str | None = None,
    report: bool = False,
    resamples: int = 1000,
    **options: Any,
) -> dict[str, Any]:
    """Measure trajectories of any form; see `INPUTS`.

    Returns:
        The means by name, or the whole report.

    Raises:
        ValueError: the two sides have different lengths, a trajectory has another gold than its
            reference, an option is not known, or trajectories have problems, all of which are
            listed.
    """
    takers = (evaluate_items, evaluate_trajectories)
    known = dict.fromkeys(name for taker in takers for name in taker.__kwdefaults__ or ())
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"Expected options out of {', '.join(known)} but got {', '.join(unknown)}")
    items = list(predictions)
    golds = [None] * len(items) if references is None else list(references)
    if len(golds) != len(items):
        raise ValueError(
            f"Expected as many references as predictions but got {len(golds)} and {len(items)}"
        )
    extract = None
    if extractor is not None:
        from traj_eval.extract import extractor as named

        extract = named(extractor, pattern)
    with_texts = {_has_texts(item) for item in items}
    if len(with_texts) > 1:
        raise ValueError("Expected texts in all trajectories or in none but got them in some")
    both = zip(items, golds, strict=True)
    whole = [_whole(k, item, gold, extract) for k, (item, gold) in enumerate(both)]
    evaluated = evaluate_trajectories(whole, resamples=resamples if report else 0, **options)
    found = json.loads(evaluated.to_json())
    if with_texts == {False}:
        _forget_texts(found)
    if report:
        return dict(found)
    return {k: v for k, v in found["aggregate"].items() if not isinstance(v, dict)}


def _has_texts(item: Any) -> bool:
    return isinstance(item, Mapping) and ("texts" in item or "steps" in item)


def _forget_texts(found: dict[str, Any]) -> None:
    """Take back what would be said of texts that nobody gave."""
    for group in (found["aggregate"], *found["groups"]):
        for name in _OF_TEXTS:
            group[f"mean_{name}"], group["defined"][f"mean_{name}"] = None, 0
            group["intervals"].pop(f"mean_{name}", None)
        group["regimes"] = {}
    for row in found["trajectories"]:
        row.update(dict.fromkeys((*_OF_TEXTS, "regime")))


def _whole(k: int, item: Any, gold: Any, extract: Any) -> Any:
    """Give one item as a trajectory in the file format."""
    named: Mapping[str, Any] = item if isinstance(item, Mapping) else {"verdicts": item}
    if "steps" not in named:
        named = _of_lists(named, extract)
    elif extract is not None and isinstance(named["steps"], Sequence):
        named = {**named, "steps": [_extracted(step, extract) for step in named["steps"]]}
    if gold is not None and named.get("gold") not in (None, gold):
        said = f"{named['gold']!r}, the reference {gold!r}"
        raise ValueError(f"item {k}: the trajectory has gold {said}")
    return {"id": str(k), **named, "gold": named.get("gold") if gold is None else gold}


def _of_lists(named: Mapping[str, Any], extract: Any) -> dict[str, Any]:
    rest = {name: v for name, v in named.items() if name not in ("verdicts", "texts", "numbers")}
    texts, verdicts, numbers = (named.get(name) for name in ("texts", "verdicts", "numbers"))
    if verdicts is None and texts is not None and extract is not None:
        verdicts = list(map(extract, texts))
    if isinstance(verdicts, str) or not isinstance(verdicts, Sequence):
        came = type(verdicts).__name__
        raise ValueError(f"Expected verdicts, `steps`, or `texts` with an extractor but got {came}")
    numbers = range(len(verdicts)) if numbers is None else numbers
    texts = [""] * len(verdicts) if texts is None else texts
    if not len(verdicts) == len(texts) == len(numbers):
        raise ValueError(
            f"Expected `verdicts`, `texts` and `numbers` of one length but got {len(verdicts)}, "
            f"{len(texts)} and {len(numbers)}"
        )
    columns = zip(numbers, verdicts, texts, strict=True)
    rest["steps"] = [{"step": n, "verdict": v, "text": t} for n, v, t in columns]
    return rest


def _extracted(step: Any, extract: Any) -> Any:
    if not isinstance(step, Mapping) or step.get("verdict") is not None:
        return step
    return {**step, "verdict": extract(step["text"])} if "text" in step else step
