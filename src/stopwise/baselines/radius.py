"""Confidence bounds of single arms: how far a mean may lie from the sample mean.

A radius says for which means q an arm's samples have too much against q: all those with
scale * d(mu-hat, q) - growth > base. ``sized`` gives scale and growth, which depend on the data;
``base`` is the part that depends on delta and the number of arms. docs/bounds.md derives each of them,
and proves for "mixture" and "hoeffding" that all K intervals hold at all times with probability
1 - delta.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from stopwise.cells.gap import pair_cost
from stopwise.cells.least_squares import dot, inverted, log_determinant, mixed_prior
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.functions import allocates, inline, variant, variants
from stopwise.core.options import Option
from stopwise.core.values import Role, Value
from stopwise.families.family import Family, OneVariance, Quadratic
from stopwise.problems.problem import Problem
from stopwise.sampling.strategy import Direct
from stopwise.stopping.rule import StoppingRule
from stopwise.stopping.wealth_state import has_mixture

# by what the base grows when a strategy's own bounds have nothing left to ask: as if for delta/10
LEVEL_STEP = math.log(10.0)

RADIUS = Option(
    {"enum": ["stylized", "mixture"]},
    "mixture: proven; stylized: the literature's, for experiments, not proven",
)

Size = tuple[float, float]  # scale and growth of an interval


class Ends(NamedTuple):
    """Which ends of confidence intervals: above (+1) or below (-1) the means, for which base, and when."""

    side: float
    base: float
    rounds: float


class Ellipsoid(NamedTuple):
    """All theta with (y . (theta-hat - theta))^2 <= 2 (base + growth) y^T spread y for every y."""

    spread: Floats
    growth: float


class Radius(Value):
    """How far a mean may lie from the sample mean."""

    name: ClassVar[str]  # by which files know it
    is_proven: ClassVar[bool] = True  # all intervals hold at all times with probability 1 - delta

    def identity(self) -> tuple[str, tuple[()]]:
        return self.name.capitalize(), ()

    def pair_against(self, family: Family, data: Data, arm: int, other: int, t: float) -> float:
        """What two arms' samples together have against level means, if the first one's is larger."""
        lost = 0.0
        for k in (arm, other):
            lost += self.sized(family.of_arm(k), data.counts[k], data.means[k], t)[1]
        return pair_cost(family, data, arm, other, 0.0) - lost

    def base(self, arms: int, delta: float) -> float:
        """What the data may have against an arm's true mean, but for what they decide themselves."""
        return math.log(arms / delta)

    def timeless(self) -> bool:
        """Whether an arm's bounds change only with its own samples."""
        return True

    @inline
    def sized(self, family: Family, count: float, mean: float, rounds: float) -> Size:
        """Scale and growth of the interval of an arm of this family."""
        return count, math.log(1.0 + math.log(rounds))

    @inline
    def ruler(self, family: Family, arm: int) -> Family:
        """The family by whose divergence an arm's interval is measured."""
        return family.of_arm(arm)

    @allocates
    def ellipsoid(self, features: Floats, family: Family, shape: Floats, t: float) -> Ellipsoid:
        """The confidence in a fit with information V; not proven, as for single arms."""
        return Ellipsoid(inverted(shape), math.log(1.0 + math.log(t)))

    @inline
    def bound(self, family: Family, data: Data, arm: int, ends: Ends) -> float:
        """The end of an arm's interval, above (side +1) or below (-1) its mean."""
        own, mean = self.ruler(family, arm), data.means[arm]
        scale, growth = self.sized(own, data.counts[arm], mean, ends.rounds)
        level = (ends.base + growth) / scale
        return own.upper(mean, level) if ends.side > 0.0 else own.lower(mean, level)

    @inline
    def against(self, family: Family, data: Data, arm: int, q: float, rounds: float) -> float:
        """What the samples have against q as the arm's mean: the base at which its interval ends there."""
        own, mean = self.ruler(family, arm), data.means[arm]
        scale, growth = self.sized(own, data.counts[arm], mean, rounds)
        return float(scale * own.divergence(mean, q) - growth)

    @inline
    def refutes(self, family: Family, data: Data, arm: int, q: float, ends: Ends) -> bool:
        """Whether the samples have at least the base against q: mostly seen without the divergence.

        Samples that are s^2-sub-Gaussian at every mean have d(mu, q) >= (mu - q)^2/(2 s^2).
        """
        own, mean = self.ruler(family, arm), data.means[arm]
        scale, growth = self.sized(own, data.counts[arm], mean, ends.rounds)
        far = max(0.5 * (mean - q) * (mean - q) / proxy(own), own.least_divergence(mean, q))
        if scale * far - growth >= ends.base * (1.0 + 1e-9):
            return True
        return bool(scale * own.divergence(mean, q) - growth >= ends.base)

    def best_bound(
        self, family: Family, data: Data, ends: Ends, but: int, guess: int, which: float
    ) -> tuple[int, float]:
        """The arm, other than ``but``, with the furthest bound towards this side, and the bound.

        Of each arm the near end (``which`` +1) or the far one (-1) is compared. Another arm's is further
        than ``end`` if it has less (far ends: more) than the base against ``end``: one divergence
        instead of an inversion. The guess is looked at first; of equals the first is taken.
        """
        found, end, side = -1, 0.0, ends.side
        compared = Ends(which * side, ends.base, ends.rounds)
        for turn in range(-1, data.means.size):
            arm = guess if turn < 0 else turn
            if arm == but or arm == found or arm < 0:
                continue
            if found >= 0:
                if data.counts[arm] == data.counts[found] and data.means[arm] == data.means[found]:
                    found = min(arm, found)
                    continue
                ahead = side * (data.means[arm] - end) > 0.0
                if ahead == (which < 0.0):  # else it is clear already
                    ahead = self.refutes(family, data, arm, end, ends) == (which < 0.0)
                if not ahead:
                    continue
            found, end = arm, self.bound(family, data, arm, compared)
        return found, end

    def apart(
        self, family: Family, data: Data, arm: int, other: int, margin: float, ends: Ends
    ) -> float:
        """The largest base at which ``arm``'s lower bound is above ``other``'s upper one less the margin.

        For side -1 upper and lower change places. The two crossed functions are monotone between the
        means. The base of ``ends`` is not used.
        """
        side, t = ends.side, ends.rounds
        near, far = data.means[arm], data.means[other] - side * margin
        if side * (near - far) <= 0.0:
            return -math.inf
        x = 0.5 * (near + far)
        while min(near, far) < x < max(near, far):
            mine = self.against(family, data, arm, x, t)
            if mine > self.against(family, data, other, x + side * margin, t):
                far = x
            else:
                near = x
            x = 0.5 * (near + far)
        return min(
            self.against(family, data, arm, x, t),
            self.against(family, data, other, x + side * margin, t),
        )


class StylizedRadius(Radius):
    """N d <= log((1 + log t)/delta): what experiments use (Garivier & Kaufmann 2016). Not proven."""

    name = "stylized"
    is_proven = False

    def pair_against(self, family: Family, data: Data, arm: int, other: int, t: float) -> float:
        return pair_cost(family, data, arm, other, 0.0) - math.log(1.0 + math.log(t))

    def base(self, arms: int, delta: float) -> float:
        return -math.log(delta)

    def timeless(self) -> bool:
        return False


class MixtureRadius(Radius):
    """N d <= log(K/delta) + what a mixture of likelihoods loses against the best fit. Proven."""

    name = "mixture"

    pair_against = variants(Radius.pair_against)

    @variant(pair_against, Quadratic)
    def pair_quadratic(self, family: Family, data: Data, arm: int, other: int, t: float) -> float:
        """The pair's cost at the scales in place of the counts."""
        gap, noise, lost = data.means[arm] - data.means[other], 0.0, 0.0
        for k in (arm, other):
            own = family.of_arm(k)
            scale, growth = self.sized(own, data.counts[k], data.means[k], t)
            noise += own.variance_at(data.means[k]) / scale
            lost += growth
        return 0.5 * gap * gap / noise - lost

    @variants
    def sized(self, family: Family, count: float, mean: float, rounds: float) -> Size:
        """log m(data)/p_q(data) = N d(mu-hat, q) - r, see families/mixtures.py."""
        return count, family.wide_regret(count, mean)

    @variant(sized, Quadratic)
    def sized_quadratic(self, family: Family, count: float, mean: float, rounds: float) -> Size:
        """The normal prior of one sample's weight about q itself: no place and no scale to set."""
        return count * count / (count + 1.0), 0.5 * math.log1p(count)

    def ellipsoid(self, features: Floats, family: Family, shape: Floats, t: float) -> Ellipsoid:
        """V^-1 + V^-1 P V^-1 and (1/2) log det(1 + V P^-1): docs/linear.md, (1)."""
        prior, spread = mixed_prior(features, family, 1.0), inverted(shape)
        wider, size = spread.copy(), len(shape)
        for r in range(size):
            across = np.zeros(size)  # a row of V^-1 P
            for k in range(size):
                across[k] = dot(spread[r], prior[k])
            for c in range(size):
                wider[r, c] += dot(across, spread[c])
        lost = log_determinant(shape + prior) - log_determinant(prior)
        return Ellipsoid(wider, 0.5 * lost)


class HoeffdingRadius(Radius):
    """N (mu-hat - q)^2/(2 s^2) <= log(4 K N^2/delta) for s^2-sub-Gaussian samples. Proven."""

    name = "hoeffding"

    def base(self, arms: int, delta: float) -> float:
        return math.log(4.0 * arms / delta)

    def sized(self, family: Family, count: float, mean: float, rounds: float) -> Size:
        """Each N spends a share of delta that is proportional to 1/N^2."""
        return count, 2.0 * math.log(count)

    def ruler(self, family: Family, arm: int) -> Family:
        return SubGaussian(proxy(family.of_arm(arm)))


RADII: dict[str, type[Radius]] = {
    each.name: each for each in (StylizedRadius, MixtureRadius, HoeffdingRadius)
}


def radius_named(given: Radius | str, allowed: tuple[str, ...] = ("stylized", "mixture")) -> Radius:
    """The radius of this name, or the one that is given."""
    if isinstance(given, str) and given in allowed:
        return RADII[given]()
    if isinstance(given, Radius) and given.name in allowed:
        return given
    *first, last = map('"{}"'.format, allowed)
    raise BadArgument("radius", given, f"{', '.join(first)} or {last}")


class SubGaussian(OneVariance, listed=False):
    """Samples whose deviations from their mean are at most as large as normal ones of this variance."""

    spread: float

    def divergence(self, mu: float, lam: float) -> float:
        return 0.5 * (mu - lam) * (mu - lam) / self.spread

    def variance_at(self, mu: float) -> float:
        return self.spread


@variants(inline=True)
def proxy(family: Family) -> float:
    """The variance s^2 for which samples are s^2-sub-Gaussian; infinite if nothing is known.

    Samples in an interval: a quarter of its squared width (Hoeffding's lemma).
    """
    low, high = family.interval()
    return 0.25 * (high - low) * (high - low)


variant(proxy, Quadratic)(lambda family: family.variance_at(0.0))


def check_proxy(who: Role, family: Family) -> None:
    """Refuse families whose samples are not known to be sub-Gaussian."""
    if not math.isfinite(proxy(family.of_arm(0))):
        raise NotDefined(
            f"{type(who).__name__} with {family!r}: its bounds are for sub-Gaussian samples. Allowed: "
            "Gaussian with known variances, Bernoulli, Binomial, Bounded, BoundedCoin; or a strategy "
            "with the family's own bounds, such as KLLUCB()."
        )


def check_radius(who: Role, radius: Radius, family: Family) -> None:
    """Refuse a radius that is not known for the family."""
    if isinstance(radius, HoeffdingRadius):
        check_proxy(who, family)
    if isinstance(radius, MixtureRadius) and not has_mixture(family):
        raise NotDefined(
            f"{type(who).__name__} with {family!r}: no mixture is known for this family, so its "
            'proven radius is not either. Use radius="stylized", which is not proven.'
        )


class ByRadius(Role, listed=False):
    """Strategies and stopping rules whose one option is a radius."""

    radius: Radius
    options = {"radius": RADIUS}

    def __init__(self, radius: Radius | str = "mixture") -> None:
        self.radius = radius_named(radius)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.radius.name!r})"


class WithRadius(ByRadius, Direct, listed=False):
    """Such strategies; each has a stopping rule with the same radius."""

    looks_at_delta = True


class RadiusRule(ByRadius, StoppingRule, listed=False):
    """Such stopping rules: the evidence is a base of the radius."""

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        check_radius(self, self.radius, family)
        return float(self.radius.base(problem.arms, delta))

    def proven(self, problem: Problem, family: Family) -> bool:
        return self.radius.is_proven
