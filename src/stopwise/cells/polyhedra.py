"""Cells as a user writes them, checked, packed into arrays and, in a run, unpacked."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.bound import Bound, total_divergence
from stopwise.cells.cell import Cell, CellEvidence
from stopwise.cells.gap import Gap
from stopwise.cells.half_space import HalfSpace
from stopwise.cells.outside_ball import BallExterior
from stopwise.cells.region import Region, region
from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.checks import matrix, positive, vector
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument
from stopwise.families.family import Family


class Polyhedron(NamedTuple):
    """The models with normals @ lambda >= offsets and lower <= lambda <= upper; all optional."""

    normals: ArrayLike | None = None
    offsets: ArrayLike | None = None
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None


class Ball(NamedTuple):
    """The models with |lambda - center| <= radius."""

    center: ArrayLike
    radius: float


class OutsideBall(NamedTuple):
    """The models with |lambda - center| >= radius (Gaussian arms, no constraint on the models)."""

    center: ArrayLike
    radius: float


Given = Polyhedron | Ball | OutsideBall

# what a cell turned out to be, cheapest first
BOX, GAP, HALF_SPACE, REGION, OUTSIDE = range(5)


class PackedCell(Cell):
    """A user's cell, as the simplest kind that it is."""

    kind: int
    region: Region

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        if self.kind == BOX:
            for k in range(closest.size):
                closest[k] = min(max(data.means[k], self.region.lower[k]), self.region.upper[k])
            return total_divergence(family, data, closest)
        if self.kind == OUTSIDE:
            return self.exterior().project(family, data, closest)
        if self.kind == REGION:
            return self.region.project(family, data, closest)
        if self.kind == GAP:
            return self.gap().project(family, data, closest)
        return self.half_space().project(family, data, closest)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        if self.kind == GAP:
            self.gap().add_hessian(family, data, closest, curve)
        elif self.kind == HALF_SPACE:
            self.half_space().add_hessian(family, data, closest, curve)
        elif self.kind == REGION:
            self.region.add_hessian(family, data, closest, curve)
        elif self.kind == OUTSIDE:
            self.exterior().add_hessian(family, data, closest, curve)

    def constrains(self, arm: int) -> bool:
        if self.kind == GAP:
            return self.gap().constrains(arm)
        alone = self.only_bound().arm
        return alone < 0 or alone == arm

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        if self.kind == GAP:
            return rule.gap_evidence(family, data, self.gap(), enough)
        bound = self.only_bound()
        if bound.arm >= 0:
            return rule.bound_evidence(family, data, bound, enough)
        return rule.other_evidence(family, data, self, enough)

    def simplest(self) -> Cell:
        if self.kind == GAP:
            return self.gap()
        bound = self.only_bound()
        return bound if bound.arm >= 0 else self

    def gap(self) -> Gap:
        """lambda_other >= lambda_arm + margin, from the only normal."""
        normal, arm, other = self.region.normals[0], 0, 0
        for k in range(normal.size):
            if normal[k] < 0.0:
                arm = k
            elif normal[k] > 0.0:
                other = k
        return Gap(arm, other, self.region.offsets[0] / normal[other])

    def half_space(self) -> HalfSpace:
        """The only normal's side."""
        return HalfSpace(self.region.normals[0], self.region.offsets[0], 1.0)

    def exterior(self) -> BallExterior:
        """Outside the ball."""
        return BallExterior(self.region.center, self.region.radius)

    def only_bound(self) -> Bound:
        """The bound of a box that has one; of others that of arm -1."""
        found, bounds = Bound(-1, 1.0, 0.0), 0
        if self.kind != BOX:
            return found
        for k in range(self.region.lower.size):
            if self.region.lower[k] > -math.inf:
                found, bounds = Bound(k, 1.0, self.region.lower[k]), bounds + 1
            if self.region.upper[k] < math.inf:
                found, bounds = Bound(k, -1.0, self.region.upper[k]), bounds + 1
        return found if bounds == 1 else Bound(-1, 1.0, 0.0)


def planes(normals: ArrayLike, offsets: ArrayLike | None, name: str = "") -> tuple[Floats, Floats]:
    """Normals (none of them zero) and offsets (zero by default), checked."""
    rows = matrix(f"{name}normals", normals)
    zero = ~np.any(rows != 0.0, axis=1)
    if zero.any():
        place, allowed = int(np.argmax(zero)), "a normal that is not zero"
        raise BadArgument(f"{name}normals[{place}]", rows[place].tolist(), allowed)
    if offsets is None:
        return rows, np.zeros(len(rows))
    levels = vector(f"{name}offsets", offsets)
    if levels.size != len(rows):
        raise BadArgument(f"{name}offsets", offsets, f"{len(rows)} numbers, one for each normal")
    return rows, levels


def polyhedron_region(name: str, given: object, count: int) -> Region:
    """The models of a polyhedron, checked."""
    if not isinstance(given, Polyhedron):
        allowed = "a Polyhedron" if name == "models" else "a Polyhedron, a Ball or an OutsideBall"
        raise BadArgument(name, given, allowed)
    rows, levels = np.zeros((0, count)), np.zeros(0)
    if given.normals is not None:
        rows, levels = planes(given.normals, given.offsets, f"{name}.")
        if rows.shape[1] != count:
            raise BadArgument(f"{name}.normals", given.normals, f"rows of {count} numbers")
    elif given.offsets is not None:
        raise BadArgument(f"{name}.offsets", given.offsets, "none without normals")
    bounds = [
        np.full(count, default) if end is None else checks.bounds(f"{name}.{side}", end, count)
        for side, end, default in (
            ("lower", given.lower, -math.inf),
            ("upper", given.upper, math.inf),
        )
    ]
    if np.any(bounds[0] > bounds[1]):
        raise BadArgument(f"{name}.upper", given.upper, "numbers of at least lower")
    return Region(rows, levels, bounds[0], bounds[1], np.zeros(count), math.inf)


def cell_region(name: str, given: object, count: int) -> tuple[Region, bool]:
    """The cell as given; and whether it is outside its ball."""
    if isinstance(given, Ball | OutsideBall):
        center = vector(f"{name}.center", given.center, count)
        radius = positive(f"{name}.radius", given.radius)
        return region(count, center=center, radius=radius), isinstance(given, OutsideBall)
    return polyhedron_region(name, given, count), False


def restrict(own: Region, known: Region) -> Region:
    """The cell, with the constraints on all models added."""
    return own._replace(
        normals=np.concatenate([own.normals, known.normals]),
        offsets=np.concatenate([own.offsets, known.offsets]),
        lower=np.maximum(own.lower, known.lower),
        upper=np.minimum(own.upper, known.upper),
    )


def kind_of(cell: Region, outside: bool) -> int:
    """The simplest kind that a cell is, its bounds folded."""
    bare = bool(np.all(np.isinf(cell.lower)) and np.all(np.isinf(cell.upper)))
    if outside:
        return OUTSIDE
    if math.isfinite(cell.radius) or len(cell.normals) > 1 or (len(cell.normals) == 1 and not bare):
        return REGION
    if len(cell.normals) == 0:
        return BOX
    used = cell.normals[0][cell.normals[0] != 0.0]
    paired = used.size == 2 and used[0] == -used[1] and cell.offsets[0] >= 0.0
    return GAP if paired else HALF_SPACE


def check_not_empty(what: str, cell: Region, family: Family) -> None:
    """Refuse a cell that holds no model of the family in its interior."""
    low, high = family.interval()
    lower = np.maximum(np.maximum(cell.lower, low), cell.center - cell.radius)
    upper = np.minimum(np.minimum(cell.upper, high), cell.center + cell.radius)
    feasible = bool(np.all(lower < upper))
    if feasible and len(cell.offsets):
        size = np.maximum(np.linalg.norm(cell.normals, axis=1), 1e-300)
        sides = cell.normals / size[:, None], cell.offsets / size, lower, upper
        feasible = _point_found(*sides) or _largest_margin(*sides) > MARGIN
    if not feasible:
        raise BadArgument(
            what, "an empty set", f"a set with an interior among the means of {family!r}"
        )


MARGIN, SWEEPS = 1e-9, 100  # how far from all planes a point must be; tries to find one


def _point_found(normals: Floats, offsets: Floats, lower: Floats, upper: Floats) -> bool:
    """Whether steps across the plane that is violated most lead to a point in the interior.

    Mostly they do, and a linear program, whose solver takes half a second to load, is not needed.
    """
    point = np.clip(np.zeros(lower.size), lower, upper)
    for _ in range(SWEEPS):
        margins = normals @ point - offsets
        worst = int(np.argmin(margins))
        if margins[worst] > MARGIN:
            return True
        point = np.clip(point + (1e-3 - margins[worst]) * normals[worst], lower, upper)
    return False


def _largest_margin(normals: Floats, offsets: Floats, lower: Floats, upper: Floats) -> float:
    """The largest t <= 1 with normals @ x >= offsets + t; -1 without one."""
    from scipy.optimize import linprog

    slack = np.hstack([-normals, np.ones((len(normals), 1))])
    goal = np.append(np.zeros(lower.size), -1.0)
    box = [*zip(lower, upper, strict=True), (None, 1.0)]
    found = linprog(goal, A_ub=slack, b_ub=-offsets, bounds=box)
    return float(found.x[-1]) if found.status == 0 else -1.0
