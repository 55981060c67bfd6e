"""Frank-Wolfe sampling, FWS (Wang, Tzeng & Proutiere 2021).

D(x, not i) is the least of smooth pieces, one for each cell. A Frank-Wolfe step goes towards the weights
z that gain the most on the worst piece among those within r of the least, a matrix game. Each arm is
sampled that lags behind the average x of the z the most.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import (
    Floats,
    Ints,
    Rng,
    assign,
    fill,
    place_of_largest,
    place_of_smallest,
)
from stopwise.core.data import Data, State
from stopwise.core.errors import NotDefined
from stopwise.core.functions import jitable
from stopwise.core.values import overrides
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem
from stopwise.sampling.games import Learner, gains
from stopwise.sampling.matrix_game import Tableau, new_tableau, play
from stopwise.sampling.strategy import Tracker

PIECES = 64  # that a matrix game may have: of more the first


class FrankWolfe(Learner):
    """A step in each round towards the weights that gain the most on all pieces that are about least."""

    title = "Frank-Wolfe steps towards the oracle weights"
    reason = (
        "Frank-Wolfe sampling pursues the answer that the means favour at the moment, and samples the "
        "arms that raise the evidence against all of its closest alternatives."
    )

    def __init__(self) -> None:
        self.tracker = RatioTracking()

    def init(self, question: Question) -> Pieces:
        if overrides(question.problem, "weakest_cell"):
            raise NotDefined(
                f"strategy: FrankWolfe needs the cells of an answer one by one, which {question.problem!r} "
                "does not list; allowed: questions in one part, or another strategy, such as AdaHedge()."
            )
        arms, cells = question.problem.arms, most_cells(question.problem)
        rows = min(cells, PIECES)
        return Pieces(
            np.full(arms, 1.0 / arms),
            np.zeros(arms),
            np.zeros(arms),
            np.zeros(cells),
            np.zeros((rows, arms)),
            np.zeros(arms),
            np.zeros(arms),
            new_tableau(rows, arms),
        )

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        pieces: Pieces = state.strategy_state
        (problem, family, data, cache), arms = instance, state.data.means.size
        problem.leading_answer(family, data, cache, state.plan.pursued)
        found = 0
        if not is_square(rounds // arms):
            radius = rounds**-0.9 / arms
            problem.fitted(family, data, pieces.means)
            found = nearly_least(problem, family, state.plan.pursued, radius, pieces)
        if found == 0:
            fill(pieces.goal, 1.0 / arms)
        elif found == 1:
            fill(pieces.goal, 0.0)
            pieces.goal[place_of_largest(pieces.slopes[0])] = 1.0
        else:
            play(pieces.slopes, found, pieces.tableau, pieces.goal)
        for k in range(arms):
            pieces.average[k] += (pieces.goal[k] - pieces.average[k]) / rounds
        assign(state.plan.weights, pieces.average)


class RatioTracking(Tracker):
    """The arm whose share of the samples is the smallest part of its weight."""

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        arm = 0
        for k in range(1, counts.size):
            if target[k] * counts[arm] > target[arm] * counts[k]:
                arm = k
        return arm


class Pieces(NamedTuple):
    """The average x, the costs of all cells, and the gradients of those that are nearly least."""

    average: Floats
    goal: Floats  # z
    means: Floats
    costs: Floats
    slopes: Floats  # piece x arm
    model: Floats
    closest: Floats  # of the cell that was the cheapest before
    tableau: Tableau


def most_cells(problem: Problem) -> int:
    """The most cells that any answer's alternative has."""
    codes = [np.array([place]) for place in range(problem.answer_count())]
    if not codes:
        codes = [np.zeros(problem.code_size(), dtype=np.int64)]
    return int(max(problem.cell_count(code) for code in codes))


@jitable
def is_square(number: int) -> bool:
    """Whether it is the square of a whole number."""
    root = int(math.sqrt(number) + 0.5)
    return root * root == number


@jitable
def nearly_least(
    problem: Problem, family: Family, code: Ints, radius: float, pieces: Pieces
) -> int:
    """How many cells are within the radius of the cheapest; none if that costs nothing.

    Their slopes at x, less their cost: what a step towards each arm gains (A of the matrix game).
    """
    means = pieces.means
    data, cells = Data(pieces.average, means), problem.cell_count(code)
    first = place_of_smallest(pieces.costs[:cells])  # the cheapest before
    least = problem.project(family, data, code, first, pieces.closest)
    pieces.costs[first], most = least, least + radius
    for cell in range(cells):
        if cell != first:
            pieces.costs[cell] = math.inf
            if not problem.cell(code, cell).cost_floor(family, data) > most:
                pieces.costs[cell] = problem.project(family, data, code, cell, pieces.model)
                least = min(least, pieces.costs[cell])
    if not 0.0 < least < math.inf:
        return 0
    found = 0
    for cell in range(cells):
        if pieces.costs[cell] < least + radius and found < pieces.slopes.shape[0]:
            model = pieces.closest
            if cell != first:
                model = pieces.model
                problem.project(family, data, code, cell, model)
            gains(family, means, model, pieces.slopes[found])
            for k in range(means.size):
                pieces.slopes[found, k] -= pieces.costs[cell]
            found += 1
    return found
