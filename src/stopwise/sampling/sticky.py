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
from typing import NamedTuple

import numpy as np

from stopwise.cells.bound import arm_cost
from stopwise.core.arrays import Floats, Ints, Rng
from stopwise.core.checks import choice, listed, real
from stopwise.core.data import State
from stopwise.core.errors import BadArgument, StopwiseError
from stopwise.core.functions import jitable, variants
from stopwise.core.options import Option
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import BY_VALUE, Answer, Problem, Search, reach_unknown
from stopwise.sampling.strategy import TRACKING, Strategy, Tracker, as_tracker

STEPS = 8  # log f(t) is tabulated at t = 2^(j/8) and rounded up to the next of these t
CLOSE_MODES = ("bounded", "always", "never")
SELDOM = 1.02  # by what factor the rounds grow until close answers are solved for again


# in ``known``: the point's cost (nan: nothing is certified) and the barrier; log f at the next tabulated t,
# the index of this t in the table, and t itself; the round from which close answers are solved for again
TOTAL, BARRIER, LEVEL, INDEX, UNTIL, NEXT = range(6)


class Certificate(NamedTuple):
    """Why the pursued answer is the first of I_t."""

    point: Floats  # of C_t, at which the pursued answer is an oracle answer
    costs: Floats  # N_k d(mu-hat_k, point_k): their sum is the point's cost
    trial: Floats  # scratch
    known: Floats


class StickyState(NamedTuple):
    """The order as codes, log f as a table, where close answers are pursued, and the certificate."""

    order: Ints
    levels: Floats  # log f(2^(j/STEPS))
    close: bool  # close answers where only bounds are known on what can be reached
    always_close: bool  # close answers also where reachable answers are solved for
    certificate: Certificate


class StickyTrackAndStop(Strategy):
    """Algorithm 1: among answers that may still be oracle answers, pursue the first in the order.

    ``order`` lists the problem's answers, first choice first (default: the problem's order).
    ``region`` is a function t -> log f(t) that does not fall; by default beta(t, t^-5) of the run's
    threshold, for all arms together. Either is rounded up to the next t of the form 2^(j/8).
    ``close`` says where the close answers, nearly as easy to prove as the easiest, take the place of the
    reachable ones: "bounded", where only bounds are known on what can be reached; "always", for every
    question whose answers are listed one by one; "never", as up to 0.3.0.
    """

    tracker: Tracker
    order: tuple[Answer, ...] | None
    region: Callable[[float], float] | None
    close: str
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
            {"enum": list(CLOSE_MODES)},
            "Where to pursue answers that are nearly the easiest to prove",
        ),
    }
    minds_costs = True
    former = {"close": "never"}
    unspelled = ("region",)  # a function cannot be written into a file

    def __init__(
        self,
        tracking: str | Tracker = "C",
        order: Sequence[Answer] | None = None,
        region: Callable[[float], float] | None = None,
        close: str = CLOSE_MODES[0],
    ) -> None:
        if region is not None and not callable(region):
            raise BadArgument("region", region, "a function t -> log f(t), or None")
        choice("close", close, CLOSE_MODES, "bounded, always or never")
        given = None if order is None else tuple(listed("order", order, "a list of answers"))
        self.tracker = as_tracker(tracking)
        self.order = given
        self.region = region
        self.close = close

    def __repr__(self) -> str:
        close = "" if self.close == CLOSE_MODES[0] else f", close={self.close!r}"
        given = f"order={self.order!r}, region={self.region!r}{close}"
        return f"StickyTrackAndStop({self.tracker!r}, {given})"

    def init(self, question: Question) -> StickyState:
        log_f = self.region or question.log_f
        last = math.ceil(STEPS * math.log2(max(question.max_rounds, 2))) + 1
        found = [log_f(2.0 ** (j / STEPS)) for j in range(last + 1)]
        levels = np.array([math.nan if (each := real(x)) is None else each for x in found])
        if not np.all(np.isfinite(levels)) or np.any(np.diff(levels) < 0.0):
            raise BadArgument("region", self.region, "a finite function of t that does not fall")
        order = _order_codes(self.order, question.problem)
        always = self.close == "always" or reach_unknown(question.problem, question.family)
        arms, known = question.problem.arms, np.zeros(6)
        known[TOTAL] = math.nan  # nothing is certified yet
        certificate = Certificate(np.zeros(arms), np.zeros(arms), np.zeros(arms), known)
        return StickyState(order, levels, self.close != "never", always, certificate)

    def compilable(self) -> StickyTrackAndStop:
        return self._replace(order=None, region=None, close="")

    def update(
        self, instance: Instance, state: State, arm: int, sample: float, before: float
    ) -> None:
        """Bring the certificate up to date: the equation at the top of this file."""
        own: StickyState = state.strategy_state
        point, costs, _, known = own.certificate
        family, data = instance.family, instance.data
        if not family.additive():  # the certificate's bookkeeping is for exponential families
            known[TOTAL] = math.nan
            return
        count, mean, own_law = data.counts[arm], data.means[arm], family.of_arm(arm)
        if known[TOTAL] < math.inf:  # else nothing is certified
            cost = arm_cost(family, data, arm, point[arm])
            known[TOTAL] += cost - costs[arm]
            costs[arm] = cost
        if known[BARRIER] < math.inf:
            bracket = own_law.absorbed(count - 1.0, before, mean, sample)
            known[BARRIER] -= bracket - own_law.least_surprise(sample, mean, known[BARRIER] / count)

    def target(self, instance: Instance, state: State, rounds: int, rng: Rng) -> None:
        """The weights of the pursued answer, which changes if its certificate does not hold any more."""
        own: StickyState = state.strategy_state
        (problem, family, data, cache), known = instance, own.certificate.known
        while rounds > known[UNTIL]:
            known[INDEX] += 1.0
            known[UNTIL] = 2.0 ** (known[INDEX] / STEPS)
            known[LEVEL] = own.levels[int(known[INDEX])]
        # the region's growth is not negative: where the smaller region will do it need not be summed
        if rounds >= known[NEXT] and not (
            known[TOTAL] <= known[LEVEL] and known[BARRIER] == math.inf
        ):
            level = known[LEVEL] + region_growth(state.rule_state)
            if not known[TOTAL] <= level < known[BARRIER]:
                _certify(instance, state, level, rounds)
        problem.answer_weights(family, data, cache, state.plan.pursued, state.plan.weights)


def _order_codes(order: tuple[Answer, ...] | None, problem: Problem) -> Ints:
    """The answers' codes in this order (default: the problem's), or a refusal."""
    known = problem.listed_answers()
    if order is None:
        return known
    if known.size == 0:
        raise BadArgument(
            "order", order, f"None for {problem!r}, whose many answers are not listed one by one"
        )
    try:
        codes = [int(problem.encode(answer)[0]) for answer in order]
    except StopwiseError:
        codes = []  # refused below
    if sorted(codes) != known.tolist():
        known_ones = ", ".join(repr(answer) for answer in problem.answers())
        raise BadArgument("order", order, f"each answer of {problem!r} once: {known_ones}")
    return np.array(codes, dtype=np.int64)


@variants
def region_growth(rule_state: Floats | tuple[object, ...]) -> float:
    """What the stopping rule's state adds to the region for the data of all arms; never negative."""
    return 0.0


@jitable
def _certify(instance: Instance, state: State, level: float, rounds: int) -> None:
    """Solve for the first of I_t, and keep why it is the first."""
    own: StickyState = state.strategy_state
    problem, family, data, cache = instance
    point, costs, trial, known = own.certificate
    slack = 1.0 / max(1.0, math.log(rounds)) if own.close else -1.0
    search = Search(own.order, state.plan.pursued, point, trial, slack, own.always_close)
    held = known[TOTAL] <= level
    known[BARRIER] = problem.first_reachable(family, data, cache, level, held, search)
    if known[BARRIER] == BY_VALUE:
        known[NEXT] = SELDOM * rounds
    known[TOTAL] = 0.0
    for k in range(point.size):
        costs[k] = arm_cost(family, data, k, point[k])
        known[TOTAL] += costs[k]
