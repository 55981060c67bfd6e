"""What an identification problem knows: the verbs, and what follows from them.

A problem is an immutable value. Its answers have a strict order and are coded as short arrays of
whole numbers, so that compiled code can hold one. The alternative to an answer is a union of
cells; ``project`` gives the closest model in one of them. A problem registers ``arm_count``,
``answers``, ``correct_answers``, ``cell_count``, ``project``, ``rank`` and ``events``; the rest has
defaults.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stopwise.arrays import assign
from stopwise.checks import Floats
from stopwise.errors import BadArgument, MissingVerb, NotDefined
from stopwise.families.base import convex, divergence, interval
from stopwise.verbs import verb

Answer = Hashable
Code = NDArray[np.int64]


@verb
def arm_count(problem: Any) -> int:
    """K, the number of arms."""
    raise MissingVerb("arm_count", problem)


@verb
def answers(problem: Any) -> Iterator[Answer]:
    """The answers, in the problem's strict order (lazily: there may be 2^K of them)."""
    raise MissingVerb("answers", problem)


@verb
def correct_answers(problem: Any, means: Floats) -> Iterator[Answer]:
    """i*(mu): the answers that are correct at these means, in order."""
    raise MissingVerb("correct_answers", problem)


@verb
def encode(problem: Any, answer: Answer) -> Code:
    """The answer's code: by default its place in the order."""
    if isinstance(answer, np.ndarray | bool):
        raise unknown_answer(problem, answer)
    for place, known in enumerate(answers(problem)):
        if known == answer:
            return np.array([place], dtype=np.int64)
    raise unknown_answer(problem, answer)


@verb
def decode(problem: Any, code: Code) -> Answer:
    """The answer with this code."""
    for place, answer in enumerate(answers(problem)):
        if place == code[0]:
            return answer
    raise BadArgument("code", code, f"the code of an answer of {problem!r}")


@verb
def answer_count(problem: Any) -> int:
    """How many answers there are, for problems whose code is the place in the order; else 0."""
    return 0


@verb
def code_size(problem: Any) -> int:
    """How many whole numbers code an answer."""
    return 1


@verb
def cell_count(problem: Any, code: Code) -> int:
    """How many cells the alternative to this answer has."""
    raise MissingVerb("cell_count", problem)


@verb(allocates=True)
def project(
    problem: Any,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
) -> float:
    """Write the closest model of one cell into ``closest`` and return its cost."""
    raise MissingVerb("project", problem)


@verb(allocates=True)
def add_hessian(
    problem: Any,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    """Add scale times the second derivative of a cell's cost in the weights.

    By default from differences of the first derivative, which is d(mu_k, closest_k).
    """
    count = means.size
    point = np.zeros(count)
    for j in range(count):
        step = 1e-5 * weights[j]
        if step == 0.0:
            continue
        moved = weights.copy()
        for side in (-1.0, 1.0):
            moved[j] = weights[j] + side * step
            project(problem, family, moved, means, code, cell, point)
            for k in range(count):
                slope = divergence(family, means[k], point[k])
                if math.isfinite(slope):
                    hessian[k, j] += scale * side * slope / (4.0 * step)
                    hessian[j, k] += scale * side * slope / (4.0 * step)


def no_hessian(
    problem: Any,
    family: Any,
    weights: Floats,
    means: Floats,
    code: Code,
    cell: int,
    closest: Floats,
    scale: float,
    hessian: Floats,
) -> None:
    """For cells that bound arms one by one: their cost is linear in the weights."""


@verb(allocates=True)
def cost(
    problem: Any, family: Any, weights: Floats, means: Floats, code: Code, closest: Floats
) -> float:
    """D(w, mu, not i) and its closest model: the cheapest of the cells."""
    best, point = math.inf, np.zeros(means.size)
    assign(closest, means)
    for cell in range(cell_count(problem, code)):
        value = project(problem, family, weights, means, code, cell, point)
        if value < best:
            best = value
            assign(closest, point)
    return best


@verb
def check(problem: Any, family: Any) -> None:
    """Refuse a family for which the problem is not solved, or makes no sense."""


@verb
def is_model(problem: Any, means: Floats) -> bool:
    """Whether the means lie in M, the set of possible models."""
    return True


@verb
def rank(problem: Any) -> int:
    """The most arms that a cell, holding the truth when an answer is wrong, constrains."""
    raise MissingVerb("rank", problem)


@verb
def events(problem: Any) -> int:
    """How many cells can be to blame for a wrong answer at one truth: the union bound's size."""
    raise MissingVerb("events", problem)


@verb
def candidates(problem: Any, means: Floats) -> Iterator[Answer]:
    """Answers among which the oracle answers are sure to be; by default the correct ones."""
    return correct_answers(problem, means)


@verb(allocates=True)
def reach(
    problem: Any,
    family: Any,
    counts: Floats,
    means: Floats,
    code: Code,
    level: float,
    point: Floats,
) -> float:
    """The least D(N, mu-hat, mu') over models mu' at which this is an oracle answer.

    Written to ``point`` is such a model. Or a lower bound, which may look at the level that it will be
    compared with; then ``point`` is nan. By default 0: every answer counts as reachable.
    """
    point[0] = math.nan
    return 0.0


@verb
def reachable(
    problem: Any, family: Any, counts: Floats, means: Floats, level: float
) -> Iterator[Answer]:
    """The reachable answers, in order; by default every answer is tried."""
    point = np.zeros(means.size)
    for answer in answers(problem):
        if reach(problem, family, counts, means, encode(problem, answer), level, point) <= level:
            yield answer


def nearly(means: Floats, extreme: float) -> Any:
    """Which means equal the extreme one but for rounding (a tie is decided on the values)."""
    return np.abs(means - extreme) <= 1e-9 * max(1.0, abs(float(extreme)))


def unknown_answer(problem: Any, answer: object) -> BadArgument:
    """The error for something that is not one of the problem's answers."""
    listed = []
    for known in answers(problem):
        listed.append(repr(known))
        if len(listed) == 6:
            listed.append("...")
            break
    return BadArgument("answer", answer, f"an answer of {problem!r}: {', '.join(listed)}")


def inside(name: str, limit: float, problem: Any, family: Any) -> None:
    """Refuse a limit that no mean of the family can be on both sides of."""
    low, high = interval(family)
    if not low < limit < high:
        raise BadArgument(
            name,
            limit,
            f"a number inside the interval of means of {family!r}, ({low:g}, {high:g})",
            f"Otherwise the answer to {problem!r} is known without a sample.",
        )


def needs_convexity(what: str, family: Any) -> None:
    """Refuse general half-spaces for families whose divergence is not convex in the mean."""
    if not convex(family):
        raise NotDefined(
            f"{what} with {family!r}: d(mu, lambda) is not convex in lambda for this family, so the "
            "closest model could be a false minimum. Allowed: Gaussian, Bernoulli, Binomial, "
            "Bounded, Poisson; or cells that bound one arm or compare two with a margin >= 0."
        )
