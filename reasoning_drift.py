"""Reasoning Drift Onset Detection v0.2: the public door.

    from reasoning_drift import load, score, validate
    test = load("test")

As a loading script it also runs under datasets 3 (`load_dataset(".../reasoning_drift.py", "test",
trust_remote_code=True)`); later versions of datasets refuse scripts and use the typed Parquet or
this module by import.
"""

import hashlib
from pathlib import Path

import datasets

from drift_core import CITATION
from drift_onset import __version__, schema, score
from drift_onset import evaluation as _evaluation
from drift_onset import splits as _splits
from drift_onset.reading import typed as _typed

__all__ = ["ReasoningDrift", "__version__", "load", "score", "validate"]

_SPLITS = {split.name: split for split in _splits.splits()}
# A config of one split has it under its own name; `default` has those of the leaderboard cycle.
_CONFIGS = {
    "default": {"train": "train", "validation": "dev", "test": "test"},
    **{name: {name: name} for name in _SPLITS},
}


class ReasoningDrift(datasets.ArrowBasedBuilder):
    """Builds the configs default, train, dev, test and test_blind from the CSV files."""

    VERSION = datasets.Version(__version__)
    BUILDER_CONFIGS = tuple(
        datasets.BuilderConfig(name=name, version=datasets.Version(__version__))
        for name in _CONFIGS
    )
    DEFAULT_CONFIG_NAME = "default"

    def _info(self):
        first = next(iter(_CONFIGS[self.config.name].values()))
        return datasets.DatasetInfo(
            description=schema.document()["description"],
            features=schema.features(_SPLITS[first].record),
            license="mit",
            citation=CITATION,
        )

    def _split_generators(self, dl_manager):
        generators = []
        for name, split in _CONFIGS[self.config.name].items():
            path = dl_manager.download(_SPLITS[split].file)
            arguments = {"path": path, "record": _SPLITS[split].record}
            generators.append(datasets.SplitGenerator(name=name, gen_kwargs=arguments))
        return generators

    def _generate_tables(self, path, record):
        yield 0, _typed.read(path, record, label_ids=True)


def _content_hash(root):
    """Hash the data and the schema, so that a cached build is never served for edited files."""
    digest = hashlib.sha256(schema.resource("schema.json").read_bytes())
    for split in _SPLITS.values():
        digest.update((root / split.file).read_bytes())
    return digest.hexdigest()[:16]


def load(config="default", **options):
    """Load the data as typed rows, on any version of datasets, without network.

    Args:
        config: `default` for all labelled splits, or `train`, `dev`, `test`, `test_blind`.
        **options: for `datasets.DatasetBuilder.download_and_prepare` and the builder's
            `cache_dir`.

    Returns:
        A Dataset; a DatasetDict with train, validation and test for `default`.

    Raises:
        ValueError: there is no such config.
        drift_onset.InvalidInput: the data has problems.

    Example:
        >>> load("test").features["outcome_mode"].names[0]
        'no_drift'
    """
    if config not in _CONFIGS:
        raise ValueError(
            f"Expected argument `config` to be one of {', '.join(_CONFIGS)} but got {config!r}"
        )
    root = schema.resource("data").parent
    for split in _CONFIGS[config].values():  # else its problems hide behind a build error
        _typed.read(root / _SPLITS[split].file, _SPLITS[split].record)
    builder = ReasoningDrift(
        config_name=config,
        base_path=str(root),
        hash=_content_hash(root),
        cache_dir=options.pop("cache_dir", None),
    )
    builder.download_and_prepare(**options)
    return builder.as_dataset(None if config == "default" else config)


def validate(predictions, gold=None):
    """Check a prediction file against its gold.

    Args:
        predictions: path of the file.
        gold: path of a labelled or blind file; the test split of the benchmark if None.

    Returns:
        A list of problems, empty if there are none.
    """
    if gold is None:
        gold = Path(schema.resource("data")) / "test.csv"
    return _evaluation.validate_predictions(predictions, gold)[1]
