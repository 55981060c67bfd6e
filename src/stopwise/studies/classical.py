"""What a classical test would need: its size is fixed beforehand, and it is looked at once."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from stopwise.oracles.quantities import cost
from stopwise.oracles.values import Oracle
from stopwise.studies.amounts import TARGET

LACKS = (
    "it may be looked at only once, at the end; it does not end sooner where the differences are "
    "larger; and where they are smaller than guessed it mostly ends without an answer"
)


def fixed_sample(found: Oracle, delta: float) -> float:
    """Samples in equal shares after which one-sided z tests of all cells at once have a power of 80 %.

    The closest cell is D away for each sample: its z statistic has mean sqrt(2 n D) and variance 1 after
    n of them. It must reach z(delta/events), by Bonferroni: n = (z + z(power))^2/(2 D). For two Gaussian
    arms that is the textbook's 2 V (z + z(power))^2/gap^2 for each arm.
    """
    arms = found.means.size
    equal = np.full(arms, 1.0 / arms)
    pace = cost(
        *(found.problem, found.means), family=found.family, weights=equal, answer=found.answers[0]
    ).value
    height = float(ndtri(TARGET) - ndtri(delta / found.problem.union_bound()))
    return float(max(arms, math.ceil(height**2 / (2.0 * pace))))
