"""Decoding records of LLaDA, as decoding-analysis datasets publish them → trajectories.

Such a dataset has one torch file a question, a dict with these keys (Li et al., 2025, Diffusion
Language Models Know the Answer Before Decoding, https://arxiv.org/abs/2508.19982, and its data
card):

- `x0_history`: one tensor a block, steps × (prompt_token_len + generation): the full prediction at
  each step, also where tokens were written already;
- `true_indices_history`: for each block and step an N × 2 tensor whose second column holds the
  positions that were committed;
- `prompt_token_len`; `ans_posidx`, the position of the predicted answer; `pred_ans`,
  `pred_token_id`, `gt_text`, `gt_token_id`;
- `gen_ids`, the final generation: named by the card, absent from part of the files.

The canvas after a step holds what was committed so far and masks elsewhere. The prompt's tokens
are not in the files, so that the trajectories begin with the generation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from drift_core import extras
from drift_core.problems import InvalidInput, Problem, escaped
from traj_eval.decoding_record import BadRecord, rebuild
from traj_eval.frames import MASK, Decode, Extract, View, text_decoder, trajectory
from traj_eval.record import LLADA_MASK_ID

ENDING = ".pt"


def import_decoding_records(
    path: str | os.PathLike[str], tokenizer: Any = None, **options: Any
) -> list[dict[str, Any]]:
    """Read decoding records into trajectories in the file format.

    Args:
        path: a torch file, or a folder of them, read in the order of their names.
        tokenizer: as for `iter_decoding_records`.
        **options: as for `iter_decoding_records`.

    Returns:
        One trajectory a file; the id is the name of the file without its ending.

    Raises:
        MissingExtra: an ImportError; torch is not installed.
        InvalidInput: a file is not such a record; all of them are named.
        OSError: there is no such file or folder.
    """
    return list(iter_decoding_records(path, tokenizer, **options))


def iter_decoding_records(
    path: str | os.PathLike[str],
    tokenizer: Any = None,
    *,
    source: Literal["canvas", "x0"] = "canvas",
    extract: Extract | None = None,
    forced: Mapping[int, int] | None = None,
    mask_id: int = LLADA_MASK_ID,
    form: Literal["text", "canvas"] = "text",
    model: str | None = None,
    task: str | None = None,
    condition: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Read decoding records one by one, for folders that are larger than memory.

    Args:
        path: a torch file, or a folder of them.
        tokenizer: gives the texts, as for `traj_eval.record.Recorder`. Without it a text is the
            token numbers with spaces between them, so that lengths count digits.
        source: `canvas`, what was committed, or `x0`, the full prediction with what was committed
            in its place; texts and verdicts are read from it.
        extract: text of the generation → verdict. Without it the verdict is read at the answer's
            position: `pred_ans` or `gt_text` where their tokens stand there, None where a mask
            does, else the text of the tokens.
        forced: position in the generation → token, for runs that fixed tokens before the first
            step ("constraints"). Needed for files without `gen_ids` only.
        mask_id: number of the mask token.
        form: `text`, or `canvas` to store the tokens of every step as well, where there is an
            answer.
        model: written into every trajectory, where given, as are the next two.
        task: what was asked.
        condition: how it was asked or sampled.

    Yields:
        Trajectories in the order of the file names.

    Raises:
        MissingExtra: an ImportError; torch is not installed.
        InvalidInput: after the last file, if any of them is not such a record.
        OSError: there is no such file or folder.
    """
    load = _loader()
    named = {"model": model, "task": task, "condition": condition}
    view = View(
        decode=text_decoder(tokenizer, mask_id) if tokenizer is not None else _numbers(mask_id),
        mask_id=mask_id,
        extract=extract,
        source=source,
        meta={key: value for key, value in named.items() if value is not None},
        keep_tokens=form == "canvas",
    )
    problems = []
    for file in _files(Path(path)):
        try:
            yield _trajectory(file.stem, load(file), view, forced or {})
        except BadRecord as error:
            problems.append(
                Problem(
                    "decoding_record", str(file), None, file.stem, error.column, None, str(error)
                )
            )
    if problems:
        raise InvalidInput(problems)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob(f"*{ENDING}"))
    if not files:
        message = f"a folder without files that end in {ENDING}"
        raise InvalidInput([Problem.of_file("no_files", path, message)])
    return files


def _loader() -> Callable[[Path], Any]:
    """Give a function that reads a torch file without running code from it."""
    torch = extras.load("torch", "torch")

    def load(path: Path) -> Any:
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except OSError:
            raise
        except Exception as error:  # torch raises many kinds for a file that is none of its own
            first = (str(error).splitlines() or [""])[0]
            raise BadRecord(
                None, f"not a file that torch loads with weights_only=True: {escaped(first, 160)}"
            ) from None

    return load


def _numbers(mask_id: int) -> Decode:
    """Show tokens as numbers, for want of a tokenizer."""
    return lambda tokens: " ".join(MASK if t == mask_id else str(t) for t in tokens)


def _trajectory(name: str, record: Any, view: View, forced: Mapping[int, int]) -> dict[str, Any]:
    rebuilt = rebuild(record, forced, view.mask_id)
    view = replace(view, answer_span=rebuilt.answer_span)
    gold = None if record.get("gt_text") is None else str(record["gt_text"]) or None
    x0 = rebuilt.x0 if view.source == "x0" else None
    steps = range(len(rebuilt.canvas))
    found = trajectory(name, gold, steps, rebuilt.canvas, view, x0)
    if view.extract is None and rebuilt.answer_span is not None:
        at_answer = (rebuilt.canvas if x0 is None else x0)[:, slice(*rebuilt.answer_span)]
        for step, tokens in zip(found["steps"], at_answer.tolist(), strict=True):
            step["verdict"] = rebuilt.answers.get(tuple(tokens), step["verdict"]) or None
    return found
