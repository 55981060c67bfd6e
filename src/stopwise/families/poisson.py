"""Rewards that count rare events."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.families import divergences
from stopwise.families.bets import COARSE_GAPS, Sloped
from stopwise.families.family import WithScale
from stopwise.families.mixtures import gamma_regret
from stopwise.families.spacings import Spacing, Tails, count_tails


class Poisson(WithScale):
    """Poisson counts with mean in (0, infinity)."""

    title = "Counts"

    def variance_at(self, mu: float) -> float:
        return mu

    def variance_slope(self, mu: float) -> float:
        return 1.0

    def natural(self, mu: float) -> float:
        return math.log(mu)

    def convex(self) -> bool:
        return True

    def supports(self, value: float) -> bool:
        return divergences.is_count(value)

    def draw(self, mean: float, rng: Rng) -> float:
        return 1.0 * rng.poisson(mean)

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For Jeffreys' prior, mu^(-1/2): proper also where all counts are 0."""
        return rng.standard_gamma(count * mean + 0.5) / count

    def divergence(self, mu: float, lam: float) -> float:
        return divergences.scaled_entropy_gap(mu, lam - mu, lam)

    def tilt(self, mu: float, slope: float) -> float:
        return mu / (1.0 - slope) if slope < 1.0 else math.inf

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        return gamma_regret(count * mean, count, 0.5 / spread)

    def bet_sizes(self) -> tuple[float, float, int]:
        return COARSE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        u = side * gap
        more = math.expm1(u)
        return count * (u * mean - c * more), -count * more

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return count_tails(math.inf, spacing)
