"""Evidence where variances are unknown, against brute force from samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import gamma

import stopwise as sw
from naive_students import least_of_pair, log_wealth, pair_evidence, samples_of
from stopwise.core.compile.kernels import compiled
from stopwise.core.data import Data
from stopwise.core.errors import NotDefined
from stopwise.stopping.students_t import SLACK, bounded
from stopwise.stopping.wealth_state import wealth_state

UNKNOWN = sw.Gaussian(variance=None)


def evidence(problem: Any, answer: Any, groups: list[Any], cell: int = 0) -> float:
    """What is judged of one cell, given every arm's samples."""
    counts = np.array([each.size for each in groups], dtype=float)
    means = np.array([each.mean() for each in groups])
    family = UNKNOWN.estimated(_recorded(groups))
    state, code = wealth_state(family, problem), problem.encode(answer)
    found = problem.cell(code, cell).evidence(family, Data(counts, means), state, -math.inf)
    fast = compiled(cell_evidence)
    data = Data(counts, means)
    assert fast(state, problem, family, data, code, cell) == found  # bit for bit
    return float(found)


def cell_evidence(state: Any, problem: Any, family: Any, data: Any, code: Any, cell: int) -> float:
    return problem.cell(code, cell).evidence(family, data, state, -math.inf)


@pytest.mark.parametrize("seed", range(12))
def test_a_pair(seed: int) -> None:
    """Never above brute force on a grid (but for the grid), and not much below."""
    rng = np.random.default_rng(seed)
    counts = np.floor(10.0 ** rng.uniform(0.4, 2.5, 2)).astype(int)
    spreads = 10.0 ** rng.uniform(-1.0, 1.0, 2)
    gap = rng.uniform(1.5, 8.0) * math.sqrt(float((spreads**2 / counts).sum()))
    margin = float(rng.choice([0.0, 0.3]))
    groups = [
        samples_of(counts[0], gap, spreads[0], seed),
        samples_of(counts[1], margin, spreads[1], seed + 1),
    ]
    expected = pair_evidence(*groups, margin)
    found = evidence(sw.BestArm(2, margin), 0, groups)
    assert expected - 2.0 * SLACK <= found <= expected + 1e-6


def test_two_minima() -> None:
    """Going downhill from the rival's mean ends at 13; the truth is 3."""
    groups = [samples_of(9, 3.15, 1.93, 1), samples_of(8, 0.0, 0.07, 2)]
    walk = np.linspace(0.01, 3.14, 240)
    f = np.array([log_wealth(groups[0], c, 1.0) + log_wealth(groups[1], c, -1.0) for c in walk])
    valleys = f[1:-1][(f[1:-1] < f[:-2]) & (f[1:-1] < f[2:])]
    x = least_of_pair(*groups, 0.0, 401)
    assert valleys.size == 2
    assert valleys.max() > 4.0 * x
    found = evidence(sw.BestArm(2), 0, groups)
    assert found == pytest.approx(x - math.log1p(x), abs=2.0 * SLACK)
    assert found <= x - math.log1p(x) + 1e-6


def test_one_arm() -> None:
    groups = [samples_of(40, 0.5, 1.0, 1), samples_of(7, -1.0, 0.3, 2)]
    problem = sw.Thresholding(2, 0.0)
    for cell, side in ((0, 1.0), (1, -1.0)):
        expected = log_wealth(groups[cell], 0.0, side)
        assert evidence(problem, (1,), groups, cell) == pytest.approx(expected, rel=1e-8)
    assert evidence(problem, (0, 1), groups, 0) == 0.0


def test_all_arms_on_one_side() -> None:
    """The richest of K at half the error rate, or all together: Gamma(K) tails."""
    groups = [
        samples_of(40, -0.9, 1.0, 1),
        samples_of(30, -0.8, 1.0, 2),
        samples_of(9, 1.0, 1.0, 3),
    ]
    made = [log_wealth(each, 0.0, -1.0) for each in groups]
    together = -math.log(gamma.sf(sum(made), 3))
    expected = max(max(made) - math.log(3.0), together) - math.log(2.0)
    assert evidence(sw.MinimumThreshold(3, 0.0), "low", groups) == pytest.approx(expected, rel=1e-8)
    assert expected == pytest.approx(together - math.log(2.0))


@pytest.mark.parametrize("arms", [1, 2, 5, 40])
def test_the_bound_on_a_product(arms: int) -> None:
    """log A is at most exponential, so the sum of m of them has the tail of Gamma(m)."""
    for x in (0.1, 1.0, 5.0, 60.0):
        assert bounded(x, arms) == pytest.approx(-gamma.logsf(x, arms), rel=1e-9, abs=1e-12)
    assert bounded(0.0, arms) == 0.0


def test_d_is_at_least_the_evidence() -> None:
    rng = np.random.default_rng(5)
    for seed in range(60):
        counts = rng.integers(2, 60, 2)
        groups = [rng.normal(rng.normal(), 10.0 ** rng.uniform(-1, 1), n) for n in counts]
        groups.sort(key=lambda each: -each.mean())
        sizes = [each.size for each in groups]
        family = UNKNOWN.seen([each.std() for each in groups])
        means = [each.mean() for each in groups]
        top = sw.evidence(sw.BestArm(2), means, family=family, counts=sizes)[0]
        assert evidence(sw.BestArm(2), 0, groups) <= top + 1e-9, seed


def test_no_spread_is_no_evidence() -> None:
    """Constant data but for rounding, however many; also beside arms with a spread."""
    same, other = np.full(1000, 0.1 + 0.2), samples_of(50, 0.0, 0.01, 1)
    assert evidence(sw.BestArm(2), 0, [same, other]) == 0.0
    record = _recorded([same, other])
    assert record.variance[0] == 0.0 < record.variance[1]
    nearly = np.where(np.arange(1000) % 2 == 0, 0.3, 0.1 + 0.2)
    assert _recorded([nearly]).variance[0] == 0.0


def test_welford_at_a_far_place() -> None:
    """At 1e6 standard deviations from 0 the spread has ten digits."""
    samples = np.random.default_rng(3).standard_normal(5000)
    record = _recorded([samples + 1e6])
    assert record.variance[0] == pytest.approx(samples.var(), rel=1e-9)


def _recorded(groups: list[Any]) -> Any:
    kept = UNKNOWN.init_stats(len(groups))
    for arm, samples in enumerate(groups):
        for sample in samples:
            UNKNOWN.update_stats(kept, arm, float(sample))
    return kept


@pytest.mark.parametrize("rule", [sw.Mixture(), sw.MixtureMartingale(), sw.Conservative()])
def test_thresholds_for_exponential_families_are_refused(rule: Any) -> None:
    with pytest.raises(NotDefined, match=r"variance=None.*Wealth"):
        sw.simulate(
            sw.BestArm(2), [0.0, 1.0], family=UNKNOWN, stopping=rule, deviations=1.0, repetitions=1
        )


def test_other_questions_are_refused() -> None:
    for problem in (sw.Sphere(2, 1.0), sw.AllHalfSpaces([[1.0, -1.0]])):
        with pytest.raises(NotDefined, match="variance=None"):
            sw.simulate(problem, [3.0, 1.0], family=UNKNOWN, deviations=1.0, repetitions=1)
