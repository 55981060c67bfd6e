"""Cells as a user writes them, checked, packed into arrays and, in a run, unpacked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.bound import Bound, total_divergence
from stopwise.cells.cell import Cell, CellEvidence
from stopwise.cells.gap import Gap
from stopwise.cells.half_space import HalfSpace
from stopwise.cells.outside_ball import BallExterior
from stopwise.cells.region import Region, fold_bounds, region
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


def polyhedron_region(name: str, given: Any, count: int) -> Region:
    if not isinstance(given, Polyhedron):
        allowed = "a Polyhedron" if name == "models" else "a Polyhedron, a Ball or an OutsideBall"
        raise BadArgument(name, given, allowed)
    rows, levels = np.zeros((0, count)), np.zeros(0)
    if given.normals is not None:
        rows = matrix(f"{name}.normals", given.normals)
        if rows.shape[1] != count:
            raise BadArgument(f"{name}.normals", given.normals, f"rows of {count} numbers")
        if not np.all(np.any(rows != 0.0, axis=1)):
            raise BadArgument(f"{name}.normals", given.normals, "normals that are not zero")
        levels = np.zeros(len(rows))
    if given.offsets is not None:
        levels = vector(f"{name}.offsets", given.offsets)
        if levels.size != len(rows):
            allowed = (
                f"{len(rows)} numbers, one for each normal" if len(rows) else "none without normals"
            )
            raise BadArgument(f"{name}.offsets", given.offsets, allowed)
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


def cell_region(name: str, given: Any, count: int) -> tuple[Region, bool]:
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


def _kind(cell: Region, outside: bool) -> int:
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


def pack(first: list[int], regions: Sequence[tuple[Region, bool]], count: int) -> tuple[Any, ...]:
    folded = [(fold_bounds(cell), outside) for cell, outside in regions]
    rows = max((len(cell.normals) for cell, _ in folded), default=0)
    normals = np.zeros((len(folded), rows, count))
    offsets = np.full((len(folded), rows), -1.0)
    for place, (cell, _) in enumerate(folded):
        normals[place, : len(cell.normals)] = cell.normals
        offsets[place, : len(cell.offsets)] = cell.offsets
    return (
        np.array(first, dtype=np.int64),
        np.array([_kind(cell, outside) for cell, outside in folded], dtype=np.int64),
        normals,
        offsets,
        np.array([cell.lower for cell, _ in folded]).reshape(-1, count),
        np.array([cell.upper for cell, _ in folded]).reshape(-1, count),
        np.array([cell.center for cell, _ in folded]).reshape(-1, count),
        np.array([cell.radius for cell, _ in folded]),
    )


def check_not_empty(
    what: str,
    normals: Floats,
    offsets: Floats,
    family: Family,
    ball: Region | None = None,
    bounds: Region | None = None,
) -> None:
    """Refuse a cell that holds no model of the family in its interior."""
    count = normals.shape[1]
    low, high = family.interval()
    lower = np.full(count, low) if bounds is None else np.maximum(bounds.lower, low)
    upper = np.full(count, high) if bounds is None else np.minimum(bounds.upper, high)
    if ball is not None:
        lower = np.maximum(lower, ball.center - ball.radius)
        upper = np.minimum(upper, ball.center + ball.radius)
    feasible = bool(np.all(lower < upper))
    if feasible and len(offsets):
        size = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
        planes = normals / size[:, None], offsets / size
        feasible = (
            _point_found(*planes, lower, upper) or _largest_margin(*planes, lower, upper) > MARGIN
        )
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
