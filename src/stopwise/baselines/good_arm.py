"""Good arm identification by bounds: HDoC and LUCB-G (Kano, Honda, Sakamaki, Matsuura, Nakamura &
Sugiyama 2019, Algorithms 1 and 2), and their stopping rule.

An arm whose interval lies on the wrong side of the limit is rejected and not sampled again. If
all are rejected and the stopping rule asks for more, all come back at delta/10.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.baselines.radius import (
    LEVEL_STEP,
    HoeffdingRadius,
    Radius,
    RadiusRule,
    check_proxy,
    proxy,
    radius_named,
)
from stopwise.core.arrays import Floats, Rng, fill, total
from stopwise.core.data import State
from stopwise.core.options import Option
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem
from stopwise.problems.question_kind import some_arm
from stopwise.sampling.strategy import Direct


class Rejecting(Direct, listed=False):
    """Strategies that sample the arm with the best index of those that are not rejected."""

    looks_at_delta = True

    def index_width(self, spread: float, count: float, rounds: float, base: float) -> float:
        """What is added to an arm's mean: the arm with the largest sum is sampled."""
        return 0.0

    def init(self, question: Question) -> Left:
        asked, arms = some_arm(self, question.problem), question.problem.arms
        check_proxy(self, question.family)
        radius = HoeffdingRadius()
        base = radius.base(arms, question.delta)
        return Left(asked.side, asked.limit, radius, base, np.zeros(1), np.ones(arms))

    def update(
        self, instance: Instance, state: State, arm: int, sample: float, before: float
    ) -> None:
        own: Left = state.strategy_state
        family, data, left = instance.family, instance.data, own.arms
        if own.side * (data.means[arm] - own.limit) < 0.0:
            had = own.radius.against(family, data, arm, own.limit, 1.0)
            if had > own.base + own.more[0]:
                left[arm] = 0.0
        if total(left) == 0.0:
            own.more[0] += LEVEL_STEP
            fill(left, 1.0)

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        own: Left = state.strategy_state
        best, found, base = -math.inf, 0, own.base + own.more[0]
        for k in range(own.arms.size):
            if own.arms[k] > 0.0:
                spread = proxy(instance.family.of_arm(k))
                width = self.index_width(spread, state.taken[k], 1.0 + rounds, base)
                value = own.side * instance.data.means[k] + width
                if value > best:
                    best, found = value, k
        return found


class Left(NamedTuple):
    """The question's side and limit, the intervals, their base with its growth, and who is not rejected."""

    side: float
    limit: float
    radius: HoeffdingRadius
    base: float
    more: Floats
    arms: Floats


class HDOC(Rejecting):
    """The arm with the best index mean + sqrt(2 s^2 log t/N), of those that are not rejected.

    s^2 = 1/4 for samples in [0, 1]. Its stopping rule is ``BeyondLimit``.
    """

    title = "any arm beyond a limit: the arm that looks most promising"
    reason = (
        "HDoC samples the arm with the most promising index until its confidence interval is clear of "
        "the limit; arms on the wrong side are rejected."
    )

    def index_width(self, spread: float, count: float, rounds: float, base: float) -> float:
        return math.sqrt(2.0 * spread * math.log(rounds) / count)


class LUCBG(Rejecting):
    """The arm whose confidence bound sqrt(2 s^2 log(4 K N^2/delta)/N) reaches furthest, if not rejected.

    Its stopping rule is ``BeyondLimit``.
    """

    title = "any arm beyond a limit: the arm with the best confidence bound"
    reason = (
        "LUCB-G samples the arm whose confidence bound reaches furthest beyond the limit; arms on the "
        "wrong side are rejected."
    )

    def index_width(self, spread: float, count: float, rounds: float, base: float) -> float:
        return math.sqrt(2.0 * spread * (base + 2.0 * math.log(count)) / count)


LIMIT_RADII = ("hoeffding", "mixture", "stylized")


class BeyondLimit(RadiusRule):
    """Stop when an arm's confidence interval is beyond the limit, or all arms' on its other side.

    The evidence that an arm is on the wanted side is what its samples have against the limit; an arm is
    rejected, for good, when they have enough against it on the other side. "None" is as sure as
    the least sure rejection. Each arm can be misjudged in one way: K events (docs/bounds.md).
    """

    title = "a confidence interval beyond the limit: any arm above or below"
    options = {
        "radius": Option(
            {"enum": list(LIMIT_RADII)},
            "hoeffding: sub-Gaussian samples, the literature's; mixture: sharper; both are proven; "
            "stylized: not proven",
        )
    }

    def __init__(self, radius: Radius | str = "hoeffding") -> None:
        self.radius = radius_named(radius, LIMIT_RADII)

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        some_arm(self, problem)
        return super().level(problem, family, delta)

    def init(self, question: Question) -> Sides:
        side, limit, _ = some_arm(self, question.problem)
        nothing = np.full(question.problem.arms, -math.inf)
        return Sides(side, limit, nothing, nothing.copy())

    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        own: Sides = state.rule_state
        data = instance.data
        ahead = own.side * (data.means[arm] - own.limit)
        had = self.radius.against(instance.family, data, arm, own.limit, total(data.counts))
        own.wanted[arm] = had if ahead > 0.0 else -math.inf
        if ahead < 0.0:
            own.rejected[arm] = max(own.rejected[arm], had)

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        own: Sides = state.rule_state
        found, none, best = -math.inf, math.inf, own.wanted.size
        for k in range(own.wanted.size):
            none = min(none, own.rejected[k])
            if own.wanted[k] > found:
                found, best = own.wanted[k], k
        if none >= found:
            found, best = none, own.wanted.size
        state.report.answer[0] = best
        return state.report.write(max(found, -1e9), 0.0)

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        own: Sides = state.rule_state
        found = own.rejected.min() if code[0] == own.wanted.size else own.wanted[code[0]]
        return max(0.0, float(found))


class Sides(NamedTuple):
    """The question's side and limit; what each arm has for it, and the most it ever had against it."""

    side: float
    limit: float
    wanted: Floats
    rejected: Floats
