"""Theorem 5: what plain Track-and-Stop may need, the worst 1/D(w, mu) over the hull of oracle weights.

D(w, mu) = max_i D(w, mu, not i) is a maximum of concave functions, so its least value over the hull
is found by branch and bound over simplices: on a simplex a concave function is at least its linear
interpolation between the corners, so the matrix game "corners against answers" bounds it below.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.oracles.witness import conceded


class Worst(NamedTuple):
    """The worst weights found, their D(w, mu), and a proven lower bound on it over the hull."""

    weights: Floats
    value: float
    least: float


def worst_mixture(
    costs: Callable[[Floats], Floats], vertices: Floats, tolerance: float, nodes: int
) -> Worst:
    """Minimise max(costs(w)) over the convex hull of the vertices."""
    table = np.array([costs(vertex) for vertex in vertices])
    middle = vertices.mean(axis=0)
    best_weights, best = middle, float(np.max(costs(middle)))
    # the mixture of corners with the least maximum over answers of the interpolated costs
    shares, least = conceded(table)
    queue: list[tuple[float, int, Floats, Floats, Floats]] = [(least, 0, vertices, table, shares)]
    for node in range(nodes):
        least, _, corners, table, shares = queue[0]
        if best - least <= tolerance * best or len(corners) == 1:
            break
        heapq.heappop(queue)
        weights = shares @ corners
        row = costs(weights)
        if row.max() < best:
            best, best_weights = float(row.max()), weights
        for place, half in enumerate(_split(corners, table, costs)):
            share, bound = conceded(half[1])
            heapq.heappush(queue, (max(bound, least), 2 * node + 1 + place, *half, share))
    return Worst(best_weights, best, min(best, queue[0][0]))


def _split(
    corners: Floats, table: Floats, costs: Callable[[Floats], Floats]
) -> list[tuple[Floats, Floats]]:
    """Two simplices, cut in the middle of the longest edge."""
    distance = np.abs(corners[:, None] - corners[None]).sum(axis=2)
    a, b = np.unravel_index(np.argmax(distance), distance.shape)
    middle = 0.5 * (corners[a] + corners[b])
    row = costs(middle)
    halves = []
    for place in (a, b):
        points, values = corners.copy(), table.copy()
        points[place], values[place] = middle, row
        halves.append((points, values))
    return halves
