"""How far apart two samples lie: against sums and integrals of the family's own law, for any mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import stopwise as sw
from stopwise.families.spacings import Spacing, Tails

FINE = 1e-15  # a unit that rounds nothing
Law = Callable[[float], Any]  # by the mean
COUNTS: list[tuple[Any, Law, float]] = [
    (sw.Poisson(), stats.poisson, 0.0),
    (sw.Binomial(20), lambda mean: stats.binom(20, mean / 20), 0.0),
    (sw.NegativeBinomial(0.4), lambda mean: stats.nbinom(0.4, 0.4 / (0.4 + mean)), 0.0),
    (sw.NegativeBinomial(6), lambda mean: stats.nbinom(6, 6 / (6 + mean)), 0.0),
    (sw.Geometric(), lambda mean: stats.geom(1 / mean), 1.0),
]
NUMBERS: list[tuple[Any, Law]] = [
    (sw.Gaussian(2.5), lambda mean: stats.norm(mean, math.sqrt(2.5))),
    (sw.Exponential(), lambda mean: stats.expon(scale=mean)),
    (sw.Gamma(0.7), lambda mean: stats.gamma(0.7, scale=mean / 0.7)),
    (sw.Gamma(4.0), lambda mean: stats.gamma(4.0, scale=mean / 4.0)),
    (sw.InverseGaussian(3.0), lambda mean: stats.invgauss(mean / 3.0, scale=3.0)),
]


def spacing(size: float, total: float, unit: float = FINE, **more: Any) -> Spacing:
    return Spacing(size, total, unit, **{"pairs": 0, "squares": 0.0, "totals": 0.0, **more})


@pytest.mark.parametrize("total", [2, 3, 12, 25])
@pytest.mark.parametrize(("family", "law", "least"), COUNTS, ids=lambda each: repr(each)[:22])
def test_counts(family: Any, law: Law, least: float, total: int) -> None:
    """Given the total, the two counts have the same chances for every mean."""
    for mean in (1.5, 6.0):
        values = np.arange(total + 1)
        chances = law(mean).pmf(values) * law(mean).pmf(total - values)
        sizes, chances = np.abs(2 * values - total), chances / chances.sum()
        for size in sizes[(chances > 0) & (values >= least)]:
            exact = chances[sizes > size].sum(), chances[sizes >= size].sum()
            found = family.spacing_tails(spacing(float(size), float(total), 1.0))
            assert found == pytest.approx(exact, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("family", "law"), NUMBERS, ids=lambda each: repr(each)[:22])
def test_numbers(family: Any, law: Law) -> None:
    """The same for densities, by integration."""
    total = 3.0
    for mean in (0.8, 2.0):
        one = law(mean)

        def density(x: float, one: Any = one) -> float:
            return float(one.pdf(x) * one.pdf(total - x))

        bottom = 0.0 if one.support()[0] == 0.0 else -15.0
        whole = integrate.quad(density, bottom, total / 2, limit=200)[0]
        for size in (0.3, 1.0, 2.5):
            exact = integrate.quad(density, bottom, (total - size) / 2, limit=200)[0] / whole
            found = family.spacing_tails(spacing(size, total))
            assert found == pytest.approx((exact, exact), rel=1e-6)


def test_unknown_variances_are_judged_by_earlier_pairs() -> None:
    family: Any = sw.Gaussian(variance=None)
    found = family.spacing_tails(spacing(3.0, 9.0, pairs=5, squares=20.0))
    exact = 2.0 * stats.t.sf(3.0 / math.sqrt(20.0 / 5), 5)
    assert found == pytest.approx((exact, exact))
    for nothing in ({}, {"pairs": 4}):
        assert family.spacing_tails(spacing(3.0, 9.0, **nothing)) == (0.0, 1.0)


def test_the_totals_of_waiting_times() -> None:
    found = sw.Exponential().total_tails(spacing(1.0, 5.0, pairs=7, totals=20.0))
    exact = stats.beta.sf(5.0 / 25.0, 2, 14)
    assert found == pytest.approx((exact, exact))
    assert sw.Exponential().total_tails(spacing(1.0, 1e100, pairs=7, totals=1e-100))[1] == 0.0


def test_rounded_values_lie_between_two_tails() -> None:
    """Whole numbers, 2 apart: between 1.5 and 2.5; equal ones: anything up to a half."""
    family, deviation = sw.Gaussian(1.0), math.sqrt(2.0)
    above, at_least = 2 * stats.norm.sf(2.5 / deviation), 2 * stats.norm.sf(1.5 / deviation)
    assert family.spacing_tails(spacing(2.0, 8.0, 1.0)) == pytest.approx((above, at_least))
    found = family.spacing_tails(spacing(0.0, 8.0, 1.0))
    assert found == pytest.approx((2 * stats.norm.sf(0.5 / deviation), 1.0))


@pytest.mark.parametrize("family", [sw.Bernoulli(), sw.Bounded(), sw.BoundedCoin()], ids=repr)
def test_some_families_cannot_be_contradicted(family: Any) -> None:
    """Whatever lies between the ends is allowed."""
    assert family.spacing_tails(spacing(1.0, 1.0)) == Tails(0.0, 1.0)


LARGE: list[tuple[Any, Any]] = [
    (sw.Poisson(), stats.binom(20_000, 0.5)),
    (sw.Binomial(30_000), stats.hypergeom(60_000, 30_000, 20_000)),
    (sw.NegativeBinomial(0.3), stats.betabinom(20_000, 0.3, 0.3)),
    (sw.NegativeBinomial(5.0), stats.betabinom(20_000, 5.0, 5.0)),
]


@pytest.mark.parametrize(("family", "law"), LARGE, ids=lambda each: repr(each)[:22])
def test_large_counts(family: Any, law: Any) -> None:
    """Approximations begin where sums would take long; they agree to a hundredth."""
    values = np.arange(20_001)
    chances, sizes = law.pmf(values), np.abs(2 * values - 20_000)
    for size in (0, 100, 300, 600, 4000, 19_000, 20_000):
        exact = chances[sizes > size].sum(), chances[sizes >= size].sum()
        found = family.spacing_tails(spacing(float(size), 20_000.0, 1.0))
        assert found == pytest.approx(exact, rel=1e-2, abs=1e-12)
