"""Rewards that count rare events."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.values import Empty, Family
from stopwise.families import rounding, verbs
from stopwise.families.mixtures import gamma_regret, over_spreads
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import count_tails, spacing_tails


class Poisson(Empty, Family):
    """Poisson counts with mean in (0, infinity)."""

    __slots__ = ()
    title = "Counts"


verbs.interval.register(Poisson)(lambda family: (0.0, math.inf))
verbs.variance.register(Poisson)(lambda family, mu: mu)
verbs.variance_slope.register(Poisson)(lambda family, mu: 1.0)
verbs.natural.register(Poisson)(lambda family, mu: math.log(mu))
verbs.convex.register(Poisson)(lambda family: True)
verbs.supports.register(Poisson)(lambda family, value: rounding.is_count(value))
verbs.draw.register(Poisson)(lambda family, mean, rng: 1.0 * rng.poisson(mean))


@posterior_draw.register(Poisson)
def _posterior_draw(family: Poisson, count: float, mean: float, rng: Rng) -> float:
    """For Jeffreys' prior, mu^(-1/2): proper also where all counts are 0."""
    return rng.standard_gamma(count * mean + 0.5) / count


@verbs.divergence.register(Poisson)
def _divergence(family: Poisson, mu: float, lam: float) -> float:
    return rounding.scaled_entropy_gap(mu, lam - mu, lam)


@verbs.tilt.register(Poisson)
def _tilt(family: Poisson, mu: float, slope: float) -> float:
    return mu / (1.0 - slope) if slope < 1.0 else math.inf


@verbs.regret.register(Poisson)
def _regret(family: Poisson, count: float, mean: float, center: float, spread: float) -> float:
    return gamma_regret(count * mean, count, 0.5 / spread)


@verbs.wide_regret.register(Poisson)
def _wide_regret(family: Poisson, count: float, mean: float) -> float:
    return over_spreads(family, count, mean)


verbs.gaps.register(Poisson)(lambda family: (3.0, 2.0, 28))


@verbs.bet.register(Poisson)
def _bet(
    family: Poisson, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    u = side * gap
    more = math.expm1(u)
    return count * (u * mean - c * more), -count * more


spacing_tails.register(Poisson)(lambda family, spacing: count_tails(math.inf, spacing))
