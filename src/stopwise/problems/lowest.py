"""A question about the largest mean, asked about the smallest: which arm is fastest, or cheapest?

With l' = -l and the family's mirror image everything that is known about the largest mean holds for the
smallest: a cell lambda_j >= lambda_i + epsilon becomes lambda_i >= lambda_j + epsilon. Data keep their
sign; the problem inside is asked with the mirrored family and means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar, cast

import numpy as np

from stopwise.cells.cell import Cell
from stopwise.core.arrays import Floats
from stopwise.core.checks import choice
from stopwise.core.compile.methods import finder
from stopwise.core.data import Data
from stopwise.core.functions import Function, jitable
from stopwise.families.family import Family
from stopwise.families.mirror import mirrored
from stopwise.problems.problem import Answer, Cache, Code, Problem, Ranking, Refutation, Search

GOALS = ("max", "min")
P = TypeVar("P", bound=Problem)


class Image(NamedTuple):
    """The cache of the problem inside, and room for the mirrored means."""

    inside: Cache
    means: Floats


class Lowest(Problem, listed=False):
    """``BestArm(K, goal="min")`` is ``Lowest(BestArm(K))``. Answers are those of the problem inside."""

    problem: Problem

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.problem.arms)

    def __repr__(self) -> str:
        return f"{repr(self.problem)[:-1]}, goal='min')"

    def question_text(self) -> str:
        return self.problem.question_text().replace("high", "low")

    def answer_text(self, answer: Answer, labels: Sequence[str]) -> str:
        text = self.problem.answer_text(answer, [f"{{{k}}}" for k in range(len(labels))])
        return text.replace("best", "lowest").replace("better", "lower").format(*labels)

    def tie_text(self, means: Floats) -> tuple[str, str]:
        return self.problem.tie_text(-means)

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        return self.problem.correct_answers(-means)

    def goal_sign(self) -> int:
        return -self.problem.goal_sign()

    def contest_sign(self) -> float:
        return -self.problem.contest_sign()

    def ranking(self) -> Ranking | None:
        inside = self.problem.ranking()
        return None if inside is None else inside._replace(sense=-inside.sense)

    def with_slack(self, slack: float) -> Lowest | None:
        inside = self.problem.with_slack(slack)
        return None if inside is None else Lowest(inside)

    def cell(self, code: Code, j: int) -> Cell:
        return self.problem.cell(code, j).mirror()

    def transport_cost(self, family: Family, data: Data, code: Code, closest: Floats) -> float:
        found = self.problem.transport_cost(mirrored(family), _negated(data), code, closest)
        _negate(closest)
        return found

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

    def update_cache(
        self, family: Family, data: Data, cache: Image, arm: int, before: float
    ) -> None:
        image = _image(data, cache)
        self.problem.update_cache(mirrored(family), image, cache.inside, arm, -before)

    def refute(
        self,
        family: Family,
        data: Data,
        cache: Image,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        image, inside = _image(data, cache), cache.inside
        cost = self.problem.refute(mirrored(family), image, inside, code, penalty, found)
        _negate(found.model)
        return cost

    def first_reachable(
        self, family: Family, data: Data, cache: Image, level: float, held: bool, search: Search
    ) -> float:
        image, inside = _image(data, cache), cache.inside
        _negate(search.point)
        barrier = self.problem.first_reachable(mirrored(family), image, inside, level, held, search)
        _negate(search.point)
        return barrier


def with_goal(goal: str, problem: P) -> P:
    """The problem, or its mirror image, as the goal says; with the type of the problem inside."""
    allowed = '"max" (the largest mean) or "min" (the smallest)'
    lowest = choice("goal", goal, GOALS, allowed) == "min"
    return cast("P", Lowest(problem)) if lowest else problem


def _same(inside: Function) -> Function:
    """The method of the problem inside, where the goal changes nothing."""
    return lambda self, *given: inside(self.problem, *given)


def _in_mirror(inside: Function) -> Function:
    """The method of the problem inside, at the mirrored means."""
    return lambda self, family, means, *given: inside(
        self.problem, mirrored(family), -means, *given
    )


def _in_run(inside: Function) -> Function:
    """The method of the problem inside, with the data and the cache of a run."""
    return lambda self, family, data, cache, *given: inside(
        self.problem, mirrored(family), _image(data, cache), cache.inside, *given
    )


# where -mu is a model mu is, and fitted means are linear in the means: neither needs a mirror
SAME = """answers encode decode answer_count code_size several_answers check grows rank union_bound
    adaptive_bound named_arms listed_answers is_model cell_count fitted"""
IN_MIRROR = "candidates optimise solve_round"
IN_RUN = """rebuild_cache first_oracle answer_weights best_evidence sole_answer leading_answer
    answer_at"""
for forward, names in ((_same, SAME), (_in_mirror, IN_MIRROR), (_in_run, IN_RUN)):
    for name in names.split():
        setattr(Lowest, name, forward(finder(name)))


@jitable
def _negate(values: Floats) -> None:
    for k in range(values.size):
        values[k] = -values[k]


@jitable(allocates=True)
def _negated(data: Data) -> Data:
    return Data(data.counts, -data.means)


@jitable
def _image(data: Data, cache: Image) -> Data:
    """The data in the mirror: the cache has room for the means."""
    for k in range(data.means.size):
        cache.means[k] = -data.means[k]
    return Data(data.counts, cache.means)
