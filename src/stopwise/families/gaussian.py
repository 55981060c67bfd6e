"""Gaussian rewards with known variances; without, see unknown_variance.py."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats, Rng
from stopwise.core.checks import is_list, positive, vector
from stopwise.core.errors import BadArgument
from stopwise.core.options import NUMBERS, POSITIVE, Option
from stopwise.families import verbs
from stopwise.families.bets import half_normal
from stopwise.families.laws import NormalLaw, law_of
from stopwise.families.martingales import gaussian_cost
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import Spacing, Tails, normal_tail, rounded, spacing_tails
from stopwise.families.surprise import absorbed, least_surprise
from stopwise.families.unknown_variance import GaussianUnknown
from stopwise.families.verbs import OneVariance, Quadratic


class _Gaussian(NamedTuple):
    variance: Any


class Gaussian(_Gaussian, OneVariance):
    """Normal rewards with known ``variance``: d = (mu - lambda)^2 / (2 variance).

    One number for all arms, or a list with one for each; None (in files "unknown"): nothing is known of
    the variances, which may differ, and they are estimated.
    """

    __slots__ = ()
    title = "Real numbers; the variance known or not"
    options = {
        "variance": Option(
            {"anyOf": [POSITIVE, NUMBERS, {"enum": ["unknown", None]}], "default": "unknown"},
            '"unknown", or the variance of one sample, or a list with one for each arm',
            'Write {kind = "gaussian", variance = "unknown"}: it is estimated from the samples. If you '
            "know the standard deviation of one sample, 40 say, its square will do: variance = 1600.",
        )
    }

    def __new__(cls, variance: float | ArrayLike | str | None = 1.0) -> Gaussian:
        if variance is None or (isinstance(variance, str) and variance == "unknown"):
            return GaussianUnknown()  # type: ignore[return-value]
        if isinstance(variance, str):
            raise BadArgument(
                "variance", variance, 'a finite number above 0, a list of them, or "unknown"'
            )
        if is_list(variance):
            return GaussianArms(variance)  # type: ignore[return-value]
        return super().__new__(cls, positive("variance", variance))


class GaussianArms(_Gaussian, Quadratic, listed=False):
    """What ``Gaussian`` makes of a list of variances."""

    __slots__ = ()

    def __new__(cls, variance: ArrayLike) -> GaussianArms:
        spread = vector("variance", variance)
        if np.any(spread <= 0.0):
            arm = int(np.argmax(spread <= 0.0))
            raise BadArgument(f"variance[{arm}]", float(spread[arm]), "a number above 0")
        return super().__new__(cls, spread)

    def __repr__(self) -> str:
        return f"Gaussian(variance={self.variance.tolist()})"


verbs.of_arm.register(GaussianArms)(lambda family, arm: Gaussian(family.variance[arm]))
verbs.arms_alike.register(GaussianArms)(lambda family: False)
verbs.of_group.register(GaussianArms)(lambda family, arms: GaussianArms(family.variance[arms]))


@verbs.check_arms.register(GaussianArms)
def _check_arms(family: GaussianArms, arms: int) -> None:
    variance: Floats = family.variance
    if variance.size != arms:
        allowed = f"one number, or {arms} numbers, one for each arm; this has {variance.size}"
        raise BadArgument("variance", variance.tolist(), allowed)


verbs.interval.register(Quadratic)(lambda family: (-math.inf, math.inf))


@verbs.divergence.register(Gaussian)
def _divergence(family: Gaussian, mu: float, lam: float) -> float:
    gap = mu - lam
    return 0.5 / family.variance * gap * gap  # in this order no square is too large, or too small


verbs.variance.register(Gaussian)(lambda family, mu: family.variance)
verbs.variance_slope.register(Gaussian)(lambda family, mu: 0.0)
verbs.natural.register(Gaussian)(lambda family, mu: mu / family.variance)
verbs.least_divergence.register(Quadratic)(
    lambda family, mu, lam: 0.5 * (mu - lam) * (mu - lam) / verbs.variance(family, mu)
)
verbs.convex.register(Quadratic)(lambda family: True)
verbs.tilt.register(Gaussian)(lambda family, mu, slope: mu + slope * family.variance)


@verbs.upper.register(Gaussian)
def _upper(family: Gaussian, mu: float, level: float) -> float:
    return mu + math.sqrt(2.0 * family.variance * max(level, 0.0))


@verbs.lower.register(Gaussian)
def _lower(family: Gaussian, mu: float, level: float) -> float:
    return mu - math.sqrt(2.0 * family.variance * max(level, 0.0))


@verbs.draw.register(Gaussian)
def _draw(family: Gaussian, mean: float, rng: Rng) -> float:
    return mean + math.sqrt(family.variance) * rng.standard_normal()


@posterior_draw.register(Gaussian)
def _posterior_draw(family: Gaussian, count: float, mean: float, rng: Rng) -> float:
    """For a flat prior."""
    return mean + math.sqrt(family.variance / count) * rng.standard_normal()


law_of.register(Quadratic)(lambda family, mean, deviation: NormalLaw(mean, deviation))


@least_surprise.register(Gaussian)
def _least_surprise(family: Gaussian, sample: float, mean: float, level: float) -> float:
    beyond = max(abs(sample - mean) - math.sqrt(2.0 * family.variance * max(level, 0.0)), 0.0)
    return 0.5 / family.variance * beyond * beyond


@absorbed.register(Gaussian)
def _absorbed(family: Gaussian, count: float, before: float, mean: float, sample: float) -> float:
    """N (m' - m) = x - m' and m' - m + x - m' = x - m."""
    return 0.5 / family.variance * (sample - before) * (sample - mean)


verbs.gaps.register(Quadratic)(lambda family: (math.sqrt(8.0), math.sqrt(8.0), 8))


@verbs.bet.register(Quadratic)
def _bet(
    family: Quadratic, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    """A half-normal prior on the far side of c, its standard deviation ``gap`` times the arm's."""
    wider = 1.0 + count * gap * gap  # 1 + N/kappa
    scale = side * count * gap / math.sqrt(verbs.variance(family, c) * wider)
    value, slope = half_normal(scale * (mean - c))
    return value - 0.5 * math.log(wider), -scale * slope


@verbs.regret.register(Gaussian)
def _regret(family: Gaussian, count: float, mean: float, center: float, spread: float) -> float:
    prior, noise = spread * spread, family.variance / count
    off = mean - center
    return 0.5 * math.log(1.0 + prior / noise) + 0.5 * off * off / (prior + noise)


@verbs.martingale_growth.register(Quadratic)
def _martingale_growth(family: Quadratic, count: float) -> float:
    """The sharper form of Kaufmann & Koolen (2021), Corollary 10."""
    return 2.0 * math.log(4.0 + math.log(count))


verbs.martingale_cost.register(Quadratic)(lambda family, x: gaussian_cost(x))


@spacing_tails.register(Gaussian)
def _spacing_tails(family: Gaussian, spacing: Spacing) -> Tails:
    """X - Y has twice the variance."""
    deviation = math.sqrt(2.0 * family.variance)
    return rounded(lambda size: normal_tail(size / deviation), spacing)
