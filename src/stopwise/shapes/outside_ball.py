"""Cells outside a ball: |lambda - center| >= radius. Gaussian arms only.

Not convex, but strong duality holds (one quadratic constraint): with e = mu - center the closest
model is center + e_k w_k/(w_k - theta), 0 <= theta <= min w, with theta such that it lies on the
sphere; when even theta = min w leaves it inside, the arms of least weight take up the rest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.arrays import assign, inner, smallest
from stopwise.checks import Floats
from stopwise.shapes.bound import total_divergence
from stopwise.shapes.half_space import add_curved_hessian
from stopwise.verbs import jitable


@jitable
def _square(weights: Floats, offset: Floats, theta: float) -> float:
    total = 0.0
    for k in range(offset.size):
        if offset[k] != 0.0:
            if weights[k] <= theta:
                return math.inf
            x = offset[k] * weights[k] / (weights[k] - theta)
            total += x * x
    return total


@jitable
def sphere_multiplier(weights: Floats, offset: Floats, radius: float) -> float:
    """theta in [0, min w] at which the model reaches the sphere, by bisection on a monotone norm."""
    least = smallest(weights)
    goal = radius * radius
    if _square(weights, offset, least) <= goal:
        return least
    left, right = 0.0, least
    for _ in range(200):
        middle = 0.5 * (left + right)
        if middle == left or middle == right:
            break
        if _square(weights, offset, middle) < goal:
            left = middle
        else:
            right = middle
    return left


@jitable
def project_outside_ball(
    family: Any,
    weights: Floats,
    means: Floats,
    center: Floats,
    radius: float,
    closest: Floats,
) -> float:
    """The closest model on or outside the sphere."""
    assign(closest, means)
    offset = means - center
    if inner(offset, offset) >= radius * radius:
        return 0.0
    theta = sphere_multiplier(weights, offset, radius)
    rest, slack = radius * radius, -1
    for k in range(means.size):
        if weights[k] > theta:
            closest[k] = center[k] + offset[k] * weights[k] / (weights[k] - theta)
            rest -= (closest[k] - center[k]) * (closest[k] - center[k])
        else:
            slack = k if slack < 0 else slack
            closest[k] = center[k]
    if (
        slack >= 0
    ):  # the arm of least weight takes up what is missing, on its own side of the center
        side = 1.0 if offset[slack] >= 0.0 else -1.0
        closest[slack] = center[slack] + side * math.sqrt(max(rest, 0.0))
    return total_divergence(family, weights, means, closest)


@jitable
def add_outside_ball_hessian(
    family: Any,
    weights: Floats,
    means: Floats,
    center: Floats,
    radius: float,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    """One active face, the sphere, which bends toward the means: it softens the cost."""
    theta = sphere_multiplier(weights, means - center, radius)
    faces = np.ascontiguousarray(closest - center).reshape(1, means.size)
    free = np.ones(means.size)
    bend = -theta / family.variance
    add_curved_hessian(family, weights, means, closest, free, faces, bend, scale, hessian)
