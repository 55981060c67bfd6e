"""Several independent questions about disjoint groups of arms, answered together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stopwise.checks import Floats, whole_vector
from stopwise.errors import BadArgument
from stopwise.problems import base
from stopwise.problems.base import Answer, Code
from stopwise.values import value

Arms = NDArray[np.int64]


class _Product(NamedTuple):
    parts: tuple[Any, ...]
    groups: tuple[Arms, ...]


@value
class Product(_Product):
    """Product([(problem, arm indices), ...]): one answer for each part, as a tuple.

    The groups of arms must be disjoint and cover 0 to K - 1. Parts may be products themselves.
    Ordered by the first part's answer, then the second's, and so on.
    """

    __slots__ = ()

    def __new__(cls, parts: Sequence[tuple[Any, ArrayLike]]) -> Product:
        pairs = list(parts) if isinstance(parts, tuple | list) else []
        if not pairs or not all(type(pair) in (tuple, list) and len(pair) == 2 for pair in pairs):
            raise BadArgument("parts", parts, "a list of pairs (problem, arm indices), not empty")
        groups = tuple(
            whole_vector(f"parts[{place}]", arms) for place, (_, arms) in enumerate(pairs)
        )
        for place, ((problem, arms), group) in enumerate(zip(pairs, groups, strict=True)):
            if group.size != base.arm_count(problem):
                raise BadArgument(
                    f"parts[{place}]",
                    arms,
                    f"{base.arm_count(problem)} arm indices for {problem!r}",
                )
        every = np.sort(np.concatenate(groups))
        if not np.array_equal(every, np.arange(every.size)):
            raise BadArgument(
                "parts",
                [group.tolist() for group in groups],
                f"disjoint groups of arms that cover 0 to {every.size - 1}",
            )
        return super().__new__(cls, tuple(problem for problem, _ in pairs), groups)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (list(zip(self.parts, self.groups, strict=True)),)

    def __repr__(self) -> str:
        pairs = zip(self.parts, self.groups, strict=True)
        return f"Product({[(problem, group.tolist()) for problem, group in pairs]!r})"


def factors(problem: Product, code: Code) -> Iterator[tuple[Any, Arms, Code]]:
    """Each part with its arms and its share of the code."""
    start = 0
    for part, group in zip(problem.parts, problem.groups, strict=True):
        size = base.code_size(part)
        yield part, group, code[start : start + size]
        start += size


@base.arm_count.register(Product)
def _arm_count(problem: Product) -> int:
    return int(sum(group.size for group in problem.groups))


@base.answers.register(Product)
def _answers(problem: Product) -> Iterator[Answer]:
    return product(*(base.answers(part) for part in problem.parts))


def _combine(problem: Product, means: Floats, verb: Any) -> Iterator[Answer]:
    pairs = zip(problem.parts, problem.groups, strict=True)
    return product(*(verb(part, means[group]) for part, group in pairs))


@base.correct_answers.register(Product)
def _correct_answers(problem: Product, means: Floats) -> Iterator[Answer]:
    return _combine(problem, means, base.correct_answers)


@base.candidates.register(Product)
def _candidates(problem: Product, means: Floats) -> Iterator[Answer]:
    # 1/D adds over the parts, so the best answer is best in each part
    return _combine(problem, means, base.candidates)


@base.encode.register(Product)
def _encode(problem: Product, answer: Any) -> Code:
    if not isinstance(answer, tuple) or len(answer) != len(problem.parts):
        raise base.unknown_answer(problem, answer)
    pairs = zip(problem.parts, answer, strict=True)
    return np.concatenate([base.encode(part, each) for part, each in pairs])


@base.decode.register(Product)
def _decode(problem: Product, code: Code) -> Answer:
    return tuple(base.decode(part, share) for part, _, share in factors(problem, code))


@base.cell_count.register(Product)
def _cell_count(problem: Product, code: Code) -> int:
    return sum(base.cell_count(part, share) for part, _, share in factors(problem, code))


def locate(problem: Product, code: Code, cell: int) -> tuple[Any, Arms, Code, int]:
    """The part that a cell belongs to, with the cell's place in it."""
    for part, group, share in factors(problem, code):
        count = base.cell_count(part, share)
        if cell < count:
            return part, group, share, cell
        cell -= count
    raise BadArgument("cell", cell, f"a cell of the alternative in {problem!r}")


@base.project.register(Product)
def _project(
    problem: Product,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    part, group, share, inner = locate(problem, code, cell)
    point = np.zeros(group.size)
    value = base.project(part, family, weights[group], means[group], share, inner, point)
    closest[:] = means
    closest[group] = point
    return float(value)


@base.add_hessian.register(Product)
def _add_hessian(
    problem: Product,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    part, group, share, inner = locate(problem, code, cell)
    block = np.zeros((group.size, group.size))
    base.add_hessian(
        part, family, weights[group], means[group], share, inner, closest[group], scale, block
    )
    hessian[np.ix_(group, group)] += block


@base.check.register(Product)
def _check(problem: Product, family: Any) -> None:
    for part in problem.parts:
        base.check(part, family)


@base.rank.register(Product)
def _rank(problem: Product) -> int:
    return max(base.rank(part) for part in problem.parts)


@base.events.register(Product)
def _events(problem: Product) -> int:
    return sum(base.events(part) for part in problem.parts)


@base.reach.register(Product)
def _reach(
    problem: Product,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    total = 0.0
    for part, group, share in factors(problem, code):
        own = np.zeros(group.size)
        total += base.reach(part, family, counts[group], means[group], share, level, own)
        point[group] = own
    return total


@base.code_size.register(Product)
def _code_size(problem: Product) -> int:
    return sum(base.code_size(part) for part in problem.parts)


@base.is_model.register(Product)
def _is_model(problem: Product, means: Floats) -> bool:
    pairs = zip(problem.parts, problem.groups, strict=True)
    return all(base.is_model(part, means[group]) for part, group in pairs)
