"""An interior-point method for the closest point in a region, where weights are very uneven."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.region import Region, region_violations
from stopwise.cells.region_dual import region_dual
from stopwise.core.arrays import (
    Floats,
    add_combination,
    add_gram,
    assign,
    inner,
    largest,
    solve_linear,
)
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import divergence_curvature, divergence_slope, interval, of_arm


@jitable
def follow_path(family: Any, data: Data, cell: Region, closest: Floats) -> float:
    """An interior-point method for weights so uneven that the dual has all but kinks.

    Leaves a model strictly inside the region and returns the dual's value at its multipliers.
    """
    weights, means = data
    rows, count = cell.offsets.size, means.size
    low, high = interval(family)
    left, right = np.maximum(cell.lower, low), np.minimum(cell.upper, high)
    x = _inner_point(means, left, right)
    near = 1e-14 * (1.0 + np.abs(means))  # models keep this distance from bounds
    used = rows + 1 if cell.radius < math.inf else rows
    violations, faces = np.zeros(rows + 1), np.zeros((rows + 1, count))
    region_violations(cell, x, violations)
    slack = np.maximum(-violations, 0.1 * (1.0 + np.abs(violations)))
    size = largest(weights)
    tau = size
    theta, push_up, push_down = tau / slack, tau / (x - left), tau / (right - x)
    if used == rows:
        theta[rows] = 0.0
    gradient, bend = np.zeros(count), np.zeros(count)
    for _ in range(120):
        for k in range(count):
            own = of_arm(family, k)
            gradient[k] = weights[k] * divergence_slope(own, means[k], x[k])
            bend[k] = weights[k] * divergence_curvature(own, means[k], x[k]) + theta[rows]
        for m in range(rows):
            assign(faces[m], cell.normals[m])
        assign(faces[rows], cell.center - x if used > rows else 0.0 * x)
        stiff = theta / slack
        miss = -violations - slack
        system, pull = np.zeros((count, count)), -gradient
        add_gram(faces, stiff, system)
        add_combination(faces, tau / slack - stiff * miss, pull)
        above, below = np.maximum(x - left, near), np.maximum(right - x, near)
        pull += tau / above - tau / below
        ridge = 0.0
        for k in range(count):
            ridge += 1e-15 * system[k, k]
        for k in range(count):
            system[k, k] += ridge + bend[k] + push_up[k] / above[k] + push_down[k] / below[k]
        dx = pull.copy()
        if not solve_linear(system, dx):
            break
        ds = miss.copy()
        for m in range(rows + 1):
            ds[m] += inner(faces[m], dx)
        dtheta = tau / slack - theta - stiff * ds
        dup = tau / above - push_up - push_up / above * dx
        ddown = tau / below - push_down + push_down / below * dx
        primal, dual = 1.0, 1.0
        for k in range(count):
            primal = min(primal, _room(above[k], dx[k]), _room(below[k], -dx[k]))
            dual = min(dual, _room(push_up[k], dup[k]), _room(push_down[k], ddown[k]))
        for m in range(used):
            primal, dual = (
                min(primal, _room(slack[m], ds[m])),
                min(dual, _room(theta[m], dtheta[m])),
            )
        x, slack = x + primal * dx, slack + primal * ds
        theta, push_up, push_down = (
            theta + dual * dtheta,
            push_up + dual * dup,
            push_down + dual * ddown,
        )
        region_violations(cell, x, violations)
        if tau < 1e-14 * size and largest(violations[:used]) <= 0.0:
            break
        tau = max((0.15 if min(primal, dual) > 0.7 else 0.5) * tau, 1e-15 * size)
    value = -math.inf
    for less in (0.0, 1e-12, 1e-9, 1e-6):  # a dual that ends at theta is finite a little before it
        near_theta = (1.0 - less) * theta
        value = max(value, region_dual(family, data, cell, near_theta, closest, violations))
    assign(closest, x)
    return value


@jitable
def _room(distance: float, step: float) -> float:
    """The longest step that leaves a twentieth of the distance to zero."""
    return min(1.0, -0.95 * distance / step) if step < 0.0 else 1.0


@jitable
def _inner_point(means: Floats, left: Floats, right: Floats) -> Floats:
    """The means, moved off the bounds."""
    x = means.copy()
    for k in range(means.size):
        if left[k] > -math.inf and right[k] < math.inf:
            margin = 0.1 * (right[k] - left[k])
            x[k] = min(max(x[k], left[k] + margin), right[k] - margin)
        elif left[k] > -math.inf:
            x[k] = max(x[k], left[k] + 0.1 * (1.0 + abs(left[k])))
        elif right[k] < math.inf:
            x[k] = min(x[k], right[k] - 0.1 * (1.0 + abs(right[k])))
    return x
