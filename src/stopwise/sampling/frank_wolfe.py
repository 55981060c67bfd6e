"""Frank-Wolfe sampling, FWS (Wang, Tzeng & Proutiere 2021).

D(x, not i) is the least of smooth pieces, one for each cell. A Frank-Wolfe step goes towards the weights
z that gain the most on the worst piece among those within r of the least, a matrix game. Each arm is
sampled that lags behind the average x of the z the most.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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
from stopwise.core.values import Empty, Strategy, Value
from stopwise.core.verbs import jitable, registered
from stopwise.problems.rounds import fitted, front_runner, weakest_cell
from stopwise.problems.verbs import answer_count, cell_count, code_size, cost_floor, project
from stopwise.sampling.games import BY_THE_MEANS, WithTracker, gains
from stopwise.sampling.matrix_game import Tableau, new_tableau, play
from stopwise.sampling.tracking import follow
from stopwise.sampling.verbs import Question, aim, bind, notes

PIECES = 64  # that a matrix game may have: of more the first


class FrankWolfe(WithTracker, Strategy):
    """A step in each round towards the weights that gain the most on all pieces that are about least."""

    __slots__ = ()
    title = "Frank-Wolfe steps towards the oracle weights"
    reason = (
        "Frank-Wolfe sampling pursues the answer that the means favour at the moment, and samples the "
        "arms that raise the evidence against all of its closest alternatives."
    )
    because = BY_THE_MEANS

    def __new__(cls) -> FrankWolfe:
        return super().__new__(cls, RatioTracking())

    def __getnewargs__(self) -> tuple[Any, ...]:
        return ()


class RatioTracking(Empty, Value):
    """The arm whose share of the samples is the smallest part of its weight."""

    __slots__ = ()


@follow.register(RatioTracking)
def _follow(
    tracker: RatioTracking, target: Floats, counts: Floats, totals: Floats, rounds: int
) -> int:
    arm = 0
    for k in range(1, counts.size):
        if target[k] * counts[arm] > target[arm] * counts[k]:
            arm = k
    return arm


@bind.register(FrankWolfe)
def _bind(strategy: FrankWolfe, question: Question) -> FrankWolfe:
    if registered(weakest_cell, type(question.problem)):
        raise NotDefined(
            f"strategy: FrankWolfe needs the cells of an answer one by one, which {question.problem!r} "
            "does not list; allowed: questions in one part, or another strategy, such as AdaHedge()."
        )
    return strategy


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


@notes.register(FrankWolfe)
def _notes(strategy: FrankWolfe, problem: Any) -> Pieces:
    arms, cells = problem.arms, most_cells(problem)
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


def most_cells(problem: Any) -> int:
    """The most cells that any answer's alternative has."""
    codes = [np.array([place]) for place in range(answer_count(problem))]
    if not codes:
        codes = [np.zeros(code_size(problem), dtype=np.int64)]
    return int(max(cell_count(problem, code) for code in codes))


@aim.register(FrankWolfe)
def _aim(
    strategy: FrankWolfe, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    goal, pieces, arms = state.pursuit, state.pursuit.notes, state.data.means.size
    front_runner(problem, family, state.data, state.sketch, goal.code)
    found = 0
    if not is_square(rounds // arms):
        radius = rounds**-0.9 / arms
        fitted(problem, family, state.data, pieces.means)
        found = nearly_least(problem, family, goal.code, radius, pieces)
    if found == 0:
        fill(pieces.goal, 1.0 / arms)
    elif found == 1:
        fill(pieces.goal, 0.0)
        pieces.goal[place_of_largest(pieces.slopes[0])] = 1.0
    else:
        play(pieces.slopes, found, pieces.tableau, pieces.goal)
    for k in range(arms):
        pieces.average[k] += (pieces.goal[k] - pieces.average[k]) / rounds
    assign(goal.weights, pieces.average)


@jitable
def is_square(number: int) -> bool:
    """Whether it is the square of a whole number."""
    root = int(math.sqrt(number) + 0.5)
    return root * root == number


@jitable
def nearly_least(problem: Any, family: Any, code: Ints, radius: float, pieces: Pieces) -> int:
    """How many cells are within the radius of the cheapest; none if that costs nothing.

    Their slopes at x, less their cost: what a step towards each arm gains (A of the matrix game).
    """
    means = pieces.means
    data, cells = Data(pieces.average, means), cell_count(problem, code)
    first = place_of_smallest(pieces.costs[:cells])  # the cheapest before
    least = project(problem, family, data, code, first, pieces.closest)
    pieces.costs[first], most = least, least + radius
    for cell in range(cells):
        if cell != first:
            pieces.costs[cell] = math.inf
            if not cost_floor(problem, family, data, code, cell) > most:
                pieces.costs[cell] = project(problem, family, data, code, cell, pieces.model)
                least = min(least, pieces.costs[cell])
    if not 0.0 < least < math.inf:
        return 0
    found = 0
    for cell in range(cells):
        if pieces.costs[cell] < least + radius and found < pieces.slopes.shape[0]:
            model = pieces.closest
            if cell != first:
                model = pieces.model
                project(problem, family, data, code, cell, model)
            gains(family, means, model, pieces.slopes[found])
            for k in range(means.size):
                pieces.slopes[found, k] -= pieces.costs[cell]
            found += 1
    return found
