"""The code blocks of a page, for tests that run them."""

from __future__ import annotations

import re
from pathlib import Path

_BLOCK = re.compile(r"^( *)```(\w+) ?(\w*)\n(.*?)^ *```$", re.M | re.S)


def all_blocks(root: Path, page: str) -> list[tuple[str, str, str]]:
    """Give language, label (a word behind the language) and body of every block, in order."""
    found = _BLOCK.findall((root / page).read_text(encoding="utf-8"))
    return [
        (kind, label, re.sub(f"^{indent}", "", body, flags=re.M))
        for indent, kind, label, body in found
    ]


def blocks(root: Path, page: str, language: str, label: str = "") -> list[str]:
    """Give the blocks of a language."""
    return [body for *kind, body in all_blocks(root, page) if kind == [language, label]]
