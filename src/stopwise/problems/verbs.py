"""What an identification problem knows: every verb, once.

A problem is an immutable value. Its answers have a strict order and are coded as short arrays of
whole numbers, so that compiled code can hold one. The alternative to an answer is a union of
cells; ``project`` gives the closest model in one of them. A problem registers ``answers``,
``correct_answers``, ``cell_count``, ``project``, ``rank`` and ``union_bound``; the rest has defaults.

Arguments come in one order: problem, family, data (or means), what the problem keeps, answer, and
last what is written to. Verbs with a family dispatch on both. What one round asks is in rounds.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from stopwise.cells.shape import Shape, other_shape
from stopwise.core.arrays import Floats, Ints, assign
from stopwise.core.data import Curve, Data
from stopwise.core.errors import BadArgument, MissingVerb
from stopwise.core.verbs import verb
from stopwise.families.verbs import divergence, of_arm

Answer = Hashable
Code = Ints  # of an answer


# ------------------------------------------------------------------------------------ the question


@verb
def answers(problem: Any) -> Iterator[Answer]:
    """The answers, in the problem's strict order (lazily: there may be 2^K of them)."""
    raise MissingVerb("answers", problem)


@verb
def correct_answers(problem: Any, means: Floats) -> Iterator[Answer]:
    """i*(mu): the answers that are correct at these means, in order."""
    raise MissingVerb("correct_answers", problem)


def equal(known: Answer, given: Any) -> bool:
    """Whether an answer is the one that is meant; what cannot be compared is not."""
    try:
        return bool(known == given)
    except Exception:  # a table, or whatever a stranger's object raises
        return False


@verb
def encode(problem: Any, answer: Answer) -> Code:
    """The answer's code: by default its place in the order."""
    if isinstance(answer, np.ndarray | bool):
        raise unknown_answer(problem, answer)
    for place, known in enumerate(answers(problem)):
        if equal(known, answer):
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
    """How many answers there are, where the code is the place in the order; 0: never listed."""
    return sum(1 for _ in answers(problem))


@verb
def code_size(problem: Any) -> int:
    """How many whole numbers code an answer."""
    return 1


@verb
def several_answers(problem: Any) -> bool:
    """Whether a model may have several correct answers (but for ties)."""
    return True


@verb
def is_model(problem: Any, means: Floats) -> bool:
    """Whether the means lie in M, the set of possible models."""
    return True


@verb(on=2)
def check(problem: Any, family: Any) -> None:
    """Refuse a family for which the problem is not solved, or makes no sense."""


@verb
def rank(problem: Any) -> int:
    """The most arms that a cell, holding the truth when an answer is wrong, constrains."""
    raise MissingVerb("rank", problem)


@verb
def union_bound(problem: Any) -> int:
    """How many cells can be to blame for a wrong answer at one truth: events in the union bound."""
    raise MissingVerb("union_bound", problem)


@verb
def grows(problem: Any) -> bool:
    """Whether arms may be added meanwhile: each arm has one cell to blame, whatever arms come later."""
    return False


@verb
def adaptive_bound(problem: Any, first: int) -> int:
    """``union_bound`` where all arms but the ``first`` ones were added, each because of samples."""
    return int(union_bound(problem))


@verb
def features(problem: Any) -> Floats:
    """A row for each arm, if means are linear in known features; by default no rows."""
    return np.zeros((0, 0))


# ---------------------------------------------------------------------------------------- in words


@verb
def asked(problem: Any) -> str:
    """The question, with its numbers; by default its title."""
    return problem.title or f"What is the answer of {type(problem).__name__}?"


@verb
def named(problem: Any, answer: Any) -> tuple[int, ...]:
    """The arms that an answer singles out, which pictures mark; by default none."""
    return ()


@verb
def sense(problem: Any) -> int:
    """Whether arms compete for the highest mean (1), for the lowest (-1), or not at all (0)."""
    return 0


@verb
def contest(problem: Any) -> float:
    """Whether the arms are the answers, and compete for the highest mean (1) or the lowest (-1).

    Then cell j of answer i lets the j-th of the other arms overtake arm i. By default 0: they are not.
    """
    return 0.0


@verb
def with_slack(problem: Any, slack: float) -> Any:
    """The same question where an answer may be that much further from the best; None: there is none."""
    return None


@verb
def in_words(problem: Any, answer: Any, labels: Sequence[str]) -> str:
    """What an answer says about the arms, by their labels."""
    return str(answer)


@verb
def tie(problem: Any, means: Floats) -> tuple[str, str]:
    """Why no test can end at these means, where D = 0, and what to do about it."""
    correct = " and ".join(repr(answer) for answer in list(correct_answers(problem, means))[:4])
    return f"the means lie on the boundary of the answer {correct}", OFF_THE_BOUNDARY


OFF_THE_BOUNDARY = "Guess means off the boundary, or give a range as (low, high)."


# ----------------------------------------------------------------------------------------- costs


@verb
def cell_count(problem: Any, code: Code) -> int:
    """How many cells the alternative to this answer has."""
    raise MissingVerb("cell_count", problem)


@verb
def shape(problem: Any, code: Code, cell: int) -> Shape:
    """What one cell constrains, if that is one arm or two: stopping rules then need fewer samples."""
    return other_shape()


@verb
def simple(problem: Any) -> bool:
    """Whether no cell has another shape than those of cells/shape.py: less to compile."""
    return False


@verb(on=2, allocates=True)
def project(problem: Any, family: Any, data: Data, code: Code, cell: int, closest: Floats) -> float:
    """Write the closest model of one cell into ``closest`` and return its cost."""
    raise MissingVerb("project", problem)


@verb(on=2, inline=True)
def cost_floor(problem: Any, family: Any, data: Data, code: Code, cell: int) -> float:
    """A lower bound on the cost of one cell that takes no time; by default 0."""
    return 0.0


@verb(on=2, allocates=True)
def add_hessian(
    problem: Any, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    """Add scale times the second derivative of a cell's cost in the weights.

    By default from differences of the first derivative, which is d(mu_k, closest_k).
    """
    weights, means = data
    scale, hessian = curve
    count = means.size
    point = np.zeros(count)
    for j in range(count):
        step = 1e-5 * weights[j]
        if step == 0.0:
            continue
        moved = weights.copy()
        for side in (-1.0, 1.0):
            moved[j] = weights[j] + side * step
            project(problem, family, Data(moved, means), code, cell, point)
            for k in range(count):
                slope = divergence(of_arm(family, k), means[k], point[k])
                if math.isfinite(slope):
                    hessian[k, j] += scale * side * slope / (4.0 * step)
                    hessian[j, k] += scale * side * slope / (4.0 * step)


def no_hessian(
    problem: Any, family: Any, data: Data, code: Code, cell: int, closest: Floats, curve: Curve
) -> None:
    """For cells that bound arms one by one: their cost is linear in the weights."""


@verb(on=2, allocates=True)
def cost(problem: Any, family: Any, data: Data, code: Code, closest: Floats) -> float:
    """D(w, mu, not i) and its closest model: the cheapest of the cells."""
    best, point = math.inf, np.zeros(closest.size)
    assign(closest, data.means)
    for cell in range(cell_count(problem, code)):
        value = project(problem, family, data, code, cell, point)
        if value < best:
            best = value
            assign(closest, point)
    return best


@verb(on=2, allocates=True)
def mixed_evidence(
    problem: Any, family: Any, data: Data, code: Code, cell: int, gap: float
) -> float:
    """log of a mixture of likelihood ratios against the least favourable model in a cell, normal arms.

    The prior's standard deviation is ``gap`` times an arm's. nan: arms are mixed one by one.
    """
    return math.nan


# ------------------------------------------------------------------------ closed forms, and solutions


@verb(on=2, allocates=True)
def optimise(problem: Any, family: Any, means: Floats, code: Code, weights: Floats) -> float:
    """The value of an answer and, written to ``weights``, its oracle weights; nan: no closed form."""
    return math.nan


@verb(on=2, allocates=True)
def models(problem: Any, family: Any, data: Data, code: Code) -> Floats:
    """Models of the alternative that hold a witness at oracle weights: each cell's closest one."""
    found = np.zeros((cell_count(problem, code), data.means.size))
    for cell in range(len(found)):
        project(problem, family, data, code, cell, found[cell])
    return found


@verb(on=2, allocates=True)
def upper_bound(problem: Any, family: Any, data: Data, code: Code) -> float:
    """What the witness at these weights concedes, an upper bound on the value; nan: see oracles."""
    return math.nan


@verb(on=2)
def vertices(problem: Any, family: Any, data: Data, code: Code) -> Floats:
    """The corners of the set of oracle weights, one row each, where there is a closed form."""
    return data.counts[None].copy()


class Part(NamedTuple):
    """A question that is part of a problem: its arms, and its share of the answer's code."""

    problem: Any
    family: Any
    arms: Ints
    code: Code


@verb(on=2)
def parts(problem: Any, family: Any, code: Code) -> list[Part]:
    """Independent questions about disjoint arms that make up the problem: 1/D adds up over them."""
    return []


@verb(on=2)
def candidates(problem: Any, family: Any, means: Floats) -> Iterator[Answer]:
    """Answers among which the oracle answers are sure to be; by default the correct ones."""
    return correct_answers(problem, means)


# ------------------------------------------------------------------------------- reachable answers


@verb(on=2, allocates=True)
def reach(problem: Any, family: Any, data: Data, code: Code, level: float, point: Floats) -> float:
    """The least D(N, mu-hat, mu') over models mu' at which this is an oracle answer.

    Written to ``point`` is such a model. Or a lower bound, which may look at the level that it will be
    compared with; then ``point`` is nan. By default 0: every answer counts as reachable.
    """
    point[0] = math.nan
    return 0.0


@verb(on=2)
def reachable(problem: Any, family: Any, data: Data, level: float) -> Iterator[Answer]:
    """The reachable answers, in order; by default every answer is tried."""
    point = np.zeros(data.means.size)
    for answer in answers(problem):
        if reach(problem, family, data, encode(problem, answer), level, point) <= level:
            yield answer


def unknown_answer(problem: Any, answer: object) -> BadArgument:
    """The error for something that is not one of the problem's answers."""
    listed = [repr(known) for known in islice(answers(problem), 6)]
    if len(listed) == 6:
        listed.append("...")
    return BadArgument("answer", answer, f"an answer of {problem!r}: {', '.join(listed)}")
