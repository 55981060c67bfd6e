"""First-passage times with a known shape."""

from __future__ import annotations

import math

from stopwise.core.arrays import Rng
from stopwise.core.checks import positive
from stopwise.core.options import POSITIVE, Option
from stopwise.families import divergences
from stopwise.families.bets import Sloped, half_normal
from stopwise.families.family import Family
from stopwise.families.mixtures import SPREADS, add_mixture, mean_regret
from stopwise.families.spacings import Spacing, Tails, normal_tail, rounded


class InverseGaussian(Family):
    """Inverse Gaussian rewards with known ``shape``: V = mu^3/shape, mean in (0, infinity).

    d(mu, lambda) stays below shape/(2 mu) as lambda grows: ``upper`` is infinite beyond that.
    """

    shape: float
    title = "Positive numbers, inverse Gaussian"
    options = {
        "shape": Option(
            POSITIVE,
            "The cubed mean over the variance, the same for every arm",
            'Write {kind = "inverse-gaussian", shape = ...}; or {kind = "bounded", low = 0, high = '
            "...}, which needs no shape.",
        )
    }

    def __init__(self, shape: float = 1.0) -> None:
        self.shape = positive("shape", shape)

    def interval(self) -> tuple[float, float]:
        return (0.0, math.inf)

    def variance_at(self, mu: float) -> float:
        return mu * mu * mu / self.shape

    def variance_slope(self, mu: float) -> float:
        return 3.0 * mu * mu / self.shape

    def natural(self, mu: float) -> float:
        return -0.5 * self.shape / mu / mu

    def supports(self, value: float) -> bool:
        return 0.0 < value < math.inf

    def divergence(self, mu: float, lam: float) -> float:
        if mu <= 0.0 or lam <= 0.0:
            return 0.0 if mu == lam else math.inf
        if lam == math.inf:
            return 0.5 * self.shape / mu
        return divergences.square_ratio(0.5 * self.shape, (lam - mu) / lam, mu)

    def upper(self, mu: float, level: float) -> float:
        share = math.sqrt(2.0 * mu * max(level, 0.0) / self.shape)
        return mu / (1.0 - share) if share < 1.0 else math.inf

    def lower(self, mu: float, level: float) -> float:
        return mu / (1.0 + math.sqrt(2.0 * mu * max(level, 0.0) / self.shape))

    def draw(self, mean: float, rng: Rng) -> float:
        # the transformation of Michael, Schucany and Haas (1976), free of cancellation
        normal = rng.standard_normal()
        a = 0.5 * mean * normal * normal / self.shape
        value = mean / (1.0 + a + math.sqrt(a * (a + 2.0)))
        return value if rng.random() * (mean + value) <= mean else mean * mean / value

    def posterior_draw(self, count: float, mean: float, rng: Rng) -> float:
        """For a flat prior on v = 1/mu > 0: normal around 1/mean, so that most draws will do."""
        v, spread = -1.0, 1.0 / math.sqrt(self.shape * count * mean)
        while v <= 0.0:
            v = 1.0 / mean + spread * rng.standard_normal()
        return 1.0 / v

    def wide_regret(self, count: float, mean: float) -> float:
        """In v = 1/mu the likelihood is exp(l (N v - S v^2/2)): half-normal priors, deviations 8^j/l."""
        least, made = math.inf, 0.0
        first = self.shape / mean  # v-hat in units of 1/l
        for j in range(-SPREADS, SPREADS + 1):
            prior = 64.0 ** (-j)
            mass = count / first + prior  # of v in these units
            x = count / math.sqrt(mass)
            log_made, _ = half_normal(x)
            lost = 0.5 * count * first - log_made + 0.5 * math.log(mass / prior)
            least, made = add_mixture(least, made, lost)
        return mean_regret(least, made)

    def bet_sizes(self) -> tuple[float, float, int]:
        return (96.0, 2.0, 24)

    def bet(self, side: float, count: float, mean: float, c: float, gap: float) -> Sloped:
        """In v = l/c; a fixed ratio of "above" is not monotone, so it is the least over smaller c."""
        total, v = mean / self.shape, self.shape / c  # of one sample
        if side < 0.0:
            value, slope = gap * (1.0 - total * (v + 0.5 * gap)), -total * gap
        elif v > gap:
            value, slope = gap * (total * (v - 0.5 * gap) - 1.0), total * gap
        else:
            bottom = max(v, min(1.0 / total, gap))
            value, slope = bottom * (0.5 * total * bottom - 1.0), max(total * v - 1.0, 0.0)
        return count * value, -count * slope * v / c

    def spacing_tails(self, spacing: Spacing) -> Tails:
        """shape (X - Y)^2/(X Y (X + Y)) is the square of a standard normal variable (Tweedie 1957)."""

        def tail(size: float) -> float:
            product = 0.25 * (spacing.total - size) * (spacing.total + size)
            if not product > 0.0:  # too small for a float, or one of the two is 0
                return 0.0
            return normal_tail(size * math.sqrt(self.shape / spacing.total / product))

        return rounded(tail, spacing, spacing.total)
