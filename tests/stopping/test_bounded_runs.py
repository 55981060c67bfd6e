"""Bounded rewards in runs: Ville's inequality, wrong answers at the hardest truths, samples needed.

Every simulation has a fixed seed; a correct package fails a count with probability 1e-6 at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import stopwise as sw
from stopwise.cells.gap import Gap
from stopwise.core.arrays import Floats
from stopwise.core.compile.kernels import compiled
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.engine.design import generator
from stopwise.engine.truth import read_truth
from stopwise.families.laws import PilotLaw
from stopwise.stopping.wealth_state import wealth_state
from validity import DELTAS, check_crossings, error_rates, most

PAIR = sw.BestArm(2)


LAWS: dict[str, Any] = {
    "two-point": lambda mean: PilotLaw(np.array([each < 10.0 * mean for each in range(10)]) * 1.0),
    "rare": lambda mean: PilotLaw(mean * np.array([0.97] * 19 + [1.57])),
    "uniform": lambda mean: stats.uniform(mean - 0.25, 0.5),
    "beta(.2, .2)": lambda mean: stats.beta(0.4 * mean, 0.4 * (1.0 - mean)),
    "nearly constant": lambda mean: PilotLaw(np.array([0.0] + [mean / 0.99] * 99)),
    "constant": lambda mean: PilotLaw(np.array([mean])),
}


def test_laws_have_the_mean() -> None:
    for law in LAWS.values():
        found = read_truth([law(0.4), law(0.5)], sw.Bounded()).means
        np.testing.assert_allclose(found, [0.4, 0.5], rtol=1e-12)


# ------------------------------------------------------------------------------------------ Ville


@jitable
def highest(
    family: Any, own: Any, samples: Floats, mean: float, data: Data, what: Any, state: Any
) -> Floats:
    """The most that each bet at the true mean made: above, below, and on a pair, sampled adaptively."""
    found = np.zeros(3)
    used = np.zeros(2, dtype=np.int64)
    for turn in range(samples.shape[1]):
        # an adversary: more of the arm that makes the pair look more different
        arm = turn
        if turn >= 2:
            first = (data.means[0] - mean) * data.counts[1] > (mean - data.means[1]) * data.counts[
                0
            ]
            arm = 0 if first else 1
        x = samples[arm, used[arm]]
        used[arm] += 1
        data.counts[arm] += 1.0
        data.means[arm] += (x - data.means[arm]) / data.counts[arm]
        family.update_stats(own, arm, x)
        view = family.estimated(own)
        found[0] = max(found[0], state.arm_wealth(view, data, 0, 1.0, mean))
        found[1] = max(found[1], state.arm_wealth(view, data, 0, -1.0, mean))
        found[2] = max(found[2], state.log_pair(view, data, what, mean)[0])
    return found


def check_ville(law: Any, runs: int, rounds: int) -> None:
    """At the true mean the wealth ever reaches 1/alpha in at most alpha of the runs."""
    family, mean, search = sw.Bounded(), 0.4, compiled(highest)
    (drawn,) = read_truth([law(mean)], family).laws
    state = wealth_state(family.estimated(family.init_stats(2)), PAIR)
    tops = np.zeros((runs, 3))
    for run in range(runs):
        samples = drawn.draw(2 * rounds, generator(7, run)).reshape(2, rounds)
        data, own = Data(np.zeros(2), np.zeros(2)), family.init_stats(2)
        tops[run] = search(family, own, samples, mean, data, Gap(0, 1, 0.0), state)
    check_crossings(tops)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_ville(name: str) -> None:
    check_ville(LAWS[name], runs=4000, rounds=300)


@pytest.mark.parametrize("name", ["two-point", "nearly constant"])
def test_ville_for_two_laws(name: str) -> None:
    check_ville(LAWS[name], runs=400, rounds=100)


# ------------------------------------------------------------------- wrong answers, hardest truths

# means on the boundary of alternatives, and the answers that are wrong there or an instant away
QUESTIONS: dict[str, tuple[Any, tuple[float, ...], tuple[Any, ...]]] = {
    "best arm": (sw.BestArm(2), (0.5, 0.5), (0,)),
    "epsilon": (sw.BestArm(2, 0.1), (0.4, 0.5), (0,)),
    "thresholding": (sw.Thresholding(2, 0.4), (0.4, 0.4), ((), (0,), (1,))),
    "any low arm": (sw.AnyLowArm(2, 0.4), (0.4, 0.4), (0, 1)),
    "minimum, low": (sw.MinimumThreshold(2, 0.4), (0.4, 0.4), ("low",)),
    "minimum, high": (sw.MinimumThreshold(2, 0.4), (0.4, 0.6), ("high",)),
}


def check_errors(laws: Any, name: str, strategy: Any, runs: int, rounds: int) -> list[float]:
    """The share of wrong answers among all runs, decided or not, is at most delta."""
    problem, means, wrong = QUESTIONS[name]
    given = [law(mean) for law, mean in zip(laws, means, strict=True)]
    found = sw.simulate(
        problem,
        given,
        **{"family": sw.Bounded(), "strategy": strategy, "delta": DELTAS, "repetitions": runs},
        **{"seed": 11, "max_rounds": rounds, "workers": 1},
    )
    return error_rates(found, wrong)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("law", LAWS)
def test_error_rates(
    law: str, name: str, adaptive: bool, record_property: Callable[[str, object], None]
) -> None:
    """Both deltas from one trajectory, of 400 samples at most."""
    strategy = sw.StickyTrackAndStop() if adaptive else sw.Uniform()
    shares = check_errors([LAWS[law]] * 2, name, strategy, runs=4000, rounds=400)
    record_property("error rates", shares)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["best arm", "epsilon"])
def test_error_rates_of_arms_with_different_laws(name: str) -> None:
    for pair in (("two-point", "nearly constant"), ("nearly constant", "beta(.2, .2)")):
        check_errors([LAWS[each] for each in pair], name, sw.TrackAndStop(), 4000, 400)


@pytest.mark.parametrize("law", ["two-point", "nearly constant"])
def test_error_rates_of_best_arm(law: str) -> None:
    check_errors([LAWS[law]] * 2, "best arm", sw.Uniform(), runs=500, rounds=300)


# --------------------------------------------------------------------------------- samples needed


def samples_needed(means: list[float], deviation: float, runs: int) -> float:
    found = sw.simulate(
        *(PAIR, means),
        **{"family": sw.Bounded(), "deviations": deviation, "strategy": sw.Uniform()},
        **{"repetitions": runs, "seed": 1, "workers": 1},
    )
    assert np.sum(~found.correct) <= most(runs, 0.05)
    return float(found.stopping_times.mean())


def test_scores_need_few_samples() -> None:
    """120 and 1,167 (standard errors 3 and 9): the coin's divergence took 1,884 and over 40,000."""
    assert samples_needed([0.7, 0.6], 0.15, runs=100) <= 150.0
    assert samples_needed([0.95, 0.94], 0.015, runs=20) <= 1400.0


@pytest.mark.slow
def test_coins_need_many() -> None:
    """1,813 on average, and more than 40,000 in every run."""
    for means, deviation, rounds in (([0.7, 0.6], 0.15, 1500), ([0.95, 0.94], 0.015, 40_000)):
        found = sw.simulate(
            *(PAIR, means),
            **{"family": sw.BoundedCoin(), "deviations": deviation, "strategy": sw.Uniform()},
            **{"stopping": sw.Mixture(), "repetitions": 20, "seed": 1, "max_rounds": rounds},
        )
        assert found.undecided.mean() > 0.5


@pytest.mark.slow
def test_scores_need_few_samples_in_a_thousand_runs() -> None:
    assert samples_needed([0.7, 0.6], 0.15, runs=1000) <= 150.0
    assert samples_needed([0.95, 0.94], 0.015, runs=1000) <= 1400.0
