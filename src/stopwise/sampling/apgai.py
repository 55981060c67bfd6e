"""APGAI (Jourdan & Reda 2023, Algorithm 1): anytime good arm identification, without parameters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.cells.confidence import leader
from stopwise.core.arrays import Rng
from stopwise.core.data import State
from stopwise.core.values import Empty
from stopwise.problems.asked import some_arm
from stopwise.sampling.verbs import Direct, Question, bind, pick


class APGAI(Empty, Direct):
    """If some mean is beyond the limit the arm that is so most clearly, else the least clear one.

    Clear is sqrt(N) |mean - limit|. Where a single arm is beyond the limit it may sample another one
    for very long. Its published stopping rule is ``JourdanReda``.
    """

    __slots__ = ()
    title = "any arm beyond a limit: the clearest one"
    reason = (
        "APGAI samples the arm that is most clearly beyond the limit; while none seems to be, the one "
        "of which that is least clear."
    )


class _Clearest(NamedTuple):
    side: float
    limit: float


class Clearest(_Clearest, Direct, listed=False):
    """APGAI once the question is known."""

    __slots__ = ()


@bind.register(APGAI)
def _bind(strategy: APGAI, question: Question) -> Clearest:
    asked = some_arm(strategy, question.problem, also_unnamed=True)
    return Clearest(asked.side, asked.limit)


@pick.register(Clearest)
def _pick(
    strategy: Clearest, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    """The largest sqrt(N) (mean - limit) to the wanted side: while no mean is there, the least clear."""
    side, limit, means = strategy.side, strategy.limit, state.data.means
    beyond = side * (means[leader(means, side)] - limit) > 0.0
    best, found = -math.inf, 0
    for k in range(means.size):
        ahead = side * (means[k] - limit)
        if not beyond or ahead > 0.0:
            clear = math.sqrt(state.taken[k]) * ahead
            if clear > best:
                best, found = clear, k
    return found
