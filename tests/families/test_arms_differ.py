"""Arms with variances of their own: closed forms, every problem against the generic solver, runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.data import Data
from stopwise.engine.design import Setting, prepare
from stopwise.engine.loop import run_rounds
from stopwise.engine.worker import Worker, new_outcome
from stopwise.oracles.solve import generic_solution, solution
from stopwise.testing import check_problem

VARIANCES = [0.3, 2.0, 0.9]
FAMILY = sw.Gaussian(VARIANCES)
PLANES = [[0.8, 0.1, 0.1], [0.2, 0.6, -0.3]]
PROBLEMS: list[tuple[Any, list[float]]] = [
    (sw.BestArm(3), [0.2, 1.0, 0.1]),
    (sw.BestArm(3, 0.4), [0.8, 1.0, 0.1]),
    (sw.Thresholding(3, 0.0), [0.7, -0.6, 0.8]),
    (sw.MinimumThreshold(3, 0.5), [0.9, 1.0, 0.7]),
    (sw.MinimumThreshold(3, 0.5, 0.2), [0.4, -1.0, 0.45]),
    (sw.AnyLowArm(3, 0.0), [-0.5, -0.9, 0.4]),
    (sw.AnyLowArm(3, 0.0), [0.5, 0.9, 0.4]),
    (sw.AnySign(3), [-0.5, 0.9, 0.4]),
    (sw.AnyHalfSpace(PLANES, [0.1, 0.3]), [-0.5, -0.4, 0.3]),
    (sw.AllHalfSpaces(PLANES), [1.0, 0.9, 0.2]),
    (sw.AllHalfSpaces(PLANES), [-1.0, 0.9, 0.2]),
    (sw.Sphere(3, 2.0), [0.3, -0.2, 0.1]),
    (sw.Sphere(3), [2.3, -0.2, 0.4]),
    (sw.Product([(sw.BestArm(2), [0, 2]), (sw.AnyLowArm(1, 0.5), [1])]), [0.9, 0.1, 0.2]),
    (
        sw.Cells(3, {"up": sw.Polyhedron([[-1, -1, 0]]), "down": sw.Polyhedron([[1, 1, 0]])}),
        [1.0, 0.5, 0.2],
    ),
    (
        sw.Cells(3, {"in": sw.OutsideBall([0, 0, 0], 2), "out": sw.Ball([0, 0, 0], 2)}),
        [0.3, 0.1, 0],
    ),
]


@pytest.mark.parametrize("deviations", [(1.0, 1.0), (0.5, 2.0), (3.0, 0.01), (1e-3, 40.0)])
@pytest.mark.parametrize("gap", [0.1, 2.0])
def test_two_arms(deviations: tuple[float, float], gap: float) -> None:
    """T* = 2 (s1 + s2)^2/gap^2, with weights in proportion to the deviations."""
    family = sw.Gaussian(np.square(deviations))
    found = sw.oracle(sw.BestArm(2), [gap, 0.0], family=family)
    assert found.time == pytest.approx(2.0 * sum(deviations) ** 2 / gap**2, rel=1e-9)
    np.testing.assert_allclose(found.weights[0], np.array(deviations) / sum(deviations), rtol=1e-9)
    assert found.gap <= 1e-9


@pytest.mark.parametrize(("problem", "means"), PROBLEMS, ids=str)
def test_every_problem_agrees_with_the_generic_solver(problem: Any, means: list[float]) -> None:
    mu = np.array(means)
    for answer in sw.correct_answers(problem, mu):
        code = problem.encode(answer)
        special = solution(problem, FAMILY, mu, code)
        generic = generic_solution(problem, FAMILY, mu, code)
        assert special.value == pytest.approx(generic.value, rel=1e-7)
        assert special.gap <= 1e-6
        assert generic.gap <= 1e-6
    check_problem(problem, FAMILY, mu)


@pytest.mark.parametrize(("problem", "means"), PROBLEMS, ids=str)
def test_equal_variances_are_one_variance(problem: Any, means: list[float]) -> None:
    one = sw.oracle(problem, means, family=sw.Gaussian(0.7))
    each = sw.oracle(problem, means, family=sw.Gaussian([0.7, 0.7, 0.7]))
    assert each.answers == one.answers
    assert each.value == pytest.approx(one.value, rel=1e-8)


@pytest.mark.parametrize(("problem", "means"), PROBLEMS, ids=str)
@pytest.mark.parametrize("strategy", [sw.TrackAndStop(), sw.StickyTrackAndStop()], ids=repr)
def test_runs_end_with_a_correct_answer(
    problem: Any, means: list[float], strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proven rule at delta = 1e-7: a wrong answer here has that probability."""
    monkeypatch.setattr("stopwise.engine.worker.kernel", lambda *_: run_rounds)
    design = prepare(
        Setting(problem, FAMILY, strategy, sw.MixtureMartingale()), means, (1e-7,), 4000
    )
    worker, outcome = Worker(design), new_outcome(design)
    for _ in worker.run(1, 0, 0, outcome, lambda: False):
        pass
    assert outcome.times[0] > 0
    assert problem.decode(outcome.codes[0]) in sw.correct_answers(problem, means)


def test_the_quieter_arm_may_be_the_oracle_answer() -> None:
    """Within epsilon a slightly lower mean that is cheaper to prove wins."""
    family = sw.Gaussian([4.0, 0.01, 9.0])
    found = sw.oracle(sw.BestArm(3, 0.3), [1.0, 0.999, 0.9], family=family)
    assert found.answers == (1,)
    assert found.by_answer[1].value > found.by_answer[0].value > 0.0


def test_samples_have_the_arms_own_variances() -> None:
    found = sw.run(
        sw.BestArm(2), [0.0, 0.0], family=sw.Gaussian([1.0, 25.0]), strategy=sw.Uniform(),
        stopping=sw.Stylized(), delta=1e-300, seed=1, max_rounds=4000, trace=True,
    )  # fmt: skip
    assert found.trace is not None
    for arm, variance in enumerate((1.0, 25.0)):
        drawn = found.trace.samples[found.trace.arms == arm]
        # the variance of 2,000 normal samples is within 1/5 of the truth but for 2e-10
        assert np.var(drawn) == pytest.approx(variance, rel=0.2)


def test_planning_and_campaigns() -> None:
    forecast = sw.plan(
        sw.BestArm(2), [3.0, 0.0], family=sw.Gaussian([1.0, 4.0]), strategies=[sw.Uniform()],
        repetitions=10,
    )  # fmt: skip
    assert forecast.characteristic_time == pytest.approx(2.0 * 9.0 / 9.0)
    spec = {
        "question": "best-arm",
        "arms": ["a", "b"],
        "family": {"kind": "gaussian", "variance": [1.0, 4.0]},
        "delta": 0.1,
    }
    campaign = sw.Campaign.create(spec, "memory:", "differ")
    rng = np.random.default_rng(2)
    while campaign.decision is None:
        (ticket,) = campaign.ask()
        value = rng.normal((3.0, 0.0)[ticket.arm], (1.0, 2.0)[ticket.arm])
        campaign.tell(ticket.token, value)
    assert campaign.decision.answer == 0
    assert campaign.verify().agrees


def test_reachable_answers_of_the_estimate_are_reached() -> None:
    """The oracle answers at a model of the region must be among the reachable ones."""
    rng = np.random.default_rng(4)
    for problem, means in PROBLEMS:
        counts, mu = rng.integers(5, 40, 3).astype(float), np.array(means)
        for _ in range(5):
            model = mu + rng.normal(size=3) * np.sqrt(np.array(VARIANCES) / counts)
            level = float(np.sum(counts * (model - mu) ** 2 / (2.0 * np.array(VARIANCES))))
            if not sw.correct_answers(problem, model):
                continue
            reached = set(problem.reachable(FAMILY, Data(counts, mu), level * (1 + 1e-9)))
            assert set(sw.oracle(problem, model, family=FAMILY).answers) <= reached, (
                problem,
                model,
            )
