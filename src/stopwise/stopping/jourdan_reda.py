"""The threshold of Jourdan & Reda (2023) for good arms, as also Li & Cheung (2025) use it.

Stop with answer i once D(N, mu-hat, not i) >= c(t) with 2 c = Wbar_{-1}(x) and
x = 2 log(K/delta) + 4 log(4 + log t) + 1/2, where y = Wbar_{-1}(x) is y - log y = x. So the evidence is
D - log(2 D)/2, and the level log(K/delta) + 2 log(4 + log t) + 1/4. Published experiments take
x + log x for y, which is smaller: that is ``exact=False``, and not proven.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost
from stopwise.core.arrays import Floats
from stopwise.core.checks import truth
from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.options import Option
from stopwise.core.values import StoppingRule
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Quadratic
from stopwise.problems.asked import some_arm
from stopwise.stopping.verbs import level, proven, tally, update, weigh, weighed


class _JourdanReda(NamedTuple):
    exact: bool


class JourdanReda(_JourdanReda, StoppingRule):
    """Gaussian arms and questions about single arms' sides of a limit."""

    __slots__ = ()
    title = "Gaussian arms and limits: the literature's"
    options = {
        "exact": Option(
            {"type": "boolean"}, "As proven; else x + log x, as in published experiments"
        )
    }

    def __new__(cls, exact: bool = True) -> JourdanReda:
        return super().__new__(cls, truth("exact", exact))


@level.register(JourdanReda)
def _level(rule: JourdanReda, problem: Any, family: Any, delta: float) -> float:
    some_arm(rule, problem)
    if not isinstance(family, Quadratic):
        raise NotDefined(
            f"stopping: {rule!r} with {family!r}; allowed: Gaussian arms with known variances. "
            "Wealth() is for all families."
        )
    return math.log(problem.arms / delta)


proven.register(JourdanReda)(lambda rule, problem, family: rule.exact)


class Costs(NamedTuple):
    """The question's side and limit, and N d(mean, limit) of each arm, above 0 on the wanted side."""

    side: float
    limit: float
    signed: Floats


@tally.register(JourdanReda)
def _tally(rule: JourdanReda, problem: Any, family: Any) -> Costs:
    side, limit, _ = some_arm(rule, problem)
    return Costs(side, limit, np.zeros(problem.arms))


@update.register(JourdanReda)
def _update(
    rule: JourdanReda, problem: Any, family: Any, state: State, arm: int, sample: float
) -> None:
    side, limit, signed = state.tally
    far = arm_cost(family, state.data, arm, limit)
    signed[arm] = far if side * (state.data.means[arm] - limit) > 0.0 else -far


@weigh.register(JourdanReda)
def _weigh(
    rule: JourdanReda, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """D is the largest cost of an arm on the wanted side; for "none" the least cost of all others."""
    signed, best = state.tally.signed, 0
    for k in range(signed.size):
        if signed[k] > signed[best]:
            best = k
    found = abs(signed[best])
    state.answer[0] = best if signed[best] > 0.0 else signed.size
    if found < max(least, 0.5):  # what counts of it is less than the cost itself
        return weighed(state, 0.0, 0.0) if least == -math.inf else -math.inf
    growth = 2.0 * math.log(4.0 + math.log(1.0 * rounds)) + 0.25
    return weighed(state, 0.5 * counted(2.0 * found, rule.exact), growth)


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
