"""Sticky Track-and-Stop (Algorithm 1): pursue the first reachable answer, and stick with it.

The region is C_t = {mu' : D(N, mu-hat, mu') <= log f(t)}; the reachable answers I_t are those that
are an oracle answer somewhere in it. A round does not solve for I_t while a certificate holds: a
point of C_t at which the pursued answer is an oracle answer, and a lower bound, the barrier, on what
every earlier answer costs to reach. After a sample x of an arm whose mean went from m to m',

    N' d(m', mu') = N d(m, mu') + d(x, mu') - [N d(m, m') + d(x, m')],

so the point's cost changes in one arm's term, and the barrier falls by at most the bracket, which
does not depend on mu', less the least d(x, mu') over the mu' that alone do not cost more than the
barrier (``least_surprise``). As long as point <= log f(t) < barrier, the pursued answer is the first of
I_t: the certificate changes no result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import total
from stopwise.checks import Floats
from stopwise.errors import BadArgument
from stopwise.families import Gaussian
from stopwise.oracles.rounds import answer_places, answer_weights, first_reachable
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.sampling.strategies import Memory, Question, aim, notes, notice, settle, tracker
from stopwise.shapes.bound import weighted_divergence
from stopwise.values import value
from stopwise.verbs import jitable, verb

STEPS = 8  # log f(t) is tabulated at t = 2^(j/8) and rounded up to the next of these t


class _StickyTrackAndStop(NamedTuple):
    tracker: Any
    order: tuple[Answer, ...] | None
    region: Callable[[float], float] | None


@value
class StickyTrackAndStop(_StickyTrackAndStop):
    """Algorithm 1: among answers that may still be oracle answers, pursue the first in the order.

    ``order`` lists the problem's answers, first choice first (default: the problem's order).
    ``region`` is a function t -> log f(t) that does not fall; by default beta(t, t^-5) of the run's
    threshold, for all arms together. Either is rounded up to the next t of the form 2^(j/8).
    """

    __slots__ = ()

    def __new__(
        cls,
        tracking: Any = "C",
        order: Sequence[Answer] | None = None,
        region: Callable[[float], float] | None = None,
    ) -> StickyTrackAndStop:
        if region is not None and not callable(region):
            raise BadArgument("region", region, "a function t -> log f(t), or None")
        listed = None if order is None else tuple(order)
        return super().__new__(cls, tracker(tracking), listed, region)

    def __repr__(self) -> str:
        return f"StickyTrackAndStop({self.tracker!r}, order={self.order!r}, region={self.region!r})"


class Sticky(NamedTuple):
    """The strategy once the question is known: the order as codes, and a table of log f."""

    tracker: Any
    order: Code
    levels: Floats


@settle.register(StickyTrackAndStop)
def _settle(strategy: StickyTrackAndStop, question: Question) -> Sticky:
    log_f = strategy.region or question.log_f
    last = math.ceil(STEPS * math.log2(max(question.max_rounds, 2))) + 1
    levels = np.array([float(log_f(2.0 ** (j / STEPS))) for j in range(last + 1)])
    if not np.all(np.isfinite(levels)) or np.any(np.diff(levels) < 0.0):
        raise BadArgument("region", strategy.region, "a finite function of t that does not fall")
    return Sticky(strategy.tracker, _places(strategy.order, question.problem), levels)


def _places(order: tuple[Answer, ...] | None, problem: Any) -> Code:
    known = answer_places(problem)
    if order is None:
        return known
    if known.size == 0:
        raise BadArgument(
            "order", order, f"None for {problem!r}, whose many answers are not listed one by one"
        )
    places = [int(base.encode(problem, answer)[0]) for answer in order]
    if sorted(places) != known.tolist():
        listed = ", ".join(repr(answer) for answer in base.answers(problem))
        raise BadArgument("order", order, f"each answer of {problem!r} once: {listed}")
    return np.array(places, dtype=np.int64)


class Certificate(NamedTuple):
    """Why the pursued answer is the first of I_t."""

    point: Floats
    costs: Floats  # N_k d(mu-hat_k, point_k)
    trial: Floats  # scratch
    state: Floats  # indexed by the names below


TOTAL, BARRIER, LEVEL, PLACE, UNTIL = range(5)


@notes.register(Sticky)
def _notes(strategy: Sticky, arms: int) -> Certificate:
    state = np.zeros(5)
    state[TOTAL] = math.nan  # nothing is certified yet
    return Certificate(np.zeros(arms), np.zeros(arms), np.zeros(arms), state)


@notice.register(Sticky)
def _notice(
    strategy: Sticky,
    problem: Any,
    family: Any,
    memory: Memory,
    arm: int,
    sample: float,
    before: float,
) -> None:
    point, costs, _, state = memory.notes
    count, mean = memory.counts[arm], memory.means[arm]
    if state[TOTAL] < math.inf:  # else nothing is certified
        price = weighted_divergence(family, count, mean, point[arm])
        state[TOTAL] += price - costs[arm]
        costs[arm] = price
    if state[BARRIER] < math.inf:
        back = least_surprise(family, sample, mean, state[BARRIER] / count)
        state[BARRIER] -= weighted_divergence(family, count - 1.0, before, mean)
        state[BARRIER] -= weighted_divergence(family, 1.0, sample, mean) - back


@verb(inline=True)
def least_surprise(family: Any, sample: float, mean: float, level: float) -> float:
    """A lower bound on d(x, mu') over the mu' with d(m, mu') <= level."""
    return 0.0


@least_surprise.register(Gaussian)
def _gaussian_surprise(family: Gaussian, sample: float, mean: float, level: float) -> float:
    beyond = abs(sample - mean) - math.sqrt(2.0 * family.variance * max(level, 0.0))
    return 0.5 * beyond * beyond / family.variance if beyond > 0.0 else 0.0


@aim.register(Sticky)
def _aim(strategy: Sticky, problem: Any, family: Any, memory: Memory, rounds: int) -> None:
    state = memory.notes.state
    while rounds > state[UNTIL]:
        state[PLACE] += 1.0
        state[UNTIL] = 2.0 ** (state[PLACE] / STEPS)
        state[LEVEL] = strategy.levels[int(state[PLACE])]
    # growths are not negative: where the smaller region will do they need not be summed
    if not (state[TOTAL] <= state[LEVEL] and state[BARRIER] == math.inf):
        level = state[LEVEL] + total(memory.growths)
        if not state[TOTAL] <= level < state[BARRIER]:
            _certify(strategy, problem, family, memory, level)
    answer_weights(problem, family, memory.sketch, memory.means, memory.code, memory.weights)


@jitable
def _certify(strategy: Sticky, problem: Any, family: Any, memory: Memory, level: float) -> None:
    """Solve for the first of I_t, and keep why it is the first."""
    point, costs, trial, state = memory.notes
    counts, means, held = memory.counts, memory.means, state[TOTAL] <= level
    state[BARRIER] = first_reachable(
        problem,
        family,
        memory.sketch,
        counts,
        means,
        level,
        strategy.order,
        held,
        memory.code,
        point,
        trial,
    )
    state[TOTAL] = 0.0
    for k in range(means.size):
        costs[k] = weighted_divergence(family, counts[k], means[k], point[k])
        state[TOTAL] += costs[k]
