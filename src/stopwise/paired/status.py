"""Which arms are proven to belong to the answer (chosen) or not to (out), and the answer so far.

Proofs: docs/paired.md. What is marked @jitable runs after every item, compiled or not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stopwise.core.functions import jitable
from stopwise.paired.comparison import IN, NOBODY, Comparison, State
from stopwise.paired.differences import EDGE, BoundedDifferences


@jitable
def is_open(state: State, arm: int) -> bool:
    """Whether an arm is neither chosen nor out: it gets the next item."""
    return state.out[arm] == IN and state.chosen[arm] == IN


@jitable
def update_status(what: Comparison, state: State) -> None:
    """Mark the arms that are proven now to belong to the answer (chosen), or not to (out)."""
    if what.control == NOBODY:
        _by_rank(what, state)
    else:
        _by_control(what, state)


@jitable
def _by_rank(what: Comparison, state: State) -> None:
    """Out are arms below m others, chosen those above all but m; the clearest first, m always stay."""
    below = what.arms - what.m
    while True:
        best, arm, by, good = -math.inf, NOBODY, NOBODY, False
        for k in range(what.arms):
            if is_open(state, k):
                found, other = _proof(what, state, k, what.m, True)
                if found > best:
                    best, arm, by, good = found, k, other, False
                if what.m > 1:
                    found, other = _proof(what, state, k, below, False)
                    if found > best:
                        best, arm, by, good = found, k, other, True
        if arm == NOBODY:
            return
        state.sure[arm] = best
        if good:
            state.chosen[arm] = state.items[0]
        else:
            state.out[arm], state.out_by[arm] = state.items[0], by


@jitable
def _proof(what: Comparison, state: State, arm: int, count: int, above: bool) -> tuple[float, int]:
    """The evidence that so many arms are above it (or below): the least of the ``count`` largest."""
    last, place = math.inf, NOBODY
    for _ in range(count):
        best, who = -math.inf, NOBODY
        for other in range(what.arms):
            if other != arm:
                found = _passes(state, other, arm) if above else _passes(state, arm, other)
                after = found < last or (found == last and other > place)
                if after and found > best:
                    best, who = found, other
        if who == NOBODY:
            return -math.inf, NOBODY
        last, place = best, who
    return last, place


@jitable
def _passes(state: State, arm: int, other: int) -> float:
    """The evidence that an arm is above another, one of them open, if that is proven."""
    if state.chosen[arm] != IN:
        return state.sure[arm]
    if state.out[other] != IN:
        return state.sure[other]
    both = is_open(state, arm) and is_open(state, other)
    return state.evidence[0, arm, other] if both and state.passed[0, arm, other] else -math.inf


@jitable
def _by_control(what: Comparison, state: State) -> None:
    """Chosen are arms that are above the control, out those that are not above it by epsilon."""
    control, last = what.control, what.margins.size - 1
    for k in range(what.arms):
        if k != control and is_open(state, k):
            if state.passed[0, k, control]:
                state.chosen[k], state.sure[k] = state.items[0], state.evidence[0, k, control]
            elif state.passed[last, control, k]:
                state.out[k], state.out_by[k] = state.items[0], control
                state.sure[k] = state.evidence[last, control, k]


@jitable
def ended(what: Comparison, state: State) -> bool:
    """Whether the means over a pool are known: all its items count, and results are deterministic."""
    return bool(what.kind.fixed and state.items[0] >= what.pool)


@jitable
def decided(what: Comparison, state: State) -> bool:
    """Whether there is an answer."""
    if ended(what, state):
        return True
    if what.control != NOBODY:
        return _claims_proven(what, state)
    if what.ties:
        return _all_near(what, state)
    return leader(what, state)[1] if what.m == 1 else _ranks_proven(what, state)


@jitable
def _claims_proven(what: Comparison, state: State) -> bool:
    every, some = True, False
    for k in range(what.arms):
        if k != what.control:
            every = every and not is_open(state, k)
            some = some or state.chosen[k] != IN
    return every or (what.one and some)


@jitable
def _all_near(what: Comparison, state: State) -> bool:
    last, found = what.margins.size - 1, True
    for i in range(what.arms):
        for j in range(what.arms):
            if i != j and is_open(state, i) and is_open(state, j):
                found = found and state.passed[last, i, j] == 1
    return found


@jitable
def _ranks_proven(what: Comparison, state: State) -> bool:
    """Whether no open arm that is left out can beat one that is named by epsilon."""
    last = what.margins.size - 1
    for i in range(what.arms):
        if is_open(state, i) and is_named(what, state, i):
            for j in range(what.arms):
                near = i == j or not is_open(state, j) or state.passed[last, i, j]
                if not near and not is_named(what, state, j):
                    return False
    return True


@jitable
def is_named(what: Comparison, state: State, arm: int) -> bool:
    """Whether an arm is among the m best: chosen, or by its mean one of the best that are open."""
    if not is_open(state, arm):
        return state.chosen[arm] != IN
    ahead = 0
    for k in range(what.arms):
        if state.chosen[k] != IN:
            ahead += 1
        elif k != arm and is_open(state, k):
            found = state.means[k, arm]
            ahead += found > 0.0 or (found == 0.0 and k < arm)
    return ahead < what.m


@jitable
def leader(what: Comparison, state: State) -> tuple[int, bool]:
    """The arm that the others in come least close to beating by epsilon, and whether none can.

    At the end of a pool, and where evidence is equal: the one with the larger differences.
    """
    last, best, found, proven = what.margins.size - 1, -math.inf, NOBODY, False
    highest = -math.inf
    known = ended(what, state)
    for i in range(what.arms):
        if is_open(state, i):
            sure, least, ahead = True, math.inf, math.inf
            for j in range(what.arms):
                if i != j and is_open(state, j):
                    sure = sure and state.passed[last, i, j] == 1
                    least = min(least, state.evidence[last, i, j])
                    ahead = min(ahead, state.means[i, j])
            if known:
                least, sure = 0.0, True
            better = sure if sure != proven else (least, ahead) > (best, highest)
            if found == NOBODY or better:
                best, highest, found, proven = least, ahead, i, sure
    return found, proven


# --------------------------------------------------------------------------- the answer so far


class CurrentAnswer(NamedTuple):
    """The arms that the answer names; ``evidence`` is the least that any of its claims has."""

    named: tuple[int, ...]
    evidence: float


def current_answer(what: Comparison, state: State) -> CurrentAnswer:
    """The answer that the items so far favour."""
    if what.control == NOBODY:
        return _ranked(what, state)
    if what.one:
        return _any_above(what, state)
    others = [k for k in range(what.arms) if k != what.control]
    named = tuple(k for k in others if _claim(what, state, k)[0])
    return CurrentAnswer(named, min(_claim(what, state, k)[1] for k in others))


def tied(what: Comparison, state: State) -> tuple[int, ...]:
    """The arms whose means over a whole pool are equal and best, if there are two or more of them."""
    kind = what.kind
    if not ended(what, state) or what.control != NOBODY or what.m > 1:
        return ()
    assert isinstance(kind, BoundedDifferences)  # others are not fixed, and have no end
    first = leader(what, state)[0]
    inside = [k for k in range(what.arms) if is_open(state, k)]
    near = EDGE * kind.width  # rounding
    found = tuple(k for k in inside if k == first or abs(state.means[first, k]) <= near)
    return found if len(found) > 1 else ()


def _claim(what: Comparison, state: State, arm: int) -> tuple[bool, float]:
    """Whether an arm is above the control, as far as is known, and the evidence."""
    if not is_open(state, arm):
        return bool(state.chosen[arm] != IN), float(state.sure[arm])
    above, below = _above(what, state, arm), _below(what, state, arm)
    if ended(what, state) or above == below:
        return bool(state.means[arm, what.control] > 0.0), max(above, below)
    return above > below, max(above, below)


def _any_above(what: Comparison, state: State) -> CurrentAnswer:
    """One arm above the control, or none."""
    others = [k for k in range(what.arms) if k != what.control]
    for arm in others:
        if state.chosen[arm] != IN:
            return CurrentAnswer((arm,), float(state.sure[arm]))
    best = max(others, key=lambda k: (_above(what, state, k), state.means[k, what.control]))
    none = min(_below(what, state, k) for k in others)
    if ended(what, state):
        best = max(others, key=lambda k: (is_open(state, k), state.means[k, what.control]))
        some = is_open(state, best) and state.means[best, what.control] > 0.0
    else:
        some = _above(what, state, best) > none
    return CurrentAnswer((best,), _above(what, state, best)) if some else CurrentAnswer((), none)


def _above(what: Comparison, state: State, arm: int) -> float:
    return float(state.evidence[0, arm, what.control]) if is_open(state, arm) else 0.0


def _below(what: Comparison, state: State, arm: int) -> float:
    found = state.evidence[-1, what.control, arm] if is_open(state, arm) else state.sure[arm]
    return float(found)


def _ranked(what: Comparison, state: State) -> CurrentAnswer:
    """The m best arms; with ties all that are left."""
    best = [leader(what, state)[0]] if what.m == 1 else range(what.arms)
    named = tuple(k for k in best if what.m == 1 or is_named(what, state, k))
    others = [k for k in range(what.arms) if k not in named]
    return CurrentAnswer(named, min(_over(state, i, j) for i in named for j in others))


def _over(state: State, arm: int, other: int) -> float:
    """The evidence that an arm is not beaten by another: of the pair, or by which one was chosen or out."""
    known = [float(state.sure[k]) for k in (arm, other) if not is_open(state, k)]
    return max(known) if known else float(state.evidence[-1, arm, other])
