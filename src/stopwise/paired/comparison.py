"""A comparison of several arms on the same items, as a value, and the state of one that is running."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core import checks
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.values import check_role
from stopwise.families.family import Family
from stopwise.paired.differences import Differences, NormalDifferences, differences_of
from stopwise.problems.problem import Problem, Ranking

NOBODY = -1
IN = -1  # since when an arm is chosen or out, if it is neither
MOST_ARMS = 1000  # every pair of them has a state of its own


class Comparison(NamedTuple):
    """What is asked, and how sure the answer must be.

    The answer names the ``m`` arms that no other beats by epsilon, or those that beat the ``control``.
    With ``ties`` it is the set of arms that are left when all others are proven worse, and all of these
    to differ by less than epsilon.
    """

    kind: Differences
    arms: int
    margins: Floats  # 0, and epsilon if it is above 0
    level: float
    pool: int  # how many items there are; 0: no end
    ties: bool
    minimum: int  # items before which nobody is chosen or out and nothing is decided
    m: int = 1
    control: int = NOBODY
    one: bool = False  # one arm that beats the control is enough

    @property
    def deterministic(self) -> bool:
        """Whether the question is about just the items of the pool, each result a fixed number."""
        return bool(self.kind.fixed)


class State(NamedTuple):
    """Of each ordered pair (i, j) what is known of i's result less j's; and of each arm.

    An arm that is proven to belong to the answer is *chosen*, one that is proven not to is *out*: both
    get no more items.
    """

    counts: Floats  # items that have both
    missing: Floats  # items that lack a result, and count as the worst for the pair
    means: Floats
    squares: Floats
    equal: Floats  # items on which both have the same result
    bets: Floats  # margin x arm x arm x gap: log wealth
    evidence: Floats  # margin x arm x arm
    passed: Ints  # the same: 1 from when the evidence first reached the level
    out: Ints  # by which item each arm was put out, IN if it is not
    out_by: Ints  # by which arm
    chosen: Ints  # by which item each arm was chosen, IN if it is not
    sure: Floats  # the evidence by which it was chosen or put out
    used: Ints  # results of each arm
    totals: Floats  # and their sum
    items: Ints  # one number: those that count so far


def question(problem: Problem) -> Ranking:
    """What a problem asks of pairs, or a refusal."""
    check_role("problem", problem, Problem)
    found = problem.ranking()
    if found is None:
        raise NotDefined(
            f"paired tests for {problem!r}: they say who beats whom. Allowed: BestArm, TopArms, "
            "BetterThan and AnyBetterThan. Ask about limits with separate samples (no pairing)."
        )
    return found


def asked_of(
    problem: Problem | None, arms: int, epsilon: float, ties: bool, goal: str = "max"
) -> Ranking:
    """The question: for the best arm unless a problem is given, which says more than the others."""
    checks.choice("goal", goal, ("max", "min"), '"max" or "min"')
    checks.truth("ties", ties)
    margin = checks.margin(epsilon)
    if problem is None:
        return Ranking(1 if goal == "max" else -1, margin)
    found = question(problem)
    if problem.arms != arms:
        raise BadArgument("problem", problem, f"a problem with {arms} arms")
    if ties or goal != "max" or margin != 0.0:
        allowed = "no epsilon, goal or ties beside it: the problem says what is asked"
        raise BadArgument("problem", problem, allowed)
    return found


def comparison(
    family: Family,
    arms: int,
    delta: float,
    epsilon: float = 0.0,
    pool: int | None = None,
    ties: bool = False,
    minimum: int = 0,
    asked: Ranking | None = None,
    deterministic: bool = False,
) -> Comparison:
    """A checked one; ``asked`` is another question than for the best arm, with an epsilon of its own.

    A ``pool`` is a random sample of a population, and ends undecided if it is too small. With results
    that are ``deterministic`` the question is about just the pool, and its end always has an answer.
    """
    check_role("family", family, Family)
    count = checks.whole("arms", arms, least=2, most=MOST_ARMS)
    risk = checks.probability("delta", delta)
    margin = checks.margin(epsilon)
    size = 0 if pool is None else checks.whole("pool", pool, least=1)
    known = checks.truth("deterministic", deterministic) and size > 0
    kind = differences_of(family, known)
    if checks.truth("ties", ties) and margin == 0.0 and not known:
        allowed = "a number above 0 where ties are an answer"
        raise BadArgument("epsilon", epsilon, allowed, "No test proves that two are just equal.")
    if size and isinstance(kind, NormalDifferences):
        raise NotDefined(
            f"pool={size} with {family!r}: a finite pool of numbers is not normal, and nothing is "
            "proven without bounds. Use Bounded(low, high), or ask about the population (no pool)."
        )
    wanted = Ranking(1, margin) if asked is None else asked
    margins = np.array([0.0, wanted.epsilon] if wanted.epsilon > 0.0 else [0.0])
    level = math.log(claims(count, wanted.m, wanted.control, ties) / risk)
    least = checks.whole("minimum", minimum, least=0)
    return Comparison(
        kind=kind,
        arms=count,
        margins=margins,
        level=level,
        pool=size,
        ties=bool(ties),
        minimum=least,
        m=wanted.m,
        control=wanted.control,
        one=wanted.one,
    )


def claims(arms: int, m: int, control: int, ties: bool) -> int:
    """How many pairs can be to blame for a wrong answer: docs/paired.md."""
    if ties:
        return arms * (arms - 1)
    return arms - 1 if control != NOBODY else m * (arms - m)


def new_state(what: Comparison) -> State:
    """Before the first item."""
    arms = what.arms
    pairs = what.margins.size, arms, arms
    return State(
        counts=np.zeros((arms, arms)),
        missing=np.zeros((arms, arms)),
        means=np.zeros((arms, arms)),
        squares=np.zeros((arms, arms)),
        equal=np.zeros((arms, arms)),
        bets=np.zeros((*pairs, what.kind.gaps.size)),
        evidence=np.zeros(pairs),
        passed=np.zeros(pairs, dtype=np.int64),
        out=np.full(arms, IN),
        out_by=np.full(arms, NOBODY),
        chosen=np.full(arms, IN),
        sure=np.zeros(arms),
        used=np.zeros(arms, dtype=np.int64),
        totals=np.zeros(arms),
        items=np.zeros(1, dtype=np.int64),
    )
