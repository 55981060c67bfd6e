"""UGapE, fixed confidence (Gabillon, Ghavamzadeh & Lazaric 2012, Figure 1), with bounds from d.

B_k = max over j != k of U_j, less L_k; J = argmin B; u = argmax over j != J of U_j; sampled is that of
J and u with the wider interval, which at equal radius is the one with fewer samples (and is so in the
experiments of Garivier & Kaufmann 2016).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.confidence import best_bound, bound
from stopwise.cells.radius import (
    AGAIN,
    base,
    check_radius,
    timeless,
)
from stopwise.core.arrays import Floats, Ints, Rng, fill
from stopwise.core.data import Data, State
from stopwise.core.verbs import jitable
from stopwise.problems.asked import best_arm
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick
from stopwise.sampling.with_radius import WithRadius


class UGAPE(WithRadius):
    """The arm with the smallest possible gap to the best, or its strongest rival.

    Its stopping rule is ``BoundsApart`` with the same radius.
    """

    __slots__ = ()
    title = "the arm that can be the least behind, or its strongest rival"
    reason = (
        "UGapE samples the arm that, by the confidence bounds, can be the least behind the best one, "
        "or the strongest rival of that arm: the one of the two with fewer samples."
    )


class _Narrowing(NamedTuple):
    radius: Any
    base: float
    side: float


class Narrowing(_Narrowing, Direct, listed=False):
    """UGapE once the question is known."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(UGAPE)
def _bind(strategy: UGAPE, question: Question) -> Narrowing:
    asked = best_arm(strategy, question.problem)
    check_radius(strategy, strategy.radius, question.family)
    level = base(strategy.radius, question.problem.arms, question.delta)
    return Narrowing(strategy.radius, level, asked.side)


class Ends(NamedTuple):
    """Of each arm the bounds towards the best and away from it, times the side; and what they are of.

    ``guess``: the arms with the largest bounds and with the surest one, the last time; ``more``: by what
    the base has grown.
    """

    near: Floats
    far: Floats
    counts: Floats
    means: Floats
    guess: Ints
    more: Floats


FIRST, SECOND, SUREST = range(3)


@notes.register(Narrowing)
def _notes(strategy: Narrowing, problem: Any) -> Ends:
    arms = problem.arms
    near, far, counts, means = np.zeros((4, arms))
    return Ends(near, far, counts, means, np.full(3, -1), np.zeros(1))


@pick.register(Narrowing)
def _pick(
    strategy: Narrowing, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    """B_k is U_first - L_k but for k = first, where it is U_second - L_first.

    Where the least B is below 0 and the stopping rule wants more, it goes on as if for delta/10.
    """
    near, far, counts, _, guess, more = state.pursuit.notes
    data = Data(state.taken, state.data.means)  # samples in flight narrow the bounds
    if timeless(strategy.radius):
        _look_up(strategy, family, data, state.pursuit.notes)
    else:
        _search(strategy, family, data, 1.0 * rounds, state.pursuit.notes)
    first, second, surest = guess[FIRST], guess[SECOND], guess[SUREST]
    own, others = near[second] - far[first], near[first] - far[surest]
    leads = own < others or (own == others and first < surest)
    arm, rival = (first, second) if leads else (surest, first)
    if min(own, others) < 0.0:
        more[0] += AGAIN
        fill(counts, 0.0)  # all bounds are others now
    return arm if data.counts[arm] < data.counts[rival] else rival


@jitable
def _look_up(strategy: Narrowing, family: Any, data: Data, ends: Ends) -> None:
    """Only an arm with another sample has other bounds."""
    near, far, counts, means, guess, more = ends
    side, level = strategy.side, strategy.base + more[0]
    for k in range(near.size):
        if counts[k] != data.counts[k] or means[k] != data.means[k]:
            counts[k], means[k] = data.counts[k], data.means[k]
            near[k] = side * bound(strategy.radius, family, data, k, side, level, 1.0)
            far[k] = side * bound(strategy.radius, family, data, k, -side, level, 1.0)
    guess[FIRST] = _largest(near, -1)
    guess[SECOND] = _largest(near, guess[FIRST])
    guess[SUREST] = _largest(far, guess[FIRST])


@jitable
def _largest(values: Floats, but: int) -> int:
    """Where the largest value is, the first of equals, without one of them."""
    found = -1
    for k in range(values.size):
        if k != but and (found < 0 or values[k] > values[found]):
            found = k
    return found


@jitable
def _search(strategy: Narrowing, family: Any, data: Data, t: float, ends: Ends) -> None:
    """All bounds grow with time: those that matter are found, and only these are computed."""
    near, far, _, _, guess, more = ends
    side, radius, level = strategy.side, strategy.radius, strategy.base + more[0]
    first, end = best_bound(radius, family, data, side, level, t, -1, guess[FIRST], 1.0)
    guess[FIRST], near[first] = first, side * end
    far[first] = side * bound(radius, family, data, first, -side, level, t)
    second, end = best_bound(radius, family, data, side, level, t, first, guess[SECOND], 1.0)
    guess[SECOND], near[second] = second, side * end
    surest, end = best_bound(radius, family, data, side, level, t, first, guess[SUREST], -1.0)
    guess[SUREST], far[surest] = surest, side * end
