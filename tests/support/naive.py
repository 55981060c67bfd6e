"""A slow, naive and independent reference for the lower-bound game.

K arms have means mu in an exponential family with variance function V, whose divergence is
d(mu, lam) = integral from mu to lam of (x - mu) / V(x) dx.  The alternative is a union of cells:

    cost(w)  = inf over lam in the union of sum_k w_k d(mu_k, lam_k)
    value    = max over w in the simplex of cost(w)

Nothing here knows closed forms: cells of one or two arms are scanned on a grid, others go to
SLSQP from several starts, and the game is solved by bisection (K = 2) or by cuts (K >= 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import linprog, minimize

Array = NDArray[np.float64]
Divergence = Callable[[float, float], float]
Interval = tuple[float, float]

EXACT = 1e-12  # membership of the means in a cell
FEASIBLE = 1e-9  # membership of a computed point in a cell
GRID = 60  # grid points between two neighbouring breakpoints of a scan
SAMPLES = 400  # directions tried on the sphere of an 'outside' ball
STARTS = 4  # SLSQP runs of one projection
EVALUATIONS = 400  # cost evaluations of one game


def divergence(variance: Callable[[float], float], mu: float, lam: float) -> float:
    """d(mu, lam), the integral from mu to lam of (x - mu) / V(x) dx (for lam < mu too)."""
    if lam == mu:
        return 0.0
    result = quad(lambda x: (x - mu) / variance(x), mu, lam, epsabs=0.0, epsrel=1e-12, limit=500)
    return float(result[0])


def harmonic(values: Iterable[float]) -> float:
    """1 / sum_k 1 / x_k."""
    return 1.0 / math.fsum(1.0 / x for x in values)


def payoffs(d: Divergence, means: ArrayLike, models: ArrayLike, probabilities: ArrayLike) -> Array:
    """For every arm k: sum_m q_m d(mu_k, models[m, k])."""
    mu = np.asarray(means, dtype=float)
    rows = np.atleast_2d(np.asarray(models, dtype=float))
    total = np.zeros(mu.size)
    for q, row in zip(np.asarray(probabilities, dtype=float), rows, strict=True):
        if q > 0:
            total += q * _divergences(d, mu, row)
    return total


@dataclass(frozen=True, eq=False)
class Cell:
    """{lam: normals @ lam >= offsets, lower <= lam <= upper, lam in (or outside) the ball}."""

    normals: Array
    offsets: Array
    lower: Array | None = None
    upper: Array | None = None
    center: Array | None = None
    radius: float = 0.0
    outside: bool = False


def in_cell(cell: Cell, lam: ArrayLike, tolerance: float = FEASIBLE) -> bool:
    """Whether lam violates no constraint of the cell by more than the tolerance."""
    x = np.asarray(lam, dtype=float)
    normals, offsets = _rows(cell, x.size)
    if not bool(np.all(normals @ x >= offsets - tolerance)):
        return False
    if cell.lower is not None and not bool(np.all(x >= np.asarray(cell.lower) - tolerance)):
        return False
    if cell.upper is not None and not bool(np.all(x <= np.asarray(cell.upper) + tolerance)):
        return False
    if cell.center is None:
        return True
    depth = cell.radius - float(np.linalg.norm(x - np.asarray(cell.center)))
    return depth <= tolerance if cell.outside else depth >= -tolerance


def project(
    d: Divergence, interval: Interval, weights: ArrayLike, means: ArrayLike, cell: Cell
) -> tuple[float, Array]:
    """min over lam in the cell of sum_k w_k d(mu_k, lam_k), and a minimiser.

    An empty cell (no feasible point found) costs inf.
    """
    w, mu = np.asarray(weights, dtype=float), np.asarray(means, dtype=float)
    if in_cell(cell, mu, EXACT):
        return 0.0, mu.copy()
    problem = _problem(d, interval, w, mu, cell)
    if problem is None:
        return math.inf, mu.copy()
    arms = problem.linked()
    if len(arms) == 0:
        points = [problem.base()]
    elif len(arms) == 1:
        points = _best_in_arm(problem, problem.base(), arms[0])
    elif len(arms) == 2:
        points = _scan(problem, arms[0], arms[1]) + _scan(problem, arms[1], arms[0])
    else:
        points = _descend(problem)
    points = [x for x in points if in_cell(cell, x)]
    if not points:
        return math.inf, mu.copy()
    closest = min(points, key=problem.total)
    return problem.total(closest), closest


def cost(
    d: Divergence, interval: Interval, weights: ArrayLike, means: ArrayLike, cells: Sequence[Cell]
) -> tuple[float, Array]:
    """The smallest projection cost over the cells, and its minimiser."""
    results = [project(d, interval, weights, means, cell) for cell in cells]
    return min(results, key=lambda result: result[0])


def value(
    d: Divergence,
    interval: Interval,
    means: ArrayLike,
    cells: Sequence[Cell],
    tolerance: float = 1e-7,
) -> tuple[float, float, Array]:
    """(lower, upper, weights) with lower = cost(weights) <= max_w cost(w) <= upper."""
    mu = np.asarray(means, dtype=float)
    uniform = np.full(mu.size, 1.0 / mu.size)
    if any(in_cell(cell, mu, EXACT) for cell in cells):
        return 0.0, 0.0, uniform
    game = _Game(d, interval, mu, cells)
    game.run_rounds(uniform)
    if not game.rows:
        return game.lower, game.lower, uniform  # an infinite or arm-free cost
    if mu.size == 2:
        _bisect(game, tolerance)
    elif mu.size > 2:
        _level(game, tolerance)
    upper = game.solve()[0]
    return game.lower, max(game.lower, upper), game.best


# --- one projection -------------------------------------------------------------------------


def _rows(cell: Cell, arms: int) -> tuple[Array, Array]:
    """The half-spaces as an (n, K) array and an (n,) array, n = 0 included."""
    normals = np.asarray(cell.normals, dtype=float).reshape(-1, arms)
    return normals, np.asarray(cell.offsets, dtype=float).reshape(-1)


def _divergences(d: Divergence, mu: Array, lam: Array) -> Array:
    """d(mu_k, lam_k) for every arm."""
    return np.array([d(float(m), float(x)) for m, x in zip(mu, lam, strict=True)])


@dataclass(frozen=True, eq=False)
class _Problem:
    """A projection in normal form: a box, half-spaces of two or more arms, and the ball."""

    d: Divergence
    interval: Interval
    w: Array
    mu: Array
    cell: Cell
    low: Array
    high: Array
    normals: Array
    offsets: Array

    def term(self, arm: int, x: float) -> float:
        """w_k d(mu_k, x); an arm without weight moves for free."""
        weight = float(self.w[arm])
        return weight * float(self.d(float(self.mu[arm]), float(x))) if weight > 0 else 0.0

    def total(self, lam: Array) -> float:
        """sum_k w_k d(mu_k, lam_k)."""
        return math.fsum(self.term(k, x) for k, x in enumerate(lam))

    def base(self) -> Array:
        """The means moved into the box."""
        return np.clip(self.mu, self.low, self.high)

    def linked(self) -> list[int]:
        """The arms that occur in a half-space of several arms or in the ball."""
        if self.cell.center is not None:
            return list(range(self.mu.size))
        return [k for k in range(self.mu.size) if np.any(self.normals[:, k] != 0)]


def _problem(d: Divergence, interval: Interval, w: Array, mu: Array, cell: Cell) -> _Problem | None:
    """The normal form (half-spaces of one arm become bounds), or None for an empty box."""
    arms = mu.size
    low, high = np.full(arms, float(interval[0])), np.full(arms, float(interval[1]))
    if cell.lower is not None:
        low = np.maximum(low, cell.lower)
    if cell.upper is not None:
        high = np.minimum(high, cell.upper)
    if cell.center is not None and not cell.outside:
        low = np.maximum(low, np.asarray(cell.center) - cell.radius)
        high = np.minimum(high, np.asarray(cell.center) + cell.radius)
    normals, offsets = _rows(cell, arms)
    kept = []
    for n, (a, b) in enumerate(zip(normals, offsets, strict=True)):
        support = np.flatnonzero(a)
        if support.size > 1:
            kept.append(n)
        elif support.size == 0 and b > 0:
            return None
        elif support.size == 1:
            k = support[0]
            if a[k] > 0:
                low[k] = max(low[k], b / a[k])
            else:
                high[k] = min(high[k], b / a[k])
    if np.any(low > high):
        return None
    return _Problem(d, interval, w, mu, cell, low, high, normals[kept], offsets[kept])


def _allowed(problem: _Problem, lam: Array, arm: int) -> list[Interval]:
    """The values of one coordinate that are in the cell when the others are as in lam."""
    low, high = float(problem.low[arm]), float(problem.high[arm])
    for a, b in zip(problem.normals, problem.offsets, strict=True):
        slope = float(a[arm])
        rest = float(b - a @ lam) + slope * float(lam[arm])  # slope * x >= rest
        if slope > 0:
            low = max(low, rest / slope)
        elif slope < 0:
            high = min(high, rest / slope)
        elif rest > EXACT:
            return []
    pieces = [(low, high)]
    cell = problem.cell
    if cell.center is not None:
        offset = np.delete(lam - np.asarray(cell.center), arm)
        height = cell.radius**2 - float(offset @ offset)
        if abs(height) <= 1e-15 * cell.radius**2:
            height = 0.0
        half, middle = math.sqrt(max(height, 0.0)), float(cell.center[arm])
        if not cell.outside:
            if height < 0:
                return []
            pieces = [(max(low, middle - half), min(high, middle + half))]
        elif height > 0:
            pieces = [(low, min(high, middle - half)), (max(low, middle + half), high)]
    return [(x, y) for x, y in pieces if x <= y]


def _best_in_arm(problem: _Problem, lam: Array, arm: int) -> list[Array]:
    """lam with one coordinate set to the allowed value of least divergence.

    d(mu, .) falls before mu and rises after it, so in every piece the best is mu, clipped.
    """
    mean = float(problem.mu[arm])
    choices = [min(max(mean, x), y) for x, y in _allowed(problem, lam, arm)]
    choices.sort(key=lambda x: abs(x - mean))  # ties (a free arm): move as little as possible
    if not choices:
        return []
    point = lam.copy()
    point[arm] = min(choices, key=lambda x: problem.term(arm, x))
    return [point]


def _breakpoints(problem: _Problem, i: int, j: int) -> Array:
    """Values of arm i where an edge of the cell meets an edge or the mean of arm i or j.

    Past the outermost of them both arms only move away from their means.
    """
    points = [problem.mu[i], problem.low[i], problem.high[i]]
    cell = problem.cell
    if cell.center is not None:
        points += [cell.center[i] - cell.radius, cell.center[i], cell.center[i] + cell.radius]
    for a, b in zip(problem.normals, problem.offsets, strict=True):
        points += [(b - a[j] * x) / a[i] for x in (problem.mu[j], problem.low[j], problem.high[j])]
    for n, m in combinations(range(len(problem.offsets)), 2):
        matrix = problem.normals[[n, m]][:, [i, j]]
        if np.linalg.det(matrix) != 0:
            points.append(np.linalg.solve(matrix, problem.offsets[[n, m]])[0])
    inside = [x for x in points if math.isfinite(x) and problem.low[i] <= x <= problem.high[i]]
    return np.unique(np.array(inside))


def _grid(breaks: Array) -> Array:
    """The breakpoints and, between neighbours, points that crowd at both ends."""
    shape = (1 - np.cos(np.pi * np.arange(GRID + 1) / GRID)) / 2
    parts = [x + (y - x) * shape for x, y in pairwise(breaks)]
    return np.unique(np.concatenate([breaks, *parts]))


def _scan(problem: _Problem, i: int, j: int) -> list[Array]:
    """min over x of w_i d(mu_i, x) + min over allowed y of w_j d(mu_j, y), other arms at base.

    Grid over x, then golden section around the three best local minima of the grid.
    """
    base = problem.base()

    def points(x: float) -> list[Array]:
        lam = base.copy()
        lam[i] = x
        return _best_in_arm(problem, lam, j)

    def height(x: float) -> float:
        found = points(x)
        return problem.term(i, x) + problem.term(j, found[0][j]) if found else math.inf

    grid = _grid(_breakpoints(problem, i, j))
    heights = np.array([height(float(x)) for x in grid])
    padded = np.concatenate([[math.inf], heights, [math.inf]])
    valley = (heights <= padded[:-2]) & (heights <= padded[2:]) & np.isfinite(heights)
    best = np.lexsort([np.abs(grid - base[i]), np.where(valley, heights, math.inf)])[:3]
    candidates: list[float] = []
    for n in best[valley[best]]:
        candidates.append(float(grid[n]))
        if heights[n] > 0:
            left, right = grid[max(n - 1, 0)], grid[min(n + 1, grid.size - 1)]
            candidates.append(_minimum(height, float(left), float(right)))
    return [lam for x in candidates for lam in points(x)]


def _minimum(function: Callable[[float], float], left: float, right: float) -> float:
    """A local minimiser on [left, right], by golden section.

    (scipy's bounded search stops at a relative 1e-8 of x, too early for tiny moves.)
    """
    ratio = (math.sqrt(5) - 1) / 2
    width = right - left
    x, y = right - ratio * width, left + ratio * width
    at_x, at_y = function(x), function(y)
    while right - left > 1e-11 * width and left < x < y < right:
        if at_x <= at_y:
            right, y, at_y = y, x, at_x
            x = right - ratio * (right - left)
            at_x = function(x)
        else:
            left, x, at_x = x, y, at_y
            y = left + ratio * (right - left)
            at_y = function(y)
    return x if at_x <= at_y else y


def _descend(problem: _Problem) -> list[Array]:
    """SLSQP from several starts, each run twice (the second run is the polish)."""
    low, high = _finite_box(problem)
    found: list[Array] = []
    for start in _starts(problem, low, high):
        lam = start
        for _ in range(2):
            scale = problem.total(lam)
            if scale == 0 or not math.isfinite(scale):
                break
            lam = _repair(problem, low, high, _slsqp(problem, low, high, lam, scale))
            found.append(lam)
        found.append(start)
    return found


def _finite_box(problem: _Problem) -> tuple[Array, Array]:
    """The box, kept a little away from ends of the family where the divergence is infinite."""
    low, high = problem.low.copy(), problem.high.copy()
    for k, mean in enumerate(problem.mu):
        if math.isfinite(low[k]) and math.isinf(problem.term(k, low[k])):
            low[k] += 1e-10 * abs(mean - low[k])
        if math.isfinite(high[k]) and math.isinf(problem.term(k, high[k])):
            high[k] -= 1e-10 * abs(high[k] - mean)
    return low, high


def _gradient(problem: _Problem, low: Array, high: Array, lam: Array) -> Array:
    """Derivative of w_k d(mu_k, lam_k) for every arm, by central differences."""
    slopes = np.zeros(lam.size)
    for k in range(lam.size):
        x = float(np.clip(lam[k], low[k], high[k]))
        room = min(x - problem.interval[0], problem.interval[1] - x)
        step = min(1e-5 * max(1.0, abs(x)), 1e-3 * room)
        if step > 0 and problem.w[k] > 0:
            rise = problem.term(k, x + step) - problem.term(k, x - step)
            slopes[k] = rise / (2 * step)
    return slopes


def _constraints(problem: _Problem) -> list[dict[str, object]]:
    """The half-spaces and the ball, for SLSQP (functions that must be >= 0)."""
    normals, offsets, cell = problem.normals, problem.offsets, problem.cell
    result: list[dict[str, object]] = []
    if len(offsets):
        result.append(
            {"type": "ineq", "fun": lambda x: normals @ x - offsets, "jac": lambda _: normals}
        )
    if cell.center is not None:
        center, radius = np.asarray(cell.center, dtype=float), cell.radius
        sign = 1.0 if cell.outside else -1.0
        result.append(
            {
                "type": "ineq",
                "fun": lambda x: sign * ((x - center) @ (x - center) - radius**2),
                "jac": lambda x: 2 * sign * (x - center),
            }
        )
    return result


def _slsqp(problem: _Problem, low: Array, high: Array, start: Array, scale: float) -> Array:
    """SLSQP on the objective divided by its value at the start."""

    def objective(x: Array) -> float:
        total = problem.total(np.clip(x, low, high)) / scale
        return total if math.isfinite(total) else 1e10

    with np.errstate(all="ignore"):
        result = minimize(
            objective,
            np.clip(start, low, high),
            jac=lambda x: _gradient(problem, low, high, x) / scale,
            method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=_constraints(problem),
            options={"ftol": 1e-15, "maxiter": 200},
        )
    return np.asarray(result.x, dtype=float) if np.all(np.isfinite(result.x)) else start


def _repair(problem: _Problem, low: Array, high: Array, lam: Array) -> Array:
    """Move a point that is nearly in the cell into it (alternating projections)."""
    cell, x = problem.cell, np.clip(lam, low, high)
    for _ in range(1000):
        if in_cell(cell, x, 1e-14 * max(1.0, float(np.abs(x).max()))):
            break
        for a, b in zip(problem.normals, problem.offsets, strict=True):
            if a @ x < b:
                x = x + a * (b - a @ x) / (a @ a)
        if cell.center is not None:
            ray = x - np.asarray(cell.center)
            length = float(np.linalg.norm(ray))
            if length > 0 and (length < cell.radius) == cell.outside:
                x = np.asarray(cell.center) + ray * (cell.radius / length)
        x = np.clip(x, low, high)
    return x


def _starts(problem: _Problem, low: Array, high: Array) -> list[Array]:
    """Feasible starts that lie apart from each other, the cheapest first.

    Candidates: points near the means (one of them exactly the means) repaired into the cell,
    moves of one arm only, and for an 'outside' ball points all over its sphere.
    """
    rng = np.random.default_rng(1)
    base, cell = np.clip(problem.mu, low, high), problem.cell
    spread = _distance(problem, low, high, base)
    rough = [base] + [base + spread * rng.normal(size=base.size) for _ in range(10)]
    if cell.center is not None and cell.outside:
        rays = rng.normal(size=(SAMPLES, base.size))
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        sphere = list(np.asarray(cell.center) + cell.radius * rays)
        rough += sorted(sphere, key=lambda x: problem.total(np.clip(x, low, high)))[:40]
    points = [_repair(problem, low, high, x) for x in rough]
    for k in range(base.size):
        points += [np.clip(x, low, high) for x in _best_in_arm(problem, base, k)]
    points = [x for x in points if in_cell(cell, x)]
    points.sort(key=problem.total)
    chosen: list[Array] = []
    for x in points:
        if all(np.linalg.norm(x - y) > 0.3 * spread for y in chosen):
            chosen.append(x)
    return chosen[:STARTS]


def _distance(problem: _Problem, low: Array, high: Array, base: Array) -> float:
    """How far the repaired means are from the means (the scale of the problem)."""
    moved = _repair(problem, low, high, base)
    return max(float(np.linalg.norm(moved - base)), 1e-12)


# --- the game -------------------------------------------------------------------------------


class _Game:
    """The cuts found so far: every lam in the alternative gives cost(w) <= sum_k w_k d_k."""

    def __init__(
        self, d: Divergence, interval: Interval, means: Array, cells: Sequence[Cell]
    ) -> None:
        self.d, self.interval, self.means, self.cells = d, interval, means, cells
        self.rows: list[Array] = []
        self.lower = -math.inf
        self.best = np.full(means.size, 1.0 / means.size)
        self.played = 0

    def run_rounds(self, weights: Array) -> Array:
        """Evaluate the cost at the weights; keep its cut and the best weights."""
        found, closest = cost(self.d, self.interval, weights, self.means, self.cells)
        self.played += 1
        if found > self.lower:
            self.lower, self.best = found, weights
        row = _divergences(self.d, self.means, closest)
        if math.isfinite(found) and np.all(np.isfinite(row)):
            self.rows.append(row)
        return row

    def solve(self) -> tuple[float, Array]:
        """max over w of min over cuts of w @ cut: (an upper bound of the value, weights).

        The bound is max_k sum_m q_m d_mk for the dual q, valid however inexact q is.
        """
        cuts = np.array(self.rows)
        scale = self.lower if self.lower > 0 else 1.0
        arms = cuts.shape[1]
        result = linprog(
            np.append(np.zeros(arms), -1.0),
            A_ub=np.column_stack([-cuts / scale, np.ones(len(cuts))]),
            b_ub=np.zeros(len(cuts)),
            A_eq=np.append(np.ones(arms), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0.0, 1.0)] * arms + [(None, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        q = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
        return float(np.max(q @ cuts) / q.sum()), _simplex(result.x[:arms])

    def closed(self, upper: float, tolerance: float) -> bool:
        """Whether the gap is small enough or the budget is spent."""
        return upper - self.lower <= tolerance * upper or self.played >= EVALUATIONS


def _simplex(weights: Array) -> Array:
    """The weights made positive and of sum one (so that no arm is entirely free)."""
    w: Array = np.maximum(weights, 0.0)
    return np.asarray((1 - 1e-10) * w / w.sum() + 1e-10 / w.size, dtype=float)


def _bisect(game: _Game, tolerance: float) -> None:
    """K = 2: the cost is concave in w_0, and a cut's slope tells the side of the maximum."""
    left, right = 0.0, 1.0
    while right - left > 1e-15:
        if game.closed(game.solve()[0], tolerance):
            break
        middle = (left + right) / 2
        row = game.run_rounds(np.array([middle, 1 - middle]))
        if row[0] > row[1]:
            left = middle
        else:
            right = middle


def _level(game: _Game, tolerance: float) -> None:
    """K >= 3: the level method.

    The next weights are the point nearest to the best so far where all cuts allow a cost
    that is half-way between the lower and the upper bound.
    """
    for _ in range(EVALUATIONS):
        upper, weights = game.solve()
        if game.closed(upper, tolerance):
            break
        game.run_rounds(_nearest(game, (game.lower + upper) / 2, weights))


def _nearest(game: _Game, level: float, start: Array) -> Array:
    """The weights nearest to the best ones where every cut is at least the level."""
    cuts = np.array(game.rows) / level
    best = game.best
    scale = max(float((start - best) @ (start - best)), 1e-30)
    result = minimize(
        lambda w: float((w - best) @ (w - best)) / scale,
        start,
        jac=lambda w: 2 * (w - best) / scale,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * best.size,
        constraints=[
            {"type": "ineq", "fun": lambda w: cuts @ w - 1.0, "jac": lambda _: cuts},
            {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like},
        ],
        options={"ftol": 1e-14, "maxiter": 100},
    )
    return _simplex(np.asarray(result.x)) if result.success else start
