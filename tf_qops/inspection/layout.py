"""Places the nodes of a graph in layers, so that edges go down and cross little."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

_SWEEPS = 4


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the nodes of a graph are.

    Attributes:
        places: node -> (column, layer); columns are fractions of a node's width, from 0.
        routes: (from, to) -> the places that the edge goes through, its ends among them.
        columns: the width of the widest layer.
        layers: how many there are.
    """

    places: Mapping[str, tuple[float, int]]
    routes: Mapping[tuple[str, str], Sequence[tuple[float, int]]]
    columns: float
    layers: int


def layered(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layout:
    """Returns places for the nodes of a graph without cycles.

    A node stands below all that it reads from; edges across several layers get a place in each
    (Sugiyama's method: longest paths, then orders by the mean place of the neighbours).

    Args:
        nodes: in an order in which each follows what it reads from.
        edges: (from, to).

    Example:

    >>> layered(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")]).places["c"][1]
    2
    """
    edges = list(dict.fromkeys(edges))
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for start, end in edges:
        before[end].append(start)
    layer: dict[str, int] = {}
    for node in nodes:
        layer[node] = 1 + max((layer[start] for start in before[node]), default=-1)
    rows: list[list[object]] = [[] for _ in range(1 + max(layer.values(), default=0))]
    for node in nodes:
        rows[layer[node]].append(node)
    chains: dict[tuple[str, str], list[object]] = {}
    above: dict[object, list[object]] = {node: [] for node in nodes}
    below: dict[object, list[object]] = {node: [] for node in nodes}
    for edge in edges:
        start, end = edge
        chain: list[object] = [start]
        for row in range(layer[start] + 1, layer[end]):
            bend = (*edge, row)
            rows[row].append(bend)
            above[bend], below[bend] = [], []
            chain.append(bend)
        chain.append(end)
        chains[edge] = chain
        for upper, lower in itertools.pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    column = _ordered(rows, above, below)
    shift = min(column.values(), default=0.0)
    places = {node: (column[node] - shift, layer[node]) for node in nodes}
    routes = {
        edge: [(column[point] - shift, layer[edge[0]] + i) for i, point in enumerate(chain)]
        for edge, chain in chains.items()
    }
    width = max(column.values(), default=0.0) - shift + 1
    return Layout(places, routes, width, len(rows))


def _ordered(
    rows: list[list[object]],
    above: Mapping[object, list[object]],
    below: Mapping[object, list[object]],
) -> dict[object, float]:
    """Returns a column for each point, neighbours above and below near each other."""
    column = {point: i - (len(row) - 1) / 2 for row in rows for i, point in enumerate(row)}
    for sweep in range(_SWEEPS):
        near = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {
                point: sum(column[n] for n in near[point]) / len(near[point])
                if near[point]
                else column[point]
                for point in row
            }
            row.sort(key=lambda point: wanted[point])
            _spread(row, wanted, column)
    return column


def _spread(row: list[object], wanted: Mapping[object, float], column: dict[object, float]) -> None:
    """Places a row as near to where its points want to be as a distance of 1 allows."""
    placed: list[float] = []
    for point in row:
        placed.append(max(wanted[point], placed[-1] + 1) if placed else wanted[point])
    if not placed:
        return
    drift = sum(p - wanted[point] for p, point in zip(placed, row, strict=True)) / len(placed)
    for point, place in zip(row, placed, strict=True):
        column[point] = place - drift
