"""The wealth made by betting against one cell: the logarithm, at the least favourable model in it.

Derived in docs/thresholds.md, whose equations are cited.
"""

from __future__ import annotations

import math
from typing import Any

from stopwise.cells.shape import GAP, SIDE, Shape
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.verbs import jitable, verb
from stopwise.families.verbs import (
    Quadratic,
    bet,
    ceiling,
    of_arm,
    screens,
    space,
    variance,
    wide_regret,
)
from stopwise.problems.verbs import Code, mixed_evidence, project
from stopwise.stopping.likelihood import largest_sum
from stopwise.stopping.purse import (
    ARM,
    KEEPS,
    MADE,
    NOBODY,
    RANK,
    keep,
    place_of,
    recall,
    remember,
    start,
)

BOTH = 0.95  # the weight of bets on both arms of a pair; the rest is on one of them
CLOSE = 1e-12  # of the least log wealth
BEYOND = 4.0  # Newton steps


@jitable
def simple_wealth(family: Any, data: Data, what: Shape, purse: Any, enough: float) -> float:
    """The log wealth against a cell that bounds one arm, compares two, or has all on one side."""
    purse.marks[ARM] = NOBODY
    if what.kind == GAP:
        if recall(purse, data, what, enough):
            return float(purse.pairs[place_of(purse, what), MADE])
        return remember(purse, what, enough, gap_wealth(family, data, what, purse, enough))
    if what.kind == SIDE:
        return side_wealth(family, data, what, purse)
    value = arm_wealth(family, data, what.arm, -what.side, what.limit, purse)
    keep(purse, data, what, value, what.limit, what.limit)
    return value


@jitable
def arm_wealth(family: Any, data: Data, arm: int, side: float, limit: float, purse: Any) -> float:
    """log sum_q a_q w(limit; g_q): the arm is above (+1) or below the limit."""
    top = _bets(of_arm(family, arm), data, arm, side, limit, purse.gaps, purse.above)
    return log_mixed(purse.above, top, purse)


@jitable
def log_mixed(bets: Floats, top: float, purse: Any) -> float:
    """log sum_q a_q w_q, given log w_q in the first column, the largest of which is ``top``."""
    made = 0.0
    for q in range(purse.gaps.size):
        made += purse.weights[q] * math.exp(bets[q, 0] - top)
    return top + math.log(made)


@jitable
def _bets(
    family: Any, data: Data, arm: int, side: float, c: float, sizes: Floats, out: Floats
) -> float:
    """Every gap's log wealth and slope; returns the largest log wealth."""
    count, mean = float(data.counts[arm]), float(data.means[arm])  # plain numbers are quicker
    top = -math.inf
    for q in range(sizes.size):
        value, slope = bet(family, side, count, mean, c, float(sizes[q]))
        out[q, 0], out[q, 1] = value, slope
        top = max(top, value)
    return top


@jitable
def side_wealth(family: Any, data: Data, what: Shape, purse: Any) -> float:
    """log of (1/2)(1/K) sum_k W_k + (1/2) prod_k (1 - 1/K + W_k/K)."""
    size = data.means.size
    share = 1.0 / size
    one, all_of_them = -math.inf, 0.0
    for k in range(size):
        made = _on_side(family, data, k, what, purse)
        one = log_add(one, made + math.log(share))
        idle = math.log(1.0 - share) if size > 1 else -math.inf
        all_of_them += log_add(idle, made + math.log(share))
    return log_add(one, all_of_them) - math.log(2.0)


@jitable
def _on_side(family: Any, data: Data, arm: int, what: Shape, purse: Any) -> float:
    """``arm_wealth`` against the side: that of an arm without new samples is what it was."""
    if purse.marks[KEEPS] == 0:
        return arm_wealth(family, data, arm, -what.side, what.limit, purse)
    known, count, mean = purse.sides[arm], data.counts[arm], data.means[arm]
    same = known[0] == count and known[1] == mean
    if not (same and known[2] == what.side and known[3] == what.limit):
        known[0], known[1], known[2], known[3] = count, mean, what.side, what.limit
        known[4] = arm_wealth(family, data, arm, -what.side, what.limit, purse)
    return float(known[4])


@jitable
def log_add(x: float, y: float) -> float:
    """log(e^x + e^y)."""
    if x < y:
        x, y = y, x
    return x if y == -math.inf else x + math.log1p(math.exp(y - x))


# ------------------------------------------------------------------------------ two arms compared


@jitable
def gap_wealth(family: Any, data: Data, what: Shape, purse: Any, enough: float) -> float:
    """The least log M(c), or log M at a c where it is below ``enough``.

    log M is convex in a variable that rises or falls in c: its slope in c changes sign once. A point
    with little slope is believed to be the least only if the slope has another sign a step beyond, as
    what the slope says of the curvature between is worth nothing where log M has a bend.
    """
    _, arm, other, _, margin = what
    if not data.means[other] < data.means[arm] + margin:
        return 0.0  # M <= 1 between the means
    low, high = space(family)
    left, right = low, high - margin
    first, last = max(data.means[other] - margin, low), min(data.means[arm], right)
    bend = _stiffness(family, data, what, 0.5 * (first + last))
    c, step = start(purse, family, data, what), last - first + margin
    most = most_of_pair(family, data, what, c)
    if most < enough:
        return most
    value, slope = log_pair(family, data, what, c, purse)
    for turn in range(200):
        if slope < 0.0:
            left = c
        else:
            right = c
        if value < enough or slope == 0.0 or abs(slope) * (right - left) <= CLOSE:
            break
        if slope * slope <= CLOSE * bend:
            there = beyond(left, right, c, -BEYOND * slope / bend)
            other, turned = log_pair(family, data, what, there, purse)
            if turned * slope <= 0.0:
                break
            c, value, slope, bend = there, other, turned, 0.0
            if slope < 0.0:
                left = c
            else:
                right = c
        new = c - slope / bend if bend > 0.0 else math.nan
        if turn % 4 == 3 or not left < new < right:
            step *= 2.0
            new = between(left, right, c, step)
        before, at = slope, c
        c = new
        value, slope = log_pair(family, data, what, c, purse)
        secant = (slope - before) / (c - at) if c != at else 0.0
        if secant > 0.0:
            bend = secant
    keep(purse, data, what, value, c, c + margin)
    return value


@jitable
def beyond(left: float, right: float, c: float, step: float) -> float:
    """A step from c, but not out of the bracket."""
    new = c + step
    if new == c:  # too little for a number of this size
        new = c + math.copysign(max(1e-15 * abs(c), 1e-300), step)
    if left < new < right:
        return new
    return 0.5 * (c + right) if step > 0.0 else 0.5 * (c + left)


@jitable
def most_of_pair(family: Any, data: Data, what: Shape, c: float) -> float:
    """What log M(c) cannot exceed, where D does not say so."""
    if screens(family):
        return math.inf
    arm, other = what.arm, what.other
    return ceiling(of_arm(family, arm), 1.0, data.counts[arm], data.means[arm], c) + ceiling(
        of_arm(family, other), -1.0, data.counts[other], data.means[other], c + what.limit
    )


@jitable
def _stiffness(family: Any, data: Data, what: Shape, c: float) -> float:
    """About how much the slope of log M grows with c."""
    arm, other = what.arm, what.other
    spread = variance(of_arm(family, arm), c)
    spread = max(spread, variance(of_arm(family, other), c + what.limit))
    return (data.counts[arm] + data.counts[other]) / spread


@jitable
def between(left: float, right: float, c: float, step: float) -> float:
    """The middle of a bracket; one that is open on a side is left by steps."""
    if right == math.inf:
        return c + step
    return c - step if left == -math.inf else 0.5 * (left + right)


@jitable
def log_pair(family: Any, data: Data, what: Shape, c: float, purse: Any) -> tuple[float, float]:
    """log M(c) and its slope, M(c) = sum_qr p_qr w+(c; g_q) w-(c + margin; g_r) + bets on one arm.

    The sum over r of alike^|q - r| times a term is two running sums, over r <= q and r > q.
    """
    arm, other, above, below = what.arm, what.other, purse.above, purse.below
    top = max(0.0, _bets(of_arm(family, arm), data, arm, 1.0, c, purse.gaps, above))
    own = max(
        0.0, _bets(of_arm(family, other), data, other, -1.0, c + what.limit, purse.gaps, below)
    )
    one, one_slope = 0.0, 0.0  # bets on one arm
    pair, pair_slope = 0.0, 0.0
    x = y = dx = dy = 0.0  # sums of earlier terms, and of their slopes
    idle, other_idle, near = math.exp(-top), math.exp(-own), purse.alike
    for q in range(purse.gaps.size):
        a, b = math.exp(above[q, 0] - top), math.exp(below[q, 0] - own)
        da, db = a * float(above[q, 1]), b * float(below[q, 1])
        weight, root = float(purse.weights[q]), float(purse.roots[q])
        one += weight * (a * other_idle + b * idle)
        one_slope += weight * (da * other_idle + db * idle)
        a, b, da, db = root * a, root * b, root * da, root * db
        pair += a * (b + y) + x * b
        pair_slope += da * (b + y) + a * (db + dy) + dx * b + x * db
        x, y, dx, dy = near * (x + a), near * (y + b), near * (dx + da), near * (dy + db)
    made = BOTH * pair + 0.5 * (1.0 - BOTH) * one
    slope = BOTH * pair_slope + 0.5 * (1.0 - BOTH) * one_slope
    return top + own + math.log(made), slope / made


# ------------------------------------------------------------------------------------ other cells


@verb
def other_wealth(
    family: Any, problem: Any, data: Data, code: Code, cell: int, purse: Any, enough: float
) -> float:
    """D(N, mu-hat, cell) less what mixtures lose: the ``rank`` largest."""
    size = data.means.size
    closest, lost = purse.closest[:size], purse.lost[:size]
    cost = project(problem, family, data, code, cell, closest)
    if cost < enough:
        return cost
    for k in range(size):
        lost[k] = wide_regret(of_arm(family, k), data.counts[k], data.means[k])
    return cost - largest_sum(lost, purse.marks[RANK])


@other_wealth.register(Quadratic)
def _shrunken_wealth(
    family: Any, problem: Any, data: Data, code: Code, cell: int, purse: Any, enough: float
) -> float:
    """log sum_q a_q exp(D(N^2/(N + kappa_q), mu-hat, cell) - (1/2) sum log(1 + N/kappa_q)).

    Or the problem's own mixtures, with the same gaps. Where every count shrinks at least to some share,
    D is at most that share of D: this is tried first.
    """
    size = data.means.size
    closest, lost = purse.closest[:size], purse.lost[:size]
    shrunken = Data(purse.counts[:size], data.means)
    cost = project(problem, family, data, code, cell, closest)
    if cost < enough:
        return cost
    most = found = -math.inf
    if not math.isnan(mixed_evidence(problem, family, data, code, cell, 1.0)):
        for q in range(purse.gaps.size):
            made = mixed_evidence(problem, family, data, code, cell, purse.gaps[q])
            found = log_add(found, math.log(purse.weights[q]) + made)
        return found
    for q in range(purse.gaps.size):
        share = _shrink(data.counts, purse.gaps[q], shrunken.counts, lost)
        made = math.log(purse.weights[q]) - largest_sum(lost, purse.marks[RANK])
        most = log_add(most, made + share * cost)
    if most < enough:
        return most
    for q in range(purse.gaps.size):
        _shrink(data.counts, purse.gaps[q], shrunken.counts, lost)
        made = math.log(purse.weights[q]) - largest_sum(lost, purse.marks[RANK])
        cost = project(problem, family, shrunken, code, cell, closest)
        found = log_add(found, made + cost)
    return found


@jitable
def _shrink(counts: Floats, gap: float, shrunken: Floats, lost: Floats) -> float:
    """N^2/(N + kappa) and (1/2) log(1 + N/kappa), kappa = 1/gap^2; returns the largest N/(N + kappa)."""
    most = 0.0
    for k in range(counts.size):
        ratio = counts[k] * gap * gap  # N/kappa
        share = ratio / (1.0 + ratio)
        shrunken[k], lost[k] = share * counts[k], 0.5 * math.log1p(ratio)
        most = max(most, share)
    return most
