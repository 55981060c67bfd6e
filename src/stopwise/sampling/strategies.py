"""Strategies: which weights to track, given the data so far."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.checks import Floats
from stopwise.errors import BadArgument, MissingVerb
from stopwise.oracles.rounds import answer_weights, first_oracle, first_reachable
from stopwise.problems.base import Code
from stopwise.sampling.tracking import CTracking, DTracking, Explored
from stopwise.values import value
from stopwise.verbs import verb


class Memory(NamedTuple):
    """What a strategy sees and keeps: counts, estimates, its target and scratch space."""

    counts: Floats
    means: Floats
    code: Code  # the pursued answer
    weights: Floats  # its oracle weights
    scratch: Floats


@verb
def aim(strategy: Any, problem: Any, family: Any, memory: Memory, rounds: int) -> None:
    """Choose the answer to pursue and write its weights."""
    raise MissingVerb("aim", strategy)


class _Tracked(NamedTuple):
    tracker: Any


@value
class TrackAndStop(_Tracked):
    """Track the oracle weights at the estimate (Garivier & Kaufmann 2016); ``tracking`` "C" or "D"."""

    __slots__ = ()

    def __new__(cls, tracking: str = "C") -> TrackAndStop:
        return super().__new__(cls, tracker(tracking))


@value
class StickyTrackAndStop(_Tracked):
    """Algorithm 1: pursue the first answer that is an oracle answer somewhere in a region around the
    estimate, D(N, mu-hat, mu') <= log f(t) with f(t) = (1 + log t) t^5, and stick with it.
    """

    __slots__ = ()

    def __new__(cls, tracking: str = "C") -> StickyTrackAndStop:
        return super().__new__(cls, tracker(tracking))


def tracker(tracking: Any) -> Any:
    """ "C": cumulative tracking; "D": direct tracking with forced exploration; or a tracker's value."""
    if tracking == "C":
        return CTracking()
    if tracking == "D":
        return Explored(DTracking())
    if isinstance(tracking, tuple):
        return tracking
    raise BadArgument("tracking", tracking, '"C", "D" or a tracker')


@aim.register(TrackAndStop)
def _aim_at_estimate(
    strategy: TrackAndStop, problem: Any, family: Any, memory: Memory, rounds: int
) -> None:
    first_oracle(problem, family, memory.means, memory.code, memory.weights, memory.scratch)


@aim.register(StickyTrackAndStop)
def _aim_and_stick(
    strategy: StickyTrackAndStop, problem: Any, family: Any, memory: Memory, rounds: int
) -> None:
    # log f(t) = beta(t, t^-5) with the stylized beta
    level = 5.0 * math.log(rounds) + math.log(1.0 + math.log(rounds))
    first_reachable(problem, family, memory.counts, memory.means, level, memory.code)
    answer_weights(problem, family, memory.means, memory.code, memory.weights, memory.scratch)
