"""Any plane, with the side on which the means lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.half_space import add_half_space_hessian, half_space_optimum, project_half_space
from stopwise.cells.shape import Shape, half_space_shape
from stopwise.core.arrays import Floats
from stopwise.core.data import Curve, Data
from stopwise.core.values import Problem
from stopwise.problems import rounds, verbs
from stopwise.problems.half_spaces.checks import OPTIONS, check_planes, planes
from stopwise.problems.half_spaces.reach import half_space_reach
from stopwise.problems.verbs import Answer, Code


class _AnyHalfSpace(NamedTuple):
    normals: Floats
    offsets: Floats


class AnyHalfSpace(_AnyHalfSpace, Problem):
    """Any plane with the side on which the means lie: (m, +1) if normals[m] . mu >= offsets[m].

    Answers (m, +1) and (m, -1), ordered by m, +1 first.
    """

    __slots__ = ()
    title = "Name any one linear combination, and its side"
    options = OPTIONS

    def __new__(cls, normals: ArrayLike, offsets: ArrayLike | None = None) -> AnyHalfSpace:
        return super().__new__(cls, *planes(normals, offsets))

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.normals.shape[1])

    def __repr__(self) -> str:
        return f"AnyHalfSpace({self.normals.tolist()}, {self.offsets.tolist()})"


@verbs.answers.register(AnyHalfSpace)
def _answers(problem: AnyHalfSpace) -> Iterator[Answer]:
    return ((m, side) for m in range(problem.offsets.size) for side in (1, -1))


verbs.answer_count.register(AnyHalfSpace)(lambda problem: 2 * problem.offsets.size)


@verbs.correct_answers.register(AnyHalfSpace)
def _correct_answers(problem: AnyHalfSpace, means: Floats) -> Iterator[Answer]:
    for m, height in enumerate(problem.normals @ means - problem.offsets):
        if height >= 0.0:
            yield (m, 1)
        if height <= 0.0:
            yield (m, -1)


@verbs.in_words.register(AnyHalfSpace)
def _in_words(problem: AnyHalfSpace, answer: Any, labels: Sequence[str]) -> str:
    plane, sign = answer
    side = "at least" if sign > 0 else "at most"
    return f"combination {plane} is {side} {problem.offsets[plane]:g}"


verbs.cell_count.register(AnyHalfSpace)(lambda problem, code: 1)


@verbs.shape.register(AnyHalfSpace)
def _shape(problem: AnyHalfSpace, code: Code, cell: int) -> Shape:
    m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
    return half_space_shape(problem.normals[m], side, problem.offsets[m])


@verbs.project.register(AnyHalfSpace)
def _project(
    problem: AnyHalfSpace, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
    normal, offset = side * problem.normals[m], side * problem.offsets[m]
    return project_half_space(family, data, normal, offset, closest)


@verbs.add_hessian.register(AnyHalfSpace)
def _add_hessian(
    problem: AnyHalfSpace,
    family: Any,
    data: Data,
    code: Code,
    cell: int,
    closest: Floats,
    curve: Curve,
) -> None:
    normal = problem.normals[code[0] // 2]
    add_half_space_hessian(family, data, normal, closest, curve)


verbs.check.register(AnyHalfSpace)(check_planes)


@verbs.rank.register(AnyHalfSpace)
def _rank(problem: AnyHalfSpace) -> int:
    return int(np.max(np.sum(problem.normals != 0.0, axis=1)))


verbs.union_bound.register(AnyHalfSpace)(lambda problem: int(problem.offsets.size))


@verbs.optimise.register(AnyHalfSpace)
def _optimise(
    problem: AnyHalfSpace, family: Any, means: Floats, code: Code, weights: Floats
) -> float:
    m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
    normal, offset = side * problem.normals[m], side * problem.offsets[m]
    return half_space_optimum(family, means, normal, offset, weights)


rounds.solve_round.register(AnyHalfSpace)(_optimise)


@verbs.reach.register(AnyHalfSpace)
def _reach(
    problem: AnyHalfSpace, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    wall = np.zeros(point.size + 1)
    return half_space_reach(problem, family, data, code, level, point, wall)
