"""A comparison of several arms on the same items, as a value, and the state of one that is running."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core import checks
from stopwise.core.arrays import Floats, Ints
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.values import Family, check_role
from stopwise.paired.differences import NormalDifferences, differences_of

IN = -1  # since when an arm is out, if it is not


class Comparison(NamedTuple):
    """What is asked, and how sure the answer must be.

    Without ``ties`` the answer is an arm that no other beats by epsilon. With them it is the set of arms
    that are left when all others are proven worse, and all of these to differ by less than epsilon.
    """

    kind: Any  # of differences
    arms: int
    margins: Floats  # 0, and epsilon if it is above 0
    level: float
    pool: int  # the number of items, if the question is about just these; else 0
    ties: bool
    minimum: int  # items before which nobody is put out and nothing is decided


class State(NamedTuple):
    """Of each ordered pair (i, j) what is known of i's result less j's; and of each arm."""

    counts: Floats  # items that have both
    means: Floats
    squares: Floats
    bets: Floats  # margin x arm x arm x gap: log wealth
    evidence: Floats  # margin x arm x arm
    passed: Ints  # the same: 1 from when the evidence first reached the level
    out: Ints  # by which item each arm was put out, IN if it is not
    out_by: Ints  # by which arm
    used: Ints  # results of each arm
    items: Ints  # one number: those that count so far


def comparison(
    family: Family,
    arms: int,
    delta: float,
    epsilon: float = 0.0,
    pool: int | None = None,
    ties: bool = False,
    minimum: int = 0,
) -> Comparison:
    """A checked one. The level is log((K - 1)/delta), with ties log(K (K - 1)/delta): docs/paired.md."""
    check_role("family", family, Family)
    checks.whole("arms", arms, least=2)
    checks.probability("delta", delta)
    margin = checks.not_negative("epsilon", epsilon)
    kind, size = differences_of(family), 0 if pool is None else checks.whole("pool", pool, least=1)
    if ties and margin == 0.0 and size == 0:
        allowed = "a number above 0 where ties are an answer"
        raise BadArgument("epsilon", epsilon, allowed, "No test proves that two are just equal.")
    if size and isinstance(kind, NormalDifferences):
        raise NotDefined(
            f"pool={size} with {family!r}: a finite pool of numbers is not normal, and nothing is "
            "proven without bounds. Use Bounded(low, high), or ask about the population (no pool)."
        )
    margins = np.array([0.0, margin] if margin > 0.0 else [0.0])
    claims = arms * (arms - 1) if ties else arms - 1
    least = checks.whole("minimum", minimum, least=0)
    return Comparison(kind, arms, margins, math.log(claims / delta), size, bool(ties), least)


def new_state(what: Comparison) -> State:
    """Before the first item."""
    arms = what.arms
    pairs = what.margins.size, arms, arms
    return State(
        counts=np.zeros((arms, arms)),
        means=np.zeros((arms, arms)),
        squares=np.zeros((arms, arms)),
        bets=np.zeros((*pairs, what.kind.gaps.size)),
        evidence=np.zeros(pairs),
        passed=np.zeros(pairs, dtype=np.int64),
        out=np.full(arms, IN),
        out_by=np.full(arms, IN),
        used=np.zeros(arms, dtype=np.int64),
        items=np.zeros(1, dtype=np.int64),
    )
