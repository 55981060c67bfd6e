"""Do the means lie inside or outside a sphere?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.outside_ball import add_outside_ball_hessian, project_outside_ball
from stopwise.cells.region import Region, add_region_hessian, region
from stopwise.cells.region_projection import project_region
from stopwise.core.arrays import Floats, fill
from stopwise.core.checks import arm_count, positive, vector
from stopwise.core.data import Curve, Data
from stopwise.core.errors import NotDefined
from stopwise.core.options import NUMBERS, POSITIVE, Option
from stopwise.core.verbs import jitable
from stopwise.families.verbs import OneVariance, Quadratic, variance
from stopwise.problems import rounds, verbs
from stopwise.problems.limits import OneOfTwo
from stopwise.problems.verbs import Code


class _Sphere(NamedTuple):
    arms: int
    radius: float
    center: Floats
    ball: Region


class Sphere(_Sphere, OneOfTwo):
    """Are the means "inside" or "outside" the sphere around ``center``? Gaussian arms."""

    __slots__ = ()
    title = "Are the means inside a ball?"
    names = ("inside", "outside")
    options = {
        "radius": Option(POSITIVE, "Of the ball; 1 if empty"),
        "center": Option(NUMBERS, "One number for each arm: 0, 0, 0; the origin if empty"),
    }

    def __new__(cls, arms: int, radius: float = 1.0, center: ArrayLike | None = None) -> Sphere:
        count, size = arm_count(arms), positive("radius", radius)
        middle = np.zeros(count) if center is None else vector("center", center, count)
        ball = region(count, center=middle, radius=size)
        return super().__new__(cls, count, size, middle, ball)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.arms, self.radius, self.center

    def __repr__(self) -> str:
        return f"Sphere(arms={self.arms}, radius={self.radius}, center={self.center.tolist()})"


INSIDE, OUTSIDE = 0, 1


@verbs.asked.register(Sphere)
def _asked(problem: Sphere) -> str:
    return f"Are the means inside the ball of radius {problem.radius:g}?"


@verbs.correct_answers.register(Sphere)
def _correct_answers(problem: Sphere, means: Floats) -> Iterator[str]:
    distance = float(np.linalg.norm(means - problem.center))
    if distance <= problem.radius:
        yield "inside"
    if distance >= problem.radius:
        yield "outside"


@verbs.in_words.register(Sphere)
def _in_words(problem: Sphere, answer: str, labels: Sequence[str]) -> str:
    return f"the means are {answer} the ball of radius {problem.radius:g}"


verbs.cell_count.register(Sphere)(lambda problem, code: 1)


@verbs.project.register(Sphere)
def _project(
    problem: Sphere, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    if code[0] == INSIDE:
        return project_outside_ball(family, data, problem.center, problem.radius, closest)
    return project_region(family, data, problem.ball, closest)


@verbs.add_hessian.register(Sphere)
def _add_hessian(
    problem: Sphere, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    if code[0] == INSIDE:
        add_outside_ball_hessian(family, data, problem.center, problem.radius, closest, curve)
    else:
        add_region_hessian(family, data, problem.ball, closest, curve)


@verbs.check.register(Sphere)
def _check(problem: Sphere, family: Any) -> None:
    if not isinstance(family, Quadratic):
        raise NotDefined(
            f"Sphere with {family!r}: the models outside a ball are not convex, and only for "
            "Gaussian arms is the closest one known to be found. Use Gaussian(variance)."
        )


verbs.rank.register(Sphere)(lambda problem: problem.arms)
verbs.union_bound.register(Sphere)(lambda problem: 1)


@jitable
def sphere_step(offset: Floats, radius: float, kept: Floats) -> float:
    """How far each kept arm moves: (sqrt(K (r^2 - ||mu||^2) + ||mu||_1^2) - ||mu||_1)/K.

    Marks in ``kept`` the arms that the appendix's recursion leaves: while its proviso fails the arm
    closest to the center gets no weight.
    """
    fill(kept, 1.0)
    for _ in range(offset.size):
        count, one, two, least, drop = 0, 0.0, 0.0, math.inf, -1
        for k in range(offset.size):
            if kept[k] > 0.0:
                size = abs(offset[k])
                count += 1
                one += size
                two += size * size
                if size < least:
                    least, drop = size, k
        room = count * (radius * radius - two)
        if (one - count * least) ** 2 <= one * one + room or count == 1:
            root = math.sqrt(max(one * one + room, 0.0))
            return room / (root + one) / count if root + one > 0.0 else 0.0
        kept[drop] = 0.0
    return 0.0


@verbs.optimise.register(Sphere, OneVariance)
def _optimise(problem: Sphere, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The appendix's closed form; arms that differ in their variances need the generic solver."""
    offset = means - problem.center
    distance = math.sqrt(np.sum(offset * offset))
    fill(weights, 1.0 / means.size)
    if (distance >= problem.radius) == (code[0] == INSIDE) or distance == problem.radius:
        return 0.0
    kept = np.zeros(means.size)
    step = sphere_step(offset, problem.radius, kept)
    # w_k = 1/K + (|mu_k| - ||mu||_1/K)/root, and root = ||mu||_1 + K step
    total = np.sum(kept * (np.abs(offset) + step))
    for k in range(means.size):
        weights[k] = kept[k] * (abs(offset[k]) + step) / total
    return 0.5 * step * step / variance(family, 0.0)


rounds.solve_round.register(Sphere, OneVariance)(_optimise)


@verbs.models.register(Sphere, OneVariance)
def _models(problem: Sphere, family: Any, data: Data, code: Code) -> Floats:
    """One model: every kept arm moves by the same step, the others to the center."""
    offset, kept = data.means - problem.center, np.zeros(problem.arms)
    step = sphere_step(offset, problem.radius, kept)
    side = np.where(offset >= 0.0, 1.0, -1.0)
    return (problem.center + kept * (offset + side * step))[None]
