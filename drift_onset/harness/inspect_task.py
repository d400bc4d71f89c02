"""The benchmark as a task of inspect-ai.

    inspect eval drift_onset/reasoning_drift --model PROVIDER/MODEL -T split=test

Inspect counts every metric over whole samples here: macro-F1 and complete-primary accuracy are no
means of per-sample values. Unreadable answers are counted as wrong.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState, generate
from inspect_ai.util import JSONSchema

from drift_core.strict_json import dumps
from drift_onset import __version__, answers, prompt, schema
from drift_onset.harness import scenarios, scoring
from drift_onset.scores import DIAGNOSTICS, LEADERBOARD_A, LEADERBOARD_B

GOLD, ANSWER, HIDDEN = "gold", "answer", "hide_constraints"
BOUNDS = ("steps", "constraints")


@task
def reasoning_drift(
    split: str = "test",
    data: str | None = None,
    fewshot: int = 0,
    seed: int = 0,
    hide_constraints: bool = False,
    structured: bool = True,
) -> Task:
    """Reconstruct the state of a reasoning trajectory.

    Several samples with a majority vote are what `--epochs` gives, see `scoring.vote`.

    Args:
        split: `train`, `dev`, `test` or `test_blind`; the blind one is answered, not scored.
        data: None for the packaged data, the path of a CSV file, or the dataset's name on the Hub.
        fewshot: number of solved examples from train, as turns of the conversation.
        seed: draws the examples.
        hide_constraints: leave the constraints out of the prompt, to see what a model infers. No
            residual is asked or scored then.
        structured: ask the provider for output in the schema of an answer. Providers that have no
            such thing ignore it or, some endpoints, refuse it.
    """
    drawn = scenarios.examples(fewshot, seed, data)
    rows = scenarios.load(split, data)
    samples = [_sample(row, scenarios.without(drawn, row), hide_constraints) for row in rows]
    response = ResponseSchema(
        name="reasoning_state",
        json_schema=JSONSchema.model_validate(prompt.answer_schema(hide_constraints)),
        strict=True,
    )
    return Task(
        dataset=MemoryDataset(samples, name=f"reasoning-drift {split}"),
        solver=generate(),
        scorer=reasoning_state(),
        config=GenerateConfig(response_schema=response if structured else None),
        score_on_error=True,  # what could not be asked is unanswered, not left out
        version=__version__,
        metadata={"benchmark": schema.document()["title"], HIDDEN: hide_constraints},
    )


def _sample(row: dict[str, Any], examples: list[dict[str, Any]], hidden: bool) -> Sample:
    turns: list[ChatMessage] = [ChatMessageSystem(content=prompt.instructions(hidden))]
    for example in examples:
        turns.append(ChatMessageUser(content=prompt.question(example, hidden)))
        turns.append(ChatMessageAssistant(content=prompt.answer(example, hidden)))
    turns.append(ChatMessageUser(content=prompt.question(row, hidden)))
    gold = scenarios.gold(row)
    return Sample(
        id=row["scenario_id"],
        input=turns,
        target=prompt.answer(row, hidden) if gold else "",
        metadata={
            "domain": row["domain"],
            "steps": len(row["trajectory"]),
            "constraints": len(row["constraints"]),
            HIDDEN: hidden,
            GOLD: gold,
        },
    )


def read(text: str, scenario_id: str, metadata: dict[str, Any]) -> answers.Answer:
    """Read the completion of a sample of this task."""
    bounds = {name: metadata[name] for name in BOUNDS}
    return answers.read(text, scenario_id, **bounds, hide_constraints=metadata[HIDDEN])


def _scored(scores: list[SampleScore], names: tuple[str, ...]) -> dict[str, Any]:
    """Score whole samples, several of one scenario as their vote; leave out what has no value."""
    known = [score.score.metadata or {} for score in scores]
    given = scoring.voted(scoring.unpacked(found[ANSWER]) for found in known)
    gold = {found[GOLD]["scenario_id"]: found[GOLD] for found in known if found[GOLD]}
    if gold:
        hidden = any(found[HIDDEN] for found in known)
        values = scoring.metrics(list(gold.values()), given, hidden)
    else:
        values = {scoring.N: len(given), scoring.UNANSWERED: sum(a.row is None for a in given)}
    return {name: values[name] for name in names if values.get(name) is not None}


@metric(scores="unreduced")
def component_capability() -> Metric:
    """Give leaderboard A: component_mean and the four component scores."""

    def compute(scores: list[SampleScore]) -> dict[str, Any]:
        return _scored(scores, LEADERBOARD_A)

    return compute


@metric(scores="unreduced")
def complete_reasoning_state() -> Metric:
    """Give leaderboard B: complete_primary_accuracy."""

    def compute(scores: list[SampleScore]) -> dict[str, Any]:
        return _scored(scores, LEADERBOARD_B)

    return compute


@metric(scores="unreduced")
def diagnostics() -> Metric:
    """Give the secondary diagnostics, the number of scenarios and of unanswered ones."""

    def compute(scores: list[SampleScore]) -> dict[str, Any]:
        return _scored(scores, (*DIAGNOSTICS, scoring.N, scoring.UNANSWERED))

    return compute


@scorer(metrics=[component_capability(), complete_reasoning_state(), diagnostics()])
def reasoning_state() -> Scorer:
    """Read each answer and tell which targets it has right; the metrics do the scoring."""

    async def score(state: TaskState, target: Target) -> Score:
        answer = read(state.output.completion, str(state.sample_id), state.metadata)
        gold = state.metadata[GOLD]
        right = scoring.correct(gold, answer) if gold else {}
        return Score(
            value={"answered": answer.row is not None, **right},
            answer=dumps(answer.row) if answer.row else state.output.completion,
            explanation=answer.why() or None,
            metadata={
                ANSWER: scoring.packed(answer),
                GOLD: gold,
                HIDDEN: state.metadata[HIDDEN],
            },
        )

    return score
