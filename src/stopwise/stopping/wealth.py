"""Stopping by wealth: bet against every way in which the answer can be wrong.

The evidence against a cell is the logarithm of what a bet makes from 1 at the least favourable model
in it; by Ville's inequality it reaches log(union bound/delta) with probability at most delta/union
bound where the truth lies in the cell. docs/thresholds.md has the proofs, and what is cited here.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.gap import meeting_point
from stopwise.cells.shape import ANY, GAP, SIDE, Shape
from stopwise.core.arrays import Floats, Ints, assign
from stopwise.core.data import Data, State
from stopwise.core.errors import NotDefined
from stopwise.core.values import Empty, StoppingRule
from stopwise.core.verbs import jitable, registered, verb
from stopwise.families.verbs import (
    Quadratic,
    bet,
    divergence,
    gaps,
    interval,
    of_arm,
    regret,
    variance,
    wide_regret,
)
from stopwise.problems.rounds import best_evidence, judged, weakest_cell
from stopwise.problems.verbs import (
    Code,
    code_size,
    parts,
    project,
    rank,
    shape,
    simple,
    union_bound,
)
from stopwise.stopping import verbs
from stopwise.stopping.likelihood import largest_sum

FLAT = 9  # the weights of gaps are equal up to this one, then fall
ALIKE = 0.6  # by what the weight of two gaps falls for each step between them
BOTH = 0.95  # the weight of bets on both arms of a pair; the rest is on one of them
CLOSE = 1e-12  # of the least log wealth


class Wealth(Empty, StoppingRule):
    """Bets against every way to be wrong, by Ville's inequality. Proven, without a place or a scale."""

    __slots__ = ()
    title = "proven, the sharpest"


class Purse(NamedTuple):
    """The gaps and their weights; room for one cell; and a cell that is known to be weak."""

    gaps: Floats
    weights: Floats
    roots: Floats  # their square roots, but for a factor: of pairs, sqrt(a_q a_r) ALIKE^|q - r|
    above: Floats  # gap x (log wealth, slope)
    below: Floats
    counts: Floats  # shrunken ones
    lost: Floats
    closest: Floats
    marks: Ints  # see below
    weak: Floats
    answer: Ints  # in whose alternative the weak cell is


class SimplePurse(Purse):
    """That of problems and families where bets on one arm or two are all there is."""

    __slots__ = ()


RANK, KEEPS, ARM, OTHER = range(4)  # marks
# of the weak cell: its wealth and c (for each arm) when it was seen, with the arms' data then
BELIEVED, PLACE, OTHER_PLACE, COUNT, MEAN, OTHER_COUNT, OTHER_MEAN, SIDE_UP = range(8)
NOBODY = -1


@verbs.tally.register(Wealth)
def _tally(rule: Wealth, problem: Any, family: Any) -> Any:
    largest, ratio, count = gaps(family)
    places = np.arange(count)
    weights = 1.0 / np.maximum(places - FLAT + 1.0, 1.0)
    weights /= max(weights.sum(), 1.0)
    near = ALIKE ** np.abs(places[:, None] - places)
    total = np.sqrt(weights) @ near @ np.sqrt(weights)
    code, arms = np.zeros(code_size(problem), dtype=np.int64), problem.arms
    alone = not parts(problem, family, code)
    kind: Any = SimplePurse if count and simple(problem) else Purse
    return kind(
        largest / ratio**places,
        weights,
        np.sqrt(weights / total) if count else weights,
        np.zeros((count, 2)),
        np.zeros((count, 2)),
        *(np.zeros(arms) for _ in range(3)),
        np.array([rank(problem), alone, NOBODY, NOBODY]),
        np.zeros(8),
        code,
    )


@verbs.level.register(Wealth)
def _level(rule: Wealth, problem: Any, family: Any, delta: float) -> float:
    kind = type(of_arm(family, 0))
    known = issubclass(kind, Quadratic) or registered(regret, kind) or registered(wide_regret, kind)
    if not known:
        raise NotDefined(
            f"Wealth with {family!r}: neither bets nor a mixture are known for this family. Use "
            "MixtureMartingale(), or register stopwise.families.verbs.regret for it."
        )
    return math.log(union_bound(problem)) - math.log(delta)


verbs.proven.register(Wealth)(lambda rule, problem, family: True)


@verbs.weigh.register(Wealth)
def _weigh(
    rule: Wealth, problem: Any, family: Any, state: State, rounds: int, least: float
) -> float:
    """D is at least the evidence: below the level it settles the matter, and a weak cell may too."""
    enough = max(least, 0.0)
    found = best_evidence(problem, family, state.data, state.sketch, enough, state.answer)
    if not found >= enough:
        return found
    believed = still_weak(family, state.data, state.answer, state.tally)
    if believed < least:
        return believed
    found = weakest_cell(
        problem, family, state.data, state.sketch, state.answer, state.tally, least
    )
    if state.tally.marks[ARM] != NOBODY:
        assign(state.tally.answer, state.answer)
    return verbs.weighed(state, found, 0.0)


@verbs.evidence.register(Wealth)
def _evidence(rule: Wealth, problem: Any, family: Any, state: State, code: Code) -> float:
    state.tally.marks[ARM] = NOBODY
    return float(
        weakest_cell(problem, family, state.data, state.sketch, code, state.tally, -math.inf)
    )


# ------------------------------------------------------------------------------------ one cell


@judged.register(SimplePurse)
def _judged_simple(
    purse: Any, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    value = simple_wealth(family, data, shape(problem, code, cell), purse, enough)
    return value if not value <= 0.0 else 0.0  # evidence is not negative


@judged.register(Purse)
def _judged(
    purse: Any, problem: Any, family: Any, data: Data, code: Code, cell: int, enough: float
) -> float:
    what = shape(problem, code, cell)
    if what.kind == ANY or purse.gaps.size == 0:
        purse.marks[ARM] = NOBODY
        value = other_wealth(family, problem, data, code, cell, purse, enough)
    else:
        value = simple_wealth(family, data, what, purse, enough)
    return value if not value <= 0.0 else 0.0


@jitable
def simple_wealth(family: Any, data: Data, what: Shape, purse: Any, enough: float) -> float:
    """The log wealth against a cell that bounds one arm, compares two, or has all on one side."""
    purse.marks[ARM] = NOBODY
    if what.kind == GAP:
        return gap_wealth(family, data, what, purse, enough)
    if what.kind == SIDE:
        return side_wealth(family, data, what, purse)
    value = arm_wealth(family, data, what.arm, -what.side, what.limit, purse)
    _keep(data, what, value, what.limit, what.limit, purse)
    return value


@jitable
def arm_wealth(family: Any, data: Data, arm: int, side: float, limit: float, purse: Any) -> float:
    """log sum_q a_q w(limit; g_q): the arm is above (+1) or below the limit."""
    top = _bets(of_arm(family, arm), data, arm, side, limit, purse.gaps, purse.above)
    made = 0.0
    for q in range(purse.gaps.size):
        made += purse.weights[q] * math.exp(purse.above[q, 0] - top)
    return top + math.log(made)


@jitable
def _bets(
    family: Any, data: Data, arm: int, side: float, c: float, sizes: Floats, out: Floats
) -> float:
    """Every gap's log wealth and slope; returns the largest log wealth."""
    count, mean = data.counts[arm], data.means[arm]
    top = -math.inf
    for q in range(sizes.size):
        out[q, 0], out[q, 1] = bet(family, side, count, mean, c, sizes[q])
        top = max(top, out[q, 0])
    return top


@jitable
def side_wealth(family: Any, data: Data, what: Shape, purse: Any) -> float:
    """log of (1/2)(1/K) sum_k W_k + (1/2) prod_k (1 - 1/K + W_k/K)."""
    size = data.means.size
    share = 1.0 / size
    one, all_of_them = -math.inf, 0.0
    for k in range(size):
        made = arm_wealth(family, data, k, -what.side, what.limit, purse)
        one = log_add(one, made + math.log(share))
        idle = math.log(1.0 - share) if size > 1 else -math.inf
        all_of_them += log_add(idle, made + math.log(share))
    return log_add(one, all_of_them) - math.log(2.0)


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

    log M is convex in a variable that rises or falls in c: its slope in c changes sign once.
    """
    _, arm, other, _, margin = what
    if not data.means[other] < data.means[arm] + margin:
        return 0.0  # M <= 1 between the means
    low, high = interval(family)
    left, right = low, high - margin
    first, last = max(data.means[other] - margin, low), min(data.means[arm], right)
    bend = _stiffness(family, data, what, 0.5 * (first + last))
    c, step = meeting_point(family, data, arm, other, margin), last - first + margin
    value, slope = log_pair(family, data, what, c, purse)
    for turn in range(200):
        if slope < 0.0:
            left = c
        else:
            right = c
        if value < enough or slope * slope <= CLOSE * bend or abs(slope) * (right - left) <= CLOSE:
            break
        new = c - slope / bend
        if turn % 4 == 3 or not left < new < right:
            step *= 2.0
            new = between(left, right, c, step)
        before, at = slope, c
        c = new
        value, slope = log_pair(family, data, what, c, purse)
        secant = (slope - before) / (c - at) if c != at else 0.0
        if secant > 0.0:
            bend = secant
    _keep(data, what, value, c, c + margin, purse)
    return value


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

    The sum over r of ALIKE^|q - r| times a term is two running sums, over r <= q and r > q.
    """
    arm, other, above, below = what.arm, what.other, purse.above, purse.below
    top = max(0.0, _bets(of_arm(family, arm), data, arm, 1.0, c, purse.gaps, above))
    own = max(
        0.0, _bets(of_arm(family, other), data, other, -1.0, c + what.limit, purse.gaps, below)
    )
    one, one_slope = 0.0, 0.0  # bets on one arm
    pair, pair_slope = 0.0, 0.0
    x = y = dx = dy = 0.0  # sums of earlier terms, and of their slopes
    idle, other_idle = math.exp(-top), math.exp(-own)
    for q in range(purse.gaps.size):
        a, b = math.exp(above[q, 0] - top), math.exp(below[q, 0] - own)
        da, db = a * above[q, 1], b * below[q, 1]
        weight, root = purse.weights[q], purse.roots[q]
        one += weight * (a * other_idle + b * idle)
        one_slope += weight * (da * other_idle + db * idle)
        a, b, da, db = root * a, root * b, root * da, root * db
        pair += a * (b + y) + x * b
        pair_slope += da * (b + y) + a * (db + dy) + dx * b + x * db
        x, y, dx, dy = ALIKE * (x + a), ALIKE * (y + b), ALIKE * (dx + da), ALIKE * (dy + db)
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

    Where every count shrinks at least to some share, D is at most that share of D: this is tried first.
    """
    size = data.means.size
    closest, lost = purse.closest[:size], purse.lost[:size]
    shrunken = Data(purse.counts[:size], data.means)
    cost = project(problem, family, data, code, cell, closest)
    if cost < enough:
        return cost
    most = found = -math.inf
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


# ------------------------------------------------------------------------- a cell known to be weak


@jitable
def _keep(data: Data, what: Shape, value: float, c: float, other_c: float, purse: Any) -> None:
    """log M(c), or a bound's log wealth; not where c is beyond the mean, see docs/thresholds.md."""
    weak, arm, other = purse.weak, what.arm, what.other
    up = what.kind == GAP or what.side < 0.0  # the bet is that the arm is above
    if purse.marks[KEEPS] == 0 or (up and c > data.means[arm]):
        return
    purse.marks[ARM], purse.marks[OTHER] = arm, other
    weak[BELIEVED], weak[PLACE], weak[OTHER_PLACE] = value, c, other_c
    weak[COUNT], weak[MEAN] = data.counts[arm], data.means[arm]
    weak[OTHER_COUNT], weak[OTHER_MEAN] = data.counts[other], data.means[other]
    weak[SIDE_UP] = 1.0 if up else -1.0


@jitable
def still_weak(family: Any, data: Data, code: Code, purse: Any) -> float:
    """A bound on the weak cell's wealth now, infinite if it is not of this answer's alternative.

    The wealth at a fixed c grows at most by n d(x, c) for n samples of mean x, on the side of the bet.
    """
    weak, arm, other = purse.weak, purse.marks[ARM], purse.marks[OTHER]
    if arm == NOBODY:
        return math.inf
    for k in range(code.size):
        if code[k] != purse.answer[k]:
            return math.inf
    side = weak[SIDE_UP]
    most = weak[BELIEVED] + _gain(family, data, arm, side, weak[PLACE], weak[COUNT], weak[MEAN])
    if other != arm:
        most += _gain(
            *(family, data, other, -side, weak[OTHER_PLACE], weak[OTHER_COUNT], weak[OTHER_MEAN])
        )
    return most + 1e-9  # rounding


@jitable
def _gain(
    family: Any, data: Data, arm: int, side: float, c: float, count: float, mean: float
) -> float:
    """n d(x, c) for the n samples since an arm had ``count`` of them, where their mean x is beyond c."""
    more = data.counts[arm] - count
    if more == 0.0:
        return 0.0
    fresh = (data.counts[arm] * data.means[arm] - count * mean) / more
    return more * divergence(of_arm(family, arm), fresh, c) if side * (fresh - c) > 0.0 else 0.0
