"""SEE, sequential exploration and exploitation (Li & Cheung 2025, Algorithms 1 to 3).

Phase k explores with tolerance d_k = 3^-k: the arm with the largest bound at d_k/K, until an arm's bound
with C times the width is beyond the limit (that sample is set aside and counts when the
arm comes up again), or no bound is, or the budget is spent. Then it exploits: this arm alone, with
samples that count for the proof only, until the stopping rule ends it or its budget is spent. Their
experiments have C = 1.01, alpha_k = 5^k and beta_k = 2^k/4.

So a run has two records: samples by which an arm was chosen, and samples that prove it. Which record a
sample enters is decided before its value is seen, so each arm's samples in each record are independent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.baselines.radius import check_proxy, proxy
from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import State
from stopwise.core.functions import jitable, variant, variants
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Problem
from stopwise.problems.question_kind import Limit, some_arm
from stopwise.sampling.strategy import Direct
from stopwise.stopping.rule import StoppingRule

C = 1.01
LOG_3, LOG_5 = math.log(3.0), math.log(5.0)
EXPLORE, EXPLOIT = 0.0, 1.0


class SEE(Direct):
    """Explore until an arm seems to be beyond the limit, then prove it with new samples; and so on.

    Its stopping rule is ``QualifiedArm``. For sub-Gaussian samples.
    """

    title = "any arm beyond a limit: find one, then prove it"
    reason = (
        "SEE explores until one arm seems to be beyond the limit, then samples it alone to prove it; if "
        "that takes too long it explores again."
    )
    looks_at_delta = True

    def init(self, question: Question) -> Periods:
        asked, arms = some_arm(self, question.problem), question.problem.arms
        check_proxy(self, question.family)
        tried, tried_sums, proof, proof_sums = np.zeros((4, arms))
        return Periods(
            asked.side,
            asked.limit,
            -math.log(question.delta),
            Halves(tried, tried_sums, proof, proof_sums, np.ones(1)),
            np.full(arms, math.nan),
            np.zeros((3, arms)),
            np.array([EXPLORE, -1.0, 0.0, 0.0]),
        )

    def update(
        self, instance: Instance, state: State, arm: int, sample: float, before: float
    ) -> None:
        own: Periods = state.strategy_state
        records, place = own.records, own.place
        _begin(own, state, arm, sample)
        if place[PERIOD] == EXPLOIT and arm == place[ARM]:
            records.proof[arm] += 1.0
            records.proof_sums[arm] += sample
            if records.proof[arm] >= _budget(own, proxy(instance.family.of_arm(arm)), EXPLOIT):
                place[PERIOD] = EXPLORE
                records.phase[0] += 1.0
            return
        place[TRIED] += 1.0
        _take_back(own, arm)
        records.tried[arm] += 1.0
        records.tried_sums[arm] += sample
        if place[PERIOD] == EXPLORE:
            _after_exploring(own, instance.family, state, arm, sample)

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        own: Periods = state.strategy_state
        _begin(own, state, -1, 0.0)
        while own.place[PERIOD] == EXPLORE:
            arm = _largest_bound(own, instance.family, state)
            sample = own.aside[arm]
            if not _take_back(own, arm):
                return arm
            if _seems_good(own, instance.family, arm):
                _set_aside(own, arm, sample)
        return int(own.place[ARM])


class Periods(NamedTuple):
    """The question and log(1/delta), the two records, and where it is."""

    side: float
    limit: float
    log_inverse: float
    records: Halves
    aside: Floats  # of each arm a sample set aside, or nan
    widths: Floats  # rows: width, number of samples, phase
    place: Floats


PERIOD, ARM, TRIED, BEGUN = range(4)  # in ``place``


class Halves(NamedTuple):
    """Counts and sums of the exploration and of the exploitation; the number of the phase, if any."""

    tried: Floats
    tried_sums: Floats
    proof: Floats
    proof_sums: Floats
    phase: Floats


@variants
def halves(strategy_state: Floats | tuple[object, ...], state: State) -> Halves:
    """The two records of a run; by default all samples are in both."""
    data = state.data
    return Halves(data.counts, state.sums, data.counts, state.sums, data.counts[:0])


variant(halves, Periods)(lambda own, state: own.records)


@jitable
def doublings(count: float) -> float:
    """max(ceil(log2 N), 1), exactly."""
    half, power = math.frexp(count)
    return max(power - 1.0 if half == 0.5 else 1.0 * power, 1.0)


@jitable
def width(spread: float, count: float, log_inverse: float) -> float:
    """U(N, d) = sqrt(2 s^2 2^c log(2 c^2/d))/N with c = max(ceil(log2 N), 1), given log(1/d)."""
    c = doublings(count)
    return math.sqrt(2.0 * spread * 2.0**c * (math.log(2.0 * c * c) + log_inverse)) / count


@jitable
def sureness(spread: float, count: float, gap: float) -> float:
    """The log(1/d) at which U(N, d) is this gap: what the samples have against the limit."""
    c = doublings(count)
    return count * count * gap * gap / (2.0 * spread * 2.0**c) - math.log(2.0 * c * c)


@jitable
def _begin(own: Periods, state: State, arm: int, sample: float) -> None:
    """Every arm's first samples are exploration; this sample, if any, is not one of them."""
    records, place = own.records, own.place
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
def _after_exploring(own: Periods, family: Family, state: State, arm: int, sample: float) -> None:
    """Whether the exploration is over: an arm was found, no bound is beyond the limit, or the budget."""
    if _seems_good(own, family, arm):
        _set_aside(own, arm, sample)
        return
    best = _largest_bound(own, family, state)
    nobody = own.side * (_bound(own, family, state, best) - own.limit) < 0.0
    if nobody or own.place[TRIED] >= _budget(own, proxy(family.of_arm(arm)), EXPLORE):
        own.records.phase[0] += 1.0


@jitable
def _seems_good(own: Periods, family: Family, arm: int) -> bool:
    records = own.records
    mean = records.tried_sums[arm] / records.tried[arm]
    far = C * _width(own, family, arm, records.tried[arm])
    return bool(own.side * (mean - own.limit) > far)


@jitable
def _set_aside(own: Periods, arm: int, sample: float) -> None:
    """The arm is exploited from now on, without the sample that spoke for it."""
    own.aside[arm] = sample
    own.records.tried[arm] -= 1.0
    own.records.tried_sums[arm] -= sample
    own.place[PERIOD], own.place[ARM] = EXPLOIT, arm


@jitable
def _take_back(own: Periods, arm: int) -> bool:
    """Whether there was a sample of the arm set aside: it counts for the exploration again."""
    records, aside = own.records, own.aside
    if math.isnan(aside[arm]):
        return False
    records.tried[arm] += 1.0
    records.tried_sums[arm] += aside[arm]
    aside[arm] = math.nan
    return True


@jitable
def _width(own: Periods, family: Family, arm: int, count: float) -> float:
    """U(N, d_k/K), kept as long as neither N nor k changes."""
    records, kept = own.records, own.widths
    if kept[1, arm] != count or kept[2, arm] != records.phase[0]:
        kept[1, arm], kept[2, arm] = count, records.phase[0]
        inverse = math.log(1.0 * records.tried.size) + records.phase[0] * LOG_3
        kept[0, arm] = width(proxy(family.of_arm(arm)), max(count, 1.0), inverse)
    return float(kept[0, arm])


@jitable
def _bound(own: Periods, family: Family, state: State, arm: int) -> float:
    """Samples in flight narrow the bound."""
    records = own.records
    count = records.tried[arm] + state.taken[arm] - state.data.counts[arm]
    mean = records.tried_sums[arm] / max(records.tried[arm], 1.0)
    return float(mean + own.side * _width(own, family, arm, count))


@jitable
def _largest_bound(own: Periods, family: Family, state: State) -> int:
    best, found = -math.inf, 0
    for k in range(state.taken.size):
        value = own.side * _bound(own, family, state, k)
        if value > best:
            best, found = value, k
    return found


@jitable
def _budget(own: Periods, spread: float, period: float) -> float:
    """T_k of either period: samples of the exploration so far, or of the arm's proof."""
    arms, phase = 1.0 * own.aside.size, own.records.phase[0]
    beta, inside = 0.25 * 2.0**phase, math.log(4.0 * arms)
    if period == EXPLOIT:
        return 1000.0 * spread * beta * (inside + phase * LOG_5 + own.log_inverse)
    return 1000.0 * spread * (C + 1.0) ** 2 * arms * beta * (inside + phase * LOG_3)


class QualifiedArm(StoppingRule):
    """Stop when an arm is proven by samples of its own, or none seems to be beyond the limit.

    An arm is proven by the samples of its exploitation alone, in phase k at the tolerance delta/(K 5^k);
    that there is none by those of the exploration, at the first 3^-k below delta/3. Both widths hold at
    all times (docs/bounds.md), so the errors sum up to less than delta.
    """

    title = "any arm beyond a limit, proven by samples apart: SEE's"

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        some_arm(self, problem)
        check_proxy(self, family)
        return math.log(problem.arms / delta)

    def proven(self, problem: Problem, family: Family) -> bool:
        return True

    def init(self, question: Question) -> Limit:
        return some_arm(self, question.problem)

    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        asked: Limit = state.rule_state
        side, limit = asked.side, asked.limit
        records = halves(state.strategy_state, state)
        found, none, best = -math.inf, math.inf, 0
        for k in range(records.proof.size):
            spread = proxy(instance.family.of_arm(k))
            if records.proof[k] > 0.0:
                gap = side * (records.proof_sums[k] / records.proof[k] - limit)
                if gap > 0.0:
                    value = sureness(spread, records.proof[k], gap)
                    if value > found:
                        found, best = value, k
            if none > -math.inf:
                gap = limit - records.tried_sums[k] / max(records.tried[k], 1.0)
                ahead = side * gap <= 0.0 or records.tried[k] == 0.0
                none = -math.inf if ahead else min(none, sureness(spread, records.tried[k], gap))
        phased = records.phase.size > 0
        found -= (records.phase[0] if phased else 1.0) * LOG_5
        arms = math.log(1.0 * records.proof.size)
        steps = math.floor((none - arms) / LOG_3) if none > arms else 0.0
        if phased:  # the last phase that is over
            steps = min(steps, records.phase[0] - 1.0)
        if steps >= 1.0 and (steps - 1.0) * LOG_3 + arms >= found:
            found, best = (steps - 1.0) * LOG_3 + arms, records.proof.size
        state.report.answer[0] = best
        return state.report.write(max(found, -1e9), 0.0)
