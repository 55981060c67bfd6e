"""The closest point in a region: Newton's method with projection on theta >= 0 climbs the dual."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.region import Region, region_violations
from stopwise.cells.region_dual import dual_newton_step, region_dual
from stopwise.cells.region_path import follow_path
from stopwise.core.arrays import Floats, assign, largest, largest_size
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import of_arm, variance


@jitable
def project_region(family: Any, data: Data, cell: Region, closest: Floats) -> float:
    """The closest model in the region. The cost is the dual's value, which is never too large."""
    value = region_bound(family, data, cell, closest)
    if math.isfinite(closest[0]):
        return value
    value = follow_path(family, _solid(data), cell, closest)
    if _violated(cell, closest, 1e-6):
        return math.inf  # nothing is inside
    return max(min(value, total_divergence(family, data, closest)), 0.0)


@jitable
def region_bound(family: Any, data: Data, cell: Region, closest: Floats) -> float:
    """A lower bound on the cost, nearly always attained: then with the closest model, else nan."""
    for k in range(closest.size):
        closest[k] = min(max(data.means[k], cell.lower[k]), cell.upper[k])
    if not _violated(cell, closest, 0.0):
        return total_divergence(family, data, closest)
    value = -math.inf
    smooth = True
    for k in range(closest.size):  # at an end of the interval of means the dual may jump
        smooth = smooth and variance(of_arm(family, k), data.means[k]) > 0.0
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
def _climb_dual(family: Any, data: Data, cell: Region, closest: Floats) -> float:
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
