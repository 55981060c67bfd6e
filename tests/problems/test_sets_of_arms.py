"""The best m arms, and arms against a control: what rounds answer without listing, listed here."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.core.data import Data
from stopwise.problems.lowest import Lowest
from stopwise.problems.problem import Search

PROBLEMS = [
    sw.TopArms(5, 2),
    sw.TopArms(5, 2, 0.2),
    sw.TopArms(6, 3, 0.05),
    sw.TopArms(5, 4, 0.1, goal="min"),
    sw.BetterThan(4, 2),
    sw.BetterThan(4, 0, 0.2),
    sw.BetterThan(5, 1, 0.1, goal="min"),
    sw.AnyBetterThan(4, 1),
    sw.AnyBetterThan(4, 0, 0.2),
    sw.AnyBetterThan(4, 3, 0.1, goal="min"),
]
FAMILIES = [sw.Gaussian(), sw.Bernoulli(), sw.Exponential()]


def some_data(arms: int, rng: Any, spread: float = 4.0) -> Data:
    counts = np.floor(np.exp(rng.uniform(1.0, 1.0 + spread, arms)))
    return Data(counts, np.round(rng.uniform(0.1, 0.9, arms), 3))


def right(problem: Any, answer: Any, means: Any) -> bool:
    """The definitions, written out once more."""
    if isinstance(problem, Lowest):
        return right(problem.problem, answer, -means)
    if isinstance(problem, sw.TopArms):
        rest = [k for k in range(problem.arms) if k not in answer]
        return bool(means[list(answer)].min() >= means[rest].max() - problem.epsilon)
    ahead = means - means[problem.control]
    if isinstance(problem, sw.AnyBetterThan) and answer != "none":
        return bool(ahead[answer] >= 0.0)
    named = [] if answer == "none" else list(answer)
    return bool(np.all(ahead[named] >= 0.0) and np.all(np.delete(ahead, named) <= problem.epsilon))


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_correct_answers_are_those_of_the_definition(problem: Any) -> None:
    rng = np.random.default_rng(4)
    listed = list(sw.answers(problem))
    assert len(set(listed)) == len(listed)
    for _ in range(50):
        means = np.round(rng.uniform(0.0, 1.0, problem.arms), 1)  # ties, too
        if not isinstance(problem, sw.TopArms):
            means += 1e-3 * rng.integers(2) * rng.normal(size=problem.arms)
        expected = [answer for answer in listed if right(problem, answer, means)]
        assert list(sw.correct_answers(problem, means)) == expected, means


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_a_round_finds_what_a_list_of_all_answers_gives(problem: Any, family: Any) -> None:
    """The most evidence, the oracle's answer and its weights, and the first reachable answer."""
    rng, listed = np.random.default_rng(6), list(sw.answers(problem))
    codes = [problem.encode(answer) for answer in listed]
    for _ in range(6):
        data, closest = some_data(problem.arms, rng), np.zeros(problem.arms)
        sketch = problem.init_cache(family)
        problem.rebuild_cache(family, data, sketch)
        code, weights = codes[0].copy(), np.zeros(problem.arms)
        costs = [problem.transport_cost(family, data, each, closest) for each in codes]
        found = problem.best_evidence(family, data, sketch, 0.0, code)
        assert found == pytest.approx(max(costs), rel=1e-9)
        assert problem.transport_cost(family, data, code, closest) == pytest.approx(found, rel=1e-9)
        problem.first_oracle(family, data, sketch, code, weights)
        oracle = sw.oracle(problem, data.means, family=family)
        assert problem.transport_cost(
            family, Data(weights, data.means), code, closest
        ) == pytest.approx(oracle.value, rel=1e-6)
        for level in (0.5, 3.0):
            reached = sw.reachable_answers(
                problem, data.means, family=family, counts=data.counts, level=level
            )
            search = Search(
                problem.listed_answers(), codes[0].copy(), np.zeros(problem.arms), closest
            )
            barrier = problem.first_reachable(family, data, sketch, level, False, search)
            assert problem.decode(search.code) == reached[0]
            assert barrier > level
            assert set(oracle.answers) <= set(reached)


def test_evidence_by_sets_is_nearly_always_the_most() -> None:
    """With epsilon and very unequal counts another set than the largest means may have more."""
    rng, problem, family = np.random.default_rng(8), sw.TopArms(6, 3, 0.3), sw.Gaussian()
    codes = [problem.encode(answer) for answer in sw.answers(problem)]
    first = same = 0
    for _ in range(150):
        data, closest = some_data(6, rng, spread=7.0), np.zeros(6)
        sketch, code = problem.init_cache(family), codes[0].copy()
        found = problem.best_evidence(family, data, sketch, 0.0, code)
        best = max(problem.transport_cost(family, data, each, closest) for each in codes)
        top = np.zeros(6, dtype=np.int64)
        top[np.argsort(data.means)[-3:]] = 1
        first += problem.transport_cost(family, data, top, closest) >= best * (1 - 1e-9)
        same += found >= best * (1 - 1e-9)
        assert found <= best * (1 + 1e-9)
    assert first < same
    assert same == 150


def test_twenty_arms_are_not_listed() -> None:
    """15,504 sets of five, and 2^39 sets against a control: what follows would not end."""
    rng = np.random.default_rng(2)
    means = np.linspace(0.0, 3.0, 20)
    for problem in (sw.TopArms(20, 5), sw.TopArms(20, 5, 0.1)):
        found = sw.oracle(problem, means, family=sw.Gaussian())
        assert found.answers == ((15, 16, 17, 18, 19),)
        assert found.gap <= 1e-6
    many = sw.BetterThan(40, 7)
    found = sw.oracle(many, rng.permutation(np.linspace(0.0, 3.0, 40)), family=sw.Gaussian())
    assert found.gap <= 1e-6
    data = Data(np.full(40, 50.0), np.linspace(0.0, 3.0, 40))
    reached = sw.reachable_answers(
        many, data.means, family=sw.Gaussian(), counts=data.counts, level=2.0, limit=3
    )
    assert len(reached) == 3


def test_gaussian_weights_against_a_control() -> None:
    """w_0 = sqrt(sum of the others' squares) where variances are equal, whatever the sides."""
    found = sw.oracle(sw.BetterThan(4), [0.1, 0.2, 0.3, -0.4], family=sw.Gaussian())
    control, *others = found.weights[0]
    assert control == pytest.approx(np.linalg.norm(others), rel=1e-6)


def test_top_arms_with_one_or_all_but_one_is_the_best_or_the_worst_arm() -> None:
    means = [0.3, 0.5, 0.1, 0.45]
    best = sw.oracle(sw.BestArm(4), means, family=sw.Bernoulli())
    top = sw.oracle(sw.TopArms(4, 1), means, family=sw.Bernoulli())
    assert top.answers == ((1,),)
    assert top.value == pytest.approx(best.value, rel=1e-8)
    np.testing.assert_allclose(top.weights[0], best.weights[0], atol=1e-4)
    worst = sw.oracle(sw.BestArm(4, goal="min"), means, family=sw.Bernoulli())
    rest = sw.oracle(sw.TopArms(4, 3), means, family=sw.Bernoulli())
    assert rest.answers == ((0, 1, 3),)
    assert rest.value == pytest.approx(worst.value, rel=1e-8)


def test_union_bounds_are_reached() -> None:
    """docs/thresholds.md: every pair of a best arm and another may be the only one to blame."""
    assert sw.union_bound(sw.TopArms(6, 2)) == 5
    problem = sw.TopArms(6, 2, 0.5)
    assert sw.union_bound(problem) == 8
    means = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    alone = set()
    for answer in combinations(range(6), 2):
        code = problem.encode(answer)
        pairs = [problem.cell(code, c)[:2] for c in range(problem.cell_count(code))]
        wrong = [(i, j) for i, j in pairs if means[j] > means[i] + 0.5]
        alone |= set(wrong) if len(wrong) == 1 else set()
    assert len(alone) == 8
    assert sw.union_bound(sw.BetterThan(6)) == sw.union_bound(sw.AnyBetterThan(6)) == 5


def test_answers_in_words() -> None:
    labels = ["old", "red", "green", "blue"]
    said = [
        (sw.TopArms(4, 2), (1, 3), "red and blue are best"),
        (sw.TopArms(4, 3, 0.1), (1, 2, 3), "red, green and blue are best, up to 0.1"),
        (sw.TopArms(4, 1, goal="min"), (2,), "green is lowest"),
        (sw.BetterThan(4), (1, 3), "red and blue are better than old, the others are not"),
        (sw.BetterThan(4), (), "no option is better than old"),
        (sw.BetterThan(4, 0, 0.1), (2,), "green is better than old, the others are not, up to 0.1"),
        (sw.BetterThan(4, goal="min"), (2,), "green is lower than old, the others are not"),
        (sw.AnyBetterThan(4, 2), 0, "old is better than green"),
        (sw.AnyBetterThan(4, 0, 0.1), "none", "no option is better than old, up to 0.1"),
        (sw.AnyBetterThan(4, goal="min"), "none", "no option is lower than old"),
    ]
    for problem, answer, words in said:
        assert problem.answer_text(answer, labels) == words
    assert sw.TopArms(4, 2, goal="min").question_text() == "Which 2 options have the lowest means?"
    assert (
        sw.BetterThan(4, goal="min").question_text() == "Which options are lower than the control?"
    )
