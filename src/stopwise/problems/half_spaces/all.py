"""Do the means lie on the upper side of every plane?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.half_space import (
    add_half_space_hessian,
    half_space_optimum,
    missing,
    project_half_space,
)
from stopwise.cells.polyhedra import check_not_empty
from stopwise.cells.region import Region, add_region_hessian, fold_bounds, region
from stopwise.cells.region_projection import project_region
from stopwise.cells.shape import Shape, half_space_shape, other_shape
from stopwise.core.arrays import Floats, fill
from stopwise.core.data import Curve, Data
from stopwise.core.verbs import jitable
from stopwise.problems import verbs
from stopwise.problems.half_spaces.checks import OPTIONS, check_planes, planes
from stopwise.problems.limits import OneOfTwo
from stopwise.problems.verbs import Answer, Code


class _AllHalfSpaces(NamedTuple):
    normals: Floats
    offsets: Floats
    region: Region


class AllHalfSpaces(_AllHalfSpaces, OneOfTwo):
    """Is normals[m] . mu >= offsets[m] for every m? Answers "yes", "no"; one of them is correct.

    "Is there an m with normals[m] . mu > offsets[m]?" is the same question about the complement:
    AllHalfSpaces(-normals, -offsets), with "no" for "there is".
    """

    __slots__ = ()
    title = "Is every linear combination high enough?"
    names = ("yes", "no")
    options = OPTIONS

    def __new__(cls, normals: ArrayLike, offsets: ArrayLike | None = None) -> AllHalfSpaces:
        rows, levels = planes(normals, offsets)
        yes = fold_bounds(region(rows.shape[1], rows, levels))
        return super().__new__(cls, rows, levels, yes)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.normals.shape[1])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.normals, self.offsets

    def __repr__(self) -> str:
        return f"AllHalfSpaces({self.normals.tolist()}, {self.offsets.tolist()})"


YES, NO = 0, 1


@verbs.correct_answers.register(AllHalfSpaces)
def _correct_answers(problem: AllHalfSpaces, means: Floats) -> Iterator[Answer]:
    heights = problem.normals @ means - problem.offsets
    if heights.min() >= 0.0:
        yield "yes"
    if heights.min() <= 0.0:
        yield "no"


@verbs.in_words.register(AllHalfSpaces)
def _in_words(problem: AllHalfSpaces, answer: str, labels: Sequence[str]) -> str:
    return "every combination is high enough" if answer == "yes" else "some combination is too low"


@verbs.cell_count.register(AllHalfSpaces)
def _cell_count(problem: AllHalfSpaces, code: Code) -> int:
    return problem.offsets.size if code[0] == YES else 1


@verbs.shape.register(AllHalfSpaces)
def _shape(problem: AllHalfSpaces, code: Code, cell: int) -> Shape:
    if code[0] == YES:
        return half_space_shape(problem.normals[cell], -1.0, problem.offsets[cell])
    if problem.offsets.size == 1:
        return half_space_shape(problem.normals[0], 1.0, problem.offsets[0])
    return other_shape()


@verbs.project.register(AllHalfSpaces)
def _project(
    problem: AllHalfSpaces, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    if code[0] == YES:
        normal, offset = -problem.normals[cell], -problem.offsets[cell]
        return project_half_space(family, data, normal, offset, closest)
    if problem.offsets.size == 1:
        return project_half_space(family, data, problem.normals[0], problem.offsets[0], closest)
    return project_region(family, data, problem.region, closest)


@verbs.add_hessian.register(AllHalfSpaces)
def _add_hessian(
    problem: AllHalfSpaces,
    family: Any,
    data: Data,
    code: Code,
    cell: int,
    closest: Floats,
    curve: Curve,
) -> None:
    if code[0] == YES:
        add_half_space_hessian(family, data, problem.normals[cell], closest, curve)
    else:
        add_region_hessian(family, data, problem.region, closest, curve)


@verbs.check.register(AllHalfSpaces)
def _check(problem: AllHalfSpaces, family: Any) -> None:
    check_planes(problem, family)
    check_not_empty('the models with answer "yes"', problem.normals, problem.offsets, family)


@verbs.rank.register(AllHalfSpaces)
def _rank(problem: AllHalfSpaces) -> int:
    return int(np.sum(np.any(problem.normals != 0.0, axis=0)))


verbs.union_bound.register(AllHalfSpaces)(lambda problem: 1)


@verbs.optimise.register(AllHalfSpaces)
def _optimise(
    problem: AllHalfSpaces, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    """One plane: a half-space. "No": the hardest plane, if reaching it reaches all the others.

    "Yes" where some plane is not reached: nothing to prove.
    """
    if code[0] != NO:
        for m in range(problem.offsets.size):
            if missing(problem.normals[m], problem.offsets[m], means) >= 0.0:
                fill(weights, 1.0 / means.size)
                return 0.0
        if problem.offsets.size > 1:
            return math.nan
        return half_space_optimum(family, means, -problem.normals[0], -problem.offsets[0], weights)
    best, place = 0.0, -1
    for m in range(problem.offsets.size):
        value = half_space_optimum(family, means, problem.normals[m], problem.offsets[m], weights)
        if value > best:
            best, place = value, m
    if place < 0:
        fill(weights, 1.0 / means.size)
        return 0.0
    if not _reaches_all(problem, family, means, place, weights):
        return math.nan
    return best


@jitable
def _reaches_all(
    problem: AllHalfSpaces, family: Any, means: Floats, place: int, weights: Floats
) -> bool:
    """Whether the closest model beyond one plane lies beyond all; leaves that plane's weights."""
    closest = np.zeros(means.size)
    normal, offset = problem.normals[place], problem.offsets[place]
    half_space_optimum(family, means, normal, offset, weights)
    project_half_space(family, Data(weights, means), normal, offset, closest)
    for m in range(problem.offsets.size):
        size = np.sum(np.abs(problem.normals[m])) * (1.0 + np.max(np.abs(closest)))
        if missing(problem.normals[m], problem.offsets[m], closest) > 1e-12 * size:
            return False
    return True


@verbs.vertices.register(AllHalfSpaces)
def _vertices(problem: AllHalfSpaces, family: Any, data: Data, code: Code) -> Floats:
    corners, means = [], data.means
    if code[0] == NO:
        own = np.zeros(means.size)
        values = [
            half_space_optimum(family, means, normal, offset, own)
            for normal, offset in zip(problem.normals, problem.offsets, strict=True)
        ]
        for m, value in enumerate(values):
            tied = value > 0.0 and value >= max(values) * (1.0 - 1e-12)
            if tied and _reaches_all(problem, family, means, m, own):
                corners.append(own.copy())
    return np.unique(np.array(corners), axis=0) if corners else data.counts[None].copy()
