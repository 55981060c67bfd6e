"""What an identification problem knows: every method, once.

A problem is an immutable value. Its answers have a strict order and are coded as short arrays of
whole numbers, so that compiled code can hold one. The alternative to an answer is a union of
cells. A problem needs ``answers``, ``correct_answers``, ``cell_count``, ``cell``, ``rank`` and
``union_bound``; the rest has defaults.

Arguments come in one order: family, data (or means), what the problem keeps, answer, and last what is
written to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.cell import Cell, CellEvidence
from stopwise.core.arrays import Floats, Ints, assign
from stopwise.core.data import Answer as Answer, Code as Code, Data
from stopwise.core.errors import BadArgument, MissingMethod
from stopwise.core.functions import allocates, inline, jitable
from stopwise.core.values import Role, overrides
from stopwise.families.family import Family
from stopwise.problems.central_path import saddle_weights


def equal(known: Answer, given: object) -> bool:
    """Whether an answer is the one that is meant; what cannot be compared is not."""
    try:
        return bool(known == given)
    except Exception:  # a table, or whatever a stranger's object raises
        return False


Cache = Any  # what a problem keeps between rounds: each problem has a type of its own

OFF_THE_BOUNDARY = "Guess means off the boundary, or give a range as (low, high)."


class Ranking(NamedTuple):
    """A question that comparisons of two arms answer: the ``m`` best arms, or those above a control."""

    goal_sign: int  # 1: higher is better; -1: lower
    epsilon: float
    m: int = 1
    control: int = -1  # none
    one: bool = False  # one arm that beats the control is enough


class Part(NamedTuple):
    """A question that is part of a problem: its arms, and its share of the answer's code."""

    problem: Problem
    family: Family
    arms: Ints
    code: Code


def unknown_answer(problem: Problem, answer: object) -> BadArgument:
    """The error for something that is not one of the problem's answers."""
    listed = [repr(known) for known in islice(problem.answers(), 6)]
    if len(listed) == 6:
        listed.append("...")
    return BadArgument("answer", answer, f"an answer of {problem!r}: {', '.join(listed)}")


class Scratch(NamedTuple):
    """Room for one model, one weight vector and one answer; and how many answers there are."""

    model: Floats
    weights: Floats
    code: Code
    answers: Ints


def scratch(problem: Problem) -> Scratch:
    """Empty room for a problem."""
    arms = problem.arms
    code = np.zeros(problem.code_size(), dtype=np.int64)
    return Scratch(np.zeros(arms), np.zeros(arms), code, np.array([problem.answer_count()]))


class Refutation(NamedTuple):
    """The cheapest way to be wrong: the closest model, and 1 for each arm that its cell constrains."""

    model: Floats
    arms: Floats
    trial: Floats  # scratch


def refutation(arms: int) -> Refutation:
    """Empty room for so many arms."""
    return Refutation(np.zeros(arms), np.zeros(arms), np.zeros(arms))


@jitable
def _log_least(data: Data, model: Floats) -> float:
    """log N of the least sampled arm that moves; 0 if none does."""
    least = math.inf
    for k in range(model.size):
        if model[k] != data.means[k] and data.counts[k] < least:
            least = data.counts[k]
    return math.log(least) if least < math.inf else 0.0


@jitable(inline=True)
def _hardest_to_refute(
    problem: Problem, family: Family, data: Data, cache: Scratch, code: Code
) -> float:
    """The largest D(w, mu, not i) over all answers, and the first answer that has it."""
    best = -1.0
    for place in range(cache.answers[0]):
        cache.code[0] = place
        value = problem.transport_cost(family, data, cache.code, cache.model)
        if not value <= best:  # nan shows
            best = value
            code[0] = place
    return best


class Search(NamedTuple):
    """A search for the first reachable answer: in which order, and what was found."""

    order: Ints  # the codes of the answers, where they are listed
    code: Code  # the answer
    point: Floats  # a model of the region at which it is an oracle answer (or nan, see ``reach``)
    trial: Floats  # scratch
    # how far below the largest value, relatively, a close answer may be; negative: pursue reachable answers
    slack: float = -1.0
    always_close: bool = (
        False  # pursue close answers even where ``reach`` solves for the reachable ones
    )


BY_VALUE = -math.inf  # what ``first_reachable`` returns in place of a barrier for a close answer


@jitable
def close_of_listed(
    self: Problem, family: Family, data: Data, cache: Cache, search: Search
) -> bool:
    """``first_close``, one answer after the other; False where they are not listed, or all are wrong."""
    best = 0.0
    for turn in range(search.order.size):
        search.code[0] = search.order[turn]
        best = max(best, self.solve_round(family, data.means, search.code, search.trial))
    for turn in range(search.order.size if best > 0.0 else 0):
        search.code[0] = search.order[turn]
        value = self.solve_round(family, data.means, search.code, search.trial)
        if value >= (1.0 - search.slack) * best:
            return True
    return False


def reach_unknown(problem: Problem, family: Family) -> bool:
    """Whether the problem says nothing about which answers can be reached."""
    return not overrides(problem, "reach", family)


class Problem(Role, listed=False):
    """A question about the arms' means, with its answers."""

    role = "problem"
    example = "BestArm(4)"
    required = ("answers", "correct_answers", "cell_count", "cell", "rank", "union_bound")

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        raise NotImplementedError(f"{type(self).__name__} needs a field or property ``arms``")

    def init_cache(self, family: Family) -> Cache:
        """What the problem keeps between rounds: a NamedTuple of arrays."""
        return scratch(self)

    def rebuild_cache(self, family: Family, data: Data, cache: Cache) -> None:
        """Compute the cache from the data alone, forgetting what it held: every arm has been sampled."""

    @inline
    def update_cache(
        self, family: Family, data: Data, cache: Cache, arm: int, before: float
    ) -> None:
        """Bring the cache up to date after one more sample of an arm, whose mean was ``before``."""

    @allocates
    def solve_round(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        """The value of an answer and its oracle weights; by default from the generic solver."""
        value = self.optimise(family, means, code, weights)
        if math.isnan(value):
            return saddle_weights(self, family, means, code, weights)
        return value

    @inline
    def first_oracle(
        self, family: Family, data: Data, cache: Cache, code: Code, weights: Floats
    ) -> None:
        """The first oracle answer at the estimated means, and its weights."""
        best = -1.0
        for place in range(cache.answers[0]):
            cache.code[0] = place
            value = self.solve_round(family, data.means, cache.code, cache.weights)
            if value > best:
                best = value
                code[0] = place
                assign(weights, cache.weights)

    @inline
    def answer_weights(
        self, family: Family, data: Data, cache: Cache, code: Code, weights: Floats
    ) -> None:
        """Oracle weights of a given answer.

        At means where the answer is wrong every weight vector is optimal, and the paper leaves the
        choice open. Taken are the weights of a neighbour: for a half-space or sign those of its other
        side, which are its own limit at the plane; else those of an oracle answer at the means, so that
        evidence grows for what looks right; uniform ones where many answers would have to be solved for.
        """
        value = self.solve_round(family, data.means, code, weights)
        if value == 0.0 and cache.answers[0] == 2:
            cache.code[0] = 1 - code[0]
            self.solve_round(family, data.means, cache.code, weights)

    @inline
    def best_evidence(
        self, family: Family, data: Data, cache: Cache, enough: float, code: Code
    ) -> float:
        """The largest D(N, mu-hat, not i) over all answers, and the first answer that has it.

        Where it is less than ``enough`` any number >= 0 below that will do, and any answer.
        """
        return _hardest_to_refute(self, family, data, cache, code)

    @inline
    def sole_answer(self, family: Family, data: Data, cache: Cache, code: Code) -> bool:
        """Write the only answer that can have evidence, if the means alone show it; False: they do not."""
        return False

    def leading_answer(self, family: Family, data: Data, cache: Cache, code: Code) -> bool:
        """The answer that looks best at the estimated means: by default the one with the most evidence.

        Returned is whether there is any: at a tie no answer has, and this one may even be wrong.
        """
        return self.best_evidence(family, data, cache, 0.0, code) > 0.0

    @inline
    def fitted(self, family: Family, data: Data, means: Floats) -> None:
        """Write the estimated means under the problem's model: by default the sample means."""
        assign(means, data.means)

    def answer_at(self, family: Family, data: Data, cache: Cache, code: Code) -> None:
        """An answer that is correct at these means, whatever the cache has seen.

        Of several the one that is the most costly to refute with these counts.
        """
        _hardest_to_refute(self, family, data, cache, code)

    @allocates
    def refute(
        self,
        family: Family,
        data: Data,
        cache: Cache,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        """The cheapest cell of an answer's alternative, and its cost; of equals the first.

        The counts may be weights, and the means need not be the estimate. With a ``penalty`` a cell costs so
        many times log N more, N the samples of the least sampled arm that has to move.
        """
        best, least, place = math.inf, math.inf, 0
        assign(found.model, data.means)
        for j in range(self.cell_count(code)):
            value = self.cell(code, j).project(family, data, found.trial)
            price = value if penalty == 0.0 else value + penalty * _log_least(data, found.trial)
            if price < best:
                best, least, place = price, value, j
                assign(found.model, found.trial)
        cell = self.cell(code, place)
        for k in range(found.arms.size):
            found.arms[k] = 1.0 if cell.constrains(k) else 0.0
        return least

    def weakest_cell(
        self,
        family: Family,
        data: Data,
        cache: Cache,
        code: Code,
        rule: CellEvidence,
        enough: float,
    ) -> float:
        """The least evidence against any of an answer's cells, up to the first below ``enough``."""
        least, count, last = math.inf, self.cell_count(code), rule.first_cell[0]
        first = -1 if enough > -math.inf and last < count else 0  # turn -1: the last weak cell
        for turn in range(first, count):
            j = last if turn < 0 else turn
            value = self.cell(code, j).evidence(family, data, rule, enough)
            if not value >= least:
                least = value
            if value < enough:
                rule.first_cell[0] = j
                break
        return least

    def reach_round(
        self, family: Family, data: Data, cache: Cache, code: Code, level: float, point: Floats
    ) -> float:
        """``reach``, with the cache: a lower bound on the cost will do where it is above the level."""
        return self.reach(family, data, code, level, point)

    def first_reachable(
        self, family: Family, data: Data, cache: Cache, level: float, held: bool, search: Search
    ) -> float:
        """The first answer in the order that is an oracle answer somewhere in the region.

        ``held`` says that the search's point already is such a model for its answer. Returned is a lower
        bound on what every earlier answer costs to reach; ``BY_VALUE`` if the answer is a close one.
        """
        order, code, point, trial, slack, _ = search
        if slack >= 0.0 and self.first_close(family, data, cache, search):
            point[0] = math.nan
            return BY_VALUE
        barrier, kept = math.inf, code[0]
        for turn in range(order.size):
            code[0] = order[turn]
            if held and code[0] == kept:
                break
            price = self.reach_round(family, data, cache, code, level, trial)
            if price <= level:
                assign(point, trial)
                break
            barrier = min(barrier, price)
        return barrier

    def first_close(self, family: Family, data: Data, cache: Cache, search: Search) -> bool:
        """The first answer whose value at the estimate lacks at most a share ``slack`` of the largest.

        For questions of which no more is known than bounds on what can be reached; False for others.
        """
        return search.always_close and close_of_listed(self, family, data, cache, search)

    def listed_answers(self) -> Ints:
        """The codes of all answers, in order; empty where they are combinations and never listed."""
        listed = not overrides(self, "first_reachable")
        return np.arange(self.answer_count() if listed else 0, dtype=np.int64)

    def ranking(self) -> Ranking | None:
        """The question as one about who beats whom; None if it is another."""
        return None

    def answers(self) -> Iterator[Answer]:
        """The answers, in the problem's strict order (lazily: there may be 2^K of them)."""
        raise MissingMethod("answers", self)

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        """i*(mu): the answers that are correct at these means, in order."""
        raise MissingMethod("correct_answers", self)

    def encode(self, answer: Answer) -> Code:
        """The answer's code: by default its place in the order."""
        if isinstance(answer, np.ndarray | bool):
            raise unknown_answer(self, answer)
        for place, known in enumerate(self.answers()):
            if equal(known, answer):
                return np.array([place], dtype=np.int64)
        raise unknown_answer(self, answer)

    def decode(self, code: Code) -> Answer:
        """The answer with this code."""
        for place, answer in enumerate(self.answers()):
            if place == code[0]:
                return answer
        raise BadArgument("code", code, f"the code of an answer of {self!r}")

    def answer_count(self) -> int:
        """How many answers there are, where the code is the place in the order; 0: never listed."""
        return sum(1 for _ in self.answers())

    def code_size(self) -> int:
        """How many whole numbers code an answer."""
        return 1

    def several_answers(self) -> bool:
        """Whether a model may have several correct answers (but for ties)."""
        return True

    def is_model(self, means: Floats) -> bool:
        """Whether the means lie in M, the set of possible models."""
        return True

    def check(self, family: Family) -> None:
        """Refuse a family for which the problem is not solved, or makes no sense."""

    def rank(self) -> int:
        """The most arms that a cell, holding the truth when an answer is wrong, constrains."""
        raise MissingMethod("rank", self)

    def union_bound(self) -> int:
        """How many cells can be to blame for a wrong answer at one truth: events in the union bound."""
        raise MissingMethod("union_bound", self)

    def grows(self) -> bool:
        """Whether arms may be added meanwhile: each arm has one cell to blame, whatever arms come later."""
        return False

    def adaptive_bound(self, first: int) -> int:
        """``union_bound`` where all arms but the ``first`` ones were added, each because of samples."""
        return int(self.union_bound())

    def question_text(self) -> str:
        """The question, with its numbers; by default its title."""
        return self.title or f"What is the answer of {type(self).__name__}?"

    def named_arms(self, answer: Any) -> tuple[int, ...]:
        """The arms that an answer singles out, which pictures mark; by default none."""
        return ()

    def goal_sign(self) -> int:
        """Whether arms compete for the highest mean (1), for the lowest (-1), or not at all (0)."""
        return 0

    def best_arm_sign(self) -> float:
        """``goal_sign`` if the answers are the arms themselves, as for ``BestArm``; else 0.

        Then cell j of answer i lets the j-th of the other arms overtake arm i.
        """
        return 0.0

    def with_slack(self, slack: float) -> Problem | None:
        """The same question where an answer may be that much further from the best; None: there is none."""
        return None

    def answer_text(self, answer: Any, labels: Sequence[str]) -> str:
        """What an answer says about the arms, by their labels; "best" and "better" are those of the goal."""
        return str(answer)

    def tie_text(self, means: Floats) -> tuple[str, str]:
        """Why no test can end at these means, where D = 0, and what to do about it."""
        correct = " and ".join(repr(answer) for answer in list(self.correct_answers(means))[:4])
        return f"the means lie on the boundary of the answer {correct}", OFF_THE_BOUNDARY

    def cell_count(self, code: Code) -> int:
        """How many cells the alternative to this answer has."""
        raise MissingMethod("cell_count", self)

    def cell(self, code: Code, j: int) -> Cell:
        """The j-th cell: a set of models in which this answer is wrong."""
        raise MissingMethod("cell", self)

    def pairwise_cells(self) -> bool:
        """Whether every cell bounds one arm, compares two, or has all arms on one side."""
        return self.cell(self.encode(next(iter(self.answers()))), 0).pairwise()

    @allocates
    def project(self, family: Family, data: Data, code: Code, j: int, closest: Floats) -> float:
        """Write the closest model of one cell into ``closest`` and return its cost."""
        return self.cell(code, j).project(family, data, closest)

    @allocates
    def transport_cost(self, family: Family, data: Data, code: Code, closest: Floats) -> float:
        """D(w, mu, not i) and its closest model: the cheapest of the cells."""
        best, point = math.inf, np.zeros(closest.size)
        assign(closest, data.means)
        for j in range(self.cell_count(code)):
            value = self.cell(code, j).project(family, data, point)
            if value < best:
                best = value
                assign(closest, point)
        return best

    @allocates
    def optimise(self, family: Family, means: Floats, code: Code, weights: Floats) -> float:
        """The value of an answer and, written to ``weights``, its oracle weights; nan: no closed form."""
        return math.nan

    @allocates
    def models(self, family: Family, data: Data, code: Code) -> Floats:
        """Models of the alternative that hold a witness at oracle weights: each cell's closest one."""
        found = np.zeros((self.cell_count(code), data.means.size))
        for j in range(len(found)):
            self.cell(code, j).project(family, data, found[j])
        return found

    @allocates
    def upper_bound(self, family: Family, data: Data, code: Code) -> float:
        """What the witness at these weights concedes, an upper bound on the value.

        nan: there is no closed form, and oracles/witness.py bounds the value.
        """
        return math.nan

    def vertices(self, family: Family, data: Data, code: Code) -> Floats:
        """The corners of the set of oracle weights, one row each, where there is a closed form."""
        return data.counts[None].copy()

    def independent_parts(self, family: Family, code: Code) -> list[Part]:
        """Independent questions about disjoint arms that make up the problem: 1/D adds up over them."""
        return []

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        """Answers among which the oracle answers are sure to be; by default the correct ones."""
        return self.correct_answers(means)

    @allocates
    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        """The least D(N, mu-hat, mu') over models mu' at which this is an oracle answer.

        Written to ``point`` is such a model. Or a lower bound, which may look at the level that it will be
        compared with; then ``point`` is nan. By default 0: every answer counts as reachable.
        """
        point[0] = math.nan
        return 0.0

    def reachable(self, family: Family, data: Data, level: float) -> Iterator[Answer]:
        """The reachable answers, in order; by default every answer is tried."""
        cache, point = self.init_cache(family), np.zeros(data.means.size)
        for answer in self.answers():
            if self.reach_round(family, data, cache, self.encode(answer), level, point) <= level:
                yield answer
