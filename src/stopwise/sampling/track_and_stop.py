"""Track-and-Stop (Garivier & Kaufmann 2016): track the oracle weights at the estimate."""

from __future__ import annotations

from typing import Any, NamedTuple

from stopwise.core.arrays import Rng
from stopwise.core.data import State
from stopwise.core.values import Strategy
from stopwise.problems.rounds import first_oracle
from stopwise.sampling.tracking import TRACKING, tracker
from stopwise.sampling.verbs import aim


class _TrackAndStop(NamedTuple):
    tracker: Any


class TrackAndStop(_TrackAndStop, Strategy):
    """Track the oracle weights at the estimate (Garivier & Kaufmann 2016); ``tracking`` "C" or "D"."""

    __slots__ = ()
    title = "for questions with one correct answer"
    reason = (
        "Track-and-Stop pursues the answer that the means favour at the moment. It changes when "
        "another one is ahead."
    )
    because = (
        "the means favoured it once every arm had a sample",
        "the means came to favour it over “{before}”",
    )
    options = {"tracking": TRACKING}
    minds_costs = True

    def __new__(cls, tracking: Any = "C") -> TrackAndStop:
        return super().__new__(cls, tracker(tracking))


@aim.register(TrackAndStop)
def _aim(
    strategy: TrackAndStop, problem: Any, family: Any, state: State, rounds: int, rng: Rng
) -> None:
    goal = state.pursuit
    first_oracle(problem, family, state.data, state.sketch, goal.code, goal.weights)
