"""Stopping by wealth: bet against every way in which the answer can be wrong.

The evidence against a cell is the logarithm of what a bet makes from 1 at the least favourable model
in it; by Ville's inequality it reaches log(union bound/delta) with probability at most delta/union
bound where the truth lies in the cell. docs/thresholds.md has the proofs.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.cells.cell import CellEvidence
from stopwise.core.arrays import Floats, assign, copied
from stopwise.core.data import State
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem
from stopwise.stopping import students_t  # noqa: F401  (registers the state for unknown variances)
from stopwise.stopping.missing import WorstCase
from stopwise.stopping.rule import StoppingRule
from stopwise.stopping.wealth_state import WealthState, check_wealth, wealth_state


class Wealth(StoppingRule):
    """Bets against every way to be wrong; proven by Ville's inequality.

    Needs no guess of where the means lie or how far they spread.
    """

    title = "proven, the sharpest"

    def init(self, question: Question) -> WealthState:
        return wealth_state(question.estimated, question.problem)

    def working_family(self, family: Family) -> Family:
        return family

    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        wealth: WealthState = state.rule_state
        wealth.update_weak(instance.family, arm, sample)

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        check_wealth(family, problem)
        return math.log(problem.union_bound()) - math.log(delta)

    def proven(self, problem: Problem, family: Family) -> bool:
        return True

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """Cheap upper bounds first; the evidence against every cell only if none is below ``enough``.

        The bounds: the remembered weak cell, if the means show the only possible answer; then D; then the
        weak cell of the answer found.
        """
        problem, family, data, cache = instance
        wealth: WealthState = state.rule_state
        answer = state.report.answer
        sole = problem.sole_answer(family, data, cache, answer)
        bound = wealth.weak_bound(family, data, answer) if sole else math.inf
        if bound < enough:
            return bound
        if family.glr_dominates() or not sole:
            least = max(enough, 0.0) if family.glr_dominates() else 0.0
            found = problem.best_evidence(family, data, cache, least, answer)
            if not found >= least:
                return found
            bound = wealth.weak_bound(family, data, answer)
            if bound < enough:
                return bound
        found = problem.weakest_cell(family, data, cache, answer, wealth, enough)
        assign(wealth.weak.answer, answer)
        return state.report.write(found, 0.0)

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        return _evidence(
            instance, copied(state.rule_state), code
        )  # a copy: a query leaves the run's state unchanged

    def margin_missing(
        self, instance: Instance, state: State, rounds: int, missing: Floats, enough: float
    ) -> float:
        """D of the values that came is at least their wealth, and a missing value only lowers that."""
        problem, family, data, cache = instance
        wealth: WealthState = state.rule_state
        answer = state.report.answer
        wealth.weak.forget()  # what is remembered of a cell is about values that came
        least = max(enough, 0.0) if family.glr_dominates() else 0.0
        found = problem.best_evidence(family, data, cache, least, answer)
        if not found >= least:
            return found
        bets = WorstCase(wealth, missing, wealth.first_cell)
        return state.report.write(
            problem.weakest_cell(family, data, cache, answer, bets, enough), 0.0
        )

    def evidence_missing(
        self, instance: Instance, state: State, missing: Floats, code: Code
    ) -> float:
        wealth: WealthState = copied(state.rule_state)
        return _evidence(instance, WorstCase(wealth, missing, wealth.first_cell), code)

    def counts_missing(self, problem: Problem, family: Family) -> bool:
        return bool(problem.pairwise_cells() and all(map(math.isfinite, family.mean_space())))


def _evidence(instance: Instance, rule: CellEvidence, code: Code) -> float:
    """The evidence for one answer: that against the weakest cell of its alternative."""
    problem, family, data, cache = instance
    if problem.transport_cost(family, data, code, np.zeros(problem.arms)) == 0.0:
        return 0.0  # D is at least the evidence
    return float(problem.weakest_cell(family, data, cache, code, rule, -math.inf))
