"""What Wealth keeps between rounds, and the wealth made by betting against one cell.

The evidence is the logarithm of the wealth at the least favourable model in the cell. Derived in
docs/thresholds.md, whose equations are cited.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stopwise.cells.bound import Bound, Side
from stopwise.cells.cell import Cell
from stopwise.cells.gap import Gap, meeting_point
from stopwise.core.arrays import Floats, Ints
from stopwise.core.data import Data
from stopwise.core.errors import MissingMethod, NotDefined
from stopwise.core.functions import inline, jitable, variant, variants
from stopwise.core.values import Value, overrides
from stopwise.families.family import Family, Quadratic
from stopwise.problems.problem import Code, Problem
from stopwise.stopping.likelihood import largest_sum

RANK, KEEPS, ARM, OTHER, CELL = range(5)  # marks
# of the weak cell: its wealth and c (for each arm) when it was seen, with the arms' data then
BELIEVED, PLACE, OTHER_PLACE, COUNT, MEAN, OTHER_COUNT, OTHER_MEAN, SIDE_UP = range(8)
NOBODY = -1
MADE = 6  # the column of ``pairs`` that has the evidence

BOTH = 0.95  # the weight of bets on both arms of a pair; the rest is on one of them
CLOSE = 1e-12  # of the least log wealth
BEYOND = 4.0  # Newton steps


class WealthState(Value):
    """What Wealth keeps between rounds, and its evidence against each kind of cell."""

    if TYPE_CHECKING:
        sizes: Floats
        weights: Floats
        marks: Ints
        weak: Floats
        answer: Ints
        pairs: Floats

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        """The evidence against a bound on one arm."""
        raise MissingMethod("bound_evidence", self)

    def gap_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        """The evidence against an order of two arms; below ``enough`` an upper bound will do.

        The evidence is kept unless it may be a bound: a sample of one of the leader's rivals changes
        one pair only.
        """
        self.marks[ARM] = NOBODY
        keeps = self.marks[KEEPS] != 0
        # no two pairs with one arm in common, the leader or the control, share a row
        row = self.pairs[(cell.arm + cell.other) % self.pairs.shape[0]]
        if keeps and recalled(row, data, cell) and row[MADE] >= enough:
            return float(row[MADE])
        made = self.pair_evidence(family, data, cell, enough)
        made = made if not made <= 0.0 else 0.0  # evidence is not negative
        if keeps:
            row[MADE] = made
            if not made >= enough:
                row[1] = -1.0  # no pair has this count
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

    @inline
    def last_weak(self) -> int:
        """The number of the cell that was weak the last time; the first one at the beginning."""
        return int(self.marks[CELL])

    @inline
    def note_weak(self, j: int) -> None:
        """Cell j is weak."""
        self.marks[CELL] = j

    def still_weak(self, family: Family, data: Data, code: Code) -> float:
        """A bound on the weak cell's evidence now, infinite if it is not of this answer's alternative."""
        return math.inf

    @inline
    def enter(self, family: Family, arm: int, sample: float) -> None:
        """One more sample, for what is kept of the weak cell."""

    def is_of(self, code: Code) -> bool:
        """Whether a weak cell is known, of this answer's alternative."""
        same = self.marks[ARM] != NOBODY
        for k in range(code.size):
            same = same and code[k] == self.answer[k]
        return same


@jitable
def recalled(row: Floats, data: Data, cell: Gap) -> bool:
    """Whether the row has the evidence against this pair with these samples; from now on it has."""
    arm, other, margin = cell
    same = row[0] == arm and row[1] == data.counts[arm] and row[2] == data.means[arm]
    same = same and row[3] == data.counts[other] and row[4] == data.means[other]
    if same and row[5] == margin:
        return True
    row[0], row[1], row[2] = arm, data.counts[arm], data.means[arm]
    row[3], row[4], row[5] = data.counts[other], data.means[other], margin
    return False


class BetState(WealthState):
    """Bets of several sizes and their weights; scratch for one cell; and a cell known to be weak."""

    sizes: Floats
    weights: Floats
    roots: Floats  # their square roots, but for a factor: of pairs, sqrt(a_q a_r) decay^|q - r|
    decay: float  # by what the weight of two sizes falls for each step between them
    above: Floats  # size x (log wealth, slope)
    below: Floats
    counts: Floats  # shrunken ones
    lost: Floats
    closest: Floats
    marks: Ints  # RANK, KEEPS, ARM, OTHER, CELL
    weak: Floats
    answer: Ints  # in whose alternative the weak cell is
    watched: (
        Floats  # size x (log wealth of the weak cell's arm, of the other), where D does not screen
    )
    sides: Floats  # arm x what its log wealth was last computed from, and the log wealth
    pairs: Floats  # the same of pairs: see ``recalled``

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        self.marks[ARM] = NOBODY
        value = self.arm_wealth(family, data, cell.arm, -cell.side, cell.limit)
        self.keep(data, Gap(cell.arm, cell.arm, 0.0), -cell.side, value, cell.limit)
        return value if not value <= 0.0 else 0.0  # evidence is not negative

    def side_evidence(self, family: Family, data: Data, cell: Side, enough: float) -> float:
        """log of (1/2)(1/K) sum_k W_k + (1/2) prod_k (1 - 1/K + W_k/K)."""
        self.marks[ARM] = NOBODY
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
        if self.marks[KEEPS] == 0:
            return self.arm_wealth(family, data, arm, -cell.side, cell.limit)
        known, count, mean = self.sides[arm], data.counts[arm], data.means[arm]
        same = known[0] == count and known[1] == mean
        if not (same and known[2] == cell.side and known[3] == cell.limit):
            known[0], known[1], known[2], known[3] = count, mean, cell.side, cell.limit
            known[4] = self.arm_wealth(family, data, arm, -cell.side, cell.limit)
        return float(known[4])

    def arm_wealth(self, family: Family, data: Data, arm: int, side: float, c: float) -> float:
        """log sum_q a_q w(c; g_q): the arm is above (+1) or below c."""
        top = self.fill_bets(family.of_arm(arm), data, arm, side, c, self.above)
        return self.log_mixed(self.above, top)

    def fill_bets(
        self, family: Family, data: Data, arm: int, side: float, c: float, out: Floats
    ) -> float:
        """Every bet's log wealth and slope; returns the largest log wealth."""
        count, mean = float(data.counts[arm]), float(data.means[arm])  # plain numbers are quicker
        top = -math.inf
        for q in range(self.sizes.size):
            value, slope = family.bet(side, count, mean, c, float(self.sizes[q]))
            out[q, 0], out[q, 1] = value, slope
            top = max(top, value)
        return top

    def log_mixed(self, bets: Floats, top: float) -> float:
        """log sum_q a_q w_q, given log w_q in the first column, the largest of which is ``top``."""
        made = 0.0
        for q in range(self.sizes.size):
            made += self.weights[q] * math.exp(bets[q, 0] - top)
        return top + math.log(made)

    def other_evidence(self, family: Family, data: Data, cell: Cell, enough: float) -> float:
        self.marks[ARM] = NOBODY
        value = mixture_evidence(family.likelihood_family(), cell, data, self, enough)
        return value if not value <= 0.0 else 0.0

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
                there = beyond(left, right, c, -BEYOND * slope / bend)
                beyond_it, turned = self.log_pair(family, data, cell, there)
                if turned * slope <= 0.0:
                    break
                c, value, slope, bend = there, beyond_it, turned, 0.0
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
            value, slope = self.log_pair(family, data, cell, c)
            secant = (slope - before) / (c - at) if c != at else 0.0
            if secant > 0.0:
                bend = secant
        self.keep(data, cell, 1.0, value, c)
        return value

    def start(self, family: Family, data: Data, cell: Gap) -> tuple[float, float]:
        """The c at which to begin the search for the least log M(c): D's meeting point.

        And what log M(c) cannot exceed; infinite where D says so already.
        """
        return meeting_point(family, data, cell.arm, cell.other, cell.margin), math.inf

    def log_pair(self, family: Family, data: Data, cell: Gap, c: float) -> tuple[float, float]:
        """log M(c) and its slope, M(c) = sum_qr p_qr w+(c; g_q) w-(c + margin; g_r) + bets on one arm.

        The sum over r of decay^|q - r| times a term is two running sums, over r <= q and r > q.
        """
        arm, other, margin = cell
        above, below = self.above, self.below
        top = max(0.0, self.fill_bets(family.of_arm(arm), data, arm, 1.0, c, above))
        rival = family.of_arm(other)
        own = max(0.0, self.fill_bets(rival, data, other, -1.0, c + margin, below))
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

    def keep(self, data: Data, cell: Gap, side: float, value: float, c: float) -> None:
        """The log wealth at c against a pair, or, of one arm with itself, against a bound.

        ``side``: whether the bet is that the (first) arm is above or below c. Not where c is beyond the
        mean, see docs/thresholds.md.
        """
        weak, (arm, other, margin) = self.weak, cell
        if self.marks[KEEPS] == 0 or (side > 0.0 and c > data.means[arm]):
            return
        self.marks[ARM], self.marks[OTHER] = arm, other
        weak[BELIEVED], weak[PLACE], weak[OTHER_PLACE] = value, c, c + margin
        weak[COUNT], weak[MEAN] = data.counts[arm], data.means[arm]
        weak[OTHER_COUNT], weak[OTHER_MEAN] = data.counts[other], data.means[other]
        weak[SIDE_UP] = side

    def still_weak(self, family: Family, data: Data, code: Code) -> float:
        """The wealth at a fixed c grows at most by n d(x, c) for n samples of mean x, on the bet's side."""
        if not self.is_of(code):
            return math.inf
        weak, arm, other = self.weak, self.marks[ARM], self.marks[OTHER]
        most = weak[BELIEVED] + gain(family, data, arm, weak[SIDE_UP], weak[PLACE], weak[COUNT:])
        if other != arm:
            place, known = weak[OTHER_PLACE], weak[OTHER_COUNT:]
            most += gain(family, data, other, -weak[SIDE_UP], place, known)
        return most + 1e-9  # rounding


class MixtureState(BetState):
    """Where the family has no bets: every cell has the evidence of mixtures."""

    def bound_evidence(self, family: Family, data: Data, cell: Bound, enough: float) -> float:
        return self.other_evidence(family, data, cell, enough)

    def gap_evidence(self, family: Family, data: Data, cell: Gap, enough: float) -> float:
        return self.other_evidence(family, data, cell, enough)

    def side_evidence(self, family: Family, data: Data, cell: Side, enough: float) -> float:
        return self.other_evidence(family, data, cell, enough)


class WatchedState(BetState):
    """Where D does not screen: the wealth of a weak cell is kept up to date.

    log M(c) at any one c is at least the minimum. So the c at which a cell was last found weak is
    watched: one more sample multiplies each bet at c by a known factor, and as long as log M(c) is below
    the level nothing else needs to be computed. This changes no result.
    """

    def keep(self, data: Data, cell: Gap, side: float, value: float, c: float) -> None:
        """The bets' log wealth at c, as they have just been computed."""
        if self.marks[KEEPS] == 0:
            return
        self.marks[ARM], self.marks[OTHER] = cell.arm, cell.other
        self.weak[PLACE], self.weak[OTHER_PLACE] = c, c + cell.margin
        self.weak[SIDE_UP] = side
        for q in range(self.sizes.size):
            self.watched[q, 0], self.watched[q, 1] = self.above[q, 0], self.below[q, 0]

    def enter(self, family: Family, arm: int, sample: float) -> None:
        if self.marks[ARM] == NOBODY:
            return
        side = self.weak[SIDE_UP]
        if arm == self.marks[ARM]:
            own, c = family.of_arm(arm), self.weak[PLACE]
            for q in range(self.sizes.size):
                self.watched[q, 0] += own.log_bet_factor(side, sample, c, self.sizes[q])
        elif arm == self.marks[OTHER]:
            own, c = family.of_arm(arm), self.weak[OTHER_PLACE]
            for q in range(self.sizes.size):
                self.watched[q, 1] += own.log_bet_factor(-side, sample, c, self.sizes[q])

    def still_weak(self, family: Family, data: Data, code: Code) -> float:
        """log M(c) at the watched c."""
        if not self.is_of(code):
            return math.inf
        table = self.watched
        top = own = -math.inf
        for q in range(table.shape[0]):
            top, own = max(top, table[q, 0]), max(own, table[q, 1])
        if self.marks[OTHER] == self.marks[ARM]:
            return self.log_mixed(table, top)
        return self.log_mixed_pair(max(top, 0.0), max(own, 0.0))

    def log_mixed_pair(self, top: float, own: float) -> float:
        """``log_pair`` from what the bets have made."""
        pair = one = x = y = 0.0
        idle, other_idle = math.exp(-top), math.exp(-own)
        for q in range(self.sizes.size):
            a, b = math.exp(self.watched[q, 0] - top), math.exp(self.watched[q, 1] - own)
            one += self.weights[q] * (a * other_idle + b * idle)
            a, b = self.roots[q] * a, self.roots[q] * b
            pair += a * (b + y) + x * b
            x, y = self.decay * (x + a), self.decay * (y + b)
        return top + own + math.log(BOTH * pair + 0.5 * (1.0 - BOTH) * one)

    def start(self, family: Family, data: Data, cell: Gap) -> tuple[float, float]:
        """The meeting point of arms with estimated variances may lie outside the interval."""
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
def log_add(x: float, y: float) -> float:
    """log(e^x + e^y)."""
    if x < y:
        x, y = y, x
    return x if y == -math.inf else x + math.log1p(math.exp(y - x))


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
def between(left: float, right: float, c: float, step: float) -> float:
    """The middle of a bracket; one that is open on a side is left by steps."""
    if right == math.inf:
        return c + step
    return c - step if left == -math.inf else 0.5 * (left + right)


@jitable
def gain(family: Family, data: Data, arm: int, side: float, c: float, known: Floats) -> float:
    """n d(x, c) for the n samples since an arm had the ``known`` count and mean, if their mean x is
    beyond c."""
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
    return cost - largest_sum(lost, state.marks[RANK])


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
        made = math.log(state.weights[q]) - largest_sum(lost, state.marks[RANK])
        most = log_add(most, made + share * cost)
    if most < enough:
        return most
    for q in range(state.sizes.size):
        _shrink(data.counts, state.sizes[q], shrunken.counts, lost)
        made = math.log(state.weights[q]) - largest_sum(lost, state.marks[RANK])
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


def bet_weights(family: Any) -> tuple[Floats, Floats]:
    """The sizes of the bets, and their weights; none if the family has no bets."""
    largest, ratio, count = family.bet_sizes()
    places = np.arange(count)
    # the first half alike, and six at least; then falling, each time that the size is halved
    beyond = min(1.0, math.log2(ratio)) * (places - max(count // 2, 5))
    weights = np.maximum(beyond + 1.0, 1.0) ** -1.5
    return largest / ratio**places, weights / max(weights.sum(), 1.0)


def step_decay(sizes: Floats, base: float) -> float:
    """By what the weight of two sizes falls for each step; ``base`` if one is twice the other."""
    if sizes.size < 2 or sizes[0] > 1.999 * sizes[1]:
        return base  # for a step of more, too
    return math.exp(math.log(base) * math.log(sizes[0] / sizes[1]) / math.log(2.0))


def new_state(problem: Problem, family: Family) -> BetState:
    """The state before the first sample."""
    sizes, weights = bet_weights(family)
    places, count = np.arange(sizes.size), sizes.size
    decay = step_decay(sizes, float(family.pair_decay()))
    near = decay ** np.abs(places[:, None] - places)
    total = np.sqrt(weights) @ near @ np.sqrt(weights)
    code, arms = np.zeros(problem.code_size(), dtype=np.int64), problem.arms
    alone = not problem.independent_parts(family, code)
    kind = BetState if family.glr_dominates() else WatchedState
    if count == 0:
        kind = MixtureState
    return kind(
        sizes=sizes,
        weights=weights,
        roots=np.sqrt(weights / total) if count else weights,
        decay=decay,
        above=np.zeros((count, 2)),
        below=np.zeros((count, 2)),
        counts=np.zeros(arms),
        lost=np.zeros(arms),
        closest=np.zeros(arms),
        marks=np.array([problem.rank(), alone, NOBODY, NOBODY, 0]),
        weak=np.zeros(8),
        answer=code,
        watched=np.zeros((count, 2)),
        sides=np.zeros((arms, 5)),
        pairs=np.zeros((arms, 7)),
    )


@variants
def check_wealth(family: Family, problem: Problem) -> None:
    """Refuse a family for which neither bets nor a mixture are known."""
    kind = type(family.of_arm(0))
    known = (
        issubclass(kind, Quadratic) or overrides(kind, "regret") or overrides(kind, "wide_regret")
    )
    if not known:
        raise NotDefined(
            f"Wealth with {family!r}: neither bets nor a mixture are known for this family. Use "
            "MixtureMartingale(), or give the family a method ``regret``."
        )


@variants
def wealth_state(family: Family, problem: Problem) -> Any:
    """What Wealth keeps for this family, before the first sample."""
    return new_state(problem, family)
