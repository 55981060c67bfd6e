"""Cells that order two arms: lambda_other >= lambda_arm + margin, with margin >= 0.

On the boundary the model is one number x = lambda_arm. The cost w_i d(mu_i, x) + w_j d(mu_j, x + m)
is stationary where w_j/w_i = z(x) = (mu_i - x) V(x+m) / (V(x) (x + m - mu_j)). When log V is
concave, as it is for every family here, V'(x+m)/V(x+m) <= V'(x)/V(x), so log z falls strictly and
the stationary point is unique: it is the global minimum, also where d is not convex in lambda.
Logarithmic divergences are another matter: two_minima.py.
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.cells.bound import SURELY, arm_cost
from stopwise.cells.two_minima import cheapest_share
from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Curve, Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import (
    Logarithmic,
    Quadratic,
    arms_alike,
    divergence_curvature,
    divergence_slope,
    interval,
    least_divergence,
    of_arm,
    price,
    variance,
    variance_slope,
)


@verb
def meeting_point(family: Any, data: Data, arm: int, other: int, margin: float) -> float:
    """The best x in the model (x, x + margin), for means with other_mu < mu + margin."""
    weight, other_weight = data.counts[arm], data.counts[other]
    mu, other_mu = data.means[arm], data.means[other]
    own, rival = of_arm(family, arm), of_arm(family, other)
    low, high = interval(family)
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
    if margin == 0.0 and arms_alike(family):
        return x
    if not left < x < right:
        x = 0.5 * (left + right)
    for _ in range(200):
        # z(x) = w_j/w_i without its poles: increasing through its only root
        v, u = variance(own, x), variance(rival, x + margin)
        dv, du = variance_slope(own, x), variance_slope(rival, x + margin)
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


@meeting_point.register(Logarithmic)
def _logarithmic_meeting_point(
    family: Any, data: Data, arm: int, other: int, margin: float
) -> float:
    mu, gap = data.means[arm], data.means[arm] - data.means[other] + margin
    own, rival = variance(of_arm(family, arm), mu), variance(of_arm(family, other), mu)
    weight = data.counts[arm] / price(of_arm(family, arm))
    other_weight = data.counts[other] / price(of_arm(family, other))
    share = cheapest_share(weight, other_weight, own, rival, gap)
    return mu - share * gap


@jitable
def pair_cost(family: Any, data: Data, arm: int, other: int, margin: float) -> float:
    """What it costs to let ``other`` beat ``arm`` by the margin."""
    if data.means[other] >= data.means[arm] + margin:
        return 0.0
    x = meeting_point(family, data, arm, other, margin)
    return arm_cost(family, data, arm, x) + arm_cost(family, data, other, x + margin)


@verb(inline=True)
def pair_floor(family: Any, data: Data, arm: int, other: int) -> float:
    """A lower bound on ``pair_cost`` without a margin, for arms that meet at their common mean.

    Where they meet elsewhere 0: a bound at a point is no bound at the least.
    """
    weight, other_weight = data.counts[arm], data.counts[other]
    mu, other_mu = data.means[arm], data.means[other]
    if not arms_alike(family) or not mu > other_mu or not weight + other_weight > 0.0:
        return 0.0
    x, own = (weight * mu + other_weight * other_mu) / (weight + other_weight), of_arm(family, arm)
    paid = weight * least_divergence(own, mu, x) + other_weight * least_divergence(own, other_mu, x)
    return SURELY * paid


@verb(inline=True)
def screened(family: Any) -> bool:
    """Whether ``pair_floor`` is cheaper than ``pair_cost``."""
    return bool(arms_alike(family))


screened.register(Quadratic)(lambda family: False)


@jitable
def pair_bound(family: Any, data: Data, arm: int, other: int, margin: float) -> float:
    """An upper bound on ``pair_cost``, nearly attained: where the arms would meet if V were constant."""
    weight, other_weight = data.counts[arm], data.counts[other]
    x = weight * data.means[arm] + other_weight * (data.means[other] - margin)
    x /= weight + other_weight
    low, high = interval(family)
    if not low < x < high - margin:
        return math.inf
    return arm_cost(family, data, arm, x) + arm_cost(family, data, other, x + margin)


@jitable
def separation(family: Any, data: Data, arm: int, other: int) -> float:
    """The largest radius at which the intervals {x : N d(mu, x) <= radius} of two arms are apart.

    0 where ``other`` has the larger mean.
    """
    return separation_beyond(family, data, arm, other, 0.0)


@jitable
def separation_beyond(family: Any, data: Data, arm: int, other: int, slack: float) -> float:
    """The same for intervals that are more than a slack apart: a model in which the means are not
    costs at least as much.
    """
    if data.means[other] + slack >= data.means[arm]:
        return 0.0
    x = balanced(family, data, arm, other, slack)
    return min(arm_cost(family, data, arm, x + slack), arm_cost(family, data, other, x))


@jitable
def balanced(family: Any, data: Data, arm: int, other: int, slack: float) -> float:
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


@jitable
def project_gap(
    family: Any, data: Data, arm: int, other: int, margin: float, closest: Floats
) -> float:
    """The closest model in which ``other`` beats ``arm`` by at least the margin."""
    assign(closest, data.means)
    if data.means[other] >= data.means[arm] + margin:
        return 0.0
    x = meeting_point(family, data, arm, other, margin)
    closest[arm], closest[other] = x, x + margin
    return arm_cost(family, data, arm, x) + arm_cost(family, data, other, x + margin)


@jitable
def add_gap_hessian(
    family: Any, data: Data, arm: int, other: int, closest: Floats, curve: Curve
) -> None:
    """The cost moves one number, x: its second derivative is -g g'/h, with h the bend in x."""
    bend = 0.0
    for k in (arm, other):
        if data.counts[k] > 0.0:
            stiff = divergence_curvature(of_arm(family, k), data.means[k], closest[k])
            bend += data.counts[k] * stiff
    if not 0.0 < bend < math.inf:
        return
    g = divergence_slope(of_arm(family, arm), data.means[arm], closest[arm])
    h = divergence_slope(of_arm(family, other), data.means[other], closest[other])
    scale, hessian = curve
    hessian[arm, arm] -= scale * g * g / bend
    hessian[other, other] -= scale * h * h / bend
    hessian[arm, other] -= scale * g * h / bend
    hessian[other, arm] -= scale * g * h / bend
