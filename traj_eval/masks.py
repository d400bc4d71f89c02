"""How mask tokens are written, and texts that write them otherwise than their file says."""

from __future__ import annotations

import re
from itertools import accumulate

from traj_eval.layout import Layout

MASK = r"(?:\[MASK\]|<\|?(?:mdm_)?mask(?:_token)?\|?>)"
MASKS = re.compile(MASK, re.I)


def note(layout: Layout) -> str | None:
    """Say what the masks look like, if no text has the one that its file says and some another.

    Only the first text of each trajectory is looked at, in which most masks stand.

    Args:
        layout: of some trajectories.

    Example:
        >>> from traj_eval.layout import lay_out
        >>> step = {"step": 0, "verdict": None, "text": "so <mask>"}
        >>> print(note(lay_out([{"id": "a", "gold": None, "steps": [step]}])))
        the texts have no '[MASK]', but a has '<mask>': name it in the field `mask`
    """
    texts, named = layout.steps["text"], layout.trajectories
    starts = accumulate(layout.lengths[:-1], initial=0)
    first = [texts[at] for at in starts]
    if any(mask in text for mask, text in zip(named["mask"], first, strict=True)):
        return None
    for name, mask, text in zip(named["id"], named["mask"], first, strict=True):
        other = MASKS.search(text)
        if other:
            return (
                f"the texts have no {mask!r}, but {name} has {other[0]!r}: name it in the field "
                "`mask`"
            )
    return None
