"""Positive rewards with a known shape: waiting times and sizes; of shape 1, waiting times without memory."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive
from stopwise.core.options import POSITIVE, Option
from stopwise.families import divergences
from stopwise.families.bets import FINE_GAPS, Sloped, scale_bet
from stopwise.families.family import WithScale
from stopwise.families.mixtures import gamma_regret
from stopwise.families.spacings import Spacing, Tails, gamma_tails


class Gamma(WithScale):
    """Gamma rewards with known ``shape`` and mean in (0, infinity): V = mu^2/shape."""

    shape: float
    title = "Positive numbers, gamma with a known shape"
    options = {
        "shape": Option(
            POSITIVE,
            "The squared mean over the variance, the same for every arm",
            'Write family = "exponential" for waiting times without memory, which have shape 1; or '
            '{kind = "bounded", low = 0, high = ...}, which needs no shape.',
        )
    }

    def __init__(self, shape: float = 1.0) -> None:
        self.shape = positive("shape", shape)

    def divergence(self, mu: float, lam: float) -> float:
        return self.shape * divergences.scale_divergence(mu, lam)

    def variance_at(self, mu: float) -> float:
        return mu * mu / self.shape

    def variance_slope(self, mu: float) -> float:
        return 2.0 * mu / self.shape

    def natural(self, mu: float) -> float:
        return -self.shape / mu

    def supports(self, value: float) -> bool:
        return 0.0 < value < math.inf

    def draw(self, mean: float, rng: Rng) -> float:
        return mean / self.shape * rng.standard_gamma(self.shape)

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For Jeffreys' prior, 1/mu: sum of the samples by a Gamma variable."""
        weight = count * self.shape
        return weight * mean / rng.standard_gamma(weight)

    def regret(self, count: float, mean: float, center: float, spread: float) -> float:
        # rate = shape/mean
        return gamma_regret(count * self.shape, count * mean, 0.5 * spread / self.shape)

    def bet_sizes(self) -> tuple[float, float, int]:
        return FINE_GAPS

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        return scale_bet(count * self.shape, mean, c, side * gap / math.sqrt(self.shape))

    def spacing_tails(self, spacing: Spacing) -> Tails:
        return gamma_tails(self.shape, spacing)


class Exponential(Gamma):
    """Exponential rewards with mean in (0, infinity), which are Gamma rewards of shape 1: V = mu^2.

    What every round needs is written without the shape, which is quicker.
    """

    title = "Waiting times"
    options = {}

    def __init__(self) -> None:
        self.shape = 1.0

    def __repr__(self) -> str:
        return "Exponential()"

    def identity(self) -> tuple[str, tuple[()]]:
        return "Exponential", ()

    def supports(self, value: float) -> bool:
        return 0.0 <= value < math.inf

    def draw(self, mean: float, rng: Rng) -> float:
        return mean * rng.standard_exponential()

    def divergence(self, mu: float, lam: float) -> float:
        return divergences.scale_divergence(mu, lam)

    def variance_at(self, mu: float) -> float:
        return mu * mu

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        return scale_bet(count, mean, c, side * gap)

    def total_tails(self, spacing: Spacing) -> Tails:
        """Its share r of all totals has the Beta(2, b) law, b = 2 pairs: P(>= r) = (1 - r)^b (1 + b r)."""
        if spacing.pairs == 0 or spacing.totals <= 0.0:
            return Tails(0.0, 1.0)
        rest, b = spacing.totals / (spacing.totals + spacing.total), 2.0 * spacing.pairs
        tail = min(rest**b * (1.0 + b * (1.0 - rest)), 1.0)
        return Tails(tail, tail)
