r"""Text of a canvas → verdict, or None where there is none yet.

A canvas is read while it is being written, so an extractor must not take half an answer for one:
a number that touches a mask may go on behind it, a brace may not be closed yet. Where a text can be
read in two ways the verdict is None, which no metric counts as a change of mind.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from functools import partial

from traj_eval.masks import MASK, MASKS

_CUE = (
    r"(?:\banswer|\bcorrect (?:answer|choice|option))\b[ \t]*(?:is\b[ \t]*:?|:|=)[ \t]*"
    r"(?:(?:is|option|choice)\b:?)?"
)
_OPEN, _CLOSE = r"[\s*_$(\[{\"'`]*", r"[*_)\]}\"'`]"
_BOXED_LETTER = r"\\boxed\{\s*(?:\\text\w*\{)?\s*\(?([A-Ja-j])\)?\s*\}"
_CUED_LETTER = re.compile(
    rf"(?i:{_CUE}){_OPEN}(?:\\text\w*\{{)?\(?"
    rf"(?:([A-HJ])(?![\w'’])|([a-jI])(?=[ \t]*(?:{_CLOSE}|[.,;:]|$)))"
    rf"|{_BOXED_LETTER}",
    re.M,
)
_BARE_LETTER = re.compile(
    rf"\(([A-Ja-j])\)|^[ \t*_]*([A-J])[*_]*(?=[.):]|[ \t]*$|[ \t]*{MASK})|\*\*([A-J])\*\*", re.M
)

_NUMBER = re.compile(
    r"(?:(?<![\w)\]])[-+−])?"
    r"(?:(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,2}(?!\d))?"
)
_ENDS_IN_MASK = re.compile(rf"{MASK}[-+−]?$", re.I)

_YES_NO = re.compile(
    rf"(?i:{_CUE}){_OPEN}(yes|no)\b"
    rf"|\\boxed\{{\s*(?:\\text\w*\{{)?\s*(yes|no)\b"
    rf"|\A\W*(yes|no)\b(?=\s*(?:[.,;:!*—–-]|\Z|\n|{MASK}))"
    rf"|\b(yes|no)\W*\Z",
    re.I,
)


def choice(text: str) -> str | None:
    r"""Give the letter, A to J, of a multiple-choice answer.

    The last letter after a cue counts ("the answer is", "Answer:", `\boxed{}`). Without a cue, a
    letter counts that stands in brackets, in bold, or at the start of a line before a full stop,
    colon, bracket, mask or line end, if all letters that stand so are the same. The article "A"
    and the pronoun "I" are words.

    Example:
        >>> choice("The answer is (B).")
        'B'
        >>> choice("A whale is a mammal: the answer is [MASK]") is None
        True
    """
    cued = _letters(_CUED_LETTER, text)
    if cued:
        return cued[-1]
    bare = set(_letters(_BARE_LETTER, text))
    return bare.pop() if len(bare) == 1 else None


def number(text: str) -> str | None:
    """Give the last number, in its shortest writing.

    Thousands separators, plus signs, leading zeros and zeros at the end of a fraction are left
    out, and so should they be in `gold`: 1,200.50 is 1200.5. None if the last number touches a
    mask, behind which it may go on.

    Example:
        >>> number("12 + 7 = 19, so $1,200.50 in all.")
        '1200.5'
        >>> number("12 + 7 = 1[MASK]") is None
        True
    """
    last = _last(_NUMBER, text)
    if last is None:
        return None
    before, after = text[: last.start()], text[last.end() :]
    if MASKS.match(after) or _ENDS_IN_MASK.search(before[-24:]):
        return None
    value = Decimal(last[0].replace(",", "").replace("−", "-"))
    shortest = format(value, "f")
    if "." in shortest:
        shortest = shortest.rstrip("0").rstrip(".")
    return "0" if value == 0 else shortest


def boxed(text: str) -> str | None:
    r"""Give what the last `\boxed{}` holds, nested braces and all.

    None if it is empty, holds a mask or is not closed yet.

    Example:
        >>> boxed(r"so \boxed{\frac{1}{2}} of it")
        '\\frac{1}{2}'
        >>> boxed(r"so \boxed{\frac{1}{") is None
        True
    """
    at = text.rfind("\\boxed{")
    if at < 0:
        return None
    start = at + len("\\boxed{")
    depth = 1
    for token in re.finditer(r"\\.|[{}]", text[start:], re.S):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return _whole(text[start : start + token.start()])
    return None


def yesno(text: str) -> str | None:
    """Give `yes` or `no`: the last one after a cue, as first word, or as last word.

    Within a sentence neither counts: "there is no reason" says nothing.

    Example:
        >>> yesno("Yes, because there is no reason why not.")
        'yes'
        >>> yesno("There is no [MASK]") is None
        True
    """
    cued: str | None = None
    first: str | None = None
    last: str | None = None
    for found in _YES_NO.finditer(text):
        after_cue, in_box, at_start, at_end = found.groups()
        cued = after_cue or in_box or cued
        first = at_start or first
        last = at_end or last
    verdict = cued or first or last
    return verdict.lower() if verdict else None


def _letters(pattern: re.Pattern[str], text: str) -> list[str]:
    return ["".join(filter(None, found.groups())).upper() for found in pattern.finditer(text)]


def _pattern(text: str, pattern: re.Pattern[str]) -> str | None:
    """Give the last match of a pattern: its first group that took part, or all of it."""
    last = _last(pattern, text)
    if last is None:
        return None
    return _whole(next((group for group in last.groups() if group is not None), last[0]))


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _whole(found: str) -> str | None:
    """Give a text without the spaces around it; None if it is empty or has a mask in it."""
    found = found.strip()
    return None if not found or MASKS.search(found) else found


EXTRACTORS = {"choice": choice, "number": number, "boxed": boxed, "yesno": yesno}


def extractor(name: str, pattern: str | None = None) -> Callable[[str], str | None]:
    r"""Give the extractor of a name.

    Args:
        name: `choice`, `number`, `boxed`, `yesno` or `regex`.
        pattern: for `regex` alone, a regular expression of Python: its last match counts, of that
            the first group that took part, or all of it if it has no groups.

    Returns:
        A function from the text of one canvas to its verdict, or None where there is none. It can
        be pickled.

    Raises:
        ValueError: an unknown name, a pattern missing, not wanted, or not a regular expression.

    Example:
        >>> extractor("regex", r"#(\d+)")("12+7=19;#19")
        '19'
    """
    if name == "regex":
        if pattern is None:
            raise ValueError("Expected argument `pattern` to be a regular expression, but got None")
        try:
            return partial(_pattern, pattern=re.compile(pattern))
        except re.error as error:
            raise ValueError(
                f"Expected argument `pattern` to be a regular expression, but got {pattern!r}: "
                f"{error}"
            ) from None
    if name not in EXTRACTORS:
        known = ", ".join([*EXTRACTORS, "regex"])
        raise ValueError(f"Expected argument `name` to be one of {known}, but got {name!r}")
    if pattern is not None:
        raise ValueError(f"Expected argument `pattern` for the extractor regex only, not {name}")
    return EXTRACTORS[name]
