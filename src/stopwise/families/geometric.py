"""Rewards that count trials up to the first success."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.values import Empty, Family
from stopwise.families import rounding, verbs
from stopwise.families.bets import FINE_GAPS, coin_bet
from stopwise.families.mixtures import beta_regret
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import Spacing, Tails, count_tails, spacing_tails


class Geometric(Empty, Family):
    """Trials up to and with the first success: values 1, 2, ..., mean in (1, infinity)."""

    __slots__ = ()
    title = "Trials up to the first success"


verbs.interval.register(Geometric)(lambda family: (1.0, math.inf))
verbs.variance.register(Geometric)(lambda family, mu: mu * (mu - 1.0))
verbs.variance_slope.register(Geometric)(lambda family, mu: 2.0 * mu - 1.0)
verbs.natural.register(Geometric)(lambda family, mu: -math.log1p(1.0 / (mu - 1.0)))
verbs.supports.register(Geometric)(lambda family, value: rounding.is_count(value, 1.0))
verbs.draw.register(Geometric)(lambda family, mean, rng: 1.0 * rng.geometric(1.0 / mean))


@verbs.divergence.register(Geometric)
def _divergence(family: Geometric, mu: float, lam: float) -> float:
    if lam <= 1.0:
        return 0.0 if mu == lam else math.inf
    return rounding.entropy_gap_difference(mu - 1.0, 1.0, lam - mu, lam - 1.0)


@posterior_draw.register(Geometric)
def _posterior_draw(family: Geometric, count: float, mean: float, rng: Rng) -> float:
    """For a uniform prior on the chance of success."""
    return 1.0 / rng.beta(1.0 + count, 1.0 + count * (mean - 1.0))


@verbs.regret.register(Geometric)
def _regret(family: Geometric, count: float, mean: float, center: float, spread: float) -> float:
    return beta_regret(count, count * (mean - 1.0))


verbs.gaps.register(Geometric)(lambda family: FINE_GAPS)


@verbs.bet.register(Geometric)
def _bet(
    family: Geometric, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    # coins that fail with probability (c - 1)/c
    value, slope = coin_bet(count * (mean - 1.0), count * mean, (c - 1.0) / c, side * gap)
    return value, slope / (c * c)


@spacing_tails.register(Geometric)
def _spacing_tails(family: Geometric, spacing: Spacing) -> Tails:
    """Failures before the first success."""
    return count_tails(1.0, spacing._replace(total=spacing.total - 2.0))
