"""Strategies that do not look at the data: yardsticks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core import checks
from stopwise.core.arrays import Floats, Rng, assign
from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.options import SHARES, Option
from stopwise.oracles.quantities import oracle
from stopwise.problems.instance import Instance, Question
from stopwise.sampling.strategy import DTracking, Strategy, Tracker


class Constant(Strategy, listed=False):
    """Weights that are known before the first sample: they are the strategy's state."""

    tracker: Tracker

    def __init__(self) -> None:
        self.tracker = DTracking()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def identity(self) -> tuple[str, tuple[object, ...]]:
        return type(self).__name__, ()

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        weights: Floats = state.strategy_state
        assign(state.plan.weights, weights)

    def pursues(self) -> bool:
        return False


class FixedWeights(Constant):
    """Sample in these proportions, whatever the data: a yardstick. They are scaled to sum to 1."""

    weights: Floats
    title = "always these shares"
    reason = "With fixed weights no answer is pursued: the samples are shared out as the spec says."
    options = {"weights": Option(SHARES, "One for each arm: 1, 1, 2")}

    def __init__(self, weights: ArrayLike) -> None:
        shares = checks.weights("weights", weights, None)
        self.weights = shares / shares.sum()
        self.tracker = DTracking()

    def __repr__(self) -> str:
        return f"FixedWeights({self.weights.tolist()})"

    def identity(self) -> tuple[str, tuple[object, ...]]:
        return type(self).__name__, (self.weights, self.tracker)

    def init(self, question: Question) -> Floats:
        return checks.weights("weights", self.weights, question.problem.arms)


class Uniform(Constant):
    """Sample all arms equally often: a yardstick."""

    title = "every arm alike"
    reason = "Uniform sampling pursues no answer: every arm is sampled equally often."

    def init(self, question: Question) -> Floats:
        return np.full(question.problem.arms, 1.0 / question.problem.arms)


class OracleWeights(Constant):
    """The paper's oracle strategy: the oracle weights at the true means, which nobody knows.

    Of several oracle answers the first is taken. Where D = 0 it is uniform.
    """

    title = "those of the true means: for simulations only"
    needs_truth = True

    def init(self, question: Question) -> Floats:
        truth = question.truth
        if np.isnan(truth).any():
            raise NotDefined(
                "strategy: OracleWeights needs the true means, which a campaign does not know; allowed: a "
                "strategy that does not need them, such as TrackAndStop()."
            )
        found = oracle(question.problem, truth, family=question.family, costs=question.costs)
        return found.weights[0] / found.weights[0].sum()
