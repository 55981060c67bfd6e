"""Positive rewards with a known shape: waiting times and sizes."""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive
from stopwise.core.options import POSITIVE, Option
from stopwise.core.values import Family
from stopwise.core.verbs import jitable
from stopwise.families import rounding, verbs
from stopwise.families.bets import FINE_GAPS, scale_bet
from stopwise.families.mixtures import gamma_regret, over_spreads
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import gamma_tails, spacing_tails


class _Gamma(NamedTuple):
    shape: float


class Gamma(_Gamma, Family):
    """Gamma rewards with known ``shape`` and mean in (0, infinity): V = mu^2/shape."""

    __slots__ = ()
    title = "Positive numbers, gamma with a known shape"
    options = {
        "shape": Option(
            POSITIVE,
            "The squared mean over the variance, the same for every arm",
            'Write family = "exponential" for waiting times without memory, which have shape 1; or '
            '{kind = "bounded", low = 0, high = ...}, which needs no shape.',
        )
    }

    def __new__(cls, shape: float = 1.0) -> Gamma:
        return super().__new__(cls, positive("shape", shape))


@jitable
def scale_divergence(mu: float, lam: float) -> float:
    """mu/lambda - 1 - log(mu/lambda): the divergence between two exponential laws."""
    if lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    if mu <= 0.0 or lam == math.inf:
        return math.inf
    if rounding.comparable(lam, mu):
        return rounding.entropy_gap((mu - lam) / lam)
    return (mu - lam) / lam - (math.log(mu) - math.log(lam))


verbs.interval.register(Gamma)(lambda family: (0.0, math.inf))
verbs.divergence.register(Gamma)(lambda family, mu, lam: family.shape * scale_divergence(mu, lam))
verbs.variance.register(Gamma)(lambda family, mu: mu * mu / family.shape)
verbs.variance_slope.register(Gamma)(lambda family, mu: 2.0 * mu / family.shape)
verbs.natural.register(Gamma)(lambda family, mu: -family.shape / mu)
verbs.supports.register(Gamma)(lambda family, value: 0.0 < value < math.inf)


@verbs.draw.register(Gamma)
def _draw(family: Gamma, mean: float, rng: Rng) -> float:
    return mean / family.shape * rng.standard_gamma(family.shape)


@posterior_draw.register(Gamma)
def _posterior_draw(family: Gamma, count: float, mean: float, rng: Rng) -> float:
    """For Jeffreys' prior, 1/mu."""
    weight = count * family.shape
    return weight * mean / rng.standard_gamma(weight)


@verbs.regret.register(Gamma)
def _regret(family: Gamma, count: float, mean: float, center: float, spread: float) -> float:
    # rate = shape/mean
    return gamma_regret(count * family.shape, count * mean, 0.5 * spread / family.shape)


@verbs.wide_regret.register(Gamma)
def _wide_regret(family: Gamma, count: float, mean: float) -> float:
    return over_spreads(family, count, mean)


verbs.gaps.register(Gamma)(lambda family: FINE_GAPS)


@verbs.bet.register(Gamma)
def _bet(
    family: Gamma, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    return scale_bet(count * family.shape, mean, c, side * gap / math.sqrt(family.shape))


spacing_tails.register(Gamma)(lambda family, spacing: gamma_tails(family.shape, spacing))
