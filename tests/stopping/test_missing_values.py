"""Missing values at their worst: against brute force, and never above the evidence of what comes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import naive_bets
import naive_wealth
import stopwise as sw
from steps import begin, instance, observe
from stopwise.core.arrays import Floats
from stopwise.core.compile import kernels
from stopwise.core.data import State
from stopwise.engine.design import Setting
from stopwise.stopping.missing import worst_intervals

COIN, SCORE, WEALTH = sw.Bernoulli(), sw.Bounded(-1.0, 3.0), sw.Wealth()
QUESTIONS = {
    "best": (sw.BestArm(3), 0),
    "epsilon": (sw.BestArm(3, epsilon=0.1), 0),
    "least": (sw.BestArm(3, goal="min"), 2),
    "limits": (sw.Thresholding(3, 0.35), (2,)),
    "any low": (sw.AnyLowArm(3, 0.3), 2),
    "none low": (sw.AnyLowArm(3, 0.02), "none"),
}


def state_of(problem: Any, family: Any, samples: list[list[float]], rule: Any = WEALTH) -> State:
    setting = Setting(problem, family, sw.Uniform(), rule)
    state, start = begin(setting), len(samples)
    rows = [(arm, x) for arm, own in enumerate(samples) for x in own[:1]]
    rows += [(arm, x) for arm, own in enumerate(samples) for x in own[1:]]
    for rounds, (arm, x) in enumerate(rows, 1):
        observe(setting, state, rounds, start, arm, x)
    return state


def drawn(family: Any, seed: int) -> list[list[float]]:
    """Three arms, the first the best."""
    rng = np.random.default_rng(seed)
    if isinstance(family, sw.Bernoulli):
        rates = (0.85, 0.6, 0.1)
        return [(rng.random(30 + 4 * k) < rates[k]).astype(float).tolist() for k in range(3)]
    return [(-1.0 + 4.0 * rng.beta(8 - 3 * k, 2 + 3 * k, 30)).tolist() for k in range(3)]


def shown(
    problem: Any, family: Any, samples: list[list[float]], missing: Any, answer: Any
) -> float:
    state = state_of(problem, family, samples)
    view = family.estimated(state.stats)
    code = problem.encode(answer)
    return sw.Wealth().evidence_missing(
        instance(problem, view, state), state, np.array(missing), code
    )


def whole(problem: Any, family: Any, samples: list[list[float]], answer: Any) -> float:
    """The evidence if all values are known."""
    state = state_of(problem, family, samples)
    view = family.estimated(state.stats)
    sw.Wealth().margin(instance(problem, view, state), state, 100, -math.inf)
    return sw.Wealth().evidence(instance(problem, view, state), state, problem.encode(answer))


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("family", [COIN, SCORE], ids=repr)
def test_no_values_that_can_come_have_less_evidence(name: str, family: Any) -> None:
    """Every way to fill in three missing values has at least the evidence at the worst of them."""
    problem, answer = QUESTIONS[name]
    if family is SCORE and name in ("limits", "any low", "none low"):
        limit = {"limits": 0.3, "any low": 0.6, "none low": -0.9}[name]
        problem = type(problem)(3, limit)
    low, high = family.interval()
    missing, samples = [2.0, 0.0, 1.0], drawn(family, 1)
    found = shown(problem, family, samples, missing, answer)
    values = (low, high) if family is COIN else (low, 0.3, high)
    filled = []
    for first, second, third in itertools.product(values, repeat=3):
        whole_samples = [[*samples[0], first, second], samples[1], [*samples[2], third]]
        filled.append(whole(problem, family, whole_samples, answer))
    assert found <= min(filled) + 1e-9
    assert found > 0.5, "the bound is not empty"


@pytest.mark.parametrize("seed", range(4))
def test_pairs_by_brute_force(seed: int) -> None:
    """Two arms: missing values of the better arm are low, of the other high; nothing else shared."""
    samples, missing = drawn(SCORE, seed)[:2], [3.0, 2.0]
    problem = sw.BestArm(2)
    found = shown(problem, SCORE, samples, missing, 0)
    better, other = [*samples[0], *[-1.0] * 3], [*samples[1], *[3.0] * 2]
    expected = naive_bets.pair_evidence(np.array(better), np.array(other), 0.0, -1.0, 3.0)
    assert found == pytest.approx(max(expected, 0.0), abs=2e-3)
    coins = drawn(COIN, seed)[:2]
    one, two = np.array([*coins[0], 0.0, 0.0]), np.array([*coins[1], 1.0])
    exact = naive_wealth.least(
        lambda c: naive_wealth.log_pair(COIN, COIN, one, two, c, 0.0), 1e-6, 1.0 - 1e-6
    )
    assert shown(problem, COIN, coins, [2.0, 1.0], 0) == pytest.approx(max(exact, 0.0), abs=1e-4)


@pytest.mark.parametrize(
    ("family", "problem", "answer", "left"),
    [
        (sw.Gaussian(), sw.BestArm(3), 0, False),
        (sw.Gaussian(variance=None), sw.BestArm(3), 0, False),
        (sw.Poisson(), sw.BestArm(2), 0, True),  # a missing count of the larger arm may be 0
        (sw.Poisson(), sw.BestArm(2, goal="min"), 1, False),  # one of the smaller arm has no end
        (sw.Exponential(), sw.Thresholding(2, 1.5), (), True),
    ],
    ids=repr,
)
def test_without_a_worst_value_nothing_is_proven(
    family: Any, problem: Any, answer: Any, left: bool
) -> None:
    rng = np.random.default_rng(3)
    samples = [(9.0 - 4.0 * k + rng.random(25)).round().tolist() for k in range(problem.arms)]
    clear = shown(problem, family, samples, [0.0] * problem.arms, answer)
    arm = 0 if answer == 0 else 1
    missing = [float(k == arm) for k in range(problem.arms)]
    found = shown(problem, family, samples, missing, answer)
    assert clear > 5.0
    assert (0.0 < found < clear) if left else found == 0.0


def test_general_cells_and_products_wait_for_every_value() -> None:
    line = sw.AnyHalfSpace(np.array([[1.0, -1.0, 0.5]]), np.array([-0.4]))
    state = state_of(line, COIN, drawn(COIN, 2))
    view, missing = COIN.estimated(state.stats), np.array([0.0, 1.0, 0.0])
    rule = sw.Wealth()
    assert rule.margin(instance(line, view, state), state, 100, -math.inf) > 0.0
    assert rule.margin_missing(instance(line, view, state), state, 100, missing, -math.inf) == 0.0


@pytest.mark.parametrize("rule", [sw.Mixture(), sw.Stylized(), sw.Conservative()], ids=repr)
def test_other_rules_decide_nothing_while_a_value_is_missing(rule: Any) -> None:
    problem = sw.BestArm(3)
    state = state_of(problem, COIN, drawn(COIN, 2), rule)
    missing = np.array([0.0, 1.0, 0.0])
    found = rule.margin_missing(instance(problem, COIN, state), state, 100, missing, -math.inf)
    assert found == -math.inf
    assert state.report.evidence[0] == 0.0


@pytest.mark.parametrize("family", [COIN, SCORE, sw.Gaussian(variance=None)], ids=repr)
def test_compiled_is_plain(family: Any) -> None:
    problem, samples = sw.BestArm(3), drawn(COIN if family is COIN else SCORE, 5)
    found = []
    for plain in (True, False):
        state = state_of(problem, family, samples)
        run = _margin_missing if plain else kernels.compiled(_margin_missing)
        missing = np.array([1.0, 0.0, 2.0])
        before = [array.copy() for array in _arrays(state)]
        value = run(
            sw.Wealth(), problem, family.estimated(state.stats), state, 90, missing, -math.inf
        )
        found.append((value, state.report.evidence[0], *state.report.answer))
        for old, new in zip(before, _arrays(state), strict=True):
            np.testing.assert_array_equal(old, new)  # what came stays what it was
    assert found[0] == found[1]


def _margin_missing(
    rule: Any, problem: Any, family: Any, state: Any, rounds: int, missing: Floats, least: float
) -> float:
    return rule.margin_missing(instance(problem, family, state), state, rounds, missing, least)


def _arrays(state: State) -> list[Any]:
    record = state.stats if isinstance(state.stats, tuple) else ()
    return [*state.data, state.sums, *(x for x in record if isinstance(x, np.ndarray))]


@pytest.mark.parametrize("family", [COIN, SCORE, sw.Gaussian()], ids=repr)
def test_intervals_hold_whatever_comes(family: Any) -> None:
    """Narrower than any interval of the filled samples they never are."""
    samples, missing = drawn(COIN if family is COIN else SCORE, 7), np.array([3.0, 0.0, 0.0])
    problem = sw.BestArm(3)
    state = state_of(problem, family, samples)
    before = state.data.means.copy()
    low, high = worst_intervals(family, state, missing, 0.1)
    np.testing.assert_array_equal(before, state.data.means)
    if family == sw.Gaussian():
        assert (low[0], high[0]) == (-math.inf, math.inf)
        assert np.isfinite([low[1], high[1]]).all()
        return
    ends = family.interval()
    for values in itertools.product((*ends, 0.5), repeat=3):
        rounded = [round(v) * 1.0 if family is COIN else v for v in values]
        filled = state_of(problem, family, [[*samples[0], *rounded], *samples[1:]])
        own = worst_intervals(family, filled, np.zeros(3), 0.1)
        assert low[0] <= own.low[0]
        assert high[0] >= own.high[0]
