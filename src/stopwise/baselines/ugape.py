"""UGapE, fixed confidence (Gabillon, Ghavamzadeh & Lazaric 2012, Figure 1), with bounds from d.

B_k = max over j != k of U_j, less L_k; J = argmin B; u = argmax over j != J of U_j; sampled is that of
J and u with the wider interval, which at equal radius is the one with fewer samples (and is so in the
experiments of Garivier & Kaufmann 2016).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stopwise.baselines.radius import LEVEL_STEP, Ends, Radius, WithRadius, check_radius
from stopwise.core.arrays import Floats, Ints, Rng, fill
from stopwise.core.data import Data, State
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.problems.asked import best_arm
from stopwise.problems.instance import Instance, Question


class UGAPE(WithRadius):
    """The arm with the smallest possible gap to the best, or its strongest rival.

    Its stopping rule is ``BoundsApart`` (lucb.py) with the same radius.
    """

    title = "the arm that can be the least behind, or its strongest rival"
    reason = (
        "UGapE samples the arm that, by the confidence bounds, can be the least behind the best one, "
        "or the strongest rival of that arm: the one of the two with fewer samples."
    )

    def init(self, question: Question) -> Gaps:
        asked = best_arm(self, question.problem)
        check_radius(self, self.radius, question.family)
        base = self.radius.base(question.problem.arms, question.delta)
        near, far, counts, means = np.zeros((4, question.problem.arms))
        return Gaps(asked.side, base, np.zeros(1), near, far, counts, means, np.full(3, -1))

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        """B_k is U_first - L_k but for k = first, where it is U_second - L_first.

        Where the least B is below 0 and the stopping rule wants more, it goes on as if for delta/10.
        """
        own: Gaps = state.strategy_state
        near, far, guess = own.near, own.far, own.guess
        data = Data(state.taken, instance.data.means)  # samples in flight narrow the bounds
        if self.radius.timeless():
            _look_up(self.radius, instance.family, data, own)
        else:
            _search(self.radius, instance.family, data, 1.0 * rounds, own)
        first, second, surest = guess[FIRST], guess[SECOND], guess[SUREST]
        behind, others = near[second] - far[first], near[first] - far[surest]
        leads = behind < others or (behind == others and first < surest)
        arm, rival = (first, second) if leads else (surest, first)
        if min(behind, others) < 0.0:
            own.more[0] += LEVEL_STEP
            fill(own.counts, 0.0)  # all bounds are others now
        return int(arm if data.counts[arm] < data.counts[rival] else rival)


class Gaps(NamedTuple):
    """The question's side, the base of the bounds, and what is known of each arm's.

    Times the side: the bounds towards the best and away from it; then the data that they are of.
    ``guess``: the arms with the largest bounds and with the surest one, the last time.
    """

    side: float
    base: float
    more: Floats  # by what the base has grown
    near: Floats
    far: Floats
    counts: Floats
    means: Floats
    guess: Ints


FIRST, SECOND, SUREST = range(3)


@jitable
def _look_up(radius: Radius, family: Family, data: Data, own: Gaps) -> None:
    """Only an arm with another sample has other bounds."""
    side, base, more, near, far, counts, means, guess = own
    above, below = Ends(side, base + more[0], 1.0), Ends(-side, base + more[0], 1.0)
    for k in range(near.size):
        if counts[k] != data.counts[k] or means[k] != data.means[k]:
            counts[k], means[k] = data.counts[k], data.means[k]
            near[k] = side * radius.bound(family, data, k, above)
            far[k] = side * radius.bound(family, data, k, below)
    guess[FIRST] = _largest(near, -1)
    guess[SECOND] = _largest(near, guess[FIRST])
    guess[SUREST] = _largest(far, guess[FIRST])


@jitable
def _largest(values: Floats, but: int) -> int:
    """Where the largest value is, the first of equals, without one of them."""
    found = -1
    for k in range(values.size):
        if k != but and (found < 0 or values[k] > values[found]):
            found = k
    return found


@jitable
def _search(radius: Radius, family: Family, data: Data, rounds: float, own: Gaps) -> None:
    """All bounds grow with time: those that matter are found, and only these are computed."""
    side, base, more, near, far, _, _, guess = own
    above, below = Ends(side, base + more[0], rounds), Ends(-side, base + more[0], rounds)
    first, end = radius.best_bound(family, data, above, -1, guess[FIRST], 1.0)
    guess[FIRST], near[first] = first, side * end
    far[first] = side * radius.bound(family, data, first, below)
    second, end = radius.best_bound(family, data, above, first, guess[SECOND], 1.0)
    guess[SECOND], near[second] = second, side * end
    surest, end = radius.best_bound(family, data, above, first, guess[SUREST], -1.0)
    guess[SUREST], far[surest] = surest, side * end
