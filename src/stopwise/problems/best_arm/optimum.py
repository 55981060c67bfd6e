"""Oracle weights for the (epsilon-)best arm, for any family, in O(K) per iteration.

Answer i against rival j: with w_i = 1 and w_j = z the cost is g_j(z), concave and increasing, with
closest model (x, x + margin) and slope d(mu_j, x + margin). Let z_j(y) make g_j = y for every rival
and T(y) = 1 + sum_j z_j(y): the value is max_y y/T(y), attained where y T'(y) = T(y), that is

    S(y) = sum_j r_j = 1   with   r_j = d(mu_i, x_j)/d(mu_j, x_j + margin)

(Garivier & Kaufmann 2016, Theorem 5, which has margin 0). Instead of z the unknown of a rival is x,
in which everything is explicit: z(x) = (mu_i - x) V(x+m)/(V(x) (x+m - mu_j)). One iteration takes
Newton's step for all x_j and for y together: the Jacobian is an arrow. In s = 1/y the function
S^(-1/2) is nearly linear (exactly so for one Gaussian rival), so the step for y is taken there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.cells.gap import meeting_point
from stopwise.core.arrays import Floats, divide, fill
from stopwise.core.data import Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import (
    OneVariance,
    divergence,
    interval,
    of_arm,
    variance,
    variance_slope,
)
from stopwise.problems import rounds, verbs
from stopwise.problems.best_arm.problem import BestArm
from stopwise.problems.verbs import Code

ITERATIONS = 60
ROOM = 3  # numbers of a state for each arm
NEAR_FROM_COLD = 1e-7  # where Newton's next point is right to 1e-13
NEAR = 1e-5  # where it is right to 1e-9, as a round's weights need be
TIED = 1e-14  # means this close, relatively, are equal but for rounding
END = 1e-12  # of the width of the interval of means


@jitable
def end_distance(low: float, high: float) -> float:
    """How far models keep from a finite upper end of the interval of means."""
    width = high - low if low > -math.inf else abs(high)
    return max(END * width, 1e-15 * abs(high))


@verb
def best_arm_optimum(
    family: Any, means: Floats, arm: int, margin: float, weights: Floats, state: Floats
) -> float:
    """The value of an answer, its weights, and in ``state`` where to start the next time.

    ``state`` has 3 K numbers: right - x_j for each rival, where ``right`` is the largest x that any
    model allows, and y for the answer itself (y = 0 asks for a cold start); then, for each rival, how
    far right - x_j could go, and scratch. Divisions take most of the time, so there are few.
    """
    count, mu, own = means.size, means[arm], of_arm(family, arm)
    for j in range(count):
        if j != arm and means[j] - margin >= mu - TIED * abs(mu):
            fill(weights, 1.0 / count)
            return 0.0
    low, high = interval(family)
    right = min(mu, high - margin)
    if right <= low:  # the answer cannot fall: each rival must rise to the margin by itself
        return _rivals_alone(family, means, arm, low + margin, weights)
    floor = divergence(own, mu, right) if right < mu else 0.0  # what the answer alone pays
    for j in range(count):
        if j != arm and means[j] - margin >= right:  # a rival at the interval's end stays there
            fill(weights, 0.0)
            weights[arm] = 1.0
            return floor
    edge = end_distance(low, high) if floor > 0.0 else 0.0
    close = NEAR
    gaps, rates = state[count : 2 * count], state[2 * count :]  # g_j, and 1 over its derivative
    if floor == 0.0 and state[arm] > 0.0:
        _foresee(means, arm, margin, low, right, state)
    if not _warm(means, arm, margin, low, right, floor, state):
        _cold_start(family, means, arm, margin, low, right, floor, state)
        close = NEAR_FROM_COLD
    y, total, solved = state[arm], 1.0, False
    below, above = floor, math.inf  # the root of S(y) = 1 lies between
    for _ in range(ITERATIONS):
        total, mass, linear, bend, worst = 1.0, 0.0, 0.0, 0.0, 0.0
        least, most = math.inf, 0.0
        for j in range(count):
            if j == arm:
                continue
            x = right - state[j]
            step, rest = (mu - right) + state[j], (right + margin - means[j]) - state[j]
            rival = of_arm(family, j)
            v, u = variance(own, x), variance(rival, x + margin)
            dv, du = variance_slope(own, x), variance_slope(rival, x + margin)
            a, b = divergence(own, mu, x), divergence(rival, means[j], x + margin)
            by_v, by_u, by_rest, by_b = 1.0 / v, 1.0 / u, 1.0 / rest, 1.0 / b
            lead = u * by_v * by_rest  # z/step
            z = step * lead
            ratio = a * by_b
            gaps[j] = a + z * b
            # 1/(z' b): log z falls in x
            rates[j] = 1.0 / (b * (lead + z * (by_rest + dv * by_v - du * by_u)))
            # the ratio's derivative in right - x, over that of g
            steep = (step * by_v + ratio * rest * by_u) * by_b * rates[j]
            total += z
            weights[j] = z
            mass += ratio
            linear += steep * (y - gaps[j])
            bend += steep
            worst = max(worst, abs(gaps[j] - y))
            least, most = min(least, gaps[j]), max(most, gaps[j])
            if ratio > 1.0:  # S(g_j) >= r_j > 1
                above = min(above, gaps[j])
        weights[arm] = 1.0
        if worst <= 1e-11 * y and (abs(mass - 1.0) <= 1e-11 or y - floor <= 1e-11 * y):
            solved = True
            break
        # S rises in y, and S(least) <= mass <= S(most)
        if mass > 1.0:
            above = min(above, most)
        else:
            below = max(below, least)
        near = floor == 0.0 and worst <= close * y and abs(mass - 1.0) <= close
        if worst <= 0.5 * (y - floor):  # else let the rivals come closer first
            y = _next_level(y, floor, mass + linear if mass + linear > 0.0 else mass, bend)
        if not near and not below <= y <= above:
            y = 0.5 * (below + above) if above < math.inf else 2.0 * below
        for j in range(count):
            if j != arm:
                span = right - max(means[j] - margin, low)
                place = _next_place(state[j], span, (y - gaps[j]) * rates[j], floor > 0.0)
                state[j] = max(place, edge)
        if near:  # Newton's next point is right to its square: only its weights are to be found
            total = 1.0
            for j in range(count):
                if j != arm:
                    step, rest = mu - right + state[j], (right + margin - means[j]) - state[j]
                    x = right - state[j]
                    u = variance(of_arm(family, j), x + margin)
                    weights[j] = step * u / (variance(own, x) * rest)
                    total += weights[j]
            solved = True
            break
    state[arm] = y
    for j in range(count):
        gaps[j] = right - max(means[j] - margin, low)
    divide(weights, total)
    # where the answer alone must pay nearly all, rivals at the end of the interval get no more exact
    return y / total if solved or (floor > 0.0 and total < 1.001) else math.nan


@best_arm_optimum.register(OneVariance)
def _quadratic_optimum(
    family: Any, means: Floats, arm: int, margin: float, weights: Floats, state: Floats
) -> float:
    """With Y_j = (mu - mu_j + margin)^2/(2 variance): w_j/w = 1/(Y_j/y - 1), and their squares sum to 1.

    In s = 1/y the function (sum of squares)^(-1/2) - 1 is nearly linear and concave, so Newton's
    method from the left, s = 2/min Y, or from where it left off, comes to its only root.
    """
    count, mu, far = means.size, means[arm], 1e200
    least, scale = far, 0.5 / variance(family, mu)
    for j in range(count):
        gap = mu - means[j] + margin
        weights[j] = scale * gap * gap
        if j == arm:
            weights[j] = far  # as a rival it has no share
        elif gap <= TIED * abs(mu):
            fill(weights, 1.0 / count)
            return 0.0
        least = min(least, weights[j])
    s, first = state[arm], 2.0 / least
    for _ in range(ITERATIONS):
        s = max(s, first)
        squares, slope = _squares(weights, s)
        step = squares * (math.sqrt(squares) - 1.0) / slope
        s += step
        if abs(step) <= 1e-8 * s:  # the next error is its square
            break
    state[arm], total = s, 1.0
    for j in range(count):
        weights[j] = 1.0 / (weights[j] * s - 1.0)
        total += weights[j]
    weights[arm] = 1.0
    for j in range(count):
        weights[j] /= total
    return 1.0 / (s * total)


@jitable
def _squares(values: Floats, s: float) -> tuple[float, float]:
    """sum z^2 and sum Y z^3 with z = 1/(Y s - 1); two sums of each, as additions wait for each other."""
    a = b = c = d = 0.0
    for k in range(0, values.size - 1, 2):
        z, y = 1.0 / (values[k] * s - 1.0), 1.0 / (values[k + 1] * s - 1.0)
        a += z * z
        b += y * y
        c += values[k] * (z * z * z)
        d += values[k + 1] * (y * y * y)
    if values.size % 2 == 1:
        z = 1.0 / (values[values.size - 1] * s - 1.0)
        a += z * z
        c += values[values.size - 1] * (z * z * z)
    return a + b, c + d


@jitable
def _rivals_alone(family: Any, means: Floats, arm: int, limit: float, weights: Floats) -> float:
    """w_j proportional to 1/d(mu_j, limit), nothing for the answer."""
    total = 0.0
    for j in range(means.size):
        weights[j] = 0.0
        if j != arm:
            weights[j] = 1.0 / divergence(of_arm(family, j), means[j], limit)
            total += weights[j]
    divide(weights, total)
    return 1.0 / total


@jitable
def _warm(
    means: Floats, arm: int, margin: float, low: float, right: float, floor: float, state: Floats
) -> bool:
    """Whether a kept state is a point from which these means can be solved."""
    if not state[arm] > floor:
        return False
    for j in range(means.size):
        if j != arm and not 0.0 < state[j] < 0.999 * (right - max(means[j] - margin, low)):
            return False
    return True


@jitable
def _foresee(
    means: Floats, arm: int, margin: float, low: float, right: float, state: Floats
) -> None:
    """Move the kept state with the means, as if arms were Gaussian: an iteration less.

    Then right - x_j = gap_j y/Y_j, which goes with y/gap_j; y nearly goes with the least gap squared.
    """
    count, least, nearest = means.size, math.inf, 0
    for j in range(count):
        if j != arm and state[count + j] < least:
            least, nearest = state[count + j], j
    ratio = (right - max(means[nearest] - margin, low)) / least
    factor = ratio * ratio
    for j in range(count):
        if j != arm:
            state[j] *= factor * state[count + j] / (right - max(means[j] - margin, low))
    state[arm] *= factor


@jitable
def _next_level(y: float, floor: float, mass: float, bend: float) -> float:
    """Newton's step for S(y) = 1, in the variable in which it is nearly linear."""
    if floor > 0.0:  # 1/S falls like log(y - floor): rivals are pushed to the end of the interval
        step = mass * (1.0 - mass) / (bend * (y - floor))
        return floor + (y - floor) * math.exp(min(max(step, -3.0), 3.0))
    s = 1.0 / y - 2.0 * mass * (1.0 - math.sqrt(mass)) / (y * y * bend)
    return min(max(1.0 / s, 0.25 * y), 4.0 * y) if s > 0.0 else 4.0 * y


@jitable
def _next_place(place: float, span: float, step: float, logarithmic: bool) -> float:
    """A step for right - x_j that stays inside (0, span)."""
    new = place * math.exp(min(max(step / place, -3.0), 3.0)) if logarithmic else place + step
    return min(max(new, 0.1 * place), place + 0.9 * (span - place), 0.999999 * span)


@jitable
def _cold_start(
    family: Any,
    means: Floats,
    arm: int,
    margin: float,
    low: float,
    right: float,
    floor: float,
    state: Floats,
) -> None:
    """As for Gaussian arms with the variance half-way: g_j = y at a share y/Y_j of the gap.

    There S(y) = sum_j (Y_j/y - 1)^-2, and Newton's method for S^(-1/2) = 1 in 1/y rises to the root.
    """
    least = math.inf
    for j in range(means.size):
        if j != arm:
            left = max(means[j] - margin, low)
            middle = variance(of_arm(family, arm), 0.5 * (left + right))
            state[j] = (right - left) * (right - left) / middle
            least = min(least, 0.5 * state[j])
    inverse = 2.0 / least
    for _ in range(6):
        total, slope = 0.0, 0.0
        for j in range(means.size):
            if j != arm:
                share = 1.0 / (0.5 * state[j] * inverse - 1.0)
                total += share * share
                slope += share * share * share * state[j]
        inverse += 2.0 * total * (math.sqrt(total) - 1.0) / slope
    y = 1.0 / inverse
    for j in range(means.size):
        if j != arm:
            left = max(means[j] - margin, low)
            state[j] = (right - left) * min(2.0 * y / state[j], 0.75)
    state[arm] = max(y, 1.1 * floor)


@verbs.optimise.register(BestArm)
def _optimise(problem: BestArm, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    state = np.zeros(ROOM * means.size)
    return best_arm_optimum(family, means, code[0], problem.epsilon, weights, state)


rounds.solve_round.register(BestArm)(_optimise)


@verbs.upper_bound.register(BestArm)
def _upper_bound(problem: BestArm, family: Any, data: Data, code: Code) -> float:
    return best_arm_bound(family, data, code[0], problem.epsilon)


@verb
def best_arm_bound(family: Any, data: Data, arm: int, margin: float) -> float:
    """The most that any arm pays under the natural witness: rival j's closest model, 1/d(mu_j, .).

    That makes all rivals pay the same, 1/sum_j 1/d_j, and the answer S times as much. Where models
    sit at the end of the interval of means rounding blurs S, so a witness a little inside is tried too.
    """
    low, high = interval(family)
    means, best = data.means, math.inf
    for inward in (1.0, 1.001):
        inverse, ratios = 0.0, 0.0
        for j in range(means.size):
            if j != arm:
                x = meeting_point(family, data, arm, j, margin)
                if high < math.inf:
                    x = high - margin - max(inward * (high - margin - x), end_distance(low, high))
                b = divergence(of_arm(family, j), means[j], x + margin)
                if not b > 0.0:  # too small for a float: no bound this way
                    return best
                inverse += 1.0 / b
                ratios += divergence(of_arm(family, arm), means[arm], x) / b
        if not inverse > 0.0:
            return best
        best = min(best, max(1.0, ratios) / inverse)
        if high - margin >= means[arm]:
            break
    return best
