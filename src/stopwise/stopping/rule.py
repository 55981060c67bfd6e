"""What a stopping rule is: every method, once.

A rule has ``level`` and ``margin``; ``init`` and ``update`` if it keeps anything between rounds, and
``evidence`` if answers other than the leading one have some. A threshold on D(N, mu-hat, not i), which
is one kind of rule, has less to say: see likelihood.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import State
from stopwise.core.errors import MissingMethod
from stopwise.core.functions import inline
from stopwise.core.values import Role
from stopwise.families.family import Family
from stopwise.problems.instance import Instance, Question
from stopwise.problems.problem import Code, Problem

RuleState = Floats | tuple[object, ...]  # an array, or a NamedTuple of arrays and numbers


class StoppingRule(Role, listed=False):
    """When to stop, and with which answer."""

    role = "stopping"
    example = "Mixture()"
    required = ("level", "margin")

    def level(self, problem: Problem, family: Family, delta: float) -> float:
        """What the evidence must reach at this delta, but for what the data decide; it falls in delta."""
        raise MissingMethod("level", self)

    def proven(self, problem: Problem, family: Family) -> bool:
        """Whether stopping by this rule is proven to be delta-correct for this problem and family."""
        return False

    def misplaced_warning(self, family: Family, means: Sequence[float] | Floats) -> str:
        """What to say, and what to set, if the rule was made for means far from these; else nothing."""
        return ""

    def working_family(self, family: Family) -> Family:
        """The family that a run by this rule is about: by default the one with likelihood ratios."""
        return family.likelihood_family()

    def init(self, question: Question) -> RuleState:
        """The rule's state before the first sample; in a run it is ``state.rule_state``."""
        return np.zeros(0)

    @inline
    def update(self, instance: Instance, state: State, arm: int, sample: float) -> None:
        """Enter one sample, which the data have already, into the rule's state."""

    @inline
    def margin(self, instance: Instance, state: State, rounds: int, enough: float) -> float:
        """max_i evidence_i minus the data-dependent allowance: stop where it reaches the level.

        The answer goes to the state's report, as do evidence and allowance (by its ``write``). Where the
        result is below ``enough`` any smaller number will do. Every arm has been sampled.
        """
        raise MissingMethod("margin", self)

    def margin_missing(
        self, instance: Instance, state: State, rounds: int, missing: Floats, enough: float
    ) -> float:
        """``margin`` where so many values of each arm are missing: with each at its worst (docs/missing.md).

        By default the worst is not known: there is no evidence, and nothing is decided.
        """
        self.margin(instance, state, rounds, -math.inf)
        state.report.write(0.0, 0.0)
        return -math.inf

    def evidence(self, instance: Instance, state: State, code: Code) -> float:
        """The evidence for one answer; by default the leading one has all of it."""
        leads = bool(np.array_equal(code, state.report.answer))
        return float(state.report.evidence[0]) if leads else 0.0

    def counts_missing(self, problem: Problem, family: Family) -> bool:
        """Whether every missing value has a worst one, whatever the answer."""
        return False

    def evidence_missing(
        self, instance: Instance, state: State, missing: Floats, code: Code
    ) -> float:
        """The evidence for one answer where values are missing."""
        return 0.0
