"""Cells outside a ball: |lambda - center| >= radius. Quadratic families only.

Not convex, but strong duality holds (one quadratic constraint): with e = mu - center and the weights
v_k = N_k/variance_k the closest model is center + e_k v_k/(v_k - theta), 0 <= theta <= min v, with
theta such that it lies on the sphere; when even theta = min v leaves it inside, the arms of least
weight take up the rest.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.cell import Cell
from stopwise.cells.half_space import Face, add_curved_hessian
from stopwise.core.arrays import Floats, assign, fill, inner, smallest
from stopwise.core.data import Curve, Data
from stopwise.core.functions import jitable
from stopwise.core.roots import bisection
from stopwise.core.values import Value
from stopwise.families.family import Family


class Inside(Value):
    """Whether the model at a multiplier theta is inside the sphere."""

    weights: Floats
    offset: Floats
    radius: float

    def holds(self, theta: float) -> bool:
        """The model's distance from the center grows with theta."""
        total = 0.0
        for k in range(self.offset.size):
            if self.offset[k] != 0.0:
                if self.weights[k] <= theta:
                    return False
                x = self.offset[k] * self.weights[k] / (self.weights[k] - theta)
                total += x * x
        return total < self.radius * self.radius


@jitable
def _stiffness(family: Family, data: Data) -> Floats:
    """What pulls each arm back to its mean, N_k/variance_k; for one variance, but for that, N_k."""
    stiff = data.counts.copy()
    if not family.arms_alike():
        for k in range(stiff.size):
            stiff[k] /= family.of_arm(k).variance_at(data.means[k])
    return stiff


@jitable
def _multiplier(weights: Floats, offset: Floats, radius: float) -> float:
    """theta in [0, min w] at which the model reaches the sphere; min w if it does not."""
    least, inside = smallest(weights), Inside(weights, offset, radius)
    return least if inside.holds(least) else bisection(inside, 0.0, least, 200)[0]


class BallExterior(Cell):
    """|lambda - center| >= radius."""

    center: Floats
    radius: float

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        center, radius = self
        assign(closest, data.means)
        offset = data.means - center
        if inner(offset, offset) >= radius * radius:
            return 0.0
        weights = _stiffness(family, data)
        theta = _multiplier(weights, offset, radius)
        rest, slack = radius * radius, -1
        for k in range(closest.size):
            if weights[k] > theta:
                closest[k] = center[k] + offset[k] * weights[k] / (weights[k] - theta)
                rest -= (closest[k] - center[k]) * (closest[k] - center[k])
            else:
                slack = k if slack < 0 else slack
                closest[k] = center[k]
        # the arm of least weight takes up what is missing, on its own side of the center
        if slack >= 0:
            side = 1.0 if offset[slack] >= 0.0 else -1.0
            closest[slack] = center[slack] + side * math.sqrt(max(rest, 0.0))
        return total_divergence(family, data, closest)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        """One active face, the sphere, which bends toward the means: it softens the cost."""
        count = closest.size
        theta = _multiplier(_stiffness(family, data), data.means - self.center, self.radius)
        if family.arms_alike():
            theta /= family.of_arm(0).variance_at(closest[0])
        free, faces = np.zeros(count), np.zeros((1, count))
        fill(free, 1.0)
        assign(faces[0], closest - self.center)
        add_curved_hessian(family, data, closest, Face(free, faces, -theta), curve)
