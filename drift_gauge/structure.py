"""Structural axes of a signed graph: frustration, and the conductance of its communities."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Any

import numpy as np

from drift_core import extras

_DENSE = 300  # nodes up to which all eigenvalues are computed
_EXTRA = "structure"


def alignment_snapshot(
    graph: Any, communities: Iterable[Collection[Hashable]] | None = None
) -> dict[str, float]:
    """Measure the structure of a graph, as `structural` of `measure_drift` takes it.

    Args:
        graph: an undirected networkx graph; `weight` of an edge may be negative, and is 1 where it
            is missing. Parallel edges add up.
        communities: sets of nodes; None for none.

    Returns:
        `frustration`: the smallest eigenvalue of I − D^−½ A D^−½, where D holds the row sums of
        |A|; 0 if the signs can be explained by two camps (or there is no edge), at most 1 without
        self-loops. Nodes without edges do not count.
        `min_conductance`: the least over the communities of (|weight| across the border) /
        (|weight| of the smaller side), where a side's weight is the sum of D over its nodes; from 0
        to 1. It is left out if no community has weight on both sides.

    Raises:
        MissingExtra: networkx or scipy is not installed.
        ValueError: the graph is directed, a weight is not finite, or a community is empty or holds
            what is no node.

    References:
        Kunegis et al. (2010), Spectral Analysis of Signed Graphs for Clustering, Prediction and
        Visualization. Kannan, Vempala, Vetta (2004), On Clusterings: Good, Bad and Spectral.

    Example:
        >>> import networkx
        >>> triangle = networkx.Graph([(1, 2), (2, 3)])
        >>> triangle.add_edge(1, 3, weight=-1)
        >>> snapshot = alignment_snapshot(triangle, [{1}])
        >>> round(snapshot["frustration"], 12), snapshot["min_conductance"]
        (0.5, 1.0)
    """
    networkx, _ = extras.load("networkx", _EXTRA), extras.load("scipy.sparse", _EXTRA)
    if graph.is_directed():
        raise ValueError("Expected argument `graph` to be undirected but got a directed graph")
    nodes = list(graph)
    if not nodes:
        return {"frustration": 0.0}
    weights = networkx.to_scipy_sparse_array(graph, nodes, dtype=float, format="csr")
    if not np.isfinite(weights.data).all():
        raise ValueError("Expected every weight to be finite but got NaN or infinity")
    found = {"frustration": _frustration(weights)}
    conductances = [_conductance(abs(weights), inside) for inside in _masks(nodes, communities)]
    known = [value for value in conductances if value is not None]
    return {**found, "min_conductance": min(known)} if known else found


def _frustration(weights: Any) -> float:
    """1 − the largest eigenvalue of D^−½ A D^−½, which is where Lanczos converges fastest."""
    sparse = extras.load("scipy.sparse", _EXTRA)
    degree = abs(weights).sum(axis=1)
    linked = np.flatnonzero(degree > 0)
    if not len(linked):
        return 0.0
    scale = sparse.diags_array(1 / np.sqrt(degree[linked]))
    normalised = scale @ weights[linked][:, linked] @ scale
    return max(0.0, 1.0 - _largest_eigenvalue(normalised))


def _largest_eigenvalue(matrix: Any) -> float:
    n = matrix.shape[0]
    if n <= _DENSE:
        return float(np.linalg.eigvalsh(matrix.toarray())[-1])
    linalg = extras.load("scipy.sparse.linalg", _EXTRA)
    start = np.random.default_rng(0).standard_normal(n)  # the same result every time
    (value,) = linalg.eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)
    return float(value)


def _masks(nodes: list[Any], communities: Iterable[Collection[Any]] | None) -> list[Any]:
    place = {node: at for at, node in enumerate(nodes)}
    masks = []
    for number, community in enumerate(communities or ()):
        unknown = [node for node in community if node not in place]
        if unknown or not community:
            got = f"{unknown[:5]}" if unknown else "none"
            raise ValueError(
                f"Expected community {number} to hold nodes of the graph but got {got}"
            )
        inside = np.zeros(len(nodes), np.bool_)
        inside[[place[node] for node in community]] = True
        masks.append(inside)
    return masks


def _conductance(strengths: Any, inside: Any) -> float | None:
    degree = strengths.sum(axis=1)
    smaller = min(degree[inside].sum(), degree[~inside].sum())
    return float(strengths[inside][:, ~inside].sum() / smaller) if smaller > 0 else None
