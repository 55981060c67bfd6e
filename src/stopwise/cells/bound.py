"""Cells that bound one arm: lambda_arm >= limit (side +1) or <= limit (side -1)."""

from __future__ import annotations

import math
from typing import Any

from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import arms_alike, divergence, least_divergence, of_arm, variance


@jitable
def arm_cost(family: Any, data: Data, arm: int, lam: float) -> float:
    """N d(mu, lambda) of one arm, where an arm without weight moves for free."""
    weight, mu = data.counts[arm], data.means[arm]
    if weight == 0.0 or mu == lam:
        return 0.0
    return weight * divergence(of_arm(family, arm), mu, lam)


SURELY = 1.0 - 1e-9  # a bound is compared with room for rounding


@jitable(inline=True)
def arm_floor(family: Any, data: Data, arm: int, lam: float) -> float:
    """A lower bound on ``arm_cost`` that takes no time."""
    least = least_divergence(of_arm(family, arm), data.means[arm], lam)
    return SURELY * data.counts[arm] * least


@jitable
def divergence_from(family: Any, mu: float, lam: float) -> float:
    """d(mu, lambda), infinite for a mean at infinity (the end of a box around an arm not sampled)."""
    return math.inf if math.isinf(mu) else divergence(family, mu, lam)


@jitable
def total_divergence(family: Any, data: Data, model: Floats) -> float:
    """D(N, mu, lambda) = sum_k N_k d(mu_k, lambda_k)."""
    total = 0.0
    for k in range(model.size):
        total += arm_cost(family, data, k, model[k])
    return total


@jitable
def precision(family: Any, data: Data, arm: int) -> float:
    """An arm's weight in a mean over arms: its samples, by their variance where arms differ in that."""
    if arms_alike(family):
        return data.counts[arm]
    return data.counts[arm] / variance(of_arm(family, arm), data.means[arm])


@jitable
def project_bound(
    family: Any, data: Data, arm: int, side: float, limit: float, closest: Floats
) -> float:
    """The closest model with lambda_arm on this side of the limit."""
    assign(closest, data.means)
    if side * (data.means[arm] - limit) >= 0.0:
        return 0.0
    closest[arm] = limit
    return arm_cost(family, data, arm, limit)
