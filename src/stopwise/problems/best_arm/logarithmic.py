"""Oracle weights for arms of unknown variances, whose pairs may have two closest models.

As in optimum.py g_j(z) is what it costs to let rival j catch up, with weight 1 on the answer and z on
the rival: a minimum of linear functions of z, hence concave and increasing, whatever the divergence. Its
slope is b_j = d(mu_j, x_j + margin) at the closest model. Where that jumps from one minimum to another
g_j has a kink, z_j(y) is still continuous, and S(y) = sum_j a_j/b_j jumps upwards. The value is the
largest y/T(y) with T(y) = 1 + sum_j z_j(y), which is convex: where S passes 1, at a root or a jump.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.gap import pair_cost
from stopwise.cells.two_minima import cheapest_share, minima
from stopwise.core.arrays import Floats, divide, fill
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Logarithmic, divergence, of_arm, price, variance
from stopwise.problems import verbs
from stopwise.problems.best_arm.optimum import best_arm_bound, best_arm_optimum
from stopwise.problems.best_arm.problem import BestArm
from stopwise.problems.verbs import Code

ITERATIONS = 100
CLOSE = 1e-9  # of S to 1
TIED = 1e-14


@best_arm_optimum.register(Logarithmic)
def _logarithmic_optimum(
    family: Any, means: Floats, arm: int, margin: float, weights: Floats, state: Floats
) -> float:
    """``state`` holds z_j for each rival, and y for the answer; y = 0 asks for a cold start."""
    count, mu = means.size, means[arm]
    most = math.inf  # y is less than what the answer alone pays
    for j in range(count):
        tied = j != arm and mu - means[j] + margin <= TIED * abs(mu)
        if tied or variance(of_arm(family, j), means[j]) <= 0.0:
            fill(weights, 1.0 / count)
            return 0.0
        if j != arm:
            most = min(most, divergence(of_arm(family, arm), mu, means[j] - margin))
    y, low, high = state[arm], 0.0, most
    if not 0.0 < y < most:
        y = 0.5 * most
        fill(state, 0.0)
    for turn in range(ITERATIONS):
        jump = turn > 8  # Newton's method would have found a root
        mass, bend = _excess(family, means, arm, margin, y, 1e-14 if jump else 1e-9, state)
        if abs(mass - 1.0) <= CLOSE:
            break
        if high - low <= 1e-12 * high:  # a jump: a little below it z_j is steady
            y = low * (1.0 - 1e-11)
            _excess(family, means, arm, margin, y, 1e-14, state)
            break
        if mass > 1.0:
            high = y
        else:
            low = y
        y = 0.5 * (low + high) if jump else _next(y, low, high, mass, bend)
    total = 1.0
    for j in range(count):
        weights[j] = 1.0 if j == arm else state[j]
        total += 0.0 if j == arm else state[j]
    state[arm] = y
    divide(weights, total)
    return y / total


@jitable
def _next(y: float, low: float, high: float, mass: float, bend: float) -> float:
    """Newton's step for S(y) = 1, in 1/y and S^(-1/2), where it is nearly linear; within the bracket."""
    s = 1.0 / y - 2.0 * mass * (1.0 - math.sqrt(mass)) / (y * y * bend) if bend > 0.0 else 0.0
    new = 1.0 / s if s > 0.0 else high
    return new if low < new < high else 0.5 * (low + high)


@jitable
def _excess(
    family: Any, means: Floats, arm: int, margin: float, y: float, close: float, state: Floats
) -> tuple[float, float]:
    """S(y) and its slope; z_j(y) goes to the state, as exact as ``close`` squared.

    g_j is concave: Newton's method for g_j(z) = y comes from the left after its first step.
    """
    mass, bend, own = 0.0, 0.0, variance(of_arm(family, arm), means[arm])
    cost = price(of_arm(family, arm))
    for j in range(means.size):
        if j == arm:
            continue
        gap, spread = means[arm] - means[j] + margin, variance(of_arm(family, j), means[j])
        rate = price(of_arm(family, j)) / cost
        if (
            state[j] <= 0.0
        ):  # from the left: where a quadratic divergence, which is larger, has g = y
            state[j] = rate * spread / max(0.5 * gap * gap / (y * cost) - own, 1e-12 * own)
        e = a = b = 0.0
        for _ in range(20):
            e = gap * cheapest_share(1.0, state[j] / rate, own, spread, gap)
            f = gap - e
            a, b = _paid(e, own) / cost, _paid(f, spread) / (cost * rate)
            step = (y - a - state[j] * b) / b
            state[j] = max(state[j] + step, 0.5 * state[j])
            if abs(step) <= close * state[j]:
                break
        mass += a / b
        bend += _steepness(own, spread, e, gap - e, a, b, rate) / cost
    return mass, bend


@jitable
def _steepness(
    own: float, spread: float, e: float, f: float, a: float, b: float, rate: float
) -> float:
    """The slope of a/b in y along the closest models: (a'/b + a b'/b^2)/(z' b), z = a'/b'.

    Times the answer's price; ``rate`` is the rival's in units of it.
    """
    top, bottom = own + e * e, spread + f * f
    fall, rise = e / top, f / bottom  # slopes of a in e, and of b in f
    fall_slope, rise_slope = (own - e * e) / (top * top), (spread - f * f) / (bottom * bottom)
    along = (fall_slope * rise + fall * rise_slope) / (rise * rise)  # of z in e
    if along <= 0.0:
        return 0.0
    return (fall * b + a * rise / rate) / (b * b * b * along * rate)


@jitable
def _ends(
    family: Any, data: Data, arm: int, j: int, margin: float
) -> tuple[float, float, float, float]:
    """Both closest models of a rival, as (a, b) each: the same twice where there is one."""
    gap = data.means[arm] - data.means[j] + margin
    own, spread = variance(of_arm(family, arm), 0.0), variance(of_arm(family, j), 0.0)
    cost, other_cost = price(of_arm(family, arm)), price(of_arm(family, j))
    first, last = minima(_part(family, data, arm, j), own / (gap * gap), spread / (gap * gap))
    a, b = _paid(first * gap, own) / cost, _paid((1.0 - first) * gap, spread) / other_cost
    c, d = _paid(last * gap, own) / cost, _paid((1.0 - last) * gap, spread) / other_cost
    return a, b, c, d


@jitable
def _part(family: Any, data: Data, arm: int, j: int) -> float:
    """The answer's part of the weights of the two, as samples."""
    weight = data.counts[arm] / price(of_arm(family, arm))
    return weight / (weight + data.counts[j] / price(of_arm(family, j)))


@jitable
def _paid(gap: float, spread: float) -> float:
    return 0.5 * math.log1p(gap * gap / spread)


@best_arm_bound.register(Logarithmic)
def _logarithmic_bound(family: Any, data: Data, arm: int, margin: float) -> float:
    """The witness of optimum.py; of a rival at its kink both models, in such shares that S = 1."""
    best, share = math.inf, 0.5
    left, right = 0.0, 1.0
    for _ in range(60):
        ratios = inverse = 0.0
        for j in range(data.means.size):
            if j != arm:
                a, b, c, d = _lowest(family, data, arm, j, margin)
                x, y = share * a + (1.0 - share) * c, share * b + (1.0 - share) * d
                ratios, inverse = ratios + x / y, inverse + 1.0 / y
        best = min(best, max(1.0, ratios) / inverse)
        if ratios > 1.0:  # more of the models that cost the answer less
            right = share
        else:
            left = share
        share = 0.5 * (left + right)
    return best


@jitable
def _lowest(
    family: Any, data: Data, arm: int, j: int, margin: float
) -> tuple[float, float, float, float]:
    """The closest models, but for rounding; the one that costs the answer more comes first."""
    a, b, c, d = _ends(family, data, arm, j, margin)
    first = data.counts[arm] * a + data.counts[j] * b
    last = data.counts[arm] * c + data.counts[j] * d
    if first > last * (1.0 + 1e-9):
        a, b = c, d
    elif last > first * (1.0 + 1e-9):
        c, d = a, b
    return (a, b, c, d) if a >= c else (c, d, a, b)


@verbs.models.register(BestArm, Logarithmic)
def _models(problem: BestArm, family: Any, data: Data, code: Code) -> Floats:
    """Both closest models of every rival."""
    arm, means = code[0], data.means
    found = np.zeros((2 * (means.size - 1), means.size))
    row = 0
    for j in range(means.size):
        if j != arm:
            gap = means[arm] - means[j] + problem.epsilon
            own, spread = variance(of_arm(family, arm), 0.0), variance(of_arm(family, j), 0.0)
            p = _part(family, data, arm, j)
            for share in minima(p, own / (gap * gap), spread / (gap * gap)):
                found[row] = means
                found[row, arm] = means[arm] - share * gap
                found[row, j] = means[arm] - share * gap + problem.epsilon
                row += 1
    return found


@verbs.reach.register(BestArm, Logarithmic)
def _reach(
    problem: BestArm, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """The answer must be at most epsilon below every arm: the dearest of these, a lower bound."""
    arm, most = code[0], 0.0
    point[0] = math.nan
    for k in range(data.means.size):
        if k != arm:
            most = max(most, pair_cost(family, data, k, arm, -problem.epsilon))
    return most
