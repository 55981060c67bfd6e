"""Small numerics over arrays, against NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from stopwise.core.arrays import log_sum_exp, moments_with


@pytest.mark.parametrize("center", [0.0, 1.0, 1e8])
def test_moments_lose_no_digits_to_a_large_mean(center: float) -> None:
    samples = center + np.random.default_rng(2).standard_normal(500)
    mean = squares = 0.0
    for n, x in enumerate(samples.tolist(), start=1):
        mean, squares = moments_with(float(n), mean, squares, x)
    exact = math.fsum(samples) / samples.size
    assert mean == pytest.approx(exact, rel=1e-14)
    # n u kappa (Chan, Golub & LeVeque 1983); sums of squares would lose n u kappa^2, here all digits
    expected = math.fsum((samples - exact) ** 2)
    kappa = math.sqrt(1.0 + samples.size * exact * exact / expected)
    assert squares == pytest.approx(expected, rel=samples.size * 2.0**-53 * kappa)


@pytest.mark.parametrize("far", [0.0, -2000.0, 3000.0])
def test_sums_of_exponentials_stay_inside_the_range_of_floats(far: float) -> None:
    rng = np.random.default_rng(3)
    weights, logs = rng.random(12), far + 300.0 * rng.standard_normal(12)
    expected = float(logsumexp(logs, b=weights))
    assert log_sum_exp(weights, logs) == pytest.approx(expected, rel=1e-14)
