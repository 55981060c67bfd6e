"""Families: the conformance kit, boundaries, and facts that need no kit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import naive
import stopwise as sw
from instances import SETTINGS, Setting, pair_id
from stopwise.families.verbs import divergence, interval, lower, upper, variance
from stopwise.testing import check_family


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_conformance(setting: Setting) -> None:
    means = np.linspace(setting.low, setting.high, 5).tolist()
    check_family(
        setting.family, means, draws=3000, largest_variance=isinstance(setting.family, sw.Bounded)
    )


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_divergence_is_the_integral(setting: Setting) -> None:
    family = setting.family
    a, b = setting.low + 0.3 * setting.width, setting.low + 0.8 * setting.width
    for mu, lam in ((a, b), (b, a)):
        area = naive.divergence(lambda x: float(variance(family, x)), mu, lam)
        assert divergence(family, mu, lam) == pytest.approx(area, rel=1e-10)


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_nearby_means_lose_no_digits(setting: Setting) -> None:
    """d(mu, mu + h) = h^2/(2 V(mu)) (1 + O(h)): a cancelling formula would be off by far more."""
    mu = setting.low + 0.4 * setting.width
    for step in (1e-5, 1e-7):
        near = mu + step
        expected = 0.5 * (near - mu) ** 2 / variance(setting.family, mu)
        assert divergence(setting.family, mu, near) == pytest.approx(expected, rel=50 * step)


@pytest.mark.parametrize(
    ("family", "end", "lam", "expected"),
    [
        (sw.Bernoulli(), 0.0, 0.3, -math.log(0.7)),
        (sw.Bernoulli(), 1.0, 0.3, -math.log(0.3)),
        (sw.Binomial(5), 0.0, 1.5, -5 * math.log(0.7)),
        (sw.Binomial(5), 5.0, 1.5, -5 * math.log(0.3)),
        (sw.Bounded(-1, 1), -1.0, 0.0, math.log(2)),
        (sw.Poisson(), 0.0, 2.5, 2.5),
        (sw.Geometric(), 1.0, 2.0, math.log(2)),
        (sw.NegativeBinomial(3), 0.0, 1.5, 3 * math.log(1.5)),
    ],
)
def test_empirical_means_on_the_boundary(
    family: Any, end: float, lam: float, expected: float
) -> None:
    assert divergence(family, end, lam) == pytest.approx(expected, rel=1e-12)
    assert divergence(family, end, end) == 0.0
    assert divergence(family, lam, end) == math.inf
    side = upper if end == interval(family)[0] else lower
    assert divergence(family, end, side(family, end, 0.4)) == pytest.approx(0.4, rel=1e-9)
    other = lower if side is upper else upper
    assert other(family, end, 0.4) == end


def test_inverse_gaussian_never_costs_more_than_its_limit() -> None:
    family = sw.InverseGaussian(2.0)
    assert divergence(family, 0.5, math.inf) == 2.0
    assert upper(family, 0.5, 2.1) == math.inf
    assert upper(family, 0.5, 1.9) < math.inf


def test_families_are_values() -> None:
    assert sw.Gaussian() == sw.Gaussian(1.0)
    assert sw.Bernoulli() != sw.Poisson()
    assert sw.BestArm(3) != sw.Thresholding(3, 0.0)
    assert sw.Sphere(2) == sw.Sphere(2)
    assert (
        len({sw.AnyHalfSpace([[1, 0]]), sw.AnyHalfSpace([[1, 0]]), sw.AllHalfSpaces([[1, 0]])}) == 2
    )
    assert hash(sw.Gamma(2.0)) == hash(sw.Gamma(2.0))
    assert repr(sw.Bounded(0, 1)) == "Bounded(low=0.0, high=1.0)"
