"""The front matter of the dataset card: what the Hub and `load_dataset` go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from drift_core.problems import Problem, escaped
from drift_onset import schema
from drift_onset.splits import Split, splits

CARD = "README.md"  # what the Hub and `load_dataset` read
SOURCE = "dataset_card.md"  # what becomes the card on the Hub


def configs() -> list[dict[str, Any]]:
    """Give the configs: `default` with the splits of a cycle, then one for each split."""
    named = {split.name: split for split in splits()}
    cycle = {"train": "train", "validation": "dev", "test": "test"}
    files = [("default", {name: named[split] for name, split in cycle.items()})]
    files += [(name, {name: split}) for name, split in named.items()]
    return [{"config_name": config, "data_files": _data_files(of)} for config, of in files]


def _data_files(of: Mapping[str, Split]) -> list[dict[str, str]]:
    return [{"split": name, "path": split.parquet} for name, split in of.items()]


def dataset_info() -> list[dict[str, Any]]:
    """Give the typed features of each config."""
    kinds = {split.parquet: split.record for split in splits()}
    return [
        {
            "config_name": config["config_name"],
            "features": features(kinds[config["data_files"][0]["path"]]),
        }
        for config in configs()
    ]


def features(kind: str) -> list[dict[str, Any]]:
    """Give the columns of a kind of record in the card's own notation."""
    return [{"name": f.name, **_feature(f.schema)} for f in schema.fields(kind).values()]


def _feature(of: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in of:
        return _feature(schema.definition(of["$ref"].rsplit("/", 1)[1]))
    if "oneOf" in of:
        names = {str(code): option["const"] for code, option in enumerate(of["oneOf"])}
        return {"dtype": {"class_label": {"names": names}}}
    kinds = of.get("type", "string")
    kind = kinds if isinstance(kinds, str) else next(k for k in kinds if k != "null")
    if kind == "array":
        item = of["items"]
        if "properties" in item:
            return {"list": [{"name": n, **_feature(s)} for n, s in item["properties"].items()]}
        return {"sequence": _feature(item)["dtype"]}  # which every version reads as its own list
    return {"dtype": {"integer": "int32", "number": "float64", "string": "string"}[kind]}


def front_matter() -> dict[str, Any]:
    """Give what the front matter of README.md and dataset_card.md holds besides its words."""
    return {"configs": configs(), "dataset_info": dataset_info()}


def read(path: Path) -> dict[str, Any]:
    """Read the front matter of a card.

    Raises:
        OSError: the file cannot be read.
        ValueError: its front matter is no YAML, or no mapping.
    """
    import yaml
    from huggingface_hub import metadata_load

    try:
        found = metadata_load(path)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    if found is not None and not isinstance(found, dict):
        raise ValueError("front matter is no mapping")
    return found or {}


def check(root: Path) -> Iterator[Problem]:
    """Hold the cards that a folder has to the schema.

    Args:
        root: a clone, or a folder that is built for the Hub.
    """
    for path in (root / CARD, root / SOURCE):
        if path.is_file():
            for message in _differences(path):
                yield Problem.of_file("card_content", path, message)


def _differences(path: Path) -> Iterator[str]:
    try:
        found = read(path)
    except (OSError, ValueError) as error:
        yield f"front matter cannot be read: {escaped(str(error), 200)[1:-1]}"
        return
    if not found:
        yield f"has no front matter; copy that of {SOURCE}, or drift_onset.card.front_matter()"
        return
    for part, entries in front_matter().items():
        listed = found.get(part)
        have = {e.get("config_name"): e for e in listed or () if isinstance(e, dict)}
        wrong = {}
        for entry in entries:
            other = have.pop(entry["config_name"], None)
            if other != entry:
                wrong[entry["config_name"]] = _first_difference(other, entry)
        if wrong:
            named, shown = ", ".join(wrong), next(iter(wrong.values()))
            again = f"drift_onset.card.front_matter()[{part!r}] gives all that is expected"
            yield f"{part} of {named} differs from schema.json: {shown}; {again}"
        for name in have:
            yield f"{part} has a config {escaped(name, 60)} that the benchmark has not; remove it"


def _first_difference(found: Any, wanted: Any) -> str:
    """Say where two parts of a front matter differ first, as deep down as they are alike."""
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        return next(_first_difference(found[k], wanted[k]) for k in wanted if found[k] != wanted[k])
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = zip(found, wanted, strict=True)
        return next(_first_difference(a, b) for a, b in pairs if a != b)
    return f"got {escaped(found, 100)}, expected {escaped(wanted, 100)}"


def advice(root: Path) -> Iterator[str]:
    """Say what `load_dataset` would do wrong with a folder that is right in itself."""
    if not (root / CARD).is_file():
        yield (
            f"has no {CARD}; without its front matter load_dataset merges test_blind into "
            f"test and types nothing. Copy {SOURCE} there, or use reasoning_drift.load."
        )
    if root.resolve().name == "reasoning_drift":
        yield (
            "a folder of this name holds a file of its own name, which load_dataset from "
            "datasets 4 on refuses as a script. Rename the folder, or use reasoning_drift.load."
        )
