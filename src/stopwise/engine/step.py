"""One round, and nowhere else: choose, observe, weigh."""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.core.arrays import Rng
from stopwise.core.data import Data, Pursuit, State
from stopwise.core.verbs import jitable
from stopwise.families.verbs import first_samples, note, record, seen
from stopwise.problems.rounds import absorb, rebuild, sketch
from stopwise.problems.verbs import code_size
from stopwise.sampling.verbs import aim, notes, notice, pick
from stopwise.stopping.verbs import tally, update

REFRESH = 1024  # rounds after which sketches are built anew, so that rounding cannot pile up


def begin(setting: Any, live: bool = False) -> State:
    """A run before its first sample; a live one has samples in flight."""
    problem, family, strategy, rule = setting
    arms, size = problem.arms, code_size(problem)
    counts = np.zeros(arms)
    code, answer = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    own = record(family, arms)
    view = seen(family, own)
    return State(
        Data(counts, np.zeros(arms)),
        np.zeros(arms),
        own,
        np.zeros(arms) if live else counts,
        sketch(problem, view),
        Pursuit(code, np.zeros(arms), np.zeros(arms + 1), notes(strategy, problem)),
        tally(rule, problem, view),
        answer,
        np.zeros(2),
    )


@jitable(inline=True)
def choose(setting: Any, state: State, rounds: int, rng: Rng) -> int:
    """The next arm after this many rounds: every arm in turn at first, then what the strategy says."""
    problem, family, strategy, _ = setting
    if rounds < opening(setting, state):
        arm = rounds % state.taken.size
        state.pursuit.totals[arm] += 1.0
        return arm
    view = seen(family, state.record)
    aim(strategy, problem, view, state, rounds, rng)
    return pick(strategy, problem, view, state, rounds, rng)


@jitable(inline=True)
def opening(setting: Any, state: State) -> int:
    """How many rounds go by before anything is weighed: every arm gets its first samples."""
    return first_samples(setting.family) * state.taken.size


@jitable(inline=True)
def observe(setting: Any, state: State, rounds: int, start: int, arm: int, sample: float) -> None:
    """The sample with which this many rounds are complete; after round ``start`` all is weighed."""
    problem, family, strategy, rule = setting
    data, before = state.data, state.data.means[arm]
    data.counts[arm] += 1.0
    state.sums[arm] += sample
    data.means[arm] = state.sums[arm] / data.counts[arm]
    note(family, state.record, arm, sample)
    view = seen(family, state.record)
    update(rule, problem, view, state, arm, sample)
    if rounds == start or (rounds > start and rounds % REFRESH == 0):
        rebuild(problem, view, data, state.sketch)
    elif rounds > start:
        absorb(problem, view, data, state.sketch, arm, before)
    if rounds > start:
        notice(strategy, problem, view, state, arm, sample, before)
