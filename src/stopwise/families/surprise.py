"""What one more sample changes in what models cost: for regions that are kept from round to round."""

from __future__ import annotations

from typing import Any

from stopwise.core.verbs import verb
from stopwise.families.verbs import divergence


@verb(inline=True)
def least_surprise(family: Any, sample: float, mean: float, level: float) -> float:
    """A lower bound on d(x, mu') over the mu' with d(m, mu') <= level."""
    return 0.0


@verb(inline=True)
def absorbed(family: Any, count: float, before: float, mean: float, sample: float) -> float:
    """N d(m, m') + d(x, m'): what N samples of mean m and one more, x, no longer cost with mean m'."""
    old = count * divergence(family, before, mean) if count > 0.0 and before != mean else 0.0
    return old + (divergence(family, sample, mean) if sample != mean else 0.0)
