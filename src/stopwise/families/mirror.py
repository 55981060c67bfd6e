"""The distributions of -X: what is smallest becomes largest. Every family has such an image.

d(-mu, -lambda) is the family's own d(mu, lambda), and V(-mu) its own V(mu). This is not the same family
at negative means (but for normal ones, which are their own images): -X is not exponential
if X is.
"""

from __future__ import annotations

from stopwise.core.functions import variant, variants
from stopwise.families.family import Family, Logarithmic, Quadratic


class Mirror(Family, listed=False):
    """The image of a family. It has what oracles ask, and draws nothing."""

    family: Family

    def interval(self) -> tuple[float, float]:
        low, high = self.family.interval()
        return -high, -low

    def of_arm(self, arm: int) -> Mirror:
        return Mirror(self.family.of_arm(arm))

    def arms_alike(self) -> bool:
        return self.family.arms_alike()

    def convex(self) -> bool:
        return self.family.convex()

    def divergence(self, mu: float, lam: float) -> float:
        return self.family.divergence(-mu, -lam)

    def variance_at(self, mu: float) -> float:
        return self.family.variance_at(-mu)

    def variance_slope(self, mu: float) -> float:
        return -self.family.variance_slope(-mu)

    def natural(self, mu: float) -> float:
        return -self.family.natural(-mu)

    def tilt(self, mu: float, slope: float) -> float:
        return -self.family.tilt(-mu, -slope)


@variants
def mirrored(family: Family) -> Family:
    """The family of -X, for X of a family."""
    return Mirror(family)


variant(mirrored, Quadratic)(lambda family: family)
variant(mirrored, Logarithmic)(lambda family: family)
