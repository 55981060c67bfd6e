"""The threshold of Jourdan & Reda (2023) for good arms, as also Li & Cheung (2025) use it.

Stop with answer i once D(N, mu-hat, not i) >= c(t) with 2 c = Wbar_{-1}(x) and
x = 2 log(K/delta) + 4 log(4 + log t) + 1/2, where y = Wbar_{-1}(x) is y - log y = x. So the evidence is
D - log(2 D)/2, and the level log(K/delta) + 2 log(4 + log t) + 1/4. Published experiments take
x + log x for y, which is smaller: that is ``exact=False``, and not proven.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.data import State
from stopwise.core.errors import NotDefined
from stopwise.core.options import Option
from stopwise.core.values import StoppingRule
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Quadratic
from stopwise.problems.rounds import best_evidence
from stopwise.problems.verbs import rank, union_bound
from stopwise.stopping.verbs import level, proven, weigh, weighed


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
        return super().__new__(cls, bool(exact))


@level.register(JourdanReda)
def _level(rule: JourdanReda, problem: Any, family: Any, delta: float) -> float:
    if rank(problem) != 1 or not isinstance(family, Quadratic):
        raise NotDefined(
            f"stopping: {rule!r} with {problem!r} and {family!r}; allowed: Gaussian arms with known "
            "variances, and questions whose cells bound one arm, such as AnyLowArm. Wealth() is for all."
        )
    return math.log(union_bound(problem)) - math.log(delta)


proven.register(JourdanReda)(lambda rule, problem, family: rule.exact)


@weigh.register(JourdanReda)
def _weigh(
    rule: JourdanReda, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """What counts is at most D: x + log x >= x for x >= 1, and y - log y <= y."""
    growth = 2.0 * math.log(4.0 + math.log(1.0 * rounds)) + 0.25
    enough = max(least + growth, 0.5)
    found = best_evidence(problem, family, state.data, state.sketch, enough, state.answer)
    if not found >= enough:
        return -math.inf
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
