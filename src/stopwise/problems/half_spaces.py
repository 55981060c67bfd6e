"""On which side of given planes do the means lie? Any one plane, or all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.bound import box_ends, total_divergence
from stopwise.cells.cell import Either
from stopwise.cells.half_space import HalfSpace, half_space_optimum, missing, only_arm
from stopwise.cells.polyhedra import check_not_empty, planes
from stopwise.cells.region import Region, fold_bounds, region
from stopwise.core.arrays import (
    Floats,
    Ints,
    add_combination,
    assign,
    fill,
    largest,
    replace,
    smallest,
    total,
)
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument
from stopwise.core.functions import jitable, variant, variants
from stopwise.core.options import NUMBERS, ROWS, Option
from stopwise.families.family import Family, Quadratic
from stopwise.problems.limits import OneOfTwo, OneThreshold, needs_convexity
from stopwise.problems.problem import Answer, Code, Problem, close_of_listed, scratch


class HalfSpaces(Problem, listed=False):
    """Questions about the sides of planes, normals[m] . mu = offsets[m]."""

    normals: Floats
    offsets: Floats
    options = {
        "normals": Option(ROWS, "A row for each combination: [[1, -1, 0], [0, 1, -1]]"),
        "offsets": Option(NUMBERS, "One for each combination: 0, 0.5; 0 if empty"),
    }

    def __init__(self, normals: ArrayLike, offsets: ArrayLike | None = None) -> None:
        self.normals, self.offsets = planes(normals, offsets)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.normals.shape[1])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.normals.tolist()}, {self.offsets.tolist()})"

    def check(self, family: Family) -> None:
        """Each plane must cut the family's means, and general ones need a convex divergence."""
        if any(only_arm(normal) < 0 for normal in self.normals):
            needs_convexity(type(self).__name__, family)
        low, high = family.interval()
        for m, (normal, offset) in enumerate(zip(self.normals, self.offsets, strict=True)):
            used = normal[normal != 0.0]
            least = float(np.sum(np.where(used > 0.0, used * low, used * high)))
            most = float(np.sum(np.where(used > 0.0, used * high, used * low)))
            if not least < offset < most:
                raise BadArgument(
                    f"offsets[{m}]",
                    float(offset),
                    f"between {least:g} and {most:g}, so that the plane cuts the means of {family!r}",
                )


# --------------- Which half-spaces can be the oracle's answer at a model of the confidence region?


SWEEPS = 2000


class Spot(NamedTuple):
    """Where a search writes a model at which the answer wins, and a half-space that it cannot pass."""

    point: Floats
    wall: Floats


@variants(allocates=True)
def half_space_reach(
    family: Family, problem: AnyHalfSpace, data: Data, code: Code, level: float, found: Spot
) -> float:
    """0 where the answer's largest D over a box is at least every other answer's smallest, else inf.

    Where the answer is found too far and a half-space shows it, that half-space is the ``wall``.
    The box holds the region. d(mu, lambda) falls as mu moves toward lambda, so D of a half-space is
    monotone in every mean and its extremes over the box are at corners.
    """
    found.point[0] = math.nan
    bottom, top = np.zeros(data.means.size), np.zeros(data.means.size)
    for k in range(bottom.size):
        bottom[k], top[k] = box_ends(family, data, k, level)
        if not math.isfinite(bottom[k]) or not math.isfinite(top[k]):
            return 0.0
    most, least = -1.0, 0.0
    for place in range(2 * problem.offsets.size):
        value = _corner_value(problem, family, bottom, top, place, False)
        least = max(least, value)
        if place == code[0]:
            most = _corner_value(problem, family, bottom, top, place, True)
    return 0.0 if most >= least else math.inf


@jitable
def _corner_value(
    problem: AnyHalfSpace, family: Family, bottom: Floats, top: Floats, place: int, best: bool
) -> float:
    """D of an answer at its best or worst corner of the box; -1 where it is wrong."""
    side = 1.0 if place % 2 == 0 else -1.0
    normal, offset = -side * problem.normals[place // 2], -side * problem.offsets[place // 2]
    corner, weights = np.zeros(bottom.size), np.zeros(bottom.size)
    for k in range(bottom.size):
        corner[k] = top[k] if (normal[k] < 0.0) == best else bottom[k]
    if missing(normal, offset, corner) < 0.0:
        return -1.0
    return half_space_optimum(family, corner, normal, offset, weights)


@jitable
def length(family: Family, normal: Floats) -> float:
    """The sum of |a_k|, times each arm's standard deviation where arms differ in that."""
    total = 0.0
    for k in range(normal.size):
        if family.arms_alike():
            total += abs(normal[k])
        else:
            total += abs(normal[k]) * math.sqrt(family.of_arm(k).variance_at(0.0))
    return total


@variant(half_space_reach, Quadratic)
def _cone_distance(
    family: Family, problem: AnyHalfSpace, data: Data, code: Code, level: float, found: Spot
) -> float:
    """D of (m, s) is (s p_m)^2/2 with p = (U mu - b)/length(u): it wins where s p_m >= all |p_j|."""
    normals, offsets, wall = problem.normals, problem.offsets, found.wall
    planes, arms = offsets.size, found.point.size
    m, side = code[0] // 2, 1.0 if code[0] % 2 == 0 else -1.0
    for k in range(arms):
        wall[k] = side * normals[m, k]
    wall[arms] = side * offsets[m]
    price = wall_price(family, data, wall)
    if price > level:  # too far from the right side of its plane
        return price
    rows, levels = np.zeros((2 * planes, arms)), np.zeros(2 * planes)
    own = side / length(family, normals[m])
    for j in range(planes):
        other = 0.0 if j == m else 1.0 / length(family, normals[j])
        for half in range(2):
            sign = other if half == 0 else -other
            for k in range(arms):
                rows[2 * j + half, k] = own * normals[m, k] + sign * normals[j, k]
            levels[2 * j + half] = own * offsets[m] + sign * offsets[j]
            if length(family, rows[2 * j + half]) < 1e-14:  # a plane parallel to the answer's own
                if levels[2 * j + half] > 1e-14:
                    return math.inf
                levels[2 * j + half] = -1.0
    return _hildreth(family, data, rows, levels, level, found)


@jitable(allocates=True)
def _hildreth(
    family: Family, data: Data, rows: Floats, levels: Floats, level: float, found: Spot
) -> float:
    """The distance to rows @ mu' >= levels by Hildreth's method: maximise the dual, row by row.

    The dual's value only rises and is never too large, so it may stop once it is above ``level``
    and rises slowly. The multipliers' combination of the rows is a half-space just as far away: the
    wall. Any model that fulfils the rows and costs at most ``level`` will do, so one is tried a little
    further in. The point is nan where none was found that fulfils the rows to 1e-9.
    """
    (counts, means), (point, wall) = data, found
    theta, stiff, soft = np.zeros(levels.size), np.zeros(levels.size), np.zeros(means.size)
    inward, lifted = np.zeros(means.size), np.zeros(means.size)
    for k in range(means.size):
        point[k] = means[k]
        soft[k] = family.of_arm(k).variance_at(means[k]) / max(counts[k], 1e-13)
    for r in range(levels.size):
        for k in range(means.size):
            stiff[r] += rows[r, k] * rows[r, k] * soft[k]
            inward[k] += rows[r, k] * soft[k]
    value = 0.0
    for _ in range(SWEEPS):
        worst, before = 0.0, value
        for r in range(levels.size):
            lack = missing(rows[r], levels[r], point)
            if stiff[r] > 0.0:
                worst = max(worst, lack)
                step = max(lack / stiff[r], -theta[r])
                if step != 0.0:
                    theta[r] += step
                    value += step * (lack - 0.5 * step * stiff[r])
                    for k in range(means.size):
                        point[k] += step * rows[r, k] * soft[k]
        if value > level and value - before <= 0.1 * (value - level):
            fill(wall, 0.0)
            add_combination(rows, theta, wall[:-1])
            wall[-1] = -missing(theta, 0.0, levels)
            return value
        if worst <= 1e-9 * (largest(point) - smallest(point)):
            return value
        if value <= level and _move_inside(rows, levels, point, inward, lifted):
            price = total_divergence(family, data, lifted)
            if price <= level:
                assign(point, lifted)
                return price
    point[0] = math.nan
    return value


@jitable
def _move_inside(
    rows: Floats, levels: Floats, point: Floats, inward: Floats, lifted: Floats
) -> bool:
    """Move a point inward until it fulfils all rows; whether it does."""
    step = 0.0
    for r in range(levels.size):
        lack, gain = missing(rows[r], levels[r], point), -missing(rows[r], 0.0, inward)
        if lack > step * gain:
            if gain <= 0.0:
                return False
            step = lack / gain
    for k in range(point.size):
        lifted[k] = point[k] + (1.0 + 1e-12) * step * inward[k]
    return True


@variants
def wall_price(family: Family, data: Data, wall: Floats) -> float:
    """The distance to the models beyond a wall, wall[:K] @ mu' >= wall[K]; 0 where it is not known."""
    return 0.0


@variant(wall_price, Quadratic)
def _quadratic_wall_price(family: Family, data: Data, wall: Floats) -> float:
    counts, means = data
    lack, spread = wall[means.size], 0.0
    for k in range(means.size):
        lack -= wall[k] * means[k]
        own = family.of_arm(k).variance_at(means[k])
        spread += wall[k] * wall[k] * own / max(counts[k], 1e-13)
    return 0.5 * lack * lack / spread if lack > 0.0 else 0.0


class Planes(NamedTuple):
    """Heights u.mu - b over the planes and, for quadratic families, their variances a^2 variance/N."""

    heights: Floats
    spreads: Floats
    columns: Floats  # arm x plane: a
    squares: Floats  # arm x plane: a^2 variance
    sizes: Floats  # 1/sum_k |a_k| s_k
    targets: Floats  # plane x arm: |a_k| s_k/sum, the oracle weights of either side
    walls: Floats  # answer x (arm, offset): what lay between the region and the answer, or nan
    reached: Floats  # answer x arm: where the answer was found in the region, or nan
    model: Floats
    weights: Floats
    code: Code
    answers: Ints


# ---------------------------------------------- Do the means lie on the upper side of every plane?


class AllHalfSpaces(HalfSpaces, OneOfTwo):
    """Is normals[m] . mu >= offsets[m] for every m? Answers "yes", "no"; one of them is correct.

    "Is there an m with normals[m] . mu > offsets[m]?" is the same question about the complement:
    AllHalfSpaces(-normals, -offsets), with "no" for "there is".
    """

    region: Region
    title = "Is every linear combination high enough?"
    names = ("yes", "no")

    def __init__(self, normals: ArrayLike, offsets: ArrayLike | None = None) -> None:
        HalfSpaces.__init__(self, normals, offsets)
        self.region = fold_bounds(region(self.normals.shape[1], self.normals, self.offsets))

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        heights = self.normals @ means - self.offsets
        if heights.min() >= 0.0:
            yield "yes"
        if heights.min() <= 0.0:
            yield "no"

    def answer_text(self, answer: str, labels: Sequence[str]) -> str:
        return (
            "every combination is high enough" if answer == "yes" else "some combination is too low"
        )

    def cell_count(self, code: Code) -> int:
        return self.offsets.size if code[0] == YES else 1

    def cell(self, code: Code, j: int) -> Either:
        plane, yes = j, code[0] == YES
        if not yes:
            plane = 0
        side = HalfSpace(self.normals[plane], self.offsets[plane], -1.0 if yes else 1.0)
        return Either(side, self.region, yes or self.offsets.size == 1)

    def check(self, family: Family) -> None:
        HalfSpaces.check(self, family)
        yes = region(self.arms, self.normals, self.offsets)
        check_not_empty('the models with answer "yes"', yes, family)

    def rank(self) -> int:
        return int(np.sum(np.any(self.normals != 0.0, axis=0)))

    def union_bound(self) -> int:
        return 1

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        """One plane: a half-space. "No": the hardest plane, if reaching it reaches all the others.

        "Yes" where some plane is not reached: nothing to prove.
        """
        if code[0] != NO:
            for m in range(self.offsets.size):
                if missing(self.normals[m], self.offsets[m], means) >= 0.0:
                    fill(weights, 1.0 / means.size)
                    return 0.0
            if self.offsets.size > 1:
                return math.nan
            return half_space_optimum(family, means, -self.normals[0], -self.offsets[0], weights)
        best, place = 0.0, -1
        for m in range(self.offsets.size):
            value = half_space_optimum(family, means, self.normals[m], self.offsets[m], weights)
            if value > best:
                best, place = value, m
        if place < 0:
            fill(weights, 1.0 / means.size)
            return 0.0
        if not _reaches_all(self, family, means, place, weights):
            return math.nan
        return best

    def vertices(self, family: Family, data: Data, code: Code) -> Floats:
        corners, means = [], data.means
        if code[0] == NO:
            own = np.zeros(means.size)
            values = [
                half_space_optimum(family, means, normal, offset, own)
                for normal, offset in zip(self.normals, self.offsets, strict=True)
            ]
            for m, value in enumerate(values):
                tied = value > 0.0 and value >= max(values) * (1.0 - 1e-12)
                if tied and _reaches_all(self, family, means, m, own):
                    corners.append(own.copy())
        return np.unique(np.array(corners), axis=0) if corners else data.counts[None].copy()


YES, NO = 0, 1


@jitable
def _reaches_all(
    problem: AllHalfSpaces, family: Family, means: Floats, place: int, weights: Floats
) -> bool:
    """Whether the closest model beyond one plane lies beyond all; leaves that plane's weights."""
    closest = np.zeros(means.size)
    normal, offset = problem.normals[place], problem.offsets[place]
    half_space_optimum(family, means, normal, offset, weights)
    HalfSpace(normal, offset, 1.0).project(family, Data(weights, means), closest)
    for m in range(problem.offsets.size):
        size = np.sum(np.abs(problem.normals[m])) * (1.0 + np.max(np.abs(closest)))
        if missing(problem.normals[m], problem.offsets[m], closest) > 1e-12 * size:
            return False
    return True


# ------------------------------------------------ Any plane, with the side on which the means lie


class AnyHalfSpace(HalfSpaces):
    """Any plane with the side on which the means lie: (m, +1) if normals[m] . mu >= offsets[m].

    Answers (m, +1) and (m, -1), ordered by m, +1 first.
    """

    title = "Name any one linear combination, and its side"

    def __init__(self, normals: ArrayLike, offsets: ArrayLike | None = None) -> None:
        HalfSpaces.__init__(self, normals, offsets)

    def init_cache(self, family: Family) -> Planes:
        planes = self.offsets.size
        spread = np.ones(self.arms)
        if isinstance(family, Quadratic):
            spread = np.array([family.of_arm(k).variance_at(0.0) for k in range(self.arms)])
        scale = np.ones(self.arms) if family.arms_alike() else np.sqrt(spread)
        lengths = np.abs(self.normals) * scale
        sizes = 1.0 / np.sum(lengths, axis=1)
        return Planes(
            np.zeros(planes),
            np.zeros(planes),
            np.ascontiguousarray(self.normals.T),
            np.ascontiguousarray(self.normals.T**2 * spread[:, None]),
            sizes,
            lengths * sizes[:, None],
            np.full((2 * planes, self.arms + 1), math.nan),
            np.full((2 * planes, self.arms), math.nan),
            *scratch(self),
        )

    def rebuild_cache(self, family: Family, data: Data, cache: Planes) -> None:
        counts, means = data
        for m in range(cache.heights.size):
            cache.heights[m] = -missing(self.normals[m], self.offsets[m], means)
            cache.spreads[m] = 0.0
            for k in range(means.size):
                cache.spreads[m] += cache.squares[k, m] / counts[k]
        # a new run: what it does must not depend on runs before it
        if total(counts) == counts.size:
            for place in range(cache.walls.shape[0]):
                cache.walls[place, 0] = cache.reached[place, 0] = math.nan

    def update_cache(
        self, family: Family, data: Data, cache: Planes, arm: int, before: float
    ) -> None:
        moved = data.means[arm] - before
        less = 1.0 / data.counts[arm] - 1.0 / (data.counts[arm] - 1.0)
        for m in range(cache.heights.size):
            cache.heights[m] += cache.columns[arm, m] * moved
            cache.spreads[m] += cache.squares[arm, m] * less

    first_close = variants(close_of_listed)
    variant(first_close, Quadratic)(Problem.first_close)  # what can be reached is solved for
    first_oracle = variants(Problem.first_oracle)

    @variant(first_oracle, Quadratic)
    def first_oracle_quadratic(
        self, family: Family, data: Data, cache: Planes, code: Code, weights: Floats
    ) -> None:
        """The plane with the largest D on the side where the means are."""
        best, place = -1.0, 0
        for m in range(cache.heights.size):
            value = abs(cache.heights[m]) * cache.sizes[m]  # D = value^2/2, but for one variance
            if value > best:
                best, place = value, m
        code[0] = 2 * place if cache.heights[place] >= 0.0 else 2 * place + 1
        replace(weights, cache.targets[place])

    @variants
    def answer_weights(
        self, family: Family, data: Data, cache: Planes, code: Code, weights: Floats
    ) -> None:
        """The oracle weights; at the plane and beyond it, proportional to |a_k| sqrt(V(mu_k))."""
        means = data.means
        if self.optimise(family, means, code, weights) > 0.0:
            return
        whole = 0.0
        for k in range(means.size):
            spread = family.of_arm(k).variance_at(means[k])
            weights[k] = cache.targets[code[0] // 2, k] * math.sqrt(spread)
            whole += weights[k]
        for k in range(means.size):
            weights[k] = weights[k] / whole if whole > 0.0 else 1.0 / means.size

    @variant(answer_weights, Quadratic)
    def answer_weights_quadratic(
        self, family: Family, data: Data, cache: Planes, code: Code, weights: Floats
    ) -> None:
        replace(weights, cache.targets[code[0] // 2])

    best_evidence = variants(Problem.best_evidence)

    @variant(best_evidence, Quadratic)
    def best_evidence_quadratic(
        self, family: Family, data: Data, cache: Planes, enough: float, code: Code
    ) -> float:
        """(u.mu - b)^2/(2 sum_k a_k^2 variance/N_k)."""
        reached = False
        for m in range(cache.heights.size):
            height = cache.heights[m]
            reached |= not 0.5 * height * height < enough * cache.spreads[m]
        if not reached:
            return 0.0
        best, place = -1.0, 0
        for m in range(cache.heights.size):
            value = cache.heights[m] * cache.heights[m] / cache.spreads[m]
            if not value <= best:
                best, place = value, m
        code[0] = 2 * place if cache.heights[place] >= 0.0 else 2 * place + 1
        return 0.5 * best

    def reach_round(
        self, family: Family, data: Data, cache: Planes, code: Code, level: float, point: Floats
    ) -> float:
        """What decided last time often still does: a wall between the region and the answer, or a model."""
        wall, reached = cache.walls[code[0]], cache.reached[code[0]]
        price = wall_price(family, data, wall)
        if price > level:
            return price
        price = total_divergence(family, data, reached)
        if price <= level:
            assign(point, reached)
            return price
        price = half_space_reach(family, self, data, code, level, Spot(point, wall))
        if price <= level:
            assign(reached, point)
        return price

    def answers(self) -> Iterator[Answer]:
        return ((m, side) for m in range(self.offsets.size) for side in (1, -1))

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        for m, height in enumerate(self.normals @ means - self.offsets):
            if height >= 0.0:
                yield (m, 1)
            if height <= 0.0:
                yield (m, -1)

    def answer_text(self, answer: tuple[int, int], labels: Sequence[str]) -> str:
        plane, sign = answer
        side = "at least" if sign > 0 else "at most"
        return f"combination {plane} is {side} {self.offsets[plane]:g}"

    def cell_count(self, code: Code) -> int:
        return 1

    def cell(self, code: Code, j: int) -> HalfSpace:
        m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
        return HalfSpace(self.normals[m], self.offsets[m], side)

    def rank(self) -> int:
        return int(np.max(np.sum(self.normals != 0.0, axis=1)))

    def union_bound(self) -> int:
        return int(self.offsets.size)

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        m, side = code[0] // 2, -1.0 if code[0] % 2 == 0 else 1.0
        normal, offset = side * self.normals[m], side * self.offsets[m]
        return half_space_optimum(family, means, normal, offset, weights)

    solve_round = OneThreshold.solve_round

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        wall = np.zeros(point.size + 1)
        return half_space_reach(family, self, data, code, level, Spot(point, wall))
