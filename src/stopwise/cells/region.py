"""Convex cells: normals @ lambda >= offsets, lower <= lambda <= upper, |lambda - center| <= radius.

Newton's method with projection on theta >= 0 climbs the dual of the closest-point problem; where weights
are very uneven an interior-point method takes over. theta holds a multiplier for each plane and, last, one
for the ball. Given theta each arm is solved alone. The dual is concave, its gradient is the violations,
and its value is a lower bound on the cost at any theta.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.cell import Cell
from stopwise.cells.half_space import Face, add_curved_hessian, face_products
from stopwise.core.arrays import (
    Floats,
    add,
    add_combination,
    add_gram,
    assign,
    fill,
    inner,
    largest,
    largest_size,
    solve_linear,
)
from stopwise.core.data import Curve, Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family


class Region(Cell):
    """An intersection of half-spaces, coordinate bounds and a ball (infinite where there is none)."""

    normals: Floats
    offsets: Floats
    lower: Floats
    upper: Floats
    center: Floats
    radius: float

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        """The closest model in the region. The cost is the dual's value, which is never too large."""
        value = region_bound(family, data, self, closest)
        if math.isfinite(closest[0]):
            return value
        value = follow_path(family, _solid(data), self, closest)
        if _violated(self, closest, 1e-6):
            return math.inf  # nothing is inside
        return max(min(value, total_divergence(family, data, closest)), 0.0)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        """Second derivative with the constraints that are active at the closest model."""
        rows, count = self.offsets.size, closest.size
        violations = np.zeros(rows + 1)
        region_violations(self, closest, violations)
        size = 1.0 + largest_size(closest)
        active = np.zeros((rows + 1, count))
        used = 0
        for m in range(rows):
            if violations[m] >= -1e-9 * size * largest_size(self.normals[m]):
                assign(active[used], self.normals[m])
                used += 1
        ball = self.radius < math.inf and violations[rows] >= -1e-9 * self.radius * size
        if ball:
            assign(active[used], closest - self.center)
            used += 1
        free = np.zeros(count)
        for k in range(count):
            if self.lower[k] < closest[k] < self.upper[k]:
                free[k] = 1.0
        if used == 0:
            return
        faces = np.ascontiguousarray(active[:used])
        bend = 0.0
        if ball:
            bend = max(-_multipliers(family, data, closest, free, faces)[used - 1], 0.0)
        add_curved_hessian(family, data, closest, Face(free, faces, bend), curve)


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
def _multipliers(
    family: Family, data: Data, closest: Floats, free: Floats, faces: Floats
) -> Floats:
    """The combination of the faces that is closest to the cost's gradient in lambda."""
    gradient = np.zeros(closest.size)
    for k in range(closest.size):
        if free[k] > 0.0:
            slope = family.of_arm(k).divergence_slope(data.means[k], closest[k])
            gradient[k] = data.counts[k] * slope
    push = np.zeros(faces.shape[0])
    for m in range(push.size):
        push[m] = inner(faces[m] * free, gradient)
    solve_linear(face_products(faces, free), push)
    return push


@jitable
def region_bound(family: Family, data: Data, cell: Region, closest: Floats) -> float:
    """A lower bound on the cost, nearly always attained: then with the closest model, else nan."""
    for k in range(closest.size):
        closest[k] = min(max(data.means[k], cell.lower[k]), cell.upper[k])
    if not _violated(cell, closest, 0.0):
        return total_divergence(family, data, closest)
    value = -math.inf
    smooth = True
    for k in range(closest.size):  # at an end of the interval of means the dual may jump
        smooth = smooth and family.of_arm(k).variance_at(data.means[k]) > 0.0
    if smooth:
        value = _climb_dual(family, _solid(data), cell, closest)
    if not smooth or _violated(cell, closest, 1e-11):
        closest[0] = math.nan
        return max(value, 0.0)
    return max(min(value, total_divergence(family, data, closest)), 0.0)


@jitable
def _solid(data: Data) -> Data:
    """An arm without weight moves for free; a sliver of weight keeps its place determined."""
    least = 1e-13 * largest(data.counts)
    solid = np.empty(data.counts.size)
    for k in range(solid.size):
        solid[k] = max(data.counts[k], least)
    return Data(solid, data.means)


@jitable
def _scales(cell: Region) -> Floats:
    """How large each constraint's violation is by nature."""
    rows = cell.offsets.size
    scale = np.empty(rows + 1)
    for m in range(rows):
        scale[m] = largest_size(cell.normals[m])
    scale[rows] = cell.radius if cell.radius < math.inf else 1.0
    return scale


@jitable
def _violated(cell: Region, closest: Floats, tolerance: float) -> bool:
    scale, violations = _scales(cell), np.empty(cell.offsets.size + 1)
    region_violations(cell, closest, violations)
    size = 1.0 + largest_size(closest)
    for m in range(scale.size):
        if not violations[m] <= tolerance * scale[m] * size and violations[m] > 0.0:
            return True
    return not math.isfinite(size)


@jitable
def _climb_dual(family: Family, data: Data, cell: Region, closest: Floats) -> float:
    """Maximise the dual; leaves the model at its multipliers."""
    rows, scale = cell.offsets.size, _scales(cell)
    theta, trial, violations = np.zeros(rows + 1), np.zeros(rows + 1), np.zeros(rows + 1)
    value = region_dual(family, data, cell, theta, closest, violations)
    for _ in range(200):
        step = dual_newton_step(family, data, cell, theta, closest, violations)
        length, best, kept = 1.0, value, violations.copy()
        for _ in range(60):
            for m in range(rows + 1):
                trial[m] = max(0.0, theta[m] + length * step[m])
            value = region_dual(family, data, cell, trial, closest, kept)
            gain, left = 0.0, 0.0
            for m in range(rows + 1):
                gain += violations[m] * (trial[m] - theta[m])
                left += kept[m] * (trial[m] - theta[m])
            # a concave function rose if it rises still; near the top values are too coarse to tell
            flat = abs(left) <= 0.5 * gain and value >= best - 1e-13 * (abs(best) + gain)
            if value > -math.inf and (left >= 0.0 or flat or value >= best + 1e-4 * gain):
                break
            length *= 0.5
        moved = largest_size(trial - theta) > 1e-16 * largest_size(trial)
        assign(theta, trial)
        assign(violations, kept)
        done = True
        for m in range(rows + 1):
            off = violations[m] if theta[m] == 0.0 else abs(violations[m])
            done = done and off <= 4e-16 * scale[m] * (1.0 + largest_size(closest))
        if done or not moved:
            break
    return value


# --------------------------------------------------------------------------------------- the dual


@jitable
def _solve_arm(
    family: Family, weight: float, mu: float, pull: float, ball: float, center: float
) -> float:
    """The minimiser of weight d(mu, x) - pull x + ball (x - center)^2/2."""
    x = family.tilt(mu, pull / weight)
    if ball == 0.0 or x == center:
        return x
    left, right = min(x, center), max(x, center)  # the root lies between the two minimisers
    x = center + (x - center) / (1.0 + ball) if math.isfinite(x) else center
    for _ in range(100):
        value = weight * family.divergence_slope(mu, x) - pull + ball * (x - center)
        if value == 0.0:
            return x
        if value > 0.0:
            right = x
        else:
            left = x
        bend = weight * family.divergence_curvature(mu, x) + ball
        y = x - value / bend if bend < math.inf else math.nan
        if not left < y < right:
            y = 0.5 * (left + right) if math.isfinite(left + right) else 2.0 * x - center
        if abs(y - x) <= 1e-16 * abs(x) or y == left or y == right:
            return y
        x = y
    return x


@jitable
def region_dual(
    family: Family, data: Data, cell: Region, theta: Floats, closest: Floats, violations: Floats
) -> float:
    """The dual function at theta, with its minimising model and its gradient (the violations)."""
    weights, means = data
    rows = cell.offsets.size
    for k in range(means.size):
        pull = 0.0
        for m in range(rows):
            pull += theta[m] * cell.normals[m, k]
        own = family.of_arm(k)
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
    family: Family, data: Data, cell: Region, theta: Floats, closest: Floats, violations: Floats
) -> Floats:
    """Newton's step for the multipliers that are positive or should grow; the others stay at 0."""
    rows, count = theta.size - 1, closest.size
    faces = np.zeros((rows + 1, count))
    soft = np.zeros(count)
    for k in range(count):
        if cell.lower[k] < closest[k] < cell.upper[k]:
            curve = family.of_arm(k).divergence_curvature(data.means[k], closest[k])
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


# -------------------------------------------------------------------------- where weights are uneven


@jitable
def follow_path(family: Family, data: Data, cell: Region, closest: Floats) -> float:
    """An interior-point method for weights so uneven that the dual has all but kinks.

    Leaves a model strictly inside the region and returns the dual's value at its multipliers.
    """
    weights, means = data
    rows, count = cell.offsets.size, means.size
    low, high = family.interval()
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
            own = family.of_arm(k)
            dx[k] = -(weights[k] * own.divergence_slope(means[k], x[k]))
            bend[k] = weights[k] * own.divergence_curvature(means[k], x[k]) + theta[rows]
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
