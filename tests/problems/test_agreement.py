"""Every way of computing a thing must agree with every other: each problem x each family."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import naive
import stopwise as sw
from alternatives import cells
from instances import PAIRS, Setting, draw_instance, pair_id, seeds
from stopwise.oracles.solve import solution
from stopwise.problems.lowest import Lowest
from stopwise.testing import check_problem

EXAMPLES = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize(("kind", "setting"), PAIRS, ids=pair_id)
def test_conformance(kind: str, setting: Setting) -> None:
    @EXAMPLES
    @given(seeds)
    def run(seed: int) -> None:
        arms = 2 + seed % 4
        problem, means = draw_instance(kind, setting, arms, seed)
        problem.check(setting.family)
        check_problem(problem, setting.family, means, seed)

    run()


def naive_check(kind: str, setting: Setting, arms: int, seed: int) -> None:
    """The naive solver brackets the library's value, and its cost at the library's weights agrees."""
    problem, means = draw_instance(kind, setting, arms, seed)
    family = setting.family

    def d(mu: float, lam: float) -> float:
        return float(family.divergence(mu, lam))

    for answer in sw.correct_answers(problem, means)[:2]:
        found = solution(problem, family, means, problem.encode(answer))
        alternative = cells(problem, answer)
        if found.value == 0.0:
            assert naive.cost(d, family.interval(), found.weights, means, alternative)[0] <= 1e-12
            continue
        secured = naive.cost(d, family.interval(), found.weights, means, alternative)[0]
        assert math.isclose(secured, found.value, rel_tol=1e-6), (problem, answer, secured, found)
        lower, upper, _ = naive.value(d, family.interval(), means, alternative)
        assert lower * (1 - 1e-6) <= found.value <= upper * (1 + 1e-6), (
            problem,
            answer,
            lower,
            upper,
        )
        witness = sw.witness(problem, means, family=family, answer=answer)
        paid = naive.payoffs(d, means, witness.models, witness.probabilities)
        assert paid.max() <= found.value * (1 + 1e-6)
        for model in witness.models:
            assert any(naive.in_cell(cell, model, 1e-8) for cell in alternative)


@pytest.mark.parametrize(("kind", "setting"), PAIRS, ids=pair_id)
def test_naive_two_arms(kind: str, setting: Setting) -> None:
    naive_check(kind, setting, 2, 11)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "setting"), PAIRS, ids=pair_id)
@pytest.mark.parametrize("arms", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_naive_more_arms(kind: str, setting: Setting, arms: int, seed: int) -> None:
    naive_check(kind, setting, arms, 100 + seed)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "setting"), PAIRS, ids=pair_id)
def test_conformance_at_length(kind: str, setting: Setting) -> None:
    for seed in range(40):
        problem, means = draw_instance(kind, setting, 2 + seed % 7, 1000 + seed)
        check_problem(problem, setting.family, means, seed)


def relabelled(problem: Any, order: np.ndarray) -> Any:
    """The same problem after arm k has become arm order[k], for problems with all arms alike."""
    back = np.argsort(order)
    if isinstance(problem, sw.AnyHalfSpace | sw.AllHalfSpaces):
        return type(problem)(problem.normals[:, back], problem.offsets)
    if isinstance(problem, sw.Sphere):
        return sw.Sphere(problem.arms, problem.radius, problem.center[back])
    if isinstance(problem, sw.BetterThan | sw.AnyBetterThan):
        return problem._replace(control=int(order[problem.control]))
    if isinstance(problem, Lowest):
        return Lowest(relabelled(problem.problem, order))
    if isinstance(problem, sw.Linear):
        return sw.Linear(problem.features[back])
    if isinstance(problem, sw.Product):
        return sw.Product(
            [
                (part, order[group])
                for part, group in zip(problem.parts, problem.groups, strict=True)
            ]
        )
    return problem


@pytest.mark.parametrize(
    ("kind", "setting"), [p for p in PAIRS if not p[0].startswith("cells")], ids=pair_id
)
def test_relabelling_arms_relabels_the_result(kind: str, setting: Setting) -> None:
    arms = 5
    problem, means = draw_instance(kind, setting, arms, 21)
    order = np.array([3, 0, 4, 1, 2])
    moved = np.empty(arms)
    moved[order] = means
    before = sw.oracle(problem, means, family=setting.family)
    after = sw.oracle(relabelled(problem, order), moved, family=setting.family)
    assert math.isclose(before.value, after.value, rel_tol=1e-8, abs_tol=1e-300)
    assert len(before.answers) == len(after.answers)
    if before.status == "exact" and len(before.answers) == 1:
        np.testing.assert_allclose(after.weights[0][order], before.weights[0], rtol=1e-8, atol=1e-9)


CLOSED = {"best_arm", "epsilon_best_arm", "thresholding", "minimum", "epsilon_minimum", "any_low",
          "any_sign", "any_half_space", "sphere", "any_better"}  # fmt: skip


@pytest.mark.parametrize(("kind", "setting"), [p for p in PAIRS if p[0] in CLOSED], ids=pair_id)
def test_closed_forms_certify_themselves_to_1e_9(kind: str, setting: Setting) -> None:
    for seed in range(25):
        problem, means = draw_instance(kind, setting, 2 + seed % 9, seed)
        found = sw.oracle(problem, means, family=setting.family)
        assert found.status == "exact", (problem, means)
        assert found.gap <= 1e-9
