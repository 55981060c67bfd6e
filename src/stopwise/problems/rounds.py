"""What one round asks of a problem: every verb, once.

Questions of one round are answered into arrays, so that compiled loops allocate nothing. A problem
keeps a *sketch* between rounds: whatever lets it answer from the one arm that changed. By default the
questions go through the answers by their codes, and the sketch is scratch space. The default of
``solve_round`` needs a solver and is in stopwise.oracles.rounds, which whoever runs rounds imports.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.shape import BOUND, GAP
from stopwise.core.arrays import Floats, Ints, assign, fill, largest
from stopwise.core.data import Data
from stopwise.core.errors import MissingVerb
from stopwise.core.verbs import jitable, registered, verb
from stopwise.problems.verbs import (
    Code,
    answer_count,
    cell_count,
    code_size,
    cost,
    project,
    reach,
    shape,
)


class Scratch(NamedTuple):
    """Room for one model, one weight vector and one answer; and how many answers there are."""

    model: Floats
    weights: Floats
    code: Code
    answers: Ints


def scratch(problem: Any) -> Scratch:
    """Empty room for a problem."""
    arms = problem.arms
    code = np.zeros(code_size(problem), dtype=np.int64)
    return Scratch(np.zeros(arms), np.zeros(arms), code, np.array([answer_count(problem)]))


@verb(on=2)
def sketch(problem: Any, family: Any) -> Any:
    """A new sketch: a NamedTuple of arrays."""
    return scratch(problem)


@verb(on=2)
def rebuild(problem: Any, family: Any, data: Data, sketch: Any) -> None:
    """Compute the sketch from the data alone, forgetting what it held: every arm has been sampled."""


@verb(on=2, inline=True)
def absorb(problem: Any, family: Any, data: Data, sketch: Any, arm: int, before: float) -> None:
    """Bring the sketch up to date after one more sample of an arm, whose mean was ``before``."""


@verb(on=2, allocates=True)
def solve_round(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The value of an answer and its oracle weights; by default from the generic solver."""
    raise MissingVerb("solve_round", problem)


@verb(on=2, inline=True)
def first_oracle(
    problem: Any, family: Any, data: Data, sketch: Any, code: Code, weights: Floats
) -> None:
    """The first oracle answer at the estimated means, and its weights."""
    best = -1.0
    for place in range(sketch.answers[0]):
        sketch.code[0] = place
        value = solve_round(problem, family, data.means, sketch.code, sketch.weights)
        if value > best:
            best = value
            code[0] = place
            assign(weights, sketch.weights)


@verb(on=2, inline=True)
def answer_weights(
    problem: Any, family: Any, data: Data, sketch: Any, code: Code, weights: Floats
) -> None:
    """Oracle weights of a given answer.

    At means where the answer is wrong every weight vector is optimal, and the paper leaves the
    choice open. Taken are the weights of a neighbour: for a half-space or sign those of its other
    side, which are its own limit at the plane; else those of an oracle answer at the means, so that
    evidence grows for what looks right; uniform ones where many answers would have to be solved for.
    """
    value = solve_round(problem, family, data.means, code, weights)
    if value == 0.0 and sketch.answers[0] == 2:
        sketch.code[0] = 1 - code[0]
        solve_round(problem, family, data.means, sketch.code, weights)


@verb(on=2, inline=True)
def best_evidence(
    problem: Any, family: Any, data: Data, sketch: Any, enough: float, code: Code
) -> float:
    """The largest D(N, mu-hat, not i) over all answers, and the first answer that has it.

    Where it is less than ``enough`` any number >= 0 below that will do, and any answer.
    """
    best = -1.0
    for place in range(sketch.answers[0]):
        sketch.code[0] = place
        value = cost(problem, family, data, sketch.code, sketch.model)
        if not value <= best:  # nan shows
            best = value
            code[0] = place
    return best


@verb(on=2)
def front_runner(problem: Any, family: Any, data: Data, sketch: Any, code: Code) -> bool:
    """The answer that looks best at the estimated means: by default the one with the most evidence.

    Returned is whether there is any: at a tie no answer has, and this one may even be wrong.
    """
    return best_evidence(problem, family, data, sketch, 0.0, code) > 0.0


@verb(on=2, inline=True)
def fitted(problem: Any, family: Any, data: Data, means: Floats) -> None:
    """The means as the problem has them, given the arms' own: by default these, for arms not related."""
    assign(means, data.means)


@verb(on=2)
def answer_at(problem: Any, family: Any, data: Data, sketch: Any, code: Code) -> None:
    """An answer that is correct at these means, whatever the sketch has seen.

    Of several the one that is the most costly to refute with these counts.
    """
    best = -1.0
    for place in range(sketch.answers[0]):
        sketch.code[0] = place
        value = cost(problem, family, data, sketch.code, sketch.model)
        if value > best:
            best, code[0] = value, place


class Refutation(NamedTuple):
    """The cheapest way to be wrong: the closest model, and 1 for each arm that its cell constrains."""

    model: Floats
    arms: Floats
    trial: Floats  # scratch
    memo: Floats  # the problem's own: 4 numbers for each arm, zeros at first


def refutation(arms: int) -> Refutation:
    """Empty room for so many arms."""
    return Refutation(np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros((4, arms)))


@verb(on=2, allocates=True)
def refute(
    problem: Any,
    family: Any,
    data: Data,
    sketch: Any,
    code: Code,
    penalty: float,
    found: Refutation,
) -> float:
    """The cheapest cell of an answer's alternative, and its cost; of equals the first.

    The counts may be weights, and the means need not be the estimate. With a ``penalty`` a cell costs so
    many times log N more, N the samples of the least sampled arm that has to move.
    """
    best, least, place = math.inf, math.inf, 0
    assign(found.model, data.means)
    for cell in range(cell_count(problem, code)):
        value = project(problem, family, data, code, cell, found.trial)
        price = value if penalty == 0.0 else value + penalty * _log_least(data, found.trial)
        if price < best:
            best, least, place = price, value, cell
            assign(found.model, found.trial)
    mark_cell(problem, code, place, found.arms)
    return least


@jitable
def _log_least(data: Data, model: Floats) -> float:
    """log N of the least sampled arm that moves; 0 if none does."""
    least = math.inf
    for k in range(model.size):
        if model[k] != data.means[k] and data.counts[k] < least:
            least = data.counts[k]
    return math.log(least) if least < math.inf else 0.0


@jitable
def mark_cell(problem: Any, code: Code, cell: int, arms: Floats) -> None:
    """Which arms a cell constrains: one, two or, for all that is known of it, any."""
    what = shape(problem, code, cell)
    alone = what.kind == BOUND or what.kind == GAP
    fill(arms, 0.0 if alone else 1.0)
    if alone:
        arms[what.arm] = arms[what.other] = 1.0


@verb
def judged(
    judge: Any, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    """What a stopping rule's tally has against a cell; below ``enough`` an upper bound will do."""
    raise MissingVerb("judged", judge)


@verb(on=2)
def weakest_cell(
    problem: Any, family: Any, data: Data, sketch: Any, code: Code, judge: Any, enough: float
) -> float:
    """The least that is judged of an answer's cells, up to the first below ``enough``."""
    least = math.inf
    for cell in range(cell_count(problem, code)):
        value = judged(judge, problem, family, data, code, cell, enough)
        if not value >= least:
            least = value
        if value < enough:
            break
    return least


@verb(on=2)
def reach_round(
    problem: Any, family: Any, data: Data, sketch: Any, code: Code, level: float, point: Floats
) -> float:
    """``reach``, with the sketch: a lower bound on the cost will do where it is above the level."""
    return reach(problem, family, data, code, level, point)


class Search(NamedTuple):
    """A search for the first reachable answer: in which order, and what was found."""

    order: Ints  # the codes of the answers, where they are listed
    code: Code  # the answer
    point: Floats  # a model of the region at which it is an oracle answer (or nan, see ``reach``)
    trial: Floats  # scratch
    slack: float = -1.0  # see ``first_close``; negative: reachable answers may be bounds
    forced: bool = False  # the same also where what can be reached is solved for


BY_VALUE = -math.inf  # in place of a barrier


@verb(on=2)
def first_reachable(
    problem: Any, family: Any, data: Data, sketch: Any, level: float, held: bool, search: Search
) -> float:
    """The first answer in the order that is an oracle answer somewhere in the region.

    ``held`` says that the search's point already is such a model for its answer. Returned is a lower
    bound on what every earlier answer costs to reach; ``BY_VALUE`` if the answer is a close one.
    """
    order, code, point, trial, slack, _ = search
    if slack >= 0.0 and first_close(problem, family, data, sketch, search):
        point[0] = math.nan
        return BY_VALUE
    barrier, kept = math.inf, code[0]
    for turn in range(order.size):
        code[0] = order[turn]
        if held and code[0] == kept:
            break
        price = reach_round(problem, family, data, sketch, code, level, trial)
        if price <= level:
            assign(point, trial)
            break
        barrier = min(barrier, price)
    return barrier


@verb(on=2)
def first_close(problem: Any, family: Any, data: Data, sketch: Any, search: Search) -> bool:
    """The first answer whose value at the estimate lacks at most a share ``slack`` of the largest.

    For questions of which no more is known than bounds on what can be reached; False for others.
    """
    return search.forced and close_of_listed(problem, family, data, search)


@jitable
def close_of_listed(problem: Any, family: Any, data: Data, search: Search) -> bool:
    """The same, one answer after the other; False where they are not listed, or all are wrong."""
    best = 0.0
    for turn in range(search.order.size):
        search.code[0] = search.order[turn]
        best = max(best, solve_round(problem, family, data.means, search.code, search.trial))
    for turn in range(search.order.size if best > 0.0 else 0):
        search.code[0] = search.order[turn]
        value = solve_round(problem, family, data.means, search.code, search.trial)
        if value >= (1.0 - search.slack) * best:
            return True
    return False


@jitable
def first_of_values(values: Floats, search: Search) -> None:
    """The first answer in the order whose value is close to the largest."""
    least = (1.0 - search.slack) * largest(values)
    for turn in range(search.order.size):
        if values[search.order[turn]] >= least:
            search.code[0] = search.order[turn]
            return


@verb
def listed_answers(problem: Any) -> Ints:
    """The codes of all answers, in order; empty where they are combinations and never listed."""
    listed = not registered(first_reachable, type(problem))
    return np.arange(answer_count(problem) if listed else 0, dtype=np.int64)


def nothing_known(problem: Any, family: Any) -> bool:
    """Whether the problem says nothing about which answers can be reached."""
    return not registered(reach, type(problem), type(family))
