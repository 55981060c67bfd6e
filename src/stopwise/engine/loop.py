"""One step, and the one loop of steps: a run from its first sample to its last stopping time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng, assign, copied
from stopwise.core.data import Data, Plan, Report, State
from stopwise.core.functions import jitable
from stopwise.engine.design import Design, Setting
from stopwise.engine.source import Source
from stopwise.problems.instance import Instance

# how ``run_rounds`` ended: well, or with a number that makes no sense (worker.py says whose)
FINE, BAD_SAMPLE, BAD_WEIGHTS, BAD_ARM, BAD_EVIDENCE = range(5)
CHECK_EVERY = 64  # rounds between two checks of the weights
REFRESH = 1024  # rounds after which caches are built anew, so that rounding cannot pile up


class Clock(NamedTuple):
    """How many samples have come, and how many it took until every arm had its first samples."""

    rounds: int
    start: int


class Outcome(NamedTuple):
    """When a run crossed each level, with which answer and counts; ``run_rounds`` fills it.

    Row d is for the d-th of rising levels; time 0: undecided.
    """

    times: Ints
    codes: Ints  # of the answers
    counts: Floats
    progress: Ints  # rounds done, and levels crossed


class Trace(NamedTuple):
    """What happened in each of the first rounds, as many as there are rows; ``run_rounds`` fills it."""

    arms: Ints
    samples: Floats
    pursued: Ints  # codes
    leading: Ints  # codes of the answer with the most evidence
    evidence: Floats
    allowance: Floats


def begin(design: Design, live: bool = False) -> State:
    """The state of a run before its first sample; in a live run samples may be in flight."""
    problem, family = design.problem, design.family
    arms, size = problem.arms, problem.code_size()
    counts, stats = np.zeros(arms), family.init_stats(arms)
    pursued, answer = np.zeros((2, size), dtype=np.int64)
    return State(
        Data(counts, np.zeros(arms)),
        np.zeros(arms),
        stats,
        np.zeros(arms) if live else counts,
        problem.init_cache(family.estimated(stats)),
        Plan(pursued, np.zeros(arms), np.zeros(arms + 1)),
        copied(design.strategy_state),
        copied(design.rule_state),
        Report(answer, np.zeros(1), np.zeros(1)),
    )


@jitable(inline=True)
def instance_of(setting: Setting, state: State) -> Instance:
    """The problem with the data of a run, and the family as they show it."""
    estimated = setting.family.estimated(state.stats)
    return Instance(setting.problem, estimated, state.data, state.cache)


@jitable(inline=True)
def choose(setting: Setting, instance: Instance, state: State, clock: Clock, rng: Rng) -> int:
    """The next arm: every arm in turn until all have their first samples, then the strategy's choice."""
    rounds, start = clock
    if rounds < start:
        arm = rounds % state.taken.size
        state.plan.totals[arm] += 1.0
        return arm
    setting.strategy.target(instance, state, rounds, rng)
    return setting.strategy.next_arm(instance, state, rounds, rng)


@jitable(inline=True)
def observe(
    setting: Setting, instance: Instance, state: State, clock: Clock, arm: int, sample: float
) -> None:
    """Add a sample to the data and tell family, rule, problem and strategy; the clock counts this sample.

    The problem's cache exists from the round on in which every arm has its first samples.
    """
    problem, estimated, data, cache = instance
    rounds, start = clock
    before = data.means[arm]
    data.counts[arm] += 1.0
    state.sums[arm] += sample
    data.means[arm] = state.sums[arm] / data.counts[arm]
    setting.family.update_stats(state.stats, arm, sample)
    setting.stopping.update(instance, state, arm, sample)
    if rounds == start or (rounds > start and rounds % REFRESH == 0):
        problem.rebuild_cache(estimated, data, cache)
    elif rounds > start:
        problem.update_cache(estimated, data, cache, arm, before)
    if rounds > start:
        setting.strategy.update(instance, state, arm, sample, before)


@jitable
def run_rounds(
    setting: Setting,
    source: Source,
    levels: Floats,
    stop: int,
    rng: Rng,
    strategy_rng: Rng,
    state: State,
    outcome: Outcome,
    trace: Trace,
) -> int:
    """Go on with a run until every level is crossed or ``stop`` rounds are done; returns how it ended.

    ``levels`` rise. ``rng`` draws the samples and ``strategy_rng`` is for strategies that use randomness.
    ``state``, ``outcome`` and ``trace`` are written; the next call goes on from where this one ended.
    """
    instance, arms = instance_of(setting, state), state.taken.size
    rounds, crossed = outcome.progress[0], outcome.progress[1]
    start, ending = setting.family.first_samples() * arms, FINE
    while rounds < stop and crossed < levels.size:
        arm = choose(setting, instance, state, Clock(rounds, start), strategy_rng)
        if not 0 <= arm < arms:
            ending = BAD_ARM
            break
        check = rounds == start or (rounds > start and rounds % CHECK_EVERY == 0)
        if check and not setting.strategy.weights_valid(state.plan):
            ending = BAD_WEIGHTS
            break
        sample = source.next_sample(setting.family, arm, rng)
        if not math.isfinite(sample):
            ending = BAD_SAMPLE
            break
        rounds += 1
        observe(setting, instance, state, Clock(rounds, start), arm, sample)
        traced = rounds <= trace.arms.size
        if rounds >= start:
            # below ``enough`` a rule may return any smaller number, which is quicker; not for a trace
            enough = -math.inf if traced else levels[crossed]
            margin = setting.stopping.margin(instance, state, rounds, enough)
            if math.isnan(margin):
                ending = BAD_EVIDENCE
                break
            while crossed < levels.size and margin >= levels[crossed]:
                outcome.times[crossed] = rounds
                assign(outcome.codes[crossed], state.report.answer)
                assign(outcome.counts[crossed], state.data.counts)
                crossed += 1
        if traced:
            row = rounds - 1
            trace.arms[row], trace.samples[row] = arm, sample
            assign(trace.pursued[row], state.plan.pursued)
            assign(trace.leading[row], state.report.answer)
            trace.evidence[row] = state.report.evidence[0]
            trace.allowance[row] = state.report.allowance[0]
    outcome.progress[0], outcome.progress[1] = rounds, crossed
    return ending
