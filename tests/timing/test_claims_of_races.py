"""What a race says is proven, and on machines that are not steady it says nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom

import stopwise as sw
from stopwise.core.arrays import Floats
from stopwise.timing.race import Race, Rules
from stopwise.timing.report import BenchReport
from stopwise.timing.steady import is_steady, variance_inflation

FALSE_ALARM = 1e-6
DELTA = 0.05
SAID = re.compile(r"(\w+) is ([0-9.]+) times faster than (\w+)(?: \(at least ([0-9.]+)\))?")
Law = Callable[[np.random.Generator, int], Floats]


def most(runs: int, share: float) -> int:
    """Binomial(runs, share) exceeds this with probability FALSE_ALARM at most."""
    return int(binom.isf(FALSE_ALARM, runs, share))


def race(logs: Floats, **rules: Any) -> Race:
    """Programs with these log times, a row a block, until there are no more blocks."""
    rows: Iterator[Floats] = iter(logs)
    now: list[Floats] = []

    def run(arm: int) -> float:
        if not now or np.isnan(now[0][arm]):
            row = next(rows, None)
            if row is None:
                raise KeyboardInterrupt
            now[:] = [row.copy()]
        found = math.exp(now[0][arm])
        now[0][arm] = math.nan
        return found

    names = list("ABCDEFGH")[: logs.shape[1]]
    found = Race(names, Rules(warmup=0, budget=1e9, **rules))
    return found.run([lambda arm=arm: run(arm) for arm in range(logs.shape[1])])  # type: ignore[misc]


def pair(differences: Floats, **rules: Any) -> Race:
    return race(np.column_stack([differences, 0.0 * differences]), **rules)


def claims(report: BenchReport) -> list[tuple[str, str, float]]:
    """Who is said to be faster than whom, and how many times at least."""
    return [
        (better, worse, float(least or 1.0))
        for better, _, worse, least in SAID.findall(report.sentence)
    ]


# ------------------------------------------------------------------------------ only what is proven


def test_only_proven_pairs_are_said() -> None:
    """B puts C out; A, which is noisy and slower than C, is left with B."""
    truth = {"A": math.log(1.25), "B": 0.0, "C": math.log(1.2)}
    ties = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        logs = rng.normal(size=(4_000, 3)) * [1.0, 0.02, 0.02] + list(truth.values())
        found = race(logs, epsilon=0.5, seed=seed)
        report = BenchReport(found)
        said = claims(report)
        assert said, report.sentence
        assert all(truth[better] < truth[worse] for better, worse, _ in said), report.sentence
        assert {worse for _, worse, _ in said} | {
            report.labels[k] for k in report.verdict.winners
        } == set("ABC")
        ties += len(report.verdict.winners) > 1
        proven = {(p["better"], p["than"]) for p in report.to_dict()["pairs"] if p["proven"]}
        assert proven == {(better, worse) for better, worse, _ in said}
        for better, worse, least in said:
            i, j = "ABC".index(better), "ABC".index(worse)
            assert least <= math.exp(found.session.at_least(i, j)) + 1e-12
    assert ties  # else nothing was tried


def check_equal_programs(runs: int, blocks: int) -> float:
    """All that is said of equal programs is wrong, but for ties; all of it together: delta."""
    wrong = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        logs = rng.choice([-1.0, 0.0, 2.0], size=(blocks, 3)) + 0.1 * rng.normal(size=(blocks, 3))
        wrong += bool(BenchReport(race(logs, delta=0.2, seed=seed)).beaten)
    assert wrong <= most(runs, 0.2)
    return wrong / runs


def test_all_claims_hold_together() -> None:
    check_equal_programs(40, 60)


@pytest.mark.slow
def test_all_claims_hold_together_in_many_races() -> None:
    print(check_equal_programs(1_000, 300))


# ------------------------------------------------------------------------------- machines and laws


def autoregressive(memory: float, noise: float) -> Law:
    def law(rng: np.random.Generator, blocks: int) -> Floats:
        news = noise * rng.normal(size=blocks) * math.sqrt(1.0 - memory**2)
        news[0] = noise * rng.normal()
        return np.asarray(lfilter([1.0], [1.0, -memory], news))

    return law


def slow_runs(share: float, factor: float) -> Law:
    """Of one program, which is faster otherwise."""

    def law(rng: np.random.Generator, blocks: int) -> Floats:
        slow = (rng.random(blocks) < share) - share
        return np.asarray(math.log(factor) * slow + 0.03 * rng.normal(size=blocks))

    return law


def sine(size: float, period: float) -> Law:
    def law(rng: np.random.Generator, blocks: int) -> Floats:
        phase = 2.0 * math.pi * (np.arange(blocks) / period + rng.random())
        return np.asarray(size * np.sin(phase) + 0.02 * rng.normal(size=blocks))

    return law


UNSTEADY: dict[str, Law] = {
    "AR .5": autoregressive(0.5, 1.0),
    "AR .7, little noise": autoregressive(0.7, 0.05),
    "AR .9": autoregressive(0.9, 1.0),
    "5 % three times": slow_runs(0.05, 3.0),
    "1 % fifty times": slow_runs(0.01, 50.0),
    "20 % twice": slow_runs(0.2, 2.0),
    "sine": sine(0.01, 200.0),
}


def wrong_claims(law: Law, runs: int, blocks: int, delta: float = DELTA) -> int:
    """Races of programs with equal mean logarithms in which one is called faster."""
    wrong = 0
    for seed in range(runs):
        found = pair(law(np.random.default_rng(seed), blocks), delta=delta, seed=seed)
        wrong += len(found.session.verdict().winners) == 1
    return wrong


@pytest.mark.parametrize("name", UNSTEADY)
def test_machines_that_are_not_steady(name: str) -> None:
    assert wrong_claims(UNSTEADY[name], 30, 250) <= most(30, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSTEADY)
def test_machines_that_are_not_steady_in_many_races(name: str) -> None:
    wrong = wrong_claims(UNSTEADY[name], 1_000, 500)
    print(name, wrong / 1_000)
    assert wrong <= most(1_000, DELTA)


@pytest.mark.parametrize("law", ["normal", "bimodal", "heavy"])
def test_steady_machines_are_not_held_up(law: str) -> None:
    """99 in 100 decide, rightly, long before the blocks end."""
    right = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noise = {
            "normal": rng.normal(size=400),
            "bimodal": rng.choice([-1.0, 1.0], size=400) + 0.2 * rng.normal(size=400),
            "heavy": rng.standard_t(4, size=400) / math.sqrt(2.0),
        }[law]
        right += pair(0.1 * noise - 0.29, seed=seed).session.verdict().winners == (0,)
    assert right >= 40 - most(40, 0.01)


def test_what_is_said_of_a_machine_that_is_not_steady() -> None:
    found = pair(1.0 + autoregressive(0.97, 1.0)(np.random.default_rng(3), 80))
    report = BenchReport(found)
    assert found.session.held
    assert not report.verdict.decided
    assert "the machine is not steady" in report.sentence
    assert "--budget" in report.sentence
    assert report.to_dict()["steady"] is False


# ------------------------------------------------------------------------------------ single pieces


def test_the_inflation_of_the_variance() -> None:
    """Of AR(1) it is (1 + r)/(1 - r), and a bit more for what is not known of r."""
    values = autoregressive(0.8, 2.0)(np.random.default_rng(1), 200_000)
    assert variance_inflation(values) == pytest.approx(9.0, rel=0.05)
    apart = np.random.default_rng(2).normal(size=10_000)
    assert variance_inflation(apart) == pytest.approx(1.0, abs=0.06)
    assert variance_inflation(-((-1.0) ** np.arange(100))) == 1.0  # neighbours that differ: no less


def test_repeated_blocks_are_worth_one() -> None:
    rng = np.random.default_rng(4)
    news = rng.normal(0.7, 1.0, size=60)
    assert is_steady(rng.permutation(np.repeat(news, 8)), 0.0, 4.0)
    assert not is_steady(np.repeat(news[:20], 24), 0.0, 4.0)
    assert is_steady(np.full(40, 0.5), 0.0, 4.0)  # equal to the last digit
    assert not is_steady(np.full(40, -0.5), 0.0, 4.0)
    assert not is_steady(np.full(20, 0.5), 0.0, 4.0)  # too few to say


def test_a_run_counts_as_at_most_so_many_times_slower() -> None:
    logs = np.tile([[math.log(1e6), 0.0]], (40, 1)) + np.random.default_rng(5).normal(size=(40, 2))
    found = race(logs)
    assert found.session.verdict().winners == (1,)
    (said,) = claims(BenchReport(found))
    assert said[:2] == ("B", "A")
    assert 1.0 < said[2] < 50.0
    assert found.difference(1, 0) > math.log(1e5)  # what is shown is what was measured


def test_a_smaller_limit_needs_fewer_runs() -> None:
    logs = 0.05 * np.random.default_rng(6).normal(size=(300, 2)) + [0.29, 0.0]
    runs = [race(logs, largest=each).session.counted for each in (2.0, 10.0, 50.0, 1_000.0)]
    assert runs == sorted(runs)
    assert runs[0] < 0.5 * runs[2]


def test_linear_differences_may_have_a_limit() -> None:
    rng = np.random.default_rng(7)
    found = Race(["a", "b"], Rules(scale="linear", goal="max", epsilon=0.1, largest=5.0))
    found.run([lambda: rng.normal(-1.0, 0.2), lambda: rng.normal(2.0, 0.2)])
    assert BenchReport(found, timed=False).sentence.startswith("b is 3")


def test_results_must_be_finite() -> None:
    with pytest.raises(sw.BadArgument, match="a: got inf; allowed: a finite number"):
        Race(["a", "b"], Rules(warmup=0)).run([lambda: math.inf, lambda: 1.0])
