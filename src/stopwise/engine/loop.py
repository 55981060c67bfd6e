"""One step, and the one loop of steps: a run from its first sample to its last stopping time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints, Rng, assign, copied
from stopwise.core.data import Data, Plan, Report, State
from stopwise.core.errors import MissingMethod
from stopwise.core.functions import inline, jitable
from stopwise.core.values import Value
from stopwise.engine.design import Design, Setting
from stopwise.engine.ending import Ending
from stopwise.families.family import Family
from stopwise.problems.instance import Instance

FINE = int(Ending.FINE)
BAD_SAMPLE, BAD_WEIGHTS = int(Ending.BAD_SAMPLE), int(Ending.BAD_WEIGHTS)
BAD_ARM, BAD_EVIDENCE = int(Ending.BAD_ARM), int(Ending.BAD_EVIDENCE)
CHECK_EVERY = 64  # rounds between two checks of the weights
REFRESH = 1024  # rounds after which caches are built anew, so that rounding cannot pile up


class Source(Value):
    """Where a run's samples come from."""

    @inline
    def next_sample(self, family: Family, arm: int, rng: Rng) -> float:
        """The next sample of an arm."""
        raise MissingMethod("next_sample", self)


class AtMeans(Source):
    """Samples of the family, at the true means."""

    means: Floats

    def next_sample(self, family: Family, arm: int, rng: Rng) -> float:
        return family.of_arm(arm).draw(self.means[arm], rng)


class Clock(NamedTuple):
    """How many samples have come, and with which one every arm had its first samples."""

    rounds: int
    start: int


class Outcome(NamedTuple):
    """Row d is for the d-th of rising levels; time 0: undecided."""

    times: Ints
    codes: Ints
    counts: Floats
    progress: Ints  # rounds done, and levels crossed


class Trace(NamedTuple):
    """Round by round, as far as there is room."""

    arms: Ints
    samples: Floats
    pursued: Ints  # codes
    leading: Ints  # codes of the answer with the most evidence
    evidence: Floats
    allowance: Floats


def begin(design: Design, live: bool = False) -> State:
    """A run before its first sample; a live one has samples in flight."""
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
    """The next arm after so many rounds: every arm in turn at first, then what the strategy says."""
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
    """Enter the sample that completes round ``rounds``; from ``start`` on the problem has a cache."""
    problem, estimated, data, cache = instance
    (rounds, start), before = clock, data.means[arm]
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
    """Go on until every level is crossed or ``stop`` rounds are done; returns a ``Ending``.

    ``source`` has the samples; ``rng`` draws those of a family.
    """
    instance, arms = instance_of(setting, state), state.taken.size
    rounds, done = outcome.progress[0], outcome.progress[1]
    start, ending = setting.family.first_samples() * arms, FINE
    while rounds < stop and done < levels.size:
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
            enough = -math.inf if traced else levels[done]
            margin = setting.stopping.margin(instance, state, rounds, enough)
            if math.isnan(margin):
                ending = BAD_EVIDENCE
                break
            while done < levels.size and margin >= levels[done]:
                outcome.times[done] = rounds
                assign(outcome.codes[done], state.report.answer)
                assign(outcome.counts[done], state.data.counts)
                done += 1
        if traced:
            row = rounds - 1
            trace.arms[row], trace.samples[row] = arm, sample
            assign(trace.pursued[row], state.plan.pursued)
            assign(trace.leading[row], state.report.answer)
            trace.evidence[row] = state.report.evidence[0]
            trace.allowance[row] = state.report.allowance[0]
    outcome.progress[0], outcome.progress[1] = rounds, done
    return ending
