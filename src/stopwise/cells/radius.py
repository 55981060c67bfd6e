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

from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.options import Option
from stopwise.core.values import Empty, Value
from stopwise.core.verbs import registered, verb
from stopwise.families.verbs import (
    OneVariance,
    Quadratic,
    divergence,
    interval,
    of_arm,
    regret,
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
