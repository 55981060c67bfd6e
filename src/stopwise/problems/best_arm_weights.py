"""Oracle weights for the (epsilon-)best arm, for any family, in O(K) per iteration.

Answer i against rival j: with w_i = 1 and w_j = z the cost is g_j(z), concave and increasing, with
closest model (x, x + margin) and slope d(mu_j, x + margin). Let z_j(y) make g_j = y for every rival
and T(y) = 1 + sum_j z_j(y): the value is max_y y/T(y), attained where y T'(y) = T(y), that is

    S(y) = sum_j r_j = 1   with   r_j = d(mu_i, x_j)/d(mu_j, x_j + margin)

(Garivier & Kaufmann 2016, Theorem 5, which has margin 0). Instead of z the unknown of a rival is x,
in which everything is explicit: z(x) = (mu_i - x) V(x+m)/(V(x) (x+m - mu_j)). One iteration takes
Newton's step for all x_j and for y together: the Jacobian is an arrow. In s = 1/y the function
S^(-1/2) is nearly linear (exactly so for one Gaussian rival), so the step for y is taken there.
In the code ``mass`` is S(y), ``bend`` its slope and ``total`` T(y).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.cells.gap import meeting_point
from stopwise.cells.two_minima import cheapest_share, minima
from stopwise.core.arrays import Floats, Ints, divide, fill
from stopwise.core.data import Data
from stopwise.core.functions import jitable, variant, variants
from stopwise.core.values import Value
from stopwise.families.family import Family, Logarithmic, OneVariance

ITERATIONS = 60
ROOM = 3  # numbers of a state for each arm
NEAR_FROM_COLD = 1e-7  # where Newton's next point is right to 1e-13
NEAR = 1e-5  # where it is right to 1e-9, as a round's weights need be
TIED = 1e-14  # means this close, relatively, are equal but for rounding
END = 1e-12  # of the width of the interval of means
LONGEST = 100  # iterations for arms of unknown variances
CLOSE = 1e-9  # of S to 1, there


class FewArms(Value):
    """What ``BestArm`` keeps between rounds: where the last solution left off, and who was weak."""

    owner: Ints  # whose state it is, plus 1; 0: nobody's
    state: Floats  # see ``best_arm_optimum``
    weakest: Ints  # for each arm, the rival that last kept its evidence low
    weights: Floats  # scratch

    def solve(
        self, family: Family, means: Floats, arm: int, margin: float, weights: Floats
    ) -> float:
        """The value of an answer and its oracle weights, from where the last solution left off."""
        if self.owner[0] != arm + 1:
            self.owner[0] = arm + 1
            self.state[arm] = 0.0  # a cold start
        return best_arm_optimum(family, means, arm, margin, weights, self.state)

    def solve_cold(self, family: Family, means: Floats, arm: int, margin: float) -> float:
        """The value of an answer, from a cold start, which the next answer has too."""
        self.owner[0] = 0
        value = self.solve(family, means, arm, margin, self.weights)
        self.owner[0] = 0
        return value


def few_arms(arms: int) -> FewArms:
    """The cache of ``BestArm`` before the first sample."""
    owner, weakest = np.zeros(1, dtype=np.int64), np.zeros(arms, dtype=np.int64)
    return FewArms(owner, np.zeros(ROOM * arms), weakest, np.zeros(arms))


@jitable
def end_distance(low: float, high: float) -> float:
    """How far models keep from a finite upper end of the interval of means."""
    width = high - low if low > -math.inf else abs(high)
    return max(END * width, 1e-15 * abs(high))


class Rivals(NamedTuple):
    """An answer, its rivals, and the range of the answer's model x."""

    means: Floats
    arm: int
    margin: float
    low: float  # the lower end of the interval of means
    right: float  # the largest x that any model allows
    floor: float  # what the answer alone pays


@variants
def best_arm_optimum(
    family: Family, means: Floats, arm: int, margin: float, weights: Floats, state: Floats
) -> float:
    """The value of an answer, its weights, and in ``state`` where to start the next time.

    ``state`` has 3 K numbers: right - x_j for each rival, where ``right`` is the largest x that any
    model allows, and y for the answer itself (y = 0 asks for a cold start); then, for each rival, how
    far right - x_j could go, and scratch. Divisions take most of the time, so there are few.
    """
    count, mu, own = means.size, means[arm], family.of_arm(arm)
    for j in range(count):
        if j != arm and means[j] - margin >= mu - TIED * abs(mu):
            fill(weights, 1.0 / count)
            return 0.0
    low, high = family.interval()
    right = min(mu, high - margin)
    if right <= low:  # the answer cannot fall: each rival must rise to the margin by itself
        return _rivals_alone(family, means, arm, low + margin, weights)
    floor = own.divergence(mu, right) if right < mu else 0.0  # what the answer alone pays
    for j in range(count):
        if j != arm and means[j] - margin >= right:  # a rival at the interval's end stays there
            fill(weights, 0.0)
            weights[arm] = 1.0
            return floor
    edge = end_distance(low, high) if floor > 0.0 else 0.0
    costs, rates = state[count : 2 * count], state[2 * count :]  # g_j, and 1 over its derivative
    rivals = Rivals(means, arm, margin, low, right, floor)
    close = NEAR
    if not _warm_start(rivals, state):
        _cold_start(family, rivals, state)
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
            fall, rest = (mu - right) + state[j], (right + margin - means[j]) - state[j]
            rival = family.of_arm(j)
            v, u = own.variance_at(x), rival.variance_at(x + margin)
            dv, du = own.variance_slope(x), rival.variance_slope(x + margin)
            a, b = own.divergence(mu, x), rival.divergence(means[j], x + margin)
            by_v, by_u, by_rest, by_b = 1.0 / v, 1.0 / u, 1.0 / rest, 1.0 / b
            lead = u * by_v * by_rest  # z/fall
            z = fall * lead
            ratio = a * by_b
            costs[j] = a + z * b
            # 1/(z' b): log z falls in x
            rates[j] = 1.0 / (b * (lead + z * (by_rest + dv * by_v - du * by_u)))
            # the ratio's derivative in right - x, over that of g
            steep = (fall * by_v + ratio * rest * by_u) * by_b * rates[j]
            total += z
            weights[j] = z
            mass += ratio
            linear += steep * (y - costs[j])
            bend += steep
            worst = max(worst, abs(costs[j] - y))
            least, most = min(least, costs[j]), max(most, costs[j])
            if ratio > 1.0:  # S(g_j) >= r_j > 1
                above = min(above, costs[j])
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
                span, place = right - max(means[j] - margin, low), state[j]
                step = (y - costs[j]) * rates[j]
                new = place + step
                if floor > 0.0:
                    new = place * math.exp(min(max(step / place, -3.0), 3.0))
                # inside (0, span)
                new = min(max(new, 0.1 * place), place + 0.9 * (span - place), 0.999999 * span)
                state[j] = max(new, edge)
        if near:  # Newton's next point is right to its square: only its weights are to be found
            total = 1.0
            for j in range(count):
                if j != arm:
                    fall, rest = mu - right + state[j], (right + margin - means[j]) - state[j]
                    x = right - state[j]
                    u = family.of_arm(j).variance_at(x + margin)
                    weights[j] = fall * u / (own.variance_at(x) * rest)
                    total += weights[j]
            solved = True
            break
    state[arm] = y
    for j in range(count):  # the spans, for the next warm start
        state[count + j] = right - max(means[j] - margin, low)
    divide(weights, total)
    # where the answer alone must pay nearly all, rivals at the end of the interval get no more exact
    return y / total if solved or (floor > 0.0 and total < 1.001) else math.nan


@variant(best_arm_optimum, OneVariance)
def _quadratic_optimum(
    family: Family, means: Floats, arm: int, margin: float, weights: Floats, state: Floats
) -> float:
    """With Y_j = (mu - mu_j + margin)^2/(2 variance): w_j/w = 1/(Y_j/y - 1), and their squares sum to 1.

    In s = 1/y the function (sum of squares)^(-1/2) - 1 is nearly linear and concave, so Newton's
    method from the left, s = 2/min Y, or from where it left off, comes to its only root.
    """
    count, mu, far = means.size, means[arm], 1e200
    least, scale = far, 0.5 / family.variance_at(mu)
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
    divide(weights, total)
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
def _rivals_alone(family: Family, means: Floats, arm: int, limit: float, weights: Floats) -> float:
    """w_j proportional to 1/d(mu_j, limit), nothing for the answer."""
    total = 0.0
    for j in range(means.size):
        weights[j] = 0.0
        if j != arm:
            weights[j] = 1.0 / family.of_arm(j).divergence(means[j], limit)
            total += weights[j]
    divide(weights, total)
    return 1.0 / total


@jitable
def _warm_start(rivals: Rivals, state: Floats) -> bool:
    """Move a kept state with the means; returns whether Newton's method can start there.

    If arms were Gaussian right - x_j = gap_j y/Y_j, which goes with y/gap_j; y nearly goes with the least
    gap squared: an iteration less.
    """
    means, arm, margin, low, right, floor = rivals
    if not state[arm] > floor:
        return False
    count, least, nearest = means.size, math.inf, 0
    if floor == 0.0:
        for j in range(count):
            if j != arm and state[count + j] < least:
                least, nearest = state[count + j], j
        ratio = (right - max(means[nearest] - margin, low)) / least
        factor = ratio * ratio
        for j in range(count):
            if j != arm:
                state[j] *= factor * state[count + j] / (right - max(means[j] - margin, low))
        state[arm] *= factor
    if not state[arm] > floor:
        return False
    for j in range(count):
        if j != arm and not 0.0 < state[j] < 0.999 * (right - max(means[j] - margin, low)):
            return False
    return True


@jitable
def _next_level(y: float, floor: float, mass: float, bend: float) -> float:
    """Newton's step for S(y) = 1, in the variable in which it is nearly linear."""
    if floor > 0.0:  # 1/S falls like log(y - floor): rivals are pushed to the end of the interval
        step = mass * (1.0 - mass) / (bend * (y - floor))
        return floor + (y - floor) * math.exp(min(max(step, -3.0), 3.0))
    s = 1.0 / y - 2.0 * mass * (1.0 - math.sqrt(mass)) / (y * y * bend)
    return min(max(1.0 / s, 0.25 * y), 4.0 * y) if s > 0.0 else 4.0 * y


@jitable
def _cold_start(family: Family, rivals: Rivals, state: Floats) -> None:
    """As for Gaussian arms with the variance half-way: g_j = y at a share y/Y_j of the gap.

    There S(y) = sum_j (Y_j/y - 1)^-2, and Newton's method for S^(-1/2) = 1 in 1/y rises to the root.
    """
    means, arm, margin, low, right, floor = rivals
    least = math.inf
    for j in range(means.size):
        if j != arm:
            left = max(means[j] - margin, low)
            middle = family.of_arm(arm).variance_at(0.5 * (left + right))
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


@variants
def best_arm_bound(family: Family, data: Data, arm: int, margin: float) -> float:
    """The most that any arm pays under the natural witness: rival j's closest model, 1/d(mu_j, .).

    That makes all rivals pay the same, 1/sum_j 1/d_j, and the answer S times as much. Where models
    sit at the end of the interval of means rounding blurs S, so a witness a little inside is tried too.
    """
    low, high = family.interval()
    means, best = data.means, math.inf
    for inward in (1.0, 1.001):
        inverse, ratios = 0.0, 0.0
        for j in range(means.size):
            if j != arm:
                x = meeting_point(family, data, arm, j, margin)
                if high < math.inf:
                    x = high - margin - max(inward * (high - margin - x), end_distance(low, high))
                b = family.of_arm(j).divergence(means[j], x + margin)
                if not b > 0.0:  # too small for a float: no bound this way
                    return best
                inverse += 1.0 / b
                ratios += family.of_arm(arm).divergence(means[arm], x) / b
        if not inverse > 0.0:
            return best
        best = min(best, max(1.0, ratios) / inverse)
        if high - margin >= means[arm]:
            break
    return best


# -------------------------------------------------------------------- arms of unknown variances
#
# Oracle weights for arms of unknown variances, whose pairs may have two closest models.
#
# As above g_j(z) is what it costs to let rival j catch up, with weight 1 on the answer and z on
# the rival: a minimum of linear functions of z, hence concave and increasing, whatever the divergence. Its
# slope is b_j = d(mu_j, x_j + margin) at the closest model. Where that jumps from one minimum to another
# g_j has a kink, z_j(y) is still continuous, and S(y) = sum_j a_j/b_j jumps upwards. The value is the
# largest y/T(y) with T(y) = 1 + sum_j z_j(y), which is convex: where S passes 1, at a root or a jump.


@variant(best_arm_optimum, Logarithmic)
def _logarithmic_optimum(
    family: Family, means: Floats, arm: int, margin: float, weights: Floats, state: Floats
) -> float:
    """``state`` holds z_j for each rival, and y for the answer; y = 0 asks for a cold start."""
    count, mu = means.size, means[arm]
    most = math.inf  # y is less than what the answer alone pays
    for j in range(count):
        tied = j != arm and mu - means[j] + margin <= TIED * abs(mu)
        if tied or family.of_arm(j).variance_at(means[j]) <= 0.0:
            fill(weights, 1.0 / count)
            return 0.0
        if j != arm:
            most = min(most, family.of_arm(arm).divergence(mu, means[j] - margin))
    rivals = Rivals(means, arm, margin, -math.inf, mu, 0.0)
    y, low, high = state[arm], 0.0, most
    if not 0.0 < y < most:
        y = 0.5 * most
        fill(state, 0.0)
    for turn in range(LONGEST):
        jump = turn > 8  # Newton's method would have found a root
        mass, bend = _excess(family, rivals, y, 1e-14 if jump else 1e-9, state)
        if abs(mass - 1.0) <= CLOSE:
            break
        if high - low <= 1e-12 * high:  # a jump: a little below it z_j is steady
            y = low * (1.0 - 1e-11)
            _excess(family, rivals, y, 1e-14, state)
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
    family: Family, rivals: Rivals, y: float, close: float, state: Floats
) -> tuple[float, float]:
    """S(y) and its slope; z_j(y) goes to the state, as exact as ``close`` squared.

    g_j is concave: Newton's method for g_j(z) = y comes from the left after its first step.
    """
    means, arm, margin, _, _, _ = rivals
    mass, bend, own = 0.0, 0.0, family.of_arm(arm).variance_at(means[arm])
    cost = family.of_arm(arm).sample_cost()
    for j in range(means.size):
        if j == arm:
            continue
        gap, spread = means[arm] - means[j] + margin, family.of_arm(j).variance_at(means[j])
        rate = family.of_arm(j).sample_cost() / cost
        # from the left: where a quadratic divergence, which is larger, has g = y
        if state[j] <= 0.0:
            state[j] = rate * spread / max(0.5 * gap * gap / (y * cost) - own, 1e-12 * own)
        e = a = b = 0.0
        for _ in range(20):
            e = gap * cheapest_share(1.0, state[j] / rate, own, spread, gap)
            f = gap - e
            a, b = _divergence_at(e, own) / cost, _divergence_at(f, spread) / (cost * rate)
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
def answer_share(family: Family, data: Data, arm: int, j: int) -> float:
    """w_arm/(w_arm + w_j), with weights in samples, not in money."""
    weight = data.counts[arm] / family.of_arm(arm).sample_cost()
    return weight / (weight + data.counts[j] / family.of_arm(j).sample_cost())


@jitable
def _divergence_at(gap: float, variance: float) -> float:
    """The divergence of a ``Logarithmic`` family between means that far apart."""
    return 0.5 * math.log1p(gap * gap / variance)


@variant(best_arm_bound, Logarithmic)
def _logarithmic_bound(family: Family, data: Data, arm: int, margin: float) -> float:
    """The natural witness; of a rival at its kink both models, in such shares that S = 1."""
    best, share = math.inf, 0.5
    left, right = 0.0, 1.0
    for _ in range(60):
        ratios = inverse = 0.0
        for j in range(data.means.size):
            if j != arm:
                a, b, c, d = _closest_costs(family, data, arm, j, margin)
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
def _closest_costs(
    family: Family, data: Data, arm: int, j: int, margin: float
) -> tuple[float, float, float, float]:
    """(a, b, c, d): what answer and rival pay, per unit of weight, at both closest models of a rival.

    First comes the model that costs the answer more; the same twice if only one is closest.
    """
    gap = data.means[arm] - data.means[j] + margin
    own, spread = family.of_arm(arm).variance_at(0.0), family.of_arm(j).variance_at(0.0)
    cost, other_cost = family.of_arm(arm).sample_cost(), family.of_arm(j).sample_cost()
    share = answer_share(family, data, arm, j)
    x, y = minima(share, own / (gap * gap), spread / (gap * gap))
    a, b = _divergence_at(x * gap, own) / cost, _divergence_at((1.0 - x) * gap, spread) / other_cost
    c, d = _divergence_at(y * gap, own) / cost, _divergence_at((1.0 - y) * gap, spread) / other_cost
    first = data.counts[arm] * a + data.counts[j] * b
    last = data.counts[arm] * c + data.counts[j] * d
    if first > last * (1.0 + 1e-9):
        a, b = c, d
    elif last > first * (1.0 + 1e-9):
        c, d = a, b
    return (a, b, c, d) if a >= c else (c, d, a, b)
