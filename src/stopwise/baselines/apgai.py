"""APGAI (Jourdan & Reda 2023, Algorithm 1): anytime good arm identification, without parameters.

Its threshold is also used by Li & Cheung (2025).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost
from stopwise.core.arrays import Floats, Rng, argbest, argmax
from stopwise.core.checks import truth
from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.functions import jitable
from stopwise.core.options import Option
from stopwise.families.family import Family, Quadratic
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem
from stopwise.problems.question_kind import Limit, some_arm
from stopwise.sampling.strategy import Direct
from stopwise.stopping.rule import StoppingRule


class APGAI(Direct):
    """If some mean is beyond the limit the arm that is so most clearly, else the least clear one.

    Clear is sqrt(N) |mean - limit|. Where a single arm is beyond the limit it may sample another one
    for very long. Its published stopping rule is ``JourdanReda``.
    """

    title = "any arm beyond a limit: the clearest one"
    reason = (
        "APGAI samples the arm that is most clearly beyond the limit; while none seems to be, the one "
        "of which that is least clear."
    )

    def init(self, question: Question) -> Limit:
        return some_arm(self, question.problem, also_unnamed=True)

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """The largest sqrt(N) (mean - limit) to the wanted side: while no mean is there, the least clear."""
        asked: Limit = state.strategy_state
        side, limit, means = asked.side, asked.limit, instance.data.means
        beyond = side * (means[argbest(means, side)] - limit) > 0.0
        best, found = -math.inf, 0
        for k in range(means.size):
            ahead = side * (means[k] - limit)
            if not beyond or ahead > 0.0:
                clear = math.sqrt(state.taken[k]) * ahead
                if clear > best:
                    best, found = clear, k
        return found


class JourdanReda(StoppingRule):
    """Gaussian arms and questions about single arms' sides of a limit.

    Stop with answer i once D(N, mu-hat, not i) >= c(t) with 2 c = Wbar_{-1}(x) and
    x = 2 log(K/delta) + 4 log(4 + log t) + 1/2, where y = Wbar_{-1}(x) is y - log y = x. So the evidence
    is D - log(2 D)/2, and the level log(K/delta) + 2 log(4 + log t) + 1/4. Published experiments take
    x + log x for y, which is smaller: that is ``exact=False``, and not proven.
    """

    exact: bool
    title = "Gaussian arms and limits: the literature's"
    options = {
        "exact": Option(
            {"type": "boolean"}, "As proven; else x + log x, as in published experiments"
        )
    }

    def __init__(self, exact: bool = True) -> None:
        self.exact = truth("exact", exact)

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        some_arm(self, problem)
        if not isinstance(family, Quadratic):
            raise NotDefined(
                f"stopping: {self!r} with {family!r}; allowed: Gaussian arms with known variances. "
                "Wealth() is for all families."
            )
        return math.log(problem.arms / delta)

    def proven(self, problem: Problem, family: Family) -> bool:
        return self.exact

    def init(self, question: Question) -> SignedCosts:
        side, limit, _ = some_arm(self, question.problem)
        return SignedCosts(side, limit, np.zeros(question.problem.arms))

    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        own: SignedCosts = state.rule_state
        far = arm_cost(instance.family, instance.data, arm, own.limit)
        ahead = own.side * (instance.data.means[arm] - own.limit) > 0.0
        own.signed[arm] = far if ahead else -far

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """D is the largest cost of an arm on the wanted side; for "none" the least cost of all others."""
        own: SignedCosts = state.rule_state
        signed, best = own.signed, argmax(own.signed)
        found = abs(signed[best])
        state.report.answer[0] = best if signed[best] > 0.0 else signed.size
        if found < max(enough, 0.5):  # what counts of it is less than the cost itself
            return state.report.write(0.0, 0.0) if enough == -math.inf else -math.inf
        growth = 2.0 * math.log(4.0 + math.log(1.0 * rounds)) + 0.25
        return state.report.write(0.5 * counted(2.0 * found, self.exact), growth)


class SignedCosts(NamedTuple):
    """The question's side and limit, and N d(mean, limit) of each arm, above 0 on the wanted side."""

    side: float
    limit: float
    signed: Floats


@jitable
def counted(y: float, exact: bool) -> float:
    """The x with y = Wbar_{-1}(x), or with y = x + log x, for y >= 1."""
    if exact:
        return y - math.log(y)
    x = y
    for _ in range(50):  # Newton's method on a concave function, from the right of its root
        step = (x + math.log(x) - y) / (1.0 + 1.0 / x)
        x -= step
        if abs(step) <= 1e-14 * x:
            break
    return x
