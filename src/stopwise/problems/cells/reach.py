"""Reachable answers of a user's own cells, for quadratic families.

The square root of a cost is the distance, in the norm sum_k w_k x_k^2/(2 variance_k), to the
alternative: it changes by at most max_k |x_k|/sqrt(2 variance_k) when the means move by x, for any
weights, and so does sqrt(D(mu, not i)). In the region N_k x_k^2/(2 variance_k) <= level, so that is at
most rho = sqrt(level/min N). An answer can be the oracle's only if sqrt(D_i) + rho reaches
max_j sqrt(D_j) - rho; as every arm is sampled rho goes to 0, and what is left are the oracle answers.
For other families every answer counts as reachable. Sticky takes the close answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from stopwise.core.arrays import Floats, Ints, largest, smallest, total
from stopwise.core.data import Data
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Quadratic
from stopwise.problems import rounds, verbs
from stopwise.problems.cells.problem import Cells
from stopwise.problems.rounds import Search
from stopwise.problems.verbs import Answer, Code


class CellSketch(NamedTuple):
    """As ``Scratch``, with sqrt(D(mu, not i)) for every answer after so many samples."""

    model: Floats
    weights: Floats
    code: Code
    answers: Ints
    values: Floats
    samples: Floats


@rounds.sketch.register(Cells)
def _sketch(problem: Cells, family: Any) -> CellSketch:
    return CellSketch(*rounds.scratch(problem), np.zeros(len(problem.labels)), np.full(1, -1.0))


@rounds.rebuild.register(Cells)
def _rebuild(problem: Cells, family: Any, data: Data, sketch: Any) -> None:
    sketch.samples[0] = -1.0


@rounds.first_close.register(Cells)
def _first_close(problem: Cells, family: Any, data: Data, sketch: Any, search: Search) -> bool:
    return rounds.close_of_listed(problem, family, data, search)


@verbs.reach.register(Cells, Quadratic)
def _reach(
    problem: Cells, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """0 or infinite."""
    point[0] = math.nan
    if smallest(data.counts) == 0.0:
        return 0.0
    values = np.zeros(problem.first.size - 1)
    _root_values(problem, family, data, values, np.zeros(1, dtype=np.int64), np.zeros(point.size))
    return _price(data, values, code[0], level)


@verbs.reachable.register(Cells, Quadratic)
def _reachable(problem: Cells, family: Any, data: Data, level: float) -> Iterator[Answer]:
    if smallest(data.counts) == 0.0:
        yield from problem.labels
        return
    values = np.zeros(len(problem.labels))
    code = np.zeros(1, dtype=np.int64)
    _root_values(problem, family, data, values, code, np.zeros(data.means.size))
    for place, answer in enumerate(problem.labels):
        if _price(data, values, place, level) <= level:
            yield answer


@rounds.reach_round.register(Cells, Quadratic)
def _reach_round(
    problem: Cells,
    family: Any,
    data: Data,
    sketch: CellSketch,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    point[0] = math.nan
    samples = total(data.counts)
    if sketch.samples[0] != samples:
        sketch.samples[0] = samples
        _root_values(problem, family, data, sketch.values, sketch.code, sketch.weights)
    return _price(data, sketch.values, code[0], level)


@jitable
def _root_values(
    problem: Cells, family: Any, data: Data, values: Floats, code: Code, weights: Floats
) -> None:
    """sqrt(D(mu, not i)) for every answer."""
    for each in range(values.size):
        code[0] = each
        value = rounds.solve_round(problem, family, data.means, code, weights)
        values[each] = math.sqrt(max(value, 0.0))


@jitable
def _price(data: Data, values: Floats, place: int, level: float) -> float:
    rho = math.sqrt(level / smallest(data.counts))
    return 0.0 if values[place] + rho >= largest(values) - rho else math.inf
