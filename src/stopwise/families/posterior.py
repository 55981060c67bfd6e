"""Means drawn from the posterior: for strategies that sample by chance."""

from __future__ import annotations

from typing import Any

from stopwise.core.arrays import Rng
from stopwise.core.verbs import verb
from stopwise.families.verbs import lower, upper


@verb(inline=True)
def posterior_draw(family: Any, count: float, mean: float, rng: Rng) -> float:
    """A mean drawn from the posterior after so many samples with this mean.

    By default the signed root of the likelihood ratio, z with z^2/2 = N d(mean, x) and the sign of
    x - mean, is drawn from the normal law: exact for Gaussian arms, to first order for all others.
    """
    z = rng.standard_normal()
    level = 0.5 * z * z / count
    return upper(family, mean, level) if z > 0.0 else lower(family, mean, level)
