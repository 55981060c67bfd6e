"""First-passage times with a known shape."""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive
from stopwise.core.options import POSITIVE, Option
from stopwise.core.values import Family
from stopwise.families import rounding, verbs
from stopwise.families.bets import half_normal
from stopwise.families.mixtures import SPREADS, add_mixture, mean_regret
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import Spacing, Tails, normal_tail, rounded, spacing_tails


class _InverseGaussian(NamedTuple):
    shape: float


class InverseGaussian(_InverseGaussian, Family):
    """Inverse Gaussian rewards with known ``shape``: V = mu^3/shape, mean in (0, infinity).

    d(mu, lambda) stays below shape/(2 mu) as lambda grows: ``upper`` is infinite beyond that.
    """

    __slots__ = ()
    title = "Positive numbers, inverse Gaussian"
    options = {
        "shape": Option(
            POSITIVE,
            "The cubed mean over the variance, the same for every arm",
            'Write {kind = "inverse-gaussian", shape = ...}; or {kind = "bounded", low = 0, high = '
            "...}, which needs no shape.",
        )
    }

    def __new__(cls, shape: float = 1.0) -> InverseGaussian:
        return super().__new__(cls, positive("shape", shape))


verbs.interval.register(InverseGaussian)(lambda family: (0.0, math.inf))
verbs.variance.register(InverseGaussian)(lambda family, mu: mu * mu * mu / family.shape)
verbs.variance_slope.register(InverseGaussian)(lambda family, mu: 3.0 * mu * mu / family.shape)
verbs.natural.register(InverseGaussian)(lambda family, mu: -0.5 * family.shape / mu / mu)
verbs.supports.register(InverseGaussian)(lambda family, value: 0.0 < value < math.inf)


@verbs.divergence.register(InverseGaussian)
def _divergence(family: InverseGaussian, mu: float, lam: float) -> float:
    if mu <= 0.0 or lam <= 0.0:
        return 0.0 if mu == lam else math.inf
    if lam == math.inf:
        return 0.5 * family.shape / mu
    return rounding.square_ratio(0.5 * family.shape, (lam - mu) / lam, mu)


@verbs.upper.register(InverseGaussian)
def _upper(family: InverseGaussian, mu: float, level: float) -> float:
    share = math.sqrt(2.0 * mu * max(level, 0.0) / family.shape)
    return mu / (1.0 - share) if share < 1.0 else math.inf


@verbs.lower.register(InverseGaussian)
def _lower(family: InverseGaussian, mu: float, level: float) -> float:
    return mu / (1.0 + math.sqrt(2.0 * mu * max(level, 0.0) / family.shape))


@verbs.draw.register(InverseGaussian)
def _draw(family: InverseGaussian, mean: float, rng: Rng) -> float:
    # the transformation of Michael, Schucany and Haas (1976), free of cancellation
    normal = rng.standard_normal()
    a = 0.5 * mean * normal * normal / family.shape
    value = mean / (1.0 + a + math.sqrt(a * (a + 2.0)))
    return value if rng.random() * (mean + value) <= mean else mean * mean / value


@posterior_draw.register(InverseGaussian)
def _posterior_draw(family: InverseGaussian, count: float, mean: float, rng: Rng) -> float:
    """For a flat prior on v = 1/mu > 0: normal around 1/mean, so that most draws will do."""
    v, spread = -1.0, 1.0 / math.sqrt(family.shape * count * mean)
    while v <= 0.0:
        v = 1.0 / mean + spread * rng.standard_normal()
    return 1.0 / v


@verbs.wide_regret.register(InverseGaussian)
def _wide_regret(family: InverseGaussian, count: float, mean: float) -> float:
    """In v = 1/mu the likelihood is exp(l (N v - S v^2/2)): half-normal priors, deviations 8^j/l."""
    least, made = math.inf, 0.0
    first = family.shape / mean  # v-hat in units of 1/l
    for j in range(-SPREADS, SPREADS + 1):
        prior = 64.0 ** (-j)
        mass = count / first + prior  # of v in these units
        x = count / math.sqrt(mass)
        log_made, _ = half_normal(x)
        lost = 0.5 * count * first - log_made + 0.5 * math.log(mass / prior)
        least, made = add_mixture(least, made, lost)
    return mean_regret(least, made)


verbs.gaps.register(InverseGaussian)(lambda family: (96.0, 2.0, 24))


@verbs.bet.register(InverseGaussian)
def _bet(
    family: InverseGaussian, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    """In v = l/c; a fixed ratio of "above" is not monotone, so it is the least over smaller c."""
    total, v = mean / family.shape, family.shape / c  # of one sample
    if side < 0.0:
        value, slope = gap * (1.0 - total * (v + 0.5 * gap)), -total * gap
    elif v > gap:
        value, slope = gap * (total * (v - 0.5 * gap) - 1.0), total * gap
    else:
        bottom = max(v, min(1.0 / total, gap))
        value, slope = bottom * (0.5 * total * bottom - 1.0), max(total * v - 1.0, 0.0)
    return count * value, -count * slope * v / c


@spacing_tails.register(InverseGaussian)
def _spacing_tails(family: InverseGaussian, spacing: Spacing) -> Tails:
    """shape (X - Y)^2/(X Y (X + Y)) is the square of a standard normal variable (Tweedie 1957)."""

    def tail(size: float) -> float:
        product = 0.25 * (spacing.total - size) * (spacing.total + size)
        if not product > 0.0:  # too small for a float, or one of the two is 0
            return 0.0
        return normal_tail(size * math.sqrt(family.shape / spacing.total / product))

    return rounded(tail, spacing, spacing.total)
