"""Sticky Track-and-Stop's confidence region, by the run's own stopping rule."""

from __future__ import annotations

import math
from collections.abc import Callable

from stopwise.core.arrays import total
from stopwise.core.functions import variant
from stopwise.families.family import Family
from stopwise.problems.problem import Problem
from stopwise.sampling.sticky import region_growth
from stopwise.stopping.likelihood import Growths, Threshold
from stopwise.stopping.rule import StoppingRule


class _AllArms(Problem, listed=False):
    """A question about all means at once, as the region is: stopping rules give its level."""

    arms: int

    def rank(self) -> int:
        return self.arms

    def union_bound(self) -> int:
        return 1


variant(region_growth, Growths)(lambda rule_state: total(rule_state.arms))


def region_level(rule: StoppingRule, arms: int, family: Family) -> Callable[[float], float]:
    """A function that gives log f(t) = beta(t, t^-5) for all arms together, but for the arms' own growths.

    beta is the threshold of the stopping rule. Rules that are not thresholds get f of the literature's
    experiments, log((1 + log t) t^5).
    """

    def log_f(rounds: float) -> float:
        t = max(rounds, 1.0)
        if not isinstance(rule, Threshold):
            return math.log(1.0 + math.log(t)) + 5.0 * math.log(t)
        fixed = rule.level(_AllArms(arms), family, t**-5.0)
        return float(fixed) + float(rule.common_growth(t))

    return log_f
