"""The user's own problem: answers whose alternatives are unions of convex cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.bound import total_divergence
from stopwise.cells.gap import add_gap_hessian, project_gap
from stopwise.cells.half_space import add_half_space_hessian, project_half_space
from stopwise.cells.outside_ball import add_outside_ball_hessian, project_outside_ball
from stopwise.cells.polyhedra import (
    BOX,
    GAP,
    HALF_SPACE,
    OUTSIDE,
    REGION,
    Ball,
    OutsideBall,
    Polyhedron,
    cell_region,
    check_not_empty,
    pack,
    polyhedron_region,
    restrict,
)
from stopwise.cells.region import Region, add_region_hessian, region_violations
from stopwise.cells.region_projection import project_region
from stopwise.cells.shape import Shape, box_shape, gap_shape, other_shape
from stopwise.core import spelling
from stopwise.core.arrays import Floats, Ints
from stopwise.core.checks import arm_count
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.options import Option
from stopwise.core.values import Aside, Problem
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Quadratic
from stopwise.problems import verbs
from stopwise.problems.cells.schema import ALTERNATIVES, POLYHEDRON
from stopwise.problems.limits import needs_convexity
from stopwise.problems.verbs import Answer, Code


class _Cells(NamedTuple):
    arms: int
    given: Aside  # the answers, and the cells as given; below, together with ``known``
    known: Region  # the possible models
    first: Ints  # the cells of answer i are first[i] to first[i + 1] - 1
    kinds: Ints
    normals: Floats  # cell x row x arm; rows of zeros constrain nothing
    offsets: Floats
    lower: Floats
    upper: Floats
    centers: Floats
    radii: Floats


class Cells(_Cells, Problem):
    """A problem stated by its alternatives.

    ``alternatives`` maps each answer, in the strict order, to the cells on which it is wrong: a
    Polyhedron, a Ball, an OutsideBall, or a list of them. An answer is correct at the means that
    lie inside none of its cells; every model must have a correct answer. ``models`` restricts the
    possible models to a Polyhedron.
    """

    __slots__ = ()
    title = "A question of your own, by its alternatives"
    options = {
        "alternatives": Option(
            ALTERNATIVES, 'Such as [{"answer": "yes", "cells": [{"upper": [0, 0]}]}, …]'
        ),
        "models": Option(POLYHEDRON, 'Such as {"lower": [0, 0]}'),
    }

    @classmethod
    def from_table(cls, name: str, options: dict[str, Any], arms: int) -> Cells:
        """alternatives = [{answer = "yes", cells = [{upper = [0, 0]}, {center = ...}]}, ...]."""
        given = options.get("alternatives")
        if not isinstance(given, list):
            allowed = 'a list of {answer = "...", cells = [...]}'
            raise BadArgument(f"{name}.alternatives", given, allowed)
        alternatives: dict[Answer, list[Any]] = {}
        for place, entry in enumerate(given):
            each = f"{name}.alternatives[{place}]"
            table = spelling.table(each, entry)
            spelling.only(each, table, ("answer", "cells"))
            cells = table.get("cells")
            if not isinstance(table.get("answer"), str | int) or not isinstance(cells, list):
                raise BadArgument(each, entry, 'a table {answer = "...", cells = [...]}')
            if table["answer"] in alternatives:
                raise BadArgument(f"{each}.answer", table["answer"], "each answer once")
            alternatives[table["answer"]] = [
                _spelled_cell(f"{each}.cells[{i}]", cell) for i, cell in enumerate(cells)
            ]
        models = options.get("models")
        return cls(
            arms, alternatives, None if models is None else _spelled_cell(f"{name}.models", models)
        )

    def __new__(
        cls,
        arms: int,
        alternatives: Mapping[Answer, Any],
        models: Polyhedron | None = None,
    ) -> Cells:
        count = arm_count(arms)
        if not isinstance(alternatives, Mapping) or not alternatives:
            raise BadArgument("alternatives", alternatives, "a dict from answers to cells")
        known = polyhedron_region("models", Polyhedron() if models is None else models, count)
        given_cells: list[tuple[Region, bool]] = []
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
                given_cells.append(cell_region(f"alternatives[{answer!r}][{place}]", cell, count))
            first.append(len(given_cells))
        words = Aside((tuple(alternatives), tuple(cell for cell, _ in given_cells)))
        within = [(restrict(cell, known), outside) for cell, outside in given_cells]
        packed = pack(first, within, count)
        return super().__new__(cls, count, words, known, *packed)

    @property
    def labels(self) -> tuple[Answer, ...]:
        """The answers, in order."""
        found: tuple[Answer, ...] = self.given.content[0]
        return found

    def __getnewargs__(self) -> tuple[Any, ...]:
        raise TypeError("Cells is rebuilt from its arrays")  # pragma: no cover

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (tuple(self),)

    def __repr__(self) -> str:
        return f"Cells(arms={self.arms}, answers={list(self.labels)}, cells={self.kinds.size})"


def _rebuild(fields: tuple[Any, ...]) -> Cells:
    return tuple.__new__(Cells, fields)


def _spelled_cell(name: str, given: Any) -> Any:
    table = dict(spelling.table(name, given))
    outside = table.pop("outside", False)
    if "radius" in table:
        return spelling.build(name, "ball", OutsideBall if outside else Ball, table)
    if outside:
        raise BadArgument(f"{name}.outside", outside, "only for balls, which have a radius")
    spelling.only(name, table, ("normals", "offsets", "lower", "upper"))
    return Polyhedron(**table)


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


@verbs.answers.register(Cells)
def _answers(problem: Cells) -> Iterator[Answer]:
    return iter(problem.labels)


@verbs.correct_answers.register(Cells)
def _correct_answers(problem: Cells, means: Floats) -> Iterator[Answer]:
    for place, answer in enumerate(problem.labels):
        cells = range(problem.first[place], problem.first[place + 1])
        if not any(_interior(problem, cell, means) for cell in cells):
            yield answer


def _interior(problem: Cells, place: int, means: Floats) -> bool:
    cell = problem.given.content[1][place]
    violations = np.zeros(cell.offsets.size + 1)
    region_violations(cell, means, violations)
    if problem.kinds[place] == OUTSIDE:
        violations[-1] = -violations[-1]
    within = bool(np.all((means > cell.lower) & (means < cell.upper)))
    return within and bool(np.max(violations) < 0.0)


@verbs.is_model.register(Cells)
def _is_model(problem: Cells, means: Floats) -> bool:
    violations = np.zeros(problem.known.offsets.size + 1)
    region_violations(problem.known, means, violations)
    bounded = np.all((means >= problem.known.lower) & (means <= problem.known.upper))
    return bool(bounded and np.max(violations) <= 1e-12)


@verbs.cell_count.register(Cells)
def _cell_count(problem: Cells, code: Code) -> int:
    return problem.first[code[0] + 1] - problem.first[code[0]]


@verbs.shape.register(Cells)
def _shape(problem: Cells, code: Code, cell: int) -> Shape:
    place = problem.first[code[0]] + cell
    kind = problem.kinds[place]
    if kind == BOX:
        return box_shape(problem.lower[place], problem.upper[place])
    if kind == GAP:
        arm, other = pair_of(problem.normals[place, 0])
        margin = problem.offsets[place, 0] / problem.normals[place, 0, other]
        return gap_shape(arm, other, margin)
    return other_shape()


@verbs.project.register(Cells)
def _project(
    problem: Cells, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    place = problem.first[code[0]] + cell
    kind = problem.kinds[place]
    if kind == BOX:
        for k in range(closest.size):
            closest[k] = min(max(data.means[k], problem.lower[place, k]), problem.upper[place, k])
        return total_divergence(family, data, closest)
    if kind == OUTSIDE:
        center, radius = problem.centers[place], problem.radii[place]
        return project_outside_ball(family, data, center, radius, closest)
    if kind == REGION:
        return project_region(family, data, region_at(problem, place), closest)
    normal, offset = problem.normals[place, 0], problem.offsets[place, 0]
    if kind == GAP:
        arm, other = pair_of(normal)
        return project_gap(family, data, arm, other, offset / normal[other], closest)
    return project_half_space(family, data, normal, offset, closest)


@verbs.add_hessian.register(Cells)
def _add_hessian(
    problem: Cells, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    place = problem.first[code[0]] + cell
    kind = problem.kinds[place]
    if kind == GAP:
        arm, other = pair_of(problem.normals[place, 0])
        add_gap_hessian(family, data, arm, other, closest, curve)
    elif kind == HALF_SPACE:
        normal = problem.normals[place, 0]
        add_half_space_hessian(family, data, normal, closest, curve)
    elif kind == REGION:
        cell_region = region_at(problem, place)
        add_region_hessian(family, data, cell_region, closest, curve)
    elif kind == OUTSIDE:
        center, radius = problem.centers[place], problem.radii[place]
        add_outside_ball_hessian(family, data, center, radius, closest, curve)


def cell_name(problem: Cells, place: int) -> str:
    """The cell as the user wrote it: alternatives[answer][number]."""
    owner = int(np.searchsorted(problem.first, place, side="right")) - 1
    return f"alternatives[{problem.labels[owner]!r}][{place - int(problem.first[owner])}]"


@verbs.check.register(Cells)
def _check(problem: Cells, family: Any) -> None:
    for place, kind in enumerate(problem.kinds):
        cell = region_at(problem, place)
        if kind in (HALF_SPACE, REGION):
            needs_convexity("Cells with general half-spaces or balls", family)
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
    if not isinstance(family, Quadratic):
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


@verbs.rank.register(Cells)
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


@verbs.union_bound.register(Cells)
def _union_bound(problem: Cells) -> int:
    # at one truth at least one answer is right; each wrong one is to blame on one cell
    return max(1, min(len(problem.labels) - 1, problem.kinds.size))


verbs.answer_count.register(Cells)(lambda problem: problem.first.size - 1)
