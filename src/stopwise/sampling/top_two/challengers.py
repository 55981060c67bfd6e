"""Who challenges: ``challenge`` writes how the leader is to be refuted."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.cells.gap import pair_cost
from stopwise.core.arrays import Rng, fill
from stopwise.core.data import Data, State
from stopwise.core.errors import MissingVerb
from stopwise.core.values import Value
from stopwise.core.verbs import jitable, verb
from stopwise.problems.rounds import refute
from stopwise.problems.verbs import contest, project
from stopwise.sampling.top_two.duel import (
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


class _Resampling(NamedTuple):
    most: int = 100


class Resampling(_Resampling, Value):
    """RS: the first other arm that wins a new draw (Russo 2016); after ``most`` draws in vain as TC."""

    __slots__ = ()


needs_contest.register(Resampling)(lambda challenger: True)


@challenge.register(Resampling)
def _challenge_by_draw(
    challenger: Resampling, problem: Any, family: Any, state: State, rng: Rng
) -> None:
    code, draw, found = state.pursuit.code, state.pursuit.notes.draw, state.pursuit.notes.found
    data = with_those_in_flight(state)
    for _ in range(challenger.most):
        draw_model(family, state.data, draw, rng)
        other = leading_arm(contest(problem), draw)
        if other != code[0]:
            face(problem, family, data, state, other)
            return
    refute(problem, family, data, state.sketch, code, 0.0, found)


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
    best, other = -math.inf, 1 if arm == 0 else 0
    for k in range(data.means.size):
        if k != arm:
            # a lower mean beats a higher one where the higher one falls below it
            loser, winner = (arm, k) if side > 0.0 else (k, arm)
            cost = pair_cost(family, data, loser, winner, 0.0)
            spread = math.sqrt(spreads[0, arm] ** 2 + spreads[0, k] ** 2)
            value = log_improvement(cost, spread, best)
            if value > best:
                best, other = value, k
    face(problem, family, data, state, other)
