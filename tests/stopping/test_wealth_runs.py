"""Wealth in runs: Ville's inequality seen directly, wrong answers at the hardest truths, exact skipping.

Every simulation has a fixed seed; a correct package fails a count with probability 1e-6 at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from naive_wealth import log_bet
from steps import begin, instance, observe
from stopwise.core.arrays import Floats, Rng
from stopwise.core.compile.kernels import compiled
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.engine.design import Setting, generator, prepare
from stopwise.stopping.wealth_state import wealth_state
from validity import DELTAS, Chasing, check_crossings, check_skipping, error_rates

FAMILIES = (
    (sw.Gaussian(), 0.0, 1.0),
    (sw.Gaussian([1.0, 4.0, 0.25]), 0.0, 1.0),
    (sw.Bernoulli(), 0.3, 0.46),
    (sw.Binomial(5), 1.0, 0.9),
    (sw.BoundedCoin(), 0.5, 0.4),
    (sw.Poisson(), 2.0, 1.4),
    (sw.NegativeBinomial(3.0), 2.0, 1.8),
    (sw.Geometric(), 3.0, 2.4),
    (sw.Exponential(), 1.0, 1.0),
    (sw.Gamma(2.5), 1.0, 0.63),
    (sw.InverseGaussian(2.0), 1.0, 0.7),
)
names = {"ids": lambda each: repr(each[0]) if isinstance(each, tuple) else str(each)}


# ------------------------------------------------------------------------------------------ Ville


@jitable
def highest(
    family: Any, mean: float, rounds: int, rng: Rng, data: Data, what: Any, state: Any
) -> Floats:
    """The most that each bet at the true mean made: above, below, and on a pair, sampled adaptively."""
    found = np.zeros(3)
    for k in range(2):
        data.counts[k], data.means[k] = 1.0, family.of_arm(k).draw(mean, rng)
    for _ in range(rounds):
        # an adversary: more of the arm that makes the pair look more different
        arm = (
            0
            if (data.means[0] - mean) * data.counts[1] > (mean - data.means[1]) * data.counts[0]
            else 1
        )
        x = family.of_arm(arm).draw(mean, rng)
        data.counts[arm] += 1.0
        data.means[arm] += (x - data.means[arm]) / data.counts[arm]
        found[0] = max(found[0], state.arm_wealth(family, data, 0, 1.0, mean))
        found[1] = max(found[1], state.arm_wealth(family, data, 0, -1.0, mean))
        found[2] = max(found[2], state.log_pair(family, data, what, mean)[0])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_ville(setting: Any) -> None:
    """At the true mean the wealth ever reaches 1/alpha in at most alpha of the runs."""
    check_ville(setting, runs=4000, rounds=1000)


@pytest.mark.parametrize("setting", [FAMILIES[0], FAMILIES[2]], **names)
def test_ville_for_two_families(setting: Any) -> None:
    check_ville(setting, runs=1000, rounds=300)


def check_ville(setting: Any, runs: int, rounds: int) -> None:
    from stopwise.cells.gap import Gap

    family, mean, _ = setting
    problem, what = sw.BestArm(2), Gap(0, 1, 0.0)
    if isinstance(family.variance if hasattr(family, "variance") else 1.0, np.ndarray):
        family = sw.Gaussian(family.variance[:2])
    state = wealth_state(family, problem)
    search = compiled(highest)
    tops = np.array(
        [
            search(
                family, mean, rounds, generator(7, run), Data(np.zeros(2), np.zeros(2)), what, state
            )
            for run in range(runs)
        ]
    )
    check_crossings(tops)


# ------------------------------------------------------------------- wrong answers, hardest truths


Asked = tuple[Any, list[float], Sequence[Any]]
HALVES = [[0.8, 0.2, 0.0], [0.2, 0.8, 0.0]]


def questions(family: Any, center: float, scale: float) -> dict[str, Asked]:
    """Problems with means on the boundary of alternatives, and the answers that are wrong there.

    On the boundary itself every answer is right or nearly so: wrong is what is wrong an instant
    away. Where all answers are, a hair beyond.
    """
    hair = 1e-3 * scale
    gap = 0.2 * scale
    low, high = [center - hair, center + scale, center + scale], [center + hair] * 3
    found: dict[str, Asked] = {
        "best arm": (sw.BestArm(3), [center] * 3, (0, 1)),
        "two best arms": (sw.BestArm(3), [center, center, center - 0.5 * scale], (0,)),
        "epsilon": (sw.BestArm(3, gap), [center, center, center + gap + hair], (0, 1)),
        "thresholding": (sw.Thresholding(3, center), [center] * 3, tuple(_without_all(3))),
        "one at the limit": (sw.Thresholding(3, center), [center] + [center + scale] * 2, ((),)),
        "any low arm": (sw.AnyLowArm(3, center), high, (0, 1, 2)),
        "any low arm, none": (sw.AnyLowArm(3, center), low, ("none", 1, 2)),
        "any sign": (sw.AnySign(3, center), [center - hair] * 3, [(k, "high") for k in range(3)]),
        "minimum, low": (sw.MinimumThreshold(3, center), high, ("low",)),
        "minimum, high": (sw.MinimumThreshold(3, center), low, ("high",)),
        "product": (
            sw.Product([(sw.BestArm(2), [0, 2]), (sw.Thresholding(1, center), [1])]),
            [center] * 3,
            ((0, (0,)), (0, ()), (1, ())),
        ),
        "cells of bounds": (
            _bounds(center, gap),
            [center + hair, center + gap + 2.0 * hair, center],
            ("low", "best"),
        ),
    }
    if isinstance(family, sw.Bernoulli | sw.Poisson) or hasattr(family, "variance"):
        plane = sw.AllHalfSpaces([[1.0, -1.0, 0.5]], [0.5 * center])
        found["half-space"] = (plane, [center - hair, center, center], ("yes",))
    if hasattr(family, "variance"):
        ball, edge = sw.Sphere(3, 1.0, [center] * 3), math.sqrt(1.0 / 3.0)
        found["sphere, inside"] = (ball, [center + edge + hair] * 3, ("inside",))
        found["sphere, outside"] = (ball, [center + edge - hair] * 3, ("outside",))
        found["any half-space"] = (
            sw.AnyHalfSpace(HALVES, [center, center]),
            [center - hair] * 3,
            ((0, 1), (1, 1)),
        )
        found["half-spaces, no"] = (
            sw.AllHalfSpaces(HALVES, [center, center]),
            [center + hair] * 3,
            ("no",),
        )
        above, below = (sw.Polyhedron([[s * 0.7, s * 0.3, 0.0]], [s * center]) for s in (1, -1))
        cells = sw.Cells(3, {"above": below, "below": above})
        found["cells"] = (cells, [center - hair] * 3, ("above",))
    return found


def sets_of_arms(center: float, scale: float) -> dict[str, Asked]:
    """Questions about sets of arms, whose rounds take longer."""
    hair, gap = 1e-3 * scale, 0.2 * scale
    above = center + gap + hair
    return {
        "top arms": (sw.TopArms(3, 2), [center] * 3, ((0, 1), (0, 2))),
        "top arms, epsilon": (sw.TopArms(3, 2, gap), [center, above, above], ((0, 1), (0, 2))),
        "better": (sw.BetterThan(3), [center + hair, center, center], ((1,), (2,), (1, 2))),
        "better, missed": (sw.BetterThan(3, 1, gap), [above, center, above], ((), (0,), (2,))),
        "any better": (sw.AnyBetterThan(3), [center + hair, center, center], (1, 2)),
        "any better, none": (
            sw.AnyBetterThan(3, 0, gap),
            [center, center - 0.5 * scale, above],
            ("none", 1),
        ),
    }


def _bounds(center: float, gap: float) -> Any:
    """Is the first arm low, or the best but for the gap?"""
    eye = np.eye(3)
    beaten = [sw.Polyhedron([eye[j] - eye[0]], [gap]) for j in (1, 2)]
    low = sw.Polyhedron(lower=[center, -np.inf, -np.inf])
    return sw.Cells(
        3, {"low": low, "best": beaten, "neither": sw.Polyhedron(upper=[center, np.inf, np.inf])}
    )


def _without_all(arms: int) -> Any:
    import itertools

    for size in range(arms):
        yield from itertools.combinations(range(arms), size)


def check_errors(setting: Any, name: str, strategy: Any, runs: int, rounds: int) -> list[float]:
    """For each delta the share of wrong answers among all runs, decided or not, is at most delta."""
    family, center, scale = setting
    asked = {**questions(family, center, scale), **sets_of_arms(center, scale)}
    problem, means, wrong = asked[name]
    found = sw.simulate(
        problem,
        means,
        family=family,
        strategy=strategy,
        stopping=sw.Wealth(),
        delta=DELTAS,
        repetitions=runs,
        seed=11,
        max_rounds=rounds,
        workers=1,
    )
    return error_rates(found, wrong)


GENERAL = ("sphere", "half-space", "cells")
CASES = [(setting, name) for setting in FAMILIES for name in questions(*setting)]


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize(("setting", "name"), CASES, **names)
def test_error_rates(
    setting: Any, name: str, adaptive: bool, record_property: Callable[[str, object], None]
) -> None:
    """Up to 1,000 samples, 250 of general cells, of which a round takes microseconds."""
    rounds = 250 if any(word in name for word in GENERAL) else 1000
    shares = check_errors(setting, name, Chasing(adaptive), 4000, rounds)
    record_property("error rates", shares)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("name", sets_of_arms(0.0, 1.0))
@pytest.mark.parametrize("setting", [FAMILIES[0], FAMILIES[2]], **names)
def test_error_rates_of_sets_of_arms(setting: Any, name: str, adaptive: bool) -> None:
    """False-alarm rate 1e-6 for each delta."""
    strategy = sw.TrackAndStop() if adaptive else sw.Uniform()
    check_errors(setting, name, strategy, runs=1000, rounds=1000)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [sw.TrackAndStop("D"), sw.StickyTrackAndStop()], ids=repr)
@pytest.mark.parametrize("name", list(questions(*FAMILIES[3]))[:11])
@pytest.mark.parametrize("setting", [FAMILIES[0], FAMILIES[2]], **names)
def test_error_rates_of_tracking(
    setting: Any, name: str, strategy: Any, record_property: Callable[[str, object], None]
) -> None:
    """By the oracle at the estimate, where a round is quick; for other arms in test_*_runs.py."""
    record_property("error rates", check_errors(setting, name, strategy, runs=4000, rounds=500))


@pytest.mark.parametrize("setting", [FAMILIES[0], FAMILIES[2]], **names)
def test_error_rates_of_best_arm(setting: Any) -> None:
    """False-alarm rate 1e-6 for each delta."""
    check_errors(setting, "best arm", sw.Uniform(), runs=1000, rounds=1000)


# ----------------------------------------------------------------------------------- exact skipping


@pytest.mark.parametrize("setting", FAMILIES, **names)
def test_skipping_changes_no_stopping_time(setting: Any) -> None:
    """Round by round: what is skipped would not have stopped the run."""
    family, center, scale = setting
    asked = (
        (sw.BestArm(3), (0.9, 0.0, -0.2)),
        (sw.BestArm(3, 0.1 * scale), (0.8, 0.0, 0.1)),
        (sw.Thresholding(3, center), (0.8, -0.7, 0.6)),
        (sw.AnyLowArm(3, center), (0.5, -0.9, 0.6)),
        (sw.MinimumThreshold(3, center), (0.5, -0.7, -0.6)),
    )
    low = {sw.Geometric: 1.05}.get(type(family), -9.0 if hasattr(family, "variance") else 0.05)
    high = {sw.Bernoulli: 0.95, sw.BoundedCoin: 0.95, sw.Binomial: 4.5}.get(type(family), 99.0)
    for place, (problem, offsets) in enumerate(asked):
        means = [min(max(center + scale * x, low), high) for x in offsets]
        design = prepare(Setting(problem, family, sw.Uniform(), sw.Wealth()), means, (0.1,), 10**6)
        check_skipping(design, in_turn(family, means, generator(place)))


def in_turn(family: Any, means: Any, rng: Rng) -> Iterator[tuple[int, float]]:
    """A sample of each arm after the other."""
    for rounds in range(5000):
        arm = rounds % len(means)
        yield arm, family.of_arm(arm).draw(means[arm], rng)


@pytest.mark.parametrize("setting", [FAMILIES[0], FAMILIES[2]], **names)
def test_traces_and_runs_stop_together(setting: Any) -> None:
    """Compiled, with all evidence and with skips; and the plain functions find the same evidence."""
    family, center, scale = setting
    problem, means = sw.BestArm(3), [center + 0.4 * scale, center, center - 0.2 * scale]
    for seed in range(6):
        asked: dict[str, Any] = {"family": family, "delta": 0.05, "seed": seed}
        traced = sw.run(problem, means, trace=True, **asked)
        assert traced.stopping_time == sw.run(problem, means, **asked).stopping_time
        assert traced.answer == sw.run(problem, means, **asked).answer
    seen = traced.trace
    state = begin((problem, family, sw.Uniform(), sw.Wealth()))
    for rounds, (arm, sample) in enumerate(zip(seen.arms, seen.samples, strict=True), start=1):
        observe(
            (problem, family, sw.Uniform(), sw.Wealth()), state, rounds, 3, int(arm), float(sample)
        )
        if rounds > 3 and rounds % 25 == 0:
            plain = sw.Wealth().margin(instance(problem, family, state), state, rounds, -math.inf)
            assert plain == pytest.approx(seen.evidence[rounds - 1], rel=1e-9, abs=1e-9)


def test_shift_and_scale_change_nothing() -> None:
    """Gaussian arms: means 1,000 higher, or everything 1,000 times as large."""
    asked: dict[str, Any] = {"delta": 0.1, "repetitions": 100, "seed": 3, "workers": 1}
    means, problem = np.array([1.0, 0.7, 0.5]), sw.BestArm(3)
    first = sw.simulate(problem, means, family=sw.Gaussian(), **asked).stopping_times
    moved = sw.simulate(problem, means + 1000.0, family=sw.Gaussian(), **asked).stopping_times
    large = sw.simulate(problem, 1000.0 * means, family=sw.Gaussian(1e6), **asked).stopping_times
    assert np.sum(moved != first) <= 1
    assert np.sum(large != first) <= 1


def test_a_bet_is_what_brute_force_says_at_large_scores() -> None:
    """Half-normal priors far in the tails, where exp and erfc leave the range of floats."""

    for mean in (-300.0, -40.0, -36.0, -34.0, 0.0, 27.0, 29.0, 300.0):
        for gap in (8.0**0.5, 1.0, 8.0**-3):
            samples = np.full(7, mean)
            expected = log_bet(sw.Gaussian(), 1, samples, 0.0, gap)
            assert sw.Gaussian().bet(1.0, 7.0, mean, 0.0, gap)[0] == pytest.approx(
                expected, rel=1e-9, abs=1e-9
            )
