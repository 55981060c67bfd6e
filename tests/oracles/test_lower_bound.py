"""The lower bound at a given delta: against what the proof says, and against what runs measure."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import stopwise as sw
from instances import SETTINGS, Setting, pair_id
from stopwise.oracles.lower_bound import by_shares, by_time, early_answer, log_moment
from stopwise.oracles.solve import solution

LOW = sw.AnyLowArm(3, 0.5)
SEVERAL: list[tuple[Any, list[float], Any]] = [
    (LOW, [0.3, 0.3, 0.7], sw.Gaussian()),
    (LOW, [0.3, 0.35, 0.7], sw.Bernoulli()),
    (LOW, [0.3, 0.3, 0.7], sw.Exponential()),
    (sw.BestArm(3, 0.1), [0.5, 0.45, 0.3], sw.Bernoulli()),
    (sw.AnyBetterThan(3), [0.2, 0.5, 0.6], sw.Bernoulli()),
    (sw.TopArms(3, 2, 0.2), [0.5, 0.45, 0.4], sw.Gaussian(0.25)),
]


def kl(p: float, q: float) -> float:
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


@pytest.mark.parametrize("delta", [0.3, 0.1, 1e-3, 1e-9])
def test_one_correct_answer(delta: float) -> None:
    problem, means = sw.BestArm(4), [0.5, 0.45, 0.43, 0.4]
    found = sw.lower_bound(problem, means, family=sw.Bernoulli(), delta=delta)
    time = sw.oracle(problem, means, family=sw.Bernoulli()).time
    assert found == pytest.approx(time * kl(delta, 1 - delta), rel=1e-8)


@pytest.mark.parametrize("delta", [0.2, 0.05, 1e-4])
def test_shares_solve_the_program(delta: float) -> None:
    """min over p of max_i kl(p_i, delta)/D_i with sum p_i = 1 - delta, on a grid of p."""
    grid = (1 - delta) * np.linspace(0.0005, 0.999, 1500)
    p, q = np.meshgrid(grid, grid)
    kept = p + q < (1 - delta) * 0.9999
    shares = np.array([p[kept], q[kept], 1 - delta - p[kept] - q[kept]])
    apart = shares * np.log(shares / delta) + (1 - shares) * np.log((1 - shares) / (1 - delta))
    for values in ([1.0, 1.0, 1.0], [1.0, 0.9, 0.4]):
        most = np.max(np.where(shares > delta, apart, 0.0) / np.array(values)[:, None], axis=0)
        found = by_shares(np.array(values), delta)
        assert found <= most.min()
        assert found == pytest.approx(most.min(), rel=0.02)
    assert by_shares(np.ones(2), delta) == pytest.approx(kl((1 - delta) / 2, delta), rel=1e-9)


@pytest.mark.parametrize("setting", SETTINGS, ids=pair_id)
def test_log_moments(setting: Setting) -> None:
    """log E exp(u (X - mu)), from samples; at most five standard errors apart (4e-7)."""
    family, mean = setting.family, setting.low + 0.4 * setting.width
    rng = np.random.default_rng(3)
    values = np.array([family.draw(mean, rng) for _ in range(20_000)]) - mean
    if isinstance(family, sw.Bounded):  # for coins on its ends
        family, width = sw.BoundedCoin(family.low, family.high), family.high - family.low
        values = np.where(rng.random(20_000) < (mean - family.low) / width, width, 0.0)
        values += family.low - mean
    spread = values.std()
    for tilt in (-0.3 / spread, 0.2 / spread):
        terms = np.exp(tilt * values)
        error = 5.0 * terms.std() / math.sqrt(terms.size) / terms.mean()
        assert abs(log_moment(family, mean, tilt) - math.log(terms.mean())) <= error
    assert log_moment(family, mean, 0.0) == 0.0


def test_log_moments_end_where_the_family_does() -> None:
    assert log_moment(sw.Exponential(), 2.0, 0.6) == math.inf  # the rate would be below 0
    assert log_moment(sw.Exponential(), 2.0, 0.4) == pytest.approx(-0.8 - math.log(1 - 0.8))
    assert log_moment(sw.Gaussian(2.0), 0.3, -3.0) == pytest.approx(9.0)


def test_early_answers_with_normal_arms() -> None:
    """One arm against a limit: a = gap/V, psi(u) = u^2 V/2, D = gap^2/(2 V), in a formula."""
    problem, family, means = sw.AnyLowArm(2, 0.0), sw.Gaussian(2.0), np.array([-0.4, -0.3])
    early = []
    for arm in (0, 1):
        code = problem.encode(arm)
        early.append(
            early_answer(problem, family, means, code, solution(problem, family, means, code))
        )
    delta, levels = 1e-8, np.array([0.04, 0.0225])

    def chance(n: float, level: float) -> float:
        s = np.geomspace(1e-2, 1e2, 20_001)
        return float(
            np.exp(np.min((n * (s * level + s**2 * level) + s * math.log(delta)) / (1 + s)))
        )

    def going(n: float) -> float:
        return max(0.0, 1.0 - delta - sum(chance(n, level) for level in levels))

    area = quad(going, 0.0, 460.0, limit=200, epsabs=0.1)[0]  # falls: between the sums of both ends
    assert area - 1.0 <= by_time(early, delta, whole=True) * 1.01
    assert by_time(early, delta, whole=True) <= area + 1.0


@pytest.mark.parametrize(("problem", "means", "family"), SEVERAL, ids=repr)
def test_it_grows_as_delta_falls_and_becomes_the_characteristic_time(
    problem: Any, means: list[float], family: Any
) -> None:
    time = sw.oracle(problem, means, family=family).time
    deltas = (0.3, 0.1, 0.01, 1e-4, 1e-10, 1e-40, 1e-150, 1e-300)
    found = [sw.lower_bound(problem, means, family=family, delta=delta) for delta in deltas]
    assert all(a <= b for a, b in pairwise(found))
    ratios = [x / (time * math.log(1 / delta)) for x, delta in zip(found, deltas, strict=True)]
    assert all(ratio <= 1.0 for ratio in ratios)
    assert ratios[-1] > 0.85


def test_ties_and_crowds() -> None:
    assert sw.lower_bound(sw.BestArm(2), [0.5, 0.5], family=sw.Gaussian()) == math.inf
    crowd = sw.AnyLowArm(30, 0.5)
    assert sw.lower_bound(crowd, [0.1] * 30, family=sw.Gaussian(), delta=0.05) == 0.0
    assert sw.lower_bound(sw.BestArm(2), [0.5, 0.4], family=sw.Gaussian(), delta=0.5) == 0.0


def test_models_are_different_enough_to_need_that_many() -> None:
    """(1) for one answer is what the divergences say, spelled out."""
    found = sw.lower_bound(sw.AnySign(1), [0.5], family=sw.Gaussian(), delta=0.1)
    assert found == pytest.approx(kl(0.1, 0.9) / sw.Gaussian().divergence(0.5, 0.0))


@pytest.mark.parametrize(("problem", "means", "family"), SEVERAL[1:2], ids=repr)
def test_no_proven_method_is_below(problem: Any, means: list[float], family: Any) -> None:
    """False-alarm rate 3e-7: five standard errors."""
    bound = sw.lower_bound(problem, means, family=family, delta=0.1)
    times = sw.simulate(
        problem, means, family=family, delta=0.1, repetitions=100, seed=5
    ).stopping_times
    assert times.mean() + 5 * times.std() / 10 > bound > 0.0
