"""Which half-spaces can be the oracle's answer at a model of the confidence region?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.families.base import interval, lower, upper
from stopwise.families.gaussian import Gaussian
from stopwise.problems.base import Code
from stopwise.shapes.half_space import half_space_optimum, missing
from stopwise.shapes.region import Region
from stopwise.shapes.region_projection import project_region
from stopwise.verbs import jitable, verb


@verb
def half_space_reach(
    family: Any,
    normals: Floats,
    offsets: Floats,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
) -> float:
    """0 where the answer's largest D over a box is at least every other answer's smallest, else inf.

    The box holds the region. d(mu, lambda) falls as mu moves toward lambda, so D of a half-space is
    monotone in every mean and its extremes over the box are at corners.
    """
    low, high = interval(family)
    bottom, top = np.full(means.size, low), np.full(means.size, high)
    for k in range(means.size):
        if counts[k] > 0.0:
            bottom[k] = lower(family, means[k], level / counts[k])
            top[k] = upper(family, means[k], level / counts[k])
        if not math.isfinite(bottom[k]) or not math.isfinite(top[k]):
            return 0.0
    most, least = -1.0, 0.0
    for place in range(2 * offsets.size):
        value = _corner_value(family, normals, offsets, bottom, top, place, False)
        least = max(least, value)
        if place == code[0]:
            most = _corner_value(family, normals, offsets, bottom, top, place, True)
    return 0.0 if most >= least else math.inf


@jitable
def _corner_value(
    family: Any,
    normals: Floats,
    offsets: Floats,
    bottom: Floats,
    top: Floats,
    place: int,
    best: bool,
) -> float:
    """D of an answer at its best or worst corner of the box; -1 where it is wrong."""
    side = 1.0 if place % 2 == 0 else -1.0
    normal, offset = -side * normals[place // 2], -side * offsets[place // 2]
    corner, weights = np.zeros(bottom.size), np.zeros(bottom.size)
    for k in range(bottom.size):
        corner[k] = top[k] if (normal[k] < 0.0) == best else bottom[k]
    if missing(normal, offset, corner) < 0.0:
        return -1.0
    return half_space_optimum(family, corner, normal, offset, weights)


@half_space_reach.register(Gaussian)
def _cone_distance(
    family: Gaussian,
    normals: Floats,
    offsets: Floats,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
) -> float:
    """Exactly: D of (m, s) is (s p_m)^2/2 with p = (U mu - b)/||u||_1; it wins where s p_m >= |p_j|."""
    planes, arms = offsets.size, means.size
    m, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
    rows, levels = np.zeros((2 * planes, arms)), np.zeros(2 * planes)
    own = side / np.sum(np.abs(normals[m]))
    for j in range(planes):
        other = 0.0 if j == m else 1.0 / np.sum(np.abs(normals[j]))
        for half in range(2):
            sign = other if half == 0 else -other
            rows[2 * j + half] = own * normals[m] + sign * normals[j]
            levels[2 * j + half] = own * offsets[m] + sign * offsets[j]
            if np.max(np.abs(rows[2 * j + half])) < 1e-14:  # a plane parallel to the answer's own
                if levels[2 * j + half] > 1e-14:
                    return math.inf
                levels[2 * j + half] = -1.0
    cell = Region(
        rows,
        levels,
        np.full(arms, -math.inf),
        np.full(arms, math.inf),
        np.zeros(arms),
        math.inf,
    )
    return project_region(family, counts, means, cell, np.zeros(arms))
