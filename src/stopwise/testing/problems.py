"""What every problem must satisfy, at any means, for any family that it admits."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stopwise.core.arrays import Floats
from stopwise.core.data import Data
from stopwise.core.seeds import RngLike, chosen_seed
from stopwise.families.family import Family
from stopwise.oracles.quantities import correct_answers, cost, oracle, reachable_answers, witness
from stopwise.oracles.solve import generic_solution, solution, weight_vertices
from stopwise.problems.problem import Problem
from stopwise.testing.guarantees import check_guarantee

RELATIVE = 1e-6


def check_problem(
    problem: Problem,
    family: Family,
    means: ArrayLike,
    seed: int | None = None,
    rng: RngLike | None = None,
) -> None:
    """Check costs, values, weights and witnesses of every correct answer at these means.

    What is tried is drawn from ``seed`` (by default 1) or ``rng``, see ``simulate``.
    """
    mu = np.asarray(means, dtype=np.float64)
    draws = np.random.default_rng(chosen_seed(seed, rng, 1))
    check_guarantee(problem, family, mu, draws)
    correct = correct_answers(problem, mu)
    assert correct, f"{problem} has no correct answer at {mu.tolist()}"
    for answer in correct:
        code = problem.encode(answer)
        assert problem.decode(code) == answer, f"{answer!r} does not survive its code {code}"
        _check_cost(problem, family, mu, answer, draws)
        _check_solution(problem, family, mu, answer, draws)
    _check_wrong_answers(problem, family, mu, correct)
    _check_oracle(problem, family, mu)


def _close(
    name: str, a: float, b: float, relative: float = RELATIVE, absolute: float = 1e-13
) -> None:
    good = math.isclose(a, b, rel_tol=relative, abs_tol=absolute)
    assert good, f"{name}: {a!r} and {b!r} disagree"


def _check_wrong_answers(
    problem: Problem, family: Family, mu: Floats, correct: tuple[Any, ...]
) -> None:
    """The means lie in the alternative to a wrong answer: its cost is exactly 0 (first 50 answers)."""
    weights = np.full(mu.size, 1.0 / mu.size)
    for answer in islice(problem.answers(), 50):
        if answer not in correct:
            found = cost(problem, mu, family=family, weights=weights, answer=answer)
            assert found.value == 0.0, f"{answer!r} is wrong, but costs {found.value}"
            assert np.array_equal(found.closest, mu), f"the closest model to {mu} is not itself"


def _check_cost(problem: Problem, family: Family, mu: Floats, answer: Any, rng: Any) -> None:
    """Homogeneous and concave in the weights, with the closest model in the alternative."""
    v, w = rng.dirichlet(np.ones(mu.size)), rng.dirichlet(np.ones(mu.size))
    at_w, at_v, at_7w, at_middle = (
        cost(problem, mu, family=family, weights=each, answer=answer)
        for each in (w, v, 7 * w, 0.5 * (v + w))
    )
    _close("cost(7 w) and 7 cost(w)", at_7w.value, 7 * at_w.value, 1e-9)
    middle = at_middle.value
    least = 0.5 * (at_v.value + at_w.value)
    assert middle >= least * (1 - 1e-8) - 1e-14, f"cost is not concave: {middle} < {least}"
    paid = sum(
        w[k] * family.of_arm(k).divergence(mu[k], x)
        for k, x in enumerate(at_w.closest)
        if mu[k] != x
    )
    _close("cost and what the closest model costs", at_w.value, paid, 1e-7)
    if at_w.value > 0.0:
        again = cost(problem, at_w.closest, family=family, weights=w, answer=answer).value
        assert again <= 1e-9 * at_w.value, f"the closest model is not in the alternative: {again}"


def _check_solution(problem: Problem, family: Family, mu: Floats, answer: Any, rng: Any) -> None:
    """Special and generic solver agree; weights secure the value; the witness concedes no more."""
    code = problem.encode(answer)
    special = solution(problem, family, mu, code)
    generic = generic_solution(problem, family, mu, code)
    if special.value == 0.0:
        assert generic.value <= 1e-12, f"special value 0, generic value {generic.value}"
        return
    assert special.gap <= RELATIVE, f"gap of {special.status} solution: {special.gap}"
    assert generic.gap <= RELATIVE, f"gap of generic solution: {generic.gap}"
    _close("special and generic value", special.value, generic.value)
    # corners of the generic solver's sets take many linear programs: for few arms only
    explored = special.models is None or mu.size <= 4
    found = weight_vertices(problem, family, mu, code, special) if explored else [special.weights]
    for corner in found:
        assert abs(corner.sum() - 1.0) <= 1e-12, f"weights sum to {corner.sum()}"
        assert corner.min() >= 0.0, f"weights are negative: {corner}"
        paid = cost(problem, mu, family=family, weights=corner, answer=answer).value
        _close("value and cost at its weights", paid, special.value)
    for _ in range(3):
        weights = rng.dirichlet(np.ones(mu.size))
        other = cost(problem, mu, family=family, weights=weights, answer=answer).value
        assert other <= special.upper * (1 + 1e-9), f"other weights do better: {other}"
    _check_witness(problem, family, mu, answer, special.value)


def _check_witness(problem: Problem, family: Family, mu: Floats, answer: Any, value: float) -> None:
    found = witness(problem, mu, family=family, answer=answer)
    assert len(found.models) <= mu.size, f"{len(found.models)} models for {mu.size} arms"
    assert abs(found.probabilities.sum() - 1.0) <= 1e-9, f"probabilities {found.probabilities}"
    assert found.probabilities.min() >= 0.0, f"probabilities {found.probabilities}"
    assert found.payoffs.max() <= value * (1 + RELATIVE), f"an arm earns {found.payoffs.max()}"
    uniform = np.full(mu.size, 1.0 / mu.size)
    for model in found.models:
        left = cost(problem, model, family=family, weights=uniform, answer=answer).value
        assert left <= 1e-9 * value, f"a witness model is not in the closed alternative: {left}"


def _check_oracle(problem: Problem, family: Family, mu: Floats) -> None:
    """The oracle's answers have the largest value, and the smallest region reaches them."""
    found = oracle(problem, mu, family=family)
    assert set(found.answers) <= set(found.correct), f"{found.answers} among {found.correct}"
    best = max(each.value for each in found.by_answer.values())
    _close("oracle value and best value", found.value, best)
    if found.value > 0.0:
        counts = np.full(mu.size, 100.0)
        for answer in found.answers:
            code = problem.encode(answer)
            reach = problem.reach(family, Data(counts, mu), code, 1e-9, np.zeros(mu.size))
            assert reach <= 1e-9, (
                f"oracle answer {answer!r} counts as {reach} away from its own means"
            )
        if len(found.correct) <= 50:
            reached = reachable_answers(problem, mu, family=family, counts=counts, level=1.0)
            assert set(found.answers) <= set(reached)
