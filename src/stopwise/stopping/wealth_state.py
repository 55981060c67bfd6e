"""What Wealth keeps between rounds, and the wealth made by betting against one cell.

The evidence is the logarithm of the wealth at the least favourable model in the cell. First comes what every
kind of state has: the memory of pairs and of one weak cell. Then the kinds: bets on arms (``BetState``, and
``WatchedState`` where D does not bound the wealth), mixtures of likelihoods (``MixtureState``); students_t.py
has one more for unknown variances. New states come last. docs/thresholds.md has the derivations.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.cells.bound import Bound, Side
from stopwise.cells.cell import Cell
from stopwise.cells.gap import Gap, meeting_point
from stopwise.core.arrays import Floats, Ints, assign
from stopwise.core.data import Data
from stopwise.core.errors import MissingMethod, NotDefined
from stopwise.core.functions import inline, jitable, variant, variants
from stopwise.core.values import Value, overrides
from stopwise.families.family import Family, Quadratic
from stopwise.problems.problem import Code, Problem
from stopwise.stopping.likelihood import largest_sum

# in ``WeakCell.marks``: whether anything is remembered, and the cell's arms
REMEMBERS, ARM, OTHER = range(3)
NOBODY = -1  # as ARM: no weak cell is remembered
# in ``WeakCell.numbers``: whether the bet is that the arm is above (+1) or below c, and c of each arm;
# BetState has more: the log wealth at c, and the arms' data that it is of
SIDE, C, OTHER_C, LOG_WEALTH, COUNT, MEAN, OTHER_COUNT, OTHER_MEAN = range(8)

BOTH = 0.95  # the weight of bets on both arms of a pair; the rest is on one of them
CLOSE = 1e-12  # of the least log wealth
OVERSHOOT = 4.0  # Newton steps past a flat point, where the sign of the slope is checked

Pairwise = Bound | Gap | Side


class WeakCell(Value):
    """The last cell with too little evidence, and the c at which its wealth was least.

    Such a cell mostly still has too little after one more sample. The wealth at this c is an upper bound on
    its evidence: while the bound is below the level no cell needs to be looked at.
    """

    marks: Ints
    numbers: Floats
    answer: Ints  # the code of the answer in whose alternative the cell is

    def forget(self) -> None:
        """Remember no cell."""
        self.marks[ARM] = NOBODY

    def remember(self, cell: Gap, side: float, c: float) -> None:
        """Remember a pair, or a bound (an arm's pair with itself), and the c at which its wealth is least."""
        if self.marks[REMEMBERS] != 0:
            self.marks[ARM], self.marks[OTHER] = cell.arm, cell.other
            self.numbers[SIDE], self.numbers[C], self.numbers[OTHER_C] = side, c, c + cell.margin

    def refutes(self, code: Code) -> bool:
        """Whether a cell is remembered, and is in the alternative of this answer."""
        same = self.marks[ARM] != NOBODY
        for k in range(code.size):
            same = same and code[k] == self.answer[k]
        return same


class WealthState(Value):
    """What Wealth keeps between rounds, and its evidence against each kind of cell."""

    sizes: Floats  # of the bets
    weights: Floats  # of the sizes
    above: Floats  # size x (log wealth, slope), of the arm that is bet to be above c: scratch
    weak: WeakCell
    first_cell: (
        Ints  # one number: the index of the last cell with too little evidence, to be tried first
    )
    pairs: Floats  # row x (what the evidence against a pair was computed from, and the evidence)

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        """The evidence against a bound on one arm."""
        raise MissingMethod("bound_evidence", self)

    def gap_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        """The evidence against an order of two arms; below ``enough`` an upper bound will do.

        The evidence is remembered unless it may be a bound: a sample of one of the leader's rivals changes
        one pair only.
        """
        self.weak.forget()
        remembers = self.weak.marks[REMEMBERS] != 0
        (arm, other, margin), (counts, means) = cell, data
        # no two pairs with one arm in common, the leader or the control, share a row
        row = self.pairs[(arm + other) % self.pairs.shape[0]]
        key = (1.0 * arm, counts[arm], means[arm], counts[other], means[other], margin)
        if remembers and replace_key(row, key) and row[-1] >= enough:
            return float(row[-1])
        made = self.pair_evidence(family, data, cell, enough)
        made = made if not made <= 0.0 else 0.0  # evidence is not negative
        if remembers:
            row[-1] = made
            if not made >= enough:
                row[0] = NOBODY
        return made

    def pair_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        """The evidence against an order of two arms, computed anew; it may be negative."""
        raise MissingMethod("pair_evidence", self)

    def side_evidence(self, family: Family, data: Data, cell: Side, enough: float) -> float:
        """The evidence against all arms on one side."""
        raise MissingMethod("side_evidence", self)

    def other_evidence(self, family: Family, data: Data, cell: Cell, enough: float) -> float:
        """The evidence against any other cell."""
        raise MissingMethod("other_evidence", self)

    def worst_evidence(
        self, family: Family, data: Data, missing: Floats, cell: Pairwise, enough: float
    ) -> float:
        """The evidence against a cell, with so many values of each arm missing, at their worst: missing.py.

        By default, and where nothing bounds a missing value, 0: the t wealth is not monotone in a value.
        """
        return 0.0

    def weak_bound(self, family: Family, data: Data, code: Code) -> float:
        """An upper bound on the weak cell's evidence; infinite if no cell of this answer is remembered."""
        return math.inf

    @inline
    def update_weak(self, family: Family, arm: int, sample: float) -> None:
        """Enter one sample into what is remembered of the weak cell."""


@jitable
def replace_key(row: Floats, key: tuple[float, ...]) -> bool:
    """Write the key into the row; returns whether it was there: then the row's last entry holds."""
    same = True
    for place in range(len(key)):
        same = same and row[place] == key[place]
        row[place] = key[place]
    return same


class BetState(WealthState):
    """Bets of several sizes on each arm."""

    below: Floats  # as ``above``, of the arm that is bet to be below c
    roots: Floats  # of the weights, but for a factor: of pairs, sqrt(a_q a_r) decay^|q - r|
    decay: float  # by what the weight of two sizes falls for each step between them
    rank: int  # of the problem: how many arms' mixtures count
    counts: (
        Floats  # scratch of ``mixture_evidence`` and ``worst_evidence``: neither calls the other
    )
    lost: Floats
    closest: Floats
    sides: Floats  # arm x (what its wealth against a side was computed from, and the wealth)

    # ------------------------------------------------------------------------ one arm, or all arms

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        self.weak.forget()
        value = self.arm_wealth(family, data, cell.arm, -cell.side, cell.limit)
        self.remember_weak(data, Gap(cell.arm, cell.arm, 0.0), -cell.side, cell.limit, value)
        return value if not value <= 0.0 else 0.0  # evidence is not negative

    def side_evidence(self, family: Family, data: Data, cell: Side, enough: float) -> float:
        """log of (1/2)(1/K) sum_k W_k + (1/2) prod_k (1 - 1/K + W_k/K)."""
        self.weak.forget()
        size = data.means.size
        share = 1.0 / size
        one, all_of_them = -math.inf, 0.0
        for k in range(size):
            made = self.side_wealth(family, data, k, cell)
            one = log_add(one, made + math.log(share))
            idle = math.log(1.0 - share) if size > 1 else -math.inf
            all_of_them += log_add(idle, made + math.log(share))
        value = log_add(one, all_of_them) - math.log(2.0)
        return value if not value <= 0.0 else 0.0

    def side_wealth(self, family: Family, data: Data, arm: int, cell: Side) -> float:
        """``arm_wealth`` against the side: that of an arm without new samples is what it was."""
        row = self.sides[arm]
        key = (cell.side, cell.limit, data.counts[arm], data.means[arm])
        if self.weak.marks[REMEMBERS] == 0:
            return self.arm_wealth(family, data, arm, -cell.side, cell.limit)
        if not replace_key(row, key):
            row[-1] = self.arm_wealth(family, data, arm, -cell.side, cell.limit)
        return float(row[-1])

    def arm_wealth(self, family: Family, data: Data, arm: int, side: float, c: float) -> float:
        """log sum_q a_q w(c; g_q): the arm is above (+1) or below c."""
        self.fill_bets(family, data, arm, side, c, self.above)
        return log_mixed(self.weights, self.above)[0]

    def fill_bets(
        self, family: Family, data: Data, arm: int, side: float, c: float, bets: Floats
    ) -> None:
        """The log wealth at c of a bet of each size, and its slope in c."""
        own = family.of_arm(arm)
        count, mean = float(data.counts[arm]), float(data.means[arm])  # plain numbers are quicker
        for q in range(self.sizes.size):
            bets[q, 0], bets[q, 1] = own.bet(side, count, mean, c, float(self.sizes[q]))

    def other_evidence(self, family: Family, data: Data, cell: Cell, enough: float) -> float:
        self.weak.forget()
        value = mixture_evidence(family.likelihood_family(), cell, data, self, enough)
        return value if not value <= 0.0 else 0.0

    def worst_evidence(
        self, family: Family, data: Data, missing: Floats, cell: Pairwise, enough: float
    ) -> float:
        low, high = family.mean_space()
        filled = Data(self.counts, self.closest)
        assign(filled.counts, data.counts)
        assign(filled.means, data.means)
        for k in range(missing.size):
            if missing[k] > 0.0 and cell.constrains(k):
                worst = high if cell.rises(k) else low
                if math.isinf(worst):
                    return 0.0
                total = data.counts[k] * data.means[k] + missing[k] * worst
                filled.counts[k] = data.counts[k] + missing[k]
                filled.means[k] = total / filled.counts[k]
        for k in range(missing.size):
            if missing[k] > 0.0 and cell.constrains(k):
                self.lost[k] = family.add_at_end(k, missing[k], cell.rises(k))
        self.weak.marks[REMEMBERS] = 0  # nothing of this is remembered
        value = cell.evidence(family, filled, self, enough)
        self.weak.marks[REMEMBERS] = 1
        for k in range(missing.size):
            if missing[k] > 0.0 and cell.constrains(k):
                family.restore_end(k, cell.rises(k), self.lost[k])
        return value

    # -------------------------------------------------------------------------- two arms compared

    def pair_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        """The least log M(c), or log M at a c where it is below ``enough``.

        log M is convex in a variable that rises or falls in c: its slope in c changes sign once. A point
        with little slope is believed to be the least only if the slope has another sign a step beyond, as
        what the slope says of the curvature between is worth nothing where log M has a bend.
        """
        arm, other, margin = cell
        if not data.means[other] < data.means[arm] + margin:
            return 0.0  # M <= 1 between the means
        low, high = family.mean_space()
        left, right = low, high - margin
        first, last = max(data.means[other] - margin, low), min(data.means[arm], right)
        # about how much the slope of log M grows with c
        middle = 0.5 * (first + last)
        spread = family.of_arm(arm).variance_at(middle)
        spread = max(spread, family.of_arm(other).variance_at(middle + margin))
        bend, step = (data.counts[arm] + data.counts[other]) / spread, last - first + margin
        c, most = self.start(family, data, cell)
        if most < enough:
            return most
        value, slope = self.log_pair(family, data, cell, c)
        for turn in range(200):
            if slope < 0.0:
                left = c
            else:
                right = c
            if value < enough or slope == 0.0 or abs(slope) * (right - left) <= CLOSE:
                break
            if slope * slope <= CLOSE * bend:
                there = step_within(left, right, c, -OVERSHOOT * slope / bend)
                value_there, slope_there = self.log_pair(family, data, cell, there)
                if slope_there * slope <= 0.0:
                    break
                c, value, slope, bend = there, value_there, slope_there, 0.0
                if slope < 0.0:
                    left = c
                else:
                    right = c
            new = c - slope / bend if bend > 0.0 else math.nan
            if turn % 4 == 3 or not left < new < right:
                step *= 2.0
                new = bisect(left, right, c, step)
            before, at = slope, c
            c = new
            value, slope = self.log_pair(family, data, cell, c)
            secant = (slope - before) / (c - at) if c != at else 0.0
            if secant > 0.0:
                bend = secant
        self.remember_weak(data, cell, 1.0, c, value)
        return value

    def start(self, family: Family, data: Data, cell: Gap) -> tuple[float, float]:
        """Where to begin the search for the least log M(c), D's meeting point; and a bound on log M there.

        The bound is infinite: D, which is at least log M, was compared with the level before.
        """
        return meeting_point(family, data, cell.arm, cell.other, cell.margin), math.inf

    def log_pair(self, family: Family, data: Data, cell: Gap, c: float) -> tuple[float, float]:
        """log M(c) and its slope: the first arm is bet to be above c, the other below c + margin."""
        self.fill_bets(family, data, cell.arm, 1.0, c, self.above)
        self.fill_bets(family, data, cell.other, -1.0, c + cell.margin, self.below)
        return self.log_mixed_pair(self.above, self.below)

    def log_mixed_pair(self, above: Floats, below: Floats) -> tuple[float, float]:
        """log M and its slope, M = sum_qr p_qr w+_q w-_r + bets on one arm, from both arms' bets.

        The sum over r of decay^|q - r| times a term is two running sums, over r <= q and r > q.
        """
        top, own = max(0.0, largest_log(above)), max(0.0, largest_log(below))
        one, one_slope = 0.0, 0.0  # bets on one arm
        pair, pair_slope = 0.0, 0.0
        x = y = dx = dy = 0.0  # sums of earlier terms, and of their slopes
        idle, other_idle, near = math.exp(-top), math.exp(-own), self.decay
        for q in range(self.sizes.size):
            a, b = math.exp(above[q, 0] - top), math.exp(below[q, 0] - own)
            da, db = a * float(above[q, 1]), b * float(below[q, 1])
            weight, root = float(self.weights[q]), float(self.roots[q])
            one += weight * (a * other_idle + b * idle)
            one_slope += weight * (da * other_idle + db * idle)
            a, b, da, db = root * a, root * b, root * da, root * db
            pair += a * (b + y) + x * b
            pair_slope += da * (b + y) + a * (db + dy) + dx * b + x * db
            x, y, dx, dy = near * (x + a), near * (y + b), near * (dx + da), near * (dy + db)
        made = BOTH * pair + 0.5 * (1.0 - BOTH) * one
        slope = BOTH * pair_slope + 0.5 * (1.0 - BOTH) * one_slope
        return top + own + math.log(made), slope / made

    # ------------------------------------------------------------------------------ the weak cell

    def remember_weak(self, data: Data, cell: Gap, side: float, c: float, value: float) -> None:
        """The log wealth at c, and the data that it is of. Not for c beyond the mean: docs/thresholds.md."""
        arm, other, _ = cell
        if side > 0.0 and c > data.means[arm]:
            return
        self.weak.remember(cell, side, c)
        known = self.weak.numbers
        known[LOG_WEALTH] = value
        known[COUNT], known[MEAN] = data.counts[arm], data.means[arm]
        known[OTHER_COUNT], known[OTHER_MEAN] = data.counts[other], data.means[other]

    def weak_bound(self, family: Family, data: Data, code: Code) -> float:
        """The wealth at a fixed c grows at most by n d(x, c) for n samples of mean x, on the bet's side."""
        if not self.weak.refutes(code):
            return math.inf
        known, arm, other = self.weak.numbers, self.weak.marks[ARM], self.weak.marks[OTHER]
        most = known[LOG_WEALTH] + gain(family, data, arm, known[SIDE], known[C], known[COUNT:])
        if other != arm:
            before = known[OTHER_COUNT:]
            most += gain(family, data, other, -known[SIDE], known[OTHER_C], before)
        return most + 1e-9  # rounding


class MixtureState(BetState):
    """Where the family has no bets: every cell has the evidence of mixtures."""

    bound_evidence = gap_evidence = side_evidence = BetState.other_evidence
    worst_evidence = WealthState.worst_evidence


class WatchedState(BetState):
    """Where D does not bound the wealth: the bets against the weak cell, at its c, are kept up to date.

    One more sample multiplies the wealth of each bet at c by a known factor. This changes no result.
    """

    watched: Floats  # ``above`` and ``below`` at the weak cell's c

    def remember_weak(self, data: Data, cell: Gap, side: float, c: float, value: float) -> None:
        """The bets' log wealth at c, as it has just been computed."""
        self.weak.remember(cell, side, c)
        for q in range(self.sizes.size):
            self.watched[0, q, 0], self.watched[1, q, 0] = self.above[q, 0], self.below[q, 0]

    def update_weak(self, family: Family, arm: int, sample: float) -> None:
        (marks, known, _), own = self.weak, family.of_arm(arm)
        if marks[ARM] == NOBODY:
            return
        if arm == marks[ARM]:
            for q in range(self.sizes.size):
                won = own.log_bet_factor(known[SIDE], sample, known[C], self.sizes[q])
                self.watched[0, q, 0] += won
        elif arm == marks[OTHER]:
            for q in range(self.sizes.size):
                won = own.log_bet_factor(-known[SIDE], sample, known[OTHER_C], self.sizes[q])
                self.watched[1, q, 0] += won

    def weak_bound(self, family: Family, data: Data, code: Code) -> float:
        """The log wealth at the weak cell's c."""
        if not self.weak.refutes(code):
            return math.inf
        if self.weak.marks[OTHER] == self.weak.marks[ARM]:
            return log_mixed(self.weights, self.watched[0])[0]
        return self.log_mixed_pair(self.watched[0], self.watched[1])[0]

    def start(self, family: Family, data: Data, cell: Gap) -> tuple[float, float]:
        """The meeting point, moved inside the space of means; and an upper bound on log M there."""
        arm, other, margin = cell
        low, high = family.mean_space()
        c, edge = meeting_point(family, data, arm, other, margin), 1e-9 * (high - low - margin)
        c = min(max(c, low + edge), high - margin - edge)
        count, mean = data.counts[other], data.means[other]
        rival = family.of_arm(other).log_wealth_bound(-1.0, count, mean, c + margin)
        count, mean = data.counts[arm], data.means[arm]
        return c, family.of_arm(arm).log_wealth_bound(1.0, count, mean, c) + rival


# ------------------------------------------------------------------------------------------- bets


@jitable
def largest_log(bets: Floats) -> float:
    """The largest log wealth of a table of bets."""
    top = -math.inf
    for q in range(bets.shape[0]):
        top = max(top, bets[q, 0])
    return top


@jitable
def log_mixed(weights: Floats, bets: Floats) -> tuple[float, float]:
    """log sum_q a_q w_q and its slope, from a table of log w_q and their slopes."""
    top, made, slope = largest_log(bets), 0.0, 0.0
    for q in range(weights.size):
        share = float(weights[q]) * math.exp(float(bets[q, 0]) - top)
        made += share
        slope += share * float(bets[q, 1])
    return top + math.log(made), slope / made


@jitable
def log_add(x: float, y: float) -> float:
    """log(e^x + e^y)."""
    if x < y:
        x, y = y, x
    return x if y == -math.inf else x + math.log1p(math.exp(y - x))


@jitable
def step_within(left: float, right: float, c: float, step: float) -> float:
    """c + step, or half-way to the bracket's end where that leaves the bracket."""
    new = c + step
    if new == c:  # too little for a number of this size
        new = c + math.copysign(max(1e-15 * abs(c), 1e-300), step)
    if left < new < right:
        return new
    return 0.5 * (c + right) if step > 0.0 else 0.5 * (c + left)


@jitable
def bisect(left: float, right: float, c: float, step: float) -> float:
    """The middle of the bracket; a step from c where one of its ends is infinite."""
    if right == math.inf:
        return c + step
    return c - step if left == -math.inf else 0.5 * (left + right)


@jitable
def gain(family: Family, data: Data, arm: int, side: float, c: float, known: Floats) -> float:
    """n d(x, c) for the n samples, of mean x, since the arm had the ``known`` count and mean.

    0 unless x is on the bet's side of c.
    """
    count, mean = known[0], known[1]
    more = data.counts[arm] - count
    if more == 0.0:
        return 0.0
    fresh = (data.counts[arm] * data.means[arm] - count * mean) / more
    return more * family.of_arm(arm).divergence(fresh, c) if side * (fresh - c) > 0.0 else 0.0


# --------------------------------------------------------------------------------------- mixtures


@variants
def mixture_evidence(
    family: Family, cell: Cell, data: Data, state: BetState, enough: float
) -> float:
    """D(N, mu-hat, cell) less what mixtures lose: the ``rank`` largest."""
    size = data.means.size
    closest, lost = state.closest[:size], state.lost[:size]
    cost = cell.project(family, data, closest)
    if cost < enough:
        return cost
    for k in range(size):
        lost[k] = family.of_arm(k).wide_regret(data.counts[k], data.means[k])
    return cost - largest_sum(lost, state.rank)


@variant(mixture_evidence, Quadratic)
def _shrunken_evidence(
    family: Family, cell: Cell, data: Data, state: BetState, enough: float
) -> float:
    """log sum_q a_q exp(D(N^2/(N + kappa_q), mu-hat, cell) - (1/2) sum log(1 + N/kappa_q)).

    Or the cell's own mixtures, with the same gaps. Where every count shrinks at least to some share,
    D is at most that share of D: this is tried first.
    """
    size = data.means.size
    closest, lost = state.closest[:size], state.lost[:size]
    shrunken = Data(state.counts[:size], data.means)
    cost = cell.project(family, data, closest)
    if cost < enough:
        return cost
    most = found = -math.inf
    if not math.isnan(cell.mixed_evidence(family, data, 1.0)):
        for q in range(state.sizes.size):
            made = cell.mixed_evidence(family, data, state.sizes[q])
            found = log_add(found, math.log(state.weights[q]) + made)
        return found
    for q in range(state.sizes.size):
        share = _shrink(data.counts, state.sizes[q], shrunken.counts, lost)
        made = math.log(state.weights[q]) - largest_sum(lost, state.rank)
        most = log_add(most, made + share * cost)
    if most < enough:
        return most
    for q in range(state.sizes.size):
        _shrink(data.counts, state.sizes[q], shrunken.counts, lost)
        made = math.log(state.weights[q]) - largest_sum(lost, state.rank)
        cost = cell.project(family, shrunken, closest)
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


# ------------------------------------------------------------------------------------- new states


def bet_weights(largest: float, ratio: float, count: int) -> tuple[Floats, Floats]:
    """The sizes of bets, the largest first, each ``ratio`` times the next; and their weights."""
    places = np.arange(count)
    # the first half alike, and six at least; then falling, each time that the size is halved
    halvings = min(1.0, math.log2(ratio)) * (places - max(count // 2, 5))
    weights = np.maximum(halvings + 1.0, 1.0) ** -1.5
    sizes = np.asarray(largest / ratio**places, dtype=np.float64)
    return sizes, weights / max(weights.sum(), 1.0)


def step_decay(sizes: Floats, base: float) -> float:
    """By what the weight of two sizes falls for each step; ``base`` if one is twice the other."""
    if sizes.size < 2 or sizes[0] > 1.999 * sizes[1]:
        return base  # for a step of more, too
    return math.exp(math.log(base) * math.log(sizes[0] / sizes[1]) / math.log(2.0))


def bet_state(family: Family, problem: Problem) -> BetState:
    """The state of bets before the first sample, for families of known variances."""
    sizes, weights = bet_weights(*family.bet_sizes())
    places, count = np.arange(sizes.size), sizes.size
    decay = step_decay(sizes, float(family.pair_decay()))
    near = decay ** np.abs(places[:, None] - places)
    total = np.sqrt(weights) @ near @ np.sqrt(weights)
    code, arms = np.zeros(problem.code_size(), dtype=np.int64), problem.arms
    alone = not problem.independent_parts(family, code)  # else arms have other numbers in each part
    state = BetState(
        sizes=sizes,
        weights=weights,
        above=np.zeros((count, 2)),
        weak=WeakCell(np.array([alone, NOBODY, NOBODY]), np.zeros(8), code),
        first_cell=np.zeros(1, dtype=np.int64),
        pairs=np.zeros((arms, 7)),
        below=np.zeros((count, 2)),
        roots=np.sqrt(weights / total) if count else weights,
        decay=decay,
        rank=int(problem.rank()),
        counts=np.zeros(arms),
        lost=np.zeros(arms),
        closest=np.zeros(arms),
        sides=np.zeros((arms, 5)),
    )
    if count == 0:
        return MixtureState(*state)
    if family.glr_dominates():
        return state
    watched = (*state, np.zeros((2, count, 2)))
    return WatchedState._make(watched)


wealth_state = variants(bet_state)  # what Wealth keeps for a family, before the first sample


@variants
def check_wealth(family: Family, problem: Problem) -> None:
    """Refuse a family for which neither bets nor a mixture are known."""
    if not has_mixture(family):
        raise NotDefined(
            f"Wealth with {family!r}: neither bets nor a mixture are known for this family. Use "
            "MixtureMartingale(), or give the family a method ``regret``."
        )


def has_mixture(family: Family) -> bool:
    """Whether a mixture of the family's likelihoods is known."""
    kind = type(family.of_arm(0))
    return (
        issubclass(kind, Quadratic) or overrides(kind, "regret") or overrides(kind, "wide_regret")
    )
