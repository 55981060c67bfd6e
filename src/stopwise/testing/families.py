"""What every family must satisfy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from stopwise.families.family import Family

LEVELS = (1e-6, 0.01, 0.3, 2.0)


def check_family(
    family: Family, means: Sequence[float], draws: int = 4000, largest_variance: bool = False
) -> None:
    """Check a family at means inside its interval; ``draws`` samples of each (0: none).

    The sample means must lie within 6 standard errors, which happens to a correct sampler with a
    probability of about 2e-9 for each mean. ``largest_variance`` says that ``variance`` is a bound.
    """
    low, high = family.interval()
    for mu in means:
        assert low < mu < high, f"{mu} is not inside the interval ({low}, {high}) of {family}"
        assert family.divergence(mu, mu) == 0.0, f"d({mu}, {mu}) is not 0 for {family}"
        _check_derivatives(family, mu)
        _check_inverses(family, mu)
        for lam in means:
            _check_divergence(family, mu, lam)
        if family.convex():
            _check_tilt(family, mu, means)
        if draws:
            _check_draws(family, mu, draws, largest_variance)
    _check_log_concave(family, sorted(means))


def _close(name: str, got: float, expected: float, relative: float) -> None:
    good = math.isclose(got, expected, rel_tol=relative, abs_tol=1e-300)
    assert good, f"{name}: got {got!r}, expected {expected!r}"


def _check_divergence(family: Family, mu: float, lam: float) -> None:
    """d is the integral of (x - mu)/V(x) from mu to lambda."""
    from scipy.integrate import quad

    if mu == lam:
        return
    tight = {"epsabs": 0.0, "epsrel": 1e-11}
    area, _ = quad(lambda x: (x - mu) / family.variance_at(x), mu, lam, **tight)
    _close(f"d({mu}, {lam}) of {family}", family.divergence(mu, lam), area, 1e-8)


def _check_derivatives(family: Family, mu: float) -> None:
    """V', the natural parameter (1/V) and both derivatives of d against central differences."""
    low, high = family.interval()
    step = 1e-5 * min(1.0, mu - low, high - mu)

    def difference(function: Any, x: float) -> float:
        return float(function(x + step) - function(x - step)) / (2.0 * step)

    spread = family.variance_at(mu)
    rise = difference(lambda x: family.variance_at(x), mu)
    assert math.isclose(family.variance_slope(mu), rise, rel_tol=1e-5, abs_tol=1e-6 * spread)
    steep = difference(lambda x: family.natural(x), mu)
    _close(f"natural'({mu}) of {family}", steep, 1 / spread, 1e-6)
    lam = mu + 0.3 * (high - mu) if high < math.inf else 1.3 * mu + 0.1
    slope = difference(lambda x: family.divergence(mu, x), lam)
    _close(f"d'({mu}, {lam}) of {family}", family.divergence_slope(mu, lam), slope, 1e-5)
    bend = difference(lambda x: family.divergence_slope(mu, x), lam)
    got = family.divergence_curvature(mu, lam)
    close = math.isclose(got, bend, rel_tol=1e-4, abs_tol=1e-4 / spread)
    assert close, f"d''({mu}, {lam}) of {family}: got {got!r}, expected {bend!r}"


def _check_inverses(family: Family, mu: float) -> None:
    """d(mu, upper(mu, level)) = level, unless the whole side is closer than that."""
    low, high = family.interval()
    for function, end in ((family.upper, high), (family.lower, low)):
        name = function.__name__
        assert function(mu, 0.0) == mu, f"{name}({mu}, 0) is not {mu}: {family}"
        for level in LEVELS:
            lam = function(mu, level)
            assert (lam - mu) * (end - mu) > 0.0, f"{name} went the wrong way: {family}"
            if abs(lam - end) > 1e-14 * (1.0 + abs(end)):  # else rounding decides
                reached = family.divergence(mu, lam)
                _close(f"d({mu}, {name}) of {family}", reached, level, 1e-8)


def _check_tilt(family: Family, mu: float, means: Sequence[float]) -> None:
    """tilt inverts the slope, and the slope rises."""
    for lam in means:
        slope = family.divergence_slope(mu, lam)
        _close(f"tilt({mu}, {slope}) of {family}", family.tilt(mu, slope), lam, 1e-9)
        bend = family.divergence_curvature(mu, lam)
        assert bend >= 0.0, f"{family} is not convex at {mu}, {lam}"


def _check_log_concave(family: Family, means: Sequence[float]) -> None:
    """(log V)' falls: then comparing two arms has one stationary point (see cells/gap.py)."""
    slopes = [family.variance_slope(mu) / family.variance_at(mu) for mu in means]
    falls = all(a >= b * (1 - 1e-12) - 1e-12 for a, b in pairwise(slopes))
    assert falls, f"log V of {family} is not concave: {slopes}"


def _check_draws(family: Family, mu: float, draws: int, largest_variance: bool) -> None:
    rng = np.random.default_rng(20190101)
    sample = np.array([family.draw(mu, rng) for _ in range(draws)])
    good = all(family.supports(float(value)) for value in sample)
    assert good, f"{family} drew outside itself"
    spread = family.variance_at(mu)
    error = math.sqrt(spread / draws)
    assert abs(sample.mean() - mu) <= 6.0 * error, f"{family}: mean {sample.mean()} for {mu}"
    ratio = float(sample.var()) / spread
    assert ratio <= 1.6, f"{family}: variance {sample.var()} for {spread}"
    assert largest_variance or ratio >= 0.6, f"{family}: variance {sample.var()} for {spread}"
