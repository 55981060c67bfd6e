"""Error probabilities that no floating-point number holds: e^-6000, given by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import stopwise as sw
from stopwise.stopping.likelihood import Threshold, common_growth
from stopwise.stopping.verbs import level

LARGEST = 600.0  # of log 1/delta, where delta is still an ordinary number


class _StylizedPower(NamedTuple):
    power: float


class StylizedPower(_StylizedPower, Threshold, listed=False):
    """The stylized threshold at delta^power: log((1 + log t)/delta^power). Not proven."""

    __slots__ = ()


@level.register(StylizedPower)
def _level(rule: StylizedPower, problem: Any, family: Any, delta: float) -> float:
    return -rule.power * math.log(delta)


# the very function of Stylized: compiled code is cached by the sources of its room, not of this one
common_growth.register(StylizedPower)(common_growth.dispatch(sw.Stylized))


def stylized_at(logs: Sequence[float]) -> tuple[StylizedPower, tuple[float, ...]]:
    """A threshold and the deltas to give with it, so that its levels are these log 1/delta."""
    power = max(1.0, max(logs) / LARGEST)
    return StylizedPower(power), tuple(math.exp(-each / power) for each in logs)
