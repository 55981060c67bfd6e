"""Sticky Track-and-Stop's confidence region, by the run's own stopping rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from stopwise.core.arrays import total
from stopwise.problems import verbs
from stopwise.sampling.sticky import region_growth
from stopwise.stopping.likelihood import Growths, Threshold, common_growth
from stopwise.stopping.verbs import level


class _AllArms(NamedTuple):
    """All arms at once: what the region is about."""

    arms: int


verbs.rank.register(_AllArms)(lambda problem: problem.arms)
verbs.union_bound.register(_AllArms)(lambda problem: 1)
region_growth.register(Growths)(lambda tally: total(tally.arms))


def region_level(rule: Any, arms: int, family: Any) -> Callable[[float], float]:
    """log f(t) = beta(t, t^-5) for all arms together, but for the arms' own growths.

    For rules that are no thresholds, that of the literature's experiments, log((1 + log t) t^5).
    """

    def log_f(rounds: float) -> float:
        t = max(rounds, 1.0)
        if not isinstance(rule, Threshold):
            return math.log(1.0 + math.log(t)) + 5.0 * math.log(t)
        fixed = level(rule, _AllArms(arms), family, t**-5.0)
        return float(fixed) + float(common_growth(rule, t))

    return log_f
