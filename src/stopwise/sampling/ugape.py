"""UGapE, fixed confidence (Gabillon, Ghavamzadeh & Lazaric 2012, Figure 1), with bounds from d.

B_k = max over j != k of U_j, less L_k; J = argmin B; u = argmax over j != J of U_j; sampled is the one of
J and u with the wider interval, which at equal radius is the one with fewer samples (and is so in the
experiments of Garivier & Kaufmann 2016).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.radius import RADIUS, base, bound, check_radius, radius_named, spelled
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import Data, State
from stopwise.core.verbs import jitable
from stopwise.problems.asked import contest
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick


class _UGapE(NamedTuple):
    radius: Any


class UGapE(_UGapE, Direct):
    """The arm with the smallest possible gap to the best, or its strongest rival.

    Its stopping rule is ``BoundsApart`` with the same radius.
    """

    __slots__ = ()
    title = "the arm that can be the least behind, or its strongest rival"
    reason = (
        "UGapE samples the arm that, by the confidence bounds, can be the least behind the best one, "
        "or the strongest rival of that arm: the one of the two with fewer samples."
    )
    options = {"radius": RADIUS}
    looks_at_delta = True

    def __new__(cls, radius: Any = "mixture") -> UGapE:
        return super().__new__(cls, radius_named(radius))

    def __repr__(self) -> str:
        return f"UGapE({spelled(self.radius)!r})"


class _Narrowing(NamedTuple):
    radius: Any
    base: float
    side: float


class Narrowing(_Narrowing, Direct, listed=False):
    """UGapE once the question is known."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(UGapE)
def _bind(strategy: UGapE, question: Question) -> Narrowing:
    asked = contest(strategy, question.problem)
    check_radius(strategy, strategy.radius, question.family)
    level = base(strategy.radius, question.problem.arms, question.delta)
    return Narrowing(strategy.radius, level, asked.side)


class Ends(NamedTuple):
    """Bounds towards the best and away from it, each times the side."""

    near: Floats
    far: Floats


@notes.register(Narrowing)
def _notes(strategy: Narrowing, problem: Any) -> Ends:
    return Ends(np.zeros(problem.arms), np.zeros(problem.arms))


@pick.register(Narrowing)
def _pick(
    strategy: Narrowing, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    near, far = state.pursuit.notes
    side, data = strategy.side, Data(state.taken, state.data.means)
    for k in range(near.size):
        for away in (side, -side):
            end = bound(strategy.radius, family, data, k, away, strategy.base, 1.0 * rounds)
            if away == side:
                near[k] = side * end
            else:
                far[k] = side * end
    first, second = _two_largest(near)
    least, arm = math.inf, 0
    for k in range(near.size):
        gap = near[second if k == first else first] - far[k]
        if gap < least:
            least, arm = gap, k
    rival = second if arm == first else first
    return arm if data.counts[arm] < data.counts[rival] else rival


@jitable
def _two_largest(values: Floats) -> tuple[int, int]:
    """Where the largest and the second largest are, the first of equals."""
    first, second = 0, -1
    for k in range(1, values.size):
        if values[k] > values[first]:
            first, second = k, first
        elif second < 0 or values[k] > values[second]:
            second = k
    return first, second
