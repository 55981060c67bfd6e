"""Costs per sample: oracles against a numerical optimum, and runs that cost less."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import stopwise as sw
from instances import PAIRS, Setting, draw_instance, pair_id
from stopwise.core.data import Data
from stopwise.families.priced import priced
from stopwise.testing import check_problem

DEAR = [1.0, 100.0]


UNKNOWN = sw.Gaussian(variance=None)


@pytest.mark.parametrize("family", [sw.Gaussian(), sw.Gaussian([1.0, 4.0]), sw.Bernoulli(),
                                    sw.Exponential(), sw.Poisson(), UNKNOWN.seen([1.0, 2.0]),
                                    UNKNOWN.seen([0.05, 0.1])], ids=repr)  # fmt: skip
def test_two_arms_against_a_numerical_optimum(family: Any) -> None:
    """T*_c = min over w of sum c_k w_k/D(w), to 1e-8."""
    problem, means = sw.BestArm(2), np.array([0.7, 0.4])
    code, closest = problem.encode(0), np.zeros(2)

    def price(share: float) -> float:
        weights = np.array([share, 1.0 - share])
        value = problem.transport_cost(family, Data(weights, means), code, closest)
        return float(weights @ np.array(DEAR)) / value

    least = minimize_scalar(
        price, bounds=(0.5, 1.0 - 1e-6), method="bounded", options={"xatol": 1e-12}
    )
    found = sw.oracle(problem, means, family=family, costs=DEAR)
    assert found.time == pytest.approx(least.fun, rel=1e-8)
    assert price(found.weights[0][0]) == pytest.approx(least.fun, rel=1e-8)
    assert found.weights[0][0] == pytest.approx(least.x, abs=1e-5)
    assert found.gap <= 1e-9


def test_two_normal_arms_in_a_formula() -> None:
    """w_k is proportional to sigma_k/sqrt(c_k): T*_c = 2 (sum sigma_k sqrt(c_k))^2/gap^2."""
    found = sw.oracle(sw.BestArm(2), [0.5, 0.0], family=sw.Gaussian([1.0, 4.0]), costs=DEAR)
    assert found.time == pytest.approx(2.0 * (1.0 + 2.0 * 10.0) ** 2 / 0.25, rel=1e-9)
    assert found.weights[0][0] / found.weights[0][1] == pytest.approx(5.0, rel=1e-7)
    assert found.by_answer[0].value == found.value
    np.testing.assert_allclose(found.vertices[0][0], found.weights[0], atol=1e-9)


CHOSEN = ("best_arm", "epsilon_best_arm", "lowest_arm", "thresholding", "minimum", "any_low", "any_sign",
          "top_arms", "epsilon_better", "any_better", "all_half_spaces", "product")  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        p
        for p in PAIRS
        if p[0] in CHOSEN and type(p[1].family).__name__ in ("Gaussian", "Bernoulli")
    ],
    ids=pair_id,
)
def test_conformance_of_priced_families(kind: str, setting: Setting) -> None:
    """What every problem must satisfy, it must also satisfy for each unit of money."""
    for arms, seed in ((4, 7), (3, 5)):
        problem, means = draw_instance(kind, setting, arms, seed)
        costs = np.array([1.0, 7.0, 0.3, 2.0])[: means.size]
        family = priced(setting.family, costs)
        check_problem(problem, family, means, seed)
        found = sw.oracle(problem, means, family=setting.family, costs=costs)
        if found.value == 0.0:
            continue
        code = problem.encode(found.answers[0])
        at = Data(found.weights[0], means)
        value = problem.transport_cost(setting.family, at, code, np.zeros(means.size))
        assert value / (found.weights[0] @ costs) == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("problem", [sw.BestArm(4), sw.BestArm(4, epsilon=0.1), sw.AnyLowArm(4, 0.55),
                                     sw.BestArm(4, goal="min"), sw.TopArms(4, 2),
                                     sw.BetterThan(4), sw.AnyBetterThan(4)], ids=repr)  # fmt: skip
def test_unknown_variances_are_certified_for_each_unit_of_money(problem: Any) -> None:
    """D at the weights, for what they cost, is the value that the certificate leaves no room above."""
    means, costs = np.array([0.7, 0.4, 0.5, 0.95]), np.array([1.0, 7.0, 0.3, 2.0])
    family = UNKNOWN.seen([0.2, 0.1, 0.5, 0.3])
    found = sw.oracle(problem, means, family=family, costs=costs)
    assert found.gap <= 1e-6
    code, at = problem.encode(found.answers[0]), Data(found.weights[0], means)
    value = problem.transport_cost(family, at, code, np.zeros(4))
    assert value / (found.weights[0] @ costs) == pytest.approx(found.value, rel=1e-6)
    blind = sw.oracle(problem, means, family=family).weights[0]
    dearer = problem.transport_cost(family, Data(blind, means), code, np.zeros(4)) / (blind @ costs)
    assert dearer <= found.value


def test_equal_costs_change_nothing() -> None:
    """Bit for bit: oracles, but for the unit, and runs."""
    problem, means, family = sw.BestArm(3), [0.7, 0.5, 0.4], sw.Bernoulli()
    plain, same = (
        sw.oracle(problem, means, family=family, costs=costs) for costs in (None, [2.0, 2.0, 2.0])
    )
    np.testing.assert_array_equal(plain.weights[0], same.weights[0])
    assert same.time == 2.0 * plain.time
    bounds = [
        sw.lower_bound(problem, means, family=family, delta=0.1, costs=costs)
        for costs in (None, 1.0)
    ]
    assert bounds[0] == bounds[1]
    runs = [
        sw.simulate(problem, means, family=family, costs=costs, repetitions=10, seed=3)
        for costs in (None, 2.0)
    ]
    np.testing.assert_array_equal(runs[0].counts, runs[1].counts)
    np.testing.assert_array_equal(runs[0].cost * 2.0, runs[1].cost)


STATED: dict[str, Any] = {
    "problem": sw.BestArm(2),
    "means": [0.5, 0.0],
    "family": sw.Gaussian(),
    "delta": 0.1,
    "seed": 7,
}


@pytest.mark.parametrize(
    "strategy",
    [sw.TrackAndStop(), pytest.param(sw.StickyTrackAndStop(), marks=pytest.mark.slow)],
    ids=repr,
)
def test_a_run_costs_less(strategy: Any) -> None:
    """Two normal arms, 1 and 100 a sample: at least 30 % less than the cost-blind rule.

    The ideal is (1 + 10)^2/(2 (1 + 100)) = 0.60 of it. A fixed seed; a true ratio of 0.7 or more would
    have to be five standard errors off (3e-7) to pass.
    """
    blind = sw.simulate(**STATED, strategy=strategy, repetitions=12_000).counts @ DEAR
    found = sw.simulate(**STATED, strategy=strategy, repetitions=12_000, costs=DEAR)
    thrifty = found.cost
    error = math.hypot(0.7 * blind.std(), thrifty.std()) / math.sqrt(blind.size)
    assert thrifty.mean() + 5.0 * error < 0.7 * blind.mean()
    bound = sw.lower_bound(sw.BestArm(2), [0.5, 0.0], family=sw.Gaussian(), delta=0.1, costs=DEAR)
    assert bound < thrifty.mean()
    assert found.correct.mean() > 0.9


@pytest.mark.parametrize("stated", [STATED, {**STATED, "family": UNKNOWN, "deviations": 1.0}])
def test_samples_are_bought_in_the_oracles_shares(stated: dict[str, Any]) -> None:
    """Ten to one of arms with equal variances, known or not; a campaign asks as a run does."""
    runs = sw.simulate(**{**stated, "delta": 1e-6}, costs=DEAR, repetitions=30)
    shares = runs.counts.sum(axis=0)
    assert shares[0] / shares[1] == pytest.approx(10.0, rel=0.25)
    assert runs.correct.all()


def test_costs_with_several_correct_answers() -> None:
    """The proven bound on the cost grows to T*_c log(1/delta), and the cheap arm is pursued."""
    problem, means, costs = sw.AnyLowArm(2, 0.5), [0.3, 0.25], [1.0, 50.0]
    found = sw.oracle(problem, means, family=sw.Bernoulli(), costs=costs)
    assert found.answers == (0,)
    ratios = [
        sw.lower_bound(problem, means, family=sw.Bernoulli(), delta=delta, costs=costs)
        / (found.time * math.log(1 / delta))
        for delta in (0.05, 1e-20, 1e-200)
    ]
    assert 0.2 < ratios[0] < ratios[1] < ratios[2] <= 1.0
    assert ratios[2] > 0.85


def test_thrifty_runs_with_a_sketch_of_their_own() -> None:
    """Thresholding keeps divergences between rounds: those for each unit of money are other ones.

    Each arm is proven by itself, so that prices change no share.
    """
    problem, means, costs = sw.Thresholding(3, 0.5), [0.2, 0.8, 0.7], [1.0, 5.0, 20.0]
    given: dict[str, Any] = {"means": means, "family": sw.Bernoulli(), "costs": costs}
    runs = sw.simulate(problem, **given, repetitions=100, seed=4)
    shares = (runs.counts / runs.counts.sum(axis=1, keepdims=True)).mean(axis=0)
    assert runs.correct.mean() >= 0.9
    assert np.allclose(shares, sw.oracle(problem, **given).weights[0], atol=0.05)
