"""Strategies that save money, not samples, where samples have different prices.

The strategy inside is asked as if it spent money: N_k c_k in place of N_k and d_k/c_k in place of d_k,
so that D(N, mu-hat, .) is what it was and its weights are the shares of the money. They are tracked as
shares of the samples. The stopping rule never hears of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Rng, divide, total
from stopwise.core.data import Data, Pursuit, State
from stopwise.core.verbs import jitable
from stopwise.families.priced import priced
from stopwise.families.verbs import record, seen
from stopwise.problems.rounds import rebuild, sketch
from stopwise.sampling.verbs import Question, aim, notes, notice, pursues


class Thrifty(NamedTuple):
    """A strategy that is bound to a question, and what a sample of each arm costs."""

    strategy: Any
    tracker: Any
    costs: Floats
    family: Any


class Purchases(NamedTuple):
    """The strategy's own notes, and the problem's sketch for each unit of money."""

    notes: Any
    sketch: Any
    spent: Floats


def thrifty(bound: Any, question: Question) -> Any:
    """The strategy for these costs; itself where they are all the same."""
    costs = question.costs
    if costs is None or np.all(costs == costs[0]):
        return bound
    priced(question.family, costs)  # refuses what is not solved
    return Thrifty(bound, bound.tracker, costs, question.family)


@notes.register(Thrifty)
def _notes(strategy: Thrifty, problem: Any) -> Purchases:
    view = seen(strategy.family, record(strategy.family, problem.arms))
    own = sketch(problem, priced(view, strategy.costs))
    return Purchases(notes(strategy.strategy, problem), own, np.zeros(problem.arms))


@jitable
def _in_money(strategy: Thrifty, state: State) -> State:
    """The state as the strategy inside sees it."""
    goal, own = state.pursuit, state.pursuit.notes
    for k in range(own.spent.size):
        own.spent[k] = state.data.counts[k] * strategy.costs[k]
    return State(
        Data(own.spent, state.data.means),
        state.sums,
        state.record,
        state.taken,
        own.sketch,
        Pursuit(goal.code, goal.weights, goal.totals, own.notes),
        state.tally,
        state.answer,
        state.scale,
    )


@notice.register(Thrifty)
def _notice(
    strategy: Thrifty,
    problem: Any,
    family: Any,
    state: State,
    arm: int,
    sample: float,
    before: float,
) -> None:
    view, within = priced(family, strategy.costs), _in_money(strategy, state)
    notice(strategy.strategy, problem, view, within, arm, sample, before)


@aim.register(Thrifty)
def _aim(strategy: Thrifty, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> None:
    view, within = priced(family, strategy.costs), _in_money(strategy, state)
    rebuild(problem, view, within.data, within.sketch)
    aim(strategy.strategy, problem, view, within, rounds, rng)
    weights = state.pursuit.weights
    for k in range(weights.size):
        weights[k] /= strategy.costs[k]
    divide(weights, total(weights))


pursues.register(Thrifty)(lambda strategy: pursues(strategy.strategy))
