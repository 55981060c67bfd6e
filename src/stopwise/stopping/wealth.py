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

from stopwise.core.arrays import Floats, assign
from stopwise.core.data import State
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem
from stopwise.stopping import students_t  # noqa: F401  (what is kept where variances are unknown)
from stopwise.stopping.missing import WorstCase
from stopwise.stopping.rule import StoppingRule, weighed
from stopwise.stopping.wealth_state import ARM, NOBODY, check_wealth, wealth_state


class Wealth(StoppingRule):
    """Bets against every way to be wrong, by Ville's inequality. Proven, without a place or a scale."""

    title = "proven, the sharpest"

    def init(self, question: Question) -> Any:
        return wealth_state(question.estimated, question.problem)

    def working_family(self, family: Family) -> Any:
        return family

    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        state.rule_state.enter(instance.family, arm, sample)

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        check_wealth(family, problem)
        return math.log(problem.union_bound()) - math.log(delta)

    def proven(self, problem: Problem, family: Family) -> bool:
        return True

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """D is at least the evidence: below the level it settles the matter, and a weak cell may too."""
        problem, family, data, cache = instance
        wealth, answer = state.rule_state, state.report.answer
        if family.glr_dominates() or not problem.sole_answer(family, data, cache, answer):
            least = max(enough, 0.0) if family.glr_dominates() else 0.0
            found = problem.best_evidence(family, data, cache, least, answer)
            if not found >= least:
                return found
        believed = wealth.still_weak(family, data, answer)
        if believed < enough:
            return believed
        found = problem.weakest_cell(family, data, cache, answer, wealth, enough)
        if wealth.marks[ARM] != NOBODY:
            assign(wealth.answer, answer)
        return weighed(state, found, 0.0)

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        problem, family, data, cache = instance
        if problem.transport_cost(family, data, code, np.zeros(problem.arms)) == 0.0:
            return 0.0  # D is at least the evidence
        own = type(state.rule_state)(*map(copy, state.rule_state))  # who asks changes nothing
        own.marks[ARM] = NOBODY
        return float(problem.weakest_cell(family, data, cache, code, own, -math.inf))

    def margin_missing(
        self, instance: Instance, state: State, rounds: int, missing: Floats, enough: float
    ) -> float:
        """D of the values that came is at least their wealth, and a missing value only lowers that."""
        state.rule_state.marks[ARM] = (
            NOBODY  # what is remembered of a cell is about values that came
        )
        problem, family, data, cache = instance
        least = max(enough, 0.0) if family.glr_dominates() else 0.0
        found = problem.best_evidence(family, data, cache, least, state.report.answer)
        if not found >= least:
            return found
        judge = WorstCase(state.rule_state, missing)
        found = problem.weakest_cell(family, data, cache, state.report.answer, judge, enough)
        return weighed(state, found, 0.0)

    def evidence_missing(
        self, instance: Instance, state: State, missing: Floats, code: Code
    ) -> float:
        problem, family, data, cache = instance
        if problem.transport_cost(family, data, code, np.zeros(problem.arms)) == 0.0:
            return 0.0
        judge = WorstCase(state.rule_state, missing)
        return float(problem.weakest_cell(family, data, cache, code, judge, -math.inf))

    def counts_missing(self, problem: Problem, family: Family) -> bool:
        return bool(problem.pairwise_cells() and all(map(math.isfinite, family.mean_space())))
