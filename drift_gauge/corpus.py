"""A corpus: a folder of Markdown files, each a title and a text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from drift_core.problems import InvalidInput, Problem, escaped
from drift_gauge.documents import problem
from drift_gauge.golden import CORPUS_DIR, GoldenQuery


def load_corpus(folder: str | os.PathLike[str] = CORPUS_DIR) -> dict[str, str]:
    """Read the `*.md` files of a folder; the first line of each is `# ` and the title.

    Args:
        folder: holds at least one such file.

    Returns:
        Title → text, in the order of the file names.

    Raises:
        InvalidInput: a ValueError that names every file without title or text, every title that is
            there twice, and a folder without files or that is not there.
        OSError: a file cannot be read.

    Example:
        >>> corpus = load_corpus()
        >>> len(corpus), corpus["Nightly backups"][:12]
        (32, 'The primary ')
    """
    corpus: dict[str, str] = {}
    problems = []
    paths = sorted(Path(folder).glob("*.md"))
    if not Path(folder).is_dir():
        message = "no such folder, expected one with a *.md file for each document"
        problems.append(problem("document", folder, None, message))
    elif not paths:
        problems.append(
            problem("document", folder, None, "no *.md file, expected one for each document")
        )
    for path in paths:
        try:
            title, text = _document(path)
        except UnicodeDecodeError as error:
            problems.append(problem("document", path, None, f"not UTF-8: {error}"))
            continue
        if not title or not text:
            problems.append(
                problem("document", path, None, "expected a first line `# title` and a text")
            )
        elif title in corpus:
            problems.append(problem("document", path, "title", f"{escaped(title)} is there twice"))
        else:
            corpus[title] = text
    if problems:
        raise InvalidInput(problems)
    return corpus


def _document(path: Path) -> tuple[str, str]:
    first, _, rest = path.read_text(encoding="utf-8-sig").partition("\n")
    return first[2:].strip() if first.startswith("# ") else "", rest.strip()


def unknown_titles(
    golden: Iterable[GoldenQuery],
    titles: Iterable[str],
    file: str | os.PathLike[str] = "<golden set>",
) -> list[Problem]:
    """Name the expected titles that a corpus does not have.

    Args:
        golden: the queries.
        titles: of the corpus.
        file: what the problems call the golden set.
    """
    known = set(titles)
    return [
        Problem(
            "unknown_title",
            str(file),
            None,
            query.id,
            "expected",
            escaped(title),
            f"{escaped(title)} is not in the corpus, expected one of its {len(known)} titles",
        )
        for query in golden
        for title in query.expected
        if title not in known
    ]
