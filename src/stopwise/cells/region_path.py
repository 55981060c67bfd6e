"""An interior-point method for the closest point in a region, where weights are very uneven."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.region import Region, region_violations
from stopwise.cells.region_dual import region_dual
from stopwise.core.arrays import (
    Floats,
    add,
    add_combination,
    add_gram,
    assign,
    fill,
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
    left, right, near = np.zeros(count), np.zeros(count), np.zeros(count)
    for k in range(count):
        left[k], right[k] = max(cell.lower[k], low), min(cell.upper[k], high)
        near[k] = 1e-14 * (1.0 + abs(means[k]))  # models keep this distance from bounds
    x = _inner_point(means, left, right)
    used = rows + 1 if cell.radius < math.inf else rows
    violations, faces = np.zeros(rows + 1), np.zeros((rows + 1, count))
    region_violations(cell, x, violations)
    size = largest(weights)
    tau = size
    slack, theta = np.zeros(rows + 1), np.zeros(rows + 1)
    for m in range(rows + 1):
        slack[m] = max(-violations[m], 0.1 * (1.0 + abs(violations[m])))
        theta[m] = tau / slack[m] if m < used else 0.0
        if m < rows:
            assign(faces[m], cell.normals[m])
    push_up, push_down = np.zeros(count), np.zeros(count)
    for k in range(count):
        push_up[k], push_down[k] = tau / (x[k] - left[k]), tau / (right[k] - x[k])
    bend, above, below, dx = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    stiff, force, ds = np.zeros(rows + 1), np.zeros(rows + 1), np.zeros(rows + 1)
    system = np.zeros((count, count))
    for _ in range(120):
        for k in range(count):
            own = of_arm(family, k)
            dx[k] = -(weights[k] * divergence_slope(own, means[k], x[k]))
            bend[k] = weights[k] * divergence_curvature(own, means[k], x[k]) + theta[rows]
            above[k], below[k] = max(x[k] - left[k], near[k]), max(right[k] - x[k], near[k])
            faces[rows, k] = cell.center[k] - x[k] if used > rows else 0.0
            fill(system[k], 0.0)
        for m in range(rows + 1):
            stiff[m], ds[m] = theta[m] / slack[m], -violations[m] - slack[m]
            force[m] = tau / slack[m] - stiff[m] * ds[m]
        add_gram(faces, stiff, system)
        add_combination(faces, force, dx)
        ridge = 0.0
        for k in range(count):
            dx[k] += tau / above[k] - tau / below[k]
            ridge += 1e-15 * system[k, k]
        for k in range(count):
            system[k, k] += ridge + bend[k] + push_up[k] / above[k] + push_down[k] / below[k]
        if not solve_linear(system, dx):
            break
        primal, dual = 1.0, 1.0
        for k in range(count):
            primal = min(primal, _room(above[k], dx[k]), _room(below[k], -dx[k]))
            above[k] = tau / above[k] - push_up[k] - push_up[k] / above[k] * dx[k]
            below[k] = tau / below[k] - push_down[k] + push_down[k] / below[k] * dx[k]
            dual = min(dual, _room(push_up[k], above[k]), _room(push_down[k], below[k]))
        for m in range(rows + 1):
            ds[m] += inner(faces[m], dx)
            force[m] = tau / slack[m] - theta[m] - stiff[m] * ds[m]
            if m < used:
                primal = min(primal, _room(slack[m], ds[m]))
                dual = min(dual, _room(theta[m], force[m]))
        add(x, primal, dx)
        add(slack, primal, ds)
        add(theta, dual, force)
        add(push_up, dual, above)
        add(push_down, dual, below)
        region_violations(cell, x, violations)
        worst = -math.inf
        for m in range(used):
            worst = max(worst, violations[m])
        if tau < 1e-14 * size and worst <= 0.0:
            break
        tau = max((0.15 if min(primal, dual) > 0.7 else 0.5) * tau, 1e-15 * size)
    value = -math.inf
    for less in (0.0, 1e-12, 1e-9, 1e-6):  # a dual that ends at theta is finite a little before it
        for m in range(rows + 1):
            force[m] = (1.0 - less) * theta[m]
        value = max(value, region_dual(family, data, cell, force, closest, violations))
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
