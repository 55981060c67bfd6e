"""What a strategy knows: every verb, once.

A strategy is a value. Either it has a ``tracker`` and registers ``aim``, which writes weights to track;
or it is ``Direct`` and registers ``pick``, which names an arm. Optional: ``notes``, what it keeps
between rounds; ``notice``, how a sample changes them; ``bind``, which replaces the strategy by one that
knows the question before the first sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import stopwise.oracles.rounds  # noqa: F401  (what a round asks of a problem by default)
from stopwise.core.arrays import Floats, Rng, total
from stopwise.core.data import State
from stopwise.core.errors import BadArgument, MissingVerb
from stopwise.core.values import Strategy
from stopwise.core.verbs import registered, verb
from stopwise.sampling.tracking import follow, recount


class Direct(Strategy, listed=False):
    """Strategies that name an arm themselves, without weights to track."""

    __slots__ = ()


class Question(NamedTuple):
    """What is known before the first sample; ``log_f`` gives log f(t) but for the arms' own parts.

    ``truth`` is nan in a campaign; ``delta`` is nan unless the strategy looks at it.
    """

    problem: Any
    family: Any
    truth: Floats
    delta: float
    log_f: Callable[[float], float]
    max_rounds: int
    costs: Floats | None = None  # of a sample of each arm, if they are to be saved


@verb
def bind(strategy: Any, question: Question) -> Any:
    """The strategy for this question; by default itself."""
    return strategy


@verb
def notes(strategy: Any, problem: Any) -> Any:
    """What the strategy keeps between rounds: a NamedTuple of arrays, or an array."""
    return np.zeros(0)


@verb(inline=True)
def notice(
    strategy: Any, problem: Any, family: Any, state: State, arm: int, sample: float, before: float
) -> None:
    """Update the notes after a sample of an arm, whose mean was ``before``."""


@verb(inline=True)
def aim(strategy: Any, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> None:
    """Choose the answer to pursue, and write the weights to track, after so many samples."""
    raise MissingVerb("aim", strategy)


@verb(inline=True)
def pick(strategy: Any, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    """The next arm, after so many samples with those in flight; by default the tracker's."""
    return follow(
        strategy.tracker, state.pursuit.weights, state.taken, state.pursuit.totals, rounds
    )


@verb
def catch_up(strategy: Any, state: State) -> None:
    """Samples were lost, or came unasked: bring the tracker's memory up to what was taken."""
    recount(strategy.tracker, state.pursuit.weights, state.taken, state.pursuit.totals)


@verb
def sound(strategy: Any, state: State) -> bool:
    """Whether the weights are numbers of at least 0 that sum to 1, and the tracker never met others."""
    if not math.isfinite(total(state.pursuit.totals)):
        return False
    whole = 0.0
    for k in range(state.pursuit.weights.size):
        if not state.pursuit.weights[k] >= 0.0:
            return False
        whole += state.pursuit.weights[k]
    return abs(whole - 1.0) <= 1e-6


@verb
def pursues(strategy: Any) -> bool:
    """Whether the strategy has an answer in mind."""
    return True


# a strategy that names arms itself has no weights and no tracker
aim.register(Direct)(lambda strategy, problem, family, state, rounds, rng: None)
catch_up.register(Direct)(lambda strategy, state: None)
sound.register(Direct)(lambda strategy, state: True)
pursues.register(Direct)(lambda strategy: False)


def check_strategy(strategy: Any) -> None:
    """A bound strategy must know how to aim and have a tracker that follows, or how to pick."""
    kind = type(strategy)
    if isinstance(strategy, Direct):
        if not registered(pick, kind):
            raise MissingVerb("pick", strategy)
        return
    if not registered(aim, kind):
        raise MissingVerb("aim", strategy)
    if not hasattr(strategy, "tracker"):
        raise BadArgument("strategy", strategy, "one with a field ``tracker``, such as CTracking()")
    if not registered(follow, type(strategy.tracker)):
        raise MissingVerb("follow", strategy.tracker)
