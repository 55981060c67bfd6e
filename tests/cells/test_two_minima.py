"""The cheapest model of a pair with unknown variances: the lower of two minima."""

from __future__ import annotations

import numpy as np
import pytest

from stopwise.cells.two_minima import cheapest_share, share_cost


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_of_two_minima(seed: int) -> None:
    """Never above what a fine grid finds, for weights and variances of all sizes."""
    rng = np.random.default_rng(seed)
    steps = np.geomspace(1e-9, 1.0, 3000)
    grid = np.concatenate((steps, 1.0 - steps, np.linspace(0.0, 1.0, 3001)))
    for _ in range(100):
        p, (a, b) = rng.uniform(0.001, 0.999), 10.0 ** rng.uniform(-5.0, 3.0, 2)
        found = share_cost(cheapest_share(p, 1.0 - p, a, b, 1.0), p, a, b)
        costs = p * np.log1p(grid**2 / a) + (1.0 - p) * np.log1p((1.0 - grid) ** 2 / b)
        assert found <= costs.min() * (1.0 + 1e-12)
