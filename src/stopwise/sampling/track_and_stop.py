"""Track-and-Stop (Garivier & Kaufmann 2016): track the oracle weights at the estimate."""

from __future__ import annotations

from stopwise.core.arrays import Rng
from stopwise.core.data import State
from stopwise.problems.instance import Instance
from stopwise.sampling.strategy import BY_THE_MEANS, TRACKING, Strategy, Tracker, as_tracker


class TrackAndStop(Strategy):
    """Track the oracle weights at the estimate (Garivier & Kaufmann 2016); ``tracking`` "C" or "D"."""

    tracker: Tracker
    title = "for questions with one correct answer"
    reason = (
        "Track-and-Stop pursues the answer that the means favour at the moment. It changes when "
        "another one is ahead."
    )
    because = BY_THE_MEANS
    options = {"tracking": TRACKING}
    minds_costs = True

    def __init__(self, tracking: str | Tracker = "C") -> None:
        self.tracker = as_tracker(tracking)

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        problem, family, data, cache = instance
        problem.first_oracle(family, data, cache, state.plan.pursued, state.plan.weights)
