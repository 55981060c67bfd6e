"""Gaussian rewards: with known variances, or with unknown ones, which may differ from arm to arm.

With unknown variances, what is asked of an arm with N samples of mean mu-hat is the likelihood ratio with
the variance at its best for each mean: N d(mu-hat, lambda) with d = (1/2) log(1 + (mu-hat - lambda)^2/s^2),
s^2 the mean squared deviation. An arm without spread (all samples equal but for rounding) says nothing yet:
d = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats, Ints, Rng, moments_with
from stopwise.core.checks import entries, is_list, positive, vector
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.functions import jitable
from stopwise.core.options import NUMBERS, POSITIVE, Option
from stopwise.families.bets import Sloped
from stopwise.families.family import Logarithmic, OneVariance, Quadratic
from stopwise.families.laws import NormalLaw
from stopwise.families.spacings import Spacing, Tails, normal_tail, rounded, student_tail
from stopwise.families.students_t import t_bet

ROUNDING = 1e-20  # of a mean's square: a smaller mean squared deviation is rounding, not spread


class NormalArm(OneVariance, listed=False):
    """Normal samples of one known variance."""

    variance: float

    def divergence(self, mu: float, lam: float) -> float:
        gap = mu - lam
        return 0.5 / self.variance * gap * gap  # in this order no square is too large, or too small

    def variance_at(self, mu: float) -> float:
        return self.variance

    def variance_slope(self, mu: float) -> float:
        return 0.0

    def natural(self, mu: float) -> float:
        return mu / self.variance

    def tilt(self, mu: float, slope: float) -> float:
        return mu + slope * self.variance

    def upper(self, mu: float, level: float) -> float:
        return mu + math.sqrt(2.0 * self.variance * max(level, 0.0))

    def lower(self, mu: float, level: float) -> float:
        return mu - math.sqrt(2.0 * self.variance * max(level, 0.0))

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a flat prior."""
        return mean + math.sqrt(self.variance / count) * rng.standard_normal()

    def least_surprise(self, sample: float, mean: float, level: float) -> float:
        beyond = max(abs(sample - mean) - math.sqrt(2.0 * self.variance * max(level, 0.0)), 0.0)
        return 0.5 / self.variance * beyond * beyond


class Gaussian(NormalArm):
    """Normal rewards with known ``variance``: d = (mu - lambda)^2 / (2 variance).

    One number for all arms, or a list with one for each; None (in files "unknown"): nothing is known of
    the variances, which may differ, and they are estimated.
    """

    title = "Real numbers; the variance known or not"
    options = {
        "variance": Option(
            {"anyOf": [POSITIVE, NUMBERS, {"enum": ["unknown", None]}], "default": "unknown"},
            '"unknown", or the variance of one sample, or a list with one for each arm',
            'Write {kind = "gaussian", variance = "unknown"}: it is estimated from the samples. If you '
            "know the standard deviation of one sample, 40 say, its square will do: variance = 1600.",
        )
    }

    if TYPE_CHECKING:  # what __new__ takes

        def __init__(self, variance: float | ArrayLike | str | None = 1.0) -> None: ...

    def __new__(cls, variance: float | ArrayLike | str | None = 1.0) -> Gaussian:
        if variance is None or (isinstance(variance, str) and variance == "unknown"):
            return GaussianUnknown()  # type: ignore[return-value]
        if isinstance(variance, str):
            raise BadArgument(
                "variance", variance, 'a finite number above 0, a list of them, or "unknown"'
            )
        if is_list(variance):
            return GaussianArms(variance)  # type: ignore[return-value]
        return cls._make([positive("variance", variance)])

    def draw(self, mean: float, rng: Rng) -> float:
        return mean + math.sqrt(self.variance) * rng.standard_normal()

    def absorbed(self, count: float, before: float, mean: float, sample: float) -> float:
        """N (m' - m) = x - m' and m' - m + x - m' = x - m."""
        return 0.5 / self.variance * (sample - before) * (sample - mean)

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        prior, noise = spread * spread, self.variance / count
        off = mean - center
        return 0.5 * math.log(1.0 + prior / noise) + 0.5 * off * off / (prior + noise)

    def spacing_tails(self, spacing: Spacing) -> Tails:
        """X - Y has twice the variance."""
        deviation = math.sqrt(2.0 * self.variance)
        return rounded(lambda size: normal_tail(size / deviation), spacing)


class GaussianArms(Quadratic, listed=False):
    """What ``Gaussian`` makes of a list of variances."""

    variance: Floats

    def __init__(self, variance: ArrayLike) -> None:
        self.variance = _positive("variance", variance)

    def __repr__(self) -> str:
        return f"Gaussian(variance={self.variance.tolist()})"

    def of_arm(self, arm: int) -> Gaussian:
        return Gaussian(self.variance[arm])

    def arms_alike(self) -> bool:
        return False

    def of_arms(self, arms: Ints) -> GaussianArms:
        return GaussianArms(self.variance[arms])

    def check_arms(self, arms: int) -> None:
        variance: Floats = self.variance
        if variance.size != arms:
            allowed = f"one number, or {arms} numbers, one for each arm; this has {variance.size}"
            raise BadArgument("variance", variance.tolist(), allowed)


# ---------------------------------------------------------------------- unknown variances


class GaussianUnknown(Logarithmic, listed=False):
    """What ``Gaussian`` makes of ``variance=None``: normal rewards, nothing known of their variances."""

    def seen(self, deviations: ArrayLike) -> GaussianSeen:
        """The same to somebody who has found these standard deviations, one for each arm."""
        spread = _positive("deviations", deviations)
        return GaussianSeen(spread * spread)

    def __repr__(self) -> str:
        return "Gaussian(variance=None)"

    def divergence(self, mu: float, lam: float) -> float:
        raise _not_estimated()

    def variance_at(self, mu: float) -> float:
        raise _not_estimated()

    def check_truth(self) -> None:
        raise _not_estimated()

    def first_samples(self) -> int:
        return 2

    def init_stats(self, arms: int) -> Spread:
        return Spread(np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms))

    def update_stats(self, stats: Spread, arm: int, sample: float) -> None:
        count = stats.counts[arm] + 1.0
        mean, squares = moments_with(count, stats.means[arm], stats.squares[arm], sample)
        stats.counts[arm], stats.means[arm], stats.squares[arm] = count, mean, squares
        found = squares / count
        stats.variance[arm] = found if found > ROUNDING * mean * mean else 0.0

    def with_deviations(self, deviations: Floats) -> GaussianSeen:
        return GaussianSeen(deviations * deviations)

    def law_of(self, mean: float, deviation: float) -> NormalLaw:
        return NormalLaw(mean, deviation)

    def estimated(self, stats: Spread) -> GaussianSeen:
        return GaussianSeen(stats.variance)

    def spacing_tails(self, spacing: Spacing) -> Tails:
        """Over the root mean square of earlier spacings, Student's t: each independent of those before."""
        if spacing.pairs == 0 or spacing.squares <= 0.0:
            return Tails(0.0, 1.0)
        scale = math.sqrt(spacing.squares / spacing.pairs)
        return rounded(lambda size: student_tail(spacing.pairs, size / scale), spacing)

    def misfit_words(self, wide: bool) -> str:
        """Outliers widen the scale, after which other samples look alike: the two are not told apart."""
        reasons = "outliers, coarse rounding, or each depends on the one before"
        return f"are not normal ({reasons}), so the answer may be wrong more often than delta"


class GaussianSeen(Logarithmic, listed=False):
    """The arms' variances as estimated; 0 where there is no spread yet."""

    variance: Floats

    def __repr__(self) -> str:
        return f"Gaussian(variance=None).seen({np.sqrt(self.variance).tolist()})"

    def of_arm(self, arm: int) -> GaussianArm:
        return GaussianArm(self.variance[arm])

    def of_arms(self, arms: Ints) -> GaussianSeen:
        return GaussianSeen(self.variance[arms])

    def warning(self, labels: Sequence[str]) -> str:
        flat = [label for label, spread in zip(labels, self.variance, strict=True) if spread <= 0.0]
        if not flat:
            return ""
        return (
            f"all samples of {', '.join(flat)} are equal so far: without a spread nobody can say how sure "
            "their mean is, so they are no evidence until one differs. If an arm always gives one value, or "
            "values are rounded coarsely, give a variance (the rounding's at least), or use bounded."
        )

    def update_of_arms(self, family: Self, arms: Ints) -> None:
        for k in range(arms.size):
            self.variance[k] = family.variance[arms[k]]

    def check_arms(self, arms: int) -> None:
        if self.variance.size != arms:
            allowed = f"{arms} numbers, one for each arm; this has {self.variance.size}"
            raise BadArgument("deviations", np.sqrt(self.variance).tolist(), allowed)


class GaussianArm(Logarithmic, listed=False):
    """One arm of unknown variance, which is estimated."""

    variance: float

    def variance_at(self, mu: float) -> float:
        return self.variance

    def divergence(self, mu: float, lam: float) -> float:
        return half_log(lam - mu, self.variance)

    def divergence_slope(self, mu: float, lam: float) -> float:
        gap = lam - mu
        return gap / (self.variance + gap * gap) if self.variance > 0.0 else 0.0

    def divergence_curvature(self, mu: float, lam: float) -> float:
        square, spread = (lam - mu) * (lam - mu), self.variance
        return (spread - square) / ((spread + square) * (spread + square)) if spread > 0.0 else 0.0

    def upper(self, mu: float, level: float) -> float:
        return mu + _reach(self, level)

    def lower(self, mu: float, level: float) -> float:
        return mu - _reach(self, level)

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """Student's t with N - 1 degrees of freedom, for the prior 1/deviation; the mean without spread."""
        free = count - 1.0
        if self.variance <= 0.0 or free <= 0.0:
            return mean
        chi = 2.0 * rng.standard_gamma(0.5 * free)
        return mean + math.sqrt(self.variance / chi) * rng.standard_normal()

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        """A half-normal prior for (mean - c)/s on the far side of c; nothing is bet without spread."""
        if self.variance <= 0.0:
            return 0.0, 0.0
        scale = side / math.sqrt(self.variance)
        value, slope = t_bet(count, scale * (mean - c), gap)
        return value, -scale * slope


def _not_estimated() -> NotDefined:
    return NotDefined(
        "Gaussian(variance=None) says nothing about standard deviations, which this depends on. Give "
        "them: deviations=[...] (one number for all arms, or one for each), --deviations on the command "
        "line; or family=Gaussian(variance=None).seen([...]) for oracles."
    )


class Spread(NamedTuple):
    """Of each arm: samples, their mean and the sum of their squared deviations from it; the variance."""

    counts: Floats
    means: Floats
    squares: Floats
    variance: Floats


@jitable
def half_log(gap: float, spread: float) -> float:
    """(1/2) log(1 + gap^2/spread); 0 without spread."""
    if spread <= 0.0 or gap == 0.0:
        return 0.0
    ratio = abs(gap) / math.sqrt(spread)
    return 0.5 * math.log1p(ratio * ratio) if ratio < 1e150 else math.log(ratio)


@jitable
def _reach(family: GaussianArm, level: float) -> float:
    """How far from the mean the divergence reaches the level: anywhere without spread."""
    if family.variance <= 0.0:
        return math.inf
    grown = math.expm1(2.0 * max(level, 0.0)) if level < 350.0 else math.inf
    return math.sqrt(family.variance * grown)


def _positive(name: str, given: ArrayLike) -> Floats:
    """Numbers above 0, one for each arm."""
    found = vector(name, given)
    return entries(name, found, found > 0.0, "a number above 0")
