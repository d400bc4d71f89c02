"""The same function over many items, on a local Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from drift_core import extras

Item = TypeVar("Item")
Result = TypeVar("Result")

WORKERS = 2
_RETRIES = 2


def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int = WORKERS
) -> Iterator[Result]:
    """Call a function on every item in worker processes, and give the results in order.

    Args:
        function: defined at the top of a module, so that another process can import it.
        items: what it is called on; items and results travel between processes.
        workers: number of processes.

    Raises:
        drift_core.extras.MissingExtra: Dask is not installed.
    """
    distributed = extras.load("distributed", "dask")
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
    )
    with cluster, distributed.Client(cluster) as client:
        futures = [client.submit(function, item, pure=False, retries=_RETRIES) for item in items]
        for future in futures:
            yield future.result()
