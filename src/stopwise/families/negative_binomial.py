"""Rewards that count failures before a fixed number of successes."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive
from stopwise.core.options import POSITIVE, Option
from stopwise.families import divergences
from stopwise.families.bets import Sloped, coin_bet
from stopwise.families.family import Family
from stopwise.families.mixtures import beta_regret
from stopwise.families.spacings import Spacing, Tails, count_tails


class NegativeBinomial(Family):
    """Failures before the given number of ``successes``: V = mu + mu^2/successes."""

    successes: float
    title = "Failures before some successes"
    options = {"successes": Option(POSITIVE, "Failures are counted up to this many successes")}

    def __init__(self, successes: float) -> None:
        self.successes = positive("successes", successes)

    def interval(self) -> tuple[float, float]:
        return (0.0, math.inf)

    def variance_at(self, mu: float) -> float:
        return mu * (1.0 + mu / self.successes)

    def natural(self, mu: float) -> float:
        return -math.log1p(self.successes / mu)

    def supports(self, value: float) -> bool:
        return divergences.is_count(value)

    def divergence(self, mu: float, lam: float) -> float:
        if lam <= 0.0:
            return 0.0 if mu == lam else math.inf
        return divergences.entropy_gap_difference(mu, self.successes, lam - mu, lam)

    def variance_slope(self, mu: float) -> float:
        return 1.0 + 2.0 * mu / self.successes

    def draw(self, mean: float, rng: Rng) -> float:
        # a Poisson count whose rate is Gamma distributed
        return 1.0 * rng.poisson(mean / self.successes * rng.standard_gamma(self.successes))

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a uniform prior on the chance of success."""
        chance = rng.beta(1.0 + count * self.successes, 1.0 + count * mean)
        return self.successes * (1.0 - chance) / chance

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return beta_regret(count * self.successes, count * mean)

    def bet_sizes(self) -> tuple[float, float, int]:
        return (3.0, 2.0, 28)

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        # coins that fail with probability c/(r + c)
        r = self.successes
        value, slope = coin_bet(count * mean, count * (mean + r), c / (r + c), side * gap)
        return value, slope * r / ((r + c) * (r + c))

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return count_tails(self.successes, spacing)
