"""The dual of the closest-point problem in a region.

theta >= 0 holds a multiplier for each plane and, last, one for the ball. Given theta each arm is
solved alone. The dual is concave, its gradient is the violations, and its value is a lower bound on
the cost at any theta.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.region import Region, region_violations
from stopwise.core.arrays import Floats, solve_linear
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import divergence_curvature, divergence_slope, of_arm, tilt


@jitable
def _solve_arm(
    family: Any, weight: float, mu: float, pull: float, ball: float, center: float
) -> float:
    """The minimiser of weight d(mu, x) - pull x + ball (x - center)^2/2."""
    x = tilt(family, mu, pull / weight)
    if ball == 0.0 or x == center:
        return x
    left, right = min(x, center), max(x, center)  # the root lies between the two minimisers
    x = center + (x - center) / (1.0 + ball) if math.isfinite(x) else center
    for _ in range(100):
        value = weight * divergence_slope(family, mu, x) - pull + ball * (x - center)
        if value == 0.0:
            return x
        if value > 0.0:
            right = x
        else:
            left = x
        y = x - value / (weight * divergence_curvature(family, mu, x) + ball)
        if not left < y < right:
            y = 0.5 * (left + right) if math.isfinite(left + right) else 2.0 * x - center
        if abs(y - x) <= 1e-16 * abs(x) or y == left or y == right:
            return y
        x = y
    return x


@jitable
def region_dual(
    family: Any, data: Data, cell: Region, theta: Floats, closest: Floats, violations: Floats
) -> float:
    """The dual function at theta, with its minimising model and its gradient (the violations)."""
    weights, means = data
    rows = cell.offsets.size
    for k in range(means.size):
        pull = 0.0
        for m in range(rows):
            pull += theta[m] * cell.normals[m, k]
        own = of_arm(family, k)
        x = _solve_arm(own, weights[k], means[k], pull, theta[rows], cell.center[k])
        closest[k] = min(max(x, cell.lower[k]), cell.upper[k])
        if not math.isfinite(closest[k]):
            return -math.inf
    region_violations(cell, closest, violations)
    value = total_divergence(family, data, closest)
    for m in range(rows + 1):
        value += theta[m] * violations[m]
    return value if math.isfinite(value) else -math.inf


@jitable
def dual_newton_step(
    family: Any, data: Data, cell: Region, theta: Floats, closest: Floats, violations: Floats
) -> Any:
    """Newton's step for the multipliers that are positive or should grow; the others stay at 0."""
    rows, count = theta.size - 1, closest.size
    faces = np.zeros((rows + 1, count))
    soft = np.zeros(count)
    for k in range(count):
        if cell.lower[k] < closest[k] < cell.upper[k]:
            curve = divergence_curvature(of_arm(family, k), data.means[k], closest[k])
            bend = data.counts[k] * curve + theta[rows]
            soft[k] = 1.0 / bend if bend > 0.0 else 0.0
        for m in range(rows):
            faces[m, k] = -cell.normals[m, k]
        if cell.radius < math.inf:
            faces[rows, k] = closest[k] - cell.center[k]
    bends = np.zeros((rows + 1, rows + 1))
    step, ridge = violations.copy(), 1e-300
    for m in range(rows + 1):
        for j in range(m + 1):
            for k in range(count):
                bends[m, j] += faces[m, k] * soft[k] * faces[j, k]
            bends[j, m] = bends[m, j]
        ridge += 1e-15 * bends[m, m]
    for m in range(rows + 1):
        bends[m, m] += ridge
        if theta[m] == 0.0 and violations[m] <= 0.0:
            for j in range(rows + 1):
                bends[m, j] = bends[j, m] = 0.0
            bends[m, m] = 1.0
            step[m] = 0.0
    solve_linear(bends, step)
    return step
