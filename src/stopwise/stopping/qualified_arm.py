"""SEE's stopping rule (Li & Cheung 2025, Algorithms 1 to 3).

An arm is proven by the samples of its exploitation alone, in phase k at the tolerance delta/(K 5^k);
that there is none by those of the exploration, at the first 3^-k below delta/3. Both widths hold at all
times (docs/bounds.md), so the errors sum up to less than delta.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.periods import halves, phase_of, sureness
from stopwise.cells.radius import (
    check_proxy,
    proxy,
)
from stopwise.core.arrays import Floats
from stopwise.core.data import State
from stopwise.core.values import Empty, StoppingRule
from stopwise.families.verbs import of_arm
from stopwise.problems.asked import some_arm
from stopwise.stopping.verbs import level, proven, tally, weigh, weighed

LOG_3, LOG_5 = math.log(3.0), math.log(5.0)


class QualifiedArm(Empty, StoppingRule):
    """Stop when an arm is proven by samples of its own, or none seems to be beyond the limit."""

    __slots__ = ()
    title = "any arm beyond a limit, proven by samples apart: SEE's"


@level.register(QualifiedArm)
def _level(rule: QualifiedArm, problem: Any, family: Any, delta: float) -> float:
    some_arm(rule, problem)
    check_proxy(rule, family)
    return math.log(problem.arms / delta)


proven.register(QualifiedArm)(lambda rule, problem, family: True)


@tally.register(QualifiedArm)
def _tally(rule: QualifiedArm, problem: Any, family: Any) -> Floats:
    side, limit, _ = some_arm(rule, problem)
    return np.array([side, limit])


@weigh.register(QualifiedArm)
def _weigh(
    rule: QualifiedArm, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    side, limit = state.tally[0], state.tally[1]
    records = halves(state.pursuit.notes, state)
    found, none, best = -math.inf, math.inf, 0
    for k in range(records.proof.size):
        spread = proxy(of_arm(family, k))
        if records.proof[k] > 0.0:
            gap = side * (records.proof_sums[k] / records.proof[k] - limit)
            if gap > 0.0:
                value = sureness(spread, records.proof[k], gap)
                if value > found:
                    found, best = value, k
        if none > -math.inf:
            gap = limit - records.tried_sums[k] / max(records.tried[k], 1.0)
            ahead = side * gap <= 0.0 or records.tried[k] == 0.0
            none = -math.inf if ahead else min(none, sureness(spread, records.tried[k], gap))
    found -= phase_of(records) * LOG_5
    arms = math.log(1.0 * records.proof.size)
    steps = math.floor((none - arms) / LOG_3) if none > arms else 0.0
    if records.phase.size > 0:  # the last phase that is over
        steps = min(steps, records.phase[0] - 1.0)
    if steps >= 1.0 and (steps - 1.0) * LOG_3 + arms >= found:
        found, best = (steps - 1.0) * LOG_3 + arms, records.proof.size
    state.answer[0] = best
    return weighed(state, max(found, -1e9), 0.0)
