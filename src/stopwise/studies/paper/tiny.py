"""Error probabilities that no floating-point number holds: e^-6000, given by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from stopwise.stopping import Stylized
from stopwise.stopping.thresholds import common_growth, constant
from stopwise.values import value

LARGEST = 600.0  # of log 1/delta, where delta is still an ordinary number


@value
class StylizedPower(NamedTuple):
    """The stylized threshold at delta^power: log((1 + log t)/delta^power). Not proven."""

    power: float


@constant.register(StylizedPower)
def _power_constant(threshold: StylizedPower, problem: Any, family: Any, delta: float) -> float:
    return -threshold.power * math.log(delta)


# the very function of Stylized: compiled code is cached by the sources of its room, not of this one
common_growth.register(StylizedPower, common_growth.dispatch(Stylized))


def stylized_at(logs: Sequence[float]) -> tuple[StylizedPower, tuple[float, ...]]:
    """A threshold and the deltas to give with it, so that its constants are these log 1/delta."""
    power = max(1.0, max(logs) / LARGEST)
    return StylizedPower(power), tuple(math.exp(-each / power) for each in logs)
