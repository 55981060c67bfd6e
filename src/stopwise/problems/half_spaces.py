"""On which side of given planes do the means lie? Any one plane, or all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.checks import Floats, matrix, vector
from stopwise.errors import BadArgument
from stopwise.families.base import interval
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.problems.polyhedra import check_not_empty
from stopwise.problems.reaching import half_space_reach
from stopwise.shapes.half_space import add_half_space_hessian, only_arm, project_half_space
from stopwise.shapes.region import (
    Region,
    add_region_hessian,
    fold_bounds,
    region,
)
from stopwise.shapes.region_projection import project_region
from stopwise.values import value


def planes(normals: ArrayLike, offsets: ArrayLike | None) -> tuple[Floats, Floats]:
    """Normals (none of them zero) and offsets (zero by default), checked."""
    rows = matrix("normals", normals)
    zero = ~np.any(rows != 0.0, axis=1)
    if zero.any():
        place = int(np.argmax(zero))
        raise BadArgument(f"normals[{place}]", rows[place].tolist(), "a normal that is not zero")
    if offsets is None:
        return rows, np.zeros(len(rows))
    levels = vector("offsets", offsets)
    if levels.size != len(rows):
        raise BadArgument("offsets", offsets, f"{len(rows)} numbers, one for each normal")
    return rows, levels


class _AnyHalfSpace(NamedTuple):
    normals: Floats
    offsets: Floats


@value
class AnyHalfSpace(_AnyHalfSpace):
    """Any plane with the side on which the means lie: (m, +1) if normals[m] . mu >= offsets[m].

    Answers (m, +1) and (m, -1), ordered by m, +1 first.
    """

    __slots__ = ()

    def __new__(cls, normals: ArrayLike, offsets: ArrayLike | None = None) -> AnyHalfSpace:
        return super().__new__(cls, *planes(normals, offsets))

    def __repr__(self) -> str:
        return f"AnyHalfSpace({self.normals.tolist()}, {self.offsets.tolist()})"


class _AllHalfSpaces(NamedTuple):
    normals: Floats
    offsets: Floats
    region: Region


@value
class AllHalfSpaces(_AllHalfSpaces):
    """Is normals[m] . mu >= offsets[m] for every m? Answers "yes", "no"; one of them is correct.

    "Is there an m with normals[m] . mu > offsets[m]?" is the same question about the complement:
    AllHalfSpaces(-normals, -offsets), with "no" for "there is".
    """

    __slots__ = ()

    def __new__(cls, normals: ArrayLike, offsets: ArrayLike | None = None) -> AllHalfSpaces:
        rows, levels = planes(normals, offsets)
        yes = fold_bounds(region(rows.shape[1], rows, levels))
        return super().__new__(cls, rows, levels, yes)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.normals, self.offsets

    def __repr__(self) -> str:
        return f"AllHalfSpaces({self.normals.tolist()}, {self.offsets.tolist()})"


YES, NO = 0, 1


def check_planes(what: str, normals: Floats, offsets: Floats, family: Any) -> None:
    """Each plane must cut the family's means, and general ones need a convex divergence."""
    if any(only_arm(normal) < 0 for normal in normals):
        base.needs_convexity(what, family)
    low, high = interval(family)
    for m, (normal, offset) in enumerate(zip(normals, offsets, strict=True)):
        used = normal[normal != 0.0]
        least = float(np.sum(np.where(used > 0.0, used * low, used * high)))
        most = float(np.sum(np.where(used > 0.0, used * high, used * low)))
        if not least < offset < most:
            raise BadArgument(
                f"offsets[{m}]",
                float(offset),
                f"between {least:g} and {most:g}, so that the plane cuts the means of {family!r}",
            )


@base.arm_count.register(AnyHalfSpace)
@base.arm_count.register(AllHalfSpaces)
def _arm_count(problem: AnyHalfSpace) -> int:
    return problem.normals.shape[1]


@base.answers.register(AnyHalfSpace)
def _any_answers(problem: AnyHalfSpace) -> Iterator[Answer]:
    return ((m, side) for m in range(problem.offsets.size) for side in (1, -1))


@base.answers.register(AllHalfSpaces)
def _all_answers(problem: AllHalfSpaces) -> Iterator[Answer]:
    return iter(("yes", "no"))


@base.correct_answers.register(AnyHalfSpace)
def _any_correct(problem: AnyHalfSpace, means: Floats) -> Iterator[Answer]:
    for m, height in enumerate(problem.normals @ means - problem.offsets):
        if height >= 0.0:
            yield (m, 1)
        if height <= 0.0:
            yield (m, -1)


@base.correct_answers.register(AllHalfSpaces)
def _all_correct(problem: AllHalfSpaces, means: Floats) -> Iterator[Answer]:
    heights = problem.normals @ means - problem.offsets
    if heights.min() >= 0.0:
        yield "yes"
    if heights.min() <= 0.0:
        yield "no"


@base.cell_count.register(AnyHalfSpace)
def _any_cell_count(problem: AnyHalfSpace, code: Code) -> int:
    return 1


@base.cell_count.register(AllHalfSpaces)
def _all_cell_count(problem: AllHalfSpaces, code: Code) -> int:
    return problem.offsets.size if code[0] == YES else 1


@base.project.register(AnyHalfSpace)
def _any_project(
    problem: AnyHalfSpace,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
    normal, offset = side * problem.normals[m], side * problem.offsets[m]
    return project_half_space(family, weights, means, normal, offset, closest)


@base.project.register(AllHalfSpaces)
def _all_project(
    problem: AllHalfSpaces,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    if code[0] == YES:
        normal, offset = -problem.normals[cell], -problem.offsets[cell]
        return project_half_space(family, weights, means, normal, offset, closest)
    if problem.offsets.size == 1:
        return project_half_space(
            family, weights, means, problem.normals[0], problem.offsets[0], closest
        )
    return project_region(family, weights, means, problem.region, closest)


@base.add_hessian.register(AnyHalfSpace)
def _any_hessian(
    problem: AnyHalfSpace,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    normal = problem.normals[code[0] // 2]
    add_half_space_hessian(family, weights, means, normal, closest, scale, hessian)


@base.add_hessian.register(AllHalfSpaces)
def _all_hessian(
    problem: AllHalfSpaces,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    if code[0] == YES:
        normal = problem.normals[cell]
        add_half_space_hessian(family, weights, means, normal, closest, scale, hessian)
    else:
        add_region_hessian(family, weights, means, problem.region, closest, scale, hessian)


@base.check.register(AnyHalfSpace)
def _any_check(problem: AnyHalfSpace, family: Any) -> None:
    check_planes("AnyHalfSpace", problem.normals, problem.offsets, family)


@base.check.register(AllHalfSpaces)
def _all_check(problem: AllHalfSpaces, family: Any) -> None:
    check_planes("AllHalfSpaces", problem.normals, problem.offsets, family)
    check_not_empty('the models with answer "yes"', problem.normals, problem.offsets, family)


@base.rank.register(AnyHalfSpace)
def _any_rank(problem: AnyHalfSpace) -> int:
    return int(np.max(np.sum(problem.normals != 0.0, axis=1)))


@base.rank.register(AllHalfSpaces)
def _all_rank(problem: AllHalfSpaces) -> int:
    return int(np.sum(np.any(problem.normals != 0.0, axis=0)))


@base.events.register(AnyHalfSpace)
def _any_events(problem: AnyHalfSpace) -> int:
    return int(problem.offsets.size)


@base.events.register(AllHalfSpaces)
def _all_events(problem: AllHalfSpaces) -> int:
    return 1


@base.reach.register(AnyHalfSpace)
def _any_reach(
    problem: AnyHalfSpace,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    normals, offsets, wall = problem.normals, problem.offsets, np.zeros(means.size + 1)
    return half_space_reach(family, normals, offsets, counts, means, code, level, point, wall)


@base.reach.register(AllHalfSpaces)
def _all_reach(
    problem: AllHalfSpaces,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    # one answer is correct: "yes" is reachable if its models are, and they are the alternative to "no"
    return base.cost(problem, family, counts, means, 1 - code, point)


@base.answer_count.register(AnyHalfSpace)
def _any_answer_count(problem: AnyHalfSpace) -> int:
    return 2 * problem.offsets.size


@base.answer_count.register(AllHalfSpaces)
def _all_answer_count(problem: AllHalfSpaces) -> int:
    return 2
