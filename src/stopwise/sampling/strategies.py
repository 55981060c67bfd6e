"""Strategies: which weights to track, given the data so far.

A strategy is a value with a ``tracker``. It registers ``aim``, which writes the weights to track.
Optional: ``notes``, what it keeps between rounds; ``notice``, how a sample changes them; ``settle``,
which replaces the strategy by one that knows the question before the first sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import stopwise.oracles.planes
import stopwise.oracles.products
import stopwise.oracles.sketches  # noqa: F401  (register their verbs)
from stopwise import checks
from stopwise.arrays import assign
from stopwise.checks import Floats
from stopwise.errors import BadArgument, MissingVerb, NotDefined
from stopwise.oracles.rounds import answer_weights, first_oracle
from stopwise.oracles.solve import solution
from stopwise.problems import base
from stopwise.problems.base import Code
from stopwise.sampling.tracking import CTracking, DTracking, Explored
from stopwise.values import value
from stopwise.verbs import verb


class Memory(NamedTuple):
    """What a strategy sees and keeps."""

    counts: Floats
    sums: Floats  # of the samples: dividing them makes equal data equal means, to the last bit
    means: Floats
    growths: Floats  # each arm's part of the threshold, and of the region
    code: Code  # the pursued answer
    weights: Floats  # its oracle weights
    sketch: Any  # the problem's
    notes: Any  # the strategy's


class Question(NamedTuple):
    """What is known before the first sample; ``log_f`` gives log f(t) but for the arms' growths."""

    problem: Any
    family: Any
    truth: Floats
    log_f: Callable[[float], float]
    max_rounds: int


@verb
def settle(strategy: Any, question: Question) -> Any:
    """The strategy for this question; by default itself."""
    return strategy


@verb
def notes(strategy: Any, arms: int) -> Any:
    """What the strategy keeps between rounds: a NamedTuple of arrays, or an array."""
    return np.zeros(0)


@verb(inline=True)
def notice(
    strategy: Any, problem: Any, family: Any, memory: Memory, arm: int, sample: float, before: float
) -> None:
    """Update the notes after a sample of an arm, whose mean was ``before``."""


@verb(inline=True)
def aim(strategy: Any, problem: Any, family: Any, memory: Memory, rounds: int) -> None:
    """Choose the answer to pursue, and write the weights to track."""
    raise MissingVerb("aim", strategy)


def tracker(tracking: Any) -> Any:
    """ "C": cumulative tracking; "D": direct tracking with forced exploration; or a tracker's value."""
    if isinstance(tracking, str) and tracking in ("C", "D"):
        return CTracking() if tracking == "C" else Explored(DTracking())
    if isinstance(tracking, tuple):
        return tracking
    raise BadArgument("tracking", tracking, '"C", "D" or a tracker')


class _TrackAndStop(NamedTuple):
    tracker: Any


@value
class TrackAndStop(_TrackAndStop):
    """Track the oracle weights at the estimate (Garivier & Kaufmann 2016); ``tracking`` "C" or "D"."""

    __slots__ = ()

    def __new__(cls, tracking: Any = "C") -> TrackAndStop:
        return super().__new__(cls, tracker(tracking))


@aim.register(TrackAndStop)
def _aim_at_estimate(
    strategy: TrackAndStop, problem: Any, family: Any, memory: Memory, rounds: int
) -> None:
    first_oracle(problem, family, memory.sketch, memory.means, memory.code, memory.weights)


class _FixedWeights(NamedTuple):
    weights: Floats
    tracker: Any


@value
class FixedWeights(_FixedWeights):
    """Sample in these proportions, whatever the data: a yardstick. They are scaled to sum to 1."""

    __slots__ = ()

    def __new__(cls, weights: ArrayLike) -> FixedWeights:
        shares = checks.weights("weights", weights, None)
        if shares.sum() <= 0.0:
            raise BadArgument("weights", weights, "numbers >= 0, not all of them 0")
        return super().__new__(cls, shares / shares.sum(), DTracking())

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.weights,)

    def __repr__(self) -> str:
        return f"FixedWeights({self.weights.tolist()})"


@settle.register(FixedWeights)
def _check_size(strategy: FixedWeights, question: Question) -> FixedWeights:
    checks.weights("weights", strategy.weights, base.arm_count(question.problem))
    return strategy


@aim.register(FixedWeights)
def _aim_at_fixed(
    strategy: FixedWeights, problem: Any, family: Any, memory: Memory, rounds: int
) -> None:
    assign(memory.weights, strategy.weights)
    # the pursued answer stays at its code 0: none is pursued


@value
class Uniform(NamedTuple):
    """Sample all arms equally often: a yardstick."""


@settle.register(Uniform)
def _settle_uniform(strategy: Uniform, question: Question) -> FixedWeights:
    return FixedWeights(np.ones(base.arm_count(question.problem)))


@value
class OracleWeights(NamedTuple):
    """The paper's oracle strategy: the oracle weights at the true means, which nobody knows.

    Of several oracle answers the first is taken. Where D = 0 it is uniform.
    """


@settle.register(OracleWeights)
def _settle_oracle(strategy: OracleWeights, question: Question) -> FixedWeights:
    problem, family, truth = question.problem, question.family, question.truth
    if np.isnan(truth).any():
        raise NotDefined("OracleWeights needs the true means, which a campaign does not know.")
    solved = [
        solution(problem, family, truth, base.encode(problem, answer))
        for answer in base.candidates(problem, truth)
    ]
    best = max(each.value for each in solved)
    return FixedWeights(next(s.weights for s in solved if s.value >= best * (1.0 - 1e-9)))


__all__ = [
    "FixedWeights",
    "Memory",
    "OracleWeights",
    "Question",
    "TrackAndStop",
    "Uniform",
    "aim",
    "answer_weights",
    "notes",
    "notice",
    "settle",
    "tracker",
]
