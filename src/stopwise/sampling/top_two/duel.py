"""What the parts of a Top-Two strategy share: what is kept, draws, bounds and improvements."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Rng
from stopwise.core.data import Data, State
from stopwise.core.values import Empty, Value
from stopwise.core.verbs import jitable, verb
from stopwise.families.bets import half_normal
from stopwise.families.posterior import posterior_draw
from stopwise.families.verbs import lower, of_arm, upper
from stopwise.problems.rounds import Refutation, refutation


class Duel(NamedTuple):
    """What is kept between rounds, and room for one round."""

    draw: Floats  # a model drawn from the posterior; then the arms' parts of the next sample
    means: Floats  # where the leader is refuted: the estimate, or the draw
    found: Refutation  # how the leader is refuted
    led: Floats  # how often each arm led
    own: Floats  # and how often it was sampled then
    spreads: (
        Floats  # each arm's deviation, of which count and mean it is, and its logarithm: 4 x arm
    )


def new_duel(arms: int) -> Duel:
    """Before the first sample."""
    draw, means, led, own = np.zeros((4, arms))
    return Duel(draw, means, refutation(arms), led, own, np.zeros((4, arms)))


@verb
def needs_contest(part: Any) -> bool:
    """Whether a part is for questions in which arms compete for the highest (or lowest) mean."""
    return False


@verb
def steady(leader: Any) -> bool:
    """Whether the leader is the same as long as the data are: then it is an answer that is pursued."""
    return True


@jitable(inline=True)
def with_those_in_flight(state: State) -> Data:
    """The data as if every sample in flight had come with its arm's mean."""
    return Data(state.taken, state.pursuit.notes.means)


@jitable
def draw_model(family: Any, data: Data, draw: Floats, rng: Rng) -> None:
    """Every arm's mean, drawn from its posterior."""
    for k in range(draw.size):
        draw[k] = posterior_draw(of_arm(family, k), data.counts[k], data.means[k], rng)


@jitable
def confidence_bound(family: Any, data: Data, arm: int, side: float, level: float) -> float:
    """Where N d(m, .) reaches the level, on this side of the mean."""
    own, share = of_arm(family, arm), level / data.counts[arm]
    return upper(own, data.means[arm], share) if side > 0.0 else lower(own, data.means[arm], share)


@jitable
def leading_arm(side: float, values: Floats) -> int:
    """The arm with the highest value, or the lowest: the first of equals."""
    best = 0
    for k in range(1, values.size):
        if side * (values[k] - values[best]) > 0.0:
            best = k
    return best


class ExpectedImprovement(Empty, Value):
    """EI, as leader and as challenger (Qin, Klabjan & Russo 2017).

    v f(z), f(z) = z Phi(z) + phi(z), is what an arm is expected to improve on the best mean (leader) or
    on the leader's (challenger). v is the deviation, N d(m, m + v) = 1/2, and z the distance in units of
    it: -sqrt(2 N d(m, best)) for the leader, -sqrt(2 W) for the pair. For Gaussian arms that is the
    paper's rule; for others the tails are the family's own: an unlucky start is not the end.
    """

    __slots__ = ()


needs_contest.register(ExpectedImprovement)(lambda part: True)


@jitable
def update_spreads(family: Any, data: Data, side: float, spreads: Floats) -> None:
    """Each arm's deviation towards the better side, computed anew where its data have changed."""
    for k in range(data.means.size):
        if spreads[1, k] != data.counts[k] or spreads[2, k] != data.means[k]:
            end = confidence_bound(family, data, k, side, 0.5)
            spreads[0, k] = min(side * (end - data.means[k]), 1e150)
            spreads[1, k], spreads[2, k] = data.counts[k], data.means[k]
            spreads[LOG, k] = math.log(spreads[0, k]) if spreads[0, k] > 0.0 else -math.inf


FLAT = 0.5 * math.log(2.0 * math.pi)  # -log f(0)
LOG = 3  # the row of the logarithms


@jitable
def log_improvement(cost: float, spread: float, enough: float) -> float:
    """log of v f(z) for z = -sqrt(2 cost): far below 0 the improvement itself would be 0.

    Below ``enough`` an upper bound will do: f(z) <= phi(z) where z is not above 0.
    """
    most = math.log(spread) - cost - FLAT if spread > 0.0 else -math.inf
    if cost == 0.0 or most <= enough:
        return most
    z = -math.sqrt(2.0 * cost)
    made, slope = half_normal(z)  # z^2/2 + log 2 Phi(z), and z + phi(z)/Phi(z)
    if z < -50.0:  # phi/Phi = |z| + 1/|z| - 2/|z|^3 + ...
        slope = (1.0 - 2.0 / (z * z)) / -z
    return math.log(spread) + made - cost - math.log(2.0) + math.log(slope)
