"""UGapE, fixed confidence (Gabillon, Ghavamzadeh & Lazaric 2012, Figure 1), with bounds from d.

B_k = max over j != k of U_j, less L_k; J = argmin B; u = argmax over j != J of U_j; sampled is that of
J and u with the wider interval, which at equal radius is the one with fewer samples (and is so in the
experiments of Garivier & Kaufmann 2016).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.radius import (
    RADIUS,
    base,
    best_bound,
    bound,
    check_radius,
    radius_named,
    spelled,
    surest_bound,
)
from stopwise.core.arrays import Ints, Rng
from stopwise.core.data import Data, State
from stopwise.problems.asked import contest
from stopwise.sampling.verbs import Direct, Question, bind, notes, pick


class _UGapE(NamedTuple):
    radius: Any


class UGAPE(_UGapE, Direct):
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

    def __new__(cls, radius: Any = "mixture") -> UGAPE:
        return super().__new__(cls, radius_named(radius))

    def __repr__(self) -> str:
        return f"UGAPE({spelled(self.radius)!r})"


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
    asked = contest(strategy, question.problem)
    check_radius(strategy, strategy.radius, question.family)
    level = base(strategy.radius, question.problem.arms, question.delta)
    return Narrowing(strategy.radius, level, asked.side)


FIRST, SECOND, SUREST = range(3)  # the last largest bounds, and the last largest bound from below


@notes.register(Narrowing)
def _notes(strategy: Narrowing, problem: Any) -> Ints:
    return np.full(3, -1)


@pick.register(Narrowing)
def _pick(
    strategy: Narrowing, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> int:
    """B_k is U_first - L_k but for k = first, where it is U_second - L_first."""
    guess, side, t = state.pursuit.notes, strategy.side, 1.0 * rounds
    radius, level, data = strategy.radius, strategy.base, Data(state.taken, state.data.means)
    first = best_bound(radius, family, data, side, level, t, -1, guess[FIRST])
    second = best_bound(radius, family, data, side, level, t, first, guess[SECOND])
    surest = surest_bound(radius, family, data, side, level, t, first, guess[SUREST])
    guess[FIRST], guess[SECOND], guess[SUREST] = first, second, surest
    own = bound(radius, family, data, second, side, level, t)
    own -= bound(radius, family, data, first, -side, level, t)
    others = bound(radius, family, data, first, side, level, t)
    others -= bound(radius, family, data, surest, -side, level, t)
    leads = side * own < side * others or (own == others and first < surest)
    arm, rival = (first, second) if leads else (surest, first)
    return arm if data.counts[arm] < data.counts[rival] else rival
