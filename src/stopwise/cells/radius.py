"""Confidence bounds of single arms: how far a mean may lie from the sample mean.

A radius says for which means q an arm's samples have too much against q: all those with
scale * d(mu-hat, q) - growth > base. ``sized`` gives scale and growth, which depend on the data;
``base`` is the part that depends on delta and the number of arms. docs/bounds.md derives each of them,
and proves for "mixture" and "hoeffding" that all K intervals hold at all times with probability
1 - delta.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.data import Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.options import Option
from stopwise.core.values import Empty, Value
from stopwise.core.verbs import jitable, registered, verb
from stopwise.families.verbs import (
    OneVariance,
    Quadratic,
    divergence,
    divergence_slope,
    interval,
    of_arm,
    regret,
    space,
    variance,
    wide_regret,
)

AGAIN = math.log(
    10.0
)  # by what the base grows when a strategy's own bounds have nothing left to ask

RADIUS = Option(
    {"enum": ["stylized", "mixture"]},
    "mixture: proven; stylized: the literature's, for experiments, not proven",
)


class Stylized(Empty, Value):
    """N d <= log((1 + log t)/delta): what experiments use (Garivier & Kaufmann 2016). Not proven."""

    __slots__ = ()


class Mixture(Empty, Value):
    """N d <= log(K/delta) + what a mixture of likelihoods loses against the best fit. Proven."""

    __slots__ = ()


class Hoeffding(Empty, Value):
    """N (mu-hat - q)^2/(2 s^2) <= log(4 K N^2/delta) for s^2-sub-Gaussian samples. Proven."""

    __slots__ = ()


def radius_named(given: Any) -> Any:
    """The radius of this name, or the one that is given."""
    if isinstance(given, str) and given in ("stylized", "mixture"):
        return Stylized() if given == "stylized" else Mixture()
    if isinstance(given, Stylized | Mixture):
        return given
    raise BadArgument("radius", given, '"stylized" or "mixture"')


def spelled(radius: Any) -> str:
    """The name by which files know a radius."""
    return type(radius).__name__.lower()


@verb
def base(radius: Any, arms: int, delta: float) -> float:
    """What the data may have against an arm's true mean, but for what they decide themselves."""
    return math.log(arms / delta)


base.register(Stylized)(lambda radius, arms, delta: -math.log(delta))
base.register(Hoeffding)(lambda radius, arms, delta: math.log(4.0 * arms / delta))


@verb
def is_proven(radius: Any) -> bool:
    """Whether all intervals hold at all times with probability 1 - delta."""
    return True


is_proven.register(Stylized)(lambda radius: False)


@verb
def timeless(radius: Any) -> bool:
    """Whether an arm's bounds change only with its own samples."""
    return True


timeless.register(Stylized)(lambda radius: False)


@verb(on=2, inline=True)
def sized(
    radius: Any, family: Any, count: float, mean: float, rounds: float
) -> tuple[float, float]:
    """Scale and growth of the interval of an arm of this family."""
    return count, math.log(1.0 + math.log(rounds))


@sized.register(Hoeffding)
def _by_union(
    radius: Any, family: Any, count: float, mean: float, rounds: float
) -> tuple[float, float]:
    """Each N spends a share of delta that is proportional to 1/N^2."""
    return count, 2.0 * math.log(count)


@sized.register(Mixture)
def _by_mixture(
    radius: Any, family: Any, count: float, mean: float, rounds: float
) -> tuple[float, float]:
    """log m(data)/p_q(data) = N d(mu-hat, q) - r, see families/mixtures.py."""
    return count, wide_regret(family, count, mean)


@sized.register(Mixture, Quadratic)
def _by_normal_mixture(
    radius: Any, family: Any, count: float, mean: float, rounds: float
) -> tuple[float, float]:
    """The normal prior of one sample's weight about q itself: no place and no scale to set."""
    return count * count / (count + 1.0), 0.5 * math.log1p(count)


# ------------------------------------------------------------------------------------ which family


class _SubGaussian(NamedTuple):
    spread: float


class SubGaussian(_SubGaussian, OneVariance, listed=False):
    """Samples whose deviations from their mean are at most as large as normal ones of this variance."""

    __slots__ = ()


@divergence.register(SubGaussian)
def _divergence(family: SubGaussian, mu: float, lam: float) -> float:
    return 0.5 * (mu - lam) * (mu - lam) / family.spread


variance.register(SubGaussian)(lambda family, mu: family.spread)


@verb(inline=True)
def proxy(family: Any) -> float:
    """The variance s^2 for which samples are s^2-sub-Gaussian; infinite if nothing is known.

    Samples in an interval: a quarter of its squared width (Hoeffding's lemma).
    """
    low, high = interval(family)
    return 0.25 * (high - low) * (high - low)


proxy.register(Quadratic)(lambda family: variance(family, 0.0))


@verb(inline=True)
def ruler(radius: Any, family: Any, arm: int) -> Any:
    """The family by whose divergence an arm's interval is measured."""
    return of_arm(family, arm)


ruler.register(Hoeffding)(lambda radius, family, arm: SubGaussian(proxy(of_arm(family, arm))))


def check_proxy(who: Any, family: Any) -> None:
    """Refuse families whose samples are not known to be sub-Gaussian."""
    if not math.isfinite(proxy(of_arm(family, 0))):
        raise NotDefined(
            f"{type(who).__name__} with {family!r}: its bounds are for sub-Gaussian samples. Allowed: "
            "Gaussian with known variances, Bernoulli, Binomial, Bounded, BoundedCoin; or a strategy "
            "with the family's own bounds, such as KLLUCB()."
        )


def check_radius(who: Any, radius: Any, family: Any) -> None:
    """Refuse a radius that is not known for the family."""
    kind = type(of_arm(family, 0))
    known = issubclass(kind, Quadratic) or registered(regret, kind) or registered(wide_regret, kind)
    if isinstance(radius, Mixture) and not known:
        raise NotDefined(
            f"{type(who).__name__} with {family!r}: no mixture is known for this family, so its "
            'proven radius is not either. Use radius="stylized", which is not proven.'
        )


# ------------------------------------------------------------------------------------------ bounds


@verb
def reach(family: Any, mean: float, level: float, side: float) -> float:
    """The point on one side of the mean where d(mean, .) reaches the level, or the end of the space.

    Newton's method for sqrt(d), which is nearly linear, in a bracket: three steps, mostly.
    """
    low, high = space(family)
    far = high if side > 0.0 else low
    near = mean
    if level <= 0.0 or mean == far:
        return mean
    goal, x = math.sqrt(level), mean + side * math.sqrt(2.0 * level * variance(family, mean))
    for _ in range(100):
        if not min(near, far) < x < max(near, far):
            x = (
                near + 0.5 * (far - near)
                if math.isfinite(far)
                else mean + 2.0 * (near - mean) + side
            )
        value, slope = divergence(family, mean, x), divergence_slope(family, mean, x)
        if value > level:
            far = x
        else:
            near = x
        if not (math.isfinite(value) and slope != 0.0):
            x = math.nan
            continue
        root = math.sqrt(value)
        step = 2.0 * root * (goal - root) / slope
        x += step
        within = min(near, far) <= x <= max(near, far)
        if within and abs(step) <= 1e-7 * abs(x - mean):  # the next step would be its square
            return x
    return near


@reach.register(Quadratic)
def _reach(family: Any, mean: float, level: float, side: float) -> float:
    return mean + side * math.sqrt(2.0 * variance(family, mean) * max(level, 0.0))


@jitable(inline=True)
def bound(
    radius: Any, family: Any, data: Data, arm: int, side: float, base: float, rounds: float
) -> float:
    """The end of an arm's interval, above (side +1) or below (-1) its mean."""
    own, mean = ruler(radius, family, arm), data.means[arm]
    scale, growth = sized(radius, own, data.counts[arm], mean, rounds)
    return reach(own, mean, (base + growth) / scale, side)


@jitable(inline=True)
def against(radius: Any, family: Any, data: Data, arm: int, q: float, rounds: float) -> float:
    """What the samples have against q as the arm's mean: the base at which its interval ends there."""
    own, mean = ruler(radius, family, arm), data.means[arm]
    scale, growth = sized(radius, own, data.counts[arm], mean, rounds)
    return scale * divergence(own, mean, q) - growth


@jitable(inline=True)
def refuted(
    radius: Any, family: Any, data: Data, arm: int, q: float, base: float, rounds: float
) -> bool:
    """Whether the samples have at least the base against q: mostly seen without the divergence.

    Samples that are s^2-sub-Gaussian at every mean have d(mu, q) >= (mu - q)^2/(2 s^2).
    """
    own, mean = ruler(radius, family, arm), data.means[arm]
    scale, growth = sized(radius, own, data.counts[arm], mean, rounds)
    far = 0.5 * (mean - q) * (mean - q) / proxy(own)
    if scale * far - growth >= base * (1.0 + 1e-9):
        return True
    return bool(scale * divergence(own, mean, q) - growth >= base)


@jitable
def surest_bound(
    radius: Any,
    family: Any,
    data: Data,
    side: float,
    base: float,
    rounds: float,
    but: int,
    guess: int,
) -> int:
    """The arm, other than ``but``, whose bound on the other side is the furthest towards this one."""
    found, end = -1, 0.0
    for turn in range(-1, data.means.size):
        arm = guess if turn < 0 else turn
        if arm == but or arm == found or arm < 0:
            continue
        if found >= 0:
            if data.counts[arm] == data.counts[found] and data.means[arm] == data.means[found]:
                found = min(arm, found)
                continue
            behind = side * (data.means[arm] - end) <= 0.0
            if behind or not refuted(radius, family, data, arm, end, base, rounds):
                continue
        found, end = arm, bound(radius, family, data, arm, -side, base, rounds)
    return found


@jitable
def best_bound(
    radius: Any,
    family: Any,
    data: Data,
    side: float,
    base: float,
    rounds: float,
    but: int,
    guess: int,
) -> int:
    """The arm, other than ``but``, whose bound on this side is the furthest out; the first of equals.

    Another arm's bound is further out than ``end`` if it has less than the base against ``end``: one
    divergence instead of an inversion. The guess is looked at first.
    """
    found, end = -1, 0.0
    for turn in range(-1, data.means.size):
        arm = guess if turn < 0 else turn
        if arm == but or arm == found or arm < 0:
            continue
        if found >= 0:
            if data.counts[arm] == data.counts[found] and data.means[arm] == data.means[found]:
                found = min(arm, found)
                continue
            ahead = side * (data.means[arm] - end) > 0.0
            if not ahead and refuted(radius, family, data, arm, end, base, rounds):
                continue
        found, end = arm, bound(radius, family, data, arm, side, base, rounds)
    return found


@jitable
def apart(
    radius: Any, family: Any, data: Data, arm: int, other: int, side: float, margin: float, t: float
) -> float:
    """The largest base at which ``arm``'s lower bound is above ``other``'s upper one less the margin.

    For side -1 upper and lower change places. The two crossed functions are monotone between the means.
    """
    near, far = data.means[arm], data.means[other] - side * margin
    if side * (near - far) <= 0.0:
        return -math.inf
    x = 0.5 * (near + far)
    while min(near, far) < x < max(near, far):
        mine = against(radius, family, data, arm, x, t)
        if mine > against(radius, family, data, other, x + side * margin, t):
            far = x
        else:
            near = x
        x = 0.5 * (near + far)
    return min(
        against(radius, family, data, arm, x, t),
        against(radius, family, data, other, x + side * margin, t),
    )


@jitable
def leader(means: Any, side: float) -> int:
    """The arm with the largest (side +1) or smallest (-1) mean, the first of equals."""
    found = 0
    for k in range(1, means.size):
        if side * means[k] > side * means[found]:
            found = k
    return found
