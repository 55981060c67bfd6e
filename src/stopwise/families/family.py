"""Families of reward distributions: the base class is the whole interface, with its defaults.

A one-parameter exponential family on an open interval of means is determined by its variance function V:
d(mu, lambda) = integral from mu to lambda of (x - mu)/V(x) dx. A new one is a class with the methods
``interval``, ``divergence``, ``variance_at``, ``variance_slope``, ``natural`` and ``draw`` (and ``tilt``
if V is concave). Arms may differ: then ``of_arm`` gives the family of one arm, and the law's methods are
asked of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.core.checks import entries, vector
from stopwise.core.errors import BadArgument, MissingMethod, NotDefined
from stopwise.core.functions import inline, jitable
from stopwise.core.roots import Equation, bracketed_newton
from stopwise.core.values import Role, check_role, overrides
from stopwise.families.bets import NORMAL_GAPS, Sloped, half_normal
from stopwise.families.laws import Law, NormalLaw
from stopwise.families.mixtures import (
    SPREADS,
    add_mixture,
    gaussian_cost,
    general_cost,
    mean_regret,
)
from stopwise.families.spacings import Spacing, Tails


class Family(Role, listed=False):
    """A family of reward distributions: how a sample of an arm with a given mean is distributed."""

    role = "family"
    example = "Bernoulli()"
    required = ("interval", "divergence or of_arm", "variance_at or of_arm")

    # ------------------------------------------------------------------------------- the law

    def interval(self) -> tuple[float, float]:
        """The open interval of means, as (low, high)."""
        raise MissingMethod("interval", self)

    @inline
    def divergence(self, mu: float, lam: float) -> float:
        """d(mu, lambda); mu may lie on the boundary, as empirical means do (all-zero data)."""
        raise MissingMethod("divergence", self)

    @inline
    def variance_at(self, mu: float) -> float:
        """V(mu), the variance of the distribution with mean mu."""
        raise MissingMethod("variance_at", self)

    @inline
    def variance_slope(self, mu: float) -> float:
        """V'(mu)."""
        raise MissingMethod("variance_slope", self)

    def natural(self, mu: float) -> float:
        """The natural parameter of the distribution with mean mu: a primitive of 1/V."""
        raise MissingMethod("natural", self)

    @inline
    def draw(self, mean: float, rng: Rng) -> float:
        """One sample with this mean, the same number in compiled code and in plain Python."""
        raise MissingMethod("draw", self)

    def supports(self, value: float) -> bool:
        """Whether a single observation may have this value."""
        return math.isfinite(value)

    def convex(self) -> bool:
        """Whether lambda -> d(mu, lambda) is convex for every mu; true when V is concave.

        V(lambda)^2 times its second derivative is V's tangent at lambda, taken at mu: above V(mu) > 0.
        """
        return False

    def tilt(self, mu: float, slope: float) -> float:
        """The lambda at which lambda -> d(mu, lambda) has this slope; convex families only."""
        if not math.isnan(slope):
            raise MissingMethod("tilt", self)
        return slope  # a number: compiled code with a way here that is never taken needs its type

    @inline
    def least_divergence(self, mu: float, lam: float) -> float:
        """A lower bound on d(mu, lambda) that takes no time: most comparisons need no more. By default 0."""
        return 0.0

    def divergence_slope(self, mu: float, lam: float) -> float:
        """The derivative of lambda -> d(mu, lambda): (lambda - mu)/V(lambda)."""
        if lam == mu:
            return 0.0
        spread = self.variance_at(lam)
        if spread <= 0.0:
            return math.inf if lam > mu else -math.inf
        return (lam - mu) / spread

    def divergence_curvature(self, mu: float, lam: float) -> float:
        """The second derivative of lambda -> d(mu, lambda)."""
        if math.isinf(lam):
            return 0.0
        spread = self.variance_at(lam)
        if spread <= 0.0:
            return math.inf
        return (spread - (lam - mu) * self.variance_slope(lam)) / (spread * spread)

    def upper(self, mu: float, level: float) -> float:
        """The largest lambda >= mu with d(mu, lambda) <= level."""
        return inverse(self, mu, level, 1.0)

    def lower(self, mu: float, level: float) -> float:
        """The smallest lambda <= mu with d(mu, lambda) <= level."""
        return inverse(self, mu, level, -1.0)

    @inline
    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """A mean drawn from the posterior after ``count`` samples with this mean.

        By default the signed root of the likelihood ratio, z with z^2/2 = N d(mean, x) and the sign of
        x - mean, is drawn from the normal law: exact for Gaussian arms, to first order for all others.
        """
        z = rng.standard_normal()
        level = 0.5 * z * z / count
        return self.upper(mean, level) if z > 0.0 else self.lower(mean, level)

    @inline
    def additive(self) -> bool:
        """Whether a sample x adds d(x, .) and a number to N d(mu-hat, .): exponential families."""
        return True

    def one_parameter(self) -> None:
        """Refuse a family that is no one-parameter exponential family: some thresholds need one."""

    @inline
    def absorbed(self, count: float, before: float, mean: float, sample: float) -> float:
        """N d(m, m') + d(x, m'): what N samples of mean m and one more, x, no longer cost with mean m'."""
        old = count * self.divergence(before, mean) if count > 0.0 and before != mean else 0.0
        return old + (self.divergence(sample, mean) if sample != mean else 0.0)

    @inline
    def least_surprise(self, sample: float, mean: float, level: float) -> float:
        """A lower bound on d(x, mu') over the mu' with d(m, mu') <= level."""
        return 0.0

    # --------------------------------------------------------------------- arms that differ

    @inline
    def of_arm(self, arm: int) -> Family:
        """The family of one arm: by default the same for all."""
        return self

    def arms_alike(self) -> bool:
        """Whether all arms have the same parameters."""
        return True

    def of_arms(self, arms: Ints) -> Family:
        """The family of some of the arms."""
        return self

    @inline
    def update_of_arms(self, family: Self, arms: Ints) -> None:
        """Copy what ``family`` has estimated since for these arms; this value is ``family.of_arms(arms)``."""

    def check_arms(self, arms: int) -> None:
        """Refuse a family that is about another number of arms."""

    @inline
    def sample_cost(self) -> float:
        """By what the divergence of an arm of a ``Logarithmic`` family is divided: see priced.py."""
        return 1.0

    # ---------------------------------------------------------------- what is kept of samples

    def init_stats(self, arms: int) -> Any:
        """What the family keeps of the samples besides counts and means: a NamedTuple of arrays, or one."""
        return np.zeros(0)

    @inline
    def update_stats(self, stats: Any, arm: int, sample: float) -> None:
        """Add one sample to the statistics."""

    @inline
    def estimated(self, stats: Any) -> Family:
        """The family with its parameters as estimated: problems, strategies and rules are asked with this."""
        return self

    def with_deviations(self, deviations: Floats) -> Family:
        """The family of somebody who knows the arms' standard deviations: for oracles at the truth."""
        return self

    @inline
    def first_samples(self) -> int:
        """How many samples every arm gets before there is any evidence or target."""
        return 1

    def mean_space(self) -> tuple[float, float]:
        """The means that an arm can have: its interval, unless a divergence is not the family's own."""
        return self.interval()

    def add_at_end(self, arm: int, count: float, high: bool) -> float:
        """Count more samples of an arm at an end of the space, where a family keeps more than their mean.

        Returns what ``restore_end`` needs to undo that exactly.
        """
        return 0.0

    def restore_end(self, arm: int, high: bool, before: float) -> None:
        """Undo ``add_at_end``, which returned ``before``."""

    def spacing_tails(self, spacing: Spacing) -> Tails:
        """The tails of the spacing given the total; 0 and 1 where it says nothing about the family."""
        return Tails(0.0, 1.0)

    def total_tails(self, spacing: Spacing) -> Tails:
        """The tails of the total given earlier totals: where a single sample may be surprisingly large."""
        return Tails(0.0, 1.0)

    # ------------------------------------------------------------------------------------ bets

    def bet_sizes(self) -> tuple[float, float, int]:
        """The largest gap of a bet, the ratio between neighbours, and how many there are; 0: no bets."""
        return 0.0, 1.0, 0

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        """log w(c; gap), made from 1 by betting that the mean is above (+1) or below c; and its slope in c.

        A martingale where c is the true mean; falling in c for +1, rising for -1: docs/thresholds.md.
        """
        return math.nan, math.nan

    def pair_decay(self) -> float:
        """By what the weight of a pair of bets falls for each step between their gaps."""
        return 0.6

    def glr_dominates(self) -> bool:
        """Whether D(N, mu-hat, .) is at least the evidence that bets give."""
        return True

    def log_bet_factor(self, side: float, sample: float, c: float, gap: float) -> float:
        """The logarithm of what one sample multiplies a bet by: where the GLR does not dominate."""
        return math.nan

    def log_wealth_bound(self, side: float, count: float, mean: float, c: float) -> float:
        """The most that any bet can have made, as a logarithm: where the GLR does not dominate."""
        return math.inf

    # -------------------------------------------------------------- mixtures and thresholds

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        """log p_{mu-hat}(data)/m(data) for ``count`` samples with this mean: see mixtures.py."""
        raise NotDefined(
            f"Mixture with {self!r}: no conjugate mixture is built in for this family. "
            "Use MixtureMartingale(), or give the family a method ``regret``."
        )

    def wide_regret(self, count: float, mean: float) -> float:
        """The same for a prior without a place and a scale."""
        return self.regret(count, mean, 0.0, 1.0)

    def martingale_growth(self, count: float) -> float:
        """What Kaufmann & Koolen (2021), Theorem 7, ask of an arm for its number of samples."""
        return 3.0 * math.log(1.0 + math.log(count))

    def martingale_cost(self, x: float) -> float:
        """T(x) of the same theorem, for one-parameter exponential families."""
        return general_cost(x)

    def likelihood_family(self) -> Family:
        """The family with likelihood ratios whose guarantees hold for this one: mostly itself."""
        return self

    def default_stopping_name(self) -> str:
        """The name of the stopping rule that suits the family best, unless somebody chooses."""
        known = overrides(self, "bet") or overrides(self, "regret")
        return "wealth" if known else "mixture-martingale"

    # ----------------------------------------------------------------- simulations and words

    def check_truth(self) -> None:
        """Refuse a simulation in which only the arms' means are known, if samples need more than these."""

    def law_of(self, mean: float, deviation: float) -> Law:
        """The law with this mean and standard deviation that simulations of the family draw from."""
        raise BadArgument(
            "deviations",
            deviation,
            f"nothing with {self!r}, whose mean decides its standard deviation",
            "For samples of another law give the law itself in place of the mean.",
        )

    def unsupported(self) -> str:
        """What to do about an observation that the family does not have."""
        return ""

    def warning(self, labels: Sequence[str]) -> str:
        """A warning about the samples so far, from the estimated family; ``labels`` name the arms."""
        return ""

    def misfit_words(self, wide: bool) -> str:
        """What samples do whose spacings contradict the family: too many are wide, or too many narrow."""
        if wide:
            found = f"lie further apart than {self!r} allows"
            return f"{found}, so the answer may be wrong more often than delta"
        found = f"lie closer together than {self!r} allows"
        return f"{found}: they spread less than assumed, or each depends on the one before"

    def bound_remark(self) -> str:
        """What to say about lower bounds for this family."""
        return ""


class WithScale(Family, listed=False):
    """Families of positive means whose mixture has a scale, ``spread``, which nobody needs to know."""

    def interval(self) -> tuple[float, float]:
        return (0.0, math.inf)

    def wide_regret(self, count: float, mean: float) -> float:
        """Against the mean of the priors with spreads 8^-8 to 8^8, which is a prior again."""
        least, made = math.inf, 0.0
        for j in range(-SPREADS, SPREADS + 1):
            least, made = add_mixture(least, made, self.regret(count, mean, 0.0, 8.0**j))
        return mean_regret(least, made)


class OnLine(Family, listed=False):
    """Families of normal arms: their means are any numbers."""

    def interval(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    def bet_sizes(self) -> tuple[float, float, int]:
        return NORMAL_GAPS


class Quadratic(OnLine, listed=False):
    """Those with d(mu, lambda) = (mu - lambda)^2/(2 variance), the variance of each arm its own."""

    def least_divergence(self, mu: float, lam: float) -> float:
        return 0.5 * (mu - lam) * (mu - lam) / self.variance_at(mu)

    def convex(self) -> bool:
        return True

    def law_of(self, mean: float, deviation: float) -> Law:
        return NormalLaw(mean, deviation)

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        """A half-normal prior on the far side of c, its standard deviation ``gap`` times the arm's."""
        wider = 1.0 + count * gap * gap  # 1 + N/kappa
        scale = side * count * gap / math.sqrt(self.variance_at(c) * wider)
        value, slope = half_normal(scale * (mean - c))
        return value - 0.5 * math.log(wider), -scale * slope

    def martingale_growth(self, count: float) -> float:
        """The sharper form of Kaufmann & Koolen (2021), Corollary 10."""
        return 2.0 * math.log(4.0 + math.log(count))

    def martingale_cost(self, x: float) -> float:
        return gaussian_cost(x)


class OneVariance(Quadratic, listed=False):
    """Those with one variance for all arms."""


class Logarithmic(OnLine, listed=False):
    """Those with d(mu, lambda) = (1/2) log(1 + (mu - lambda)^2/variance): not convex."""

    def arms_alike(self) -> bool:
        return False

    def default_stopping_name(self) -> str:
        return "wealth"

    def additive(self) -> bool:
        return False

    def one_parameter(self) -> None:
        raise _no_such_threshold()

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        raise _no_such_threshold()

    def martingale_growth(self, count: float) -> float:
        raise _no_such_threshold()

    def martingale_cost(self, x: float) -> float:
        raise _no_such_threshold()


def _no_such_threshold() -> NotDefined:
    return NotDefined(
        "Gaussian(variance=None) is no one-parameter exponential family, for which this threshold is "
        "proven. Use Wealth(), or Stylized() for experiments."
    )


class _Reaches(Equation):
    """d(mu, x) = level, on one side of mu; times the side, so that it rises."""

    family: Family
    mu: float
    level: float
    side: float

    def at(self, x: float) -> tuple[float, float]:
        excess = self.family.divergence(self.mu, x) - self.level
        slope = self.family.divergence_slope(self.mu, x)
        if excess > 0.0 and not (0.0 < abs(slope) < math.inf and excess < math.inf):
            return 0.0, 1.0  # beyond the range of floats no x is better
        return self.side * excess, self.side * slope

    def beyond(self, x: float) -> float:
        return self.mu + 2.0 * (x - self.mu)


@jitable
def inverse(family: Family, mu: float, level: float, side: float) -> float:
    """The point beyond mu, on one side, where d(mu, .) reaches the level."""
    low, high = family.interval()
    far = high if side > 0 else low
    mu, level = float(mu), float(level)  # plain numbers grow to infinity without a warning
    if level <= 0.0 or mu == far:
        return mu
    if level == math.inf:
        return far
    step = math.sqrt(2.0 * level * family.variance_at(mu))
    x = mu + side * (step if step > 0.0 else level)
    if (x - far) * side >= 0.0:
        x = 0.5 * (mu + far)
    return bracketed_newton(_Reaches(family, mu, level, side), x, min(mu, far), max(mu, far))


def check_means(given: ArrayLike, size: int, family: Family, closed: bool = False) -> Floats:
    """Means inside the family's interval; ``closed`` also lets in its ends, as data can give."""
    check_role("family", family, Family)
    family.check_arms(size)
    array = vector("means", given, size)
    low, high = family.interval()
    if closed:
        inside, ends = (low <= array) & (array <= high), f"[{low:g}, {high:g}]"
    else:
        inside, ends = (low < array) & (array < high), f"({low:g}, {high:g})"
    return entries("means", array, inside, f"means of {family!r} lie in {ends}")
