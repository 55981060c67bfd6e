"""Convex cells: normals @ lambda >= offsets, lower <= lambda <= upper, |lambda - center| <= radius.

The closest point is found in the dual: theta >= 0 holds a multiplier for each plane and, last, one
for the ball. Given theta each arm is solved alone, the dual is concave, and Newton's method with
projection on theta >= 0 climbs it. The dual's value is a lower bound on the cost at any theta.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.checks import Floats
from stopwise.families.base import divergence_curvature, divergence_slope, interval, tilt
from stopwise.shapes.bound import total_divergence
from stopwise.shapes.half_space import add_curved_hessian
from stopwise.verbs import jitable


class Region(NamedTuple):
    """An intersection of half-spaces, coordinate bounds and a ball (infinite where there is none)."""

    normals: Floats
    offsets: Floats
    lower: Floats
    upper: Floats
    center: Floats
    radius: float


def region(
    count: int,
    normals: Floats | None = None,
    offsets: Floats | None = None,
    center: Floats | None = None,
    radius: float = math.inf,
) -> Region:
    """A region in which what is not given does not constrain."""
    return Region(
        np.zeros((0, count)) if normals is None else normals,
        np.zeros(0) if offsets is None else offsets,
        np.full(count, -math.inf),
        np.full(count, math.inf),
        np.zeros(count) if center is None else center,
        radius,
    )


def fold_bounds(cell: Region) -> Region:
    """Half-spaces that involve one arm are bounds."""
    lone = np.sum(cell.normals != 0.0, axis=1) == 1
    lower, upper = cell.lower.copy(), cell.upper.copy()
    for normal, offset in zip(cell.normals[lone], cell.offsets[lone], strict=True):
        arm = int(np.flatnonzero(normal)[0])
        limit = offset / normal[arm]
        if normal[arm] > 0.0:
            lower[arm] = max(lower[arm], limit)
        else:
            upper[arm] = min(upper[arm], limit)
    return cell._replace(
        normals=cell.normals[~lone], offsets=cell.offsets[~lone], lower=lower, upper=upper
    )


@jitable
def region_violations(cell: Region, model: Floats, violations: Floats) -> None:
    """offsets - normals @ model, then (|model - center|^2 - radius^2)/2: positive where violated."""
    rows = cell.offsets.size
    for m in range(rows):
        violations[m] = cell.offsets[m]
        for k in range(model.size):
            violations[m] -= cell.normals[m, k] * model[k]
    violations[rows] = -1.0
    if cell.radius < math.inf:
        square = 0.0
        for k in range(model.size):
            square += (model[k] - cell.center[k]) * (model[k] - cell.center[k])
        violations[rows] = 0.5 * (square - cell.radius * cell.radius)


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
def _dual(
    family: Any,
    weights: Floats,
    means: Floats,
    cell: Region,
    theta: Floats,
    closest: Floats,
    violations: Floats,
) -> float:
    """The dual function at theta, with its minimising model and its gradient (the violations)."""
    rows = cell.offsets.size
    for k in range(means.size):
        pull = 0.0
        for m in range(rows):
            pull += theta[m] * cell.normals[m, k]
        x = _solve_arm(family, weights[k], means[k], pull, theta[rows], cell.center[k])
        closest[k] = min(max(x, cell.lower[k]), cell.upper[k])
        if not math.isfinite(closest[k]):
            return -math.inf
    region_violations(cell, closest, violations)
    value = total_divergence(family, weights, means, closest)
    for m in range(rows + 1):
        value += theta[m] * violations[m]
    return value if math.isfinite(value) else -math.inf


@jitable
def project_region(
    family: Any,
    weights: Floats,
    means: Floats,
    cell: Region,
    closest: Floats,
) -> float:
    """The closest model in the region. The cost is the dual's value, which is never too large."""
    rows, count = cell.offsets.size, means.size
    violations = np.zeros(rows + 1)
    for k in range(count):
        closest[k] = min(max(means[k], cell.lower[k]), cell.upper[k])
    region_violations(cell, closest, violations)
    if np.max(violations) <= 0.0:
        return total_divergence(family, weights, means, closest)
    # an arm without weight moves for free; a sliver of weight keeps its place determined
    solid = np.maximum(weights, 1e-13 * np.max(weights))
    theta, trial = np.zeros(rows + 1), np.zeros(rows + 1)
    scale = np.zeros(rows + 1)
    for m in range(rows):
        scale[m] = np.max(np.abs(cell.normals[m]))
    scale[rows] = cell.radius if cell.radius < math.inf else 1.0
    value = _dual(family, solid, means, cell, theta, closest, violations)
    for _ in range(200):
        step = _newton_step(family, solid, means, cell, theta, closest, violations)
        length, best, kept = 1.0, value, violations.copy()
        for _ in range(60):
            for m in range(rows + 1):
                trial[m] = max(0.0, theta[m] + length * step[m])
            value = _dual(family, solid, means, cell, trial, closest, kept)
            gain, left = 0.0, 0.0
            for m in range(rows + 1):
                gain += violations[m] * (trial[m] - theta[m])
                left += kept[m] * (trial[m] - theta[m])
            # a concave function rose if it rises still; near the top values are too coarse to tell
            flat = abs(left) <= 0.5 * gain and value >= best - 1e-13 * (abs(best) + gain)
            if value > -math.inf and (left >= 0.0 or flat or value >= best + 1e-4 * gain):
                break
            length *= 0.5
        moved = np.max(np.abs(trial - theta)) > 1e-16 * np.max(trial)
        theta[:] = trial
        violations[:] = kept
        done = True
        for m in range(rows + 1):
            off = violations[m] if theta[m] == 0.0 else abs(violations[m])
            done = done and off <= 4e-16 * scale[m] * (1.0 + np.max(np.abs(closest)))
        if done or not moved:
            break
    for m in range(rows + 1):
        if violations[m] > 1e-11 * scale[m] * (1.0 + np.max(np.abs(closest))):
            value = _follow_path(family, solid, means, cell, closest)
            break
    return max(min(value, total_divergence(family, solid, means, closest)), 0.0)


@jitable
def _follow_path(
    family: Any, weights: Floats, means: Floats, cell: Region, closest: Floats
) -> float:
    """An interior-point method for weights so uneven that the dual has all but kinks.

    Leaves a model strictly inside the region and returns the dual's value at its multipliers.
    """
    rows, count = cell.offsets.size, means.size
    low, high = interval(family)
    left, right = np.maximum(cell.lower, low), np.minimum(cell.upper, high)
    x = _inner_point(means, left, right)
    near = 1e-14 * (1.0 + np.abs(means))  # models keep this distance from bounds
    used = rows + 1 if cell.radius < math.inf else rows
    violations, faces = np.zeros(rows + 1), np.zeros((rows + 1, count))
    region_violations(cell, x, violations)
    slack = np.maximum(-violations, 0.1 * (1.0 + np.abs(violations)))
    size = np.max(weights)
    tau = size
    theta, push_up, push_down = tau / slack, tau / (x - left), tau / (right - x)
    if used == rows:
        theta[rows] = 0.0
    gradient, bend = np.zeros(count), np.zeros(count)
    for _ in range(120):
        for k in range(count):
            gradient[k] = weights[k] * divergence_slope(family, means[k], x[k])
            bend[k] = weights[k] * divergence_curvature(family, means[k], x[k]) + theta[rows]
        faces[:rows] = cell.normals
        faces[rows] = cell.center - x if used > rows else 0.0 * x
        stiff = theta / slack
        miss = -violations - slack
        system = np.ascontiguousarray(faces.T * stiff) @ faces
        pull = -gradient + faces.T @ (tau / slack - stiff * miss)
        above, below = np.maximum(x - left, near), np.maximum(right - x, near)
        pull += tau / above - tau / below
        ridge = 1e-15 * np.trace(system)
        for k in range(count):
            system[k, k] += ridge + bend[k] + push_up[k] / above[k] + push_down[k] / below[k]
        dx = np.linalg.solve(system, pull)
        ds = faces @ dx + miss
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
        if tau < 1e-14 * size and np.max(violations[:used]) <= 0.0:
            break
        tau = max((0.15 if min(primal, dual) > 0.7 else 0.5) * tau, 1e-15 * size)
    value = _dual(family, weights, means, cell, theta, closest, violations)
    closest[:] = x
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


@jitable
def _newton_step(
    family: Any,
    weights: Floats,
    means: Floats,
    cell: Region,
    theta: Floats,
    closest: Floats,
    violations: Floats,
) -> Any:
    """Newton's step for the multipliers that are positive or should grow; the others stay at 0."""
    rows, count = theta.size - 1, means.size
    faces = np.zeros((rows + 1, count))
    soft = np.zeros(count)
    for k in range(count):
        if cell.lower[k] < closest[k] < cell.upper[k]:
            bend = weights[k] * divergence_curvature(family, means[k], closest[k]) + theta[rows]
            soft[k] = 1.0 / bend if bend > 0.0 else 0.0
        for m in range(rows):
            faces[m, k] = -cell.normals[m, k]
        if cell.radius < math.inf:
            faces[rows, k] = closest[k] - cell.center[k]
    bends = (faces * soft) @ faces.T
    step = violations.copy()
    ridge = 1e-15 * np.trace(bends) + 1e-300
    for m in range(rows + 1):
        bends[m, m] += ridge
        if theta[m] == 0.0 and violations[m] <= 0.0:
            bends[m, :] = 0.0
            bends[:, m] = 0.0
            bends[m, m] = 1.0
            step[m] = 0.0
    return np.linalg.solve(bends, step)


@jitable
def add_region_hessian(
    family: Any,
    weights: Floats,
    means: Floats,
    cell: Region,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    """Second derivative with the constraints that are active at the closest model."""
    rows, count = cell.offsets.size, means.size
    violations = np.zeros(rows + 1)
    region_violations(cell, closest, violations)
    size = 1.0 + np.max(np.abs(closest))
    active = np.zeros((rows + 1, count))
    used = 0
    for m in range(rows):
        if violations[m] >= -1e-9 * size * np.max(np.abs(cell.normals[m])):
            active[used] = cell.normals[m]
            used += 1
    ball = cell.radius < math.inf and violations[rows] >= -1e-9 * cell.radius * size
    if ball:
        active[used] = closest - cell.center
        used += 1
    free = np.zeros(count)
    for k in range(count):
        if cell.lower[k] < closest[k] < cell.upper[k]:
            free[k] = 1.0
    if used == 0:
        return
    faces = np.ascontiguousarray(active[:used])
    bend = 0.0
    if ball:
        bend = max(-_multipliers(family, weights, means, closest, free, faces)[used - 1], 0.0)
    add_curved_hessian(family, weights, means, closest, free, faces, bend, scale, hessian)


@jitable
def _multipliers(
    family: Any, weights: Floats, means: Floats, closest: Floats, free: Floats, faces: Floats
) -> Any:
    """The combination of the faces that is closest to the cost's gradient in lambda."""
    gradient = np.zeros(means.size)
    for k in range(means.size):
        if free[k] > 0.0:
            gradient[k] = weights[k] * divergence_slope(family, means[k], closest[k])
    held = (faces * free) @ faces.T
    for m in range(held.shape[0]):
        held[m, m] += 1e-14 * (1e-300 + np.trace(held))
    return np.linalg.solve(held, (faces * free) @ gradient)
