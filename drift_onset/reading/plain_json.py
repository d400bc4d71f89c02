"""JSON cells in plain form, recognised in whole columns by where their quotation marks stand.

Plain constraints are visible ASCII between quotation marks, as `json.dumps` writes them; plain
trajectories are steps numbered 1, 2, 3, … with texts free of escapes. What is plain needs no
parsing. What is not may be right or wrong, and is for json_cells.py to parse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from drift_onset.reading.cells import Bools, Codes, arrow
from drift_onset.reading.csv_chunks import PIECE_BYTES

Ints = npt.NDArray[np.int64]

_QUOTE, _BACKSLASH, _COMMA, _SPACE = b'"\\, '
_OPEN, _CLOSE, _LEFT, _RIGHT = b"[]{}"
_STEP, _TEXT = (int.from_bytes(word, "little") for word in (b'"step": ', b'"text": '))
_MOST_STEPS = 99
_MOST_CONSTRAINTS = 99
_SHORTEST = len('[{"step": 1, "text": "x"}]')


@dataclass(frozen=True)
class _Marks:
    """The quotation marks of a column of texts.

    Attributes:
        data: the bytes of all texts.
        starts, stops: place of the first byte of each text, and of the first one after it.
        at: places of the quotation marks, in order.
        counts: their number in each text.
    """

    data: npt.NDArray[np.uint8]
    starts: Ints
    stops: Ints
    at: Ints
    counts: Ints

    @staticmethod
    def of(column: pa.Array) -> _Marks:
        _, offsets, buffer = column.buffers()
        ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
        data = np.frombuffer(buffer or b"", np.uint8)[ends[0] : ends[-1]]
        ends = ends.astype(np.int64) - ends[0]
        at = np.flatnonzero(data == _QUOTE)
        return _Marks(data, ends[:-1], ends[1:], at, np.diff(np.searchsorted(at, ends)))

    def rows_with_odd_bytes(self, highest: int) -> Ints:
        """Give the rows that have a backslash, a control character or a byte above the highest."""
        odd = [
            start + np.flatnonzero(_is_odd(self.data[start : start + PIECE_BYTES], highest))
            for start in range(0, len(self.data), PIECE_BYTES)
        ]
        places = np.concatenate(odd) if odd else np.zeros(0, np.int64)
        return np.searchsorted(self.stops, places, side="right")

    def of_rows(self, rows: Bools) -> Ints:
        """Give the places of the marks in these rows."""
        return self.at if rows.all() else self.at[np.repeat(rows, self.counts)]

    def bytes_at(self, places: Ints) -> npt.NDArray[np.uint8]:
        """Give the bytes at these places; beyond an end, the one there."""
        return self.data.take(places, mode="clip")

    def words_at(self, places: Ints) -> npt.NDArray[np.uint64]:
        """Give the eight bytes from each of these places on as one number."""
        words: npt.NDArray[np.uint64] = np.ndarray(
            (len(self.data) - 7,), "<u8", self.data.data, strides=(1,)
        )
        # An index, since take() would first copy all of the overlapping words.
        return words[np.minimum(places, len(words) - 1)]

    def are_visible(self, places: Ints) -> Bools:
        """Tell where a visible ASCII character stands."""
        found = self.bytes_at(places)
        visible: Bools = (found > _SPACE) & (found < 0x7F)
        return visible


def _is_odd(data: npt.NDArray[np.uint8], highest: int) -> Bools:
    odd: Bools = data < _SPACE
    odd |= data == _BACKSLASH
    odd |= data == 0x7F
    if highest < 0xFF:
        odd |= data > highest
    return odd


def trajectories(column: pa.Array) -> tuple[Bools, Codes]:
    """Recognise plain trajectories.

    Args:
        column: n texts, none of them null.

    Returns:
        Which ones are plain, and the number of their steps.
    """
    marks = _Marks.of(column)
    byte = marks.bytes_at
    plain: Bools = (marks.counts > 0) & (marks.counts % 6 == 0)
    plain &= (marks.counts <= 6 * _MOST_STEPS) & (marks.stops - marks.starts >= _SHORTEST)
    plain[marks.rows_with_odd_bytes(0xFF)] = False
    steps = (marks.counts // 6).astype(np.int32)
    if not plain.any():
        return plain, steps
    key, _, text_key, _, opening, closing = marks.of_rows(plain).reshape(-1, 6).T
    row = np.repeat(np.flatnonzero(plain), steps[plain])
    first = np.flatnonzero(np.diff(row, prepend=-1))
    last = np.append(first[1:], len(row)) - 1
    number = np.arange(len(row)) - np.repeat(first, steps[plain]) + 1

    # {"step": 12, "text": "…"}
    wide = number > 9
    tens, units = np.divmod(number, 10)
    right = (byte(key - 1) == _LEFT) & (marks.words_at(key) == _STEP)
    right &= byte(key + 8) == np.where(wide, tens, units) + ord("0")
    right &= ~wide | (byte(key + 9) == units + ord("0"))
    right &= text_key == key + 11 + wide
    right &= (byte(text_key - 2) == _COMMA) & (byte(text_key - 1) == _SPACE)
    right &= (marks.words_at(text_key) == _TEXT) & (opening == text_key + 8)
    right &= marks.are_visible(opening + 1) & (closing > opening + 1)
    right &= byte(closing + 1) == _RIGHT
    # [{…}, {…}]
    right[first] &= (key[first] == marks.starts[plain] + 2) & (byte(key[first] - 2) == _OPEN)
    right[last] &= (closing[last] + 3 == marks.stops[plain]) & (byte(closing[last] + 2) == _CLOSE)
    follows = np.ones(len(row), np.bool_)
    follows[:-1] = (key[1:] == closing[:-1] + 5) & (byte(closing[:-1] + 2) == _COMMA)
    follows[:-1] &= byte(closing[:-1] + 3) == _SPACE
    follows[last] = True
    plain[row[~(right & follows)]] = False
    return plain, steps


def constraints(column: pa.Array) -> tuple[Bools, Codes, pa.Array]:
    """Recognise plain constraints and take them apart.

    Args:
        column: n texts, none of them null.

    Returns:
        Which ones are plain; the number of constraints, 0 where not plain; and all plain
        constraints in one array.
    """
    marks = _Marks.of(column)
    byte = marks.bytes_at
    plain: Bools = (marks.counts > 0) & (marks.counts % 2 == 0)
    plain &= marks.counts <= 2 * _MOST_CONSTRAINTS
    plain[marks.rows_with_odd_bytes(0x7F)] = False
    opening, closing = marks.of_rows(plain).reshape(-1, 2).T
    counts = np.where(plain, marks.counts // 2, 0)
    row = np.repeat(np.flatnonzero(plain), counts[plain])
    if len(row):
        first = np.flatnonzero(np.diff(row, prepend=-1))
        last = np.append(first[1:], len(row)) - 1
        right = marks.are_visible(opening + 1) & (closing > opening + 1)
        # ["…", "…"], with or without the space
        right[first] &= opening[first] == marks.starts[plain] + 1
        right[first] &= byte(opening[first] - 1) == _OPEN
        right[last] &= closing[last] + 2 == marks.stops[plain]
        right[last] &= byte(closing[last] + 1) == _CLOSE
        follows = np.ones(len(row), np.bool_)
        gap = opening[1:] - closing[:-1]
        spaced = (gap == 3) & (byte(closing[:-1] + 2) == _SPACE)
        follows[:-1] = (byte(closing[:-1] + 1) == _COMMA) & ((gap == 2) | spaced)
        follows[last] = True
        plain[row[~(right & follows)]] = False
    kept = plain[row]
    counts = np.where(plain, counts, 0).astype(np.int32)
    return plain, counts, _between(marks.data, opening[kept] + 1, closing[kept])


def _between(data: npt.NDArray[np.uint8], starts: Ints, stops: Ints) -> pa.Array:
    """Give the texts between places; what stands between them is an array element too at first."""
    places = np.empty(2 * len(starts) + 1, np.int32)
    places[:-1:2], places[1::2] = starts, stops
    places[-1] = stops[-1] if len(stops) else 0
    buffers = [None, pa.py_buffer(places), pa.py_buffer(data)]
    pieces = pa.Array.from_buffers(pa.string(), 2 * len(starts), buffers)
    return pieces.take(arrow(np.arange(0, 2 * len(starts), 2)))
