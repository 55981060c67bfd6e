"""Linear arms: costs, oracle, evidence and runs, against calculations written out with NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, multivariate_normal

import stopwise as sw
from stopwise.core.data import Data
from stopwise.stopping.wealth_state import bet_weights, wealth_state

SIX = sw.Linear(np.vstack([np.eye(6), [math.cos(0.1), math.sin(0.1), 0, 0, 0, 0]]))


def shape(features: Any, weights: Any, variances: Any) -> Any:
    return (features.T * (weights / variances)) @ features


def direct_cost(features: Any, weights: Any, theta: Any, variances: Any, arm: int) -> float:
    """min_j (theta . (x_i - x_j))^2/(2 ||x_i - x_j||^2 in the inverse of V)."""
    inverse = np.linalg.inv(shape(features, weights, variances))
    found = []
    for other in range(len(features)):
        y = features[arm] - features[other]
        if other != arm:
            found.append(max(y @ theta, 0.0) ** 2 / (2.0 * y @ inverse @ y))
    return float(min(found))


def some_problem(seed: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    arms, size = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    features, theta = rng.normal(size=(arms, size)), rng.normal(size=size)
    return sw.Linear(features), features, theta, rng


@pytest.mark.parametrize("seed", range(5))
def test_costs_are_those_of_the_formula(seed: int) -> None:
    problem, features, theta, rng = some_problem(seed)
    variances = rng.uniform(0.5, 2.0, len(features))
    weights = rng.dirichlet(np.ones(len(features)))
    means = features @ theta
    arm = int(np.argmax(means))
    found = sw.cost(
        problem, means, family=sw.Gaussian(list(variances)), weights=weights, answer=arm
    )
    assert found.value == pytest.approx(direct_cost(features, weights, theta, variances, arm))
    paid = np.sum(weights * (means - found.closest) ** 2 / (2.0 * variances))
    assert paid == pytest.approx(found.value)
    again = np.linalg.lstsq(features, found.closest, rcond=None)[0]
    np.testing.assert_allclose(features @ again, found.closest, atol=1e-9)


def test_evidence_is_the_likelihood_ratio_against_the_best_fit() -> None:
    """At means that no theta has: the least squares with and without the constraint."""
    problem, features, theta, rng = some_problem(11)
    counts = rng.integers(3, 40, len(features)).astype(float)
    means = features @ theta + 0.3 * rng.normal(size=len(features))
    fitted = np.linalg.solve(shape(features, counts, 1.0), features.T @ (counts * means))
    arm = int(np.argmax(features @ fitted))

    def loss(at: Any) -> float:
        return 0.5 * float(counts @ (means - features @ at) ** 2)

    ways = [
        minimize(
            loss, fitted, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
            constraints={"type": "ineq", "fun": lambda at, y=features[j] - features[arm]: y @ at},
        ).fun
        for j in range(len(features)) if j != arm
    ]  # fmt: skip
    found = sw.evidence(problem, means, family=sw.Gaussian(), counts=counts)
    assert found[arm] == pytest.approx(min(ways) - loss(fitted), rel=1e-6)
    assert set(found) <= {arm, int(np.argmax(means))}


def test_oracle_of_a_known_instance() -> None:
    """d = 6, theta = e1: by a general optimiser over softmax weights; nearly all goes to e2."""
    means = SIX.means([1.0, 0, 0, 0, 0, 0])
    found = sw.oracle(SIX, means, family=sw.Gaussian())
    assert found.gap <= 1e-6
    ones, theta = np.ones(7), np.eye(6)[0]

    def time(z: Any) -> float:
        weights = np.exp(z - z.max())
        return 1.0 / direct_cost(SIX.features, weights / weights.sum(), theta, ones, 0)

    start = np.log(np.maximum(found.weights[0], 1e-4)) + 0.1
    least = minimize(time, start, method="Nelder-Mead", options={"maxiter": 20_000, "fatol": 1e-9})
    assert found.time == pytest.approx(888.99966, rel=1e-6)
    assert found.time <= least.fun * (1.0 + 1e-9)
    assert least.fun == pytest.approx(found.time, rel=2e-3)
    assert found.weights[0][1] > 0.9
    # the published 1,030 samples of FWS at delta = 0.1 are below what any method needs here
    assert sw.lower_bound(SIX, means, family=sw.Gaussian(), delta=0.1) > 1500
    twice = sw.oracle(SIX, 2.0 * means, family=sw.Gaussian())
    assert twice.time == pytest.approx(found.time / 4.0, rel=1e-6)


def test_independent_features_are_best_arm() -> None:
    """Unit vectors: nothing is known about how means are related."""
    means = [0.5, 0.3, 0.1, 0.45]
    linear = sw.oracle(sw.Linear(np.eye(4)), means, family=sw.Gaussian())
    plain = sw.oracle(sw.BestArm(4), means, family=sw.Gaussian())
    assert linear.value == pytest.approx(plain.value, rel=1e-8)
    np.testing.assert_allclose(linear.weights[0], plain.weights[0], atol=1e-4)


def log_mixture(features: Any, arms: Any, samples: Any, theta: Any, gap: float) -> float:
    """log of the samples' density, theta drawn from the prior around it, over that at theta itself."""
    rows = features[arms]
    each = features.shape[1] / (len(features) * gap * gap)
    prior = np.linalg.inv(each * features.T @ features)
    spread = np.eye(len(arms)) + rows @ prior @ rows.T
    at = rows @ theta
    return float(
        multivariate_normal(at, spread).logpdf(samples)
        - multivariate_normal(at, np.eye(len(arms))).logpdf(samples)
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_evidence_is_at_most_the_wealth_at_any_model_in_the_cell(seed: int) -> None:
    """docs/linear.md, from the samples themselves; and attained at the least favourable model."""
    problem, features, theta, rng = some_problem(seed)
    arms = rng.integers(0, len(features), 30)
    arms[: len(features)] = np.arange(len(features))
    samples = features[arms] @ theta + rng.normal(size=30)
    counts = np.bincount(arms, minlength=len(features)).astype(float)
    means = np.bincount(arms, samples, minlength=len(features)) / counts
    data, family = Data(counts, means), sw.Gaussian()
    fitted = np.linalg.lstsq(features[arms], samples, rcond=None)[0]
    arm = int(np.argmax(features @ fitted))
    code = problem.encode(arm)
    state = wealth_state(family, problem)
    gaps, weights = bet_weights(*family.bet_sizes())
    for cell in range(len(features) - 1):
        other = cell if cell < arm else cell + 1
        y = features[arm] - features[other]

        def wealth(at: Any) -> float:
            logs = [log_mixture(features, arms, samples, at, gap) for gap in gaps]
            return float(np.log(np.sum(weights * np.exp(logs))))

        def onto(at: Any, y: Any = y) -> Any:
            return at - max(y @ at, 0.0) / (y @ y) * y

        found = problem.cell(code, cell).evidence(family, data, state, -math.inf)
        tried = [
            wealth(onto(fitted + rng.normal(size=theta.size) * s)) for s in (0.0, 0.1, 0.3) * 8
        ]
        assert found <= max(min(tried), 0.0) + 1e-9
        best = minimize(lambda z, o=onto: wealth(o(z)), onto(fitted), method="Nelder-Mead")
        assert found <= max(best.fun, 0.0) + 1e-9
        if (
            best.fun > 0.5
        ):  # the mixture of minima is less than the minimum of the mixture, a little
            assert found >= best.fun - 0.5


def test_runs_and_rounds() -> None:
    """What a round says is what the functions say, and runs find the best arm."""
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5]])
    problem, family = sw.Linear(features), sw.Gaussian()
    means = problem.means([1.0, 0.0])
    runs = sw.simulate(problem, means, family=family, delta=0.1, repetitions=40, seed=3)
    assert runs.correct.mean() >= 0.9
    assert runs.proven
    bound = sw.lower_bound(problem, means, family=family, delta=0.1)
    assert runs.stopping_times.mean() > bound
    plain = sw.simulate(sw.BestArm(3), means, family=family, delta=0.1, repetitions=40, seed=3)
    assert runs.stopping_times.mean() < plain.stopping_times.mean()  # knowing the features helps
    data = Data(np.array([5.0, 7.0, 4.0]), np.array([1.1, -0.2, 0.7]))
    sketch, code, weights = problem.init_cache(family), np.zeros(1, dtype=np.int64), np.zeros(3)
    problem.rebuild_cache(family, data, sketch)
    evidence = sw.evidence(problem, data.means, family=family, counts=data.counts)
    found = problem.best_evidence(family, data, sketch, 0.0, code)
    assert found == pytest.approx(max(evidence.values()))
    problem.first_oracle(family, data, sketch, code, weights)
    oracle = sw.oracle(problem, sketch.means, family=family)
    np.testing.assert_allclose(weights, oracle.weights[0], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [sw.Uniform(), sw.TrackAndStop()], ids=repr)
def test_error_rates_at_the_hardest_truth(strategy: Any) -> None:
    """Nearly a tie, 1,000 runs; false-alarm rate 1e-6."""
    features = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8]])
    problem = sw.Linear(features)
    means = problem.means([0.301, 0.3])  # arm 2 is best, by a hair
    runs = sw.simulate(
        problem, means, family=sw.Gaussian(), strategy=strategy, delta=(0.2, 0.05),
        repetitions=1000, seed=9, max_rounds=1000,
    )  # fmt: skip
    for place, delta in enumerate((0.2, 0.05)):
        wrong = [a is not None and a != 2 for a in runs.answers[:, place]]
        assert sum(wrong) <= binom.isf(1e-6, 1000, delta)


@pytest.mark.parametrize(
    ("strategy", "stopping", "goal"),
    [
        (sw.LinGapE(), sw.ClearGaps(), "max"),
        (sw.FrankWolfe(), sw.Wealth(), "min"),
        (sw.StickyTrackAndStop(), sw.Stylized(), "min"),
    ],
    ids=repr,
)
def test_rounds_keep_no_memory(strategy: Any, stopping: Any, goal: str) -> None:
    """Compiled rounds count no references: arrays must not leave the functions that make them."""
    from numba.core.runtime import _nrt_python, rtsys

    problem = sw.Linear([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5]], goal=goal)
    means, kept = problem.problem.means([1, 0]) if goal == "min" else problem.means([1, 0]), []
    _nrt_python.memsys_enable_stats()
    for most in (20, 20, 200):
        before = rtsys.get_allocation_stats()
        sw.simulate(
            problem, means, family=sw.Gaussian(), strategy=strategy, stopping=stopping, delta=1e-300,
            repetitions=1, seed=1, workers=1, max_rounds=most, progress=False,
        )  # fmt: skip
        after = rtsys.get_allocation_stats()
        kept.append(after.alloc - before.alloc - (after.free - before.free))
    assert kept[2] <= kept[1]
