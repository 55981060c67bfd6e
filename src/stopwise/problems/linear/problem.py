"""Which arm is best, if the means are linear in known features? Gaussian arms: docs/linear.md.

theta-hat = V^-1 sum_a (N_a/s_a^2) x_a m_a with V = sum_a (N_a/s_a^2) x_a x_a^T, so counts and means are
all that is needed. Costs are likelihood ratios against the best fit, (theta-hat . y)^2/(2 y^T V^-1 y)
for y = x_i - x_j, whatever the distance of the arms' means from the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.least_squares import (
    TIED,
    compare,
    dot,
    estimate,
    gap_cost,
    information,
    log_determinant,
    mixed_prior,
    solved,
    squared,
)
from stopwise.core import checks
from stopwise.core.arrays import Floats, assign
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument, NotDefined
from stopwise.core.options import ROWS, Option
from stopwise.core.values import Problem
from stopwise.core.verbs import jitable
from stopwise.families.verbs import Quadratic, of_arm, space, variance
from stopwise.problems import verbs
from stopwise.problems.limits import arms_in_words
from stopwise.problems.lowest import GOALS, asked_for, lowest_in_words
from stopwise.problems.verbs import Code


class _Linear(NamedTuple):
    arms: int
    features: Floats


class Linear(_Linear, Problem):
    """The arm with the largest mean, where means are ``features @ theta`` for an unknown theta.

    ``features`` has a row for each arm. Answers: the arms. With ``goal="min"`` the smallest mean.
    """

    __slots__ = ()
    title = "Which option is best, if means are linear in features?"
    options = {
        "features": Option(ROWS, "A row of numbers for each option"),
        "goal": Option({"enum": list(GOALS)}, "max: the highest mean; min: the lowest"),
    }

    def __new__(cls, features: ArrayLike, goal: str = "max") -> Linear:
        rows = checks.matrix("features", features)
        if len(rows) < 2:
            raise BadArgument("features", rows.tolist(), "at least two rows, one for each arm")
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            hint = "Leave out columns that are combinations of others."
            raise BadArgument("features", rows.tolist(), "independent columns", hint)
        found: Linear = asked_for(goal, super().__new__(cls, len(rows), rows))
        return found

    def __getnewargs__(self) -> tuple[Any, ...]:
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


@verbs.answers.register(Linear)
def _answers(problem: Linear) -> Iterator[int]:
    return iter(range(problem.arms))


verbs.answer_count.register(Linear)(lambda problem: problem.arms)
verbs.several_answers.register(Linear)(lambda problem: False)
verbs.sense.register(Linear)(lambda problem: 1)
verbs.named.register(Linear)(lambda problem, answer: (answer,))
verbs.rank.register(Linear)(lambda problem: problem.arms)
verbs.union_bound.register(Linear)(lambda problem: 1)  # at the true theta one martingale is enough
verbs.features.register(Linear)(lambda problem: problem.features)


@verbs.correct_answers.register(Linear)
def _correct_answers(problem: Linear, means: Floats) -> Iterator[int]:
    close = TIED * max(float(np.abs(means).max()), 1e-300)
    return (int(k) for k in np.flatnonzero(means >= means.max() - close))


@verbs.is_model.register(Linear)
def _is_model(problem: Linear, means: Floats) -> bool:
    theta = np.linalg.lstsq(problem.features, means, rcond=None)[0]
    off = np.abs(problem.features @ theta - means).max()
    return bool(off <= 1e-9 * max(1e-300, float(np.abs(means).max())))


@verbs.check.register(Linear)
def _check(problem: Linear, family: Any) -> None:
    if not isinstance(family, Quadratic) or space(family) != (-math.inf, math.inf):
        raise NotDefined(
            f"Linear with {family!r}: solved for Gaussian arms with known variances only. Use "
            "Gaussian(variance=...), or BestArm, which assumes nothing of how the means are related."
        )


@verbs.in_words.register(Linear)
def _in_words(problem: Linear, answer: int, labels: Sequence[str]) -> str:
    return f"{labels[answer]} is best"


@lowest_in_words.register(Linear)
def _lowest_in_words(problem: Linear, answer: int, labels: Sequence[str]) -> str:
    return f"{labels[answer]} is lowest"


verbs.asked.register(Linear)(
    lambda problem: "Which option has the highest mean, if means are linear in their features?"
)


@verbs.tie.register(Linear)
def _tie(problem: Linear, means: Floats) -> tuple[str, str]:
    tied = list(_correct_answers(problem, means))
    return f"{arms_in_words(tied)} tie for the best", "Guess a theta at which they differ."


# ----------------------------------------------------------------------------------------- costs


@jitable
def rival(code: Code, cell: int) -> int:
    """The arm that beats the answer in this cell."""
    return cell if cell < code[0] else cell + 1


verbs.cell_count.register(Linear)(lambda problem, code: problem.arms - 1)


@verbs.project.register(Linear)
def _project(
    problem: Linear, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    shape = information(problem.features, family, data.counts)
    theta = estimate(problem.features, family, data, shape)
    gap, toward, width = compare(problem.features, theta, shape, code[0], rival(code, cell))
    assign(closest, data.means)
    if gap == 0.0 or width <= 0.0:
        return 0.0
    for a in range(closest.size):
        closest[a] = dot(problem.features[a], theta)
        closest[a] -= gap / width * dot(problem.features[a], toward)
    return gap_cost(gap, width)


@verbs.add_hessian.register(Linear)
def _add_hessian(
    problem: Linear, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    """(gap/q)^2 (u_k^2 u_l^2/q - u_k G_kl u_l): u = X V^-1 y, G = X V^-1 X^T, q = y . V^-1 y."""
    shape = information(problem.features, family, data.counts)
    theta = estimate(problem.features, family, data, shape)
    gap, toward, width = compare(problem.features, theta, shape, code[0], rival(code, cell))
    factor = curve.scale * gap * gap / (width * width)
    along = np.zeros(problem.arms)  # u
    for k in range(problem.arms):
        along[k] = dot(problem.features[k], toward)
    for k in range(problem.arms):
        if along[k] != 0.0:
            back = solved(shape, problem.features[k])
            own = factor * along[k] / variance(of_arm(family, k), 0.0)
            for j in range(problem.arms):
                bent = along[k] * along[j] / width - dot(problem.features[j], back)
                curve.hessian[k, j] += own * bent * along[j] / variance(of_arm(family, j), 0.0)


@verbs.mixed_evidence.register(Linear)
def _mixed_evidence(
    problem: Linear, family: Any, data: Data, code: Code, cell: int, gap: float
) -> float:
    """gap^2/(2 (y V^-1 y + y V^-1 P V^-1 y)) - (1/2) log det(1 + V P^-1): docs/linear.md, (1).

    P is the precision of a normal prior for theta's deviation, (d/K) sum_a x_a x_a^T/s_a^2 over gap^2.
    """
    shape = information(problem.features, family, data.counts)
    theta = estimate(problem.features, family, data, shape)
    pair = compare(problem.features, theta, shape, code[0], rival(code, cell))
    prior = mixed_prior(problem.features, family, gap)
    wider = pair.width + squared(prior, pair.toward)
    lost = log_determinant(shape + prior) - log_determinant(prior)
    return gap_cost(pair.gap, wider) - 0.5 * lost


@verbs.reach.register(Linear)
def _reach(
    problem: Linear, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    """The answer must not be below any rival: the dearest of these, a lower bound."""
    most, point[0] = 0.0, math.nan
    shape = information(problem.features, family, data.counts)
    theta = estimate(problem.features, family, data, shape)
    for other in range(problem.arms):
        if other != code[0]:
            gap, _, width = compare(problem.features, theta, shape, other, code[0])
            most = max(most, gap_cost(gap, width))
    return most
