"""Rewards in a known interval, as if they were coins with the same means: a bound."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import LARGEST, finite, moderate
from stopwise.core.errors import BadArgument
from stopwise.core.options import NUMBER, Option
from stopwise.core.values import Family
from stopwise.families import bernoulli, verbs
from stopwise.families.bets import coin_bet
from stopwise.families.laws import BetaLaw, beta_law, law_of
from stopwise.families.mixtures import beta_regret
from stopwise.families.posterior import posterior_draw


class Ends(NamedTuple):
    """The fields of a family on an interval."""

    low: float
    high: float


class OnInterval(Family, listed=False):
    """Any distribution on [low, high]; what is known without a look at the samples.

    The Bernoulli divergence of the rescaled means is the smallest that two such distributions can have;
    ``variance`` is the largest that the mean allows. Simulated rewards are drawn, unless a law is given,
    from the Beta law with this mean and a + b = 2 (uniform for the middle mean).
    """

    __slots__ = ()
    options = {
        "low": Option(NUMBER, "The least possible value; 0 if empty"),
        "high": Option(NUMBER, "The largest possible value; 1 if empty"),
    }


def check_ends(low: float, high: float) -> tuple[float, float]:
    """Two finite numbers, the second above the first."""
    low, high = finite("low", low), finite("high", high)
    if not low < high:
        raise BadArgument("high", high, f"a number above low = {low}")
    for name, end in (("low", low), ("high", high)):
        moderate(name, end)
    if high - low < 1.0 / LARGEST:
        raise BadArgument("high", high, f"a number at least {1.0 / LARGEST:g} above low = {low}")
    return low, high


class BoundedCoin(Ends, OnInterval):
    """Numbers between two ends, of any shape, judged as coins with the same (rescaled) means.

    Every guarantee of coins carries over, but a coin spreads more than any other law with its mean, so
    that scores of a small spread take many more samples than with ``Bounded``.
    """

    __slots__ = ()
    title = "Numbers between two ends, judged as if they were coins"

    def __new__(cls, low: float = 0.0, high: float = 1.0) -> BoundedCoin:
        return super().__new__(cls, *check_ends(low, high))


verbs.interval.register(OnInterval)(lambda family: (family.low, family.high))
verbs.variance.register(OnInterval)(lambda family, mu: (mu - family.low) * (family.high - mu))
verbs.variance_slope.register(OnInterval)(lambda family, mu: family.low + family.high - 2.0 * mu)
verbs.convex.register(OnInterval)(lambda family: True)
verbs.supports.register(OnInterval)(lambda family, value: family.low <= value <= family.high)


@verbs.divergence.register(OnInterval)
def _divergence(family: Any, mu: float, lam: float) -> float:
    low, high = family.low, family.high
    width = high - low
    p, q = (mu - low) / width, (lam - low) / width
    if bernoulli.survive_rounding(p, q):
        return bernoulli.binary_divergence(p, q)
    return bernoulli.coin_divergence(mu - low, high - mu, lam - mu, lam - low, high - lam) / width


@verbs.natural.register(OnInterval)
def _natural(family: Any, mu: float) -> float:
    return math.log((mu - family.low) / (family.high - mu)) / (family.high - family.low)


@verbs.tilt.register(OnInterval)
def _tilt(family: Any, mu: float, slope: float) -> float:
    width = family.high - family.low
    return family.low + width * bernoulli.binary_tilt((mu - family.low) / width, slope * width)


@verbs.draw.register(OnInterval)
def _draw(family: Any, mean: float, rng: Rng) -> float:
    width = family.high - family.low
    share = (mean - family.low) / width
    return family.low + width * rng.beta(2.0 * share, 2.0 * (1.0 - share))


@posterior_draw.register(OnInterval)
def _posterior_draw(family: Any, count: float, mean: float, rng: Rng) -> float:
    """That of coins, for a uniform prior."""
    width = family.high - family.low
    share = (mean - family.low) / width
    return family.low + width * rng.beta(1.0 + count * share, 1.0 + count * (1.0 - share))


@verbs.unsupported.register(OnInterval)
def _unsupported(family: Any) -> str:
    return (
        "Widen the interval in a new campaign; or clip every value to it, all in the same way, before "
        "it is told. Never leave out the values that do not fit: what is left is biased."
    )


@law_of.register(OnInterval)
def _law_of(family: Any, mean: float, deviation: float) -> BetaLaw:
    return beta_law(mean, deviation, family.low, family.high)


@verbs.regret.register(OnInterval)
def _regret(family: Any, count: float, mean: float, center: float, spread: float) -> float:
    share = (mean - family.low) / (family.high - family.low)
    return beta_regret(count * share, count * (1.0 - share))


@verbs.bound_remark.register(OnInterval)
def _bound_remark(family: Any) -> str:
    return "if the rewards lie at the ends of the interval, else fewer may do"


verbs.gaps.register(BoundedCoin)(lambda family: (3.0, 2.0, 19))


@verbs.bet.register(BoundedCoin)
def _bet(
    family: Any, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    low, width = family.low, family.high - family.low
    heads = count * ((mean - low) / width)
    value, slope = coin_bet(heads, count, (c - low) / width, side * gap)
    return value, slope / width
