"""Races: every arm that is left gets one sample a round, and whoever is beaten is out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.race import beaten_by, first_and_last, race_named, round_over
from stopwise.cells.radius import (
    AGAIN,
    base,
    check_proxy,
    check_radius,
)
from stopwise.core.arrays import Floats, Rng, fill, total
from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.values import Empty
from stopwise.core.verbs import jitable
from stopwise.problems.asked import best_arm
from stopwise.sampling.verbs import Direct, Question, aim, bind, notes, notice, pick
from stopwise.sampling.with_radius import WithRadius

REASON = (
    "In a race every arm that is left gets one sample a round; an arm that is clearly behind the best "
    "one is out. Shares show who is left."
)


class KLRacing(WithRadius):
    """Out is the worst when its bound is beyond the best one's (Kaufmann & Kalyanakrishnan 2013).

    Its stopping rule is ``LastLeft("kl")`` with the same radius.
    """

    __slots__ = ()
    title = "a race: out is whose confidence interval lies below the best one's"
    reason = REASON


class ChernoffRacing(WithRadius):
    """Out is the worst when W(best, worst) is above the level (Garivier & Kaufmann 2016, Section 6).

    Its stopping rule is ``LastLeft("chernoff")`` with the same radius.
    """

    __slots__ = ()
    title = "a race: out is who is behind by the likelihood ratio"
    reason = REASON


class SuccessiveElimination(Empty, Direct):
    """Out are all that are two radii behind: sqrt(2 s^2 log(4 K n^2/delta)/n) (Even-Dar et al. 2006).

    Its stopping rule is ``LastLeft("elimination")``. For s^2-sub-Gaussian samples.
    """

    __slots__ = ()
    title = "a race: out are all that are two radii behind"
    reason = REASON
    looks_at_delta = True


class _Race(NamedTuple):
    test: Any
    base: float
    side: float


class Race(_Race, Direct, listed=False):
    """A race once the question is known."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(KLRacing)
def _bind_kl(strategy: KLRacing, question: Question) -> Race:
    check_radius(strategy, strategy.radius, question.family)
    return _race(strategy, race_named("kl", strategy.radius), question)


@bind.register(ChernoffRacing)
def _bind_chernoff(strategy: ChernoffRacing, question: Question) -> Race:
    check_radius(strategy, strategy.radius, question.family)
    return _race(strategy, race_named("chernoff", strategy.radius), question)


@bind.register(SuccessiveElimination)
def _bind_elimination(strategy: SuccessiveElimination, question: Question) -> Race:
    check_proxy(strategy, question.family)
    return _race(strategy, race_named("elimination", None), question)


def _race(strategy: Any, test: Any, question: Question) -> Race:
    asked = best_arm(strategy, question.problem)
    if asked.epsilon > 0.0:  # who is out may have been beaten by one who is out later
        raise NotDefined(
            f"strategy: {strategy!r} with epsilon={asked.epsilon:g}; allowed: epsilon=0. In a race the "
            "epsilons of several comparisons add up. KLLUCB() and UGAPE() have an epsilon."
        )
    return Race(test, base(test.radius, question.problem.arms, question.delta), asked.side)


class Track(NamedTuple):
    """Who has a sample in this round; whose turn it was; whether a round is over; the base's growth."""

    fresh: Floats
    last: Floats
    over: Floats
    more: Floats


@notes.register(Race)
def _notes(strategy: Race, problem: Any) -> Track:
    return Track(np.zeros(problem.arms), np.full(1, -1.0), np.zeros(1), np.zeros(1))


@notice.register(Race)
def _notice(
    strategy: Race, problem: Any, family: Any, state: State, arm: int, sample: float, before: float
) -> None:
    track = state.pursuit.notes
    track.fresh[arm] = 1.0
    if round_over(track.fresh, state.pursuit.weights):
        track.over[0] = 1.0


@aim.register(Race)
def _aim(strategy: Race, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> None:
    """Only now, when the stopping rule has seen who took part in the round."""
    left, track = state.pursuit.weights, state.pursuit.notes
    if total(left) == 0.0:
        fill(left, 1.0 / left.size)
    if track.over[0] > 0.0:
        track.over[0] = 0.0
        _compare(strategy, family, state)


@jitable
def _compare(strategy: Race, family: Any, state: State) -> None:
    """At the end of a round: who is beaten is out. When one is left, all race again at delta/10."""
    means, left = state.data.means, state.pursuit.weights
    best, worst = first_and_last(means, left, strategy.side)
    t, level = total(state.data.counts), strategy.base + state.pursuit.notes.more[0]
    count = 0
    for k in range(means.size):
        looked = k == worst or strategy.test.every
        if looked and left[k] > 0.0 and k != best:
            by = beaten_by(strategy.test, family, state.data, best, k, strategy.side, t, level)
            if by >= level:
                left[k] = 0.0
        count += 1 if left[k] > 0.0 else 0
    if count == 1:
        state.pursuit.notes.more[0] += AGAIN
        count = means.size
        fill(left, 1.0)
    for k in range(means.size):
        left[k] = 1.0 / count if left[k] > 0.0 else 0.0


@pick.register(Race)
def _pick(strategy: Race, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    """The next one that is left."""
    left, last = state.pursuit.weights, state.pursuit.notes.last
    arm = int(last[0])
    while True:
        arm = arm + 1 if arm + 1 < left.size else 0
        if left[arm] > 0.0:
            break
    last[0] = arm
    return arm
