"""SEE, sequential exploration and exploitation (Li & Cheung 2025, Algorithms 1 to 3).

Phase k explores with tolerance d_k = 3^-k: the arm with the largest bound at d_k/K, until an arm's bound
with C times the width is beyond the limit (that sample is set aside and counts when the
arm comes up again), or no bound is, or the budget is spent. Then it exploits: this arm alone, with
samples that count for the proof only, until the stopping rule ends it or its budget is spent. Their
experiments have C = 1.01, alpha_k = 5^k and beta_k = 2^k/4.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.periods import Halves, empty_halves, halves, width
from stopwise.cells.radius import (
    check_proxy,
    proxy,
)
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import State
from stopwise.core.values import Empty
from stopwise.core.verbs import jitable
from stopwise.families.verbs import of_arm
from stopwise.problems.asked import some_arm
from stopwise.sampling.verbs import Direct, Question, bind, notes, notice, pick

C = 1.01
LOG_3, LOG_5 = math.log(3.0), math.log(5.0)
EXPLORE, EXPLOIT = 0.0, 1.0


class SEE(Empty, Direct):
    """Explore until an arm seems to be beyond the limit, then prove it with new samples; and so on.

    Its stopping rule is ``QualifiedArm``. For sub-Gaussian samples.
    """

    __slots__ = ()
    title = "any arm beyond a limit: find one, then prove it"
    reason = (
        "SEE explores until one arm seems to be beyond the limit, then samples it alone to prove it; if "
        "that takes too long it explores again."
    )
    looks_at_delta = True


class _Phases(NamedTuple):
    side: float
    limit: float
    log_inverse: float  # log(1/delta)


class Phases(_Phases, Direct, listed=False):
    """SEE once the question is known."""

    __slots__ = ()
    looks_at_delta = True


@bind.register(SEE)
def _bind(strategy: SEE, question: Question) -> Phases:
    asked = some_arm(strategy, question.problem)
    check_proxy(strategy, question.family)
    return Phases(asked.side, asked.limit, -math.log(question.delta))


class Periods(NamedTuple):
    """The two records; a sample set aside, or nan; widths with what they are of; and where it is."""

    records: Halves
    aside: Floats
    widths: Floats  # rows: width, number of samples, phase
    place: Floats


PERIOD, ARM, TRIED, BEGUN = range(4)  # in ``place``


@notes.register(Phases)
def _notes(strategy: Phases, problem: Any) -> Periods:
    arms = problem.arms
    return Periods(
        empty_halves(arms),
        np.full(arms, math.nan),
        np.zeros((3, arms)),
        np.array([0.0, -1.0, 0, 0]),
    )


@halves.register(Periods)
def _halves(notes: Periods, state: State) -> Halves:
    return notes.records


@notice.register(Phases)
def _notice(
    strategy: Phases,
    problem: Any,
    family: Any,
    state: State,
    arm: int,
    sample: float,
    before: float,
) -> None:
    records, _, _, place = state.pursuit.notes
    _begin(state, arm, sample)
    if place[PERIOD] == EXPLOIT and arm == place[ARM]:
        records.proof[arm] += 1.0
        records.proof_sums[arm] += sample
        if records.proof[arm] >= _budget(strategy, proxy(of_arm(family, arm)), state, EXPLOIT):
            place[PERIOD] = EXPLORE
            records.phase[0] += 1.0
        return
    place[TRIED] += 1.0
    _take_back(state, arm)
    records.tried[arm] += 1.0
    records.tried_sums[arm] += sample
    if place[PERIOD] == EXPLORE:
        _after_exploring(strategy, family, state, arm, sample)


@jitable
def _begin(state: State, arm: int, sample: float) -> None:
    """Every arm's first samples are exploration; this sample, if any, is not one of them."""
    records, _, _, place = state.pursuit.notes
    if place[BEGUN] == 0.0:
        place[BEGUN] = 1.0
        for k in range(records.tried.size):
            records.tried[k], records.tried_sums[k] = state.data.counts[k], state.sums[k]
            place[TRIED] += state.data.counts[k]
        if arm >= 0:
            records.tried[arm] -= 1.0
            records.tried_sums[arm] -= sample
            place[TRIED] -= 1.0


@jitable
def _after_exploring(strategy: Phases, family: Any, state: State, arm: int, sample: float) -> None:
    """Whether the exploration is over: an arm was found, no bound is beyond the limit, or the budget."""
    records, _, _, place = state.pursuit.notes
    if _seems_good(strategy, family, state, arm):
        _set_aside(state, arm, sample)
        return
    best = _largest_bound(strategy, family, state)
    nobody = strategy.side * (_bound(strategy, family, state, best) - strategy.limit) < 0.0
    spread = proxy(of_arm(family, arm))
    if nobody or place[TRIED] >= _budget(strategy, spread, state, EXPLORE):
        records.phase[0] += 1.0


@jitable
def _seems_good(strategy: Phases, family: Any, state: State, arm: int) -> bool:
    records = state.pursuit.notes.records
    mean = records.tried_sums[arm] / records.tried[arm]
    far = C * _width(strategy, family, state, arm, records.tried[arm])
    return strategy.side * (mean - strategy.limit) > far


@jitable
def _set_aside(state: State, arm: int, sample: float) -> None:
    """The arm is exploited from now on, without the sample that spoke for it."""
    records, aside, _, place = state.pursuit.notes
    aside[arm] = sample
    records.tried[arm] -= 1.0
    records.tried_sums[arm] -= sample
    place[PERIOD], place[ARM] = EXPLOIT, arm


@jitable
def _take_back(state: State, arm: int) -> bool:
    """Whether there was a sample of the arm set aside: it counts for the exploration again."""
    records, aside, _, _ = state.pursuit.notes
    if math.isnan(aside[arm]):
        return False
    records.tried[arm] += 1.0
    records.tried_sums[arm] += aside[arm]
    aside[arm] = math.nan
    return True


@jitable
def _width(strategy: Phases, family: Any, state: State, arm: int, count: float) -> float:
    """U(N, d_k/K), kept as long as neither N nor k changes."""
    records, _, kept, _ = state.pursuit.notes
    if kept[1, arm] != count or kept[2, arm] != records.phase[0]:
        kept[1, arm], kept[2, arm] = count, records.phase[0]
        inverse = math.log(1.0 * records.tried.size) + records.phase[0] * LOG_3
        kept[0, arm] = width(proxy(of_arm(family, arm)), max(count, 1.0), inverse)
    return kept[0, arm]


@jitable
def _bound(strategy: Phases, family: Any, state: State, arm: int) -> float:
    """Samples in flight narrow the bound."""
    records = state.pursuit.notes.records
    count = records.tried[arm] + state.taken[arm] - state.data.counts[arm]
    mean = records.tried_sums[arm] / max(records.tried[arm], 1.0)
    return mean + strategy.side * _width(strategy, family, state, arm, count)


@jitable
def _largest_bound(strategy: Phases, family: Any, state: State) -> int:
    best, found = -math.inf, 0
    for k in range(state.taken.size):
        value = strategy.side * _bound(strategy, family, state, k)
        if value > best:
            best, found = value, k
    return found


@jitable
def _budget(strategy: Phases, spread: float, state: State, period: float) -> float:
    """T_k of either period: samples of the exploration so far, or of the arm's proof."""
    arms, phase = 1.0 * state.taken.size, state.pursuit.notes.records.phase[0]
    beta, inside = 0.25 * 2.0**phase, math.log(4.0 * arms)
    if period == EXPLOIT:
        return 1000.0 * spread * beta * (inside + phase * LOG_5 + strategy.log_inverse)
    return 1000.0 * spread * (C + 1.0) ** 2 * arms * beta * (inside + phase * LOG_3)


@pick.register(Phases)
def _pick(strategy: Phases, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> int:
    _, aside, _, place = state.pursuit.notes
    _begin(state, -1, 0.0)
    while place[PERIOD] == EXPLORE:
        arm = _largest_bound(strategy, family, state)
        sample = aside[arm]
        if not _take_back(state, arm):
            return arm
        if _seems_good(strategy, family, state, arm):
            _set_aside(state, arm, sample)
    return int(place[ARM])
