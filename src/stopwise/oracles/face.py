"""The set of oracle weights of an answer, where it is more than a point: its corners.

It is convex: {w : f_c(w) >= D for all cells}. A linear function is pushed as far as it goes over
the cuts w . d(mu, lambda) >= D known so far; where the cost falls short the closest model is a new
cut. Directions: more and less of each arm. Corners of a polytope that are extreme in no arm are not
found; the sets in the paper have none.
"""

from __future__ import annotations

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import Curve, Data
from stopwise.oracles.saddle import Query, Saddle

NEAR = 1e-7  # weights closer than this count as one point
ROUNDS = 30


def corners(query: Query, solved: Saddle) -> Floats:
    """The corners found, one row each; the solver's own weights if the set is a single point."""
    if not _has_room(query, solved):
        return solved.weights[None]
    arms, cuts = query.means.size, _cuts(query, solved.weights)
    found: list[Floats] = []
    for direction in [*np.eye(arms), *-np.eye(arms)]:
        corner, cuts = _farthest(query, solved, direction, cuts)
        if corner is not None and all(np.max(np.abs(corner - other)) > NEAR for other in found):
            found.append(corner)
    return np.array(found) if found else solved.weights[None]


def _has_room(query: Query, solved: Saddle) -> bool:
    """Whether some direction leaves the cost of every active cell the same to second order."""
    problem, family, means, code = query
    arms, closest, data = means.size, np.zeros(means.size), Data(solved.weights, means)
    rows = [np.ones(arms)]
    paid = solved.shares @ query.payoffs(solved.models)
    rows += list(np.eye(arms)[paid < solved.lower * (1.0 - 1e-6)])  # no weight goes to these arms
    for j in range(problem.cell_count(code)):
        cell = problem.cell(code, j)
        value = cell.project(family, data, closest)
        if value <= solved.lower * (1.0 + 1e-6):
            curve = Curve(1.0, np.zeros((arms, arms)))
            cell.add_hessian(family, data, closest, curve)
            rows += list(query.payoffs(closest[None]) / solved.lower)
            rows += list(curve.hessian / solved.lower)
    table = np.where(np.isfinite(rows), rows, 0.0)
    return bool(np.linalg.matrix_rank(table, tol=1e-5) < arms)


def _cuts(query: Query, weights: Floats) -> Floats:
    """What each cell's closest model pays at these weights: w . d(mu, lambda) >= D is a cut."""
    return query.payoffs(query.cell_models(weights)[1])


def _farthest(
    query: Query, solved: Saddle, direction: Floats, cuts: Floats
) -> tuple[Floats | None, Floats]:
    """The oracle weights farthest in a direction (None: no farther than those solved for); and all cuts."""
    from scipy.optimize import linprog

    (problem, family, means, code), value = query, solved.lower
    for _ in range(ROUNDS):
        usable = cuts[np.all(np.isfinite(cuts), axis=1)]
        best = linprog(
            -direction,
            A_ub=-usable / value,
            b_ub=np.full(len(usable), -1.0 + 1e-9),
            A_eq=np.ones((1, means.size)),
            b_eq=[1.0],
            method="highs-ds",
        )
        if best.status != 0:
            return None, cuts
        weights = np.maximum(best.x, 0.0) / np.sum(np.maximum(best.x, 0.0))
        if abs(direction @ (weights - solved.weights)) <= NEAR:
            return None, cuts
        cost = problem.transport_cost(family, Data(weights, means), code, np.zeros(means.size))
        if cost >= value * (1.0 - 2e-9):
            return weights, cuts
        cuts = np.concatenate([cuts, _cuts(query, weights)])
    return None, cuts
