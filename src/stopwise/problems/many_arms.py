"""Oracle weights of the best arm where there are many: a round changes one arm, so only that is solved.

As in best_arm_weights.py rival j has z_j(y) times the answer's weight where its cost g_j is y, and the
weights solve S(y) = sum_j r_j = 1 with r_j = y z_j' - z_j. For Gaussian arms 1/z_j is linear in s = 1/y:
Y_j s - 1. For other families it is nearly linear, so every rival has a *curve*, the first three terms
of 1/z_j around some s. With the curves S is a sum without logarithms,

    S(s) = sum_j z_j^2 (s c_j'(s) - c_j(s)),    c_j = 1/z_j,

and S^(-1/2) is nearly linear in s, too. A curve is computed anew if its rival's mean or the answer's has
changed, or if s has moved by more than ``RANGE`` from where it was expanded. The weights differ from the
exact ones by less than 1e-6 of the largest one (tests/problems/test_many_arms.py).
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.functions import jitable, variant, variants
from stopwise.families.family import Family, Logarithmic, OneVariance
from stopwise.problems.best_arm_weights import TIED, FewArms, best_arm_optimum, few_arms

MANY = 64  # arms from which on curves are quicker
RANGE = 0.01  # how far s may be, relatively, from where a curve was expanded
CLOSE = 1e-6  # of s: where the next step is nothing
TURNS = 12

# rows of the curves: the rival's mean, right - x, the s at which the curve is expanded, and the curve
MEAN, DISTANCE, AT, VALUE, SLOPE, BEND = range(6)


class ManyArms(FewArms):
    """The same with a curve for each rival; in the column of the answer its mean, and s (at ``AT``)."""

    curves: Floats

    @variants
    def solve(
        self, family: Family, means: Floats, arm: int, margin: float, weights: Floats
    ) -> float:
        """The value of an answer and its weights, by its rivals' curves where they are known."""
        # where the answer's mean is at the end of the interval the curves have poles
        curved = family.arms_alike() and means[arm] + margin <= family.interval()[1]
        if curved and self.owner[0] == arm + 1:
            value = by_curves(family, self.curves, means, arm, margin, weights)
            if value > 0.0:
                return value
        self.owner[0], self.state[arm] = 0, 0.0
        value = best_arm_optimum(family, means, arm, margin, weights, self.state)
        if curved and value > 0.0:  # else means are tied, and every weight is the same
            self.owner[0], s = arm + 1, 1.0 / self.state[arm]
            for j in range(means.size):
                self.curves[MEAN, j], self.curves[DISTANCE, j], self.curves[AT, j] = (
                    means[j],
                    self.state[j],
                    s,
                )
            for j in range(means.size):
                if j != arm and not expand(family, self.curves, means, arm, j, margin, s):
                    self.owner[0] = 0
        return value

    variant(solve, OneVariance)(FewArms.solve)
    variant(solve, Logarithmic)(FewArms.solve)


def many_arms(arms: int) -> ManyArms:
    """The cache of ``BestArm`` with many arms before the first sample."""
    return ManyArms._make((*few_arms(arms), np.zeros((6, arms))))


@jitable
def by_curves(
    family: Family, curves: Floats, means: Floats, arm: int, margin: float, weights: Floats
) -> float:
    """Newton's method for S^(-1/2) = 1 in s; 0 where the curves are of no use."""
    s, moved = curves[AT, arm], means[arm] != curves[MEAN, arm]
    if moved:  # y nearly goes with the least gap squared
        nearest = -math.inf
        for j in range(means.size):
            if j != arm:
                nearest = max(nearest, means[j] - margin)
        if not means[arm] > nearest:
            return 0.0
        ratio = (curves[MEAN, arm] - nearest) / (means[arm] - nearest)
        s *= ratio * ratio
    for _ in range(TURNS):
        total, mass, bend = 1.0, 0.0, 0.0
        for j in range(means.size):
            if j == arm:
                continue
            off = s - curves[AT, j]
            if moved or means[j] != curves[MEAN, j] or not abs(off) <= RANGE * s:
                if not expand(family, curves, means, arm, j, margin, s):
                    return 0.0
                off = s - curves[AT, j]
            slope = curves[SLOPE, j] + curves[BEND, j] * off
            value = curves[VALUE, j] + 0.5 * (curves[SLOPE, j] + slope) * off
            if not value > 0.0:
                return 0.0
            z = 1.0 / value
            free = s * slope - value  # 1 for Gaussian arms
            total += z
            weights[j] = z
            mass += z * z * free
            bend += z * z * (2.0 * z * slope * free - s * curves[BEND, j])
        curves[MEAN, arm], moved = means[arm], False
        if not (mass > 0.0 and bend > 0.0):
            return 0.0
        step = 2.0 * mass * (math.sqrt(mass) - 1.0) / bend
        s += step
        if not 0.0 < s < math.inf:
            return 0.0
        curves[AT, arm] = s
        if abs(step) <= CLOSE * s:
            weights[arm] = 1.0
            by = 1.0 / total
            for j in range(means.size):
                weights[j] *= by
            return by / s
    return 0.0


@jitable
def expand(
    family: Family, curves: Floats, means: Floats, arm: int, j: int, margin: float, s: float
) -> bool:
    """A rival's curve around s, or an s close to it; whether there is one."""
    mu, law, y = means[arm], family.of_arm(arm), 1.0 / s
    low = family.interval()[0]
    span = mu - max(means[j] - margin, low)
    if means[j] - margin >= mu - TIED * abs(mu):
        return False
    # as if arms were Gaussian, where ``place`` goes with y over the gap
    before = curves[MEAN, arm] - max(curves[MEAN, j] - margin, low)
    place = min(curves[DISTANCE, j] * y * curves[AT, j] * before / span, 0.9 * span)
    for _ in range(TURNS):
        x = mu - place
        rest = x + margin - means[j]
        v, u = law.variance_at(x), law.variance_at(x + margin)
        a, b = law.divergence(mu, x), law.divergence(means[j], x + margin)
        z = place * u / (v * rest)
        level = a + z * b
        # log z falls in x: rate is 1/z' times the slope of z in ``place``
        rise = (
            1.0 / place
            + 1.0 / rest
            + law.variance_slope(x) / v
            - law.variance_slope(x + margin) / u
        )
        by = 1.0 / (z * rise * b)  # of ``place`` in y
        if abs(y - level) <= 0.5 * RANGE * y:
            e = level / z
            fall = -rest / u * by  # of b in y
            curves[MEAN, j], curves[DISTANCE, j], curves[AT, j] = means[j], place, 1.0 / level
            curves[VALUE, j], curves[SLOPE, j] = 1.0 / z, e * e / b
            curves[BEND, j] = -e * e / b * (2.0 * level * (1.0 - e / b) - level * level * fall / b)
            return True
        new = place + (y - level) * by
        place = min(max(new, 0.1 * place), place + 0.9 * (span - place))
    return False
