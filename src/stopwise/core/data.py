"""What has been seen, what is kept and what is reported: the state that goes through every round."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from stopwise.core.arrays import Floats, Ints
from stopwise.core.values import Value

Answer = Hashable
Code = Ints  # of an answer


class Data(NamedTuple):
    """How many samples each arm has, and their means.

    Oracles ask the same of weights, which are counts in proportion: D(w, mu, .) and D(N, mu-hat, .).
    """

    counts: Floats
    means: Floats


class Curve(NamedTuple):
    """Where second derivatives of costs are added up, each times the scale."""

    scale: float
    hessian: Floats


class Plan(NamedTuple):
    """What a strategy aims at: the answer that it pursues, and the weights that its tracker follows."""

    pursued: Ints  # the code of the answer
    weights: Floats
    totals: Floats  # the tracker's memory, see sampling/strategy.py


class Report(Value):
    """What a run says of its evidence after each round: apart from what it keeps."""

    answer: Ints  # the code of the answer with the most evidence
    evidence: Floats  # for it: one number
    allowance: Floats  # what of the level the data decide: one number

    def write(self, evidence: float, allowance: float) -> float:
        """Report the evidence and the allowance; returns their difference, the margin."""
        self.evidence[0], self.allowance[0] = evidence, allowance
        return evidence - allowance


class State(NamedTuple):
    """Everything that a run knows after t samples."""

    data: Data
    sums: Floats  # of the samples: dividing them makes equal data equal means, to the last bit
    stats: Any  # what the family keeps of the samples besides
    taken: Floats  # samples of each arm with those in flight; in a simulation the counts themselves
    cache: Any  # the problem's
    plan: Plan
    strategy_state: Any  # what ``init`` of the strategy gave
    rule_state: Any  # what ``init`` of the stopping rule gave
    report: Report
