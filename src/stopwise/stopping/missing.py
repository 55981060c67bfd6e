"""Wealth where values are missing: each counts as the worst that it could be.

Wealth rises in every value of an arm that is claimed to be larger, and falls in every value of one that
is claimed to be smaller. So the wealth with each missing value at the end of the range that speaks most
against the claim is at most the wealth with the value that nobody knows yet. Proof: docs/missing.md.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.cells.cell import Cell
from stopwise.core.arrays import Floats, Ints, copied
from stopwise.core.data import Data, State
from stopwise.core.values import Value
from stopwise.families.family import Family
from stopwise.stopping.intervals import Intervals, mean_intervals
from stopwise.stopping.wealth_state import REMEMBERS, Pairwise, WealthState


class WorstCase(Value):
    """What Wealth keeps, and how many values of each arm are missing: the evidence at the worst values."""

    state: WealthState
    missing: Floats
    first_cell: Ints  # as of the state

    def gap_evidence(self, family: Family, data: Data, cell: Pairwise, enough: float) -> float:
        """The evidence against a cell that bounds one arm, compares two, or has all on one side."""
        apart = (
            self.state.weak.marks[REMEMBERS] == 0
        )  # in parts of a product arms have other numbers
        concerned = False
        for k in range(self.missing.size):
            concerned = concerned or (self.missing[k] > 0.0 and (apart or cell.constrains(k)))
        if not concerned:
            return cell.evidence(family, data, self.state, enough)
        if apart:
            return 0.0
        return self.state.worst_evidence(family, data, self.missing, cell, enough)

    bound_evidence = side_evidence = gap_evidence

    def other_evidence(self, family: Family, data: Data, cell: Cell, enough: float) -> float:
        """Against any other cell: none if a value is missing."""
        for k in range(self.missing.size):
            if self.missing[k] > 0.0:
                return 0.0
        return self.state.other_evidence(family, data, cell, enough)


def worst_intervals(
    family: Family, state: State, missing: Floats, delta: float, room: int = 0
) -> Intervals:
    """Intervals of the means, whatever the missing values are: from all low, to all high.

    ``family`` is the one that the samples are from. The interval's lower end is where W+ + W- reaches
    2/a. With all missing values low W+ is at most what it is, and W- at most 1 below the mean: so there
    the sum has to reach 2/a + 1 (docs/missing.md).
    """
    found = mean_intervals(family.estimated(state.stats), state, delta, room)
    if not missing.any():
        return found
    events = max(missing.size, room)
    careful = events / (events / delta + 0.5)
    ends = family.estimated(state.stats).mean_space()
    low, high = (_filled(family, state, missing, end, careful, room) for end in ends)
    return Intervals(np.minimum(found.low, low.low), np.maximum(found.high, high.high))


def _filled(
    family: Family, state: State, missing: Floats, end: float, delta: float, room: int
) -> Intervals:
    """Intervals with the missing values at one end; the whole space where that is infinite."""
    whole = copied(state)
    view, gone = family.estimated(whole.stats), missing > 0.0
    low, high = view.mean_space()
    if math.isfinite(end):
        for k in np.flatnonzero(gone):
            view.add_at_end(int(k), missing[k], end == high)
        whole.data.means[:] = whole.data.counts * whole.data.means + missing * end
        whole.data.counts[:] += missing
        whole.data.means[:] /= np.maximum(whole.data.counts, 1.0)
    found = mean_intervals(view, whole, delta, room)
    if math.isfinite(end):
        return found
    return Intervals(np.where(gone, low, found.low), np.where(gone, high, found.high))
