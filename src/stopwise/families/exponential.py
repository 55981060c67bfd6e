"""Memoryless waiting times."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.values import Empty, Family
from stopwise.families import verbs
from stopwise.families.bets import FINE_GAPS, scale_bet
from stopwise.families.gamma import scale_divergence
from stopwise.families.mixtures import gamma_regret, over_spreads
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import Spacing, Tails, gamma_tails, spacing_tails, total_tails


class Exponential(Empty, Family):
    """Exponential rewards with mean in (0, infinity): V = mu^2."""

    __slots__ = ()
    title = "Waiting times"


verbs.interval.register(Exponential)(lambda family: (0.0, math.inf))
verbs.divergence.register(Exponential)(lambda family, mu, lam: scale_divergence(mu, lam))
verbs.variance.register(Exponential)(lambda family, mu: mu * mu)
verbs.variance_slope.register(Exponential)(lambda family, mu: 2.0 * mu)
verbs.natural.register(Exponential)(lambda family, mu: -1.0 / mu)
verbs.supports.register(Exponential)(lambda family, value: 0.0 <= value < math.inf)
verbs.draw.register(Exponential)(lambda family, mean, rng: mean * rng.standard_exponential())


@posterior_draw.register(Exponential)
def _posterior_draw(family: Exponential, count: float, mean: float, rng: Rng) -> float:
    """For Jeffreys' prior, 1/mu: sum of the samples by a Gamma variable."""
    return count * mean / rng.standard_gamma(count)


@verbs.regret.register(Exponential)
def _regret(family: Exponential, count: float, mean: float, center: float, spread: float) -> float:
    return gamma_regret(count, count * mean, 0.5 * spread)


@verbs.wide_regret.register(Exponential)
def _wide_regret(family: Exponential, count: float, mean: float) -> float:
    return over_spreads(family, count, mean)


verbs.gaps.register(Exponential)(lambda family: FINE_GAPS)


@verbs.bet.register(Exponential)
def _bet(
    family: Exponential, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    return scale_bet(count, mean, c, side * gap)


spacing_tails.register(Exponential)(lambda family, spacing: gamma_tails(1.0, spacing))


@total_tails.register(Exponential)
def _total_tails(family: Exponential, spacing: Spacing) -> Tails:
    """Its share r of all totals has the Beta(2, b) law, b = 2 pairs: P(>= r) = (1 - r)^b (1 + b r)."""
    if spacing.pairs == 0 or spacing.totals <= 0.0:
        return Tails(0.0, 1.0)
    rest, b = spacing.totals / (spacing.totals + spacing.total), 2.0 * spacing.pairs
    tail = min(rest**b * (1.0 + b * (1.0 - rest)), 1.0)
    return Tails(tail, tail)
