"""The set of oracle weights of an answer, where it is more than a point: its corners.

It is convex: {w : f_c(w) >= D for all cells}. A linear function is pushed as far as it goes over
the cuts w . d(mu, lambda) >= D known so far; where the cost falls short the closest model is a new
cut. Directions: more and less of each arm. Corners of a polytope that are extreme in no arm are not
found; the sets in the paper have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import Curve, Data
from stopwise.families.family import Family
from stopwise.oracles.saddle import cell_models
from stopwise.oracles.witness import payoff_table
from stopwise.problems.problem import Code, Problem

NEAR = 1e-7  # weights closer than this count as one point
ROUNDS = 30


def corners(problem: Problem, family: Family, means: Floats, code: Code, solved: Any) -> Floats:
    """The corners found, one row each; the solver's own weights if the set is a single point."""
    if not _has_room(problem, family, means, code, solved):
        return solved.weights[None]
    cuts = _cuts(problem, family, means, code, solved.weights)
    found: list[Floats] = []
    for direction in [*np.eye(means.size), *-np.eye(means.size)]:
        corner, cuts = _farthest(problem, family, means, code, solved, direction, cuts)
        if corner is not None and all(np.max(np.abs(corner - other)) > NEAR for other in found):
            found.append(corner)
    return np.array(found) if found else solved.weights[None]


def _has_room(problem: Problem, family: Family, means: Floats, code: Code, solved: Any) -> bool:
    """Whether some direction leaves the cost of every active cell the same to second order."""
    arms, closest = means.size, np.zeros(means.size)
    data = Data(solved.weights, means)
    rows = [np.ones(arms)]
    paid = solved.shares @ payoff_table(family, means, solved.models)
    rows += list(np.eye(arms)[paid < solved.lower * (1.0 - 1e-6)])  # no weight goes to these arms
    for cell in range(problem.cell_count(code)):
        piece = problem.cell(code, cell)
        value = piece.project(family, data, closest)
        if value <= solved.lower * (1.0 + 1e-6):
            curve = Curve(1.0, np.zeros((arms, arms)))
            piece.add_hessian(family, data, closest, curve)
            rows += list(payoff_table(family, means, closest[None]) / solved.lower)
            rows += list(curve.hessian / solved.lower)
    table = np.where(np.isfinite(rows), rows, 0.0)
    return bool(np.linalg.matrix_rank(table, tol=1e-5) < arms)


def _cuts(problem: Problem, family: Family, means: Floats, code: Code, weights: Floats) -> Floats:
    _, closest = cell_models(problem, family, Data(weights, means), code)
    return payoff_table(family, means, closest)


def _farthest(
    problem: Problem,
    family: Family,
    means: Floats,
    code: Code,
    solved: Any,
    direction: Floats,
    cuts: Floats,
) -> tuple[Floats | None, Floats]:
    from scipy.optimize import linprog

    value = solved.lower
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
        closest = np.zeros(means.size)
        if problem.transport_cost(family, Data(weights, means), code, closest) >= value * (
            1.0 - 2e-9
        ):
            return weights, cuts
        cuts = np.concatenate([cuts, _cuts(problem, family, means, code, weights)])
    return None, cuts
