"""Who is sampled: ``split`` names one of the arms that have to move if the leader is to be refuted."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import State
from stopwise.core.errors import MissingVerb
from stopwise.core.values import Empty, Value
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import divergence, of_arm
from stopwise.problems.rounds import Refutation
from stopwise.sampling.top_two.duel import needs_contest


@verb(inline=True)
def split(share: Any, problem: Any, family: Any, state: State, rng: Rng) -> int:
    """The arm to sample, of those that have to move if the leader is to be refuted."""
    raise MissingVerb("split", share)


class _Fixed(NamedTuple):
    beta: float


class Fixed(_Fixed, Value):
    """The leader with probability beta; with 1/2 every arm that has to move is as likely as another."""

    __slots__ = ()


class Tracked(_Fixed, Value):
    """The leader if it was sampled at most beta of the times that it led (Jourdan & Degenne 2023)."""

    __slots__ = ()


class Information(Empty, Value):
    """IDS: arm k in proportion to N_k d(m_k, lambda_k), lambda the closest model (Qin & You 2023)."""

    __slots__ = ()


needs_contest.register(Fixed)(lambda share: share.beta != 0.5)
needs_contest.register(Tracked)(lambda share: True)


@split.register(Fixed)
def _split_fixed(share: Fixed, problem: Any, family: Any, state: State, rng: Rng) -> int:
    found, parts = state.pursuit.notes.found, state.pursuit.notes.draw
    alike(found, state.pursuit.notes.means, parts)
    if share.beta != 0.5:
        parts[state.pursuit.code[0]] = share.beta / (1.0 - share.beta)
    return drawn(parts, rng)


@split.register(Information)
def _split_by_information(
    share: Information, problem: Any, family: Any, state: State, rng: Rng
) -> int:
    found, parts, whole = state.pursuit.notes.found, state.pursuit.notes.draw, 0.0
    means = state.pursuit.notes.means
    for k in range(parts.size):
        parts[k] = 0.0
        if found.model[k] != means[k]:
            parts[k] = state.taken[k] * divergence(of_arm(family, k), means[k], found.model[k])
            whole += parts[k]
    if not 0.0 < whole < math.inf:
        alike(found, means, parts)
    return drawn(parts, rng)


@split.register(Tracked)
def _split_tracked(share: Tracked, problem: Any, family: Any, state: State, rng: Rng) -> int:
    arm, notes = state.pursuit.code[0], state.pursuit.notes
    notes.led[arm] += 1.0
    if notes.own[arm] <= share.beta * notes.led[arm]:
        notes.own[arm] += 1.0
        return arm
    for k in range(notes.led.size):
        if k != arm and notes.found.arms[k] > 0.0:
            return k
    return arm


@jitable
def alike(found: Refutation, means: Floats, parts: Floats) -> None:
    """1 for every arm that moves; if none has to, for those that the cell constrains."""
    moved = False
    for k in range(parts.size):
        moved |= found.model[k] != means[k]
    for k in range(parts.size):
        here = found.model[k] != means[k] if moved else found.arms[k] > 0.0
        parts[k] = 1.0 if here else 0.0


@jitable
def drawn(parts: Floats, rng: Rng) -> int:
    """An arm drawn in proportion to its part."""
    whole, last = 0.0, 0
    for k in range(parts.size):
        whole += parts[k]
    left = whole * rng.random()
    for k in range(parts.size):
        if parts[k] > 0.0:
            last = k
            left -= parts[k]
            if left < 0.0:
                return k
    return last
