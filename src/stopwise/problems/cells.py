"""The user's own problem: answers whose alternatives are unions of convex cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.polyhedra import (
    HALF_SPACE,
    OUTSIDE,
    REGION,
    Ball,
    Given,
    OutsideBall,
    PackedCell,
    Polyhedron,
    cell_region,
    check_not_empty,
    kind_of,
    polyhedron_region,
    restrict,
)
from stopwise.cells.region import Region, fold_bounds, region_violations
from stopwise.core import spelling
from stopwise.core.arrays import Floats, Ints, largest, smallest, total
from stopwise.core.checks import arm_count
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.functions import jitable, variant, variants
from stopwise.core.options import NUMBERS, POSITIVE, ROWS, Option
from stopwise.core.values import Static
from stopwise.families.family import Family, Quadratic
from stopwise.problems.limits import needs_convexity
from stopwise.problems.problem import Answer, Code, Problem, close_of_listed, scratch

POLYHEDRON = {
    "type": "object",
    "properties": {"normals": ROWS, "offsets": NUMBERS, "lower": NUMBERS, "upper": NUMBERS},
    "additionalProperties": False,
}
BALL = {
    "type": "object",
    "properties": {"center": NUMBERS, "radius": POSITIVE, "outside": {"type": "boolean"}},
    "required": ["center", "radius"],
    "additionalProperties": False,
}
ALTERNATIVE = {
    "type": "object",
    "properties": {
        "answer": {"type": ["string", "number", "boolean"]},
        "cells": {"type": "array", "items": {"anyOf": [BALL, POLYHEDRON]}, "minItems": 1},
    },
    "required": ["answer", "cells"],
    "additionalProperties": False,
}
ALTERNATIVES = {"type": "array", "items": ALTERNATIVE, "minItems": 1}


# Reachable answers of a user's own cells, for quadratic families.
#
# The square root of a cost is the distance, in the norm sum_k w_k x_k^2/(2 variance_k), to the
# alternative: it changes by at most max_k |x_k|/sqrt(2 variance_k) when the means move by x, for any
# weights, and so does sqrt(D(mu, not i)). In the region N_k x_k^2/(2 variance_k) <= level, so that is at
# most rho = sqrt(level/min N). An answer can be the oracle's only if sqrt(D_i) + rho reaches
# max_j sqrt(D_j) - rho; as every arm is sampled rho goes to 0, and what is left are the oracle answers.
# For other families every answer counts as reachable. Sticky takes the close answers.


class CellCache(NamedTuple):
    """As ``Scratch``, with sqrt(D(mu, not i)) for every answer after so many samples."""

    model: Floats
    weights: Floats
    code: Code
    answers: Ints
    values: Floats
    samples: Floats


class Cells(Problem):
    """A problem stated by its alternatives.

    ``alternatives`` maps each answer, in the strict order, to the cells on which it is wrong: a
    Polyhedron, a Ball, an OutsideBall, or a list of them. An answer is correct at the means that
    lie inside none of its cells; every model must have a correct answer. ``models`` restricts the
    possible models to a Polyhedron.
    """

    arms: int
    given: Static  # the answers, and the cells as given; below, together with ``known``
    known: Region  # the possible models
    first: Ints  # the cells of answer i are first[i] to first[i + 1] - 1
    kinds: Ints
    normals: Floats  # cell x row x arm; rows of zeros constrain nothing
    offsets: Floats
    lower: Floats
    upper: Floats
    centers: Floats
    radii: Floats
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
        alternatives: dict[Answer, list[Given]] = {}
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
        if models is None:
            return cls(arms, alternatives)
        return cls(arms, alternatives, _spelled_polyhedron(f"{name}.models", models))

    def __init__(
        self,
        arms: int,
        alternatives: Mapping[Answer, Given | Sequence[Given]],
        models: Polyhedron | None = None,
    ) -> None:
        count = arm_count(arms)
        if not isinstance(alternatives, Mapping) or not alternatives:
            raise BadArgument("alternatives", alternatives, "a dict from answers to cells")
        known = polyhedron_region("models", Polyhedron() if models is None else models, count)
        given_cells: list[tuple[Region, bool]] = []
        first = [0]
        for answer, given in alternatives.items():
            own = given if isinstance(given, list) else [given]
            if not own:
                raise BadArgument(
                    f"alternatives[{answer!r}]",
                    given,
                    "at least one cell on which the answer is wrong",
                )
            for place, each in enumerate(own):
                given_cells.append(cell_region(f"alternatives[{answer!r}][{place}]", each, count))
            first.append(len(given_cells))
        words = Static((tuple(alternatives), tuple(cell for cell, _ in given_cells)))
        cells = [fold_bounds(restrict(cell, known)) for cell, _ in given_cells]
        outside = [each for _, each in given_cells]
        rows = max(len(cell.normals) for cell in cells)
        self.arms, self.given, self.known = count, words, known
        self.first = np.array(first, dtype=np.int64)
        self.kinds = np.array(list(map(kind_of, cells, outside)), dtype=np.int64)
        self.normals = np.zeros((len(cells), rows, count))
        self.offsets = np.full((len(cells), rows), -1.0)
        for place, cell in enumerate(cells):
            self.normals[place, : len(cell.normals)] = cell.normals
            self.offsets[place, : len(cell.offsets)] = cell.offsets
        self.lower = np.array([cell.lower for cell in cells])
        self.upper = np.array([cell.upper for cell in cells])
        self.centers = np.array([cell.center for cell in cells])
        self.radii = np.array([cell.radius for cell in cells])

    @property
    def labels(self) -> tuple[Answer, ...]:
        """The answers, in order."""
        found: tuple[Answer, ...] = self.given.content[0]
        return found

    def __repr__(self) -> str:
        return f"Cells(arms={self.arms}, answers={list(self.labels)}, cells={self.kinds.size})"

    def answers(self) -> Iterator[Answer]:
        return iter(self.labels)

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        for place, answer in enumerate(self.labels):
            cells = range(self.first[place], self.first[place + 1])
            if not any(_interior(self, cell, means) for cell in cells):
                yield answer

    def is_model(self, means: Floats) -> bool:
        violations = np.zeros(self.known.offsets.size + 1)
        region_violations(self.known, means, violations)
        bounded = np.all((means >= self.known.lower) & (means <= self.known.upper))
        return bool(bounded and np.max(violations) <= 1e-12)

    def cell_count(self, code: Code) -> int:
        return self.first[code[0] + 1] - self.first[code[0]]

    def cell(self, code: Code, j: int) -> PackedCell:
        place = self.first[code[0]] + j
        return PackedCell(self.kinds[place], region_at(self, place))

    def check(self, family: Family) -> None:
        for place, kind in enumerate(self.kinds):
            cell = region_at(self, place)
            if kind in (HALF_SPACE, REGION):
                needs_convexity("Cells with general half-spaces or balls", family)
            if kind == OUTSIDE:
                _check_outside(cell, family)
            else:
                check_not_empty(cell_name(self, place), cell, family)

    def rank(self) -> int:
        most = 1
        for place, kind in enumerate(self.kinds):
            cell = region_at(self, place)
            if kind == OUTSIDE or math.isfinite(cell.radius):
                return self.arms
            used = np.any(cell.normals != 0.0, axis=0)
            used |= np.isfinite(cell.lower) | np.isfinite(cell.upper)
            most = max(most, int(used.sum()))
        return most

    def union_bound(self) -> int:
        # at one truth at least one answer is right; each wrong one is to blame on one cell
        return max(1, min(len(self.labels) - 1, self.kinds.size))

    def init_cache(self, family: Family) -> CellCache:
        return CellCache(*scratch(self), np.zeros(len(self.labels)), np.full(1, -1.0))

    def rebuild_cache(self, family: Family, data: Data, cache: CellCache) -> None:
        cache.samples[0] = -1.0

    first_close = close_of_listed
    reach = variants(Problem.reach)

    @variant(reach, Quadratic)
    def reach_quadratic(
        self, family: Family, data: Data, code: Code, level: float, point: Floats
    ) -> float:
        return self.reach_round(family, data, self.init_cache(family), code, level, point)

    reach_round = variants(Problem.reach_round)

    @variant(reach_round, Quadratic)
    def reach_round_quadratic(
        self, family: Family, data: Data, cache: CellCache, code: Code, level: float, point: Floats
    ) -> float:
        """0 or infinite."""
        point[0], samples = math.nan, total(data.counts)
        if smallest(data.counts) == 0.0:
            return 0.0
        if cache.samples[0] != samples:
            cache.samples[0] = samples
            for each in range(cache.values.size):
                cache.code[0] = each
                value = self.solve_round(family, data.means, cache.code, cache.weights)
                cache.values[each] = math.sqrt(max(value, 0.0))
        rho = math.sqrt(level / smallest(data.counts))
        near = cache.values[code[0]] + rho >= largest(cache.values) - rho
        return 0.0 if near else math.inf


def _spelled_cell(name: str, given: object) -> Given:
    table = dict(spelling.table(name, given))
    outside = table.pop("outside", False)
    if "radius" in table:
        return spelling.build(name, "ball", OutsideBall if outside else Ball, table)
    if outside:
        raise BadArgument(f"{name}.outside", outside, "only for balls, which have a radius")
    return _spelled_polyhedron(name, table)


def _spelled_polyhedron(name: str, given: object) -> Polyhedron:
    table = spelling.table(name, given)
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


def _interior(problem: Cells, place: int, means: Floats) -> bool:
    cell = problem.given.content[1][place]
    violations = np.zeros(cell.offsets.size + 1)
    region_violations(cell, means, violations)
    if problem.kinds[place] == OUTSIDE:
        violations[-1] = -violations[-1]
    within = bool(np.all((means > cell.lower) & (means < cell.upper)))
    return within and bool(np.max(violations) < 0.0)


def cell_name(problem: Cells, place: int) -> str:
    """The cell as the user wrote it: alternatives[answer][number]."""
    owner = int(np.searchsorted(problem.first, place, side="right")) - 1
    return f"alternatives[{problem.labels[owner]!r}][{place - int(problem.first[owner])}]"


def _check_outside(cell: Region, family: Family) -> None:
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
