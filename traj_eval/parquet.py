"""Trajectories in Parquet: one row each, with the columns of the file format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from drift_core.problems import InvalidInput, Problem
from traj_eval import schema
from traj_eval.chunks import Chunk, of_items

_ROWS = 64


def read(path: str, on_bytes: Callable[[int], None] | None = None) -> Iterator[Chunk]:
    """Read a Parquet file some trajectories at a time; see `rows`."""
    yield from of_items(rows(path, on_bytes), path, 1)


def rows(path: str, on_bytes: Callable[[int], None] | None = None) -> Iterator[dict[str, Any]]:
    """Read a Parquet file row by row.

    Null stands for an optional field that is not there.

    Args:
        path: the file.
        on_bytes: called with the compressed size of what was read.

    Raises:
        InvalidInput: pyarrow is not installed, or the file is not Parquet.
    """
    try:
        import pyarrow.lib
        import pyarrow.parquet
    except ImportError:
        message = "is Parquet, which needs pyarrow: pip install pyarrow"
        raise InvalidInput([Problem.of_file("no_pyarrow", path, message)]) from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield from _rows(file, on_bytes)
    except pyarrow.lib.ArrowException as error:
        message = f"is not a sound Parquet file: {str(error).splitlines()[0]}"
        raise InvalidInput([Problem.of_file("parquet", path, message)]) from None


def _rows(file: Any, on_bytes: Callable[[int], None] | None) -> Iterator[dict[str, Any]]:
    optional = set(schema.fields()) - set(schema.document()["required"])
    for group in range(file.num_row_groups):
        for batch in file.iter_batches(_ROWS, row_groups=[group]):
            for row in batch.to_pylist():
                yield {k: v for k, v in row.items() if v is not None or k not in optional}
        if on_bytes is not None:
            columns = file.metadata.row_group(group)
            on_bytes(
                sum(columns.column(k).total_compressed_size for k in range(columns.num_columns))
            )
