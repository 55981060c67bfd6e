"""The distributions of -X: what is smallest becomes largest. Every family has such an image.

d(-mu, -lambda) is the family's own d(mu, lambda), and V(-mu) its own V(mu). This is not the same family
at negative means (but for normal ones, which are their own images): -X is not exponential
if X is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stopwise.core.verbs import verb
from stopwise.families import verbs
from stopwise.families.verbs import Logarithmic, OneVariance


class Mirror(NamedTuple):
    """The image of a family. It has what oracles ask, and draws nothing."""

    family: Any


@verb
def mirrored(family: Any) -> Any:
    """The family of -X, for X of a family."""
    return Mirror(family)


mirrored.register(OneVariance)(lambda family: family)
mirrored.register(Logarithmic)(lambda family: family)


@verbs.interval.register(Mirror)
def _interval(mirror: Mirror) -> tuple[float, float]:
    low, high = verbs.interval(mirror.family)
    return -high, -low


@verbs.of_arm.register(Mirror)
def _of_arm(mirror: Mirror, arm: int) -> Mirror:
    return Mirror(verbs.of_arm(mirror.family, arm))


verbs.arms_alike.register(Mirror)(lambda mirror: verbs.arms_alike(mirror.family))
verbs.convex.register(Mirror)(lambda mirror: verbs.convex(mirror.family))
verbs.divergence.register(Mirror)(
    lambda mirror, mu, lam: verbs.divergence(mirror.family, -mu, -lam)
)
verbs.variance.register(Mirror)(lambda mirror, mu: verbs.variance(mirror.family, -mu))
verbs.variance_slope.register(Mirror)(lambda mirror, mu: -verbs.variance_slope(mirror.family, -mu))
verbs.natural.register(Mirror)(lambda mirror, mu: -verbs.natural(mirror.family, -mu))
verbs.tilt.register(Mirror)(lambda mirror, mu, slope: -verbs.tilt(mirror.family, -mu, -slope))
