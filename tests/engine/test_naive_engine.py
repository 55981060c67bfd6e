"""Whole runs against a naive implementation: the same stopping times, answers and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import naive
import naive_engine
import stopwise as sw
from stopwise.engine.loop import run_rounds

# Exact ties are decided by rounding, in which two implementations may differ. With Gaussian arms
# and crooked numbers there are none; with Bernoulli arms these seeds meet none that matters.
SEEDS = (2, 3, 8)
REPETITIONS = 3

COIN, BELL = sw.Bernoulli(), sw.Gaussian(0.5)
SAME = {COIN: naive_engine.Bernoulli(), BELL: naive_engine.Gaussian(0.5)}


@dataclass(frozen=True, eq=False)
class Case:
    """A problem by its name and arguments, and how it is run."""

    kind: str
    arguments: tuple[Any, ...]
    family: Any
    sticky: bool
    tracking: str
    means: tuple[float, ...]
    delta: float

    def __str__(self) -> str:
        rule = "sticky" if self.sticky else "plain"
        return f"{self.kind}-{type(self.family).__name__}-{rule}-{self.tracking}-{self.means}"

    @property
    def package(self) -> dict[str, Any]:
        """The arguments of ``run`` and ``simulate``."""
        strategy = sw.StickyTrackAndStop if self.sticky else sw.TrackAndStop
        return {
            "problem": getattr(sw, self.kind)(*self.arguments),
            "means": self.means,
            "family": self.family,
            "strategy": strategy(self.tracking),
            "stopping": sw.Stylized(),
            "delta": self.delta,
        }

    def naive(self, seed: int, repetition: int) -> naive_engine.Outcome:
        """The naive run."""
        problem = getattr(naive_engine, self.kind)(SAME[self.family], *self.arguments)
        return naive_engine.run(
            problem, self.sticky, self.tracking, self.means, self.delta, seed, repetition
        )


TWO_PLANES = (np.array([[0.83, 0.19], [0.31, -0.72]]), np.array([0.0, 0.1]))
THREE_PLANES = (
    np.array([[0.83, 0.11, 0.13], [0.21, 0.64, -0.17], [-0.12, 0.23, 0.71]]),
    np.zeros(3),
)
# small deltas for the sticky rule: the region must be smaller than what stops the run, or it would
# pursue its first answer all the time
CASES = [
    Case("BestArm", (3,), COIN, False, "C", (0.1, 0.6, 0.15), 0.01),
    Case("BestArm", (3,), COIN, False, "D", (0.3, 0.45, 0.8), 0.05),
    Case("BestArm", (3, 0.07), COIN, False, "C", (0.1, 0.5, 0.2), 0.05),
    Case("BestArm", (3, 0.07), COIN, True, "C", (0.1, 0.3, 0.93), 1e-9),
    Case("BestArm", (4,), BELL, False, "C", (0.2, 0.9, 0.1, -0.3), 0.01),
    Case("BestArm", (3, 0.15), BELL, False, "D", (0.2, 0.9, 0.1), 0.01),
    Case("BestArm", (3,), BELL, True, "C", (0.2, 0.4, 2.0), 1e-13),
    Case("AnyLowArm", (3, 0.37), COIN, False, "C", (0.6, 0.13, 0.2), 0.05),
    Case("AnyLowArm", (3, 0.37), COIN, False, "D", (0.7, 0.8, 0.75), 0.05),
    Case("AnyLowArm", (3, 0.37), COIN, True, "C", (0.97, 0.05, 0.03), 1e-12),
    Case("Thresholding", (3, 0.3), BELL, False, "C", (-0.4, 1.2, 0.9), 0.01),
    Case("Thresholding", (3, 0.3), BELL, True, "D", (1.7, -0.8, 1.3), 1e-10),
    Case("AnyHalfSpace", TWO_PLANES, BELL, False, "C", (-0.5, 0.3), 0.01),
    Case("AnyHalfSpace", TWO_PLANES, BELL, True, "C", (-0.9, 0.9), 1e-13),
    Case("AnyHalfSpace", THREE_PLANES, BELL, True, "C", (-0.9, 1.9, -1.7), 1e-13),
]


@pytest.fixture
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs need no compiler; test_engine.py shows that it changes nothing."""
    monkeypatch.setattr("stopwise.engine.worker.kernel", lambda *_: run_rounds)


@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_runs_are_those_of_the_naive_engine(case: Case) -> None:
    pursued = set()
    for seed in SEEDS:
        found = sw.simulate(**case.package, repetitions=REPETITIONS, seed=seed, workers=1)
        for repetition in range(REPETITIONS):
            expected = case.naive(seed, repetition)
            got = (
                int(found.stopping_times[repetition]),
                found.answers[repetition],
                tuple(found.counts[repetition].astype(int).tolist()),
            )
            assert got == (expected.time, expected.answer, expected.counts), (seed, repetition)
            pursued |= set(expected.pursued)
    # else the case would say nothing about what is pursued (but for a first arm that stays reachable
    # to the end, wrong as it looks, because others are sampled meanwhile)
    assert len(pursued) > 1 or (case.sticky and case.kind == "AnyLowArm")


@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_round_is_that_of_the_naive_engine(case: Case) -> None:
    expected = case.naive(SEEDS[0], 0)
    trace = sw.run(**case.package, seed=SEEDS[0], trace=True).trace
    assert trace is not None
    assert tuple(trace.arms.tolist()) == expected.arms
    arms = len(case.means)
    np.testing.assert_allclose(trace.evidence[arms - 1 :], expected.evidence, rtol=1e-9, atol=1e-12)
    if case.sticky:
        assert trace.pursued[arms:] == expected.pursued


@pytest.mark.parametrize("family", [COIN, BELL], ids=repr)
@pytest.mark.parametrize("epsilon", [0.0, 0.07])
@pytest.mark.parametrize("means", [(0.6, 0.5, 0.2), (0.9, 0.88, 0.85), (0.0, 1.0, 0.5)])
def test_naive_weights_are_optimal(family: Any, epsilon: float, means: tuple[float, ...]) -> None:
    """The weights of the naive engine against cutting planes that know nothing of best arms."""
    same, mu = SAME[family], np.array(means)
    problem = naive_engine.BestArm(same, 3, epsilon)
    best = int(np.argmax(mu))
    rivals = [j for j in range(3) if j != best]
    cells = [
        naive.Cell((np.eye(3)[j] - np.eye(3)[best])[None], np.array([epsilon])) for j in rivals
    ]
    lower, upper, _ = naive.value(same.divergence, (same.low, same.high), mu, cells)
    value = problem.value(mu, best)
    assert lower * (1 - 1e-6) <= value <= upper * (1 + 1e-6)
    weights = np.array([3.0, 7.0, 5.0])
    paid = naive.cost(same.divergence, (same.low, same.high), weights, mu, cells)[0]
    assert problem.evidence(weights, mu, best) == pytest.approx(paid, rel=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_naive_reach_of_half_spaces_is_a_quadratic_program(seed: int) -> None:
    """Trying all faces against a solver for quadratic programs."""
    rng = np.random.default_rng(seed)
    problem = naive_engine.AnyHalfSpace(SAME[BELL], *THREE_PLANES)
    mu, n = rng.normal(size=3), rng.integers(3, 30, 3).astype(float)
    scale = np.abs(problem.normals).sum(axis=1)
    rows = problem.normals / scale[:, None]
    for m, side in problem.answers():
        normals = [side * rows[m]]
        normals += [side * rows[m] - s * rows[k] for k in range(3) if k != m for s in (1, -1)]
        cell = naive.Cell(np.array(normals), np.zeros(len(normals)))
        paid = naive.project(SAME[BELL].divergence, (-np.inf, np.inf), n, mu, cell)[0]
        assert problem.reach(n, mu, (m, side)) == pytest.approx(paid, rel=1e-5, abs=1e-9)
