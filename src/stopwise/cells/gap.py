"""Cells that order two arms: lambda_other >= lambda_arm + margin, with margin >= 0.

On the boundary the model is one number x = lambda_arm. The cost w_i d(mu_i, x) + w_j d(mu_j, x + m)
is stationary where w_j/w_i = z(x) = (mu_i - x) V(x+m) / (V(x) (x + m - mu_j)). When log V is
concave, as it is for every family here, V'(x+m)/V(x+m) <= V'(x)/V(x), so log z falls strictly and
the stationary point is unique: it is the global minimum, also where d is not convex in lambda.
Logarithmic divergences are another matter: two_minima.py.
"""

from __future__ import annotations

import math

from stopwise.cells.bound import SURELY, arm_cost
from stopwise.cells.cell import Cell, CellEvidence
from stopwise.cells.two_minima import cheapest_share
from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Curve, Data
from stopwise.core.functions import jitable, variant, variants
from stopwise.families.family import Family, Logarithmic, Quadratic


@variants
def meeting_point(family: Family, data: Data, arm: int, other: int, margin: float) -> float:
    """The best x in the model (x, x + margin), for means with other_mu < mu + margin."""
    weight, other_weight = data.counts[arm], data.counts[other]
    mu, other_mu = data.means[arm], data.means[other]
    own, rival = family.of_arm(arm), family.of_arm(other)
    low, high = family.interval()
    left, right = max(other_mu - margin, low), min(mu, high - margin)
    if weight == 0.0 or left >= right:
        return left
    if other_weight == 0.0:
        return right
    # both arms have weight: the model stays off the ends of the interval, where d is infinite
    if right < mu:
        right -= 4e-16 * max(abs(high), abs(low) if low > -math.inf else 0.0, margin)
    if left == low:
        left += max(4e-16 * abs(low), 1e-300)
    x = (weight * mu + other_weight * (other_mu - margin)) / (weight + other_weight)
    if margin == 0.0 and family.arms_alike():
        return x
    if not left < x < right:
        x = 0.5 * (left + right)
    for _ in range(200):
        # z(x) = w_j/w_i without its poles: increasing through its only root
        v, u = own.variance_at(x), rival.variance_at(x + margin)
        dv, du = own.variance_slope(x), rival.variance_slope(x + margin)
        value = weight * (x - mu) * u + other_weight * (x + margin - other_mu) * v
        slope = weight * (u + (x - mu) * du) + other_weight * (v + (x + margin - other_mu) * dv)
        if value == 0.0:
            return x
        if value > 0.0:
            right = x
        else:
            left = x
        y = x - value / slope if slope > 0.0 else left
        if y == x and slope > 0.0:  # an end of the bracket by now, and the root but for rounding
            return x
        if not left < y < right:
            y = 0.5 * (left + right)
        if abs(y - x) <= 1e-16 * abs(x) or y == left or y == right:
            return y
        x = y
    return x


@variant(meeting_point, Logarithmic)
def _logarithmic_meeting_point(
    family: Family, data: Data, arm: int, other: int, margin: float
) -> float:
    mu, gap = data.means[arm], data.means[arm] - data.means[other] + margin
    own, rival = family.of_arm(arm).variance_at(mu), family.of_arm(other).variance_at(mu)
    weight = data.counts[arm] / family.of_arm(arm).sample_cost()
    other_weight = data.counts[other] / family.of_arm(other).sample_cost()
    share = cheapest_share(weight, other_weight, own, rival, gap)
    return mu - share * gap


@jitable
def pair_cost(family: Family, data: Data, arm: int, other: int, margin: float) -> float:
    """What it costs to let ``other`` beat ``arm`` by the margin."""
    if data.means[other] >= data.means[arm] + margin:
        return 0.0
    x = meeting_point(family, data, arm, other, margin)
    return arm_cost(family, data, arm, x) + arm_cost(family, data, other, x + margin)


@jitable(inline=True)
def pair_floor(family: Family, data: Data, arm: int, other: int) -> float:
    """A lower bound on ``pair_cost`` without a margin, for arms that meet at their common mean.

    Where they meet elsewhere 0: a bound at a point is no bound at the least.
    """
    weight, other_weight = data.counts[arm], data.counts[other]
    mu, other_mu = data.means[arm], data.means[other]
    if not family.arms_alike() or not mu > other_mu or not weight + other_weight > 0.0:
        return 0.0
    x, own = (weight * mu + other_weight * other_mu) / (weight + other_weight), family.of_arm(arm)
    paid = weight * own.least_divergence(mu, x) + other_weight * own.least_divergence(other_mu, x)
    return SURELY * paid


@variants(inline=True)
def floor_is_cheaper(family: Family) -> bool:
    """Whether ``pair_floor`` is cheaper than ``pair_cost``."""
    return bool(family.arms_alike())


variant(floor_is_cheaper, Quadratic)(lambda family: False)


@jitable
def pair_bound(family: Family, data: Data, arm: int, other: int, margin: float) -> float:
    """An upper bound on ``pair_cost``, nearly attained: where the arms would meet if V were constant."""
    weight, other_weight = data.counts[arm], data.counts[other]
    x = weight * data.means[arm] + other_weight * (data.means[other] - margin)
    x /= weight + other_weight
    low, high = family.interval()
    if not low < x < high - margin:
        return math.inf
    return arm_cost(family, data, arm, x) + arm_cost(family, data, other, x + margin)


@jitable
def separation(family: Family, data: Data, arm: int, other: int) -> float:
    """The largest radius at which the intervals {x : N d(mu, x) <= radius} of two arms are apart.

    0 where ``other`` has the larger mean.
    """
    return separation_beyond(family, data, arm, other, 0.0)


@jitable
def separation_beyond(family: Family, data: Data, arm: int, other: int, slack: float) -> float:
    """The same for intervals that are more than a slack apart: a model in which the means are not
    costs at least as much.
    """
    if data.means[other] + slack >= data.means[arm]:
        return 0.0
    x = balanced(family, data, arm, other, slack)
    return min(arm_cost(family, data, arm, x + slack), arm_cost(family, data, other, x))


@jitable
def balanced(family: Family, data: Data, arm: int, other: int, slack: float) -> float:
    """Where N d(mu_j, x) and N d(mu_i, x + slack) are the same, between the means: they cross once."""
    low, high = data.means[other], data.means[arm] - slack
    x = 0.5 * (low + high)
    while low < x < high:
        if arm_cost(family, data, arm, x + slack) > arm_cost(family, data, other, x):
            low = x
        else:
            high = x
        x = 0.5 * (low + high)
    return x


class Gap(Cell):
    """lambda_other >= lambda_arm + margin, with margin >= 0."""

    arm: int
    other: int
    margin: float

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        arm, other, margin = self
        assign(closest, data.means)
        if data.means[other] >= data.means[arm] + margin:
            return 0.0
        x = meeting_point(family, data, arm, other, margin)
        closest[arm], closest[other] = x, x + margin
        return arm_cost(family, data, arm, x) + arm_cost(family, data, other, x + margin)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        """The cost moves one number, x: its second derivative is -g g'/h, with h the bend in x."""
        arm, other, _ = self
        bend = 0.0
        for k in (arm, other):
            if data.counts[k] > 0.0:
                stiff = family.of_arm(k).divergence_curvature(data.means[k], closest[k])
                bend += data.counts[k] * stiff
        if not 0.0 < bend < math.inf:
            return
        g = family.of_arm(arm).divergence_slope(data.means[arm], closest[arm])
        h = family.of_arm(other).divergence_slope(data.means[other], closest[other])
        scale, hessian = curve
        hessian[arm, arm] -= scale * g * g / bend
        hessian[other, other] -= scale * h * h / bend
        hessian[arm, other] -= scale * g * h / bend
        hessian[other, arm] -= scale * g * h / bend

    def cost_floor(self, family: Family, data: Data) -> float:
        return 0.0 if self.margin > 0.0 else pair_floor(family, data, self.arm, self.other)

    def constrains(self, arm: int) -> bool:
        return arm == self.arm or arm == self.other

    def rises(self, arm: int) -> bool:
        """Whether a larger mean of the arm brings a model closer to the cell."""
        return arm == self.other

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        return rule.gap_evidence(family, data, self, enough)

    def pairwise(self) -> bool:
        return True

    def mirror(self) -> Gap:
        return Gap(self.other, self.arm, self.margin)
