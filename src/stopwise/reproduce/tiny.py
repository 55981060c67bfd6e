"""Error probabilities that no floating-point number holds: e^-6000, given by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stopwise.families.family import Family
from stopwise.problems.problem import Problem
from stopwise.stopping.likelihood import Threshold

LARGEST = 600.0  # of log 1/delta, where delta is still an ordinary number


class StylizedPower(Threshold, listed=False):
    """The stylized threshold at delta^power: log((1 + log t)/delta^power). Not proven."""

    power: float

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        return -self.power * math.log(delta)

    def common_growth(self, rounds: float) -> float:
        return math.log(1.0 + math.log(rounds))


def stylized_at(logs: Sequence[float]) -> tuple[StylizedPower, tuple[float, ...]]:
    """A threshold and the deltas to give with it, so that its levels are these log 1/delta."""
    power = max(1.0, max(logs) / LARGEST)
    return StylizedPower(power), tuple(math.exp(-each / power) for each in logs)
