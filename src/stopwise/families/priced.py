"""Arms whose samples have a price: a divergence for each unit of money.

Let c_k be what a sample of arm k costs and v_k the share of the money that goes to it. Then v_k/c_k
samples are bought for each unit, and sum_k (v_k/c_k) d(mu_k, lambda_k) = sum_k v_k (d/c)_k: oracles that
minimise the cost are the usual ones, with d_k/c_k in place of d_k and c_k V_k in place of V_k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints
from stopwise.core.values import Family
from stopwise.core.verbs import verb
from stopwise.families import verbs
from stopwise.families.gaussian import Gaussian
from stopwise.families.verbs import Logarithmic, Quadratic


class _Priced(NamedTuple):
    family: Any
    costs: Floats


class Priced(_Priced, Family, listed=False):
    """A family in which arm k has the divergence d_k/c_k."""

    __slots__ = ()


class PricedQuadratic(_Priced, Quadratic, listed=False):
    """The same for normal arms, whose variances are c_k times as large."""

    __slots__ = ()


class PricedLogarithmic(_Priced, Logarithmic, listed=False):
    """The same for normal arms of unknown variances: (1/2) log(1 + gap^2/variance)/c_k."""

    __slots__ = ()


class PricedArm(NamedTuple):
    """One of the arms."""

    family: Any
    cost: float


@verb
def priced(family: Any, costs: Floats) -> Any:
    """The family for each unit of money."""
    return Priced(family, costs)


priced.register(Quadratic)(lambda family, costs: PricedQuadratic(family, costs))
priced.register(Logarithmic)(lambda family, costs: PricedLogarithmic(family, costs))


def in_money(family: Any, costs: Floats | None) -> tuple[Any, float]:
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


@verbs.of_arm.register(PricedQuadratic)
def _of_normal_arm(family: PricedQuadratic, arm: int) -> Gaussian:
    return Gaussian(verbs.variance(verbs.of_arm(family.family, arm), 0.0) * family.costs[arm])


@verbs.of_arm.register(Priced)
def _of_arm(family: Priced, arm: int) -> PricedArm:
    return PricedArm(verbs.of_arm(family.family, arm), family.costs[arm])


@verbs.interval.register(Priced)
def _interval(family: Priced) -> tuple[float, float]:
    return verbs.interval(family.family)


for _kind in (Priced, PricedQuadratic, PricedLogarithmic):
    verbs.arms_alike.register(_kind)(lambda family: False)
    verbs.additive.register(_kind)(lambda family: False)  # a sample is not a unit of money
    verbs.convex.register(_kind)(lambda family: verbs.convex(family.family))
    verbs.check_arms.register(_kind)(lambda family, arms: verbs.check_arms(family.family, arms))
    verbs.check_truth.register(_kind)(lambda family: verbs.check_truth(family.family))


@verbs.of_group.register(Priced)
def _of_group(family: Priced, arms: Ints) -> Priced:
    return Priced(verbs.of_group(family.family, arms), family.costs[arms])


@verbs.of_group.register(PricedQuadratic)
def _of_normal_group(family: PricedQuadratic, arms: Ints) -> PricedQuadratic:
    return PricedQuadratic(verbs.of_group(family.family, arms), family.costs[arms])


@verbs.regroup.register(PricedQuadratic)
def _regroup(own: PricedQuadratic, family: PricedQuadratic, arms: Ints) -> None:
    verbs.regroup(own.family, family.family, arms)


@verbs.of_group.register(PricedLogarithmic)
def _of_logarithmic_group(family: PricedLogarithmic, arms: Ints) -> PricedLogarithmic:
    return PricedLogarithmic(verbs.of_group(family.family, arms), family.costs[arms])


@verbs.regroup.register(PricedLogarithmic)
def _regroup_logarithmic(own: PricedLogarithmic, family: PricedLogarithmic, arms: Ints) -> None:
    verbs.regroup(own.family, family.family, arms)


verbs.interval.register(PricedArm)(lambda arm: verbs.interval(arm.family))
verbs.divergence.register(PricedArm)(
    lambda arm, mu, lam: verbs.divergence(arm.family, mu, lam) / arm.cost
)
verbs.variance.register(PricedArm)(lambda arm, mu: verbs.variance(arm.family, mu) * arm.cost)
verbs.variance_slope.register(PricedArm)(
    lambda arm, mu: verbs.variance_slope(arm.family, mu) * arm.cost
)
verbs.natural.register(PricedArm)(lambda arm, mu: verbs.natural(arm.family, mu) / arm.cost)
verbs.convex.register(PricedArm)(lambda arm: verbs.convex(arm.family))
verbs.tilt.register(PricedArm)(lambda arm, mu, slope: verbs.tilt(arm.family, mu, slope * arm.cost))
verbs.upper.register(PricedArm)(
    lambda arm, mu, level: verbs.upper(arm.family, mu, level * arm.cost)
)
verbs.lower.register(PricedArm)(
    lambda arm, mu, level: verbs.lower(arm.family, mu, level * arm.cost)
)


class PricedLogarithmicArm(PricedArm, Logarithmic, listed=False):
    """One with an unknown variance: the price does not scale it."""

    __slots__ = ()


@verbs.of_arm.register(PricedLogarithmic)
def _of_logarithmic_arm(family: PricedLogarithmic, arm: int) -> PricedLogarithmicArm:
    return PricedLogarithmicArm(verbs.of_arm(family.family, arm), family.costs[arm])


verbs.price.register(PricedLogarithmicArm)(lambda arm: arm.cost)
verbs.variance.register(PricedLogarithmicArm)(lambda arm, mu: verbs.variance(arm.family, mu))
verbs.divergence_slope.register(PricedLogarithmicArm)(
    lambda arm, mu, lam: verbs.divergence_slope(arm.family, mu, lam) / arm.cost
)
verbs.divergence_curvature.register(PricedLogarithmicArm)(
    lambda arm, mu, lam: verbs.divergence_curvature(arm.family, mu, lam) / arm.cost
)
