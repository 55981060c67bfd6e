"""Several independent questions about disjoint groups of arms, answered together.

Each part answers for itself, and 1/D adds up. A round keeps a chain with a link for each part: what the
part keeps, and room for its own arms. Methods go from link to link, so that products of any parts, also
of products, compile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.cells.bound import total_divergence
from stopwise.cells.cell import Cell, CellEvidence
from stopwise.core import spelling
from stopwise.core.arrays import Floats, Ints, assign, fill
from stopwise.core.checks import whole_vector
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument
from stopwise.core.functions import jitable
from stopwise.core.options import Option
from stopwise.core.values import Value, check_role
from stopwise.families.family import Family
from stopwise.problems.problem import (
    Answer,
    Cache,
    Code,
    Part,
    Problem,
    Refutation,
    Search,
    reach_unknown,
    refutation,
    unknown_answer,
)

HARDEST = 1e-300  # a part with D = 0 takes all the weight


class Chain(Value):
    """The parts of a product, one after the other; by itself the end, where nothing is left to do."""

    def rebuild(self, family: Family, data: Data) -> None:
        """Each part's data and cache; nothing at the end."""

    def update(self, family: Family, data: Data, arm: int, before: float) -> None:
        """One more sample for the part that has the arm."""

    def solve(self, start: int, code: Code, free: bool) -> float:
        """The sum of 1/D from this link on; each part's weights times its 1/D are left in the link.

        ``free``: the parts choose their answers, and write them to the code.
        """
        return 0.0

    def share(self, scale: float, weights: Floats) -> None:
        """Each part's share of the samples, D/D_part, to its arms."""

    def best_evidence(self, enough: float, start: int, code: Code) -> float:
        """The least over the parts of the most evidence for an answer of theirs."""
        return math.inf

    def leading_answer(self, start: int, code: Code) -> bool:
        """Each part's own front runner, and whether all have evidence."""
        return True

    def answer_at(self, data: Data, start: int, code: Code) -> None:
        """Each part's answer at its share of the means."""

    def refute(
        self, data: Data, start: int, code: Code, penalty: float, least: float, found: Refutation
    ) -> float:
        """The least cost so far, and its model."""
        return least

    def weakest_cell(self, rule: CellEvidence, enough: float, start: int, code: Code) -> float:
        """The least evidence over the parts against a cell of their answers' alternatives."""
        return math.inf

    def first_reachable(self, level: float, spent: float, start: int, search: Search) -> float:
        """Part by part, the first answer that what is left of the level pays for."""
        return math.inf


class Link(Chain):
    """One part of a product, with its arms' data."""

    part: Problem
    family: Family
    group: Ints
    data: Data
    cache: Cache
    weights: Floats
    model: Floats
    search: Search
    found: Refutation
    tail: Chain

    def rebuild(self, family: Family, data: Data) -> None:
        self.family.update_of_arms(family, self.group)
        for k in range(self.group.size):
            self.data.counts[k] = data.counts[self.group[k]]
            self.data.means[k] = data.means[self.group[k]]
        self.part.rebuild_cache(self.family, self.data, self.cache)
        self.tail.rebuild(family, data)

    def update(self, family: Family, data: Data, arm: int, before: float) -> None:
        for k in range(self.group.size):
            if self.group[k] == arm:
                self.data.counts[k], self.data.means[k] = data.counts[arm], data.means[arm]
                self.family.update_of_arms(family, self.group)
                self.part.update_cache(self.family, self.data, self.cache, k, before)
        self.tail.update(family, data, arm, before)

    def solve(self, start: int, code: Code, free: bool) -> float:
        part, family, data, own = self.part, self.family, self.data, self.search.code
        share = code[start : start + own.size]
        if free:
            part.first_oracle(family, data, self.cache, own, self.weights)
            assign(share, own)
        else:
            assign(own, share)
            part.answer_weights(family, data, self.cache, own, self.weights)
        value = part.transport_cost(family, Data(self.weights, data.means), own, self.model)
        hard = 1.0 / max(value, HARDEST)
        for k in range(self.weights.size):
            self.weights[k] *= hard
        return hard + self.tail.solve(start + own.size, code, free)

    def share(self, scale: float, weights: Floats) -> None:
        for k in range(self.group.size):
            weights[self.group[k]] = scale * self.weights[k]
        self.tail.share(scale, weights)

    def best_evidence(self, enough: float, start: int, code: Code) -> float:
        own = self.search.code
        value = self.part.best_evidence(self.family, self.data, self.cache, enough, own)
        assign(code[start : start + own.size], own)
        if value < enough:
            return value
        rest = self.tail.best_evidence(enough, start + own.size, code)
        return value if not value >= rest else rest

    def leading_answer(self, start: int, code: Code) -> bool:
        own = self.search.code
        clear = self.part.leading_answer(self.family, self.data, self.cache, own)
        assign(code[start : start + own.size], own)
        rest = self.tail.leading_answer(start + own.size, code)
        return clear and rest

    def answer_at(self, data: Data, start: int, code: Code) -> None:
        own, mine = self.search.code, _share_of(self, data)
        self.part.answer_at(self.family, mine, self.cache, own)
        assign(code[start : start + own.size], own)
        self.tail.answer_at(data, start + own.size, code)

    def refute(
        self, data: Data, start: int, code: Code, penalty: float, least: float, found: Refutation
    ) -> float:
        own, mine = self.search.code, _share_of(self, data)
        assign(own, code[start : start + own.size])
        value = self.part.refute(self.family, mine, self.cache, own, penalty, self.found)
        if value < least:
            least = value
            assign(found.model, data.means)
            fill(found.arms, 0.0)
            for k in range(self.group.size):
                found.model[self.group[k]] = self.found.model[k]
                found.arms[self.group[k]] = self.found.arms[k]
        return self.tail.refute(data, start + own.size, code, penalty, least, found)

    def weakest_cell(self, rule: CellEvidence, enough: float, start: int, code: Code) -> float:
        own = self.search.code
        assign(own, code[start : start + own.size])
        value = self.part.weakest_cell(self.family, self.data, self.cache, own, rule, enough)
        if value < enough:
            return value
        rest = self.tail.weakest_cell(rule, enough, start + own.size, code)
        return value if not value >= rest else rest

    def first_reachable(self, level: float, spent: float, start: int, search: Search) -> float:
        part, family, data, own = self.part, self.family, self.data, self.search
        assign(own.code, search.code[start : start + own.code.size])  # a close answer may be kept
        always = search.always_close or own.always_close
        own = Search(own.order, own.code, own.point, own.trial, search.slack, always)
        barrier = spent + part.first_reachable(family, data, self.cache, level - spent, False, own)
        assign(search.code[start : start + own.code.size], own.code)
        for k in range(self.group.size):
            search.point[self.group[k]] = own.point[k]
        price = total_divergence(family, data, own.point)
        if not math.isfinite(own.point[0]):  # only a bound is known: nothing is certain to be spent
            price = 0.0
        after = start + own.code.size
        return min(barrier, self.tail.first_reachable(level, spent + price, after, search))


@jitable
def _share_of(link: Link, data: Data) -> Data:
    """The data of a part's arms, in the link's scratch space."""
    for k in range(link.group.size):
        link.weights[k] = data.counts[link.group[k]]
        link.model[k] = data.means[link.group[k]]
    return Data(link.weights, link.model)


class PartCell(Cell):
    """A cell of one part, whose arms are some of the product's. In plain Python only."""

    cell: Cell
    group: Ints

    def project(self, family: Family, data: Data, closest: Floats) -> float:
        point, own = np.zeros(self.group.size), family.of_arms(self.group)
        value = self.cell.project(own, _own(data, self.group), point)
        assign(closest, data.means)
        closest[self.group] = point
        return float(value)

    def add_hessian(self, family: Family, data: Data, closest: Floats, curve: Curve) -> None:
        group, own = self.group, family.of_arms(self.group)
        block = np.zeros((group.size, group.size))
        mine = Curve(curve.scale, block)
        self.cell.add_hessian(own, _own(data, group), closest[group], mine)
        curve.hessian[np.ix_(group, group)] += block


class Product(Problem):
    """Product([(problem, arm indices), ...]): one answer for each part, as a tuple.

    The groups of arms must be disjoint and cover 0 to K - 1. Parts may be products themselves.
    Ordered by the first part's answer, then the second's, and so on.
    """

    parts: tuple[Problem, ...]
    groups: tuple[Ints, ...]
    title = "Several questions about groups of arms"
    options = {
        "parts": Option(
            {"type": "array", "items": {"$ref": "#/$defs/part"}, "minItems": 1},
            'Such as [{"kind": "best-arm", "arms": [0, 1]}, …]',
        )
    }

    @classmethod
    def from_table(cls, name: str, options: dict[str, Any], arms: int) -> Product:
        """{kind = "product", parts = [{kind = "best-arm", arms = [0, 1]}, ...]}."""
        listed = options.get("parts")
        if not isinstance(listed, list) or not listed:
            allowed = "a list of problems, each with its list ``arms``"
            raise BadArgument(f"{name}.parts", listed, allowed)
        pairs = []
        for place, part in enumerate(listed):
            each = f"{name}.parts[{place}]"
            table = dict(spelling.table(each, part))
            group = table.pop("arms", None)
            if not isinstance(group, list) or not group:
                raise BadArgument(f"{each}.arms", group, f"a list of arms, from 0 to {arms - 1}")
            pairs.append((spelling.problem(table, len(group), each), group))
        return cls(pairs)

    def __init__(self, parts: Sequence[tuple[Problem, ArrayLike]]) -> None:
        pairs = list(parts) if isinstance(parts, tuple | list) else []
        if not pairs or not all(type(pair) in (tuple, list) and len(pair) == 2 for pair in pairs):
            raise BadArgument("parts", parts, "a list of pairs (problem, arm indices), not empty")
        groups = tuple(
            whole_vector(f"parts[{place}]", arms) for place, (_, arms) in enumerate(pairs)
        )
        for place, ((problem, arms), group) in enumerate(zip(pairs, groups, strict=True)):
            check_role(f"parts[{place}]", problem, Problem)
            if group.size != problem.arms:
                allowed = f"{problem.arms} arm indices for {problem!r}"
                raise BadArgument(f"parts[{place}]", arms, allowed)
        every = np.sort(np.concatenate(groups))
        if not np.array_equal(every, np.arange(every.size)):
            raise BadArgument(
                "parts",
                [group.tolist() for group in groups],
                f"disjoint groups of arms that cover 0 to {every.size - 1}",
            )
        self.parts = tuple(problem for problem, _ in pairs)
        self.groups = groups

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(sum(group.size for group in self.groups))

    def __repr__(self) -> str:
        return f"Product({[(problem, group.tolist()) for problem, group in self.pairs()]!r})"

    def pairs(self) -> list[tuple[Problem, Ints]]:
        """Each part with its arms."""
        return list(zip(self.parts, self.groups, strict=True))

    def init_cache(self, family: Family) -> Chain:
        chain = Chain()
        for part, group in reversed(self.pairs()):
            own = family.of_arms(group)
            a, b, c, d, e, f = (np.zeros(group.size) for _ in range(6))
            code = np.zeros(part.code_size(), dtype=np.int64)
            forced = reach_unknown(part, own)
            search = Search(part.listed_answers(), code, e, f, -1.0, forced)
            found = refutation(group.size)
            kept = part.init_cache(own)
            chain = Link(part, own, group, Data(a, b), kept, c, d, search, found, chain)
        return chain

    def rebuild_cache(self, family: Family, data: Data, cache: Chain) -> None:
        cache.rebuild(family, data)

    def update_cache(
        self, family: Family, data: Data, cache: Chain, arm: int, before: float
    ) -> None:
        cache.update(family, data, arm, before)

    def first_oracle(
        self, family: Family, data: Data, cache: Chain, code: Code, weights: Floats
    ) -> None:
        cache.share(1.0 / cache.solve(0, code, True), weights)

    def answer_weights(
        self, family: Family, data: Data, cache: Chain, code: Code, weights: Floats
    ) -> None:
        cache.share(1.0 / cache.solve(0, code, False), weights)

    def best_evidence(
        self, family: Family, data: Data, cache: Chain, enough: float, code: Code
    ) -> float:
        return cache.best_evidence(enough, 0, code)

    def leading_answer(self, family: Family, data: Data, cache: Chain, code: Code) -> bool:
        return cache.leading_answer(0, code)

    def answer_at(self, family: Family, data: Data, cache: Chain, code: Code) -> None:
        cache.answer_at(data, 0, code)

    def refute(
        self,
        family: Family,
        data: Data,
        cache: Chain,
        code: Code,
        penalty: float,
        found: Refutation,
    ) -> float:
        """The part that is the cheapest to refute; the penalty chooses within the parts."""
        return cache.refute(data, 0, code, penalty, math.inf, found)

    def weakest_cell(
        self,
        family: Family,
        data: Data,
        cache: Chain,
        code: Code,
        rule: CellEvidence,
        enough: float,
    ) -> float:
        return cache.weakest_cell(rule, enough, 0, code)

    def first_reachable(
        self, family: Family, data: Data, cache: Chain, level: float, held: bool, search: Search
    ) -> float:
        return cache.first_reachable(level, 0.0, 0, search)

    def independent_parts(self, family: Family, code: Code) -> list[Part]:
        return [
            Part(part, family.of_arms(group), group, share)
            for (part, share), group in zip(_shares(self, code), self.groups, strict=True)
        ]

    def answers(self) -> Iterator[Answer]:
        return product(*(part.answers() for part in self.parts))

    def answer_count(self) -> int:
        return 0

    def several_answers(self) -> bool:
        return any(part.several_answers() for part in self.parts)

    def answer_text(self, answer: tuple[Answer, ...], labels: Sequence[str]) -> str:
        parts = zip(self.parts, answer, self.groups, strict=True)
        return "; ".join(
            part.answer_text(each, [labels[k] for k in group]) for part, each, group in parts
        )

    def correct_answers(self, means: Floats) -> Iterator[Answer]:
        return product(*(part.correct_answers(means[group]) for part, group in self.pairs()))

    def candidates(self, family: Family, means: Floats) -> Iterator[Answer]:
        # 1/D adds over the parts, so the best answer is best in each part
        best = (part.candidates(family.of_arms(own), means[own]) for part, own in self.pairs())
        return product(*best)

    def encode(self, answer: Answer) -> Code:
        if not isinstance(answer, tuple) or len(answer) != len(self.parts):
            raise unknown_answer(self, answer)
        pairs = zip(self.parts, answer, strict=True)
        return np.concatenate([part.encode(each) for part, each in pairs])

    def decode(self, code: Code) -> Answer:
        return tuple(part.decode(share) for part, share in _shares(self, code))

    def cell_count(self, code: Code) -> int:
        return sum(part.cell_count(share) for part, share in _shares(self, code))

    def cell(self, code: Code, j: int) -> PartCell:
        for (part, share), group in zip(_shares(self, code), self.groups, strict=True):
            count = part.cell_count(share)
            if j < count:
                return PartCell(part.cell(share, j), group)
            j -= count
        raise BadArgument("j", j, f"a cell of the alternative in {self!r}")

    def check(self, family: Family) -> None:
        for part, group in self.pairs():
            part.check(family.of_arms(group))

    def pairwise_cells(self) -> bool:
        return all(part.pairwise_cells() for part in self.parts)

    def rank(self) -> int:
        return max(part.rank() for part in self.parts)

    def union_bound(self) -> int:
        return sum(part.union_bound() for part in self.parts)

    def reach(self, family: Family, data: Data, code: Code, level: float, point: Floats) -> float:
        total = 0.0
        for part, own, arms, share in self.independent_parts(family, code):
            model = np.zeros(arms.size)
            total += part.reach(own, _own(data, arms), share, level, model)
            point[arms] = model
        return total

    def code_size(self) -> int:
        return sum(part.code_size() for part in self.parts)

    def is_model(self, means: Floats) -> bool:
        return all(part.is_model(means[group]) for part, group in self.pairs())


def _shares(problem: Product, code: Code) -> list[tuple[Problem, Code]]:
    """Each part with its share of the code."""
    found, start = [], 0
    for part in problem.parts:
        size = part.code_size()
        found.append((part, code[start : start + size]))
        start += size
    return found


def _own(data: Data, arms: Ints) -> Data:
    return Data(data.counts[arms], data.means[arms])
