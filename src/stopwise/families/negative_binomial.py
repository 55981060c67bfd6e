"""Rewards that count failures before a fixed number of successes."""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive
from stopwise.core.options import POSITIVE, Option
from stopwise.core.values import Family
from stopwise.families import rounding, verbs
from stopwise.families.bets import coin_bet
from stopwise.families.mixtures import beta_regret
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import count_tails, spacing_tails


class _NegativeBinomial(NamedTuple):
    successes: float


class NegativeBinomial(_NegativeBinomial, Family):
    """Failures before the given number of ``successes``: V = mu + mu^2/successes."""

    __slots__ = ()
    title = "Failures before some successes"
    options = {"successes": Option(POSITIVE, "Failures are counted up to this many successes")}

    def __new__(cls, successes: float) -> NegativeBinomial:
        return super().__new__(cls, positive("successes", successes))


verbs.interval.register(NegativeBinomial)(lambda family: (0.0, math.inf))
verbs.variance.register(NegativeBinomial)(lambda family, mu: mu * (1.0 + mu / family.successes))
verbs.natural.register(NegativeBinomial)(lambda family, mu: -math.log1p(family.successes / mu))
verbs.supports.register(NegativeBinomial)(lambda family, value: rounding.is_count(value))


@verbs.divergence.register(NegativeBinomial)
def _divergence(family: NegativeBinomial, mu: float, lam: float) -> float:
    if lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    return rounding.entropy_gap_difference(mu, family.successes, lam - mu, lam)


@verbs.variance_slope.register(NegativeBinomial)
def _variance_slope(family: NegativeBinomial, mu: float) -> float:
    return 1.0 + 2.0 * mu / family.successes


@verbs.draw.register(NegativeBinomial)
def _draw(family: NegativeBinomial, mean: float, rng: Rng) -> float:
    # a Poisson count whose rate is Gamma distributed
    return 1.0 * rng.poisson(mean / family.successes * rng.standard_gamma(family.successes))


@posterior_draw.register(NegativeBinomial)
def _posterior_draw(family: NegativeBinomial, count: float, mean: float, rng: Rng) -> float:
    """For a uniform prior on the chance of success."""
    chance = rng.beta(1.0 + count * family.successes, 1.0 + count * mean)
    return family.successes * (1.0 - chance) / chance


@verbs.regret.register(NegativeBinomial)
def _regret(
    family: NegativeBinomial, count: float, mean: float, center: float, spread: float
) -> float:
    return beta_regret(count * family.successes, count * mean)


verbs.gaps.register(NegativeBinomial)(lambda family: (3.0, 2.0, 28))


@verbs.bet.register(NegativeBinomial)
def _bet(
    family: NegativeBinomial, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    # coins that fail with probability c/(r + c)
    r = family.successes
    value, slope = coin_bet(count * mean, count * (mean + r), c / (r + c), side * gap)
    return value, slope * r / ((r + c) * (r + c))


spacing_tails.register(NegativeBinomial)(
    lambda family, spacing: count_tails(family.successes, spacing)
)
