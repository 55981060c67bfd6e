"""Reachable answers of a user's own cells, for Gaussian arms.

The square root of a cost is the distance, in the norm sum_k w_k x_k^2/(2 variance), to the
alternative: it changes by at most max_k |x_k|/sqrt(2 variance) when the means move by x, for any
weights, and so does sqrt(D(mu, not i)). In the region N_k x_k^2/(2 variance) <= level, so that is at
most rho = sqrt(level/min N). An answer can be the oracle's only if sqrt(D_i) + rho reaches
max_j sqrt(D_j) - rho; as every arm is sampled rho goes to 0, and what is left are the oracle answers.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stopwise.arrays import largest, smallest, total
from stopwise.checks import Floats
from stopwise.families import Gaussian
from stopwise.oracles.rounds import reach_round, rebuild, scratch, sketch, solve_round
from stopwise.oracles.solve import solution
from stopwise.problems import Cells
from stopwise.problems.base import Code, encode, reach
from stopwise.verbs import verb


@lru_cache(maxsize=16)
def _root_values(problem: Cells, family: Gaussian, means: bytes) -> tuple[float, ...]:
    """sqrt(D(mu, not i)) for every answer."""
    mu = np.frombuffer(means)
    return tuple(
        math.sqrt(solution(problem, family, mu, encode(problem, label)).value)
        for label in problem.labels
    )


@reach.register(Cells)
def _reach(
    problem: Cells,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    """0 or infinite; for other families every answer counts as reachable."""
    point[0] = math.nan
    least = float(np.min(counts))
    if not isinstance(family, Gaussian) or least == 0.0:
        return 0.0
    values = _root_values(problem, family, means.tobytes())
    rho = math.sqrt(level / least)
    return 0.0 if values[int(code[0])] + rho >= max(values) - rho else math.inf


class CellSketch(NamedTuple):
    """As ``Scratch``, with sqrt(D(mu, not i)) for every answer after so many samples."""

    model: Floats
    weights: Floats
    code: Code
    answers: Code
    values: Floats
    samples: Floats


@sketch.register(Cells)
def _cell_sketch(problem: Cells, family: Any) -> CellSketch:
    return CellSketch(*scratch(problem), np.zeros(len(problem.labels)), np.full(1, -1.0))


@rebuild.register(Cells)
def _forget(problem: Cells, family: Any, sketch: Any, counts: Floats, means: Floats) -> None:
    sketch.samples[0] = -1.0


@reach_round.register(Cells)
def _reach_cell(
    problem: Cells,
    family: Any,
    sketch: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    point[0] = math.nan
    return cell_price(family, problem, sketch, counts, means, code[0], level)


@verb
def cell_price(
    family: Any,
    problem: Cells,
    sketch: CellSketch,
    counts: Floats,
    means: Floats,
    place: int,
    level: float,
) -> float:
    """0 or infinite; for other families every answer counts as reachable."""
    return 0.0


@cell_price.register(Gaussian)
def _gaussian_price(
    family: Gaussian,
    problem: Cells,
    sketch: CellSketch,
    counts: Floats,
    means: Floats,
    place: int,
    level: float,
) -> float:
    values, samples = sketch.values, total(counts)
    if sketch.samples[0] != samples:
        sketch.samples[0] = samples
        for each in range(values.size):
            sketch.code[0] = each
            value = solve_round(problem, family, means, sketch.code, sketch.weights)
            values[each] = math.sqrt(max(value, 0.0))
    rho = math.sqrt(level / smallest(counts))
    return 0.0 if values[place] + rho >= largest(values) - rho else math.inf
