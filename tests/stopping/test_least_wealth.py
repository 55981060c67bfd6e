"""The least log wealth of a pair: never above the least of a grid, for all families and margins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.cells.gap import Gap
from stopwise.core.data import Data
from stopwise.stopping.wealth_state import bet_state

FAMILIES = {
    "Gaussian": lambda size: sw.Gaussian(size),
    "Bernoulli": lambda size: sw.Bernoulli(),
    "Binomial": lambda size: sw.Binomial(1 + int(10 * size) % 90),
    "BoundedCoin": lambda size: sw.BoundedCoin(-1.0, 3.0),
    "Poisson": lambda size: sw.Poisson(),
    "NegativeBinomial": lambda size: sw.NegativeBinomial(size),
    "Geometric": lambda size: sw.Geometric(),
    "Exponential": lambda size: sw.Exponential(),
    "Gamma": lambda size: sw.Gamma(size),
    "InverseGaussian": lambda size: sw.InverseGaussian(size),
}


def grid(family: Any, means: Any, margin: float) -> Any:
    """Points of the space in which c and c + margin lie, near both ends and the means."""
    low, high = family.interval()
    reach = abs(means[0] - means[1]) + margin + 1.0
    if math.isinf(low):
        return np.linspace(means.min() - margin - 3 * reach, means.max() + 3 * reach, 500)
    if math.isinf(high):
        return low + np.geomspace(1e-9, 1e6, 500) * max(means.max() - low, margin)
    width = high - margin - low
    ends = width * np.geomspace(1e-9, 0.5, 150)
    return np.concatenate([low + ends, low + width - ends])


def drawn(family: Any, rng: Any) -> tuple[Any, float]:
    """Means and a margin, often far apart, such that the pair has evidence."""
    low, high = family.interval()
    margin = float(rng.choice([0.0, 1.0, 1.0]) * 10 ** rng.uniform(-3, 2))
    if math.isinf(low):
        means = rng.normal(size=2) * 10 ** rng.uniform(-2, 2)
    elif math.isinf(high):
        means = low + 10 ** rng.uniform(-3, 2, 2)
    else:
        means = low + (high - low) * rng.beta(0.3, 0.3, 2)
        margin = min(margin, 0.9 * (high - low))
    return (means if means[1] < means[0] + margin else means[::-1].copy()), margin


def excess(family: Any, counts: Any, means: Any, margin: float) -> float:
    """By how much the evidence is above the grid's least, of the size of a number."""
    state = bet_state(family, sw.BestArm(2, margin))
    data, what = Data(np.array(counts, dtype=float), means), Gap(0, 1, margin)
    found = state.pair_evidence(family, data, what, -math.inf)
    least = min(
        state.log_pair(family, data, what, float(c))[0] for c in grid(family, means, margin)
    )
    return float((found - least) / max(1.0, abs(least)))


@pytest.mark.parametrize("name", FAMILIES)
def test_evidence_is_the_least_of_all_models(name: str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(12):
        family = FAMILIES[name](10 ** rng.uniform(-3, 3))
        means, margin = drawn(family, rng)
        counts = np.floor(10 ** rng.uniform(0, 3.5, 2))
        assert excess(family, counts, means, margin) <= 1e-9, (family, counts, means, margin)


@pytest.mark.parametrize(
    ("shape", "counts", "means", "margin"),
    [
        (2.2, (101, 75), (0.0022, 6.24), 12.4),
        (25.52, (308, 1828), (0.003755, 4.4165), 43.36),
        (0.0074618, (26, 1530), (0.00164185, 12.98767), 14.09353),
        (0.4388, (2193, 56), (0.1337, 1.262), 94.511),
    ],
)
def test_a_margin_far_above_the_means(shape: float, counts: Any, means: Any, margin: float) -> None:
    """The search stopped where the slope was small beside a bend: 7.36 for -1.32, 5,267 for 4,151."""
    assert excess(sw.InverseGaussian(shape), counts, np.array(means), margin) <= 1e-9
