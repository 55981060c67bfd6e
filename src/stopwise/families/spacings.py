"""How far apart two samples of one arm lie, if the family is right.

Given the sum of two samples, the law of their distance is free of the arm's mean in every family here.
So the distance of each fresh pair tests the family (its variance, its shape, its tails) and nothing
else: docs/continuous-metrics.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from stopwise.families.students_t import twice_student

FEW, MANY = 50.0, 1000.0  # a deviation, and terms, up to which tails of counts are summed


class Spacing(NamedTuple):
    """Two samples X and Y of one arm, and what is known of earlier pairs of the same arm."""

    size: float  # |X - Y|
    total: float  # X + Y
    unit: float  # of the last decimal place to which they are given
    pairs: int  # before this one
    squares: float  # of their spacings, summed
    totals: float  # of theirs, summed


class Tails(NamedTuple):
    """The chances of a larger spacing, and of one at least as large: equal but for rounding."""

    above: float
    at_least: float


def rounded(tail: Callable[[float], float], spacing: Spacing, most: float = math.inf) -> Tails:
    """Tails of a spacing that is known to half a unit, and lies below ``most``."""
    half = 0.5 * spacing.unit
    low, high = spacing.size - half, spacing.size + half
    return Tails(tail(high) if high < most else 0.0, tail(low) if low > 0.0 else 1.0)


def normal_tail(z: float) -> float:
    """P(|Z| >= z) of a normal variable."""
    return math.erfc(z * math.sqrt(0.5))


def student_tail(freedom: float, t: float) -> float:
    """P(|T| >= t) with so many degrees of freedom."""
    if t >= 1e150:  # its square is too large for a number
        return 0.0
    return math.exp(twice_student(freedom, -t, math.log1p(t * t / freedom))[0])


def beta_tail(shape: float, share: float) -> float:
    """P(|2B - 1| >= share) for B of the Beta(shape, shape) law: Student's with 2 shape degrees."""
    rest = (1.0 - share) * (1.0 + share)
    return student_tail(2.0 * shape, share * math.sqrt(2.0 * shape / rest)) if rest > 0.0 else 0.0


def gamma_tails(shape: float, spacing: Spacing) -> Tails:
    """X/(X + Y) has the Beta(shape, shape) law."""
    if spacing.total <= 0.0:
        return Tails(0.0, 1.0)
    return rounded(lambda size: beta_tail(shape, size / spacing.total), spacing, spacing.total)


def count_tails(dispersion: float, spacing: Spacing) -> Tails:
    """Counts with variance mu + mu^2/dispersion: infinite for Poisson, minus the trials for binomial.

    Given the total s, X has the beta-binomial law with both parameters ``dispersion``: the ratio of
    P(j - 1) to P(j) is j (a + s - j)/((s - j + 1)(a + j - 1)). Gaps go in steps of 2.
    """
    a, s, low = dispersion, spacing.total, 0.5 * (spacing.total - spacing.size)
    part = 1.0 if math.isinf(a) else (2.0 * a + s) / (2.0 * a + 1.0)
    spread = 0.5 * math.sqrt(max(s * part, 0.0))  # the standard deviation of X
    if spread == 0.0:
        return Tails(0.0, 1.0)
    # the Beta law with the same variance, and spacings rounded to 2
    if spread > FEW and low > MANY:
        shape = 0.125 * s * s / (spread * spread) - 0.5
        return rounded(lambda size: beta_tail(shape, size / s), spacing._replace(unit=2.0), s)
    chance = term = math.exp(_log_chance(a, s, low))
    below, j = 0.0, low
    while j >= 1.0 and term > 1e-17 * (chance + below):
        term *= j / (s - j + 1.0) * (1.0 if math.isinf(a) else (a + s - j) / (a + j - 1.0))
        below += term
        j -= 1.0
    above = min(2.0 * below, 1.0)
    return Tails(above, min(above + 2.0 * chance, 1.0) if spacing.size > 0.0 else 1.0)


def _log_chance(a: float, s: float, j: float) -> float:
    """log P(X = j) given the total s."""
    chosen = _log_choose(s, j)
    if math.isinf(a):
        return chosen - s * math.log(2.0)
    if a < 0.0:
        return _log_choose(-a, j) + _log_choose(-a, s - j) - _log_choose(-2.0 * a, s)
    made = math.lgamma(j + a) + math.lgamma(s - j + a) - math.lgamma(s + 2.0 * a)
    return chosen + made + math.lgamma(2.0 * a) - 2.0 * math.lgamma(a)


def _log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
