"""The generic, certified saddle-point solver: max over weights of the least cost over the cells.

maximise v subject to f_c(w) >= v for each cell c, w in the simplex. Each cost f_c is concave with
gradient d(mu_k, closest_k) and a second derivative that the problem supplies, so a primal-dual
interior-point method applies. Its multipliers q_c, summing to 1, are the witness: stationarity says
sum_c q_c d(mu_k, closest^c_k) = t - z_k <= t. Each iterate therefore has a lower bound, min_c f_c(w),
and an upper bound, max_k of that sum, and the solver stops when they meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.checks import Floats
from stopwise.oracles.witness import mix, payoff_table, play
from stopwise.problems.base import Code, add_hessian, cell_count, cost, project

STEPS = 80
CUTS = 150


class Saddle(NamedTuple):
    """Weights with their certified least cost, and a mixture of models with what it concedes."""

    lower: float
    upper: float
    weights: Floats
    models: Floats
    shares: Floats


class _Costs(NamedTuple):
    values: Floats
    table: Floats  # gradients: d(mu_k, closest_k), a row for each cell
    models: Floats


def solve_saddle(
    problem: Any, family: Any, means: Floats, code: Code, tolerance: float = 1e-10
) -> Saddle:
    """The saddle point for one answer at means outside its alternative."""
    best, recent = _interior_point(problem, family, means, code, tolerance)
    if _gap(best) > tolerance:
        best = _remix(best, recent, family, means)
    if _gap(best) > max(tolerance, 1e-7):
        best = _cutting_planes(best, recent, problem, family, means, code, tolerance)
    return _tidy(best, problem, family, means, code)


def saddle_weights(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The value and weights alone; 0 and uniform weights at means in the alternative."""
    weights[:] = 1.0 / means.size
    if cost(problem, family, weights, means, code, np.zeros(means.size)) == 0.0:
        return 0.0
    best = solve_saddle(problem, family, means, code)
    weights[:] = best.weights
    return best.lower


def _gap(saddle: Saddle) -> float:
    return (saddle.upper - saddle.lower) / saddle.upper


def _costs(problem: Any, family: Any, weights: Floats, means: Floats, code: Code) -> _Costs:
    cells = cell_count(problem, code)
    values, models = np.zeros(cells), np.zeros((cells, means.size))
    for c in range(cells):
        values[c] = project(problem, family, weights, means, code, c, models[c])
    return _Costs(values, payoff_table(family, means, models), models)


def _interior_point(
    problem: Any, family: Any, means: Floats, code: Code, tolerance: float
) -> tuple[Saddle, list[Floats]]:
    """Follow the central path; costs and slacks need to agree only in the end (f_c - v = s_c)."""
    count = means.size
    w = np.full(count, 1.0 / count)
    at = _costs(problem, family, w, means, code)
    scale = float(at.values.min())
    v = 0.5
    slack = at.values / scale - v
    tau = float(1.0 / np.sum(1.0 / slack))
    q, z = tau / slack, tau / w
    best = Saddle(scale, np.inf, w, at.models, q)
    recent: list[Floats] = []
    shrink = 0.3
    for _ in range(STEPS):
        best = _better(best, at, w, q)
        recent = [*recent[-3:], at.models]
        if _gap(best) <= tolerance or tau < 1e-3 * tolerance:
            break
        tau = shrink * float(q @ slack + z @ w) / (slack.size + count)
        curve = np.zeros((count, count))
        for c in np.flatnonzero(q > 1e-14):
            add_hessian(problem, family, w, means, code, c, at.models[c], q[c] / scale, curve)
        table = np.minimum(at.table / scale, 1e12)
        miss = at.values / scale - v - slack
        dw, dv = _newton(table, curve, miss, w, q, z, slack, tau)
        ds = table @ dw - dv + miss
        dq = tau / slack - q - q / slack * ds
        dz = tau / w - z - z / w * dw
        if not all(np.all(np.isfinite(step)) for step in (dw, ds, dq, dz)):
            break
        primal = min(_longest(w, dw, 0.8), _longest(slack, ds, 0.99))
        dual = min(_longest(q, dq, 0.99), _longest(z, dz, 0.99))
        for _ in range(20):  # the costs' quadratic model may fail where weights are small
            moved = w + primal * dw
            new = _costs(problem, family, moved / moved.sum(), means, code)
            if new.values.min() >= 0.8 * at.values.min():
                break
            primal *= 0.5
        w, at, v, slack = moved / moved.sum(), new, v + primal * dv, slack + primal * ds
        q, z = q + dual * dq, z + dual * dz
        shrink = 0.1 if min(primal, dual) > 0.7 else 0.4
    return best, recent


def _newton(
    table: Floats,
    curve: Floats,
    miss: Floats,
    w: Floats,
    q: Floats,
    z: Floats,
    slack: Floats,
    tau: float,
) -> tuple[Floats, float]:
    """Newton's step on the perturbed optimality conditions, reduced to (w, v, t).

    Solved for dw/w, which keeps the system well scaled as weights go to 0.
    """
    count = w.size
    stiff = q / slack
    rows = table * w
    system = np.zeros((count + 2, count + 2))
    system[:count, :count] = w[:, None] * curve * w - np.diag(z * w) - (rows.T * stiff) @ rows
    system[:count, count] = system[count, :count] = rows.T @ stiff
    system[count, count] = -stiff.sum()
    system[:count, count + 1] = system[count + 1, :count] = -w
    right = np.zeros(count + 2)
    right[:count] = -(rows.T @ (tau / slack - stiff * miss) + tau)
    right[count] = np.sum(tau / slack - stiff * miss) - 1.0
    try:
        step = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        step = np.linalg.lstsq(system, right, rcond=None)[0]
    return step[:count] * w, float(step[count])


def _longest(point: Floats, step: Floats, share: float) -> float:
    """The longest step <= 1 that goes at most this share of the way to the first zero."""
    falling = step < 0.0
    if not falling.any():
        return 1.0
    return min(1.0, share * float(np.min(-point[falling] / step[falling])))


def _better(best: Saddle, at: _Costs, weights: Floats, q: Floats) -> Saddle:
    lower, shares = float(at.values.min()), q / q.sum()
    upper = float(np.max(shares @ at.table))
    if lower > best.lower or best.upper == np.inf:
        best = best._replace(lower=lower, weights=weights)
    if upper < best.upper:
        best = best._replace(upper=upper, models=at.models, shares=shares)
    return best


def _remix(best: Saddle, recent: list[Floats], family: Any, means: Floats) -> Saddle:
    """A better mixture of all models seen lately, where a cell has several closest ones."""
    models = np.unique(np.concatenate([best.models, *recent]), axis=0)
    table = payoff_table(family, means, models)
    shares = mix(table)
    upper = float(np.max(shares @ np.where(shares[:, None] > 0.0, table, 0.0)))
    if upper < best.upper:
        best = best._replace(upper=upper, models=models, shares=shares)
    return best


def _cutting_planes(
    best: Saddle,
    recent: list[Floats],
    problem: Any,
    family: Any,
    means: Floats,
    code: Code,
    tolerance: float,
) -> Saddle:
    """For costs with kinks at the optimum: models found at the linear program's weights are added."""
    models = np.unique(np.concatenate([best.models, *recent]), axis=0)
    for step in range(CUTS):
        table = payoff_table(family, means, models)
        goal = play(table)
        # stay near the best weights so far, and come closer to the program's as its cuts improve
        weights = best.weights + (1.0 if step % 2 else 0.3) * (goal - best.weights)
        at = _costs(problem, family, weights, means, code)
        lower = float(at.values.min())
        if lower > best.lower:
            best = best._replace(lower=lower, weights=weights)
        models = np.unique(np.concatenate([models, at.models]), axis=0)
        best = _remix(best, [models], family, means)
        if _gap(best) <= tolerance:
            break
    return best


def _tidy(best: Saddle, problem: Any, family: Any, means: Floats, code: Code) -> Saddle:
    """Drop models without a share and weights that the barrier kept from 0; keep at most K models."""
    weights = np.where(best.weights < 1e-8, 0.0, best.weights)
    weights /= weights.sum()
    lower = float(_costs(problem, family, weights, means, code).values.min())
    if lower >= best.lower * (1.0 - 1e-11):
        best = best._replace(lower=lower, weights=weights)
    kept = best.shares > 1e-13
    models, shares = best.models[kept], best.shares[kept] / best.shares[kept].sum()
    if len(models) > means.size:
        shares = mix(payoff_table(family, means, models))
        models, shares = models[shares > 0.0], shares[shares > 0.0]
    upper = float(np.max(shares @ payoff_table(family, means, models)))
    return best._replace(upper=upper, models=models, shares=shares)
