"""What a round asks: answered at theta-hat."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.least_squares import compare, estimate, fit, gap_cost, information
from stopwise.core.arrays import Floats, place_of_largest
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.problems import rounds
from stopwise.problems.linear.problem import Linear
from stopwise.problems.verbs import Code


class Fit(NamedTuple):
    """The arms' means at theta-hat; and scratch."""

    means: Floats
    code: Code
    drawn: Floats


@rounds.sketch.register(Linear)
def _sketch(problem: Linear, family: Any) -> Fit:
    means, drawn = np.zeros((2, problem.arms))
    return Fit(means, np.zeros(1, dtype=np.int64), drawn)


@rounds.rebuild.register(Linear)
def _rebuild(problem: Linear, family: Any, data: Data, sketch: Fit) -> None:
    fit(problem.features, family, data, sketch.means)


@rounds.absorb.register(Linear)
def _absorb(problem: Linear, family: Any, data: Data, sketch: Fit, arm: int, before: float) -> None:
    fit(problem.features, family, data, sketch.means)


@rounds.fitted.register(Linear)
def _fitted(problem: Linear, family: Any, data: Data, means: Floats) -> None:
    fit(problem.features, family, data, means)


@rounds.first_oracle.register(Linear)
def _first_oracle(
    problem: Linear, family: Any, data: Data, sketch: Fit, code: Code, weights: Floats
) -> None:
    code[0] = place_of_largest(sketch.means)
    rounds.solve_round(problem, family, sketch.means, code, weights)


@rounds.answer_weights.register(Linear)
def _answer_weights(
    problem: Linear, family: Any, data: Data, sketch: Fit, code: Code, weights: Floats
) -> None:
    """Where the answer is wrong, those of the best arm."""
    value = rounds.solve_round(problem, family, sketch.means, code, weights)
    if value == 0.0:
        rounds.first_oracle(problem, family, data, sketch, sketch.code, weights)


@rounds.answer_at.register(Linear)
def _answer_at(problem: Linear, family: Any, data: Data, sketch: Fit, code: Code) -> None:
    """Means drawn arm by arm, N(m_a, V_a/N_a), fitted: theta then has its posterior's law.

    It is linear in them, with mean theta-hat and covariance A (sum_a N_a x_a x_a^T/V_a) A = A, the
    inverse of the information.
    """
    fit(problem.features, family, data, sketch.drawn)
    code[0] = place_of_largest(sketch.drawn)


@rounds.best_evidence.register(Linear)
def _best_evidence(
    problem: Linear, family: Any, data: Data, sketch: Fit, enough: float, code: Code
) -> float:
    """Only the arm that is best at theta-hat has any."""
    code[0] = place_of_largest(sketch.means)
    return _least_cost(problem.features, family, data, code[0])


@jitable(allocates=True)
def _least_cost(features: Floats, family: Any, data: Data, arm: int) -> float:
    """Of letting another arm overtake this one."""
    least, shape = math.inf, information(features, family, data.counts)
    theta = estimate(features, family, data, shape)
    for other in range(len(features)):
        if other != arm:
            gap, _, width = compare(features, theta, shape, arm, other)
            least = min(least, gap_cost(gap, width))
    return least
