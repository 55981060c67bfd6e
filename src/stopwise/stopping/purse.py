"""What Wealth keeps between rounds: its bets, room for one cell, and a cell that is known to be weak."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.gap import meeting_point
from stopwise.cells.shape import GAP, Shape
from stopwise.core.arrays import Floats, Ints
from stopwise.core.data import Data
from stopwise.core.errors import NotDefined
from stopwise.core.verbs import jitable, registered, verb
from stopwise.families.verbs import (
    Quadratic,
    divergence,
    gaps,
    likeness,
    of_arm,
    regret,
    screens,
    wide_regret,
)
from stopwise.problems.verbs import Code, code_size, parts, rank, simple


class Purse(NamedTuple):
    """The gaps and their weights; room for one cell; and a cell that is known to be weak."""

    gaps: Floats
    weights: Floats
    roots: Floats  # their square roots, but for a factor: of pairs, sqrt(a_q a_r) alike^|q - r|
    alike: float  # by what the weight of two gaps falls for each step between them
    above: Floats  # gap x (log wealth, slope)
    below: Floats
    counts: Floats  # shrunken ones
    lost: Floats
    closest: Floats
    marks: Ints  # see below
    weak: Floats
    answer: Ints  # in whose alternative the weak cell is
    watched: (
        Floats  # gap x (log wealth of the weak cell's arm, of the other), where D does not screen
    )
    sides: Floats  # arm x what its log wealth was last computed from, and the log wealth
    pairs: Floats  # the same of pairs: see ``recall``


class SimplePurse(Purse):
    """That of problems and families where bets on one arm or two are all there is."""

    __slots__ = ()


class WatchedPurse(Purse):
    """That of families where D does not screen: the weak cell is watched, see watch.py."""

    __slots__ = ()


class SimpleWatchedPurse(SimplePurse):
    """Both."""

    __slots__ = ()


RANK, KEEPS, ARM, OTHER = range(4)  # marks
# of the weak cell: its wealth and c (for each arm) when it was seen, with the arms' data then
BELIEVED, PLACE, OTHER_PLACE, COUNT, MEAN, OTHER_COUNT, OTHER_MEAN, SIDE_UP = range(8)
NOBODY = -1
MADE = 6  # the column of ``pairs`` that has the evidence


def stakes(family: Any) -> tuple[Floats, Floats]:
    """The gaps that are bet on, and their weights; none if the family has no bets."""
    largest, ratio, count = gaps(family)
    places = np.arange(count)
    # the first half alike, and six at least; then falling, each time that the gap is halved
    beyond = min(1.0, math.log2(ratio)) * (places - max(count // 2, 5))
    weights = np.maximum(beyond + 1.0, 1.0) ** -1.5
    return largest / ratio**places, weights / max(weights.sum(), 1.0)


def alike(gaps: Floats, base: float) -> float:
    """By what the weight of two gaps falls for each step; ``base`` if one is twice the other."""
    if gaps.size < 2 or gaps[0] > 1.999 * gaps[1]:
        return base  # for a step of more, too
    return math.exp(math.log(base) * math.log(gaps[0] / gaps[1]) / math.log(2.0))


def new_purse(problem: Any, family: Any) -> Any:
    """An empty one."""
    sizes, weights = stakes(family)
    places, count = np.arange(sizes.size), sizes.size
    close = alike(sizes, float(likeness(family)))
    near = close ** np.abs(places[:, None] - places)
    total = np.sqrt(weights) @ near @ np.sqrt(weights)
    code, arms = np.zeros(code_size(problem), dtype=np.int64), problem.arms
    alone = not parts(problem, family, code)
    easy = bool(count and simple(problem))
    kind: Any = SimplePurse if easy else Purse
    if not screens(family):
        kind = SimpleWatchedPurse if easy else WatchedPurse
    return kind(
        sizes,
        weights,
        np.sqrt(weights / total) if count else weights,
        close,
        np.zeros((count, 2)),
        np.zeros((count, 2)),
        *(np.zeros(arms) for _ in range(3)),
        np.array([rank(problem), alone, NOBODY, NOBODY]),
        np.zeros(8),
        code,
        np.zeros((count, 2)),
        np.zeros((arms, 5)),
        np.zeros((arms, 7)),
    )


@verb
def keep(purse: Any, data: Data, what: Shape, value: float, c: float, other_c: float) -> None:
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


@verb
def check_wealth(family: Any, problem: Any) -> None:
    """Refuse a family for which neither bets nor a mixture are known."""
    kind = type(of_arm(family, 0))
    known = issubclass(kind, Quadratic) or registered(regret, kind) or registered(wide_regret, kind)
    if not known:
        raise NotDefined(
            f"Wealth with {family!r}: neither bets nor a mixture are known for this family. Use "
            "MixtureMartingale(), or register stopwise.families.verbs.regret for it."
        )


@verb
def purse(family: Any, problem: Any) -> Any:
    """What Wealth keeps for this family."""
    return new_purse(problem, family)


@verb
def still_weak(purse: Any, family: Any, data: Data, code: Code) -> float:
    """A bound on the weak cell's wealth now, infinite if it is not of this answer's alternative.

    The wealth at a fixed c grows at most by n d(x, c) for n samples of mean x, on the side of the bet.
    """
    if not is_of(purse, code):
        return math.inf
    weak, arm, other = purse.weak, purse.marks[ARM], purse.marks[OTHER]
    side = weak[SIDE_UP]
    most = weak[BELIEVED] + _gain(family, data, arm, side, weak[PLACE], weak[COUNT], weak[MEAN])
    if other != arm:
        most += _gain(
            *(family, data, other, -side, weak[OTHER_PLACE], weak[OTHER_COUNT], weak[OTHER_MEAN])
        )
    return most + 1e-9  # rounding


@jitable
def is_of(purse: Any, code: Code) -> bool:
    """Whether a weak cell is known, of this answer's alternative."""
    same = purse.marks[ARM] != NOBODY
    for k in range(code.size):
        same = same and code[k] == purse.answer[k]
    return same


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


@jitable
def place_of(purse: Any, what: Shape) -> int:
    """The row of a pair: no two pairs with one arm in common, the leader or the control, share one."""
    return (what.arm + what.other) % purse.pairs.shape[0]


@jitable
def recall(purse: Any, data: Data, what: Shape, enough: float) -> bool:
    """Whether ``pairs`` has all that this pair made of these samples; if not, it will ``remember``.

    Where all evidence is asked for, a sample of one of the rivals of the leader changes one pair only.
    """
    if enough > -math.inf or purse.marks[KEEPS] == 0:
        return False
    row, arm, other = purse.pairs[place_of(purse, what)], what.arm, what.other
    same = row[0] == arm and row[1] == data.counts[arm] and row[2] == data.means[arm]
    same = same and row[3] == data.counts[other] and row[4] == data.means[other]
    if same and row[5] == what.limit:
        return True
    row[0], row[1], row[2] = arm, data.counts[arm], data.means[arm]
    row[3], row[4], row[5] = data.counts[other], data.means[other], what.limit
    return False


@jitable
def remember(purse: Any, what: Shape, enough: float, made: float) -> float:
    """The evidence of a pair, which is kept unless a bound would have been enough."""
    if enough == -math.inf and purse.marks[KEEPS] != 0:
        purse.pairs[place_of(purse, what), MADE] = made
    return made


@verb(inline=True)
def enter(purse: Any, family: Any, arm: int, sample: float) -> None:
    """One more sample, for what is kept of the weak cell."""


@verb
def start(purse: Any, family: Any, data: Data, what: Shape) -> float:
    """Where to begin the search for the least wealth against a pair: D's meeting point."""
    return meeting_point(family, data, what.arm, what.other, what.limit)
