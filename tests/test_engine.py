"""One loop, one step: runs end with right answers, and compiled code gives the same run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import stopwise as sw
from stopwise.engine.loop import play
from stopwise.problems import base
from stopwise.sampling.strategies import StickyTrackAndStop, TrackAndStop
from stopwise.stopping.thresholds import constant
from stopwise.verbs import compiled

NORMALS = [[0.8, 0.2], [0.2, 0.8]]
CASES = [
    (sw.BestArm(3), [0.9, 0.3, 0.2], sw.Bernoulli()),
    (sw.BestArm(3, 0.5), [1.5, 1.4, 0.0], sw.Gaussian()),
    (sw.Thresholding(3, 1.0), [2.5, 0.3, 0.2], sw.Poisson()),
    (sw.MinimumThreshold(2, 0.5, 0.1), [0.2, 0.9], sw.Bernoulli()),
    (sw.AnyLowArm(3, 1.0), [0.2, 0.2, 2.0], sw.Exponential()),
    (sw.AnyLowArm(2, 0.5), [0.9, 0.8], sw.Bernoulli()),
    (sw.AnySign(3), [-1.0, 1.0, 0.2], sw.Gaussian()),
    (sw.AnyHalfSpace(NORMALS), [-1.0, -1.0], sw.Gaussian()),
    (sw.Sphere(2), [0.1, 0.2], sw.Gaussian(0.2)),
]


def run(
    function: Any, problem: Any, means: Any, family: Any, strategy: Any, threshold: Any, deltas: Any,
    seed: int, most: int = 3000,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """One run with its own generator; stopping times, answers and counts for each delta."""
    truth = np.array(means, dtype=float)
    constants = np.array([constant(threshold, problem, family, delta) for delta in deltas])
    size = base.code_size(problem)
    times, counts = np.zeros(constants.size), np.zeros((constants.size, truth.size))
    answers = np.zeros((constants.size, size), dtype=np.int64)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    rank = base.rank(problem)
    function(
        problem, family, strategy, threshold, truth, rank, size, constants, most, rng, times, answers,
        counts,
    )  # fmt: skip
    return times, answers, counts


@pytest.mark.parametrize("strategy", [TrackAndStop(), TrackAndStop("D"), StickyTrackAndStop()])
@pytest.mark.parametrize(("problem", "means", "family"), CASES)
def test_runs_end_with_a_correct_answer(
    problem: Any, means: Any, family: Any, strategy: Any
) -> None:
    """A proven threshold at delta = 1e-7: a wrong answer here has that probability."""
    times, answers, counts = run(
        play, problem, means, family, strategy, sw.Mixture(), [1e-3, 1e-7], seed=7
    )
    assert 0 < times[0] <= times[1]
    np.testing.assert_array_equal(counts.sum(axis=1), times)
    assert base.decode(problem, answers[1]) in sw.correct_answers(problem, means)


def test_a_tie_is_undecided() -> None:
    times, _, counts = run(
        play,
        sw.BestArm(2),
        [0.5, 0.5],
        sw.Bernoulli(),
        TrackAndStop(),
        sw.Mixture(),
        [1e-9],
        1,
        300,
    )
    assert times[0] == 0
    assert counts.sum() == 300


def test_compiled_runs_are_identical() -> None:
    problem, means, family = sw.AnyLowArm(3, 0.5), [0.3, 0.3, 0.7], sw.Bernoulli()
    fast = compiled(play)
    for seed in range(5):
        settings = (problem, means, family, StickyTrackAndStop(), sw.Stylized(), [0.1, 1e-3], seed)
        for ours, theirs in zip(run(play, *settings), run(fast, *settings), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_garivier_kaufmann_table() -> None:
    """Best arm, Bernoulli (0.5, 0.45, 0.43, 0.4), delta = 0.1, D-tracking: 4,052 over 3,000 runs."""
    fast = compiled(play)
    settings = (
        sw.BestArm(4),
        [0.5, 0.45, 0.43, 0.4],
        sw.Bernoulli(),
        TrackAndStop("D"),
        sw.Stylized(),
    )
    times = np.array([run(fast, *settings, [0.1], seed, 10**7)[0][0] for seed in range(3000)])
    error = math.sqrt(2.0) * times.std() / math.sqrt(times.size)  # both means have an error
    assert abs(times.mean() - 4052) <= stats.norm.isf(0.5e-6) * error
