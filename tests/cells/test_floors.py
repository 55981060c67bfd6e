"""Lower bounds that save divergences: never above them, and close where it matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.cells.bound import arm_cost, arm_floor
from stopwise.cells.gap import pair_cost, pair_floor
from stopwise.core.data import Data

FAMILIES = [sw.Bernoulli(), sw.Gaussian(0.3), sw.Poisson(), sw.Gaussian([0.3, 2.0])]


def test_coins_everywhere() -> None:
    places = np.concatenate([[0.0, 1.0, 1e-12, 1 - 1e-12], np.linspace(0.001, 0.999, 60)])
    for p in places:
        for q in places[2:]:
            least, exact = sw.Bernoulli().least_divergence(p, q), sw.Bernoulli().divergence(p, q)
            assert 0.0 <= least <= exact * (1.0 + 1e-12)
    assert sw.Bernoulli().least_divergence(0.55, 0.5) == pytest.approx(
        sw.Bernoulli().divergence(0.55, 0.5), rel=1e-3
    )


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_floors_of_arms_and_pairs(family: Any) -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        data = Data(rng.integers(0, 2000, 2).astype(float), rng.uniform(0.02, 0.98, 2))
        assert pair_floor(family, data, 0, 1) <= pair_cost(family, data, 0, 1, 0.0)
        place = float(rng.uniform(0.01, 0.99))
        assert arm_floor(family, data, 0, place) <= arm_cost(family, data, 0, place)
