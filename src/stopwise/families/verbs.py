"""What a family of reward distributions knows: the verbs, and what follows from them.

A one-parameter exponential family on an open interval of means is determined by its variance function V:
d(mu, lambda) = integral from mu to lambda of (x - mu)/V(x) dx. Adding one is one file that registers
``interval``, ``divergence``, ``variance``, ``variance_slope``, ``natural`` and ``draw`` (and ``tilt``
if V is concave). Arms may differ: ``of_arm`` gives the family of one arm, which other verbs are about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stopwise.core.arrays import Ints, Rng
from stopwise.core.errors import MissingVerb, NotDefined
from stopwise.core.values import Family
from stopwise.core.verbs import jitable, registered, verb
from stopwise.families.martingales import general_cost


class Quadratic(Family, listed=False):
    """Families with d(mu, lambda) = (mu - lambda)^2/(2 variance), the variance of each arm its own."""

    __slots__ = ()


class OneVariance(Quadratic, listed=False):
    """Those with one variance for all arms."""

    __slots__ = ()


class Logarithmic(Family, listed=False):
    """Those with d(mu, lambda) = (1/2) log(1 + (mu - lambda)^2/variance): not convex."""

    __slots__ = ()


@verb(inline=True)
def of_arm(family: Any, arm: int) -> Any:
    """The family of one arm: by default the same for all."""
    return family


@verb(inline=True)
def price(family: Any) -> float:
    """By what the divergence of an arm of a ``Logarithmic`` family is divided: see priced.py."""
    return 1.0


@verb
def arms_alike(family: Any) -> bool:
    """Whether all arms have the same parameters."""
    return True


@verb
def of_group(family: Any, arms: Ints) -> Any:
    """The family of some of the arms."""
    return family


@verb
def check_arms(family: Any, arms: int) -> None:
    """Refuse a family that is about another number of arms."""


@verb
def interval(family: Any) -> tuple[float, float]:
    """The open interval of means, as (low, high)."""
    raise MissingVerb("interval", family)


@verb
def space(family: Any) -> tuple[float, float]:
    """The means that an arm can have: its interval, unless a divergence is not the family's own."""
    return interval(family)


@verb
def add_at_end(family: Any, arm: int, count: float, high: bool) -> float:
    """Count more samples of an arm at an end of the space, where a family keeps more than their mean.

    Returns what it takes to undo that exactly: ``restore_end``.
    """
    return 0.0


@verb
def restore_end(family: Any, arm: int, high: bool, before: float) -> None:
    """Undo ``add_at_end``, which returned ``before``."""


@verb(inline=True)
def divergence(family: Any, mu: float, lam: float) -> float:
    """d(mu, lambda); mu may lie on the boundary, as empirical means do (all-zero data)."""
    raise MissingVerb("divergence", family)


@verb(inline=True)
def least_divergence(family: Any, mu: float, lam: float) -> float:
    """A lower bound on d(mu, lambda) that takes no time: most comparisons need no more. By default 0."""
    return 0.0


@verb(inline=True)
def variance(family: Any, mu: float) -> float:
    """V(mu), the variance of the distribution with mean mu."""
    raise MissingVerb("variance", family)


@verb(inline=True)
def variance_slope(family: Any, mu: float) -> float:
    """V'(mu)."""
    raise MissingVerb("variance_slope", family)


@verb
def natural(family: Any, mu: float) -> float:
    """The natural parameter of the distribution with mean mu: a primitive of 1/V."""
    raise MissingVerb("natural", family)


@verb(inline=True)
def draw(family: Any, mean: float, rng: Rng) -> float:
    """One sample with this mean, the same number in compiled code and in plain Python."""
    raise MissingVerb("draw", family)


@verb
def record(family: Any, arms: int) -> Any:
    """What the family keeps of the samples besides counts and means: a NamedTuple of arrays, or one."""
    return np.zeros(0)


@verb(inline=True)
def note(family: Any, record: Any, arm: int, sample: float) -> None:
    """Enter one sample into the record."""


@verb(inline=True)
def seen(family: Any, record: Any) -> Any:
    """The family as the record shows it: problems, strategies and rules are asked with this."""
    return family


@verb(inline=True)
def first_samples(family: Any) -> int:
    """How many samples every arm gets before anything is weighed, or aimed at."""
    return 1


@verb
def caution(family: Any, labels: Sequence[str]) -> str:
    """What to say about the samples so far, given the family as they show it and the arms' labels."""
    return ""


@verb
def check_truth(family: Any) -> None:
    """Refuse a simulation in which only the arms' means are known, if samples need more than these."""


@verb(inline=True)
def regroup(own: Any, family: Any, arms: Ints) -> None:
    """Bring ``own``, what ``of_group`` made for these arms, up to date with what the family has seen."""


@verb
def supports(family: Any, value: float) -> bool:
    """Whether a single observation may have this value."""
    return math.isfinite(value)


@verb
def unsupported(family: Any) -> str:
    """What to do about an observation that the family does not have."""
    return ""


@verb
def convex(family: Any) -> bool:
    """Whether lambda -> d(mu, lambda) is convex for every mu; true when V is concave.

    V(lambda)^2 times its second derivative is V's tangent at lambda, taken at mu: above V(mu) > 0.
    """
    return False


@verb
def tilt(family: Any, mu: float, slope: float) -> float:
    """The lambda at which lambda -> d(mu, lambda) has this slope; convex families only."""
    if not math.isnan(slope):
        raise MissingVerb("tilt", family)
    return slope  # a number: compiled code with a way here that is never taken needs its type


@verb
def upper(family: Any, mu: float, level: float) -> float:
    """The largest lambda >= mu with d(mu, lambda) <= level."""
    return inverse(family, mu, level, 1.0)


@verb
def lower(family: Any, mu: float, level: float) -> float:
    """The smallest lambda <= mu with d(mu, lambda) <= level."""
    return inverse(family, mu, level, -1.0)


@verb
def likelihood(family: Any) -> Any:
    """The family with likelihood ratios whose guarantees hold for this one: mostly itself."""
    return family


@verb
def usual_stopping(family: Any) -> str:
    """The name of the stopping rule that suits the family best, unless somebody chooses."""
    known = registered(bet, type(family)) or registered(regret, type(family))
    return "wealth" if known else "mixture-martingale"


@verb
def bound_remark(family: Any) -> str:
    """What to say about lower bounds for this family."""
    return ""


@verb
def regret(family: Any, count: float, mean: float, center: float, spread: float) -> float:
    """log p_{mu-hat}(data)/m(data) for ``count`` samples with this mean: see mixtures.py."""
    raise NotDefined(
        f"Mixture with {family!r}: no conjugate mixture is built in for this family. "
        "Use MixtureMartingale(), or register stopwise.families.verbs.regret for it."
    )


@verb
def wide_regret(family: Any, count: float, mean: float) -> float:
    """The same for a prior without a place and a scale."""
    return regret(family, count, mean, 0.0, 1.0)


@verb
def gaps(family: Any) -> tuple[float, float, int]:
    """The largest gap of a bet, the ratio between neighbours, and how many there are; 0: no bets."""
    return 0.0, 1.0, 0


@verb
def bet(
    family: Any, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    """log w(c; gap), made from 1 by betting that the mean is above (+1) or below c; and its slope in c.

    A martingale where c is the true mean; falling in c for +1, rising for -1: docs/thresholds.md.
    """
    return math.nan, math.nan


@verb
def likeness(family: Any) -> float:
    """By what the weight of a pair of bets falls for each step between their gaps."""
    return 0.6


@verb
def screens(family: Any) -> bool:
    """Whether D(N, mu-hat, .) is at least the evidence that bets give."""
    return True


@verb
def factor(family: Any, side: float, sample: float, c: float, gap: float) -> float:
    """The logarithm of what one sample multiplies a bet by: where D does not screen."""
    return math.nan


@verb
def ceiling(family: Any, side: float, count: float, mean: float, c: float) -> float:
    """The most that any bet can have made, as a logarithm: where D does not screen."""
    return math.inf


@verb
def martingale_growth(family: Any, count: float) -> float:
    """What Kaufmann & Koolen (2021), Theorem 7, ask of an arm for its number of samples."""
    return 3.0 * math.log(1.0 + math.log(count))


@verb
def martingale_cost(family: Any, x: float) -> float:
    """T(x) of the same theorem, for one-parameter exponential families."""
    return general_cost(x)


@verb(inline=True)
def additive(family: Any) -> bool:
    """Whether a sample x adds d(x, .) and a number to N d(mu-hat, .): exponential families."""
    return True


@verb
def one_parameter(family: Any) -> None:
    """Refuse what is no one-parameter exponential family."""


@verb
def divergence_slope(family: Any, mu: float, lam: float) -> float:
    """The derivative of lambda -> d(mu, lambda): (lambda - mu)/V(lambda)."""
    if lam == mu:
        return 0.0
    spread = variance(family, lam)
    if spread <= 0.0:
        return math.inf if lam > mu else -math.inf
    return (lam - mu) / spread


@verb
def divergence_curvature(family: Any, mu: float, lam: float) -> float:
    """The second derivative of lambda -> d(mu, lambda)."""
    if math.isinf(lam):
        return 0.0
    spread = variance(family, lam)
    if spread <= 0.0:
        return math.inf
    return (spread - (lam - mu) * variance_slope(family, lam)) / (spread * spread)


@jitable
def inverse(family: Any, mu: float, level: float, side: float) -> float:
    """The point beyond mu, on one side, where d(mu, .) reaches the level: safeguarded Newton."""
    low, high = interval(family)
    far = high if side > 0 else low
    mu, level = float(mu), float(level)  # plain numbers grow to infinity without a warning
    if level <= 0.0 or mu == far:
        return mu
    if level == math.inf:
        return far
    near = mu
    step = math.sqrt(2.0 * level * variance(family, mu))
    x = mu + side * (step if step > 0.0 else level)
    if (x - far) * side >= 0.0:
        x = 0.5 * (near + far)
    for _ in range(400):
        excess = divergence(family, mu, x) - level
        if excess == 0.0:
            return x
        near, far = (near, x) if excess > 0.0 else (x, far)
        slope = divergence_slope(family, mu, x)
        steep = slope != 0.0 and math.isfinite(slope)
        y = x - excess / slope if steep and math.isfinite(excess) else far
        if y == x:  # an end of the bracket by now, and the root but for rounding
            return x
        if not min(near, far) < y < max(near, far):
            y = 0.5 * (near + far) if math.isfinite(far) else mu + 2.0 * (x - mu)
        if abs(y - x) <= 1e-16 * abs(y) or not math.isfinite(y):
            return y
        x = y
    return x
