"""A question about the largest mean, asked about the smallest: which arm is fastest, or cheapest?

With l' = -l and the family's mirror image everything that is known about the largest mean holds for the
smallest: a cell lambda_j >= lambda_i + epsilon becomes lambda_i >= lambda_j + epsilon. Data keep their
sign; the problem inside is asked with the mirrored family and means.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from stopwise.cells.cell import Cell
from stopwise.core.arrays import Floats
from stopwise.core.checks import choice
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.families.mirror import mirrored
from stopwise.problems.problem import Answer, Cache, Code, Problem, Ranking, Refutation, Search

GOALS = ("max", "min")
F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=Problem)


def _same(method: F) -> F:
    """The method of the problem inside, where the goal changes nothing. In plain Python only."""

    @functools.wraps(method)
    def forward(self: Lowest, *given: Any) -> Any:
        return getattr(self.problem, method.__name__)(*given)

    return cast("F", forward)


class Lowest(Problem, listed=False):
    """``BestArm(K, goal="min")`` is ``Lowest(BestArm(K))``. Answers are those of the problem inside."""

    problem: Problem

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.problem.arms)

    def __repr__(self) -> str:
        return f"{repr(self.problem)[:-1]}, goal='min')"

    answers = _same(Problem.answers)
    encode = _same(Problem.encode)
    decode = _same(Problem.decode)
    answer_count = _same(Problem.answer_count)
    code_size = _same(Problem.code_size)
    several_answers = _same(Problem.several_answers)
    check = _same(Problem.check)
    grows = _same(Problem.grows)
    adaptive_bound = _same(Problem.adaptive_bound)
    rank = _same(Problem.rank)
    union_bound = _same(Problem.union_bound)
    named_arms = _same(Problem.named_arms)
    listed_answers = _same(Problem.listed_answers)
    is_model = _same(Problem.is_model)  # where -mu is a model mu is

    def tie_text(self, means: Floats) -> tuple[str, str]:
        return self.problem.tie_text(-means)

    def question_text(self) -> str:
        return self.problem.question_text().replace("high", "low")

    def goal_sign(self) -> int:
        return -self.problem.goal_sign()

    def best_arm_sign(self) -> float:
        return -self.problem.best_arm_sign()

    def answer_text(self, answer: Answer, labels: Sequence[str]) -> str:
        text = self.problem.answer_text(answer, [f"{{{k}}}" for k in range(len(labels))])
        return text.replace("best", "lowest").replace("better", "lower").format(*labels)

    def ranking(self) -> Ranking | None:
        inside = self.problem.ranking()
        return None if inside is None else inside._replace(goal_sign=-inside.goal_sign)

    def with_slack(self, slack: float) -> Lowest | None:
        inside = self.problem.with_slack(slack)
        return None if inside is None else Lowest(inside)

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        return self.problem.correct_answers(-means)

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        return self.problem.candidates(mirrored(family), -means)

    def cell_count(self, code: Code) -> int:
        return self.problem.cell_count(code)

    def cell(self, code: Code, j: int) -> Cell:
        return self.problem.cell(code, j).mirror()

    def transport_cost(self, family: Family, data: Data, code: Code, closest: Floats) -> float:
        found = self.problem.transport_cost(mirrored(family), _negated(data), code, closest)
        _negate(closest)
        return found

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        return self.problem.optimise(mirrored(family), -means, code, weights)

    def models(self, family: Family, data: Data, code: Code) -> Floats:
        return -self.problem.models(mirrored(family), _negated(data), code)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        return self.problem.upper_bound(mirrored(family), _negated(data), code)

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        found = self.problem.reach(mirrored(family), _negated(data), code, level, point)
        _negate(point)
        return found

    def init_cache(self, family: Family) -> Image:
        return Image(self.problem.init_cache(mirrored(family)), np.zeros(self.arms))

    def rebuild_cache(self, family: Family, data: Data, cache: Image) -> None:
        for k in range(data.means.size):
            cache.means[k] = -data.means[k]
        self.problem.rebuild_cache(mirrored(family), _mirrored_data(data, cache), cache.inside)

    def update_cache(
        self, family: Family, data: Data, cache: Image, arm: int, before: float
    ) -> None:
        cache.means[arm] = -data.means[arm]
        image = _mirrored_data(data, cache)
        self.problem.update_cache(mirrored(family), image, cache.inside, arm, -before)

    def solve_round(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        return self.problem.solve_round(mirrored(family), -means, code, weights)

    def first_oracle(
        self, family: Family, data: Data, cache: Image, code: Code, weights: Floats
    ) -> None:
        image = _mirrored_data(data, cache)
        self.problem.first_oracle(mirrored(family), image, cache.inside, code, weights)

    def answer_weights(
        self, family: Family, data: Data, cache: Image, code: Code, weights: Floats
    ) -> None:
        image = _mirrored_data(data, cache)
        self.problem.answer_weights(mirrored(family), image, cache.inside, code, weights)

    def best_evidence(
        self, family: Family, data: Data, cache: Image, enough: float, code: Code
    ) -> float:
        image = _mirrored_data(data, cache)
        return self.problem.best_evidence(mirrored(family), image, cache.inside, enough, code)

    def sole_answer(self, family: Family, data: Data, cache: Image, code: Code) -> bool:
        image = _mirrored_data(data, cache)
        return self.problem.sole_answer(mirrored(family), image, cache.inside, code)

    def leading_answer(self, family: Family, data: Data, cache: Image, code: Code) -> bool:
        image = _mirrored_data(data, cache)
        return self.problem.leading_answer(mirrored(family), image, cache.inside, code)

    def answer_at(self, family: Family, data: Data, cache: Image, code: Code) -> None:
        _negate(data.means)  # and back: a change of sign loses nothing
        self.problem.answer_at(mirrored(family), data, cache.inside, code)
        _negate(data.means)

    def fitted(self, family: Family, data: Data, means: Floats) -> None:
        self.problem.fitted(family, data, means)  # linear in the means: no mirror is needed

    def refute(
        self,
        family: Family,
        data: Data,
        cache: Image,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        _negate(data.means)
        cost = self.problem.refute(mirrored(family), data, cache.inside, code, penalty, found)
        _negate(data.means)
        _negate(found.model)
        return cost

    def first_reachable(
        self, family: Family, data: Data, cache: Image, level: float, held: bool, search: Search
    ) -> float:
        image, inside = _mirrored_data(data, cache), cache.inside
        _negate(search.point)
        barrier = self.problem.first_reachable(mirrored(family), image, inside, level, held, search)
        _negate(search.point)
        return barrier


def with_goal(goal: str, problem: P) -> P:
    """The problem, or its mirror image, as the goal says; with the type of the problem inside."""
    allowed = '"max" (the largest mean) or "min" (the smallest)'
    lowest = choice("goal", goal, GOALS, allowed) == "min"
    return cast("P", Lowest(problem)) if lowest else problem


@jitable
def _negate(values: Floats) -> None:
    for k in range(values.size):
        values[k] = -values[k]


@jitable(allocates=True)
def _negated(data: Data) -> Data:
    return Data(data.counts, -data.means)


class Image(NamedTuple):
    """The cache of the problem inside, and the mirrored means."""

    inside: Cache
    means: Floats


@jitable
def _mirrored_data(data: Data, cache: Image) -> Data:
    """The data of a run in the mirror, of which the cache keeps the means."""
    return Data(data.counts, cache.means)
