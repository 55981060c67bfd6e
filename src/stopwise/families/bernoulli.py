"""Rewards 0 or 1."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.values import Empty, Family
from stopwise.core.verbs import jitable
from stopwise.families import rounding, verbs
from stopwise.families.bets import FINE_GAPS, coin_bet
from stopwise.families.mixtures import beta_regret
from stopwise.families.posterior import posterior_draw


class Bernoulli(Empty, Family):
    """Success or failure, with the success probability as mean in (0, 1)."""

    __slots__ = ()
    title = "Yes or no, 1 or 0"


@jitable
def binary_divergence(p: float, q: float) -> float:
    """The divergence between two coins, finite for p on the boundary."""
    if q <= 0.0 or q >= 1.0:
        return 0.0 if p == q else math.inf
    heads = rounding.scaled_entropy_gap(p, q - p, q)
    return heads + rounding.scaled_entropy_gap(1.0 - p, p - q, 1.0 - q)


@jitable
def coin_divergence(
    heads: float, tails: float, delta: float, new_heads: float, new_tails: float
) -> float:
    """heads + tails times the divergence between coins whose odds are heads to tails.

    ``delta`` is new_heads - heads and tails - new_tails, which are given with all their digits.
    """
    if new_heads <= 0.0 or new_tails <= 0.0:
        return 0.0 if delta == 0.0 else math.inf
    return rounding.scaled_entropy_gap(heads, delta, new_heads) + rounding.scaled_entropy_gap(
        tails, -delta, new_tails
    )


@jitable
def survive_rounding(p: float, q: float) -> bool:
    """Whether rounding p and q does little to the divergence: not near each other, nor near 1."""
    return abs(q - p) > 1e-2 * max(p, q) and max(p, q) < 0.99


@jitable
def binary_tilt(p: float, slope: float) -> float:
    """The q with (q - p)/(q(1 - q)) = slope: the root in [0, 1] of a quadratic, without cancelling.

    Its two forms are exact for slopes below and above 1.
    """
    slope = min(max(slope, -1e150), 1e150)
    root = math.sqrt(max((1.0 - slope) * (1.0 - slope) + 4.0 * slope * p, 0.0))
    if slope > 1.0:
        q = (slope - 1.0 + root) / (2.0 * slope)
    else:
        q = 2.0 * p / (1.0 - slope + root) if p > 0.0 else 0.0
    # the root is never an end that p is not
    return min(max(q, 1e-300 if p > 0.0 else 0.0), 1.0 - 4e-16 if p < 1.0 else 1.0)


@jitable(inline=True)
def least_binary_divergence(p: float, q: float) -> float:
    """(p - q)^2/(2 V(q + (p - q)/3)): nearly all of d where the coins are not far apart.

    d(p, q) is the integral of (p - t)/V(t) from q to p, (p - q)^2/2 times the mean of 1/V under the
    density in proportion to p - t, whose mean is q + (p - q)/3; 1/V is convex (Jensen).
    """
    gap, at = p - q, q + (p - q) / 3.0
    return 0.5 * gap * gap / (at * (1.0 - at)) if gap != 0.0 else 0.0


verbs.least_divergence.register(Bernoulli)(lambda family, mu, lam: least_binary_divergence(mu, lam))
verbs.interval.register(Bernoulli)(lambda family: (0.0, 1.0))
verbs.divergence.register(Bernoulli)(lambda family, mu, lam: binary_divergence(mu, lam))
verbs.variance.register(Bernoulli)(lambda family, mu: mu * (1.0 - mu))
verbs.variance_slope.register(Bernoulli)(lambda family, mu: 1.0 - 2.0 * mu)
verbs.natural.register(Bernoulli)(lambda family, mu: math.log(mu / (1.0 - mu)))
verbs.convex.register(Bernoulli)(lambda family: True)
verbs.tilt.register(Bernoulli)(lambda family, mu, slope: binary_tilt(mu, slope))
verbs.supports.register(Bernoulli)(lambda family, value: value == 0.0 or value == 1.0)
verbs.draw.register(Bernoulli)(lambda family, mean, rng: 1.0 if rng.random() < mean else 0.0)


@posterior_draw.register(Bernoulli)
def _posterior_draw(family: Bernoulli, count: float, mean: float, rng: Rng) -> float:
    """For a uniform prior."""
    return rng.beta(1.0 + count * mean, 1.0 + count * (1.0 - mean))


@verbs.regret.register(Bernoulli)
def _regret(family: Bernoulli, count: float, mean: float, center: float, spread: float) -> float:
    return beta_regret(count * mean, count * (1.0 - mean))


verbs.gaps.register(Bernoulli)(lambda family: FINE_GAPS)


@verbs.bet.register(Bernoulli)
def _bet(
    family: Bernoulli, side: float, count: float, mean: float, c: float, gap: float
) -> tuple[float, float]:
    return coin_bet(count * mean, count, c, side * gap)
