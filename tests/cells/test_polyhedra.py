"""Cells without an interior are refused, mostly without a linear program."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import stopwise as sw
from stopwise.cells.polyhedra import MARGIN, _largest_margin, _point_found, check_not_empty
from stopwise.cells.region import region
from stopwise.core.errors import BadArgument

LIGHT = """
import sys
import stopwise as sw

problem = sw.Cells(2, {"a": sw.Polyhedron([[1.0, 0.3], [0.2, 1.0]], [0.5, 0.1])})
problem.check(sw.Gaussian())
sw.MixtureMartingale().level(problem, sw.Gaussian(), 0.1)
assert "scipy.optimize" not in sys.modules
"""


@pytest.mark.parametrize("seed", range(40))
def test_points_and_the_linear_program_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(int(rng.integers(1, 5)), 2))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    offsets = rng.normal(size=len(normals))
    low, high = np.zeros(2), np.ones(2)  # the means of coins
    margin = _largest_margin(normals, offsets, low, high)
    assert abs(margin - MARGIN) > 1e-7  # else nobody could tell
    assert margin > MARGIN or not _point_found(normals, offsets, low, high)
    cell = region(2, normals, offsets)
    if margin > MARGIN:
        check_not_empty("it", cell, sw.Bernoulli())
        return
    with pytest.raises(BadArgument, match="an empty set"):
        check_not_empty("it", cell, sw.Bernoulli())


def test_opposite_planes_that_touch_hold_no_interior() -> None:
    normals, wide = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.full(2, math.inf)
    assert not _point_found(normals, np.zeros(2), -wide, wide)
    with pytest.raises(BadArgument, match="an empty set"):
        check_not_empty("it", region(2, normals, np.zeros(2)), sw.Gaussian())


def test_usual_cells_need_no_optimiser() -> None:
    """Which takes half a second to load."""
    subprocess.run([sys.executable, "-c", LIGHT], check=True)
