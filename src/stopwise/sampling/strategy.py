"""What a strategy is: every method, once.

Either it has a ``tracker`` and a method ``target``, which writes weights to track; or it is ``Direct``
and its method ``next_arm`` names an arm. ``init`` makes what it keeps between rounds, of the question;
``update`` enters a sample into it.

Trackers turn a sequence of target weights into arms (Garivier & Kaufmann 2016, Section 3.1). C-tracking
follows the *sum* of the targets, each projected on the weights of at least epsilon_t: its proportions
converge to the hull of what it tracks. D-tracking follows the *current* target and explores arms that
lag behind sqrt(t) - K/2: with targets that keep jumping it may leave that hull.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stopwise.core.arrays import Floats, Rng, argmin, smallest
from stopwise.core.data import Plan, State
from stopwise.core.errors import BadArgument, MissingMethod
from stopwise.core.functions import inline, jitable
from stopwise.core.options import Option
from stopwise.core.values import Role, Value, overrides
from stopwise.problems.instance import Instance, Question

if TYPE_CHECKING:
    from typing import Self

BY_THE_MEANS = (
    "the means favoured it once every arm had a sample",
    "the means came to favour it over “{before}”",
)
TRACKING = Option({"enum": ["C", "D"]}, "C: the sum of the targets; D: the current target")


class Tracker(Value):
    """Turns a sequence of target weights into arms."""

    @inline
    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        """The next arm, given counts N_t after ``rounds`` samples.

        ``totals`` is the tracker's memory, K + 1 numbers: each arm's sum of targets, in which first samples
        count as targets, and the last water level.
        """
        raise MissingMethod("follow", self)

    def recount(self, target: Floats, counts: Floats, totals: Floats) -> None:
        """Bring the tracker's totals to the samples taken, after losses or samples nobody asked for."""


class CTracking(Tracker):
    """Cumulative tracking: the floor of its projection explores every arm often enough."""

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        arms = counts.size
        floor = 0.5 / math.sqrt(arms * arms + rounds)  # epsilon_t of the tracking lemma
        if smallest(target) >= floor:  # the target is its own projection
            return add_and_choose(target, 0.0, 0.0, counts, totals)
        level = totals[arms] = water_level(target, floor, totals[arms])
        return add_and_choose(target, level, floor, counts, totals)

    def recount(self, target: Floats, counts: Floats, totals: Floats) -> None:
        """The targets must sum to the number of samples.

        Were they ahead after losses, an arm with a small weight would not be asked for until its own
        total is as far ahead as the others': if losses go on, never. Lost samples leave the proportions
        of the targets as they are; unasked ones count as rounds with the present target.
        """
        taken, wanted = 0.0, 0.0
        for k in range(counts.size):
            taken += counts[k]
            wanted += totals[k]
        if abs(taken - wanted) < 0.5:
            return
        for k in range(counts.size):
            if taken < wanted:
                totals[k] *= taken / wanted
            else:
                totals[k] += (taken - wanted) * target[k]


class DTracking(Tracker):
    """Direct tracking, without exploration of its own."""

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        best, arm = -math.inf, 0
        for k in range(counts.size):
            behind = rounds * target[k] - counts[k]
            if behind > best:
                best, arm = behind, k
        return arm


class Explored(Tracker):
    """Any tracker with forced exploration: first an arm with N_k <= sqrt(t) - K/2, if there is one."""

    tracker: Tracker

    def recount(self, target: Floats, counts: Floats, totals: Floats) -> None:
        self.tracker.recount(target, counts, totals)

    def follow(self, target: Floats, counts: Floats, totals: Floats, rounds: int) -> int:
        arm = self.tracker.follow(target, counts, totals, rounds)
        lagging = math.sqrt(rounds) - 0.5 * counts.size
        if lagging < 0.0:  # no arm has fewer than no samples
            return arm
        least = argmin(counts)
        return least if counts[least] <= lagging else arm


def as_tracker(tracking: str | Tracker) -> Tracker:
    """ "C": cumulative tracking; "D": direct tracking with forced exploration; or a tracker's value."""
    if isinstance(tracking, str) and tracking in ("C", "D"):
        return CTracking() if tracking == "C" else Explored(DTracking())
    if isinstance(tracking, Tracker):
        return tracking
    raise BadArgument("tracking", tracking, '"C", "D" or a tracker')


@jitable(inline=True)
def water_level(target: Floats, floor: float, start: float) -> float:
    """The c with sum_k (max(target_k - c, 0) + floor) = 1, for a floor of at most 1/K; from a guess.

    These are the closest weights in sup norm with every w_k >= floor: arms below the floor are raised
    to it, and the mass comes from the others in equal parts, as far as each can give. Any unequal
    cut would have a larger part.
    """
    level, goal = max(start, floor), 1.0 - target.size * floor
    for _ in range(target.size + 1):  # Newton on a convex piecewise linear function: K pieces
        above, richer = excess(target, level)
        if richer == 0:
            level = floor
        elif abs(above - goal) <= 1e-14:
            break
        else:
            level += (above - goal) / richer
    return level


@jitable(inline=True)
def excess(target: Floats, level: float) -> tuple[float, int]:
    """sum_k max(target_k - level, 0) and how many arms are above; four sums at a time, for speed."""
    a = b = c = d = 0.0
    count, k = 0, 0
    while k + 3 < target.size:
        a += max(target[k] - level, 0.0)
        b += max(target[k + 1] - level, 0.0)
        c += max(target[k + 2] - level, 0.0)
        d += max(target[k + 3] - level, 0.0)
        k += 4
    while k < target.size:
        a += max(target[k] - level, 0.0)
        k += 1
    for j in range(target.size):
        count += target[j] > level
    return a + b + c + d, count


@jitable(inline=True)
def add_and_choose(
    target: Floats, level: float, floor: float, counts: Floats, totals: Floats
) -> int:
    """Add what is above the level, and the floor; the first of the arms that are furthest behind."""
    best, arm = -math.inf, 0
    for k in range(counts.size):
        totals[k] += max(target[k] - level, 0.0) + floor
        behind = totals[k] - counts[k]
        if behind > best:
            best, arm = behind, k
    return arm


class Strategy(Role, listed=False):
    """Which arm next.

    ``uses_randomness``: it draws from the generator that it is given. ``looks_at_delta``: its choices
    depend on delta, so that one trajectory serves one delta only. ``needs_truth``: it knows the true
    means, and so cannot run in a campaign. ``minds_costs``: it tracks oracle weights, so that it can
    save money instead of samples. ``former``: what options meant before they existed, for campaigns
    whose specs do not say. In words, for a campaign's page: ``reason``, how it chooses
    the answer that it pursues; ``because``, why the first one, and why the next after ``{before}``.
    """

    role = "strategy"
    example = "TrackAndStop()"
    uses_randomness: ClassVar[bool] = False
    looks_at_delta: ClassVar[bool] = False
    needs_truth: ClassVar[bool] = False
    reason: ClassVar[str] = ""
    because: ClassVar[tuple[str, str]] = ("", "")
    minds_costs: ClassVar[bool] = False
    former: ClassVar[dict[str, Any]] = {}

    @property
    def tracker(self) -> Tracker:
        """What follows the target weights."""
        raise MissingMethod("tracker", self)

    def init(self, question: Question) -> Any:
        """The strategy's state for this question: a NamedTuple of arrays and numbers, or an array.

        It refuses questions that the strategy is not for. Later it is in the run's ``strategy_state``.
        """
        return np.zeros(0)

    def compilable(self) -> Self:
        """The strategy as compiled code gets it, without fields that numba cannot hold.

        ``init`` has put their content into the state.
        """
        return self

    @inline
    def update(
        self, instance: Instance, state: State, arm: int, sample: float, before: float
    ) -> None:
        """Enter a sample, which the data have already, of an arm whose mean was ``before``."""

    @inline
    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        """Choose the answer to pursue, and write the weights to track, after so many samples."""
        raise MissingMethod("target", self)

    @inline
    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """The next arm, after so many samples with those in flight; by default the tracker's."""
        return self.tracker.follow(state.plan.weights, state.taken, state.plan.totals, rounds)

    def recount(self, state: State) -> None:
        """Bring the tracker's totals to the samples taken, after losses or samples nobody asked for."""
        self.tracker.recount(state.plan.weights, state.taken, state.plan.totals)

    def weights_valid(self, plan: Plan) -> bool:
        """Whether the weights are numbers of at least 0 that sum to 1, and the tracker never met others."""
        whole = 0.0
        for k in range(plan.weights.size):
            if not plan.weights[k] >= 0.0 or not math.isfinite(plan.totals[k]):
                return False
            whole += plan.weights[k]
        return abs(whole - 1.0) <= 1e-6

    def pursues(self) -> bool:
        """Whether the strategy has an answer in mind."""
        return True


class Direct(Strategy, listed=False):
    """Strategies that name an arm themselves, without weights to track."""

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        pass

    def recount(self, state: State) -> None:
        pass

    def weights_valid(self, plan: Plan) -> bool:
        return True

    def pursues(self) -> bool:
        return False


def check_strategy(strategy: Strategy) -> None:
    """A strategy has a method ``target`` and a tracker that follows, or a method ``next_arm``."""
    if isinstance(strategy, Direct):
        if not overrides(strategy, "next_arm"):
            raise MissingMethod("next_arm", strategy)
        return
    if not overrides(strategy, "target"):
        raise MissingMethod("target", strategy)
    if not isinstance(getattr(strategy, "tracker", None), Tracker):
        raise BadArgument("strategy", strategy, "one with a field ``tracker``, such as CTracking()")
