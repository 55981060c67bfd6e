"""Defaults for what a round asks of a problem: they need the generic solver."""

from __future__ import annotations

import math
from typing import Any

from stopwise.core.arrays import Floats
from stopwise.oracles.center import saddle_weights
from stopwise.problems.rounds import solve_round
from stopwise.problems.verbs import Code, optimise


@solve_round.register(object)
def _solve_round(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    value = optimise(problem, family, means, code, weights)
    if math.isnan(value):
        return saddle_weights(problem, family, means, code, weights)
    return value
