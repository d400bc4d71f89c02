"""Croissant metadata: the built dataset, described for machines (mlcommons.org/croissant/1.0)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drift_core import CITATION, __version__
from drift_onset import schema
from drift_onset.hub import DATASET, SUMMARY
from drift_onset.splits import Split, splits

_CR = "http://mlcommons.org/croissant/"
# The standard's context, whole: readers warn of any other.
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": _CR,
    "dct": "http://purl.org/dc/terms/",
    "rai": f"{_CR}RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isLiveDataset", "jsonPath"),
            *("key", "md5", "parentField", "path", "recordSet", "references", "regex"),
            *("repeated", "replace", "samplingRate", "separator", "source", "subField"),
            "transform",
        )
    },
}
_TYPES = {"integer": "sc:Integer", "number": "sc:Float", "string": "sc:Text"}


def document(root: Path) -> dict[str, Any]:
    """Give the metadata of a built dataset.

    One record set for each split, with the columns that are no lists, and one for each label
    field that says which label a number stands for.

    Args:
        root: folder that holds `data`, with the Parquet files, and CITATION.cff.
    """
    import yaml

    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    labelled = schema.fields(schema.LABELLED).values()
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": DATASET,
        "description": SUMMARY,
        "conformsTo": f"{_CR}1.0",
        "citeAs": CITATION,
        "license": "https://spdx.org/licenses/MIT.html",
        "version": __version__,
        "datePublished": str(citation["date-released"]),
        "distribution": [_file(root, split) for split in splits()],
        "recordSet": [
            *(_labels(field) for field in labelled if field.labels),
            *(_records(split) for split in splits()),
        ],
    }


def _file(root: Path, split: Split) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": split.parquet,
        "name": split.parquet,
        "contentUrl": split.parquet,
        "encodingFormat": "application/x-parquet",
        "sha256": hashlib.sha256((root / split.parquet).read_bytes()).hexdigest(),
    }


def _labels(field: schema.Field) -> dict[str, Any]:
    columns = {"id": "sc:Integer", "label": "sc:Text", "meaning": "sc:Text"}
    options = enumerate(field.schema["oneOf"])
    return {
        "@type": "cr:RecordSet",
        "@id": field.name,
        "name": field.name,
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{field.name}/id"},
        "field": [_field(field.name, name, kind) for name, kind in columns.items()],
        "data": [
            {
                f"{field.name}/id": code,
                f"{field.name}/label": option["const"],
                f"{field.name}/meaning": option["description"],
            }
            for code, option in options
        ],
    }


def _records(split: Split) -> dict[str, Any]:
    scalars = [f for f in schema.fields(split.record).values() if "array" not in f.types]
    return {
        "@type": "cr:RecordSet",
        "@id": split.name,
        "name": split.name,
        "key": {"@id": f"{split.name}/scenario_id"},
        "field": [
            {
                **_field(split.name, field.name, _type(field)),
                "source": {
                    "fileObject": {"@id": split.parquet},
                    "extract": {"column": field.name},
                },
            }
            for field in scalars
        ],
    }


def _type(field: schema.Field) -> str:
    return _TYPES["integer" if field.labels else field.types[0]]


def _field(record_set: str, name: str, kind: str) -> Mapping[str, Any]:
    return {"@type": "cr:Field", "@id": f"{record_set}/{name}", "name": name, "dataType": kind}
