"""Strategies that save money, not samples, where samples have different prices.

The strategy inside is asked as if it spent money: N_k c_k in place of N_k and d_k/c_k in place of d_k,
so that D(N, mu-hat, .) is what it was and its weights are the shares of the money. They are tracked as
shares of the samples. The stopping rule never hears of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Rng, divide, total
from stopwise.core.data import Data, State
from stopwise.core.functions import jitable
from stopwise.families.priced import priced
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Cache
from stopwise.sampling.strategy import Strategy, Tracker


class CostAware(Strategy, listed=False):
    """A strategy, and what a sample of each arm costs."""

    strategy: Strategy
    tracker: Tracker
    costs: Floats

    def init(self, question: Question) -> Spending:
        own = question.problem.init_cache(priced(question.estimated, self.costs))
        return Spending(self.strategy.init(question), own, np.zeros(question.problem.arms))

    def update(
        self, instance: Instance, state: State, arm: int, sample: float, before: float
    ) -> None:
        within, inner = _in_money(self, instance, state)
        self.strategy.update(within, inner, arm, sample, before)

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        within, inner = _in_money(self, instance, state)
        within.problem.rebuild_cache(within.family, within.data, within.cache)
        self.strategy.target(within, inner, rounds, rng)
        weights = state.plan.weights
        for k in range(weights.size):
            weights[k] /= self.costs[k]
        divide(weights, total(weights))

    def pursues(self) -> bool:
        return self.strategy.pursues()

    def compilable(self) -> CostAware:
        return self._replace(strategy=self.strategy.compilable())


class Spending(NamedTuple):
    """The state of the strategy inside, the problem's cache for each unit of money, and the money spent."""

    strategy_state: Floats | tuple[object, ...]
    cache: Cache
    spent: Floats


def cost_aware(strategy: Strategy, question: Question) -> Strategy:
    """The strategy for the question's costs; itself where they are all the same, or it tracks no oracle."""
    costs = question.costs
    if costs is None or not strategy.minds_costs or np.all(costs == costs[0]):
        return strategy
    priced(question.family, costs)  # refuses what is not solved
    return CostAware(strategy, strategy.tracker, costs)


@jitable
def _in_money(strategy: CostAware, instance: Instance, state: State) -> tuple[Instance, State]:
    """The instance and the state as the strategy inside sees them."""
    own: Spending = state.strategy_state
    _, sums, stats, taken, _, plan, _, rule_state, report = state
    for k in range(own.spent.size):
        own.spent[k] = state.data.counts[k] * strategy.costs[k]
    data, family = Data(own.spent, state.data.means), priced(instance.family, strategy.costs)
    inner = State(data, sums, stats, taken, own.cache, plan, own.strategy_state, rule_state, report)
    return Instance(instance.problem, family, data, own.cache), inner
