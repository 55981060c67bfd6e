"""One loop, one step: runs end with right answers, and nothing but the seed decides them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.engine.batch import Desk, new_outcome
from stopwise.engine.loop import play
from stopwise.engine.plan import Plan, generator, prepare

NORMALS = [[0.8, 0.2], [0.2, 0.8]]
CASES = [
    (sw.BestArm(3), [0.9, 0.3, 0.2], sw.Bernoulli()),
    (sw.BestArm(3, 0.5), [1.5, 1.4, 0.0], sw.Gaussian()),
    (sw.BestArm(3, 0.2), [0.9, 0.8, 0.1], sw.Bernoulli()),
    (sw.Thresholding(3, 1.0), [2.5, 0.3, 0.2], sw.Poisson()),
    (sw.MinimumThreshold(2, 0.5, 0.1), [0.2, 0.9], sw.Bernoulli()),
    (sw.MinimumThreshold(2, 0.5), [0.2, 0.9], sw.Bernoulli()),
    (sw.AnyLowArm(3, 1.0), [0.2, 0.2, 2.0], sw.Exponential()),
    (sw.AnyLowArm(2, 0.5), [0.9, 0.8], sw.Bernoulli()),
    (sw.AnySign(3), [-1.0, 1.0, 0.2], sw.Gaussian()),
    (sw.AnyHalfSpace(NORMALS), [-1.0, -1.0], sw.Gaussian()),
    (sw.AnyHalfSpace(NORMALS, [0.5, 0.5]), [0.9, 0.9], sw.Bernoulli()),
    (sw.AllHalfSpaces(NORMALS), [1.0, 1.0], sw.Gaussian()),
    (sw.Sphere(2), [0.1, 0.2], sw.Gaussian(0.2)),
    (sw.Product([(sw.BestArm(2), [0, 2]), (sw.AnyLowArm(1, 0.5), [1])]), [0.9, 0.1, 0.2],
     sw.Bernoulli()),
    (sw.Cells(2, {"up": sw.Polyhedron([[-1, -1]]), "down": sw.Polyhedron([[1, 1]])}), [1.0, 0.5],
     sw.Gaussian()),
]  # fmt: skip
STRATEGIES = [
    sw.TrackAndStop(),
    sw.TrackAndStop("D"),
    sw.StickyTrackAndStop(),
    sw.Uniform(),
    sw.OracleWeights(),
]


def plainly(plan: Plan, seed: int, repetition: int) -> tuple[Any, Any, Any]:
    """One run without the compiler."""
    desk = Desk(plan)
    desk.kernel = play
    outcome = new_outcome(plan)
    for _ in desk.run(generator(seed, 0, repetition), outcome, lambda: False):
        pass
    return outcome.times, outcome.codes, outcome.counts


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@pytest.mark.parametrize(("problem", "means", "family"), CASES, ids=str)
def test_runs_end_with_a_correct_answer(
    problem: Any, means: Any, family: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proven threshold at delta = 1e-7: a wrong answer here has that probability."""
    monkeypatch.setattr("stopwise.engine.batch.kernel", lambda *_: play)
    plan = prepare(problem, strategy, means, family, (1e-3, 1e-7), sw.Mixture(), 3000)
    times, codes, counts = plainly(plan, 7, 0)
    assert 0 < times[0] <= times[1]
    np.testing.assert_array_equal(counts.sum(axis=1), times)
    from stopwise.problems import base

    assert base.decode(problem, codes[1]) in sw.correct_answers(problem, means)


def test_a_tie_is_undecided() -> None:
    found = sw.simulate(
        sw.BestArm(2), sw.TrackAndStop(), [0.5, 0.5], sw.Bernoulli(), 1e-9, repetitions=3,
        seed=1, max_rounds=300,
    )  # fmt: skip
    assert found.undecided.all()
    assert found.stopping_times.tolist() == [0, 0, 0]
    assert list(found.answers) == [None] * 3
    assert not found.correct.any()
    assert found.counts.sum(axis=1).tolist() == [300.0] * 3
    (row,) = found.summary()
    assert row.undecided == 3
    assert row.mean == 300
    one = sw.run(sw.BestArm(2), sw.Uniform(), [0.5, 0.5], delta=1e-9, seed=1, max_rounds=50)
    assert (one.status, one.answer, one.stopping_time) == ("undecided", None, 50)
