"""The five targets of many rows, as codes on columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from drift_onset.reading.cells import Codes, arrow, to_numpy


@dataclass(frozen=True)
class States:
    """What counting needs to know of n rows.

    Attributes:
        ids: scenario identifiers, n texts.
        codes: target → n int32 codes: labels as positions in schema order, onset and residual as
            1-based numbers with 0 for blank, UNREADABLE (-2) where a cell has a problem.
        valid: n booleans, whether the row has no problem at all.
        named: n booleans, whether the identifier is one.
        records: n row numbers in the file, or item numbers.
        steps, constraints: n lengths that bound onset and residual; 0 where not known.
        confidence: n whole billionths, -1 where none was given.
    """

    ids: pa.Array
    codes: Mapping[str, Codes]
    valid: npt.NDArray[np.bool_]
    named: npt.NDArray[np.bool_]
    records: npt.NDArray[np.int64]
    steps: Codes
    constraints: Codes
    confidence: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    def shifted(self, rows: int) -> States:
        """Give the same rows with higher numbers."""
        return replace(self, records=self.records + rows)

    @staticmethod
    def concat(parts: Sequence[States]) -> States:
        """Join parts, at least one, in order."""
        first = parts[0]
        if len(parts) == 1:
            return first
        return States(
            ids=pa.concat_arrays([part.ids for part in parts]),
            codes={n: np.concatenate([part.codes[n] for part in parts]) for n in first.codes},
            **{
                field.name: np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(first)
                if field.name not in ("ids", "codes")
            },
        )

    def are_ascending(self) -> bool:
        """Tell whether identifiers rise from row to row, so that none is repeated."""
        return len(self) < 2 or bool(pc.all(pc.less(self.ids[:-1], self.ids[1:])).as_py())

    def sha256(self) -> str:
        """Hash identifiers and targets in the order of the identifiers.

        Returns:
            Hex digest that depends on the decoded content alone: not on row order, byte order
            marks, line ends or the kind of source.
        """
        ids, codes = self.ids, self.codes
        if not self.are_ascending():
            order = to_numpy(pc.sort_indices(ids)).astype(np.int64)
            ids, codes = ids.take(arrow(order)), {n: c[order] for n, c in codes.items()}
        digest = hashlib.sha256()
        lengths = to_numpy(pc.binary_length(ids)).astype("<i4")
        digest.update(lengths.tobytes())
        _, offsets, data = ids.buffers()
        if len(ids):
            ends = np.frombuffer(offsets, np.int32)[ids.offset : ids.offset + len(ids) + 1]
            digest.update(memoryview(data or b"")[ends[0] : ends[-1]])
        for name in sorted(codes):
            digest.update(codes[name].astype("<i4").tobytes())
        return digest.hexdigest()
