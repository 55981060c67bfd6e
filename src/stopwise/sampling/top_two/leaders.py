"""Who leads: ``lead`` writes the answer that a Top-Two strategy tries to refute."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.cells.bound import arm_cost, arm_floor
from stopwise.core.arrays import Rng
from stopwise.core.data import Data, State
from stopwise.core.errors import MissingVerb
from stopwise.core.values import Empty, Value
from stopwise.core.verbs import jitable, verb
from stopwise.problems.rounds import answer_at, fitted, front_runner
from stopwise.problems.verbs import contest
from stopwise.sampling.top_two.duel import (
    FLAT,
    LOG,
    ExpectedImprovement,
    confidence_bound,
    draw_model,
    leading_arm,
    log_improvement,
    needs_contest,
    steady,
    update_spreads,
    with_those_in_flight,
)


@verb(inline=True)
def lead(leader: Any, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> None:
    """Write the leading answer to the pursuit's code."""
    raise MissingVerb("lead", leader)


class EmpiricalBest(Empty, Value):
    """EB: the answer that looks best at the estimate (Jourdan et al. 2022); at a tie a draw decides."""

    __slots__ = ()


@lead.register(EmpiricalBest)
def _lead_by_evidence(
    leader: EmpiricalBest, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    if not front_runner(problem, family, state.data, state.sketch, state.pursuit.code):
        lead_by_draw(problem, family, state, rng)


class ThompsonDraw(Empty, Value):
    """TS: the answer that is correct at a model drawn from the posterior (Russo 2016).

    Where arms do not compete it is refuted at the draw, too: the arms that make it right there.
    """

    __slots__ = ()


steady.register(ThompsonDraw)(lambda leader: False)


@lead.register(ThompsonDraw)
def _lead_by_draw(
    leader: ThompsonDraw, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    lead_by_draw(problem, family, state, rng)


@jitable
def lead_by_draw(problem: Any, family: Any, state: State, rng: Rng) -> None:
    """The answer that is correct at a model drawn from the posterior."""
    notes = state.pursuit.notes
    draw_model(family, state.data, notes.draw, rng)
    drawn = Data(state.data.counts, notes.draw)
    answer_at(problem, family, drawn, state.sketch, state.pursuit.code)
    if contest(problem) == 0.0:  # it may be right for other arms than at the estimate
        fitted(problem, family, drawn, notes.means)


class _UpperBound(NamedTuple):
    power: float = 1.2
    spare: float = 1.2


class UpperBound(_UpperBound, Value):
    """UCB: the arm with the highest upper confidence bound (Jourdan & Degenne 2023).

    N d(m, bound) = g(t)/2 with g(t) = W(2 a c log t + 2 log(2 + c log t) + 2), W(y) - log W(y) = y: for
    unit-variance Gaussian arms the bound is m + sqrt(g/N). Both a and c are above 1.
    """

    __slots__ = ()


needs_contest.register(UpperBound)(lambda leader: True)


@jitable
def bonus(leader: UpperBound, rounds: int) -> float:
    """g(t), by Newton's method on x - log x = y from the right of its larger root."""
    grown = leader.spare * math.log(rounds)
    y = 2.0 * leader.power * grown + 2.0 * math.log(2.0 + grown) + 2.0
    x = y + 2.0 * math.log(y)
    for _ in range(4):
        x -= (x - math.log(x) - y) * x / (x - 1.0)
    return x


@lead.register(UpperBound)
def _lead_by_bound(
    leader: UpperBound, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    side, data, level = contest(problem), with_those_in_flight(state), 0.5 * bonus(leader, rounds)
    best = state.pursuit.code[0]  # the last leader: most often it still is
    bound = confidence_bound(family, data, best, side, level)
    for k in range(data.means.size):
        # an arm's own bound is solved for only where it is beyond the best one so far
        beyond = side * (data.means[k] - bound) > 0.0
        if k == best or (not beyond and arm_floor(family, data, k, bound) > level):
            continue
        if beyond or arm_cost(family, data, k, bound) < level:
            found = confidence_bound(family, data, k, side, level)
            if side * (found - bound) > 0.0:
                best, bound = k, found
    state.pursuit.code[0] = best


@lead.register(ExpectedImprovement)
def _lead_by_improvement(
    leader: ExpectedImprovement, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    side, notes = contest(problem), state.pursuit.notes
    data = with_those_in_flight(state)
    update_spreads(family, data, side, notes.spreads)
    arm = leading_arm(side, data.means)
    best, most = data.means[arm], notes.spreads[LOG, arm] - FLAT
    for k in range(data.means.size):
        if notes.spreads[LOG, k] - FLAT - arm_floor(family, data, k, best) <= most:
            continue  # f(z) <= phi(z) where z is not above 0
        value = log_improvement(arm_cost(family, data, k, best), notes.spreads[0, k], most)
        if value > most:
            arm, most = k, value
    state.pursuit.code[0] = arm
