"""Which arms the answer names as things stand, and how much evidence there is for it."""

from __future__ import annotations

from typing import NamedTuple

from stopwise.paired.comparison import IN, NOBODY, Comparison, State
from stopwise.paired.differences import EDGE
from stopwise.paired.settle import ended, is_named, is_open, leader


class Standing(NamedTuple):
    """``evidence`` is the least that any claim of the answer has; at the level it is decided."""

    named: tuple[int, ...]
    evidence: float


def standing(what: Comparison, state: State) -> Standing:
    """The answer that the items so far favour."""
    if what.control == NOBODY:
        return _ranked(what, state)
    if what.one:
        return _any_above(what, state)
    others = [k for k in range(what.arms) if k != what.control]
    named = tuple(k for k in others if _claim(what, state, k)[0])
    return Standing(named, min(_claim(what, state, k)[1] for k in others))


def tied(what: Comparison, state: State) -> tuple[int, ...]:
    """The arms whose means over a whole pool are equal and best, if there are two or more of them."""
    if not ended(what, state) or what.control != NOBODY or what.m > 1:
        return ()
    first = leader(what, state)[0]
    inside = [k for k in range(what.arms) if is_open(state, k)]
    near = EDGE * what.kind.width  # rounding
    found = tuple(k for k in inside if k == first or abs(state.means[first, k]) <= near)
    return found if len(found) > 1 else ()


def _claim(what: Comparison, state: State, arm: int) -> tuple[bool, float]:
    """Whether an arm is above the control, as far as is known, and the evidence."""
    if not is_open(state, arm):
        return bool(state.chosen[arm] != IN), float(state.sure[arm])
    above = float(state.evidence[0, arm, what.control])
    below = float(state.evidence[-1, what.control, arm])
    if ended(what, state) or above == below:
        return bool(state.means[arm, what.control] > 0.0), max(above, below)
    return above > below, max(above, below)


def _any_above(what: Comparison, state: State) -> Standing:
    """One arm above the control, or none."""
    others = [k for k in range(what.arms) if k != what.control]
    for arm in others:
        if state.chosen[arm] != IN:
            return Standing((arm,), float(state.sure[arm]))
    best = max(others, key=lambda k: (_above(what, state, k), state.means[k, what.control]))
    none = min(_below(what, state, k) for k in others)
    if ended(what, state):
        best = max(others, key=lambda k: (is_open(state, k), state.means[k, what.control]))
        some = is_open(state, best) and state.means[best, what.control] > 0.0
    else:
        some = _above(what, state, best) > none
    return Standing((best,), _above(what, state, best)) if some else Standing((), none)


def _above(what: Comparison, state: State, arm: int) -> float:
    return float(state.evidence[0, arm, what.control]) if is_open(state, arm) else 0.0


def _below(what: Comparison, state: State, arm: int) -> float:
    found = state.evidence[-1, what.control, arm] if is_open(state, arm) else state.sure[arm]
    return float(found)


def _ranked(what: Comparison, state: State) -> Standing:
    """The m best arms; with ties all that are left."""
    best = [leader(what, state)[0]] if what.m == 1 else range(what.arms)
    named = tuple(k for k in best if what.m == 1 or is_named(what, state, k))
    others = [k for k in range(what.arms) if k not in named]
    return Standing(named, min(_over(state, i, j) for i in named for j in others))


def _over(state: State, arm: int, other: int) -> float:
    """The evidence that an arm is not beaten by another: of a pair, or of what settled one of them."""
    settled = [float(state.sure[k]) for k in (arm, other) if not is_open(state, k)]
    return max(settled) if settled else float(state.evidence[-1, arm, other])
