"""Arms whose samples cost different amounts: divergences for each unit of money.

Let c_k be what a sample of arm k costs and v_k the share of the money that goes to it. Then v_k/c_k
samples are bought for each unit, and sum_k (v_k/c_k) d(mu_k, lambda_k) = sum_k v_k (d/c)_k: oracles that
minimise the cost are the usual ones, with d_k/c_k in place of d_k and c_k V_k in place of V_k.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from stopwise.core.arrays import Floats, Ints
from stopwise.core.functions import variant, variants
from stopwise.families.family import Family, Logarithmic, Quadratic
from stopwise.families.gaussian import Gaussian


class Priced(Family, listed=False):
    """A family in which arm k has the divergence d_k/c_k."""

    family: Family
    costs: Floats

    def interval(self) -> tuple[float, float]:
        return self.family.interval()

    def convex(self) -> bool:
        return self.family.convex()

    def additive(self) -> bool:
        return False  # a sample is not a unit of money

    def arms_alike(self) -> bool:
        return False

    def of_arm(self, arm: int) -> Family:
        return PricedArm(self.family.of_arm(arm), self.costs[arm])

    def of_arms(self, arms: Ints) -> Priced:
        return priced(self.family.of_arms(arms), self.costs[arms])

    def update_of_arms(self, family: Self, arms: Ints) -> None:
        self.family.update_of_arms(family.family, arms)


class PricedQuadratic(Priced, Quadratic, listed=False):
    """The same for normal arms, whose variances are c_k times as large."""

    def of_arm(self, arm: int) -> Gaussian:
        return Gaussian(self.family.of_arm(arm).variance_at(0.0) * self.costs[arm])


class PricedLogarithmic(Priced, Logarithmic, listed=False):
    """The same for normal arms of unknown variances: (1/2) log(1 + gap^2/variance)/c_k."""

    def of_arm(self, arm: int) -> PricedLogarithmicArm:
        return PricedLogarithmicArm(self.family.of_arm(arm), self.costs[arm])


class PricedArm(Family, listed=False):
    """One arm, whose divergence is d/c."""

    family: Family
    cost: float

    def interval(self) -> tuple[float, float]:
        return self.family.interval()

    def divergence(self, mu: float, lam: float) -> float:
        return self.family.divergence(mu, lam) / self.cost

    def variance_at(self, mu: float) -> float:
        return self.family.variance_at(mu) * self.cost

    def variance_slope(self, mu: float) -> float:
        return self.family.variance_slope(mu) * self.cost

    def natural(self, mu: float) -> float:
        return self.family.natural(mu) / self.cost

    def convex(self) -> bool:
        return self.family.convex()

    def tilt(self, mu: float, slope: float) -> float:
        return self.family.tilt(mu, slope * self.cost)

    def upper(self, mu: float, level: float) -> float:
        return self.family.upper(mu, level * self.cost)

    def lower(self, mu: float, level: float) -> float:
        return self.family.lower(mu, level * self.cost)


class PricedLogarithmicArm(PricedArm, Logarithmic, listed=False):
    """One with an unknown variance: the price does not scale it."""

    def sample_cost(self) -> float:
        return self.cost

    def variance_at(self, mu: float) -> float:
        return self.family.variance_at(mu)

    def divergence_slope(self, mu: float, lam: float) -> float:
        return self.family.divergence_slope(mu, lam) / self.cost

    def divergence_curvature(self, mu: float, lam: float) -> float:
        return self.family.divergence_curvature(mu, lam) / self.cost


@variants
def priced(family: Family, costs: Floats) -> Priced:
    """The family for each unit of money."""
    return Priced(family, costs)


variant(priced, Quadratic)(lambda family, costs: PricedQuadratic(family, costs))
variant(priced, Logarithmic)(lambda family, costs: PricedLogarithmic(family, costs))


def in_money(family: Family, costs: Floats | None) -> tuple[Family, float]:
    """The family for each unit of money, and the price if it is the same for all arms."""
    if costs is None:
        return family, 1.0
    if np.all(costs == costs[0]):
        return family, float(costs[0])
    return priced(family, costs), 1.0


def in_samples(shares: Floats, costs: Floats | None) -> Floats:
    """Shares of the samples, given those of the money."""
    if costs is None or np.all(costs == costs[0]):
        return shares
    bought = shares / costs
    return np.asarray(bought / bought.sum(axis=-1, keepdims=True))
