"""A question before the first sample, and with the data so far: what strategies and rules are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.families.family import Family
from stopwise.problems.problem import Cache, Problem


class Instance(NamedTuple):
    """A problem with the data of a run. The arrays are the run's own: one instance serves all rounds."""

    problem: Problem
    family: Family  # as the samples show it
    data: Data
    cache: Cache


class Question(NamedTuple):
    """What is known before the first sample.

    ``truth`` is nan in a campaign; ``delta`` is nan unless the strategy looks at it; ``log_f`` gives
    log f(t) of Sticky Track-and-Stop's region but for the arms' own parts.
    """

    problem: Problem
    family: Family  # in a simulation with laws: with their deviations
    estimated: Family  # as a run has it before its first sample
    truth: Floats
    delta: float
    log_f: Callable[[float], float]
    max_rounds: int
    costs: Floats | None = None  # of a sample of each arm, if they are to be saved
