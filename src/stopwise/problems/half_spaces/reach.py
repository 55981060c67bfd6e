"""Which half-spaces can be the oracle's answer at a model of the confidence region?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.half_space import half_space_optimum, missing
from stopwise.core.arrays import Floats, assign, largest, smallest
from stopwise.core.data import Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import Quadratic, arms_alike, interval, lower, of_arm, upper, variance
from stopwise.problems.verbs import Code

SWEEPS = 2000


@verb(on=2, allocates=True)
def half_space_reach(
    problem: Any, family: Any, data: Data, code: Code, level: float, point: Floats, wall: Floats
) -> float:
    """0 where the answer's largest D over a box is at least every other answer's smallest, else inf.

    Where the answer is found too far and a half-space shows it, that half-space is the ``wall``.
    The box holds the region. d(mu, lambda) falls as mu moves toward lambda, so D of a half-space is
    monotone in every mean and its extremes over the box are at corners.
    """
    counts, means = data
    point[0] = math.nan
    low, high = interval(family)
    bottom, top = np.full(means.size, low), np.full(means.size, high)
    for k in range(means.size):
        if counts[k] > 0.0:
            bottom[k] = lower(of_arm(family, k), means[k], level / counts[k])
            top[k] = upper(of_arm(family, k), means[k], level / counts[k])
        if not math.isfinite(bottom[k]) or not math.isfinite(top[k]):
            return 0.0
    most, least = -1.0, 0.0
    for place in range(2 * problem.offsets.size):
        value = _corner_value(problem, family, bottom, top, place, False)
        least = max(least, value)
        if place == code[0]:
            most = _corner_value(problem, family, bottom, top, place, True)
    return 0.0 if most >= least else math.inf


@jitable
def _corner_value(
    problem: Any, family: Any, bottom: Floats, top: Floats, place: int, best: bool
) -> float:
    """D of an answer at its best or worst corner of the box; -1 where it is wrong."""
    side = 1.0 if place % 2 == 0 else -1.0
    normal, offset = -side * problem.normals[place // 2], -side * problem.offsets[place // 2]
    corner, weights = np.zeros(bottom.size), np.zeros(bottom.size)
    for k in range(bottom.size):
        corner[k] = top[k] if (normal[k] < 0.0) == best else bottom[k]
    if missing(normal, offset, corner) < 0.0:
        return -1.0
    return half_space_optimum(family, corner, normal, offset, weights)


@jitable
def length(family: Any, normal: Floats) -> float:
    """The sum of |a_k|, times each arm's standard deviation where arms differ in that."""
    total = 0.0
    for k in range(normal.size):
        if arms_alike(family):
            total += abs(normal[k])
        else:
            total += abs(normal[k]) * math.sqrt(variance(of_arm(family, k), 0.0))
    return total


@half_space_reach.register(object, Quadratic)
def _cone_distance(
    problem: Any, family: Any, data: Data, code: Code, level: float, point: Floats, wall: Floats
) -> float:
    """D of (m, s) is (s p_m)^2/2 with p = (U mu - b)/length(u): it wins where s p_m >= all |p_j|."""
    normals, offsets = problem.normals, problem.offsets
    planes, arms = offsets.size, point.size
    m, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
    for k in range(arms):
        wall[k] = side * normals[m, k]
    wall[arms] = side * offsets[m]
    price = wall_price(family, data, wall)
    if price > level:  # too far from the right side of its plane
        return price
    rows, levels = np.zeros((2 * planes, arms)), np.zeros(2 * planes)
    own = side / length(family, normals[m])
    for j in range(planes):
        other = 0.0 if j == m else 1.0 / length(family, normals[j])
        for half in range(2):
            sign = other if half == 0 else -other
            for k in range(arms):
                rows[2 * j + half, k] = own * normals[m, k] + sign * normals[j, k]
            levels[2 * j + half] = own * offsets[m] + sign * offsets[j]
            if length(family, rows[2 * j + half]) < 1e-14:  # a plane parallel to the answer's own
                if levels[2 * j + half] > 1e-14:
                    return math.inf
                levels[2 * j + half] = -1.0
    return _climb(family, data, rows, levels, level, point, wall)


@jitable(allocates=True)
def _climb(
    family: Any,
    data: Data,
    rows: Floats,
    levels: Floats,
    level: float,
    point: Floats,
    wall: Floats,
) -> float:
    """The distance to rows @ mu' >= levels by Hildreth's method: maximise the dual, row by row.

    The dual's value only rises and is never too large, so it may stop once it is above ``level``
    and rises slowly. The multipliers' combination of the rows is a half-space just as far away: the
    wall. Any model that fulfils the rows and costs at most ``level`` will do, so one is tried a little
    further in. The point is nan where none was found that fulfils the rows to 1e-9.
    """
    counts, means = data
    theta, stiff, soft = np.zeros(levels.size), np.zeros(levels.size), np.zeros(means.size)
    inward, lifted = np.zeros(means.size), np.zeros(means.size)
    for k in range(means.size):
        point[k] = means[k]
        soft[k] = variance(of_arm(family, k), means[k]) / max(counts[k], 1e-13)
    for r in range(levels.size):
        for k in range(means.size):
            stiff[r] += rows[r, k] * rows[r, k] * soft[k]
            inward[k] += rows[r, k] * soft[k]
    value = 0.0
    for _ in range(SWEEPS):
        worst, before = 0.0, value
        for r in range(levels.size):
            lack = levels[r]
            for k in range(means.size):
                lack -= rows[r, k] * point[k]
            if stiff[r] > 0.0:
                worst = max(worst, lack)
                step = max(lack / stiff[r], -theta[r])
                if step != 0.0:
                    theta[r] += step
                    value += step * (lack - 0.5 * step * stiff[r])
                    for k in range(means.size):
                        point[k] += step * rows[r, k] * soft[k]
        if value > level and value - before <= 0.1 * (value - level):
            _combine(rows, levels, theta, wall)
            return value
        if worst <= 1e-9 * (largest(point) - smallest(point)):
            return value
        if value <= level and _lift(rows, levels, point, inward, lifted):
            price = total_divergence(family, data, lifted)
            if price <= level:
                assign(point, lifted)
                return price
    point[0] = math.nan
    return value


@jitable
def _lift(rows: Floats, levels: Floats, point: Floats, inward: Floats, lifted: Floats) -> bool:
    """Move a point inward until it fulfils all rows; whether it does."""
    step = 0.0
    for r in range(levels.size):
        lack, gain = levels[r], 0.0
        for k in range(point.size):
            lack -= rows[r, k] * point[k]
            gain += rows[r, k] * inward[k]
        if lack > step * gain:
            if gain <= 0.0:
                return False
            step = lack / gain
    for k in range(point.size):
        lifted[k] = point[k] + (1.0 + 1e-12) * step * inward[k]
    return True


@jitable
def _combine(rows: Floats, levels: Floats, theta: Floats, wall: Floats) -> None:
    for k in range(wall.size):
        wall[k] = 0.0
        for r in range(levels.size):
            wall[k] += theta[r] * (rows[r, k] if k < wall.size - 1 else levels[r])


@verb
def wall_price(family: Any, data: Data, wall: Floats) -> float:
    """The distance to the models beyond a wall, wall[:K] @ mu' >= wall[K]; 0 where it is not known."""
    return 0.0


@wall_price.register(Quadratic)
def _quadratic_wall_price(family: Any, data: Data, wall: Floats) -> float:
    counts, means = data
    lack, spread = wall[means.size], 0.0
    for k in range(means.size):
        lack -= wall[k] * means[k]
        own = variance(of_arm(family, k), means[k])
        spread += wall[k] * wall[k] * own / max(counts[k], 1e-13)
    return 0.5 * lack * lack / spread if lack > 0.0 else 0.0
