"""The user's own problem: answers whose alternatives are unions of convex cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise import checks
from stopwise.checks import Floats, matrix, positive, vector, whole
from stopwise.errors import BadArgument, NotDefined
from stopwise.families import Gaussian
from stopwise.families.base import interval
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.shapes.bound import total_divergence
from stopwise.shapes.gap import add_gap_hessian, project_gap
from stopwise.shapes.half_space import add_half_space_hessian, project_half_space
from stopwise.shapes.outside_ball import add_outside_ball_hessian, project_outside_ball
from stopwise.shapes.region import (
    Region,
    add_region_hessian,
    fold_bounds,
    project_region,
    region_violations,
)
from stopwise.values import value
from stopwise.verbs import jitable


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


class _Cells(NamedTuple):
    arms: int
    labels: tuple[Answer, ...]
    known: Region  # the possible models
    first: NDArray[np.int64]  # the cells of answer i are first[i] to first[i + 1] - 1
    kinds: NDArray[np.int64]
    normals: Floats  # cell x row x arm; rows of zeros constrain nothing
    offsets: Floats
    lower: Floats
    upper: Floats
    centers: Floats
    radii: Floats


@value
class Cells(_Cells):
    """A problem stated by its alternatives.

    ``alternatives`` maps each answer, in the strict order, to the cells on which it is wrong: a
    Polyhedron, a Ball, an OutsideBall, or a list of them. An answer is correct at the means that
    lie inside none of its cells; every model must have a correct answer. ``models`` restricts the
    possible models to a Polyhedron.
    """

    __slots__ = ()

    def __new__(
        cls,
        arms: int,
        alternatives: Mapping[Answer, Any],
        models: Polyhedron | None = None,
    ) -> Cells:
        count = whole("arms", arms, least=1)
        if not isinstance(alternatives, Mapping) or not alternatives:
            raise BadArgument("alternatives", alternatives, "a dict from answers to cells")
        known = _polyhedron("models", Polyhedron() if models is None else models, count)
        regions: list[tuple[Region, bool]] = []
        first = [0]
        for answer, given in alternatives.items():
            cells = given if isinstance(given, list) else [given]
            if not cells:
                raise BadArgument(
                    f"alternatives[{answer!r}]",
                    given,
                    "at least one cell on which the answer is wrong",
                )
            for place, cell in enumerate(cells):
                regions.append(_region(f"alternatives[{answer!r}][{place}]", cell, count, known))
            first.append(len(regions))
        return super().__new__(
            cls, count, tuple(alternatives), known, *_pack(first, regions, count)
        )

    def __getnewargs__(self) -> tuple[Any, ...]:
        raise TypeError("Cells is rebuilt from its arrays")  # pragma: no cover

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (tuple(self),)

    def __repr__(self) -> str:
        return f"Cells(arms={self.arms}, answers={list(self.labels)}, cells={self.kinds.size})"


def _rebuild(fields: tuple[Any, ...]) -> Cells:
    return tuple.__new__(Cells, fields)


def _polyhedron(name: str, given: Any, count: int) -> Region:
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


def _region(name: str, given: Any, count: int, known: Region) -> tuple[Region, bool]:
    """The cell, with the constraints on all models added; and whether it is outside its ball."""
    if isinstance(given, Ball | OutsideBall):
        center = vector(f"{name}.center", given.center, count)
        radius = positive(f"{name}.radius", given.radius)
        return known._replace(center=center, radius=radius), isinstance(given, OutsideBall)
    own = _polyhedron(name, given, count)
    return own._replace(
        normals=np.concatenate([own.normals, known.normals]),
        offsets=np.concatenate([own.offsets, known.offsets]),
        lower=np.maximum(own.lower, known.lower),
        upper=np.minimum(own.upper, known.upper),
    ), False


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


def _pack(first: list[int], regions: Sequence[tuple[Region, bool]], count: int) -> tuple[Any, ...]:
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


@jitable
def region_at(problem: Cells, place: int) -> Region:
    """One of the problem's cells."""
    return Region(
        problem.normals[place],
        problem.offsets[place],
        problem.lower[place],
        problem.upper[place],
        problem.centers[place],
        problem.radii[place],
    )


@jitable
def pair_of(normal: Floats) -> tuple[int, int]:
    """(arm, other) of the cell lambda_other >= lambda_arm + margin."""
    arm, other = 0, 0
    for k in range(normal.size):
        if normal[k] < 0.0:
            arm = k
        elif normal[k] > 0.0:
            other = k
    return arm, other


@base.arm_count.register(Cells)
def _arm_count(problem: Cells) -> int:
    return problem.arms


@base.answers.register(Cells)
def _answers(problem: Cells) -> Iterator[Answer]:
    return iter(problem.labels)


@base.correct_answers.register(Cells)
def _correct_answers(problem: Cells, means: Floats) -> Iterator[Answer]:
    for place, answer in enumerate(problem.labels):
        cells = range(problem.first[place], problem.first[place + 1])
        if not any(_interior(problem, cell, means) for cell in cells):
            yield answer


def _interior(problem: Cells, place: int, means: Floats) -> bool:
    cell = region_at(problem, place)
    violations = np.zeros(cell.offsets.size + 1)
    region_violations(cell, means, violations)
    if problem.kinds[place] == OUTSIDE:
        violations[-1] = -violations[-1]
    within = bool(np.all((means > cell.lower) & (means < cell.upper)))
    return within and bool(np.max(violations) < 0.0)


@base.is_model.register(Cells)
def _is_model(problem: Cells, means: Floats) -> bool:
    violations = np.zeros(problem.known.offsets.size + 1)
    region_violations(problem.known, means, violations)
    bounded = np.all((means >= problem.known.lower) & (means <= problem.known.upper))
    return bool(bounded and np.max(violations) <= 1e-12)


@base.cell_count.register(Cells)
def _cell_count(problem: Cells, code: Code) -> int:
    return problem.first[code[0] + 1] - problem.first[code[0]]


@base.project.register(Cells)
def _project(
    problem: Cells,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    place = problem.first[code[0]] + cell
    kind = problem.kinds[place]
    if kind == BOX:
        closest[:] = np.minimum(np.maximum(means, problem.lower[place]), problem.upper[place])
        return total_divergence(family, weights, means, closest)
    if kind == OUTSIDE:
        return project_outside_ball(
            family, weights, means, problem.centers[place], problem.radii[place], closest
        )
    if kind == REGION:
        return project_region(family, weights, means, region_at(problem, place), closest)
    normal, offset = problem.normals[place, 0], problem.offsets[place, 0]
    if kind == GAP:
        arm, other = pair_of(normal)
        return project_gap(family, weights, means, arm, other, offset / normal[other], closest)
    return project_half_space(family, weights, means, normal, offset, closest)


@base.add_hessian.register(Cells)
def _add_hessian(
    problem: Cells,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    place = problem.first[code[0]] + cell
    kind = problem.kinds[place]
    if kind == GAP:
        arm, other = pair_of(problem.normals[place, 0])
        add_gap_hessian(family, weights, means, arm, other, closest, scale, hessian)
    elif kind == HALF_SPACE:
        normal = problem.normals[place, 0]
        add_half_space_hessian(family, weights, means, normal, closest, scale, hessian)
    elif kind == REGION:
        cell_region = region_at(problem, place)
        add_region_hessian(family, weights, means, cell_region, closest, scale, hessian)
    elif kind == OUTSIDE:
        center, radius = problem.centers[place], problem.radii[place]
        add_outside_ball_hessian(family, weights, means, center, radius, closest, scale, hessian)


def cell_name(problem: Cells, place: int) -> str:
    """The cell as the user wrote it: alternatives[answer][number]."""
    owner = int(np.searchsorted(problem.first, place, side="right")) - 1
    return f"alternatives[{problem.labels[owner]!r}][{place - int(problem.first[owner])}]"


@base.check.register(Cells)
def _check(problem: Cells, family: Any) -> None:
    for place, kind in enumerate(problem.kinds):
        cell = region_at(problem, place)
        if kind in (HALF_SPACE, REGION):
            base.needs_convexity("Cells with general half-spaces or balls", family)
        if kind == OUTSIDE:
            _check_outside(cell, family)
        else:
            ball = math.isfinite(cell.radius)
            check_not_empty(
                cell_name(problem, place),
                cell.normals,
                cell.offsets,
                family,
                cell if ball else None,
                cell,
            )


def _check_outside(cell: Region, family: Any) -> None:
    if not isinstance(family, Gaussian):
        raise NotDefined(
            f"OutsideBall with {family!r}: it is not convex, and only for Gaussian arms is the closest "
            "model known to be found. Use Gaussian(variance)."
        )
    bounded = np.any(np.isfinite(cell.lower) | np.isfinite(cell.upper))
    if bounded or np.any(cell.normals != 0.0):
        raise NotDefined(
            "OutsideBall together with constraints on the models: the intersection is not convex, so "
            "its closest model could be a false minimum. Leave out ``models``."
        )


def check_not_empty(
    what: str,
    normals: Floats,
    offsets: Floats,
    family: Any,
    ball: Region | None = None,
    bounds: Region | None = None,
) -> None:
    """Refuse a cell that holds no model of the family in its interior."""
    from scipy.optimize import linprog

    count = normals.shape[1]
    low, high = interval(family)
    lower = np.full(count, low) if bounds is None else np.maximum(bounds.lower, low)
    upper = np.full(count, high) if bounds is None else np.minimum(bounds.upper, high)
    if ball is not None:
        lower = np.maximum(lower, ball.center - ball.radius)
        upper = np.minimum(upper, ball.center + ball.radius)
    box = [(a, b) for a, b in zip(lower, upper, strict=True)]
    feasible = all(a < b for a, b in box)
    if feasible and len(offsets):
        # the largest margin t <= 1 with normals @ x >= offsets + t |normal|
        size = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
        slack = np.hstack([-normals, size[:, None]])
        goal = np.zeros(count + 1)
        goal[-1] = -1.0
        found = linprog(goal, A_ub=slack, b_ub=-offsets, bounds=[*box, (None, 1.0)])
        feasible = found.status == 0 and found.x[-1] > 1e-9
    if not feasible:
        raise BadArgument(
            what, "an empty set", f"a set with an interior among the means of {family!r}"
        )


@base.rank.register(Cells)
def _rank(problem: Cells) -> int:
    most = 1
    for place, kind in enumerate(problem.kinds):
        cell = region_at(problem, place)
        if kind == OUTSIDE or math.isfinite(cell.radius):
            return problem.arms
        used = np.any(cell.normals != 0.0, axis=0)
        used |= np.isfinite(cell.lower) | np.isfinite(cell.upper)
        most = max(most, int(used.sum()))
    return most


@base.events.register(Cells)
def _events(problem: Cells) -> int:
    # at one truth at least one answer is right; each wrong one is to blame on one cell
    return max(1, min(len(problem.labels) - 1, problem.kinds.size))
