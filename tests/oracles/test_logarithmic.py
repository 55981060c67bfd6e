"""Oracle weights where variances are unknown: two closest models, and kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import stopwise as sw

UNKNOWN = sw.Gaussian(variance=None)


def naive_weights(means: Any, spreads: Any, arm: int, epsilon: float) -> float:
    """max over w of the least cost: a linear program over a grid of closest models of every pair."""
    rows, count = [], len(means)
    steps = np.concatenate((np.geomspace(1e-6, 0.5, 1500), 1.0 - np.geomspace(1e-6, 0.5, 1500)))
    for j in range(count):
        if j != arm:
            gap = means[arm] - means[j] + epsilon
            block = np.zeros((steps.size, count))
            block[:, arm] = 0.5 * np.log1p((steps * gap / spreads[arm]) ** 2)
            block[:, j] = 0.5 * np.log1p(((1.0 - steps) * gap / spreads[j]) ** 2)
            rows.append(block)
    table = np.concatenate(rows)
    costs = np.concatenate((np.zeros(count), [-1.0]))  # maximise v: w . row >= v for every model
    upper = np.hstack((-table, np.ones((table.shape[0], 1))))
    equal = np.concatenate((np.ones(count), [0.0]))[None]
    found = linprog(costs, upper, np.zeros(table.shape[0]), equal, [1.0], method="highs")
    return -float(found.fun)


@pytest.mark.parametrize("seed", range(8))
def test_best_arm_weights(seed: int) -> None:
    """The value against a linear program, whose grid makes it a little too large."""
    rng = np.random.default_rng(seed)
    count, epsilon = int(rng.integers(2, 5)), float(rng.choice([0.0, 0.1]))
    means, spreads = rng.normal(size=count), 10.0 ** rng.uniform(-2.0, 0.5, count)
    found = sw.oracle(sw.BestArm(count, epsilon), means, family=UNKNOWN.seen(spreads))
    for answer in found.answers:
        value = found.by_answer[answer].value
        expected = naive_weights(means, spreads, int(answer), epsilon)
        assert value == pytest.approx(expected, rel=2e-5)
        assert value <= expected * (1.0 + 1e-6)


def test_weights_are_certified_at_kinks() -> None:
    """Tight arms far apart: the optimum is often where a closest model jumps; the gap is below 1e-9."""
    rng = np.random.default_rng(3)
    for place in range(60):
        count = int(rng.integers(2, 6))
        means, spreads = rng.normal(size=count), 10.0 ** rng.uniform(-2.5, -0.5, count)
        found = sw.oracle(sw.BestArm(count), means, family=UNKNOWN.seen(spreads))
        assert found.gap <= 1e-9, (place, found)


def test_a_witness_at_a_kink_has_both_models() -> None:
    means, spreads = [1.32, 0.04, -0.33], [1.389, 0.0044, 1.0514]
    found = sw.witness(sw.BestArm(3), means, family=UNKNOWN.seen(spreads), answer=0)
    assert found.gap < 1e-6
    near = found.models[found.probabilities > 1e-6]
    assert np.ptp(near[near[:, 1] != means[1]][:, 0]) > 0.5  # arm 1 rises, or arm 0 falls


def test_small_gaps_are_gaussian() -> None:
    """Where gaps are small beside standard deviations the two lower bounds are the same."""
    problem, means, spreads = sw.BestArm(3), np.array([0.01, 0.004, 0.0]), np.array([1.0, 2.0, 0.5])
    known = sw.oracle(problem, means, family=sw.Gaussian(spreads**2))
    unknown = sw.oracle(problem, means, family=UNKNOWN.seen(spreads))
    assert unknown.value == pytest.approx(known.value, rel=1e-3)
    assert unknown.weights[0] == pytest.approx(known.weights[0], rel=1e-2)


def test_two_arms_share_by_standard_deviations() -> None:
    found = sw.oracle(sw.BestArm(2), [0.05, 0.0], family=UNKNOWN.seen([1.0, 5.0]))
    assert found.weights[0] == pytest.approx([1 / 6, 5 / 6], abs=1e-3)
