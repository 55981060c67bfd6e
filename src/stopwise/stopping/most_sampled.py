"""lil'UCB's stopping rule: one arm has most of the samples (Jamieson et al. 2014, Figure 1).

It says nothing by itself: the proof (their Theorem 2) is about how lil'UCB samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stopwise.core.arrays import place_of_largest, total
from stopwise.core.checks import truth
from stopwise.core.data import State
from stopwise.core.options import Option
from stopwise.core.values import StoppingRule
from stopwise.problems.asked import best_arm
from stopwise.stopping.verbs import level, weigh, weighed


class _MostSampled(NamedTuple):
    heuristic: bool


class MostSampled(_MostSampled, StoppingRule):
    """Stop when N_i >= 1 + lambda times all other samples; for ``LilUCB`` alone.

    lambda is ((2 + beta)/beta)^2 = 9, or for experiments 1 + 10/K.
    """

    __slots__ = ()
    title = "one arm has most of the samples: for LilUCB only"
    options = {
        "heuristic": Option({"type": "boolean"}, "The same as in LilUCB: constants for experiments")
    }

    def __new__(cls, heuristic: bool = False) -> MostSampled:
        return super().__new__(cls, truth("heuristic", heuristic))


@level.register(MostSampled)
def _level(rule: MostSampled, problem: Any, family: Any, delta: float) -> float:
    """The evidence is N_i/(1 + lambda sum of the others); delta is in how lil'UCB samples."""
    best_arm(rule, problem)
    return 1.0


@weigh.register(MostSampled)
def _weigh(
    rule: MostSampled, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    counts = state.data.counts
    arm = place_of_largest(counts)
    factor = 1.0 + 10.0 / counts.size if rule.heuristic else 9.0
    state.answer[0] = arm
    return weighed(state, counts[arm] / (1.0 + factor * (total(counts) - counts[arm])), 0.0)
