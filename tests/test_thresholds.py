"""Thresholds: numbers with a source, and the martingale that makes the mixture valid."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import stopwise as sw
from stopwise.stopping.constants import conservative_constant, gaussian_cost, general_cost
from stopwise.stopping.mixtures import regret
from stopwise.stopping.thresholds import constant, growth, proven

FOUR = sw.BestArm(4)


@pytest.mark.parametrize(("arms", "expected"), [(2, 14.58), (3, 23.45), (5, 43.26), (10, 99.77)])
def test_smallest_constant_of_the_paper(arms: int, expected: float) -> None:
    """It satisfies the theorem's inequality by a plain sum, for two arms."""
    log_c = conservative_constant(arms)
    assert round(log_c, 2) == expected
    if arms == 2:
        t = np.arange(2.0, 3e6)
        terms = (np.log(np.exp(log_c) * t**2) ** 2 * np.log(t)) ** 2 / t**2
        assert np.e * (np.e / 2) ** 2 * terms.sum() == pytest.approx(np.exp(log_c), rel=2e-2)


@pytest.mark.parametrize(
    ("threshold", "family", "expected"),
    [
        (sw.Stylized(), sw.Bernoulli(), 4.53),
        (sw.MixtureMartingale(), sw.Gaussian(), 16.33),
        (sw.MixtureMartingale(), sw.Bernoulli(), 33.66),
    ],
)
def test_orders_of_magnitude(threshold: Any, family: Any, expected: float) -> None:
    """K = 4, delta = 0.1, t = 4,000, best arm (the two arms that count have 2,000 samples)."""
    counts, means = np.array([2000.0, 2000.0, 1.0, 1.0]), np.array([0.5, 0.45, 0.43, 0.4])
    level = constant(threshold, FOUR, family, 0.1)
    if isinstance(threshold, sw.Stylized):
        counts = np.full(4, 1000.0)
    assert round(level + growth(threshold, FOUR, family, counts, means), 2) == expected


def test_the_mixture_is_below_the_bernoulli_theorem() -> None:
    """Garivier & Kaufmann's log(2 t (K-1)/delta) is a bound on this very mixture."""
    counts, means = np.array([2000.0, 2000.0, 1.0, 1.0]), np.array([0.5, 0.45, 0.0, 1.0])
    level = constant(sw.Mixture(), FOUR, sw.Bernoulli(), 0.1)
    level += growth(sw.Mixture(), FOUR, sw.Bernoulli(), counts, means)
    assert 4.53 < level < math.log(2 * 4000 * 3 / 0.1)


def test_asymptotic_forms() -> None:
    for x in (5.0, 10.0, 20.0):
        assert general_cost(x) == pytest.approx(x + 4 * math.log(1 + x + math.sqrt(2 * x)), rel=0.1)
        assert x < gaussian_cost(x) < general_cost(x)


def test_all_costs_are_log_one_over_delta_in_the_end() -> None:
    for threshold in (sw.Stylized(), sw.Conservative(), sw.MixtureMartingale(), sw.Mixture()):
        ratio = constant(threshold, FOUR, sw.Gaussian(), 1e-300) / math.log(1e300)
        assert 1.0 <= ratio < 1.2
        assert proven(threshold, FOUR, sw.Gaussian()) == (not isinstance(threshold, sw.Stylized))


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_bernoulli_mixture_sums_to_one(rounds: int) -> None:
    """m is a probability of sequences: best fit times exp(-regret), summed over all of them."""
    total = 0.0
    for sequence in itertools.product((0, 1), repeat=rounds):
        mean = sum(sequence) / rounds
        fit = math.prod(mean if x else 1 - mean for x in sequence)
        total += fit * math.exp(-regret(sw.Bernoulli(), float(rounds), mean, 0.0, 1.0))
    assert total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("family", "mass"),
    [
        (sw.Poisson(), lambda x: stats.poisson.pmf(x, x)),
        (sw.Geometric(), lambda x: stats.geom.pmf(x, 1 / x) if x >= 1 else 0.0),
        (sw.NegativeBinomial(3.0), lambda x: stats.nbinom.pmf(x, 3, 3 / (3 + x))),
        (sw.Binomial(6), lambda x: stats.binom.pmf(x, 6, x / 6) if x <= 6 else 0.0),
    ],
)
def test_discrete_mixtures_sum_to_one(family: Any, mass: Any) -> None:
    """One sample: the best fit is the law whose mean is the sample itself. Tails fall like x^-3/2."""
    x = np.arange(0, 7 if isinstance(family, sw.Binomial) else 40_000)
    start = 1 if isinstance(family, sw.Geometric) else 0
    total = sum(mass(v) * math.exp(-regret(family, 1.0, float(v), 0.0, 1.0)) for v in x[start:])
    assert 0.99 < total <= 1.0 + 1e-9


@pytest.mark.parametrize("spread", [0.5, 3.0])
@pytest.mark.parametrize(
    ("family", "density", "low"),
    [
        (sw.Gaussian(0.7), lambda x: stats.norm.pdf(x, x, math.sqrt(0.7)), -80.0),
        (sw.Exponential(), lambda x: stats.expon.pdf(x, scale=x), 0.0),
        (sw.Gamma(2.5), lambda x: stats.gamma.pdf(x, 2.5, scale=x / 2.5), 0.0),
    ],
)
def test_continuous_mixtures_integrate_to_one(
    family: Any, density: Any, low: float, spread: float
) -> None:
    def mixed(x: float) -> float:
        return float(density(x)) * math.exp(-regret(family, 1.0, x, 0.3, spread))

    if low < 0.0:
        total = integrate.quad(mixed, low, -low, points=[0.3], limit=400)[0]
    else:  # the tail falls like x^-3/2: integrate in log x
        total = integrate.quad(lambda u: mixed(math.exp(u)) * math.exp(u), -40.0, 40.0, limit=400)[
            0
        ]
    assert total == pytest.approx(1.0, abs=1e-6)


def test_regret_is_never_negative_and_grows_like_half_a_logarithm() -> None:
    for n in (1.0, 10.0, 1e3, 1e6):
        for mean in (0.0, 0.2, 1.0):
            assert regret(sw.Bernoulli(), n, mean, 0.0, 1.0) >= 0.0
    ratio = regret(sw.Bernoulli(), 1e8, 0.3, 0.0, 1.0) - regret(sw.Bernoulli(), 1e6, 0.3, 0.0, 1.0)
    assert ratio == pytest.approx(0.5 * math.log(100), rel=1e-3)


def test_mixture_refuses_what_it_has_no_prior_for() -> None:
    with pytest.raises(sw.NotDefined, match=r"Use MixtureMartingale\(\)"):
        constant(sw.Mixture(), FOUR, sw.InverseGaussian(1.0), 0.1)
