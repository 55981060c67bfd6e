"""A question about the largest mean, asked about the smallest: which arm is fastest, or cheapest?

With l' = -l and the family's mirror image everything that is known about the largest mean holds for the
smallest: a cell lambda_j >= lambda_i + epsilon becomes lambda_i >= lambda_j + epsilon. Data keep
their sign; only what is asked of the problem inside goes through the mirror.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.cell import Cell, CellEvidence, Mirrored
from stopwise.core.arrays import Floats, Ints
from stopwise.core.checks import choice
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.families.family import Family
from stopwise.families.mirror import mirrored
from stopwise.problems.problem import Answer, Code, Problem, Ranking, Refutation, Search

GOALS = ("max", "min")


class Lowered(Mirrored):
    """A cell of a question about the smallest mean, given that of the largest."""

    def evidence(self, family: Family, data: Data, rule: CellEvidence, enough: float) -> float:
        return self.cell.mirror().evidence(family, data, rule, enough)

    def simplest(self) -> Cell:
        return self.cell.mirror().simplest()


class Lowest(Problem, listed=False):
    """``BestArm(K, goal="min")`` is ``Lowest(BestArm(K))``. Answers are those of the problem inside."""

    problem: Problem

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.problem.arms)

    def __repr__(self) -> str:
        return f"{repr(self.problem)[:-1]}, goal='min')"

    def answers(self) -> Iterator[Answer]:
        return self.problem.answers()

    def encode(self, answer: Answer) -> Code:
        return self.problem.encode(answer)

    def decode(self, code: Code) -> Answer:
        return self.problem.decode(code)

    def answer_count(self) -> int:
        return self.problem.answer_count()

    def code_size(self) -> int:
        return self.problem.code_size()

    def several_answers(self) -> bool:
        return self.problem.several_answers()

    def is_model(self, means: Floats) -> bool:
        return self.problem.is_model(-means)

    def check(self, family: Family) -> None:
        self.problem.check(family)

    def grows(self) -> bool:
        return self.problem.grows()

    def adaptive_bound(self, first: int) -> int:
        return self.problem.adaptive_bound(first)

    def rank(self) -> int:
        return self.problem.rank()

    def union_bound(self) -> int:
        return self.problem.union_bound()

    def feature_rows(self) -> Floats:
        return self.problem.feature_rows()

    def tie_text(self, means: Floats) -> tuple[str, str]:
        return self.problem.tie_text(-means)

    def question_text(self) -> str:
        return self.problem.question_text().replace("high", "low")

    def named_arms(self, answer: Any) -> tuple[int, ...]:
        return self.problem.named_arms(answer)

    def goal_sign(self) -> int:
        return -self.problem.goal_sign()

    def contest_sign(self) -> float:
        return -self.problem.contest_sign()

    def answer_text(self, answer: Any, labels: Sequence[str]) -> str:
        return self.problem.lowest_answer_text(answer, labels)

    def ranking(self) -> Ranking | None:
        inside = self.problem.ranking()
        return None if inside is None else inside._replace(sense=-inside.sense)

    def with_slack(self, slack: float) -> Lowest | None:
        inside = self.problem.with_slack(slack)
        return None if inside is None else Lowest(inside)

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        return self.problem.correct_answers(-means)

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        return self.problem.candidates(mirrored(family), -means)

    def cell_count(self, code: Code) -> int:
        return self.problem.cell_count(code)

    def cell(self, code: Code, j: int) -> Lowered:
        return Lowered(self.problem.cell(code, j))

    def transport_cost(self, family: Family, data: Data, code: Code, closest: Floats) -> float:
        found = self.problem.transport_cost(mirrored(family), _image(data), code, closest)
        _mirror(closest)
        return found

    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        return self.problem.optimise(mirrored(family), -means, code, weights)

    def models(self, family: Family, data: Data, code: Code) -> Floats:
        return -self.problem.models(mirrored(family), _image(data), code)

    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        return self.problem.upper_bound(mirrored(family), _image(data), code)

    def vertices(self, family: Family, data: Data, code: Code) -> Floats:
        return self.problem.vertices(mirrored(family), _image(data), code)

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        found = self.problem.reach(mirrored(family), _image(data), code, level, point)
        _mirror(point)
        return found

    def init_cache(self, family: Family) -> Image:
        return Image(self.problem.init_cache(mirrored(family)), np.zeros(self.arms))

    def rebuild_cache(self, family: Family, data: Data, cache: Image) -> None:
        for k in range(data.means.size):
            cache.means[k] = -data.means[k]
        image = Data(data.counts, cache.means)
        self.problem.rebuild_cache(mirrored(family), image, cache.cache)

    def update_cache(
        self, family: Family, data: Data, cache: Image, arm: int, before: float
    ) -> None:
        cache.means[arm] = -data.means[arm]
        image = Data(data.counts, cache.means)
        self.problem.update_cache(mirrored(family), image, cache.cache, arm, -before)

    def solve_round(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        return self.problem.solve_round(mirrored(family), -means, code, weights)

    def first_oracle(
        self, family: Family, data: Data, cache: Image, code: Code, weights: Floats
    ) -> None:
        image = Data(data.counts, cache.means)
        self.problem.first_oracle(mirrored(family), image, cache.cache, code, weights)

    def answer_weights(
        self, family: Family, data: Data, cache: Image, code: Code, weights: Floats
    ) -> None:
        image = Data(data.counts, cache.means)
        self.problem.answer_weights(mirrored(family), image, cache.cache, code, weights)

    def best_evidence(
        self, family: Family, data: Data, cache: Image, enough: float, code: Code
    ) -> float:
        image = Data(data.counts, cache.means)
        return self.problem.best_evidence(mirrored(family), image, cache.cache, enough, code)

    def sole_answer(self, family: Family, data: Data, cache: Image, code: Code) -> bool:
        image = Data(data.counts, cache.means)
        return self.problem.sole_answer(mirrored(family), image, cache.cache, code)

    def leading_answer(self, family: Family, data: Data, cache: Image, code: Code) -> bool:
        image = Data(data.counts, cache.means)
        return self.problem.leading_answer(mirrored(family), image, cache.cache, code)

    def answer_at(self, family: Family, data: Data, cache: Image, code: Code) -> None:
        _mirror(data.means)  # and back: a change of sign loses nothing
        self.problem.answer_at(mirrored(family), data, cache.cache, code)
        _mirror(data.means)

    def fitted(self, family: Family, data: Data, means: Floats) -> None:
        _mirror(data.means)
        self.problem.fitted(mirrored(family), data, means)
        _mirror(data.means)
        _mirror(means)

    def refute(
        self,
        family: Family,
        data: Data,
        cache: Image,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        _mirror(data.means)
        cost = self.problem.refute(mirrored(family), data, cache.cache, code, penalty, found)
        _mirror(data.means)
        _mirror(found.model)
        return cost

    def listed_answers(self) -> Ints:
        return self.problem.listed_answers()

    def first_reachable(
        self,
        family: Family,
        data: Data,
        cache: Image,
        level: float,
        held: bool,
        search: Search,
    ) -> float:
        image = Data(data.counts, cache.means)
        _mirror(search.point)
        barrier = self.problem.first_reachable(
            mirrored(family), image, cache.cache, level, held, search
        )
        _mirror(search.point)
        return barrier


def asked_for(goal: Any, problem: Problem) -> Any:
    """The problem, or its mirror image, as the goal says."""
    allowed = '"max" (the largest mean) or "min" (the smallest)'
    return problem if choice("goal", goal, GOALS, allowed) == "max" else Lowest(problem)


@jitable
def _mirror(values: Floats) -> None:
    for k in range(values.size):
        values[k] = -values[k]


@jitable(allocates=True)
def _image(data: Data) -> Data:
    return Data(data.counts, -data.means)


# -------------------------------------------------------------------------------------- one round


class Image(NamedTuple):
    """The cache of the problem inside, and the mirrored means."""

    cache: Any
    means: Floats
