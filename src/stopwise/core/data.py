"""What has been seen and what is kept: the record that goes through every round."""

from __future__ import annotations

from typing import Any, NamedTuple

from stopwise.core.arrays import Floats, Ints


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


class Pursuit(NamedTuple):
    """What a strategy aims at, and what it keeps between rounds."""

    code: Ints  # the pursued answer's
    weights: Floats  # to be tracked
    totals: Floats  # the tracker's memory, see sampling/tracking.py
    notes: Any  # the strategy's own


class State(NamedTuple):
    """Everything that a run knows after t samples."""

    data: Data
    sums: Floats  # of the samples: dividing them makes equal data equal means, to the last bit
    record: Any  # what the family keeps of the samples besides
    taken: Floats  # samples of each arm with those in flight; in a simulation the counts themselves
    sketch: Any  # the problem's
    pursuit: Pursuit  # the strategy's
    tally: Any  # the stopping rule's
    answer: Ints  # the code of the answer with the most evidence
    scale: Floats  # its evidence, and what of the level the data decide


EVIDENCE, ALLOWANCE = range(2)  # places in ``scale``
