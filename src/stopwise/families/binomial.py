"""Rewards that count successes among a fixed number of trials."""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import whole
from stopwise.core.options import COUNT, Option
from stopwise.core.values import Family
from stopwise.families import bernoulli, rounding, verbs
from stopwise.families.bets import coin_bet
from stopwise.families.mixtures import beta_regret
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import count_tails, spacing_tails


class _Binomial(NamedTuple):
    trials: int


class Binomial(_Binomial, Family):
    """Successes among ``trials`` coins: the mean lies in (0, trials)."""

    __slots__ = ()
    title = "Successes among a number of trials"
    options = {"trials": Option(COUNT, "In each sample")}

    def __new__(cls, trials: int) -> Binomial:
        return super().__new__(cls, whole("trials", trials, least=1))


verbs.interval.register(Binomial)(lambda family: (0.0, 1.0 * family.trials))
verbs.variance.register(Binomial)(lambda family, mu: mu * (1.0 - mu / family.trials))
verbs.variance_slope.register(Binomial)(lambda family, mu: 1.0 - 2.0 * mu / family.trials)
verbs.natural.register(Binomial)(lambda family, mu: math.log(mu / (family.trials - mu)))
verbs.convex.register(Binomial)(lambda family: True)


@verbs.divergence.register(Binomial)
def _divergence(family: Binomial, mu: float, lam: float) -> float:
    n = 1.0 * family.trials
    if bernoulli.survive_rounding(mu / n, lam / n):
        return n * bernoulli.binary_divergence(mu / n, lam / n)
    return bernoulli.coin_divergence(mu, n - mu, lam - mu, lam, n - lam)


@verbs.tilt.register(Binomial)
def _tilt(family: Binomial, mu: float, slope: float) -> float:
    return family.trials * bernoulli.binary_tilt(mu / family.trials, slope)


@verbs.supports.register(Binomial)
def _supports(family: Binomial, value: float) -> bool:
    return rounding.is_count(value) and value <= family.trials


@verbs.draw.register(Binomial)
def _draw(family: Binomial, mean: float, rng: Rng) -> float:
    return 1.0 * rng.binomial(family.trials, mean / family.trials)


@posterior_draw.register(Binomial)
def _posterior_draw(family: Binomial, count: float, mean: float, rng: Rng) -> float:
    """For a uniform prior."""
    n = 1.0 * family.trials
    return n * rng.beta(1.0 + count * mean, 1.0 + count * (n - mean))


@verbs.regret.register(Binomial)
def _regret(family: Binomial, count: float, mean: float, center: float, spread: float) -> float:
    return beta_regret(count * mean, count * (family.trials - mean))


verbs.gaps.register(Binomial)(lambda family: (3.0, 2.0, 28))


@verbs.bet.register(Binomial)
def _bet(
    family: Binomial, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    n = 1.0 * family.trials
    value, slope = coin_bet(count * mean, count * n, c / n, side * gap)
    return value, slope / n


spacing_tails.register(Binomial)(lambda family, spacing: count_tails(-1.0 * family.trials, spacing))
