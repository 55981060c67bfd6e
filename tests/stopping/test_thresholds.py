"""Thresholds: numbers with a source, and the martingale that makes the mixture valid."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.optimize import minimize_scalar
from scipy.special import zeta

import stopwise as sw
from stopwise.core.data import Data
from stopwise.stopping.constants import conservative_constant
from stopwise.stopping.likelihood import largest_sum

FOUR = sw.BestArm(4)


def growth(rule: Any, problem: Any, family: Any, data: Data) -> float:
    """The data's part of a threshold, for arms that have all been sampled."""
    parts = np.array(
        [
            rule.arm_growth(family.of_arm(k), data.counts[k], data.means[k])
            for k in range(data.means.size)
        ]
    )
    common = rule.common_growth(float(np.sum(data.counts)))
    return float(common) + float(largest_sum(parts, problem.rank()))


def naive_right_side(
    log_c: float, arms: int, delta: float, slices: Any = lambda y: y + 1.0
) -> tuple[float, float]:
    """Bounds on log of e sum_t (e/K)^K (x slices(x log t))^K/t^2, x = log(C t^2/delta): a million terms,
    then areas.

    Beyond a million the terms fall, so that the others lie between the integrals from there and
    from one further.
    """

    def log_term(u: Any) -> Any:
        x = log_c - math.log(delta) + 2 * u
        return arms * np.log(x * slices(x * u)) - 2 * u

    last = 10**6
    logs = log_term(np.log(np.arange(min(arms, 2.0), last + 1.0)))
    far = np.linspace(math.log(last), math.log(last) + 60 + 20 * arms, 400_001)
    top = max(logs.max(), (log_term(far) + far).max())
    direct = np.exp(logs - top).sum()
    tails = [
        integrate.simpson(np.exp(log_term(far + shift) + far + shift - top), x=far)
        for shift in (math.log1p(1 / last), 0.0)
    ]
    low, high = (1 + arms * (1 - math.log(arms)) + top + math.log(direct + x) for x in tails)
    return low, high


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-3, 1e-20, 1e-300])
@pytest.mark.parametrize("arms", [1, 2, 3, 5, 10])
def test_conservative_constant_is_the_smallest(arms: int, delta: float) -> None:
    """The union bound holds at C, by a plain sum, and fails at a C smaller by 1e-7."""
    log_c = conservative_constant(arms, delta)
    assert naive_right_side(log_c, arms, delta)[1] <= log_c
    smaller = log_c * (1 - 1e-8) - 1e-7
    assert naive_right_side(smaller, arms, delta)[0] > smaller


@pytest.mark.parametrize("delta", [0.1, 1e-3])
@pytest.mark.parametrize("arms", [2, 3, 10])
def test_the_union_bound_holds_with_whole_slices(arms: int, delta: float) -> None:
    """The inequality has the ceiling of x log t. Without it the bound was 1.013 delta at K = 2."""
    log_c = conservative_constant(arms, delta)
    assert naive_right_side(log_c, arms, delta, np.ceil)[1] <= log_c


def printed_constant(arms: int, delta: float) -> float:
    """log C as the paper prints its condition: slices need not be whole."""

    def excess(log_c: float) -> float:
        return log_c - naive_right_side(log_c, arms, delta, lambda y: y)[1]

    return float(optimize.brentq(excess, 2.0 * arms, 400.0))


@pytest.mark.parametrize(("arms", "expected"), [(2, 14.58), (3, 23.45), (5, 43.26), (10, 99.77)])
def test_constant_as_the_paper_prints_its_condition(arms: int, expected: float) -> None:
    """Without delta in the logarithm, that is for delta = 1."""
    assert round(printed_constant(arms, 1.0), 2) == expected
    assert conservative_constant(arms, 1.0) > expected


def test_the_printed_condition_proves_less_than_it_says() -> None:
    """With its C the union bound gives 1.48 delta at K = 2 and delta = 0.1, and with whole slices more;
    delta in the logarithm alone leaves 1.013 delta.
    """
    printed = printed_constant(2, 1.0)
    low, high = naive_right_side(printed, 2, 0.1, lambda y: y)
    assert math.exp(low - printed) == pytest.approx(1.48, abs=0.005)
    assert high - low < 1e-6
    mended = printed_constant(2, 0.1)
    low, high = naive_right_side(mended, 2, 0.1, np.ceil)
    assert math.exp(low - mended) == pytest.approx(1.013, abs=0.001)


def test_conservative_constant_for_many_arms_and_all_deltas() -> None:
    """Newton's method must reach the solution, which lies at log(C/delta) >= 2K."""
    deltas = [1 - 1e-6, *(10.0**-x for x in (0.1, 0.5, 1, 1.001, 3, 20, 61, 150, 299, 300))]
    for arms in (1, 2, 7, 30, 100, 400, 1000):
        levels = [
            sw.Conservative().level(sw.BestArm(max(arms, 2)), sw.Gaussian(), x) for x in deltas
        ]
        assert np.all(np.diff(levels) > 0.0)
        assert levels[0] >= 2 * arms
    for j in range(8 * 40):  # as Sticky's region is tabulated: delta = t^-5 up to t = 2^40
        assert conservative_constant(1000, 2.0 ** (-5 * j / 8)) >= 2000


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
    fixed = threshold.level(FOUR, family, 0.1)
    if isinstance(threshold, sw.Stylized):
        counts = np.full(4, 1000.0)
    assert round(fixed + growth(threshold, FOUR, family, Data(counts, means)), 2) == expected


def test_the_mixture_is_below_the_bernoulli_theorem() -> None:
    """Garivier & Kaufmann's log(2 t (K-1)/delta) is a bound on this very mixture."""
    counts, means = np.array([2000.0, 2000.0, 1.0, 1.0]), np.array([0.5, 0.45, 0.0, 1.0])
    found = sw.Mixture().level(FOUR, sw.Bernoulli(), 0.1)
    found += growth(sw.Mixture(), FOUR, sw.Bernoulli(), Data(counts, means))
    assert 4.53 < found < math.log(2 * 4000 * 3 / 0.1)


def test_asymptotic_forms() -> None:
    for x in (5.0, 10.0, 20.0):
        general = sw.Bernoulli().martingale_cost(x)
        assert general == pytest.approx(x + 4 * math.log(1 + x + math.sqrt(2 * x)), rel=0.1)
        assert x < sw.Gaussian().martingale_cost(x) < general


@pytest.mark.parametrize("x", [0.01, 1.0, 5.0, 80.0, 690.0])
def test_the_least_cost_of_normal_arms(x: float) -> None:
    """C(x) of Kaufmann & Koolen (2021), Corollary 10, with the zeta function and minimiser of scipy."""

    def cost(share: float) -> float:
        g = 2 * share - 2 * share * math.log(4 * share) + math.log(float(zeta(2 * share)))
        return (g - 0.5 * math.log(1.0 - share) + x) / share

    found = minimize_scalar(cost, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-12})
    assert sw.Gaussian().martingale_cost(x) == pytest.approx(float(found.fun), rel=1e-14)


def test_all_costs_are_log_one_over_delta_in_the_end() -> None:
    for threshold in (sw.Stylized(), sw.Conservative(), sw.MixtureMartingale(), sw.Mixture()):
        ratio = threshold.level(FOUR, sw.Gaussian(), 1e-300) / math.log(1e300)
        assert 1.0 <= ratio < 1.2
        assert threshold.proven(FOUR, sw.Gaussian()) == (not isinstance(threshold, sw.Stylized))


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_bernoulli_mixture_sums_to_one(rounds: int) -> None:
    """m is a probability of sequences: best fit times exp(-regret), summed over all of them."""
    total = 0.0
    for sequence in itertools.product((0, 1), repeat=rounds):
        mean = sum(sequence) / rounds
        fit = math.prod(mean if x else 1 - mean for x in sequence)
        total += fit * math.exp(-sw.Bernoulli().regret(float(rounds), mean, 0.0, 1.0))
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
    total = sum(mass(v) * math.exp(-family.regret(1.0, float(v), 0.0, 1.0)) for v in x[start:])
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
        return float(density(x)) * math.exp(-family.regret(1.0, x, 0.3, spread))

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
            assert sw.Bernoulli().regret(n, mean, 0.0, 1.0) >= 0.0
    ratio = sw.Bernoulli().regret(1e8, 0.3, 0.0, 1.0) - sw.Bernoulli().regret(1e6, 0.3, 0.0, 1.0)
    assert ratio == pytest.approx(0.5 * math.log(100), rel=1e-3)


def test_mixture_refuses_what_it_has_no_prior_for() -> None:
    with pytest.raises(sw.NotDefined, match=r"Use MixtureMartingale\(\)"):
        sw.Mixture().level(FOUR, sw.InverseGaussian(1.0), 0.1)
