"""Optional libraries: imported where they are used; commands say in words which one is missing."""

from __future__ import annotations

import importlib
from typing import Any


class MissingExtra(ImportError):
    """An optional library is not installed; the message says how to install it."""


def load(module: str, extra: str, then: str = "") -> Any:
    """Import an optional module.

    Args:
        module: what to import.
        extra: the extra of this package that installs it.
        then: what else has to be typed, if anything.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtra(
            f"{module.split('.')[0]} is not installed: pip install 'reasoning-drift[{extra}]'{then}"
        ) from None
