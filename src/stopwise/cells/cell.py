"""A cell: a set of models in which an answer is wrong. What every kind of cell knows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from stopwise.core.arrays import Floats, Ints
from stopwise.core.data import Curve, Data
from stopwise.core.errors import MissingMethod
from stopwise.core.functions import allocates, inline
from stopwise.core.values import Value
from stopwise.families.family import Family

if TYPE_CHECKING:
    from stopwise.cells.bound import Bound, Side
    from stopwise.cells.gap import Gap


class CellEvidence(Protocol):
    """What a stopping rule knows about each kind of cell: below ``enough`` an upper bound will do."""

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        """The evidence against a bound on one arm."""

    def gap_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        """The evidence against an order of two arms."""

    def side_evidence(self, family: Family, data: Data, cell: Side, enough: float) -> float:
        """The evidence against all arms on one side."""

    def other_evidence(self, family: Family, data: Data, cell: Cell, enough: float) -> float:
        """The evidence against any other cell."""

    @property
    def first_cell(self) -> Ints:
        """One number: the index of the last cell with too little evidence, to be tried first."""


class Cell(Value):
    """A set of models. ``project`` is needed; the rest has defaults."""

    @allocates
    def project(self, family: Family, data: Data, closest: Floats) -> float:
        """Write the closest model of the cell into ``closest`` and return its cost."""
        raise MissingMethod("project", self)

    @allocates
    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        """Add scale times the second derivative of the cost in the weights.

        By default from differences of the first derivative, which is d(mu_k, closest_k).
        """
        weights, means = data
        scale, hessian = curve
        count = means.size
        point = np.zeros(count)
        for j in range(count):
            step = 1e-5 * weights[j]
            if step == 0.0:
                continue
            moved = weights.copy()
            for side in (-1.0, 1.0):
                moved[j] = weights[j] + side * step
                self.project(family, Data(moved, means), point)
                for k in range(count):
                    slope = family.of_arm(k).divergence(means[k], point[k])
                    if math.isfinite(slope):
                        hessian[k, j] += scale * side * slope / (4.0 * step)
                        hessian[j, k] += scale * side * slope / (4.0 * step)

    @inline
    def cost_floor(self, family: Family, data: Data) -> float:
        """A lower bound on the cost that takes no time; by default 0."""
        return 0.0

    def constrains(self, arm: int) -> bool:
        """Whether the cell says anything about an arm; by default about every arm."""
        return True

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        """What a stopping rule has against the cell; below ``enough`` an upper bound will do."""
        return rule.other_evidence(family, data, self, enough)

    @allocates
    def mixed_evidence(self, family: Family, data: Data, gap: float) -> float:
        """log of a mixture of likelihood ratios against the least favourable model, normal arms.

        The prior's standard deviation is ``gap`` times an arm's. nan: arms are mixed one by one.
        """
        return math.nan

    def pairwise(self) -> bool:
        """Whether cells of this type bound one arm, compare two, or have all arms on one side."""
        return False

    def simplest(self) -> Cell:
        """The same set as a bound, a gap or a side, where the cell is one. In plain Python only."""
        return self

    def mirror(self) -> Cell:
        """The cell of all -lambda with lambda in this cell."""
        raise MissingMethod("mirror", self)


class Either(Cell):
    """One of two kinds of cell: which one is known only in a run."""

    first: Cell
    second: Cell
    is_first: bool

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        if self.is_first:
            return self.first.project(family, data, closest)
        return self.second.project(family, data, closest)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        if self.is_first:
            self.first.add_hessian(family, data, closest, curve)
        else:
            self.second.add_hessian(family, data, closest, curve)

    def constrains(self, arm: int) -> bool:
        return self.first.constrains(arm) if self.is_first else self.second.constrains(arm)

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        if self.is_first:
            return self.first.evidence(family, data, rule, enough)
        return self.second.evidence(family, data, rule, enough)

    def pairwise(self) -> bool:
        return self.first.pairwise() and self.second.pairwise()

    def simplest(self) -> Cell:
        return (self.first if self.is_first else self.second).simplest()
