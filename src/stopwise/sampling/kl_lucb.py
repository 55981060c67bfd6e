"""KL-LUCB (Kaufmann & Kalyanakrishnan 2013, Section 3; one arm to find)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.radius import (
    RADIUS,
    base,
    best_bound,
    check_radius,
    leader,
    radius_named,
    spelled,
)
from stopwise.core.arrays import Ints, Rng
from stopwise.core.data import Data, State
from stopwise.problems.asked import contest
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick


class _KLLUCB(NamedTuple):
    radius: Any


class KLLUCB(_KLLUCB, Direct):
    """The arm with the best mean, then the other one whose confidence bound reaches furthest.

    Its stopping rule is ``BoundsApart`` with the same radius.
    """

    __slots__ = ()
    title = "the leader, and the arm with the best confidence bound"
    reason = (
        "KL-LUCB samples the arm that leads and the one that may still overtake it, in turns; it does "
        "not pursue an answer beyond that."
    )
    options = {"radius": RADIUS}
    looks_at_delta = True

    def __new__(cls, radius: Any = "mixture") -> KLLUCB:
        return super().__new__(cls, radius_named(radius))

    def __repr__(self) -> str:
        return f"KLLUCB({spelled(self.radius)!r})"


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
    asked = contest(strategy, question.problem)
    check_radius(strategy, strategy.radius, question.family)
    level = base(strategy.radius, question.problem.arms, question.delta)
    return Running(strategy.radius, level, asked.side)


NEXT, RIVAL = range(2)  # the arm that is sampled after the leader, or -1; the last rival


@notes.register(Running)
def _notes(strategy: Running, problem: Any) -> Ints:
    return np.array([-1, -1])


@pick.register(Running)
def _pick(strategy: Running, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    """Both arms are chosen from the same data (line 6 of the algorithm)."""
    kept = state.pursuit.notes
    if kept[NEXT] >= 0:
        arm = kept[NEXT]
        kept[NEXT] = -1
        return arm
    first = leader(state.data.means, strategy.side)
    data = Data(state.taken, state.data.means)  # samples in flight narrow the bounds
    kept[RIVAL] = best_bound(
        *(strategy.radius, family, data, strategy.side, strategy.base, 1.0 * rounds),
        *(first, kept[RIVAL]),
    )
    kept[NEXT] = kept[RIVAL]
    return first
