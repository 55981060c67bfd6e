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
from typing import Any

import numpy as np

from stopwise.checks import Floats
from stopwise.families import Gaussian
from stopwise.oracles.solve import solution
from stopwise.problems import Cells
from stopwise.problems.base import Code, encode, reach


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
