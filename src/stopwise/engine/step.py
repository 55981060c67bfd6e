"""One round, and nowhere else: observe, weigh the evidence, aim, track."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.checks import Floats
from stopwise.oracles.rounds import best_evidence
from stopwise.problems.base import Code
from stopwise.sampling.strategies import Memory, aim
from stopwise.sampling.tracking import follow
from stopwise.stopping.thresholds import arm_growth, common_growth, largest_sum
from stopwise.verbs import jitable


class State(NamedTuple):
    """Everything that a run knows after t samples."""

    memory: Memory
    totals: Floats  # the tracker's
    growths: Floats  # each arm's part of the threshold
    answer: Code  # the answer with the most evidence
    closest: Floats  # scratch


@jitable
def begin(arms: int, code_size: int) -> State:
    """A run before its first sample."""
    memory = Memory(
        np.zeros(arms),
        np.zeros(arms),
        np.zeros(code_size, dtype=np.int64),
        np.zeros(arms),
        np.zeros(arms + 1),
    )
    code = np.zeros(code_size, dtype=np.int64)
    return State(memory, np.zeros(arms), np.zeros(arms), code, np.zeros(arms))


@jitable
def observe(threshold: Any, family: Any, state: State, arm: int, sample: float) -> None:
    """One more sample of an arm."""
    counts, means = state.memory.counts, state.memory.means
    counts[arm] += 1.0
    means[arm] += (sample - means[arm]) / counts[arm]
    state.growths[arm] = arm_growth(threshold, family, counts[arm], means[arm])


@jitable
def statistic(
    problem: Any, family: Any, threshold: Any, rank: int, state: State, rounds: int
) -> float:
    """The largest evidence minus the threshold's growth: stop when it reaches constant(delta)."""
    memory = state.memory
    evidence = best_evidence(
        problem, family, memory.counts, memory.means, state.answer, state.closest
    )
    growth = common_growth(threshold, 1.0 * rounds) + largest_sum(state.growths, rank)
    return evidence - growth


@jitable
def choose(strategy: Any, problem: Any, family: Any, state: State, rounds: int) -> int:
    """The next arm: every arm once, then what the strategy's tracker says."""
    memory = state.memory
    if rounds < memory.counts.size:
        state.totals[rounds] += 1.0
        return rounds
    aim(strategy, problem, family, memory, rounds)
    return follow(strategy.tracker, memory.weights, memory.counts, state.totals, rounds)
