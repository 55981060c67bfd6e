"""A bound beyond the limit: the stopping rule of HDoC and LUCB-G (Kano et al. 2019).

The evidence that an arm is on the wanted side is what its samples have against the limit; an arm is
rejected, for good, when they have enough against it on the other side. "None" is as sure as
the least sure rejection. Each arm can be misjudged in one way: K events (docs/bounds.md).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.confidence import against
from stopwise.cells.radius import (
    Hoeffding,
    Mixture,
    Stylized,
    base,
    check_proxy,
    check_radius,
    is_proven,
)
from stopwise.core.arrays import Floats
from stopwise.core.checks import choice
from stopwise.core.data import State
from stopwise.core.options import Option
from stopwise.core.values import StoppingRule
from stopwise.problems.asked import some_arm
from stopwise.problems.verbs import Code
from stopwise.stopping.verbs import evidence, level, proven, tally, update, weigh, weighed

RADII = {"hoeffding": Hoeffding, "mixture": Mixture, "stylized": Stylized}


class _BeyondLimit(NamedTuple):
    radius: Any


class BeyondLimit(_BeyondLimit, StoppingRule):
    """Stop when an arm's confidence interval is beyond the limit, or all arms' on its other side."""

    __slots__ = ()
    title = "a confidence interval beyond the limit: any arm above or below"
    options = {
        "radius": Option(
            {"enum": list(RADII)},
            "hoeffding: sub-Gaussian samples, the literature's; mixture: sharper; both are proven; "
            "stylized: not proven",
        )
    }

    def __new__(cls, radius: Any = "hoeffding") -> BeyondLimit:
        if isinstance(radius, tuple(RADII.values())):
            return super().__new__(cls, radius)
        name = choice("radius", radius, list(RADII), f"one of {', '.join(map(repr, RADII))}")
        return super().__new__(cls, RADII[name]())

    def __repr__(self) -> str:
        return f"BeyondLimit({type(self.radius).__name__.lower()!r})"


@level.register(BeyondLimit)
def _level(rule: BeyondLimit, problem: Any, family: Any, delta: float) -> float:
    some_arm(rule, problem)
    if isinstance(rule.radius, Hoeffding):
        check_proxy(rule, family)
    check_radius(rule, rule.radius, family)
    return float(base(rule.radius, problem.arms, delta))


proven.register(BeyondLimit)(lambda rule, problem, family: is_proven(rule.radius))


class Sides(NamedTuple):
    """The question's side and limit; what each arm has for it, and the most it ever had against it."""

    side: float
    limit: float
    wanted: Floats
    rejected: Floats


@tally.register(BeyondLimit)
def _tally(rule: BeyondLimit, problem: Any, family: Any) -> Sides:
    side, limit, _ = some_arm(rule, problem)
    nothing = np.full(problem.arms, -math.inf)
    return Sides(side, limit, nothing, nothing.copy())


@update.register(BeyondLimit)
def _update(
    rule: BeyondLimit, problem: Any, family: Any, state: State, arm: int, sample: float
) -> None:
    side, limit, wanted, rejected = state.tally
    ahead = side * (state.data.means[arm] - limit)
    t = 1.0
    for k in range(wanted.size):
        t += state.data.counts[k]
    had = against(rule.radius, family, state.data, arm, limit, t - 1.0)
    wanted[arm] = had if ahead > 0.0 else -math.inf
    if ahead < 0.0:
        rejected[arm] = max(rejected[arm], had)


@weigh.register(BeyondLimit)
def _weigh(
    rule: BeyondLimit, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    _, _, wanted, rejected = state.tally
    found, none, best = -math.inf, math.inf, wanted.size
    for k in range(wanted.size):
        none = min(none, rejected[k])
        if wanted[k] > found:
            found, best = wanted[k], k
    if none >= found:
        found, best = none, wanted.size
    state.answer[0] = best
    return weighed(state, max(found, -1e9), 0.0)


@evidence.register(BeyondLimit)
def _evidence(rule: BeyondLimit, problem: Any, family: Any, state: State, code: Code) -> float:
    _, _, wanted, rejected = state.tally
    found = rejected.min() if code[0] == wanted.size else wanted[code[0]]
    return max(0.0, float(found))
