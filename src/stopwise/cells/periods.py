"""Two records of one run: samples by which an arm was chosen, and samples that prove it.

SEE keeps them apart (Li & Cheung 2025); its stopping rule reads them from the strategy's notes by
``halves``, and takes all samples for both where a strategy knows no such thing. Which record a sample
enters is decided before its value is seen, so each arm's samples in each record are independent.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats
from stopwise.core.data import State
from stopwise.core.verbs import jitable, verb


class Halves(NamedTuple):
    """Counts and sums of the exploration and of the exploitation, and the number of the phase."""

    tried: Floats
    tried_sums: Floats
    proof: Floats
    proof_sums: Floats
    phase: Floats


@verb
def halves(notes: Any, state: State) -> Halves:
    """The two records of a run; by default all samples are in both."""
    data = state.data
    return Halves(data.counts, state.sums, data.counts, state.sums, data.counts[:0])


@jitable
def phase_of(records: Halves) -> float:
    """The number of the phase: 1 where there are none."""
    return records.phase[0] if records.phase.size > 0 else 1.0


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


def empty_halves(arms: int) -> Halves:
    """Before the first sample."""
    return Halves(np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms), np.ones(1))
