"""Items of any form as text, for a cache whose typed columns would turn 3.5 and True into ints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def pack(item: Any) -> str:
    """Write one item as text.

    Raises:
        ValueError: it holds what JSON has no form for.

    Example:
        >>> unpack([pack({"onset": 3.5})])
        [{'onset': 3.5}]
    """
    return json.dumps(item, default=_plain)


def unpack(texts: Sequence[str]) -> list[Any]:
    """Read items that `pack` wrote."""
    return [json.loads(text) for text in texts]


def _plain(value: Any) -> Any:
    """Turn mappings, numpy scalars and arrays into Python's own."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ValueError(f"Expected text, numbers, lists, dicts or None but got {type(value).__name__}")
