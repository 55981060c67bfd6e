"""Several independent questions about disjoint groups of arms, answered together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core import spelling
from stopwise.core.arrays import Floats, Ints, assign
from stopwise.core.checks import whole_vector
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument
from stopwise.core.options import Option
from stopwise.core.values import Problem, check_role
from stopwise.families.verbs import of_group
from stopwise.problems import verbs
from stopwise.problems.verbs import Answer, Code, Part


class _Product(NamedTuple):
    parts: tuple[Any, ...]
    groups: tuple[Ints, ...]


class Product(_Product, Problem):
    """Product([(problem, arm indices), ...]): one answer for each part, as a tuple.

    The groups of arms must be disjoint and cover 0 to K - 1. Parts may be products themselves.
    Ordered by the first part's answer, then the second's, and so on.
    """

    __slots__ = ()
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

    def __new__(cls, parts: Sequence[tuple[Any, ArrayLike]]) -> Product:
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
        return super().__new__(cls, tuple(problem for problem, _ in pairs), groups)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(sum(group.size for group in self.groups))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (list(zip(self.parts, self.groups, strict=True)),)

    def __repr__(self) -> str:
        pairs = zip(self.parts, self.groups, strict=True)
        return f"Product({[(problem, group.tolist()) for problem, group in pairs]!r})"


@verbs.parts.register(Product)
def _parts(problem: Product, family: Any, code: Code) -> list[Part]:
    found, start = [], 0
    for part, group in zip(problem.parts, problem.groups, strict=True):
        size = verbs.code_size(part)
        share = code[start : start + size]
        found.append(Part(part, of_group(family, group), group, share))
        start += size
    return found


def _shares(problem: Product, code: Code) -> list[tuple[Any, Code]]:
    """Each part with its share of the code."""
    return [(part.problem, part.code) for part in _parts(problem, None, code)]


@verbs.answers.register(Product)
def _answers(problem: Product) -> Iterator[Answer]:
    return product(*(verbs.answers(part) for part in problem.parts))


verbs.answer_count.register(Product)(lambda problem: 0)


@verbs.several_answers.register(Product)
def _several_answers(problem: Product) -> bool:
    return any(verbs.several_answers(part) for part in problem.parts)


@verbs.in_words.register(Product)
def _in_words(problem: Product, answer: Any, labels: Sequence[str]) -> str:
    parts = zip(problem.parts, answer, problem.groups, strict=True)
    return "; ".join(
        verbs.in_words(part, each, [labels[k] for k in group]) for part, each, group in parts
    )


@verbs.correct_answers.register(Product)
def _correct_answers(problem: Product, means: Floats) -> Iterator[Answer]:
    pairs = zip(problem.parts, problem.groups, strict=True)
    return product(*(verbs.correct_answers(part, means[group]) for part, group in pairs))


@verbs.candidates.register(Product)
def _candidates(problem: Product, family: Any, means: Floats) -> Iterator[Answer]:
    # 1/D adds over the parts, so the best answer is best in each part
    pairs = zip(problem.parts, problem.groups, strict=True)
    return product(
        *(verbs.candidates(part, of_group(family, group), means[group]) for part, group in pairs)
    )


@verbs.encode.register(Product)
def _encode(problem: Product, answer: Any) -> Code:
    if not isinstance(answer, tuple) or len(answer) != len(problem.parts):
        raise verbs.unknown_answer(problem, answer)
    pairs = zip(problem.parts, answer, strict=True)
    return np.concatenate([verbs.encode(part, each) for part, each in pairs])


@verbs.decode.register(Product)
def _decode(problem: Product, code: Code) -> Answer:
    return tuple(verbs.decode(part, share) for part, share in _shares(problem, code))


@verbs.cell_count.register(Product)
def _cell_count(problem: Product, code: Code) -> int:
    return sum(verbs.cell_count(part, share) for part, share in _shares(problem, code))


def _locate(problem: Product, family: Any, code: Code, cell: int) -> tuple[Part, int]:
    """The part that a cell belongs to, with the cell's place in it."""
    for part in _parts(problem, family, code):
        count = verbs.cell_count(part.problem, part.code)
        if cell < count:
            return part, cell
        cell -= count
    raise BadArgument("cell", cell, f"a cell of the alternative in {problem!r}")


def _own(data: Data, arms: Ints) -> Data:
    return Data(data.counts[arms], data.means[arms])


@verbs.project.register(Product)
def _project(
    problem: Product, family: Any, data: Data, code: Code, cell: int, closest: Floats
) -> float:
    (part, own, arms, share), inner = _locate(problem, family, code, cell)
    point = np.zeros(arms.size)
    value = verbs.project(part, own, _own(data, arms), share, inner, point)
    assign(closest, data.means)
    closest[arms] = point
    return float(value)


@verbs.add_hessian.register(Product)
def _add_hessian(
    problem: Product, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    (part, own, arms, share), inner = _locate(problem, family, code, cell)
    block = np.zeros((arms.size, arms.size))
    mine = Curve(curve.scale, block)
    verbs.add_hessian(part, own, _own(data, arms), share, inner, closest[arms], mine)
    curve.hessian[np.ix_(arms, arms)] += block


@verbs.check.register(Product)
def _check(problem: Product, family: Any) -> None:
    for part, group in zip(problem.parts, problem.groups, strict=True):
        verbs.check(part, of_group(family, group))


verbs.simple.register(Product)(lambda problem: all(verbs.simple(part) for part in problem.parts))
verbs.rank.register(Product)(lambda problem: max(verbs.rank(part) for part in problem.parts))


@verbs.union_bound.register(Product)
def _union_bound(problem: Product) -> int:
    return sum(verbs.union_bound(part) for part in problem.parts)


@verbs.reach.register(Product)
def _reach(
    problem: Product, family: Any, data: Data, code: Code, level: float, point: Floats
) -> float:
    total = 0.0
    for part, own, arms, share in _parts(problem, family, code):
        model = np.zeros(arms.size)
        total += verbs.reach(part, own, _own(data, arms), share, level, model)
        point[arms] = model
    return total


@verbs.code_size.register(Product)
def _code_size(problem: Product) -> int:
    return sum(verbs.code_size(part) for part in problem.parts)


@verbs.is_model.register(Product)
def _is_model(problem: Product, means: Floats) -> bool:
    pairs = zip(problem.parts, problem.groups, strict=True)
    return all(verbs.is_model(part, means[group]) for part, group in pairs)
