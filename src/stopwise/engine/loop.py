"""Exactly one loop: a run from its first sample to its last stopping time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stopwise.core.arrays import Floats, Ints, Rng, assign
from stopwise.core.data import ALLOWANCE, EVIDENCE, State
from stopwise.core.verbs import jitable
from stopwise.engine.source import next_sample
from stopwise.engine.step import choose, observe, opening
from stopwise.engine.verdict import Verdict
from stopwise.families.verbs import seen
from stopwise.sampling.verbs import sound
from stopwise.stopping.verbs import weigh

FINE = int(Verdict.FINE)
BAD_SAMPLE, BAD_WEIGHTS = int(Verdict.BAD_SAMPLE), int(Verdict.BAD_WEIGHTS)
BAD_ARM, BAD_EVIDENCE = int(Verdict.BAD_ARM), int(Verdict.BAD_EVIDENCE)
LOOK = 64  # rounds between looks at the weights


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


@jitable
def run_rounds(
    setting: Any,
    source: Any,
    levels: Floats,
    stop: int,
    rng: Rng,
    dice: Rng,
    state: State,
    outcome: Outcome,
    trace: Trace,
) -> int:
    """Go on until every level is crossed or ``stop`` rounds are done; returns a ``Verdict``.

    ``source`` has the samples (``rng`` draws those of a family), ``dice`` is for the strategy.
    """
    problem, family, strategy, rule = setting
    rounds, done, start = outcome.progress[0], outcome.progress[1], opening(setting, state)
    verdict = FINE
    while rounds < stop and done < levels.size:
        arm = choose(setting, state, rounds, dice)
        if not 0 <= arm < state.taken.size:
            verdict = BAD_ARM
            break
        look = rounds == start or (rounds > start and rounds % LOOK == 0)
        if look and not sound(strategy, state):
            verdict = BAD_WEIGHTS
            break
        sample = next_sample(source, family, arm, rng)
        if not math.isfinite(sample):
            verdict = BAD_SAMPLE
            break
        rounds += 1
        observe(setting, state, rounds, start, arm, sample)
        traced = rounds <= trace.arms.size
        if rounds >= start:
            least = -math.inf if traced else levels[done]
            margin = weigh(rule, problem, seen(family, state.record), state, rounds, least)
            if math.isnan(margin):
                verdict = BAD_EVIDENCE
                break
            while done < levels.size and margin >= levels[done]:
                _stop(state, outcome, rounds, done)
                done += 1
        if traced:
            _record(state, trace, rounds - 1, arm, sample)
    outcome.progress[0], outcome.progress[1] = rounds, done
    return verdict


@jitable
def _stop(state: State, outcome: Outcome, rounds: int, place: int) -> None:
    outcome.times[place] = rounds
    assign(outcome.codes[place], state.answer)
    assign(outcome.counts[place], state.data.counts)


@jitable
def _record(state: State, trace: Trace, place: int, arm: int, sample: float) -> None:
    trace.arms[place] = arm
    trace.samples[place] = sample
    assign(trace.pursued[place], state.pursuit.code)
    assign(trace.leading[place], state.answer)
    trace.evidence[place] = state.scale[EVIDENCE]
    trace.allowance[place] = state.scale[ALLOWANCE]
