"""Cells that order two arms: lambda_other >= lambda_arm + margin, with margin >= 0.

On the boundary the model is one number x = lambda_arm. The cost w_i d(mu_i, x) + w_j d(mu_j, x + m)
is stationary where w_j/w_i = z(x) = (mu_i - x) V(x+m) / (V(x) (x + m - mu_j)). When log V is
concave, as it is for every family here, V'(x+m)/V(x+m) <= V'(x)/V(x), so log z falls strictly and
the stationary point is unique: it is the global minimum, also where d is not convex in lambda.
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.arrays import assign
from stopwise.checks import Floats
from stopwise.families.base import (
    divergence_curvature,
    divergence_slope,
    interval,
    variance,
    variance_slope,
)
from stopwise.shapes.bound import weighted_divergence
from stopwise.verbs import jitable


@jitable
def meeting_point(
    family: Any, weight: float, other_weight: float, mu: float, other_mu: float, margin: float
) -> float:
    """The best x in the model (x, x + margin), for means with other_mu < mu + margin."""
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
    if margin == 0.0:
        return x
    if not left < x < right:
        x = 0.5 * (left + right)
    for _ in range(200):
        # z(x) = w_j/w_i without its poles: increasing through its only root
        v, u = variance(family, x), variance(family, x + margin)
        dv, du = variance_slope(family, x), variance_slope(family, x + margin)
        value = weight * (x - mu) * u + other_weight * (x + margin - other_mu) * v
        slope = weight * (u + (x - mu) * du) + other_weight * (v + (x + margin - other_mu) * dv)
        if value == 0.0:
            return x
        if value > 0.0:
            right = x
        else:
            left = x
        y = x - value / slope if slope > 0.0 else left
        if not left < y < right:
            y = 0.5 * (left + right)
        if abs(y - x) <= 1e-16 * abs(x) or y == left or y == right:
            return y
        x = y
    return x


@jitable
def project_gap(
    family: Any,
    weights: Floats,
    means: Floats,
    arm: int,
    other: int,
    margin: float,
    closest: Floats,
) -> float:
    """The closest model in which ``other`` beats ``arm`` by at least the margin."""
    assign(closest, means)
    if means[other] >= means[arm] + margin:
        return 0.0
    x = meeting_point(family, weights[arm], weights[other], means[arm], means[other], margin)
    closest[arm], closest[other] = x, x + margin
    cost = weighted_divergence(family, weights[arm], means[arm], x)
    return cost + weighted_divergence(family, weights[other], means[other], x + margin)


@jitable
def add_gap_hessian(
    family: Any,
    weights: Floats,
    means: Floats,
    arm: int,
    other: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    """The cost moves one number, x: its second derivative is -g g'/h, with h the bend in x."""
    bend = 0.0
    for k in (arm, other):
        if weights[k] > 0.0:
            bend += weights[k] * divergence_curvature(family, means[k], closest[k])
    if not 0.0 < bend < math.inf:
        return
    g = divergence_slope(family, means[arm], closest[arm])
    h = divergence_slope(family, means[other], closest[other])
    hessian[arm, arm] -= scale * g * g / bend
    hessian[other, other] -= scale * h * h / bend
    hessian[arm, other] -= scale * g * h / bend
    hessian[other, arm] -= scale * g * h / bend
