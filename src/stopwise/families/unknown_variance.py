"""Gaussian rewards with unknown variances, which may differ from arm to arm.

What is asked of an arm with N samples of mean mu-hat is the likelihood ratio with the variance at its
best for each mean: N d(mu-hat, lambda) with d = (1/2) log(1 + (mu-hat - lambda)^2/s^2), s^2 the mean
squared deviation. An arm without spread (all samples equal but for rounding) says nothing yet: d = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.core.checks import vector
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.values import Empty
from stopwise.core.verbs import jitable
from stopwise.families import verbs
from stopwise.families.laws import NormalLaw, law_of, with_deviations
from stopwise.families.posterior import posterior_draw
from stopwise.families.spacings import (
    Spacing,
    Tails,
    misfit_words,
    rounded,
    spacing_tails,
    student_tail,
)
from stopwise.families.students_t import t_bet
from stopwise.families.verbs import Logarithmic

ROUNDING = 1e-20  # of a mean's square: a smaller mean squared deviation is rounding, not spread


class GaussianUnknown(Empty, Logarithmic, listed=False):
    """What ``Gaussian`` makes of ``variance=None``: normal rewards, nothing known of their variances."""

    __slots__ = ()

    def seen(self, deviations: ArrayLike) -> GaussianSeen:
        """The same to somebody who has found these standard deviations, one for each arm."""
        spread = vector("deviations", deviations)
        if np.any(spread <= 0.0):
            arm = int(np.argmax(spread <= 0.0))
            raise BadArgument(f"deviations[{arm}]", float(spread[arm]), "a number above 0")
        return GaussianSeen(spread * spread)

    def __repr__(self) -> str:
        return "Gaussian(variance=None)"


class _GaussianSeen(NamedTuple):
    variance: Floats


class GaussianSeen(_GaussianSeen, Logarithmic, listed=False):
    """The arms' variances as estimated; 0 where there is no spread yet."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Gaussian(variance=None).seen({np.sqrt(self.variance).tolist()})"


class _GaussianArm(NamedTuple):
    variance: float


class GaussianArm(_GaussianArm, Logarithmic, listed=False):
    """One of them."""

    __slots__ = ()


# ------------------------------------------------------------------------------- before any sample

verbs.interval.register(Logarithmic)(lambda family: (-math.inf, math.inf))
verbs.arms_alike.register(Logarithmic)(lambda family: False)
verbs.usual_stopping.register(Logarithmic)(lambda family: "wealth")
verbs.additive.register(Logarithmic)(lambda family: False)
verbs.first_samples.register(GaussianUnknown)(lambda family: 2)


def _not_seen(family: GaussianUnknown, *_: Any) -> Never:
    raise NotDefined(
        "Gaussian(variance=None) says nothing about standard deviations, which this depends on. Give "
        "them: deviations=[...] (one number for all arms, or one for each), --deviations on the command "
        "line; or family=Gaussian(variance=None).seen([...]) for oracles."
    )


for _verb in (verbs.divergence, verbs.variance, verbs.check_truth):
    _verb.register(GaussianUnknown)(_not_seen)


def _no_such_threshold(family: Any, *_: Any) -> Never:
    raise NotDefined(
        "Gaussian(variance=None) is no one-parameter exponential family, for which this threshold is "
        "proven. Use Wealth(), or Stylized() for experiments."
    )


for _verb in (verbs.martingale_cost, verbs.martingale_growth, verbs.regret, verbs.one_parameter):
    _verb.register(Logarithmic)(_no_such_threshold)


class Spread(NamedTuple):
    """Of each arm: samples, their mean and the sum of their squared deviations from it; the variance."""

    counts: Floats
    means: Floats
    squares: Floats
    variance: Floats


@verbs.record.register(GaussianUnknown)
def _record(family: GaussianUnknown, arms: int) -> Spread:
    return Spread(np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms))


@verbs.note.register(GaussianUnknown)
def _note(family: GaussianUnknown, record: Spread, arm: int, sample: float) -> None:
    """Welford's update, which loses no digits to a mean that is large beside the spread."""
    record.counts[arm] += 1.0
    off = sample - record.means[arm]
    record.means[arm] += off / record.counts[arm]
    record.squares[arm] += off * (sample - record.means[arm])
    found = record.squares[arm] / record.counts[arm]
    spread = found > ROUNDING * record.means[arm] * record.means[arm]
    record.variance[arm] = found if spread else 0.0


@with_deviations.register(GaussianUnknown)
def _with_deviations(family: GaussianUnknown, deviations: Floats) -> GaussianSeen:
    return GaussianSeen(deviations * deviations)


law_of.register(GaussianUnknown)(lambda family, mean, deviation: NormalLaw(mean, deviation))
verbs.seen.register(GaussianUnknown)(lambda family, record: GaussianSeen(record.variance))

# ------------------------------------------------------------------------------ with its estimates

verbs.of_arm.register(GaussianSeen)(lambda family, arm: GaussianArm(family.variance[arm]))
verbs.of_group.register(GaussianSeen)(lambda family, arms: GaussianSeen(family.variance[arms]))


@verbs.caution.register(GaussianSeen)
def _caution(family: GaussianSeen, labels: Sequence[str]) -> str:
    flat = [label for label, spread in zip(labels, family.variance, strict=True) if spread <= 0.0]
    if not flat:
        return ""
    return (
        f"all samples of {', '.join(flat)} are equal so far: without a spread nobody can say how sure "
        "their mean is, so they are no evidence until one differs. If an arm always gives one value, or "
        "values are rounded coarsely, give a variance (the rounding's at least), or use bounded."
    )


@verbs.regroup.register(GaussianSeen)
def _regroup(own: GaussianSeen, family: GaussianSeen, arms: Ints) -> None:
    for k in range(arms.size):
        own.variance[k] = family.variance[arms[k]]


@verbs.check_arms.register(GaussianSeen)
def _check_arms(family: GaussianSeen, arms: int) -> None:
    if family.variance.size != arms:
        allowed = f"{arms} numbers, one for each arm; this has {family.variance.size}"
        raise BadArgument("deviations", np.sqrt(family.variance).tolist(), allowed)


verbs.variance.register(GaussianArm)(lambda family, mu: family.variance)


@jitable
def half_log(gap: float, spread: float) -> float:
    """(1/2) log(1 + gap^2/spread); 0 without spread."""
    if spread <= 0.0 or gap == 0.0:
        return 0.0
    ratio = abs(gap) / math.sqrt(spread)
    return 0.5 * math.log1p(ratio * ratio) if ratio < 1e150 else math.log(ratio)


@verbs.divergence.register(GaussianArm)
def _divergence(family: GaussianArm, mu: float, lam: float) -> float:
    return half_log(lam - mu, family.variance)


@verbs.divergence_slope.register(GaussianArm)
def _divergence_slope(family: GaussianArm, mu: float, lam: float) -> float:
    gap = lam - mu
    return gap / (family.variance + gap * gap) if family.variance > 0.0 else 0.0


@verbs.divergence_curvature.register(GaussianArm)
def _divergence_curvature(family: GaussianArm, mu: float, lam: float) -> float:
    square, spread = (lam - mu) * (lam - mu), family.variance
    return (spread - square) / ((spread + square) * (spread + square)) if spread > 0.0 else 0.0


@jitable
def _reach(family: GaussianArm, level: float) -> float:
    """How far from the mean the divergence reaches the level: anywhere without spread."""
    if family.variance <= 0.0:
        return math.inf
    grown = math.expm1(2.0 * max(level, 0.0)) if level < 350.0 else math.inf
    return math.sqrt(family.variance * grown)


verbs.upper.register(GaussianArm)(lambda family, mu, level: mu + _reach(family, level))
verbs.lower.register(GaussianArm)(lambda family, mu, level: mu - _reach(family, level))


@posterior_draw.register(GaussianArm)
def _posterior_draw(family: GaussianArm, count: float, mean: float, rng: Rng) -> float:
    """Student's t with N - 1 degrees of freedom, for the prior 1/deviation; the mean without spread."""
    free = count - 1.0
    if family.variance <= 0.0 or free <= 0.0:
        return mean
    chi = 2.0 * rng.standard_gamma(0.5 * free)
    return mean + math.sqrt(family.variance / chi) * rng.standard_normal()


verbs.gaps.register(Logarithmic)(lambda family: (math.sqrt(8.0), math.sqrt(8.0), 8))


@verbs.bet.register(GaussianArm)
def _bet(
    family: GaussianArm, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    """A half-normal prior for (mean - c)/s on the far side of c; nothing is bet without spread."""
    if family.variance <= 0.0:
        return 0.0, 0.0
    scale = side / math.sqrt(family.variance)
    value, slope = t_bet(count, scale * (mean - c), gap)
    return value, -scale * slope


@spacing_tails.register(GaussianUnknown)
def _spacing_tails(family: GaussianUnknown, spacing: Spacing) -> Tails:
    """Over the root mean square of earlier spacings, Student's t: each independent of those before."""
    if spacing.pairs == 0 or spacing.squares <= 0.0:
        return Tails(0.0, 1.0)
    scale = math.sqrt(spacing.squares / spacing.pairs)
    return rounded(lambda size: student_tail(spacing.pairs, size / scale), spacing)


@misfit_words.register(GaussianUnknown)
def _misfit_words(family: GaussianUnknown, wide: bool) -> str:
    """Outliers widen the scale, after which other samples look alike: the two are not told apart."""
    reasons = "outliers, coarse rounding, or each depends on the one before"
    return f"are not normal ({reasons}), so the answer may be wrong more often than delta"
