"""The front matter of the dataset card: what the Hub and `load_dataset` go by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drift_onset import schema
from drift_onset.repository import Split, splits


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
