"""One round, and nowhere else: observe, weigh the evidence, aim, track."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stopwise.checks import Floats
from stopwise.oracles.rounds import absorb, best_evidence, rebuild, sketch
from stopwise.problems import base
from stopwise.problems.base import Code
from stopwise.sampling.strategies import Memory, aim, notes, notice
from stopwise.sampling.tracking import follow
from stopwise.stopping.thresholds import arm_growth, common_growth, largest_sum
from stopwise.verbs import jitable

REFRESH = 1024  # rounds after which sketches are built anew, so that rounding cannot pile up


class State(NamedTuple):
    """Everything that a run knows after t samples."""

    memory: Memory
    totals: Floats  # the tracker's
    answer: Code  # the answer with the most evidence


def begin(problem: Any, family: Any, strategy: Any) -> State:
    """A run before its first sample."""
    arms, size = base.arm_count(problem), base.code_size(problem)
    memory = Memory(
        np.zeros(arms),
        np.zeros(arms),
        np.zeros(arms),
        np.zeros(arms),
        np.zeros(size, dtype=np.int64),
        np.zeros(arms),
        sketch(problem, family),
        notes(strategy, arms),
    )
    return State(memory, np.zeros(arms + 1), np.zeros(size, dtype=np.int64))


def restart(strategy: Any, state: State) -> State:
    """The state before the first sample, in the same arrays (a sketch is rebuilt from data anyway)."""
    memory = state.memory
    for used in (
        memory.counts,
        memory.sums,
        memory.means,
        memory.growths,
        memory.weights,
        memory.code,
        state.totals,
        state.answer,
    ):
        used[:] = 0
    return state._replace(memory=memory._replace(notes=notes(strategy, memory.counts.size)))


@jitable(inline=True)
def choose(strategy: Any, problem: Any, family: Any, state: State, rounds: int) -> int:
    """The next arm after this many rounds: every arm once, then what the strategy's tracker says."""
    memory = state.memory
    if rounds < memory.counts.size:
        state.totals[rounds] += 1.0
        return rounds
    aim(strategy, problem, family, memory, rounds)
    return track(strategy, state, memory.counts, rounds)


@jitable(inline=True)
def track(strategy: Any, state: State, counts: Floats, rounds: int) -> int:
    """The arm that follows the weights, where so many samples were taken or are under way."""
    return follow(strategy.tracker, state.memory.weights, counts, state.totals, rounds)


@jitable(inline=True)
def observe(
    strategy: Any,
    problem: Any,
    family: Any,
    threshold: Any,
    state: State,
    rounds: int,
    start: int,
    arm: int,
    sample: float,
) -> None:
    """The sample with which this many rounds are complete; with round ``start`` every arm has one."""
    memory = state.memory
    counts, means = memory.counts, memory.means
    before = means[arm]
    counts[arm] += 1.0
    memory.sums[arm] += sample
    means[arm] = memory.sums[arm] / counts[arm]
    memory.growths[arm] = arm_growth(threshold, family, counts[arm], means[arm])
    if rounds == start or (rounds > start and rounds % REFRESH == 0):
        rebuild(problem, family, memory.sketch, counts, means)
    elif rounds > start:
        absorb(problem, family, memory.sketch, counts, means, arm, before)
    if rounds > start:
        notice(strategy, problem, family, memory, arm, sample, before)


@jitable(inline=True)
def weigh(problem: Any, family: Any, state: State, enough: float) -> float:
    """The most evidence for any answer, if it reaches ``enough``; every arm has been sampled."""
    memory = state.memory
    return best_evidence(
        problem, family, memory.sketch, memory.counts, memory.means, enough, state.answer
    )


@jitable
def growth(threshold: Any, state: State, rank: int, rounds: int) -> float:
    """The data's part of the threshold: stop when the evidence minus this reaches constant(delta)."""
    return common_growth(threshold, 1.0 * rounds) + largest_sum(state.memory.growths, rank)
