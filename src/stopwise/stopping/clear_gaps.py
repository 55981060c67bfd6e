"""LinGapE's stopping rule (Xu, Honda & Sugiyama 2018): gaps clear of the confidence ellipsoid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.core.data import Data, State
from stopwise.core.values import Empty, StoppingRule
from stopwise.core.verbs import jitable
from stopwise.problems.asked import linear_arms
from stopwise.problems.rounds import best_evidence
from stopwise.problems.verbs import Code, cell_count, mixed_evidence
from stopwise.stopping.verbs import evidence, level, proven, weigh, weighed


class ClearGaps(Empty, StoppingRule):
    """Stop when the best fit's gap to every other arm is wider than its confidence interval.

    Linear arms. The evidence is the largest log(1/delta) at which that is so: docs/linear.md.
    """

    __slots__ = ()
    title = "linear arms: all gaps clear of the confidence ellipsoid; proven"


@level.register(ClearGaps)
def _level(rule: ClearGaps, problem: Any, family: Any, delta: float) -> float:
    linear_arms(rule, problem)
    return -math.log(delta)


proven.register(ClearGaps)(lambda rule, problem, family: True)


@weigh.register(ClearGaps)
def _weigh(
    rule: ClearGaps, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """D is at least the evidence: below the level it settles the matter."""
    enough = max(least, 0.0)
    found = best_evidence(problem, family, state.data, state.sketch, enough, state.answer)
    if found >= enough:
        found = _clear(problem, family, state.data, state.answer)
    return weighed(state, found, 0.0)


@jitable
def _clear(problem: Any, family: Any, data: Data, code: Code) -> float:
    """The least over the rivals of gap^2/(2 width) - growth: equation (1), prior of one sample."""
    found = math.inf
    for cell in range(cell_count(problem, code)):
        found = min(found, mixed_evidence(problem, family, data, code, cell, 1.0))
    return found


@evidence.register(ClearGaps)
def _evidence(rule: ClearGaps, problem: Any, family: Any, state: State, code: Code) -> float:
    return max(0.0, float(_clear(problem, family, state.data, np.asarray(code))))
