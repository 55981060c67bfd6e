"""The public functions of a problem: answers, cost, evidence, oracle, witness and bounds."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.errors import BadArgument
from stopwise.core.values import check_role, needs_family
from stopwise.families.family import Family, check_means
from stopwise.families.priced import in_money, in_samples
from stopwise.oracles.bound import worst_mixture
from stopwise.oracles.lower_bound import proven_bound
from stopwise.oracles.solve import STATUSES, degenerate, find_witness, solution
from stopwise.oracles.values import Bound, Cost, Oracle, Witness
from stopwise.oracles.witness import payoff_table
from stopwise.problems.problem import Answer, Problem

P = ParamSpec("P")
R = TypeVar("R")
TIE = 1e-9  # values this close, relatively, count as one: ties are sets


def quantity(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator for public quantities, which are refused without a family.

    Numbers that leave the range of floats are infinite or 0 without a word, as in compiled code.
    """

    @needs_family
    @functools.wraps(function)
    def silent(*arguments: P.args, **options: P.kwargs) -> R:
        with np.errstate(all="ignore"):
            return function(*arguments, **options)

    return silent


def check_instance(
    problem: Problem, means: ArrayLike, family: Family, closed: bool = False
) -> Floats:
    """Means that the problem and the family allow; ``closed`` lets in whatever data can give."""
    check_role("problem", problem, Problem)
    array = check_means(means, problem.arms, family, closed)
    problem.check(family)
    if not closed and not problem.is_model(array):
        raise BadArgument(
            "means", array.tolist(), f"means among the possible models of {problem!r}"
        )
    return array


def answers(problem: Problem) -> Iterator[Answer]:
    """The problem's answers in its strict order, lazily (there may be 2^K of them)."""
    check_role("problem", problem, Problem)
    return iter(problem.answers())


def correct_answers(problem: Problem, means: ArrayLike) -> tuple[Answer, ...]:
    """i*(mu): the answers that are correct at these means, in the problem's order."""
    check_role("problem", problem, Problem)
    return tuple(problem.correct_answers(checks.vector("means", means, problem.arms)))


@quantity
def cost(
    problem: Problem, means: ArrayLike, *, family: Family, weights: ArrayLike, answer: Answer
) -> Cost:
    """D(w, mu, not i): what the cheapest model of the alternative costs, and that model."""
    mu = check_instance(problem, means, family, closed=True)
    data = Data(checks.weights("weights", weights, mu.size), mu)
    closest = np.zeros(mu.size)
    value = problem.transport_cost(family, data, problem.encode(answer), closest)
    return Cost(float(value), closest)


LISTED = 10_000  # answers that are gone through one by one


@quantity
def evidence(
    problem: Problem, means: ArrayLike, *, family: Family, counts: ArrayLike
) -> dict[Answer, float]:
    """D(N, mu-hat, not i) for each answer that has any; 0 for all others.

    An answer has evidence only where it is correct; but at estimates that are no possible models an
    answer may have evidence without being correct there, so that all are tried where they are few.
    """
    mu = check_instance(problem, means, family, closed=True)
    data, closest = Data(checks.weights("counts", counts, mu.size), mu), np.zeros(mu.size)
    correct = list(problem.correct_answers(mu))
    tried = correct
    if not problem.is_model(mu):
        tried = list(islice(problem.answers(), LISTED))
    found = {
        answer: float(problem.transport_cost(family, data, problem.encode(answer), closest))
        for answer in dict.fromkeys([*correct, *tried])
    }
    return {each: value for each, value in found.items() if value > 0.0 or each in correct}


@quantity
def oracle(
    problem: Problem, means: ArrayLike, *, family: Family, costs: float | ArrayLike | None = None
) -> Oracle:
    """The lower bound at these means: oracle answers, characteristic time and oracle weights.

    ``costs`` of a sample (one number for all arms, or one each): the cost is minimised, not the number
    of samples. Then ``time`` is a cost; ``weights`` are still shares of the samples.
    """
    mu = check_instance(problem, means, family)
    family.check_truth()
    prices = checks.costs(costs, mu.size)
    view, price = in_money(family, prices)
    correct = tuple(problem.correct_answers(mu))
    if not correct:
        raise BadArgument("means", mu.tolist(), f"means at which {problem!r} has a correct answer")
    solved = {
        answer: solution(problem, view, mu, problem.encode(answer))
        for answer in problem.candidates(view, mu)
    }
    value = max(each.value for each in solved.values())
    if value == 0.0:
        flat = degenerate(mu.size)
        chosen = solved = dict.fromkeys(correct, flat)
    else:
        chosen = {a: each for a, each in solved.items() if each.value >= value * (1.0 - TIE)}
    return Oracle(
        problem,
        family,
        mu,
        correct,
        tuple(chosen),
        max(each.value for each in chosen.values()) / price,
        tuple(in_samples(each.weights, prices) for each in chosen.values()),
        max(each.gap for each in chosen.values()),
        max((each.status for each in chosen.values()), key=STATUSES.index),
        dict(solved),
        prices,
    )


@quantity
def lower_bound(
    problem: Problem,
    means: ArrayLike,
    *,
    family: Family,
    delta: float = 0.05,
    costs: float | ArrayLike | None = None,
) -> float:
    """Expected samples that every delta-correct method needs at these means: proven at this delta.

    T* kl(delta, 1 - delta) where one answer is correct; for several see docs/lower-bound.md. With
    ``costs`` of a sample (one number for all arms, or one each) the expected cost.
    """
    mu = check_instance(problem, means, family)
    family.check_truth()
    prices = checks.costs(costs, mu.size)
    return proven_bound(problem, family, mu, checks.probability("delta", delta), prices)


@quantity
def witness(problem: Problem, means: ArrayLike, *, family: Family, answer: Answer) -> Witness:
    """Lemma 2's minimax distribution on the alternative to an answer, and the gap it certifies."""
    mu = check_instance(problem, means, family)
    code = problem.encode(answer)
    solved = solution(problem, family, mu, code)
    if solved.value == 0.0:  # the means themselves lie in the closed alternative
        return Witness(mu[None].copy(), np.ones(1), np.zeros(mu.size), 0.0, 0.0)
    models, shares = find_witness(problem, family, mu, code, solved)
    payoffs = shares @ payoff_table(family, mu, models)
    return Witness(models, shares, payoffs, solved.lower, float(payoffs.max()))


@quantity
def track_and_stop_bound(
    problem: Problem, means: ArrayLike, *, family: Family, tolerance: float = 1e-6, nodes: int = 300
) -> Bound:
    """Theorem 5: the worst 1/D(w, mu) over the convex hull of the oracle weights."""
    close, most = checks.not_negative("tolerance", tolerance), checks.whole("nodes", nodes, least=1)
    found = oracle(problem, means, family=family)
    if found.value == 0.0:
        return Bound(math.inf, math.inf, found.weights[0], math.inf)
    codes = [problem.encode(answer) for answer in found.correct]
    closest = np.zeros(found.means.size)

    def costs(weights: Floats) -> Floats:
        data = Data(weights, found.means)
        return np.array([problem.transport_cost(family, data, code, closest) for code in codes])

    corners = np.unique(np.concatenate(found.vertices), axis=0)
    worst = worst_mixture(costs, corners, close, most)
    upper = 1.0 / worst.least if worst.least > 0.0 else math.inf
    return Bound(1.0 / worst.value, upper, worst.weights, found.time)


@quantity
def reachable_answers(
    problem: Problem,
    means: ArrayLike,
    *,
    family: Family,
    counts: ArrayLike,
    level: float,
    limit: int | None = None,
) -> tuple[Answer, ...]:
    """Answers that are oracle answers at some model mu' with D(N, mu-hat, mu') <= level, in order.

    At most ``limit`` of them are looked for. Where a problem has no exact formula this is an outer
    approximation (docs/notation.md says which).
    """
    mu = check_instance(problem, means, family, closed=True)
    data = Data(checks.weights("counts", counts, mu.size), mu)
    top = checks.not_negative("level", level)
    if limit is not None:
        limit = checks.whole("limit", limit, least=0)
    return tuple(islice(problem.reachable(family, data, top), limit))


def rank(problem: Problem) -> int:
    """The most arms that a cell constrains when it holds the truth and an answer is wrong."""
    check_role("problem", problem, Problem)
    return int(problem.rank())


def union_bound(problem: Problem) -> int:
    """How many cells can be to blame for a wrong answer at one truth."""
    check_role("problem", problem, Problem)
    return int(problem.union_bound())
