"""Families: the conformance kit, boundaries, and facts that need no kit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import naive
import stopwise as sw
from instances import SETTINGS, Setting, pair_id
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
        area = naive.divergence(lambda x: float(family.variance_at(x)), mu, lam)
        assert family.divergence(mu, lam) == pytest.approx(area, rel=1e-10)


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_nearby_means_lose_no_digits(setting: Setting) -> None:
    """d(mu, mu + h) = h^2/(2 V(mu)) (1 + O(h)): a cancelling formula would be off by far more."""
    mu = setting.low + 0.4 * setting.width
    for step in (1e-5, 1e-7):
        near = mu + step
        expected = 0.5 * (near - mu) ** 2 / setting.family.variance_at(mu)
        assert setting.family.divergence(mu, near) == pytest.approx(expected, rel=50 * step)


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
    assert family.divergence(end, lam) == pytest.approx(expected, rel=1e-12)
    assert family.divergence(end, end) == 0.0
    assert family.divergence(lam, end) == math.inf
    inside, beyond = family.upper(end, 0.4), family.lower(end, 0.4)
    if end != family.interval()[0]:
        inside, beyond = beyond, inside
    assert family.divergence(end, inside) == pytest.approx(0.4, rel=1e-9)
    assert beyond == end


def test_inverse_gaussian_never_costs_more_than_its_limit() -> None:
    family = sw.InverseGaussian(2.0)
    assert family.divergence(0.5, math.inf) == 2.0
    assert family.upper(0.5, 2.1) == math.inf
    assert family.upper(0.5, 1.9) < math.inf


@pytest.mark.parametrize(
    "rule", [sw.Conservative(), sw.MixtureMartingale(), sw.Mixture()], ids=repr
)
def test_thresholds_for_one_parameter_are_refused_for_unknown_variances(rule: Any) -> None:
    with pytest.raises(sw.NotDefined, match="no one-parameter exponential family"):
        sw.run(
            *(sw.BestArm(2), [0.0, 1.0]),
            **{"family": sw.Gaussian(None), "deviations": 1.0, "stopping": rule, "seed": 1},
        )


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
