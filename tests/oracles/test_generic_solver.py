"""The generic solver certifies its value, also of problems that have a closed form."""

from __future__ import annotations

import pytest

import stopwise as sw
from instances import SETTINGS, draw_instance
from stopwise.oracles.solve import generic_solution


@pytest.mark.parametrize(
    "kind", ["best_arm", "epsilon_best_arm", "any_half_space", "all_half_spaces"]
)
def test_generic_solver_certifies_fifty_arms(kind: str) -> None:
    for setting in (SETTINGS[0], SETTINGS[2]):
        problem, means = draw_instance(kind, setting, 50, 5)
        answer = sw.correct_answers(problem, means)[0]
        found = generic_solution(problem, setting.family, means, problem.encode(answer))
        assert found.status == "converged"
        assert found.gap <= 1e-6
