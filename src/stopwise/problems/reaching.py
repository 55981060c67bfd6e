"""Which half-spaces can be the oracle's answer at a model of the confidence region?"""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.families.base import interval, lower, upper
from stopwise.families.gaussian import Gaussian
from stopwise.problems.base import Code
from stopwise.shapes.half_space import half_space_optimum
from stopwise.shapes.region import region
from stopwise.shapes.region_projection import project_region


def half_space_reach(
    problem: Any, family: Any, counts: Floats, means: Floats, code: Code, level: float
) -> float:
    """Gaussian arms: exactly, by a projection. Other families: by the box around the region."""
    if isinstance(family, Gaussian) and np.all(counts > 0.0):
        return _cone_distance(problem, family, counts, means, code)
    return _box_distance(problem, family, counts, means, code, level)


def _cone_distance(problem: Any, family: Any, counts: Floats, means: Floats, code: Code) -> float:
    """D of (m, s) is (s p_m)^2/2 with p = (U mu - b)/||u||_1: it wins where s p_m >= |p_j|, all j."""
    size = np.sum(np.abs(problem.normals), axis=1)
    rows, levels = problem.normals / size[:, None], problem.offsets / size
    m, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
    others = np.arange(levels.size) != m
    normals = [side * rows[m][None]]
    offsets = [np.array([side * levels[m]])]
    for sign in (1.0, -1.0):
        normals.append(side * rows[m] + sign * rows[others])
        offsets.append(side * levels[m] + sign * levels[others])
    cell = region(means.size, np.concatenate(normals), np.concatenate(offsets))
    closest = np.zeros(means.size)
    return float(project_region(family, counts, means, cell, closest))


def _box_distance(
    problem: Any, family: Any, counts: Floats, means: Floats, code: Code, level: float
) -> float:
    """0 where the answer's largest D over the box is at least every other answer's smallest D.

    d(mu, lambda) falls as mu moves toward lambda, so D of a half-space is monotone in every mean
    and its extremes over the box are at corners.
    """
    low, high = interval(family)
    bottom, top = np.full(means.size, low), np.full(means.size, high)
    for k in range(means.size):
        if counts[k] > 0.0:
            bottom[k] = lower(family, means[k], level / counts[k])
            top[k] = upper(family, means[k], level / counts[k])
    if not np.all(np.isfinite(bottom) & np.isfinite(top)):
        return 0.0
    weights = np.zeros(means.size)

    def value(place: int, best: bool) -> float:
        side = 1.0 if place % 2 == 0 else -1.0
        toward = side * problem.normals[place // 2]
        corner = np.where((toward > 0.0) == best, top, bottom)
        offset = side * problem.offsets[place // 2]
        if toward @ corner < offset:
            return -1.0  # the answer is wrong there
        return float(half_space_optimum(family, corner, -toward, -offset, weights))

    most = value(int(code[0]), True)
    least = max(value(place, False) for place in range(2 * problem.offsets.size))
    return 0.0 if most >= max(least, 0.0) else np.inf
