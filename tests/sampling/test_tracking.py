"""Trackers: the projection against a linear program, and the tracking lemma along real sequences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from stopwise.core.compile.kernels import compiled
from stopwise.sampling.strategy import CTracking, DTracking, Explored, water_level


def closest_by_program(target: np.ndarray, floor: float) -> float:
    """The least sup-norm distance to weights above the floor."""
    arms = target.size
    goal = np.append(np.zeros(arms), 1.0)
    eye, one = np.eye(arms), np.ones((arms, 1))
    found = linprog(
        goal,
        A_ub=np.vstack([np.hstack([eye, -one]), np.hstack([-eye, -one])]),
        b_ub=np.concatenate([target, -target]),
        A_eq=[[*np.ones(arms), 0.0]],
        b_eq=[1.0],
        bounds=[*[(floor, None)] * arms, (0.0, None)],
    )
    return float(found.fun)


@pytest.mark.parametrize("seed", range(20))
def test_projection_is_closest_in_sup_norm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(2, 9))
    target = rng.dirichlet(np.full(arms, 0.3))
    floor = float(rng.uniform(0.0, 1.0)) / arms
    out = np.maximum(target - water_level(target, floor, rng.uniform(0.0, 0.2)), 0.0) + floor
    assert out.sum() == pytest.approx(1.0, abs=1e-12)
    assert out.min() >= floor
    assert np.abs(out - target).max() == pytest.approx(closest_by_program(target, floor), abs=1e-9)


def jumping(seed: int, arms: int) -> Any:
    """Target weights that jump among a few vertices and random points."""
    rng = np.random.default_rng(seed)
    kept = rng.dirichlet(np.full(arms, 0.2), 4)
    while True:
        yield kept[rng.integers(4)] if rng.random() < 0.8 else rng.dirichlet(np.full(arms, 0.2))


@pytest.mark.parametrize("arms", [2, 5, 12])
def test_tracking_lemma(arms: int) -> None:
    """Lemma 7 of Garivier & Kaufmann, both statements, at every round."""
    counts, totals, summed = np.zeros(arms), np.zeros(arms + 1), np.zeros(arms)
    for rounds, target in zip(range(4000), jumping(arms, arms), strict=False):
        summed += target
        counts[CTracking().follow(target, counts, totals, rounds)] += 1
        t = rounds + 1
        assert counts.min() >= math.sqrt(t + arms**2) - 2 * arms
        assert np.abs(counts - summed).max() <= arms * (1 + math.sqrt(t))


def test_forced_exploration_keeps_its_promise() -> None:
    """D-tracking with exploration: N_k >= (sqrt(t) - K/2)^+ - 1 at every round."""
    arms, counts, totals = 5, np.zeros(5), np.zeros(6)
    for rounds, target in zip(range(4000), jumping(1, arms), strict=False):
        counts[Explored(DTracking()).follow(target, counts, totals, rounds)] += 1
        assert counts.min() >= max(math.sqrt(rounds + 1) - arms / 2, 0.0) - 1.0


def test_d_tracking_leaves_the_hull() -> None:
    """The paper's example: targets (1/2, 1/2, 0), (1/2, 0, 1/2) in turn; D goes to thirds."""
    targets = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    ends = {}
    for tracker in (DTracking(), CTracking()):
        counts, totals = np.zeros(3), np.zeros(4)
        for rounds in range(6000):
            counts[tracker.follow(targets[rounds % 2], counts, totals, rounds)] += 1
        ends[type(tracker)] = counts / counts.sum()
    np.testing.assert_allclose(ends[DTracking], 1 / 3, atol=2e-3)
    np.testing.assert_allclose(ends[CTracking], [0.5, 0.25, 0.25], atol=2e-2)


def test_compiled_trackers_are_identical() -> None:
    fast = compiled(lambda tracker, w, n, s, t: tracker.follow(w, n, s, t))
    for tracker in (CTracking(), DTracking(), Explored(DTracking())):
        ours, theirs = [np.zeros(4), np.zeros(5)], [np.zeros(4), np.zeros(5)]
        for rounds, target in zip(range(300), jumping(3, 4), strict=False):
            arm = tracker.follow(target, *ours, rounds)
            assert fast(tracker, target, *theirs, rounds) == arm
            ours[0][arm] += 1
            theirs[0][arm] += 1
            np.testing.assert_array_equal(ours[1], theirs[1])
