"""Strategies that do not look at the data: yardsticks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core import checks
from stopwise.core.arrays import Floats, Rng, assign
from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.options import SHARES, Option
from stopwise.core.values import Empty, Strategy
from stopwise.oracles.quantities import oracle
from stopwise.sampling.tracking import DTracking
from stopwise.sampling.verbs import Question, aim, bind, pursues


class _FixedWeights(NamedTuple):
    weights: Floats
    tracker: Any


class FixedWeights(_FixedWeights, Strategy):
    """Sample in these proportions, whatever the data: a yardstick. They are scaled to sum to 1."""

    __slots__ = ()
    title = "always these shares"
    reason = "With fixed weights no answer is pursued: the samples are shared out as the spec says."
    options = {"weights": Option(SHARES, "One for each arm: 1, 1, 2")}

    def __new__(cls, weights: ArrayLike) -> FixedWeights:
        shares = checks.weights("weights", weights, None)
        return super().__new__(cls, shares / shares.sum(), DTracking())

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.weights,)

    def __repr__(self) -> str:
        return f"FixedWeights({self.weights.tolist()})"


@bind.register(FixedWeights)
def _check_size(strategy: FixedWeights, question: Question) -> FixedWeights:
    checks.weights("weights", strategy.weights, question.problem.arms)
    return strategy


@aim.register(FixedWeights)
def _aim(
    strategy: FixedWeights, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    assign(state.pursuit.weights, strategy.weights)


pursues.register(FixedWeights)(lambda strategy: False)


class Uniform(Empty, Strategy):
    """Sample all arms equally often: a yardstick."""

    __slots__ = ()
    title = "every arm alike"
    reason = "Uniform sampling pursues no answer: every arm is sampled equally often."


@bind.register(Uniform)
def _bind_uniform(strategy: Uniform, question: Question) -> FixedWeights:
    return FixedWeights(np.ones(question.problem.arms))


class OracleWeights(Empty, Strategy):
    """The paper's oracle strategy: the oracle weights at the true means, which nobody knows.

    Of several oracle answers the first is taken. Where D = 0 it is uniform.
    """

    __slots__ = ()
    title = "those of the true means: for simulations only"
    needs_truth = True


@bind.register(OracleWeights)
def _bind_oracle(strategy: OracleWeights, question: Question) -> FixedWeights:
    truth = question.truth
    if np.isnan(truth).any():
        raise NotDefined(
            "strategy: OracleWeights needs the true means, which a campaign does not know; allowed: a "
            "strategy that does not need them, such as TrackAndStop()."
        )
    found = oracle(question.problem, truth, family=question.family, costs=question.costs)
    return FixedWeights(found.weights[0])
