"""APT (Locatelli, Gutzeit & Carpentier 2016, Figure 1): anytime thresholding, without parameters."""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.arrays import Floats, Rng
from stopwise.core.checks import not_negative
from stopwise.core.data import State
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.problems.instance import Instance, Question
from stopwise.problems.question_kind import every_arm
from stopwise.sampling.strategy import Direct


class APT(Direct):
    """The arm with the smallest sqrt(N) (|mean - limit| + epsilon): its side is the least clear."""

    epsilon: float
    title = "all arms' sides of a limit: the least clear one"
    reason = "APT samples the arm of which it is least clear on which side of the limit it lies."
    options = {
        "epsilon": Option(NOT_NEGATIVE, "How far from the limit sides do not matter; 0 if empty")
    }

    def __init__(self, epsilon: float = 0.0) -> None:
        self.epsilon = not_negative("epsilon", epsilon)

    def init(self, question: Question) -> Floats:
        """The limit."""
        return np.array([every_arm(self, question.problem)])

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        limit: Floats = state.strategy_state
        least, found = math.inf, 0
        for k in range(state.taken.size):
            far = abs(instance.data.means[k] - limit[0]) + self.epsilon
            clear = math.sqrt(state.taken[k]) * far
            if clear < least:
                least, found = clear, k
        return found
