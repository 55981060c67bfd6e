"""Stopping by wealth: bet against every way in which the answer can be wrong.

The evidence against a cell is the logarithm of what a bet makes from 1 at the least favourable model
in it; by Ville's inequality it reaches log(union bound/delta) with probability at most delta/union
bound where the truth lies in the cell. docs/thresholds.md has the proofs.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np

from stopwise.cells.shape import ANY
from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Data, State
from stopwise.core.values import Empty, StoppingRule
from stopwise.families.verbs import likelihood, screens, space
from stopwise.problems.rounds import best_evidence, judged, weakest_cell
from stopwise.problems.verbs import Code, cost, shape, simple, union_bound
from stopwise.stopping import students_t, verbs, watch  # noqa: F401  (register what their purses do)
from stopwise.stopping.bets import other_wealth, simple_wealth
from stopwise.stopping.missing import WorstCase
from stopwise.stopping.purse import (
    ARM,
    NOBODY,
    Purse,
    SimplePurse,
    check_wealth,
    enter,
    purse,
    still_weak,
)


class Wealth(Empty, StoppingRule):
    """Bets against every way to be wrong, by Ville's inequality. Proven, without a place or a scale."""

    __slots__ = ()
    title = "proven, the sharpest"


verbs.tally.register(Wealth)(lambda rule, problem, family: purse(family, problem))
verbs.judges.register(Wealth)(lambda rule, family: family)


@verbs.update.register(Wealth)
def _update(rule: Wealth, problem: Any, family: Any, state: State, arm: int, sample: float) -> None:
    enter(state.tally, family, arm, sample)


@verbs.level.register(Wealth)
def _level(rule: Wealth, problem: Any, family: Any, delta: float) -> float:
    check_wealth(family, problem)
    return math.log(union_bound(problem)) - math.log(delta)


verbs.proven.register(Wealth)(lambda rule, problem, family: True)


@verbs.weigh.register(Wealth)
def _weigh(
    rule: Wealth, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """D is at least the evidence: below the level it settles the matter, and a weak cell may too."""
    enough = max(least, 0.0) if screens(family) else 0.0
    found = best_evidence(problem, family, state.data, state.sketch, enough, state.answer)
    if not found >= enough:
        return found
    believed = still_weak(state.tally, family, state.data, state.answer)
    if believed < least:
        return believed
    found = weakest_cell(
        problem, family, state.data, state.sketch, state.answer, state.tally, least
    )
    if state.tally.marks[ARM] != NOBODY:
        assign(state.tally.answer, state.answer)
    return verbs.weighed(state, found, 0.0)


@verbs.evidence.register(Wealth)
def _evidence(rule: Wealth, problem: Any, family: Any, state: State, code: Code) -> float:
    if cost(problem, family, state.data, code, np.zeros(problem.arms)) == 0.0:
        return 0.0  # D is at least the evidence
    own = type(state.tally)(*map(copy, state.tally))  # who asks changes nothing
    own.marks[ARM] = NOBODY
    return float(weakest_cell(problem, family, state.data, state.sketch, code, own, -math.inf))


@verbs.weigh_missing.register(Wealth)
def _weigh_missing(
    rule: Wealth,
    problem: Any,
    family: Any,
    state: State,
    rounds: int,
    missing: Floats,
    least: float,
) -> float:
    """D of the values that came is at least their wealth, and a missing value only lowers that."""
    state.tally.marks[ARM] = NOBODY  # what is remembered of a cell is about values that came
    enough = max(least, 0.0) if screens(family) else 0.0
    found = best_evidence(problem, family, state.data, state.sketch, enough, state.answer)
    if not found >= enough:
        return found
    judge = WorstCase(state.tally, missing)
    found = weakest_cell(problem, family, state.data, state.sketch, state.answer, judge, least)
    return verbs.weighed(state, found, 0.0)


@verbs.evidence_missing.register(Wealth)
def _evidence_missing(
    rule: Wealth, problem: Any, family: Any, state: State, missing: Floats, code: Code
) -> float:
    if cost(problem, family, state.data, code, np.zeros(problem.arms)) == 0.0:
        return 0.0
    judge = WorstCase(state.tally, missing)
    return float(weakest_cell(problem, family, state.data, state.sketch, code, judge, -math.inf))


@verbs.counts_missing.register(Wealth)
def _counts_missing(rule: Wealth, problem: Any, family: Any) -> bool:
    return bool(simple(problem) and all(map(math.isfinite, space(family))))


@judged.register(SimplePurse)
def _judged_simple(
    purse: Any, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    value = simple_wealth(family, data, shape(problem, code, cell), purse, enough)
    return value if not value <= 0.0 else 0.0  # evidence is not negative


@judged.register(Purse)
def _judged(
    purse: Any, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    what = shape(problem, code, cell)
    if what.kind == ANY or purse.gaps.size == 0:
        purse.marks[ARM] = NOBODY
        value = other_wealth(likelihood(family), problem, data, code, cell, purse, enough)
    else:
        value = simple_wealth(family, data, what, purse, enough)
    return value if not value <= 0.0 else 0.0
