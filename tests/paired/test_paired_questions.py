"""The m best arms, and arms against a control, on shared items.

Every simulation has a fixed seed; a count is compared with an exact binomial limit that a correct
package exceeds with probability 1e-6 at most.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_paired_runs import COIN, REAL, coins, feed, most, rasch, symmetric

import naive_paired
import stopwise as sw


def coin_wealth(x: Any, margin: float) -> float:
    return naive_paired.log_wealth(x, margin, 1.0)


def real_wealth(x: Any, margin: float) -> float:
    return naive_paired.log_t_wealth(x, margin)


def draw(family: Any, rng: np.random.Generator, arms: int, items: int = 60) -> Any:
    """Arms that are far enough apart for some to be settled early, and some late or never."""
    if family is COIN:
        return (rng.random((items, arms)) < np.linspace(0.95, 0.2, arms)).astype(float)
    shared, steps = 5.0 * rng.normal(size=(items, 1)), np.linspace(1.5, -1.0, arms)
    return shared + rng.normal(size=(items, arms)) + rng.permutation(steps)


@pytest.mark.parametrize(("family", "wealth"), [(COIN, coin_wealth), (REAL, real_wealth)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_m_best_agree_with_a_naive_calculation(
    family: Any, wealth: Any, epsilon: float, m: int
) -> None:
    rng = np.random.default_rng(20 + m)
    for _ in range(2):
        rows = draw(family, rng, 5)
        session = sw.PairedSession(family, 5, delta=0.2, problem=sw.TopArms(5, m, epsilon))
        feed(session, rows)
        level = math.log(m * (5 - m) / 0.2)
        assert session.what.level == pytest.approx(level)
        items, answer = naive_paired.top_arms(rows, wealth, level, epsilon, m)
        verdict = session.verdict()
        assert (verdict.items, verdict.winners) == (items, answer or ())


@pytest.mark.parametrize(("family", "wealth"), [(COIN, coin_wealth), (REAL, real_wealth)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("one", [False, True])
def test_arms_against_a_control_agree_with_a_naive_calculation(
    family: Any, wealth: Any, epsilon: float, one: bool
) -> None:
    rng, kind = np.random.default_rng(30), sw.AnyBetterThan if one else sw.BetterThan
    for control in (0, 2):
        rows = draw(family, rng, 4, 90)
        problem = kind(4, control, epsilon)
        session = sw.PairedSession(family, 4, delta=0.2, problem=problem)
        feed(session, rows)
        level = math.log(3 / 0.2)
        items, answer = naive_paired.above_control(rows, wealth, level, epsilon, control, one)
        verdict = session.verdict()
        wanted = () if answer in (None, -1) else (answer,) if one else answer
        assert verdict.decided == (answer is not None)
        assert (verdict.items, verdict.winners) == (items, wanted)


@pytest.mark.parametrize(
    "problem",
    [sw.TopArms(4, 2), sw.TopArms(4, 2, 0.05), sw.BetterThan(4), sw.AnyBetterThan(4, 1)],
    ids=repr,
)
@pytest.mark.parametrize("pool", [False, True])
def test_wrong_claims_about_equal_arms(problem: Any, pool: bool) -> None:
    """Four arms with one mean. Every answer is right about them, so that what is counted are arms that
    are settled before the end without need: each is a claim about a difference that is 0.
    """
    table, runs = symmetric(rasch([1.0, 0.6, 0.3, 0.0], 250, 40)), 300
    asked = {"family": COIN, "delta": 0.2, "repetitions": runs, "max_items": 900}
    found = sw.simulate_paired(
        table, problem=problem, pool=pool, deterministic=pool, seed=41, **asked
    )
    settled = found.used.min(1) < found.items
    if getattr(problem, "epsilon", 0.0) == 0.0:
        assert np.sum(settled) <= most(runs, 0.2)
    assert found.errors <= most(runs, 0.2)


@pytest.mark.parametrize("goal", ["max", "min"])
@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        (sw.TopArms, {"m": 2}, {"max": (0, 1), "min": (2, 3)}),
        (sw.BetterThan, {"control": 2}, {"max": (0, 1), "min": (3,)}),
        (sw.AnyBetterThan, {"control": 0}, {"max": (), "min": None}),
    ],
)
def test_the_end_of_a_pool_has_the_answer_about_its_items(
    goal: str, kind: Any, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Means .75, .7, .6, .5 of twenty items: too few for a proof, so that most runs see all."""
    columns = [np.arange(20) < 20 * mean for mean in (0.75, 0.7, 0.6, 0.5)]
    table = np.column_stack([np.roll(each, 3 * k) for k, each in enumerate(columns)]).astype(float)
    problem = kind(4, goal=goal, **options)
    runs = {"pool": True, "deterministic": True, "repetitions": 20, "seed": 50}
    found = sw.simulate_paired(table, family=COIN, delta=0.01, problem=problem, **runs)
    assert not found.undecided.any()
    ended = found.items == 20
    assert found.correct[ended].all()
    assert ended.any() or expected[goal] is None  # any arm will do: that is certain before the end
    for code in found.named[ended]:
        named = tuple(int(k) for k in np.flatnonzero(code))
        assert named == expected[goal] or (expected[goal] is None and named)


def test_settled_arms_get_no_more_items() -> None:
    rows = np.tile([1.0, 1.0, 0.0, 0.0], (40, 1))
    rows[::2, 1], rows[1::2, 2] = 0.0, 1.0  # the middle two alternate
    session = sw.PairedSession(COIN, 4, delta=0.2, problem=sw.TopArms(4, 2))
    feed(session, rows)
    assert not session.decided
    assert session.state.chosen[0] > 0
    assert session.state.out[3] > 0
    assert session.ask()[1] == (1, 2)


def test_a_problem_says_all_that_is_asked() -> None:
    table = coins(50, a10=0.4, a01=0.1)
    with pytest.raises(sw.BadArgument, match="a problem with 2 arms"):
        sw.simulate_paired(table, family=COIN, problem=sw.TopArms(3, 2))
    with pytest.raises(sw.BadArgument, match="no epsilon, goal or ties"):
        sw.PairedSession(COIN, 3, problem=sw.TopArms(3, 2), epsilon=0.1)
    with pytest.raises(sw.NotDefined, match="who beats whom"):
        sw.PairedSession(COIN, 2, problem=sw.AnyLowArm(2, 0.5))
