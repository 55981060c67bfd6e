"""Convex cells: normals @ lambda >= offsets, lower <= lambda <= upper, |lambda - center| <= radius.

The value, where it is violated, and how its cost bends; region_projection.py finds the closest point.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.half_space import Face, add_curved_hessian, face_products
from stopwise.core.arrays import Floats, assign, inner, largest_size, solve_linear
from stopwise.core.data import Curve, Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import divergence_slope, of_arm


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
def add_region_hessian(
    family: Any, data: Data, cell: Region, closest: Floats, curve: Curve
) -> None:
    """Second derivative with the constraints that are active at the closest model."""
    rows, count = cell.offsets.size, closest.size
    violations = np.zeros(rows + 1)
    region_violations(cell, closest, violations)
    size = 1.0 + largest_size(closest)
    active = np.zeros((rows + 1, count))
    used = 0
    for m in range(rows):
        if violations[m] >= -1e-9 * size * largest_size(cell.normals[m]):
            assign(active[used], cell.normals[m])
            used += 1
    ball = cell.radius < math.inf and violations[rows] >= -1e-9 * cell.radius * size
    if ball:
        assign(active[used], closest - cell.center)
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
        bend = max(-_multipliers(family, data, closest, free, faces)[used - 1], 0.0)
    add_curved_hessian(family, data, closest, Face(free, faces, bend), curve)


@jitable
def _multipliers(family: Any, data: Data, closest: Floats, free: Floats, faces: Floats) -> Any:
    """The combination of the faces that is closest to the cost's gradient in lambda."""
    gradient = np.zeros(closest.size)
    for k in range(closest.size):
        if free[k] > 0.0:
            slope = divergence_slope(of_arm(family, k), data.means[k], closest[k])
            gradient[k] = data.counts[k] * slope
    push = np.zeros(faces.shape[0])
    for m in range(push.size):
        push[m] = inner(faces[m] * free, gradient)
    solve_linear(face_products(faces, free), push)
    return push
