"""Confidence bounds by radii: where they lie, where two of them meet, and that they always hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import stopwise as sw
from stopwise.baselines.radius import (
    Ends,
    HoeffdingRadius,
    MixtureRadius,
    StylizedRadius,
)
from stopwise.baselines.see import doublings
from stopwise.core.data import Data

COIN, UNIT = sw.Bernoulli(), sw.Gaussian(1.0)
FALSE_ALARM = 1e-6


@pytest.mark.parametrize(
    "family", [COIN, sw.Gaussian(0.7), sw.Poisson(), sw.Exponential(), sw.Geometric()], ids=repr
)
def test_a_bound_is_where_the_divergence_reaches_the_level(family: Any) -> None:
    for mean in (1.3, 4.0) if family not in (COIN,) else (0.02, 0.5, 0.97):
        for level in (1e-5, 0.01, 0.7, 9.0):
            for side in (1.0, -1.0):
                data = Data(np.ones(1), np.array([mean]))
                end = StylizedRadius().bound(family, data, 0, Ends(side, level, 1.0))
                near, far = (mean + part * (end - mean) for part in (1.0 - 1e-9, 1.0 + 1e-9))
                assert side * (end - mean) > 0.0
                assert family.divergence(mean, near) <= level
                low, high = family.interval()
                assert not low < far < high or family.divergence(mean, far) >= level


def test_two_arms_are_apart_from_the_base_on_at_which_their_bounds_meet() -> None:
    data = Data(np.array([40.0, 25.0]), np.array([0.7, 0.35]))
    for radius in (StylizedRadius(), MixtureRadius(), HoeffdingRadius()):
        for first, second, side in ((0, 1, 1.0), (1, 0, -1.0)):
            for margin in (0.0, 0.06):
                at = radius.apart(COIN, data, first, second, margin, Ends(side, 0.0, 65.0))
                mine = radius.bound(COIN, data, first, Ends(-side, at, 65.0))
                assert mine + side * margin == pytest.approx(
                    radius.bound(COIN, data, second, Ends(side, at, 65.0)), abs=1e-9
                )


def test_the_radii_hold_at_all_times() -> None:
    """Wrong at any of 2,000 samples with probability delta at most: exact binomial limits."""
    delta, runs, rng = 0.2, 400, np.random.default_rng(11)
    counts = np.arange(1.0, 2001.0)
    for family, mean in ((COIN, 0.3), (UNIT, 0.0)):
        for radius in (MixtureRadius(), HoeffdingRadius()):
            wrong = 0
            for _ in range(runs):
                draws = rng.random(2000) < mean if family is COIN else rng.normal(size=2000)
                means = np.cumsum(draws) / counts
                level = radius.base(1, delta)
                wrong += any(
                    not radius.bound(family, data, 0, Ends(-1.0, level, 1.0))
                    <= mean
                    <= radius.bound(family, data, 0, Ends(1.0, level, 1.0))
                    for k in [*range(30), *range(30, 2000, 61)]
                    for data in [Data(counts[k : k + 1], means[k : k + 1])]
                )
            assert wrong <= binom.isf(FALSE_ALARM / 4, runs, delta)


def test_doublings() -> None:
    assert [doublings(n) for n in (1.0, 2.0, 3.0, 4.0, 5.0, 1024.0, 1025.0)] == [
        1,
        1,
        2,
        2,
        3,
        10,
        11,
    ]
