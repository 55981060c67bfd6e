"""APT (Locatelli, Gutzeit & Carpentier 2016, Figure 1): anytime thresholding, without parameters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.checks import not_negative
from stopwise.core.data import State
from stopwise.core.options import NOT_NEGATIVE, Option
from stopwise.problems.asked import every_arm
from stopwise.sampling.verbs import Direct, Question, bind, pick


class _APT(NamedTuple):
    epsilon: float


class APT(_APT, Direct):
    """The arm with the smallest sqrt(N) (|mean - limit| + epsilon): its side is the least clear."""

    __slots__ = ()
    title = "all arms' sides of a limit: the least clear one"
    reason = "APT samples the arm of which it is least clear on which side of the limit it lies."
    options = {
        "epsilon": Option(NOT_NEGATIVE, "How far from the limit sides do not matter; 0 if empty")
    }

    def __new__(cls, epsilon: float = 0.0) -> APT:
        return super().__new__(cls, not_negative("epsilon", epsilon))


class _Unclear(NamedTuple):
    limit: float
    epsilon: float


class Unclear(_Unclear, Direct, listed=False):
    """APT once the question is known."""

    __slots__ = ()


@bind.register(APT)
def _bind(strategy: APT, question: Question) -> Unclear:
    return Unclear(every_arm(strategy, question.problem), strategy.epsilon)


@pick.register(Unclear)
def _pick(strategy: Unclear, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    least, found = math.inf, 0
    for k in range(state.taken.size):
        far = abs(state.data.means[k] - strategy.limit) + strategy.epsilon
        clear = math.sqrt(state.taken[k]) * far
        if clear < least:
            least, found = clear, k
    return found
