"""Student's cdf, and bets on t statistics, against SciPy and against integrals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

import stopwise as sw
from naive_students import bet_by_integrals, log_bet, samples_of
from stopwise.core.compile.kernels import compiled
from stopwise.families.students_t import t_bet, twice_student

FREEDOMS = (1, 2, 3, 5, 10, 29, 39, 40, 41, 100, 1000, 10**5, 10**8)
POINTS = (0.0, 0.01, 0.3, 1.0, 2.0, 3.5, 5.0, 7.0, 10.0, 20.0, 35.0, 100.0, 1e4)


@pytest.mark.parametrize("count", FREEDOMS)
def test_students_cdf(count: int) -> None:
    """log 2 T_N(z) to ten digits in both tails, and its derivative."""
    for size in POINTS:
        for z in (size, -size):
            expected = float(t.logcdf(z, count)) + math.log(2.0)
            if not math.isfinite(expected):
                continue
            value, slope = twice_student(float(count), z, math.log1p(z * z / count))
            assert value == pytest.approx(expected, rel=1e-9, abs=1e-10)
            steep = math.exp(float(t.logpdf(z, count)) - float(t.logcdf(z, count)))
            assert slope == pytest.approx(steep, rel=1e-7, abs=1e-12)


def test_the_cdf_far_out_where_scipy_gives_up() -> None:
    """The tail of 30 degrees of freedom at 1e30 is a power; nothing overflows."""
    value, _ = twice_student(30.0, -1e30, math.log1p(1e60 / 30.0))
    closer, _ = twice_student(30.0, -1e20, math.log1p(1e40 / 30.0))
    assert closer - value == pytest.approx(300.0 * math.log(10.0), rel=1e-9)


def test_compiled_and_plain_agree_bit_for_bit() -> None:
    """A campaign that is played in plain Python may be verified by compiled code."""
    fast, rng = compiled(t_bet), np.random.default_rng(1)
    for count in rng.integers(2, 5000, 300).astype(float):
        for ratio in (-2.0, *rng.normal(0.0, 0.3, 4), 9.0):
            assert fast(count, float(ratio), 0.3) == t_bet(count, float(ratio), 0.3)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_a_bet_is_the_integral_over_its_priors(count: int) -> None:
    """Right-Haar for the scale, half-normal for (mean - c)/s: to what quadrature gives."""
    samples = np.random.default_rng(count).normal(0.4, 1.3, count)
    for kappa in (0.125, 1.0, 8.0):
        for side in (1.0, -1.0):
            expected = math.log(bet_by_integrals(samples, 0.1, side, kappa))
            assert log_bet(samples, 0.1, side, kappa) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("count", [2, 3, 10, 45, 400])
def test_a_bet_is_the_formula(count: int) -> None:
    """Written with ratios, as computed, beside written with sums of squares; and the slope in c."""
    family = sw.Gaussian(variance=None).seen([2.0])
    for mean in (-3.0, -0.2, 0.0, 0.1, 1.5, 30.0):
        samples = samples_of(count, mean, 2.0, count)
        for gap in (8.0**0.5, 1.0, 8.0**-2):
            for side in (1.0, -1.0):
                own, n = family.of_arm(0), float(count)
                value, slope = own.bet(side, n, mean, 0.05, gap)
                expected = log_bet(samples, 0.05, side, gap**-2)
                if math.isfinite(expected):  # SciPy's tail ends at 1e-308
                    assert value == pytest.approx(expected, rel=1e-8, abs=1e-8)
                step = 1e-5
                rise = own.bet(side, n, mean, 0.05 + step, gap)[0]
                rise -= own.bet(side, n, mean, 0.05 - step, gap)[0]
                assert slope == pytest.approx(rise / (2.0 * step), rel=1e-4, abs=1e-6)
                assert side * slope <= 0.0  # W+ falls and W- rises in c


def test_a_bet_has_mean_one() -> None:
    """Of two samples what counts is the angle: (x - c, y - c) up to scale is uniform on a circle."""
    angles = (np.arange(20000) + 0.5) / 20000 * 2.0 * math.pi
    for gap in (8.0**0.5, 1.0, 0.2):
        made = []
        for angle in angles:
            x, y = math.cos(angle), math.sin(angle)
            mean, spread = 0.5 * (x + y), 0.5 * abs(x - y)
            made.append(math.exp(t_bet(2.0, mean / spread, gap)[0]))
        assert np.mean(made) == pytest.approx(1.0, abs=1e-4)
    # of one sample it is the sign
    for kappa in (0.125, 1.0, 64.0):
        both = sum(math.exp(log_bet(np.array([x]), 0.0, 1.0, kappa)) for x in (-3.0, 3.0))
        assert 0.5 * both == pytest.approx(1.0, abs=1e-12)


def test_a_logarithm_of_wealth_is_convex_in_tau() -> None:
    """tau = r/sqrt(1 + r^2): what bounds a pair's wealth from a few tangents."""
    tau = np.linspace(-0.999, 0.999, 401)
    ratios = tau / np.sqrt(1.0 - tau * tau)
    for count in (2.0, 9.0, 300.0):
        for gap in (8.0**0.5, 1.0, 8.0**-2):
            values = np.array([t_bet(count, float(r), gap)[0] for r in ratios])
            assert np.all(np.diff(values, 2) >= -1e-9 * np.abs(values[1:-1]) - 1e-12)
