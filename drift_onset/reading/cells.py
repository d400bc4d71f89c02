"""Columns of cells → numbers and codes, whole columns at a time.

A cell that cannot be read gets the code `UNREADABLE`; the callers say what is wrong with it.
Every function takes text as it stands in a file; typed columns (integers, ClassLabel ids) that
come from a Dataset or from Python are read too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from drift_core.strict_json import INT32_MAX
from drift_onset import schema

UNREADABLE = -2
BLANK = 0
BILLION = 10**9

_PLAIN_INTEGER = re.compile(r"[1-9][0-9]{0,9}|0")
_FLOAT_TEXT = re.compile(r"([1-9][0-9]{0,9}|0)\.0+")
_DECIMAL = r"^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?$"

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Give a column as one plain array, dictionaries decoded and nulls typed as text."""
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks > 1:
            column = pa.concat_arrays(column.unify_dictionaries().chunks)
        else:
            column = column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_text(column.type):
        column = column.cast(pa.string())
    return column


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a type other than string holds text or nothing."""
    return pa.types.is_null(kind) or str(kind) in ("large_string", "string_view")


def arrow(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Give numpy values as an Arrow array; `pa.array` would import pandas for that.

    Args:
        values: n numbers or booleans.
        missing: n booleans, which values are null.
    """
    bits = values.dtype == np.bool_
    data = np.packbits(values, bitorder="little") if bits else np.ascontiguousarray(values)
    known = None if missing is None else np.packbits(~missing, bitorder="little")
    buffers = [None if known is None else pa.py_buffer(known), pa.py_buffer(data)]
    kind = pa.bool_() if bits else pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), buffers)


def text_array(texts: Sequence[str | None]) -> pa.Array:
    """Give texts as an Arrow array, None as null; without the pandas import of `pa.array`."""
    encoded = [b"" if text is None else text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    known = np.packbits(np.array([text is not None for text in texts], np.bool_), bitorder="little")
    buffers = [pa.py_buffer(known), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


@cache
def text_scalar(text: str) -> pa.Scalar:
    """Give a text as an Arrow scalar, to compare columns with."""
    return text_array([text])[0]


def _bits(buffer: pa.Buffer, array: pa.Array) -> npt.NDArray[np.bool_]:
    end = array.offset + len(array)
    packed = np.frombuffer(buffer, np.uint8)
    return np.unpackbits(packed, count=end, bitorder="little")[array.offset :].view(np.bool_)


def to_numpy(array: pa.Array) -> npt.NDArray[Any]:
    """Give a column of numbers or booleans as numpy, whatever stands where it is null.

    The array's own method would import pandas; this one looks at its buffers.
    """
    data = array.buffers()[1]
    if pa.types.is_boolean(array.type):
        return _bits(data, array) if len(array) else np.zeros(0, np.bool_)
    kind = np.dtype({"float": "float32", "double": "float64"}.get(str(array.type), str(array.type)))
    return np.frombuffer(data or b"", kind)[array.offset : array.offset + len(array)]


def is_null(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Tell which values of a column are null."""
    if pa.types.is_null(array.type):
        return np.ones(len(array), np.bool_)
    known = array.buffers()[0]
    return np.zeros(len(array), np.bool_) if known is None else ~_bits(known, array)


def numbers(array: pa.Array, missing: int = UNREADABLE) -> npt.NDArray[np.int64]:
    """Give an integer column as numpy, nulls as another number."""
    return np.where(is_null(array), missing, to_numpy(array)).astype(np.int64)


def mask(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Give a boolean column as numpy, nulls as False; the result can be written to."""
    return to_numpy(array) & ~is_null(array)


def equals(column: pa.Array, text: str) -> npt.NDArray[np.bool_]:
    """Tell which texts of a column equal a text; a null equals none."""
    return mask(pc.equal(column, text_scalar(text)))


def label_codes(column: pa.Array, names: Sequence[str]) -> Codes:
    """Read a column of labels.

    Args:
        column: label texts, matched exactly, or integers that are positions in `names`.
        names: the labels, in schema order.

    Returns:
        int32 codes: the position in `names`, or UNREADABLE (unknown, null, out of range).
    """
    column = one_array(column)
    if pa.types.is_string(column.type):
        found = pc.index_in(column, value_set=text_array(names))
        return numbers(found).astype(np.int32)
    if pa.types.is_integer(column.type):
        codes = numbers(column)
        return np.where((codes >= 0) & (codes < len(names)), codes, UNREADABLE).astype(np.int32)
    return np.full(len(column), UNREADABLE, np.int32)


def _position(text: str | None, blanks: Sequence[str], float_text: bool) -> int:
    if text is None or text in blanks:
        return BLANK
    plain = _PLAIN_INTEGER.fullmatch(text)
    if plain is None and float_text and (match := _FLOAT_TEXT.fullmatch(text)):
        text, plain = match[1], match
    if plain is None or not 1 <= int(text) <= INT32_MAX:
        return UNREADABLE
    return int(text)


def positions(
    column: pa.Array, *, blanks: Sequence[str] = ("",), float_text: bool = False
) -> Codes:
    """Read a column of 1-based step or constraint numbers.

    Args:
        column: text of ASCII digits, or integers, or floats of whole value; null is blank.
        blanks: texts that mean blank.
        float_text: whether `3.0` is read as 3, as in prediction files.

    Returns:
        int32 numbers from 1; BLANK (0) for blank; UNREADABLE for anything else, 0 included.
    """
    column = one_array(column)
    if pa.types.is_string(column.type):
        encoded = pc.dictionary_encode(column, null_encoding="encode")
        texts = encoded.dictionary.to_pylist()
        table = np.asarray([_position(t, blanks, float_text) for t in texts], np.int32)
        return table[numbers(encoded.indices, 0)] if texts else np.zeros(0, np.int32)
    if pa.types.is_floating(column.type):
        values = np.where(is_null(column), 0.5, to_numpy(column.cast(pa.float64())))
        whole = (values >= 1) & (values <= INT32_MAX) & (values == np.floor(values))
        read = np.where(whole, values, UNREADABLE).astype(np.int32)
    elif pa.types.is_integer(column.type):
        wide = numbers(column)
        whole = (wide >= 1) & (wide <= INT32_MAX)
        read = np.where(whole, wide, UNREADABLE).astype(np.int32)
    else:
        read = np.full(len(column), UNREADABLE, np.int32)
    return np.where(is_null(column), np.int32(BLANK), read)


def decimals(column: pa.Array) -> npt.NDArray[np.float64]:
    """Read a column of decimal numbers.

    Args:
        column: text such as `0.25`, `.5` or `1e-3`, or numbers; blank and null are blank.

    Returns:
        float64 numbers; NaN for blank, infinity for what is no decimal number.
    """
    column = one_array(column)
    if pa.types.is_string(column.type):
        blank = equals(column, "") | is_null(column)
        plain = mask(pc.match_substring_regex(column, _DECIMAL))
        zeros = pc.if_else(arrow(plain), column, text_scalar("0"))
        read = to_numpy(zeros.cast(pa.float64())).copy()
        read[~plain] = np.inf
    elif pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        blank = is_null(column)
        read = to_numpy(column.cast(pa.float64())).copy()
        read[np.isnan(read)] = np.inf
    else:
        blank = is_null(column)
        read = np.full(len(column), np.inf)
    read[blank] = np.nan
    return read


def billionths(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Turn shares in [0, 1] into whole billionths; -1 for NaN.

    Sums of them are exact in any order, so that merged parts equal the whole to the bit.
    """
    scaled = np.rint(np.where(np.isnan(shares), 0.0, shares) * BILLION).astype(np.int64)
    return np.where(np.isnan(shares), -1, scaled)


def is_blank(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Tell which texts are null or have no character that can be seen, as schema.json has it."""
    first = _first_bytes(column)
    blank = (first <= ord(" ")) | (first >= 0x7F) | is_null(column)
    # Only a text that does not start with visible ASCII is looked at whole.
    for row in np.flatnonzero(blank).tolist():
        text = column[row].as_py()
        blank[row] = text is None or _visible().search(text) is None
    return blank


def is_all_printable_ascii(column: pa.Array) -> bool:
    """Tell whether a column of texts has visible ASCII characters and spaces alone."""
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)
    return not len(data) or bool(data.min() >= 0x20 and data.max() < 0x7F)


def _first_bytes(column: pa.Array) -> npt.NDArray[np.uint8]:
    """Give the first byte of each text, 0 where it is empty."""
    _, offsets, data = column.buffers()
    if not len(column) or data is None or not data.size:
        return np.zeros(len(column), np.uint8)
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    at = np.minimum(ends[:-1], data.size - 1)
    return np.where(ends[:-1] < ends[1:], np.frombuffer(data, np.uint8)[at], 0).astype(np.uint8)


@cache
def _visible() -> re.Pattern[str]:
    return re.compile(schema.definition("text")["pattern"])


def nearest(value: str, names: Sequence[str]) -> str:
    """Give the label that a text most probably means, as a hint; empty if none is near."""
    visible = re.sub(r"[^0-9A-Za-z]+", "_", value).strip("_").lower()
    close = difflib.get_close_matches(visible, names, n=1, cutoff=0.6)
    return close[0] if close else ""
