"""Which claims about all arms are close to the easiest to prove, where they may be made either way?

With weight 1 for the control let z_k(y) be the least weight of arm k with which one of its claims costs
y to refute. Then max_i D(mu, not i) = max_y y/T(y) with T(y) = 1 + sum_k z_k(y): for each y every arm
has its own best claim. T rises, so that y/T(y) < v for all y between some y_0 and v T(y_0), and a search
for a value v may go on at v T(y_0).
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.cells.gap import project_gap
from stopwise.core.arrays import Floats, assign, fill
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import divergence, of_arm
from stopwise.problems import rounds
from stopwise.problems.control.all import BetterThan, Claims
from stopwise.problems.control.pairs import AgainstControl, arm_of, refuted_by, support
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Code

FREE = 2  # in place of a claim: either
HEAVY = 1e9  # times the control's weight: no claim of the arm costs as much
NEAR = 0.01  # of the largest value
TURNS = 1000


@jitable
def _least_weight(
    problem: AgainstControl, family: Any, means: Floats, arm: int, named: int, y: float, room: Data
) -> float:
    """z(y) of one claim: its cost is concave in z, so that Newton's method comes from below."""
    weights, closest = room
    what = refuted_by(problem, arm, named == 1)
    own, z = of_arm(family, arm), 0.0
    for _ in range(60):
        weights[problem.control], weights[arm] = 1.0, z
        data = Data(weights, means)
        paid = project_gap(family, data, what.arm, what.other, what.limit, closest)
        slope = divergence(own, means[arm], closest[arm])
        if paid >= y * (1.0 - 1e-9) or not slope > 0.0:
            break
        z += (y - paid) / slope
        if z > HEAVY:
            break
    return z if paid >= y * (1.0 - 1e-6) and z <= HEAVY else math.inf


@jitable
def total_weight(
    problem: AgainstControl, family: Any, means: Floats, claims: Code, y: float, room: Data
) -> float:
    """T(y), where some claims are settled and others free."""
    total = 1.0
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        least = math.inf
        for named in range(2):
            if claims[arm] == named or claims[arm] == FREE:
                least = min(least, _least_weight(problem, family, means, arm, named, y, room))
        total += least
    return total


@jitable
def has_value(
    problem: AgainstControl, family: Any, means: Floats, claims: Code, value: float, room: Data
) -> bool:
    """Whether some answer with these claims has this value, nearly."""
    y = value
    for _ in range(TURNS):
        total = total_weight(problem, family, means, claims, y, room)
        if total == math.inf:
            return False
        if y >= (1.0 - 0.1 * NEAR) * value * total:
            return True
        y = value * total
    return True


@jitable
def largest_value(
    problem: AgainstControl, family: Any, means: Floats, claims: Code, start: float, room: Data
) -> float:
    """The largest value of an answer with these claims, given a smaller one; too low by NEAR at most."""
    best = y = start
    for _ in range(TURNS):
        total = total_weight(problem, family, means, claims, y, room)
        if total == math.inf:
            break
        best = max(best, y / total)
        y = (1.0 + NEAR) * best * total
    return best


@rounds.first_close.register(BetterThan)
def _first_close(
    problem: BetterThan, family: Any, data: Data, sketch: Claims, search: Search
) -> bool:
    """Arm by arm, named where an answer with the claims so far is close."""
    means, at_once, claims = data.means, Data(sketch.ones, data.means), sketch.trial
    room = Data(sketch.weights, search.trial)
    if problem.epsilon == 0.0:
        return False
    least = math.inf
    fill(claims, 0)
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        named = support(problem, family, at_once, arm, True)
        other = support(problem, family, at_once, arm, False)
        least = min(least, max(named, other))
        claims[arm] = FREE if named > 0.0 and other > 0.0 else 1 if named > 0.0 else 0
    if not 0.0 < least < math.inf:
        return False
    enough = least / problem.arms  # at equal weights
    enough = (1.0 - search.slack) * largest_value(problem, family, means, claims, enough, room)
    for place in range(problem.arms - 1):
        arm = arm_of(problem, place)
        if claims[arm] == FREE:
            claims[arm] = 1
            if not has_value(problem, family, means, claims, enough, room):
                claims[arm] = 0
    assign(search.code, claims)
    return True
