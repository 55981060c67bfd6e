"""The generic, certified saddle-point solver: max over weights of the least cost over the cells.

maximise v subject to f_c(w) >= v for each cell c, w in the simplex. Each cost f_c is concave with
gradient d(mu_k, closest_k) and a second derivative that the problem supplies, so a primal-dual
interior-point method applies. Its multipliers q_c, summing to 1, are the witness: stationarity says
sum_c q_c d(mu_k, closest^c_k) = t - z_k <= t. Each iterate therefore has a lower bound, min_c f_c(w),
and an upper bound, max_k of that sum, and the solver stops when they meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stopwise.problems.problem import Problem

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import (
    Floats,
    add_combination,
    add_gram,
    assign,
    divide,
    inner,
    largest,
    smallest,
    solve_linear,
    total,
)
from stopwise.core.data import Code, Curve, Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family

STEPS = 80
RECENT = 4  # iterates whose models are kept
IN_A_ROUND = 1e-9  # the relative gap at which a round's weights are good enough


class Path(NamedTuple):
    """The best weights, and the best mixture of models, on the way; and the latest models."""

    weights: Floats
    models: Floats
    shares: Floats
    recent: Floats  # iterate x cell x arm


@jitable(allocates=True)
def new_path(cells: int, arms: int) -> Path:
    """Room for a solve."""
    models, recent = np.zeros((cells, arms)), np.zeros((RECENT, cells, arms))
    return Path(np.full(arms, 1.0 / arms), models, np.full(cells, 1.0 / cells), recent)


@jitable(allocates=True)
def saddle_weights(
    problem: Problem, family: Family, means: Floats, code: Code, weights: Floats
) -> float:
    """The value and weights alone; 0 and uniform weights at means in the alternative."""
    path = new_path(problem.cell_count(code), means.size)
    assign(weights, path.weights)
    if problem.transport_cost(family, Data(weights, means), code, np.zeros(means.size)) == 0.0:
        return 0.0
    lower, _ = follow_center(problem, family, means, code, IN_A_ROUND, path)
    assign(weights, path.weights)
    return lower


class Costs(NamedTuple):
    """Each cell's cost, the costs' gradients d(mu_k, closest_k), and the closest models."""

    values: Floats
    table: Floats
    models: Floats


@jitable(allocates=True)
def cell_costs(problem: Problem, family: Family, data: Data, code: Code, costs: Costs) -> None:
    """All cells at once."""
    values, table, models = costs
    means = data.means
    for c in range(values.size):
        values[c] = problem.cell(code, c).project(family, data, models[c])
        for k in range(means.size):
            table[c, k] = 0.0
            if models[c, k] != means[k]:
                table[c, k] = family.of_arm(k).divergence(means[k], models[c, k])


@jitable(allocates=True)
def follow_center(
    problem: Problem, family: Family, means: Floats, code: Code, tolerance: float, path: Path
) -> tuple[float, float]:
    """Follow the central path; costs and slacks need to agree only in the end (f_c - v = s_c).

    Returns what the weights of the path secure, and what its mixture of models concedes.
    """
    cells, count = path.shares.size, means.size
    w, moved = np.full(count, 1.0 / count), np.zeros(count)
    costs = Costs(np.zeros(cells), np.zeros((cells, count)), np.zeros((cells, count)))
    values, table, models = costs
    cell_costs(problem, family, Data(w, means), code, costs)
    scale, v, shrink = smallest(values), 0.5, 0.3
    slack = values / scale - v
    tau = 1.0 / total(1.0 / slack)
    q, z = tau / slack, tau / w
    lower, upper = scale, math.inf
    for turn in range(STEPS):
        lower, upper = _keep_best(path, turn, costs, w, q, (lower, upper))
        if upper - lower <= tolerance * upper or tau < 1e-3 * tolerance:
            break
        tau = shrink * (inner(q, slack) + inner(z, w)) / (cells + count)
        curve = np.zeros((count, count))
        for c in range(cells):
            if q[c] > 1e-14:
                part = Curve(q[c] / scale, curve)
                problem.cell(code, c).add_hessian(family, Data(w, means), models[c], part)
        steep = np.minimum(table / scale, 1e12)
        miss = values / scale - v - slack
        dw = np.zeros(count)
        dv = _newton(steep, curve, miss, Iterate(w, q, z, slack), tau, dw)
        ds = miss - dv
        for c in range(cells):
            ds[c] += inner(steep[c], dw)
        dq = tau / slack - q - q / slack * ds
        dz = tau / w - z - z / w * dw
        if not math.isfinite(total(dw) + total(ds) + total(dq) + total(dz)):
            break
        primal = min(_longest(w, dw, 0.8), _longest(slack, ds, 0.99))
        dual = min(_longest(q, dq, 0.99), _longest(z, dz, 0.99))
        least = smallest(values)
        for _ in range(20):  # the costs' quadratic model may fail where weights are small
            assign(moved, w + primal * dw)
            divide(moved, total(moved))
            cell_costs(problem, family, Data(moved, means), code, costs)
            if smallest(values) >= 0.8 * least:
                break
            primal *= 0.5
        assign(w, moved)
        v += primal * dv
        slack += primal * ds
        q += dual * dq
        z += dual * dz
        shrink = 0.1 if min(primal, dual) > 0.7 else 0.4
    return lower, upper


@jitable
def _keep_best(
    path: Path, turn: int, costs: Costs, weights: Floats, q: Floats, known: tuple[float, float]
) -> tuple[float, float]:
    """Note the weights if they secure more than any before, and the mixture if it concedes less."""
    (values, table, models), (lower, upper) = costs, known
    secured, payoffs = smallest(values), np.zeros(weights.size)
    add_combination(table, q / total(q), payoffs)
    conceded = largest(payoffs)
    if secured > lower or turn == 0:
        lower = secured
        assign(path.weights, weights)
    for c in range(q.size):
        if conceded < upper:
            path.shares[c] = q[c] / total(q)
            assign(path.models[c], models[c])
        assign(path.recent[turn % RECENT, c], models[c])
    return lower, min(upper, conceded)


class Iterate(NamedTuple):
    """Weights with their multipliers z, and cells' multipliers q with their slacks."""

    w: Floats
    q: Floats
    z: Floats
    slack: Floats


@jitable
def _newton(
    table: Floats, curve: Floats, miss: Floats, at: Iterate, tau: float, dw: Floats
) -> float:
    """Newton's step on the perturbed optimality conditions, reduced to (w, v, t); returns v's.

    Solved for dw/w, which keeps the system well scaled as weights go to 0.
    """
    w, q, z, slack = at
    count = w.size
    stiff = q / slack
    rows = table * w
    system, right = np.zeros((count + 2, count + 2)), np.zeros(count + 2)
    block, sums, push = np.zeros((count, count)), np.zeros(count), np.zeros(count)
    add_gram(rows, stiff, block)
    add_combination(rows, stiff, sums)
    add_combination(rows, tau / slack - stiff * miss, push)
    for k in range(count):
        for j in range(count):
            system[k, j] = w[k] * curve[k, j] * w[j] - block[k, j]
        system[k, k] -= z[k] * w[k]
        system[k, count] = system[count, k] = sums[k]
        system[k, count + 1] = system[count + 1, k] = -w[k]
        right[k] = -(push[k] + tau)
    system[count, count] = -total(stiff)
    right[count] = total(tau / slack - stiff * miss) - 1.0
    if not solve_linear(system, right):
        return math.nan
    for k in range(count):
        dw[k] = right[k] * w[k]
    return right[count]


@jitable
def _longest(point: Floats, step: Floats, share: float) -> float:
    """The longest step <= 1 that goes at most this share of the way to the first zero."""
    longest = 1.0
    for k in range(point.size):
        if step[k] < 0.0:
            longest = min(longest, -share * point[k] / step[k])
    return longest
