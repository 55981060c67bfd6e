"""Good arm identification by bounds (Kano et al. 2019): what HDoC and LUCB-G share.

An arm whose interval lies on the wrong side of the limit is rejected and not sampled again. If
all are rejected and the stopping rule asks for more, all come back at delta/10.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.confidence import against
from stopwise.cells.radius import (
    AGAIN,
    Hoeffding,
    base,
    check_proxy,
    proxy,
)
from stopwise.core.arrays import Floats, Rng, fill
from stopwise.core.data import State
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import of_arm
from stopwise.problems.asked import some_arm
from stopwise.sampling.verbs import Direct, Question, notes, notice, pick


class _Rejecting(NamedTuple):
    index: Any
    base: float
    side: float
    limit: float


class Rejecting(_Rejecting, Direct, listed=False):
    """A strategy that samples the arm with the best index of those that are not rejected."""

    __slots__ = ()
    looks_at_delta = True


def rejecting(strategy: Any, index: Any, question: Question) -> Rejecting:
    """The strategy once the question is known."""
    asked = some_arm(strategy, question.problem)
    check_proxy(strategy, question.family)
    level = base(Hoeffding(), question.problem.arms, question.delta)
    return Rejecting(index, level, asked.side, asked.limit)


@verb
def index_width(index: Any, spread: float, count: float, rounds: float, base: float) -> float:
    """How far an arm's index is from its mean."""
    return 0.0


class Left(NamedTuple):
    """Which arms are not rejected, and by what the base has grown."""

    arms: Floats
    more: Floats


@notes.register(Rejecting)
def _notes(strategy: Rejecting, problem: Any) -> Left:
    return Left(np.ones(problem.arms), np.zeros(1))


@notice.register(Rejecting)
def _notice(
    strategy: Rejecting,
    problem: Any,
    family: Any,
    state: State,
    arm: int,
    sample: float,
    before: float,
) -> None:
    _judge(strategy, family, state, arm)


@jitable
def _judge(strategy: Rejecting, family: Any, state: State, arm: int) -> None:
    left, more = state.pursuit.notes
    if strategy.side * (state.data.means[arm] - strategy.limit) < 0.0:
        had = against(Hoeffding(), family, state.data, arm, strategy.limit, 1.0)
        if had > strategy.base + more[0]:
            left[arm] = 0.0
    for k in range(left.size):
        if left[k] > 0.0:
            return
    more[0] += AGAIN
    fill(left, 1.0)


@pick.register(Rejecting)
def _pick(
    strategy: Rejecting, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    best, found = -math.inf, 0
    left, more = state.pursuit.notes
    for k in range(left.size):
        if left[k] > 0.0:
            width = index_width(
                *(strategy.index, proxy(of_arm(family, k)), state.taken[k]),
                *(1.0 + rounds, strategy.base + more[0]),
            )
            value = strategy.side * state.data.means[k] + width
            if value > best:
                best, found = value, k
    return found
