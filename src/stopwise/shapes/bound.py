"""Cells that bound one arm: lambda_arm >= limit (side +1) or <= limit (side -1)."""

from __future__ import annotations

import math
from typing import Any

from stopwise.arrays import assign
from stopwise.checks import Floats
from stopwise.families.base import divergence
from stopwise.verbs import jitable


@jitable
def weighted_divergence(family: Any, weight: float, mu: float, lam: float) -> float:
    """weight * d(mu, lambda), where an arm without weight moves for free."""
    if weight == 0.0 or mu == lam:
        return 0.0
    return weight * divergence(family, mu, lam)


@jitable
def divergence_from(family: Any, mu: float, lam: float) -> float:
    """d(mu, lambda), infinite for a mean at infinity (the end of a box around an arm not sampled)."""
    return math.inf if math.isinf(mu) else divergence(family, mu, lam)


@jitable
def total_divergence(family: Any, weights: Floats, means: Floats, closest: Floats) -> float:
    """D(w, mu, lambda) = sum_k w_k d(mu_k, lambda_k)."""
    total = 0.0
    for k in range(means.size):
        total += weighted_divergence(family, weights[k], means[k], closest[k])
    return total


@jitable
def project_bound(
    family: Any,
    weights: Floats,
    means: Floats,
    arm: int,
    side: float,
    limit: float,
    closest: Floats,
) -> float:
    """The closest model with lambda_arm on this side of the limit."""
    assign(closest, means)
    if side * (means[arm] - limit) >= 0.0:
        return 0.0
    closest[arm] = limit
    return weighted_divergence(family, weights[arm], means[arm], limit)
