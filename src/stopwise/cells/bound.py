"""Cells that bound arms one by one, and what it costs to move an arm."""

from __future__ import annotations

import math

from stopwise.cells.cell import Cell, CellEvidence
from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Curve, Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family


@jitable
def arm_cost(family: Family, data: Data, arm: int, lam: float) -> float:
    """N d(mu, lambda) of one arm, where an arm without weight moves for free."""
    weight, mu = data.counts[arm], data.means[arm]
    if weight == 0.0 or mu == lam:
        return 0.0
    return weight * family.of_arm(arm).divergence(mu, lam)


SURELY = 1.0 - 1e-9  # a bound is compared with room for rounding


@jitable(inline=True)
def arm_floor(family: Family, data: Data, arm: int, lam: float) -> float:
    """A lower bound on ``arm_cost`` that takes no time."""
    least = family.of_arm(arm).least_divergence(data.means[arm], lam)
    return SURELY * data.counts[arm] * least


@jitable
def divergence_from(family: Family, mu: float, lam: float) -> float:
    """d(mu, lambda), infinite for a mean at infinity (the end of a box around an arm not sampled)."""
    return math.inf if math.isinf(mu) else family.divergence(mu, lam)


@jitable
def total_divergence(family: Family, data: Data, model: Floats) -> float:
    """D(N, mu, lambda) = sum_k N_k d(mu_k, lambda_k)."""
    total = 0.0
    for k in range(model.size):
        total += arm_cost(family, data, k, model[k])
    return total


@jitable
def box_ends(family: Family, data: Data, arm: int, level: float) -> tuple[float, float]:
    """The least and the largest mean of an arm in the box around the models with D(N, mu, .) <= level."""
    if not data.counts[arm] > 0.0:
        return family.interval()
    own, mean, share = family.of_arm(arm), data.means[arm], level / data.counts[arm]
    return own.lower(mean, share), own.upper(mean, share)


@jitable
def precision(family: Family, data: Data, arm: int) -> float:
    """An arm's weight in a mean over arms: its samples, by their variance where arms differ in that."""
    if family.arms_alike():
        return data.counts[arm]
    return data.counts[arm] / family.of_arm(arm).variance_at(data.means[arm])


class Bounds(Cell):
    """What cells that bound arms one by one share: their cost is linear in the weights."""

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        pass

    def pairwise(self) -> bool:
        return True


class Bound(Bounds):
    """lambda_arm >= limit (side +1) or <= limit (side -1)."""

    arm: int
    side: float
    limit: float

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        assign(closest, data.means)
        if self.side * (data.means[self.arm] - self.limit) >= 0.0:
            return 0.0
        closest[self.arm] = self.limit
        return arm_cost(family, data, self.arm, self.limit)

    def constrains(self, arm: int) -> bool:
        return arm == self.arm

    def rises(self, arm: int) -> bool:
        """Whether a larger mean of the arm brings a model closer to the cell."""
        return self.side > 0.0

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        return rule.bound_evidence(family, data, self, enough)


class Side(Bounds):
    """Every arm on one side: lambda_k >= limit (side +1) or <= limit (side -1), for all k."""

    side: float
    limit: float

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        for k in range(closest.size):
            over = self.side * (data.means[k] - self.limit) >= 0.0
            closest[k] = data.means[k] if over else self.limit
        return total_divergence(family, data, closest)

    def rises(self, arm: int) -> bool:
        """Whether a larger mean of the arm brings a model closer to the cell."""
        return self.side > 0.0

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        return rule.side_evidence(family, data, self, enough)
