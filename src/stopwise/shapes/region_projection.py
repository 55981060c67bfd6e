"""The closest point in a region: Newton's method with projection on theta >= 0 climbs the dual."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.families.base import variance
from stopwise.shapes.bound import total_divergence
from stopwise.shapes.region import Region, region_violations
from stopwise.shapes.region_dual import dual_newton_step, region_dual
from stopwise.shapes.region_path import follow_path
from stopwise.verbs import jitable


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
    scale = np.zeros(rows + 1)
    for m in range(rows):
        scale[m] = np.max(np.abs(cell.normals[m]))
    scale[rows] = cell.radius if cell.radius < math.inf else 1.0
    smooth = True
    for k in range(count):  # at an end of the interval of means the dual may jump
        smooth = smooth and variance(family, means[k]) > 0.0
    value = _climb_dual(family, solid, means, cell, scale, closest) if smooth else -math.inf
    region_violations(cell, closest, violations)
    if not smooth or _violated(violations, scale, closest, 1e-11):
        value = follow_path(family, solid, means, cell, closest)
        region_violations(cell, closest, violations)
        if _violated(violations, scale, closest, 1e-6):
            return math.inf  # nothing is inside
    return max(min(value, total_divergence(family, weights, means, closest)), 0.0)


@jitable
def _violated(violations: Floats, scale: Floats, closest: Floats, tolerance: float) -> bool:
    size = 1.0 + np.max(np.abs(closest))
    for m in range(scale.size):
        if not violations[m] <= tolerance * scale[m] * size and violations[m] > 0.0:
            return True
    return not math.isfinite(size)


@jitable
def _climb_dual(
    family: Any, weights: Floats, means: Floats, cell: Region, scale: Floats, closest: Floats
) -> float:
    """Maximise the dual; leaves the model at its multipliers."""
    rows = scale.size - 1
    theta, trial, violations = np.zeros(rows + 1), np.zeros(rows + 1), np.zeros(rows + 1)
    value = region_dual(family, weights, means, cell, theta, closest, violations)
    for _ in range(200):
        step = dual_newton_step(family, weights, means, cell, theta, closest, violations)
        length, best, kept = 1.0, value, violations.copy()
        for _ in range(60):
            for m in range(rows + 1):
                trial[m] = max(0.0, theta[m] + length * step[m])
            value = region_dual(family, weights, means, cell, trial, closest, kept)
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
    return value
