"""What a stopping rule knows: every verb, once.

A rule is a value with a record of its own, the tally. It registers ``level`` and ``weigh``; ``tally``
and ``update`` if it keeps anything, ``evidence`` if answers other than the leading one have some. A
threshold on D(N, mu-hat, not i), which is one kind of rule, registers less: see likelihood.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import ALLOWANCE, EVIDENCE, State
from stopwise.core.errors import MissingVerb
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import likelihood
from stopwise.problems.verbs import Code


@verb
def level(rule: Any, problem: Any, family: Any, delta: float) -> float:
    """What the evidence must reach at this delta, but for what the data decide; it falls in delta."""
    raise MissingVerb("level", rule)


@verb
def proven(rule: Any, problem: Any, family: Any) -> bool:
    """Whether stopping by this rule is proven to be delta-correct for this problem and family."""
    return False


@verb
def misplaced(rule: Any, family: Any, means: Any) -> str:
    """What to say, and what to set, if the rule was made for means far from these; else nothing."""
    return ""


@verb
def judges(rule: Any, family: Any) -> Any:
    """The family that a run by this rule is about: by default the one with likelihood ratios."""
    return likelihood(family)


@verb
def tally(rule: Any, problem: Any, family: Any) -> Any:
    """What the rule keeps between rounds: a NamedTuple of arrays and numbers, or an array."""
    return np.zeros(0)


@verb(inline=True)
def update(rule: Any, problem: Any, family: Any, state: State, arm: int, sample: float) -> None:
    """Enter one sample, which the state's data have already, into the tally."""


@verb(inline=True)
def weigh(rule: Any, problem: Any, family: Any, state: State, rounds: int, least: float) -> float:
    """The most evidence for any answer, less what the data ask for: stop where it reaches the level.

    The answer goes to the state's ``answer``, evidence and allowance to its ``scale`` (by ``weighed``).
    Where the result is below ``least`` any smaller number will do. Every arm has been sampled.
    """
    raise MissingVerb("weigh", rule)


@verb
def weigh_missing(
    rule: Any,
    problem: Any,
    family: Any,
    state: State,
    rounds: int,
    missing: Floats,
    least: float,
) -> float:
    """``weigh`` where so many values of each arm are missing: with each at its worst (docs/missing.md).

    By default the worst is not known: there is no evidence, and nothing is decided.
    """
    weigh(rule, problem, family, state, rounds, -math.inf)
    weighed(state, 0.0, 0.0)
    return -math.inf


@jitable
def weighed(state: State, evidence: float, allowance: float) -> float:
    """Note the evidence, and what of the level the data decide; returns what is left of it."""
    state.scale[EVIDENCE], state.scale[ALLOWANCE] = evidence, allowance
    return evidence - allowance


@verb
def evidence(rule: Any, problem: Any, family: Any, state: State, code: Code) -> float:
    """The evidence for one answer; by default the leading one has all of it."""
    leads = bool(np.array_equal(code, state.answer))
    return float(state.scale[EVIDENCE]) if leads else 0.0


@verb
def counts_missing(rule: Any, problem: Any, family: Any) -> bool:
    """Whether every missing value has a worst one, whatever the answer."""
    return False


@verb
def evidence_missing(
    rule: Any, problem: Any, family: Any, state: State, missing: Floats, code: Code
) -> float:
    """The evidence for one answer where values are missing."""
    return 0.0
