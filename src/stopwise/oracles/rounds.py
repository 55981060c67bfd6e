"""What one round asks of a problem: written into arrays, so that compiled loops allocate nothing.

A problem keeps a *sketch* between rounds: whatever lets it answer these questions from the one arm
that changed. By default the questions go through the answers by their codes, and the sketch is
scratch space; sketches.py has the problems that do better.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign
from stopwise.checks import Floats
from stopwise.oracles.center import saddle_weights
from stopwise.oracles.closed_forms import optimise
from stopwise.problems.base import Code, answer_count, answers, arm_count, code_size, cost, reach
from stopwise.verbs import verb


class Scratch(NamedTuple):
    """Room for one model, one weight vector and one answer; and how many answers there are."""

    model: Floats
    weights: Floats
    code: Code
    answers: Code


def scratch(problem: Any) -> Scratch:
    """Empty room for a problem."""
    arms = arm_count(problem)
    code = np.zeros(code_size(problem), dtype=np.int64)
    return Scratch(np.zeros(arms), np.zeros(arms), code, np.array([answer_places(problem).size]))


def answer_places(problem: Any) -> Code:
    """The codes of all answers, in order; empty where they are combinations and never listed."""
    if first_reachable.dispatch(type(problem)) is not first_reachable.dispatch(object):
        return np.zeros(0, dtype=np.int64)
    return np.arange(answer_count(problem) or sum(1 for _ in answers(problem)), dtype=np.int64)


@verb
def sketch(problem: Any, family: Any) -> Any:
    """A new sketch: a NamedTuple of arrays."""
    return scratch(problem)


@verb
def rebuild(problem: Any, family: Any, sketch: Any, counts: Floats, means: Floats) -> None:
    """Compute the sketch from the data alone, forgetting what it held: every arm has been sampled."""


@verb(inline=True)
def absorb(
    problem: Any, family: Any, sketch: Any, counts: Floats, means: Floats, arm: int, before: float
) -> None:
    """Bring the sketch up to date after one more sample of an arm, whose mean was ``before``."""


@verb
def solve_round(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The value of an answer and its oracle weights; by default from the generic solver."""
    value = optimise(problem, family, means, code, weights)
    if math.isnan(value):
        return saddle_weights(problem, family, means, code, weights)
    return value


@verb(inline=True)
def first_oracle(
    problem: Any, family: Any, sketch: Any, means: Floats, code: Code, weights: Floats
) -> None:
    """The first oracle answer at these means, and its weights."""
    best = -1.0
    for place in range(sketch.answers[0]):
        sketch.code[0] = place
        value = solve_round(problem, family, means, sketch.code, sketch.weights)
        if value > best:
            best = value
            code[0] = place
            assign(weights, sketch.weights)


@verb(inline=True)
def answer_weights(
    problem: Any, family: Any, sketch: Any, means: Floats, code: Code, weights: Floats
) -> None:
    """Oracle weights of a given answer.

    At means where the answer is wrong every weight vector is optimal, and the paper leaves the
    choice open. Taken are the weights of a neighbour: for a half-space or sign those of its other
    side, which are its own limit at the plane; else those of an oracle answer at the means, so that
    evidence grows for what looks right; uniform ones where many answers would have to be solved for.
    """
    value = solve_round(problem, family, means, code, weights)
    if value == 0.0 and sketch.answers[0] == 2:
        sketch.code[0] = 1 - code[0]
        solve_round(problem, family, means, sketch.code, weights)


@verb(inline=True)
def best_evidence(
    problem: Any,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    enough: float,
    code: Code,
) -> float:
    """The largest D(N, mu-hat, not i) over all answers, and the first answer that has it.

    Where it is less than ``enough`` any smaller number >= 0 will do, and any answer.
    """
    best = -1.0
    for place in range(sketch.answers[0]):
        sketch.code[0] = place
        value = cost(problem, family, counts, means, sketch.code, sketch.model)
        if not value <= best:  # nan shows
            best = value
            code[0] = place
    return best


@verb
def reach_round(
    problem: Any,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    """``reach``, with the sketch: a lower bound on the cost will do where it is above the level."""
    return reach(problem, family, counts, means, code, level, point)


@verb
def first_reachable(
    problem: Any,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    level: float,
    order: Code,
    held: bool,
    code: Code,
    point: Floats,
    trial: Floats,
) -> float:
    """The first answer in the order that is an oracle answer somewhere in the region.

    Written to ``point`` is such a model (or nan, see ``reach``). Returned is a lower bound on what
    every earlier answer costs to reach. ``order`` lists the codes (answer_places or another order).
    ``held`` says that ``point`` already is such a model for the answer ``code``; ``trial`` is scratch.
    """
    barrier, kept = math.inf, code[0]
    for turn in range(order.size):
        code[0] = order[turn]
        if held and code[0] == kept:
            break
        price = reach_round(problem, family, sketch, counts, means, code, level, trial)
        if price <= level:
            assign(point, trial)
            break
        barrier = min(barrier, price)
    return barrier
