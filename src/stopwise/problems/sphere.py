"""Do the means lie inside or outside a sphere?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.cell import Either
from stopwise.cells.outside_ball import BallExterior
from stopwise.cells.region import Region, region
from stopwise.core.arrays import Floats, fill
from stopwise.core.checks import arm_count, positive, vector
from stopwise.core.data import Data
from stopwise.core.errors import NotDefined
from stopwise.core.functions import jitable, variant, variants
from stopwise.core.options import NUMBERS, POSITIVE, Option
from stopwise.families.family import Family, OneVariance, Quadratic
from stopwise.problems.limits import OneOfTwo, OneThreshold
from stopwise.problems.problem import Code, Problem


class Sphere(OneOfTwo):
    """Are the means "inside" or "outside" the sphere around ``center``? Gaussian arms."""

    arms: int
    radius: float
    center: Floats
    ball: Region
    title = "Are the means inside a ball?"
    names = ("inside", "outside")
    options = {
        "radius": Option(POSITIVE, "Of the ball; 1 if empty"),
        "center": Option(NUMBERS, "One number for each arm: 0, 0, 0; the origin if empty"),
    }

    def __init__(self, arms: int, radius: float = 1.0, center: ArrayLike | None = None) -> None:
        self.arms, self.radius = arm_count(arms), positive("radius", radius)
        self.center = np.zeros(self.arms) if center is None else vector("center", center, self.arms)
        self.ball = region(self.arms, center=self.center, radius=self.radius)

    def __repr__(self) -> str:
        return f"Sphere(arms={self.arms}, radius={self.radius}, center={self.center.tolist()})"

    def question_text(self) -> str:
        return f"Are the means inside the ball of radius {self.radius:g}?"

    def correct_answers(self, means: Floats) -> Iterator[str]:
        distance = float(np.linalg.norm(means - self.center))
        if distance <= self.radius:
            yield "inside"
        if distance >= self.radius:
            yield "outside"

    def answer_text(self, answer: str, labels: Sequence[str]) -> str:
        return f"the means are {answer} the ball of radius {self.radius:g}"

    def cell_count(self, code: Code) -> int:
        return 1

    def cell(self, code: Code, j: int) -> Either:
        return Either(BallExterior(self.center, self.radius), self.ball, code[0] == INSIDE)

    def check(self, family: Family) -> None:
        if not isinstance(family, Quadratic):
            raise NotDefined(
                f"Sphere with {family!r}: the models outside a ball are not convex, and only for "
                "Gaussian arms is the closest one known to be found. Use Gaussian(variance)."
            )

    def rank(self) -> int:
        return self.arms

    def union_bound(self) -> int:
        return 1

    optimise = variants(Problem.optimise)

    @variant(optimise, OneVariance)
    def _optimise_alike(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        """The appendix's closed form; arms that differ in their variances need the generic solver."""
        offset = means - self.center
        distance = math.sqrt(np.sum(offset * offset))
        fill(weights, 1.0 / means.size)
        if (distance >= self.radius) == (code[0] == INSIDE) or distance == self.radius:
            return 0.0
        kept = np.zeros(means.size)
        step = sphere_step(offset, self.radius, kept)
        # w_k = 1/K + (|mu_k| - ||mu||_1/K)/root, and root = ||mu||_1 + K step
        total = np.sum(kept * (np.abs(offset) + step))
        for k in range(means.size):
            weights[k] = kept[k] * (abs(offset[k]) + step) / total
        return 0.5 * step * step / family.variance_at(0.0)

    solve_round = variants(Problem.solve_round)
    variant(solve_round, OneVariance)(OneThreshold.solve_round)
    models = variants(Problem.models)

    @variant(models, OneVariance)
    def _models_alike(self, family: Family, data: Data, code: Code) -> Floats:
        """One model: every kept arm moves by the same step, the others to the center."""
        offset, kept = data.means - self.center, np.zeros(self.arms)
        step = sphere_step(offset, self.radius, kept)
        side = np.where(offset >= 0.0, 1.0, -1.0)
        return (self.center + kept * (offset + side * step))[None]


INSIDE, OUTSIDE = 0, 1


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
