"""Rewards in a known interval, of any shape."""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import finite
from stopwise.core.errors import BadArgument
from stopwise.core.options import NUMBER, Option
from stopwise.core.values import Family
from stopwise.families import bernoulli, verbs
from stopwise.families.bets import coin_bet
from stopwise.families.laws import BetaLaw, beta_law, law_of
from stopwise.families.mixtures import beta_regret


class _Bounded(NamedTuple):
    low: float
    high: float


class Bounded(_Bounded, Family):
    """Any distribution on [low, high], judged by the Bernoulli divergence of its rescaled mean.

    The Bernoulli divergence is the smallest that any two such distributions can have, so every
    guarantee carries over; ``variance`` is the largest that the mean allows. Simulated rewards
    are drawn from the Beta law with this mean and a + b = 2 (uniform for the middle mean).
    """

    __slots__ = ()
    title = "Numbers between two ends, of any shape"
    options = {
        "low": Option(NUMBER, "The least possible value; 0 if empty"),
        "high": Option(NUMBER, "The largest possible value; 1 if empty"),
    }

    def __new__(cls, low: float = 0.0, high: float = 1.0) -> Bounded:
        low, high = finite("low", low), finite("high", high)
        if not low < high:
            raise BadArgument("high", high, f"a number above low = {low}")
        return super().__new__(cls, low, high)


verbs.interval.register(Bounded)(lambda family: (family.low, family.high))
verbs.variance.register(Bounded)(lambda family, mu: (mu - family.low) * (family.high - mu))
verbs.variance_slope.register(Bounded)(lambda family, mu: family.low + family.high - 2.0 * mu)
verbs.convex.register(Bounded)(lambda family: True)
verbs.supports.register(Bounded)(lambda family, value: family.low <= value <= family.high)


@verbs.divergence.register(Bounded)
def _divergence(family: Bounded, mu: float, lam: float) -> float:
    low, high = family.low, family.high
    width = high - low
    p, q = (mu - low) / width, (lam - low) / width
    if bernoulli.survive_rounding(p, q):
        return bernoulli.binary_divergence(p, q)
    return bernoulli.coin_divergence(mu - low, high - mu, lam - mu, lam - low, high - lam) / width


@verbs.natural.register(Bounded)
def _natural(family: Bounded, mu: float) -> float:
    return math.log((mu - family.low) / (family.high - mu)) / (family.high - family.low)


@verbs.tilt.register(Bounded)
def _tilt(family: Bounded, mu: float, slope: float) -> float:
    width = family.high - family.low
    return family.low + width * bernoulli.binary_tilt((mu - family.low) / width, slope * width)


@verbs.draw.register(Bounded)
def _draw(family: Bounded, mean: float, rng: Rng) -> float:
    width = family.high - family.low
    share = (mean - family.low) / width
    return family.low + width * rng.beta(2.0 * share, 2.0 * (1.0 - share))


@law_of.register(Bounded)
def _law_of(family: Bounded, mean: float, deviation: float) -> BetaLaw:
    return beta_law(mean, deviation, family.low, family.high)


@verbs.regret.register(Bounded)
def _regret(family: Bounded, count: float, mean: float, center: float, spread: float) -> float:
    share = (mean - family.low) / (family.high - family.low)
    return beta_regret(count * share, count * (1.0 - share))


@verbs.bound_remark.register(Bounded)
def _bound_remark(family: Bounded) -> str:
    return "if the rewards lie at the ends of the interval, else fewer may do"


verbs.gaps.register(Bounded)(lambda family: (3.0, 2.0, 19))


@verbs.bet.register(Bounded)
def _bet(
    family: Bounded, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    low, width = family.low, family.high - family.low
    heads = count * ((mean - low) / width)
    value, slope = coin_bet(heads, count, (c - low) / width, side * gap)
    return value, slope / width
