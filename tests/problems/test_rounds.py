"""Weights of a round: warm starts, and estimates that lie where two answers meet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.data import Data
from stopwise.problems.best_arm_weights import best_arm_optimum


def test_warm_start_gives_what_a_cold_start_gives() -> None:
    """Also when a rival jumps past the place that was kept for it."""
    family, rng = sw.Bernoulli(), np.random.default_rng(2)
    for _ in range(200):
        means = np.array([0.6, *(0.6 - rng.uniform(1e-4, 0.3, 4))])
        warm, cold, state = np.zeros(5), np.zeros(5), np.zeros(15)
        best_arm_optimum(family, means, 0, 0.0, warm, state)
        means[1:] = np.minimum(means[1:] * (1 + 1e-2 * rng.normal(size=4)), 0.5999)
        value = best_arm_optimum(family, means, 0, 0.0, warm, state)
        expected = best_arm_optimum(family, means, 0, 0.0, cold, np.zeros(15))
        assert math.isclose(value, expected, rel_tol=1e-9)
        np.testing.assert_allclose(warm, cold, atol=1e-8)


@pytest.mark.parametrize("family", [sw.Bernoulli(), sw.Poisson(), sw.Exponential()], ids=str)
def test_warm_starts_end_where_cold_ones_do(family: Any) -> None:
    """Best arm along data that jump as first samples do, also to the ends of the interval."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        arms = int(rng.integers(2, 5))
        margin = float(rng.choice([0.0, 0.07, 0.3]))
        truth = rng.uniform(0.1, 0.9, arms)
        counts = rng.integers(1, 6, arms)
        sums = np.array(
            [sum(family.draw(m, rng) for _ in range(n)) for m, n in zip(truth, counts, strict=True)]
        )
        state, owner = np.zeros(3 * arms), -1
        for _ in range(8):
            means = sums / counts
            arm = int(np.argmax(means))
            state[arm] = state[arm] if arm == owner else 0.0
            owner = arm
            warm, cold = np.zeros(arms), np.zeros(arms)
            value = best_arm_optimum(family, means, arm, margin, warm, state)
            again = best_arm_optimum(family, means, arm, margin, cold, np.zeros(3 * arms))
            assert value == pytest.approx(again, rel=1e-8)
            np.testing.assert_allclose(warm, cold, atol=1e-5)
            if value > 0.0:
                problem, code = sw.BestArm(arms, margin), np.array([arm])
                least = problem.transport_cost(family, Data(warm, means), code, np.zeros(arms))
                assert least == pytest.approx(value, rel=1e-8)
            k = int(rng.integers(arms))
            sums[k] += family.draw(truth[k], rng)
            counts[k] += 1


@pytest.mark.parametrize("family", [sw.Poisson(), sw.Gaussian(), sw.Binomial(4)], ids=repr)
@pytest.mark.parametrize("means", [[0.75, 2.0], [1.3, 0.925], [0.7, 1.075], [1.0, 1.0]], ids=repr)
def test_weights_at_means_that_lie_on_a_plane_but_for_rounding(
    family: Any, means: list[float]
) -> None:
    """An estimate there once gave weights that are no numbers, and the tracker never forgot them."""
    problem, mu = sw.AnyHalfSpace([[0.8, 0.2], [0.3, 0.4]], [1.0, 0.76]), np.array(means)
    kept, data = problem.init_cache(family), Data(np.array([5.0, 5.0]), mu)
    problem.rebuild_cache(family, data, kept)
    for place in range(4):
        weights = np.zeros(2)
        problem.answer_weights(family, data, kept, np.array([place]), weights)
        assert weights.sum() == pytest.approx(1.0)
        assert np.all(weights >= 0.0)
