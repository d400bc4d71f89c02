"""The same function over many items, on a local Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

WORKERS = 2
_RETRIES = 2


class MissingExtra(OSError):
    """A package is not installed that an optional part needs."""


def mapped(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int = WORKERS
) -> Iterator[Result]:
    """Call a function on every item in worker processes, and give the results in order.

    Args:
        function: defined at the top of a module, so that another process can import it.
        items: what it is called on; items and results travel between processes.
        workers: number of processes.

    Raises:
        MissingExtra: Dask is not installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        message = "needs Dask: pip install 'reasoning-drift[dask]'"
        raise MissingExtra(0, message, "--engine dask") from None
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
    )
    with cluster, Client(cluster) as client:
        futures = [client.submit(function, item, pure=False, retries=_RETRIES) for item in items]
        for future in futures:
            yield future.result()
