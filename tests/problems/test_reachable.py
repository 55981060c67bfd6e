"""Reachable answers: every oracle answer of a model in the region must be among them."""

from __future__ import annotations

import numpy as np
import pytest

import stopwise as sw
from instances import GAUSSIAN, PAIRS, Setting, draw_instance, pair_id

KINDS = {"best_arm", "epsilon_best_arm", "lowest_arm", "thresholding", "minimum", "epsilon_minimum",
         "any_low", "any_sign", "any_half_space", "all_half_spaces", "sphere", "product",
         "cells_of_balls", "cells_of_planes"}  # fmt: skip


TWICE = ("cells_of_balls", GAUSSIAN[-1])  # another unit, and slow


@pytest.mark.parametrize(
    ("kind", "setting"), [pair for pair in PAIRS if pair[0] in KINDS and pair != TWICE], ids=pair_id
)
def test_no_oracle_answer_in_the_region_is_missed(kind: str, setting: Setting) -> None:
    family, arms = setting.family, 3
    problem, means = draw_instance(kind, setting, arms, 3)
    rng = np.random.default_rng(4)
    counts = rng.integers(5, 60, arms).astype(float)
    level = 1.5
    reachable = set(sw.reachable_answers(problem, means, family=family, counts=counts, level=level))
    seen: set[object] = set()
    for _ in range(60):
        # a direction, then as far as the region goes
        share = rng.dirichlet(np.ones(arms)) * level * rng.uniform(0.2, 1.0)
        model = np.array(
            [
                (family.upper if rng.random() < 0.5 else family.lower)(
                    means[k], share[k] / counts[k]
                )
                for k in range(arms)
            ]
        )
        spent = sum(counts[k] * family.divergence(means[k], model[k]) for k in range(arms))
        assert spent <= level * (1 + 1e-9)
        seen |= set(sw.oracle(problem, model, family=family).answers)
    assert seen <= reachable


def test_exact_distances_match_a_projection() -> None:
    """Best arm: the cheapest model in which arm 2 is best, by a convex program."""
    from scipy.optimize import minimize

    counts, means = np.array([10.0, 20.0, 5.0, 8.0]), np.array([0.6, 0.5, 0.2, 0.4])
    from stopwise.core.data import Data

    point = np.zeros(4)
    got = sw.BestArm(4).reach(sw.Gaussian(), Data(counts, means), np.array([2]), 1.0, point)
    program = minimize(
        lambda x: 0.5 * np.sum(counts * (x - means) ** 2),
        means,
        constraints=[
            {"type": "ineq", "fun": lambda x, j=j: x[2] - x[j]} for j in range(4) if j != 2
        ],
        options={"ftol": 1e-15},
    )
    assert got == pytest.approx(program.fun, rel=1e-6)
    assert point == pytest.approx(program.x, abs=1e-4)


def test_the_region_shrinks_to_the_oracle_answers() -> None:
    problem, means = sw.AnyHalfSpace([[0.8, 0.2], [0.2, 0.8]]), [-0.3, -0.1]
    small = sw.reachable_answers(
        problem, means, family=sw.Gaussian(), counts=[1e6, 1e6], level=10.0
    )
    assert small == sw.oracle(problem, means, family=sw.Gaussian()).answers == ((0, -1),)
    assert (
        len(sw.reachable_answers(problem, means, family=sw.Gaussian(), counts=[1, 1], level=10.0))
        == 4
    )
    assert sw.reachable_answers(
        problem, means, family=sw.Gaussian(), counts=[1, 1], level=10.0, limit=1
    ) == ((0, 1),)


def test_two_to_the_thousand_answers_are_not_enumerated() -> None:
    problem = sw.Thresholding(1000, 0.0)
    first = sw.reachable_answers(
        problem,
        np.full(1000, -1.0),
        family=sw.Gaussian(),
        counts=np.full(1000, 4.0),
        level=1.0,
        limit=1,
    )
    assert first == (tuple(range(1000)),)


def test_cells_shrink_to_the_oracle_answers() -> None:
    """The Figure 3 question as a user would state it, and as the library has it."""
    normals = np.array([[0.8, 0.2], [0.2, 0.8]])
    cells = sw.Cells(
        2,
        {(m, s): sw.Polyhedron([-s * normals[m]]) for m in (0, 1) for s in (1, -1)},
    )
    means = [-0.3, -0.1]
    assert sw.reachable_answers(
        cells, means, family=sw.Gaussian(), counts=[1e6, 1e6], level=10.0
    ) == ((0, -1),)
    wide = sw.reachable_answers(cells, means, family=sw.Gaussian(), counts=[50, 50], level=1.0)
    exact = sw.reachable_answers(
        sw.AnyHalfSpace(normals), means, family=sw.Gaussian(), counts=[50, 50], level=1.0
    )
    assert set(exact) <= set(wide)
