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

For some questions only bounds are known on what can be reached, and they let answers count for ever
that are merely correct. There I_t are the *close* answers, whose value at the estimate is at least
1 - 1/log t of the largest: docs/strategies.md proves that this is as good. They are solved for whenever
the number of rounds has grown by 2 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost
from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.core.checks import choice, listed, real
from stopwise.core.data import State
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.options import Option
from stopwise.core.values import Strategy
from stopwise.core.verbs import jitable, verb
from stopwise.families.surprise import absorbed, least_surprise
from stopwise.families.verbs import additive, of_arm
from stopwise.problems.rounds import (
    BY_VALUE,
    Search,
    answer_weights,
    first_reachable,
    listed_answers,
    nothing_known,
)
from stopwise.problems.verbs import Answer, answers, encode
from stopwise.sampling.tracking import TRACKING, tracker
from stopwise.sampling.verbs import Question, aim, bind, notes, notice

STEPS = 8  # log f(t) is tabulated at t = 2^(j/8) and rounded up to the next of these t
CLOSE = ("bounded", "always", "never")
SELDOM = 1.02  # by what factor the rounds grow until close answers are solved for again


class _StickyTrackAndStop(NamedTuple):
    tracker: Any
    order: tuple[Answer, ...] | None
    region: Callable[[float], float] | None
    close: str


class StickyTrackAndStop(_StickyTrackAndStop, Strategy):
    """Algorithm 1: among answers that may still be oracle answers, pursue the first in the order.

    ``order`` lists the problem's answers, first choice first (default: the problem's order).
    ``region`` is a function t -> log f(t) that does not fall; by default beta(t, t^-5) of the run's
    threshold, for all arms together. Either is rounded up to the next t of the form 2^(j/8).
    ``close`` says where the close answers, nearly as easy to prove as the easiest, take the place of the
    reachable ones: "bounded", where only bounds are known on what can be reached; "always", for every
    question whose answers are listed one by one; "never", as up to 0.3.0.
    """

    __slots__ = ()
    title = "for questions with several correct answers"
    reason = (
        "Sticky Track-and-Stop keeps to the first answer, in a fixed order, that may still be the one "
        "that is easiest to prove. It changes only when the data rule that out, so it may differ from "
        "the answer that leads."
    )
    because = (
        "the first in the order that the data allowed",
        "instead of “{before}”: by then it was the first in the order that the data allowed",
    )
    options = {
        "tracking": TRACKING,
        "order": Option({"type": "array"}, "All answers, first choice first"),
        "close": Option(
            {"enum": list(CLOSE)}, "Where to pursue answers that are nearly the easiest to prove"
        ),
    }
    minds_costs = True
    former = {"close": "never"}
    unspelled = ("region",)  # a function cannot be written into a file

    def __new__(
        cls,
        tracking: Any = "C",
        order: Sequence[Answer] | None = None,
        region: Callable[[float], float] | None = None,
        close: str = CLOSE[0],
    ) -> StickyTrackAndStop:
        if region is not None and not callable(region):
            raise BadArgument("region", region, "a function t -> log f(t), or None")
        choice("close", close, CLOSE, "bounded, always or never")
        given = None if order is None else tuple(listed("order", order, "a list of answers"))
        return super().__new__(cls, tracker(tracking), given, region, close)

    def __repr__(self) -> str:
        close = "" if self.close == CLOSE[0] else f", close={self.close!r}"
        given = f"order={self.order!r}, region={self.region!r}{close}"
        return f"StickyTrackAndStop({self.tracker!r}, {given})"


class Sticky(NamedTuple):
    """The strategy once the question is known: the order as codes, and a table of log f."""

    tracker: Any
    order: Ints
    levels: Floats
    close: bool
    forced: bool  # also where what can be reached is solved for


@bind.register(StickyTrackAndStop)
def _bind(strategy: StickyTrackAndStop, question: Question) -> Sticky:
    log_f = strategy.region or question.log_f
    last = math.ceil(STEPS * math.log2(max(question.max_rounds, 2))) + 1
    found = [log_f(2.0 ** (j / STEPS)) for j in range(last + 1)]
    levels = np.array([math.nan if (each := real(x)) is None else each for x in found])
    if not np.all(np.isfinite(levels)) or np.any(np.diff(levels) < 0.0):
        raise BadArgument("region", strategy.region, "a finite function of t that does not fall")
    order = _places(strategy.order, question.problem)
    forced = strategy.close == "always" or nothing_known(question.problem, question.family)
    return Sticky(strategy.tracker, order, levels, strategy.close != "never", forced)


def _place(problem: Any, answer: Any) -> list[int]:
    """Where an answer stands in the problem's order; nothing if it is none of its answers."""
    try:
        return [int(encode(problem, answer)[0])]
    except StopwiseError:
        return []


def _places(order: tuple[Answer, ...] | None, problem: Any) -> Ints:
    known = listed_answers(problem)
    if order is None:
        return known
    if known.size == 0:
        raise BadArgument(
            "order", order, f"None for {problem!r}, whose many answers are not listed one by one"
        )
    places = [place for answer in order for place in _place(problem, answer)]
    if sorted(places) != known.tolist():
        known_ones = ", ".join(repr(answer) for answer in answers(problem))
        raise BadArgument("order", order, f"each answer of {problem!r} once: {known_ones}")
    return np.array(places, dtype=np.int64)


class Certificate(NamedTuple):
    """Why the pursued answer is the first of I_t."""

    point: Floats
    costs: Floats  # N_k d(mu-hat_k, point_k)
    trial: Floats  # scratch
    state: Floats  # indexed by the names below


TOTAL, BARRIER, LEVEL, PLACE, UNTIL, NEXT = range(6)


@notes.register(Sticky)
def _notes(strategy: Sticky, problem: Any) -> Certificate:
    arms, state = problem.arms, np.zeros(6)
    state[TOTAL] = math.nan  # nothing is certified yet
    return Certificate(np.zeros(arms), np.zeros(arms), np.zeros(arms), state)


@verb
def region_growth(tally: Any) -> float:
    """What the stopping rule's record adds to the region for the data of all arms; never negative."""
    return 0.0


@notice.register(Sticky)
def _notice(
    strategy: Sticky,
    problem: Any,
    family: Any,
    state: State,
    arm: int,
    sample: float,
    before: float,
) -> None:
    point, costs, _, known = state.pursuit.notes
    if not additive(family):  # the certificate's bookkeeping is for exponential families
        known[TOTAL] = math.nan
        return
    count, mean, own = state.data.counts[arm], state.data.means[arm], of_arm(family, arm)
    if known[TOTAL] < math.inf:  # else nothing is certified
        price = arm_cost(family, state.data, arm, point[arm])
        known[TOTAL] += price - costs[arm]
        costs[arm] = price
    if known[BARRIER] < math.inf:
        back = least_surprise(own, sample, mean, known[BARRIER] / count)
        known[BARRIER] -= absorbed(own, count - 1.0, before, mean, sample) - back


@aim.register(Sticky)
def _aim(strategy: Sticky, problem: Any, family: Any, state: State, rounds: int, rng: Rng) -> None:
    goal, known = state.pursuit, state.pursuit.notes.state
    while rounds > known[UNTIL]:
        known[PLACE] += 1.0
        known[UNTIL] = 2.0 ** (known[PLACE] / STEPS)
        known[LEVEL] = strategy.levels[int(known[PLACE])]
    if rounds >= known[NEXT]:
        _reconsider(strategy, problem, family, state, rounds)
    answer_weights(problem, family, state.data, state.sketch, goal.code, goal.weights)


@jitable
def _reconsider(strategy: Sticky, problem: Any, family: Any, state: State, rounds: int) -> None:
    """Keep the pursued answer if its certificate holds; else solve for the first of I_t."""
    known = state.pursuit.notes.state
    # the growth is not negative: where the smaller region will do it need not be summed
    if not (known[TOTAL] <= known[LEVEL] and known[BARRIER] == math.inf):
        level = known[LEVEL] + region_growth(state.tally)
        if not known[TOTAL] <= level < known[BARRIER]:
            _certify(strategy, problem, family, state, level, rounds)


@jitable
def _certify(
    strategy: Sticky, problem: Any, family: Any, state: State, level: float, rounds: int
) -> None:
    """Solve for the first of I_t, and keep why it is the first."""
    point, costs, trial, known = state.pursuit.notes
    slack = 1.0 / max(1.0, math.log(rounds)) if strategy.close else -1.0
    search = Search(strategy.order, state.pursuit.code, point, trial, slack, strategy.forced)
    held = known[TOTAL] <= level
    known[BARRIER] = first_reachable(problem, family, state.data, state.sketch, level, held, search)
    if known[BARRIER] == BY_VALUE:
        known[NEXT] = SELDOM * rounds
    known[TOTAL] = 0.0
    for k in range(point.size):
        costs[k] = arm_cost(family, state.data, k, point[k])
        known[TOTAL] += costs[k]
