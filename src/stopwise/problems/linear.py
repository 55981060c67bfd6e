"""Which arm is best, if the means are linear in known features? Gaussian arms: docs/linear.md.

theta-hat = V^-1 sum_a (N_a/s_a^2) x_a m_a with V = sum_a (N_a/s_a^2) x_a x_a^T, so counts and means are
all that is needed. Costs are likelihood ratios against the best fit, (theta-hat . y)^2/(2 y^T V^-1 y)
for y = x_i - x_j, whatever the distance of the arms' means from the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.least_squares import (
    TIED,
    compare,
    estimate,
    fit,
    gap_cost,
    information,
)
from stopwise.cells.linear_gap import LinearGap
from stopwise.core import checks
from stopwise.core.arrays import Floats, argmax
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.functions import jitable
from stopwise.core.options import ROWS, Option
from stopwise.families.family import Family, Quadratic
from stopwise.problems.limits import arms_in_words
from stopwise.problems.lowest import GOALS, with_goal
from stopwise.problems.problem import Code, Problem


class Fit(NamedTuple):
    """The arms' means at theta-hat; and scratch."""

    means: Floats
    code: Code
    drawn: Floats


@jitable(allocates=True)
def _least_cost(features: Floats, family: Family, data: Data, arm: int) -> float:
    """Of letting another arm overtake this one."""
    least, shape = math.inf, information(features, family, data.counts)
    theta = estimate(features, family, data, shape)
    for other in range(len(features)):
        if other != arm:
            gap, _, width = compare(features, theta, shape, arm, other)
            least = min(least, gap_cost(gap, width))
    return least


class Linear(Problem):
    """The arm with the largest mean, where means are ``features @ theta`` for an unknown theta.

    ``features`` has a row for each arm. Answers: the arms. With ``goal="min"`` the smallest mean.
    """

    arms: int
    features: Floats
    title = "Which option is best, if means are linear in features?"
    options = {
        "features": Option(ROWS, "A row of numbers for each option"),
        "goal": Option({"enum": list(GOALS)}, "max: the highest mean; min: the lowest"),
    }

    if TYPE_CHECKING:  # what __new__ takes

        def __init__(self, features: ArrayLike, goal: str = "max") -> None: ...

    def __new__(cls, features: ArrayLike, goal: str = "max") -> Linear:
        rows = checks.matrix("features", features)
        if len(rows) < 2:
            raise BadArgument("features", rows.tolist(), "at least two rows, one for each arm")
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            hint = "Leave out columns that are combinations of others."
            raise BadArgument("features", rows.tolist(), "independent columns", hint)
        return with_goal(goal, cls._make((len(rows), rows)))

    def __getnewargs__(self) -> tuple[Floats]:
        return (self.features,)

    def means(self, theta: ArrayLike) -> Floats:
        """The arms' means at a theta."""
        values = checks.vector("theta", theta)
        if values.size != self.features.shape[1]:
            allowed = f"{self.features.shape[1]} numbers, one for each feature"
            raise BadArgument("theta", theta, allowed)
        return np.asarray(self.features @ values)

    def __repr__(self) -> str:
        return f"Linear({self.features.tolist()})"

    def init_cache(self, family: Family) -> Fit:
        means, drawn = np.zeros((2, self.arms))
        return Fit(means, np.zeros(1, dtype=np.int64), drawn)

    def rebuild_cache(self, family: Family, data: Data, cache: Fit) -> None:
        fit(self.features, family, data, cache.means)

    def update_cache(self, family: Family, data: Data, cache: Fit, arm: int, before: float) -> None:
        fit(self.features, family, data, cache.means)

    def fitted(self, family: Family, data: Data, means: Floats) -> None:
        fit(self.features, family, data, means)

    def first_oracle(
        self, family: Family, data: Data, cache: Fit, code: Code, weights: Floats
    ) -> None:
        code[0] = argmax(cache.means)
        self.solve_round(family, cache.means, code, weights)

    def answer_weights(
        self, family: Family, data: Data, cache: Fit, code: Code, weights: Floats
    ) -> None:
        """Where the answer is wrong, those of the best arm."""
        value = self.solve_round(family, cache.means, code, weights)
        if value == 0.0:
            self.first_oracle(family, data, cache, cache.code, weights)

    def answer_at(self, family: Family, data: Data, cache: Fit, code: Code) -> None:
        """Means drawn arm by arm, N(m_a, V_a/N_a), fitted: theta then has its posterior's law.

        It is linear in them, with mean theta-hat and covariance A (sum_a N_a x_a x_a^T/V_a) A = A, the
        inverse of the information.
        """
        fit(self.features, family, data, cache.drawn)
        code[0] = argmax(cache.drawn)

    def best_evidence(
        self, family: Family, data: Data, cache: Fit, enough: float, code: Code
    ) -> float:
        """Only the arm that is best at theta-hat has any."""
        code[0] = argmax(cache.means)
        return _least_cost(self.features, family, data, code[0])

    def answers(self) -> Iterator[int]:
        return iter(range(self.arms))

    def several_answers(self) -> bool:
        return False

    def goal_sign(self) -> int:
        return 1

    def named_arms(self, answer: int) -> tuple[int, ...]:
        return (answer,)

    def rank(self) -> int:
        return self.arms

    def union_bound(self) -> int:
        return 1

    def correct_answers(self, means: Floats) -> Iterator[int]:
        close = TIED * max(float(np.abs(means).max()), 1e-300)
        return (int(k) for k in np.flatnonzero(means >= means.max() - close))

    def is_model(self, means: Floats) -> bool:
        theta = np.linalg.lstsq(self.features, means, rcond=None)[0]
        off = np.abs(self.features @ theta - means).max()
        return bool(off <= 1e-9 * max(1e-300, float(np.abs(means).max())))

    def check(self, family: Family) -> None:
        if not isinstance(family, Quadratic) or family.mean_space() != (-math.inf, math.inf):
            raise NotDefined(
                f"Linear with {family!r}: solved for Gaussian arms with known variances only. Use "
                "Gaussian(variance=...), or BestArm, which assumes nothing of how the means are related."
            )

    def answer_text(self, answer: int, labels: Sequence[str]) -> str:
        return f"{labels[answer]} is best"

    def question_text(self) -> str:
        return "Which option has the highest mean, if means are linear in their features?"

    def tie_text(self, means: Floats) -> tuple[str, str]:
        tied = list(self.correct_answers(means))
        return f"{arms_in_words(tied)} tie for the best", "Guess a theta at which they differ."

    def cell_count(self, code: Code) -> int:
        return self.arms - 1

    def cell(self, code: Code, j: int) -> LinearGap:
        return LinearGap(self.features, code[0], j if j < code[0] else j + 1)  # every other arm

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """The answer must not be below any rival: the dearest of these, a lower bound."""
        most, point[0] = 0.0, math.nan
        shape = information(self.features, family, data.counts)
        theta = estimate(self.features, family, data, shape)
        for other in range(self.arms):
            if other != code[0]:
                gap, _, width = compare(self.features, theta, shape, other, code[0])
                most = max(most, gap_cost(gap, width))
        return most
