"""Do the means lie inside or outside a sphere?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.checks import Floats, positive, vector, whole
from stopwise.errors import NotDefined
from stopwise.families import Gaussian
from stopwise.problems import base
from stopwise.problems.base import Code
from stopwise.shapes.outside_ball import add_outside_ball_hessian, project_outside_ball
from stopwise.shapes.region import Region, add_region_hessian, region
from stopwise.shapes.region_projection import project_region
from stopwise.values import value


class _Sphere(NamedTuple):
    arms: int
    radius: float
    center: Floats
    ball: Region


@value
class Sphere(_Sphere):
    """Are the means "inside" or "outside" the sphere around ``center``? Gaussian arms."""

    __slots__ = ()

    def __new__(cls, arms: int, radius: float = 1.0, center: ArrayLike | None = None) -> Sphere:
        count, size = whole("arms", arms, least=1), positive("radius", radius)
        middle = np.zeros(count) if center is None else vector("center", center, count)
        ball = region(count, center=middle, radius=size)
        return super().__new__(cls, count, size, middle, ball)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.arms, self.radius, self.center

    def __repr__(self) -> str:
        return f"Sphere(arms={self.arms}, radius={self.radius}, center={self.center.tolist()})"


INSIDE, OUTSIDE = 0, 1


@base.arm_count.register(Sphere)
def _arm_count(problem: Sphere) -> int:
    return problem.arms


@base.answers.register(Sphere)
def _answers(problem: Sphere) -> Iterator[str]:
    return iter(("inside", "outside"))


@base.correct_answers.register(Sphere)
def _correct_answers(problem: Sphere, means: Floats) -> Iterator[str]:
    distance = float(np.linalg.norm(means - problem.center))
    if distance <= problem.radius:
        yield "inside"
    if distance >= problem.radius:
        yield "outside"


@base.cell_count.register(Sphere)
def _cell_count(problem: Sphere, code: Code) -> int:
    return 1


@base.project.register(Sphere)
def _project(
    problem: Sphere,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    if code[0] == INSIDE:
        return project_outside_ball(family, weights, means, problem.center, problem.radius, closest)
    return project_region(family, weights, means, problem.ball, closest)


@base.add_hessian.register(Sphere)
def _add_hessian(
    problem: Sphere,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    if code[0] == INSIDE:
        add_outside_ball_hessian(
            family, weights, means, problem.center, problem.radius, closest, scale, hessian
        )
    else:
        add_region_hessian(family, weights, means, problem.ball, closest, scale, hessian)


@base.check.register(Sphere)
def _check(problem: Sphere, family: Any) -> None:
    if not isinstance(family, Gaussian):
        raise NotDefined(
            f"Sphere with {family!r}: the models outside a ball are not convex, and only for "
            "Gaussian arms is the closest one known to be found. Use Gaussian(variance)."
        )


@base.rank.register(Sphere)
def _rank(problem: Sphere) -> int:
    return problem.arms


@base.events.register(Sphere)
def _events(problem: Sphere) -> int:
    return 1


@base.reach.register(Sphere)
def _reach(
    problem: Sphere,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    # one answer is correct: it is reachable if the alternative to the other one is
    return base.cost(problem, family, counts, means, 1 - code, point)


@base.answer_count.register(Sphere)
def _answer_count(problem: Sphere) -> int:
    return 2
