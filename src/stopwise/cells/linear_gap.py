"""One arm beats another, where means are linear in known features: docs/linear.md."""

from __future__ import annotations

import numpy as np

from stopwise.cells.cell import Cell
from stopwise.cells.least_squares import (
    Pair,
    compare,
    dot,
    estimate,
    gap_cost,
    information,
    log_determinant,
    mixed_prior,
    solved,
    squared,
)
from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Curve, Data
from stopwise.core.functions import allocates
from stopwise.families.family import Family


class LinearGap(Cell):
    """theta . x_other >= theta . x_arm: the models that are linear in the features, where one arm beats
    another."""

    features: Floats
    arm: int
    other: int

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        _, theta, (gap, toward, width) = self.compared(family, data)
        assign(closest, data.means)
        if gap == 0.0 or width <= 0.0:
            return 0.0
        for a in range(closest.size):
            closest[a] = dot(self.features[a], theta)
            closest[a] -= gap / width * dot(self.features[a], toward)
        return gap_cost(gap, width)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        """(gap/q)^2 (u_k^2 u_l^2/q - u_k G_kl u_l): u = X V^-1 y, G = X V^-1 X^T, q = y . V^-1 y."""
        known, _, (gap, toward, width) = self.compared(family, data)
        factor, arms = curve.scale * gap * gap / (width * width), closest.size
        along = np.zeros(arms)  # u
        for k in range(arms):
            along[k] = dot(self.features[k], toward)
        for k in range(arms):
            if along[k] != 0.0:
                back = solved(known, self.features[k])
                own = factor * along[k] / family.of_arm(k).variance_at(0.0)
                for j in range(arms):
                    bent = along[k] * along[j] / width - dot(self.features[j], back)
                    curve.hessian[k, j] += own * bent * along[j] / family.of_arm(j).variance_at(0.0)

    def mixed_evidence(self, family: Family, data: Data, gap: float) -> float:
        """gap^2/(2 (y V^-1 y + y V^-1 P V^-1 y)) - (1/2) log det(1 + V P^-1): docs/linear.md, (1).

        P is the precision of a normal prior for theta's deviation, (d/K) sum_a x_a x_a^T/s_a^2 over gap^2.
        """
        known, _, pair = self.compared(family, data)
        prior = mixed_prior(self.features, family, gap)
        wider = pair.width + squared(prior, pair.toward)
        lost = log_determinant(known + prior) - log_determinant(prior)
        return gap_cost(pair.gap, wider) - 0.5 * lost

    def mirror(self) -> LinearGap:
        return LinearGap(self.features, self.other, self.arm)

    @allocates
    def compared(self, family: Family, data: Data) -> tuple[Floats, Floats, Pair]:
        """The information, the estimate of theta, and how the two arms compare there."""
        known = information(self.features, family, data.counts)
        theta = estimate(self.features, family, data, known)
        return known, theta, compare(self.features, theta, known, self.arm, self.other)
