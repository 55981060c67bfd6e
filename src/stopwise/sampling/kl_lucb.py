"""KL-LUCB (Kaufmann & Kalyanakrishnan 2013, Section 3; one arm to find)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.confidence import best_bound, bound, leader, refuted
from stopwise.cells.radius import (
    AGAIN,
    base,
    check_radius,
)
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import Data, State
from stopwise.problems.asked import best_arm
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick
from stopwise.sampling.with_radius import WithRadius


class KLLUCB(WithRadius):
    """The arm with the best mean, then the other one whose confidence bound reaches furthest.

    Its stopping rule is ``BoundsApart`` with the same radius.
    """

    __slots__ = ()
    title = "the leader, and the arm with the best confidence bound"
    reason = (
        "KL-LUCB samples the arm that leads and the one that may still overtake it, in turns; it does "
        "not pursue an answer beyond that."
    )


class Leading(NamedTuple):
    """The strategy once the question is known."""

    radius: Any
    base: float
    side: float


class Running(Leading, Direct, listed=False):
    """KL-LUCB at work."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(KLLUCB)
def _bind(strategy: KLLUCB, question: Question) -> Running:
    asked = best_arm(strategy, question.problem)
    check_radius(strategy, strategy.radius, question.family)
    level = base(strategy.radius, question.problem.arms, question.delta)
    return Running(strategy.radius, level, asked.side)


NEXT, RIVAL, MORE = range(
    3
)  # who is next after the leader, or -1; the last rival; growth of the base


@notes.register(Running)
def _notes(strategy: Running, problem: Any) -> Floats:
    return np.array([-1.0, -1.0, 0.0])


@pick.register(Running)
def _pick(strategy: Running, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    """Both arms are chosen from the same data (line 6 of the algorithm).

    Where the bounds are apart and the stopping rule wants more, they go on as if for delta/10.
    """
    kept, side, t = state.pursuit.notes, strategy.side, 1.0 * rounds
    if kept[NEXT] >= 0.0:
        arm = int(kept[NEXT])
        kept[NEXT] = -1.0
        return arm
    first = leader(state.data.means, side)
    data = Data(state.taken, state.data.means)  # samples in flight narrow the bounds
    level, guess = strategy.base + kept[MORE], int(kept[RIVAL])
    rival, _ = best_bound(strategy.radius, family, data, side, level, t, first, guess, 1.0)
    end = bound(strategy.radius, family, state.data, rival, side, level, t)
    behind = side * (state.data.means[first] - end) > 0.0
    if behind and refuted(strategy.radius, family, state.data, first, end, level, t):
        kept[MORE] += AGAIN
    kept[RIVAL] = kept[NEXT] = 1.0 * rival
    return first
