"""Who challenges: ``challenge`` writes how the leader is to be refuted."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.cells.gap import pair_cost, pair_floor
from stopwise.core.arrays import Floats, Rng, fill
from stopwise.core.data import Data, State
from stopwise.core.errors import MissingVerb
from stopwise.core.values import Value
from stopwise.core.verbs import jitable, verb
from stopwise.problems.rounds import refute
from stopwise.problems.verbs import contest, project
from stopwise.sampling.top_two.duel import (
    FLAT,
    ExpectedImprovement,
    draw_model,
    leading_arm,
    log_improvement,
    needs_contest,
    update_spreads,
    with_those_in_flight,
)


@verb(inline=True)
def challenge(challenger: Any, problem: Any, family: Any, state: State, rng: Rng) -> None:
    """Write to the notes how the leader is to be refuted: the closest model, and its cell's arms."""
    raise MissingVerb("challenge", challenger)


class _TransportCost(NamedTuple):
    penalty: float


class TransportCost(_TransportCost, Value):
    """TC: the cheapest refutation (Shang et al. 2020); TCI: with log N added (Jourdan et al. 2022)."""

    __slots__ = ()


@challenge.register(TransportCost)
def _challenge_by_cost(
    challenger: TransportCost, problem: Any, family: Any, state: State, rng: Rng
) -> None:
    code, found = state.pursuit.code, state.pursuit.notes.found
    data = with_those_in_flight(state)
    refute(problem, family, data, state.sketch, code, challenger.penalty, found)


HOPELESS = 40.0  # W: another arm wins a draw with a chance of about e^-W


class _Resampling(NamedTuple):
    most: int = 100


class Resampling(_Resampling, Value):
    """RS: the first other arm that wins a new draw (Russo 2016); after ``most`` draws in vain as TC.

    As TC at once where the cheapest challenger is too dear for draws to find one.
    """

    __slots__ = ()


needs_contest.register(Resampling)(lambda challenger: True)


@challenge.register(Resampling)
def _challenge_by_draw(
    challenger: Resampling, problem: Any, family: Any, state: State, rng: Rng
) -> None:
    code, draw, found = state.pursuit.code, state.pursuit.notes.draw, state.pursuit.notes.found
    data = with_those_in_flight(state)
    draws = 0 if _hopeless(family, data, code[0], contest(problem)) else challenger.most
    for _ in range(draws):
        draw_model(family, state.data, draw, rng)
        other = leading_arm(contest(problem), draw)
        if other != code[0]:
            face(problem, family, data, state, other)
            return
    refute(problem, family, data, state.sketch, code, 0.0, found)


@jitable
def _hopeless(family: Any, data: Data, arm: int, side: float) -> bool:
    """Whether every other arm is so dear that no draw will have it win."""
    for k in range(data.means.size):
        if k != arm:
            loser, winner = (arm, k) if side > 0.0 else (k, arm)
            if pair_floor(family, data, loser, winner) > HOPELESS:
                continue
            if not pair_cost(family, data, loser, winner, 0.0) > HOPELESS:
                return False
    return True


@jitable
def face(problem: Any, family: Any, data: Data, state: State, other: int) -> None:
    """Let this arm overtake the leader."""
    code, found = state.pursuit.code, state.pursuit.notes.found
    cell = other if other < code[0] else other - 1
    project(problem, family, data, code, cell, found.model)
    fill(found.arms, 0.0)
    found.arms[code[0]] = found.arms[other] = 1.0


@challenge.register(ExpectedImprovement)
def _challenge_by_improvement(
    challenger: ExpectedImprovement, problem: Any, family: Any, state: State, rng: Rng
) -> None:
    arm, side, spreads = state.pursuit.code[0], contest(problem), state.pursuit.notes.spreads
    data = with_those_in_flight(state)
    update_spreads(family, data, side, spreads)
    last = _last_rival(arm, state.pursuit.notes.found.arms)
    least = _pair_improvement(family, data, arm, last, side, spreads, -math.inf)
    best, other = -math.inf, 1 if arm == 0 else 0
    for k in range(data.means.size):
        if k == arm:
            continue
        value = least
        if k != last:
            loser, winner = (arm, k) if side > 0.0 else (k, arm)
            floor = pair_floor(family, data, loser, winner)
            spread = (spreads[0, arm] ** 2 + spreads[0, k] ** 2) / (1.0 + 2.0 * floor) ** 2
            if floor > 0.0 and spread > 0.0 and 0.5 * math.log(spread) - FLAT - floor < least:
                continue  # f(z) <= phi(z)/(1 + z^2)
            value = _pair_improvement(family, data, arm, k, side, spreads, best)
        if value > best:
            best, other = value, k
    face(problem, family, data, state, other)


@jitable
def _last_rival(arm: int, marks: Floats) -> int:
    """Who was compared with the leader before: who is expected to improve less is not looked at."""
    for k in range(marks.size):
        if k != arm and marks[k] > 0.0:
            return k
    return 1 if arm == 0 else 0


@jitable
def _pair_improvement(
    family: Any, data: Data, arm: int, k: int, side: float, spreads: Floats, enough: float
) -> float:
    """A lower mean beats a higher one where the higher one falls below it."""
    loser, winner = (arm, k) if side > 0.0 else (k, arm)
    cost = pair_cost(family, data, loser, winner, 0.0)
    return log_improvement(cost, math.sqrt(spreads[0, arm] ** 2 + spreads[0, k] ** 2), enough)
