"""Exactly one loop: a run from its first sample to its last stopping time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import assign, total
from stopwise.checks import Floats
from stopwise.engine.step import State, choose, growth, observe, weigh
from stopwise.families.base import draw
from stopwise.problems.base import Code
from stopwise.stopping.thresholds import common_growth
from stopwise.verbs import jitable


class Outcome(NamedTuple):
    """Row d is for the d-th of rising constants; time 0: undecided."""

    times: Code
    codes: Code
    counts: Floats
    progress: Code  # rounds done, and constants crossed


class Trace(NamedTuple):
    """Round by round, as far as there is room."""

    arms: Code
    samples: Floats
    pursued: Code
    codes: Code  # the answer with the most evidence
    evidence: Floats
    growths: Floats


FINE, BAD_SAMPLE, BAD_WEIGHTS, BAD_EVIDENCE = range(4)
LOOK = 64  # rounds between looks at the weights


@jitable
def play(
    problem: Any,
    family: Any,
    strategy: Any,
    threshold: Any,
    truth: Floats,
    rank: int,
    constants: Floats,
    stop: int,
    rng: np.random.Generator,
    state: State,
    outcome: Outcome,
    trace: Trace,
) -> int:
    """Go on until every constant is crossed or ``stop`` rounds are done; whether all was fine."""
    rounds, done = outcome.progress[0], outcome.progress[1]
    known = 0.0 if rounds == 0 else common_growth(threshold, 1.0 * rounds)
    verdict = FINE
    while rounds < stop and done < constants.size:
        arm = choose(strategy, problem, family, state, rounds)
        look = rounds == truth.size or (rounds > truth.size and rounds % LOOK == 0)
        if look and not _sane(state.memory.weights, state.totals):
            verdict = BAD_WEIGHTS
            break
        sample = draw(family, truth[arm], rng)
        if not math.isfinite(sample):
            verdict = BAD_SAMPLE
            break
        rounds += 1
        observe(strategy, problem, family, threshold, state, rounds, truth.size, arm, sample)
        evidence, enough = (
            0.0,
            constants[done] + known,
        )  # growth never falls: with less, no stop yet
        if rounds >= truth.size:
            exactly = rounds <= trace.arms.size
            evidence = weigh(problem, family, state, 0.0 if exactly else enough)
            if not evidence >= 0.0:
                verdict = BAD_EVIDENCE
                break
        if evidence >= enough and rounds >= truth.size:
            known = common_growth(threshold, 1.0 * rounds)
            margin = evidence - growth(threshold, state, rank, rounds)
            while done < constants.size and margin >= constants[done]:
                _stop(state, outcome, rounds, done)
                done += 1
        if rounds <= trace.arms.size:
            grown = growth(threshold, state, rank, rounds)
            _record(state, trace, rounds - 1, arm, sample, evidence, grown)
    outcome.progress[0], outcome.progress[1] = rounds, done
    return verdict


@jitable
def _sane(weights: Floats, totals: Floats) -> bool:
    """Numbers of at least 0 that sum to 1; and a tracker that has never met others."""
    if not math.isfinite(total(totals)):
        return False
    whole = 0.0
    for k in range(weights.size):
        if not weights[k] >= 0.0:
            return False
        whole += weights[k]
    return abs(whole - 1.0) <= 1e-6


@jitable
def _stop(state: State, outcome: Outcome, rounds: int, place: int) -> None:
    outcome.times[place] = rounds
    assign(outcome.codes[place], state.answer)
    assign(outcome.counts[place], state.memory.counts)


@jitable
def _record(
    state: State,
    trace: Trace,
    place: int,
    arm: int,
    sample: float,
    evidence: float,
    grown: float,
) -> None:
    trace.arms[place] = arm
    trace.samples[place] = sample
    assign(trace.pursued[place], state.memory.code)
    assign(trace.codes[place], state.answer)
    trace.evidence[place] = evidence
    trace.growths[place] = grown
