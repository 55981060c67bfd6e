"""Races: what is claimed of contestants whose times are known, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import stopwise as sw
from stopwise.timing.race import Race, Rules
from stopwise.timing.report import BenchReport

FALSE_ALARM = 1e-6


def most(runs: int, share: float) -> int:
    """Binomial(runs, share) exceeds this with probability FALSE_ALARM at most."""
    return int(binom.isf(FALSE_ALARM, runs, share))


class Machine:
    """A clock that no machine disturbs: a slow drift that all share, and noise of their own."""

    def __init__(self, noise: float, seed: int) -> None:
        self.rng, self.noise, self.drift = np.random.default_rng(seed), noise, 0.0

    def program(self, seconds: float) -> Callable[[], float]:
        def run() -> float:
            self.drift += 0.01 * self.rng.normal()
            return seconds * math.exp(self.drift + self.noise * self.rng.normal())

        return run


def race(times: dict[str, float], noise: float, seed: int, **rules: Any) -> BenchReport:
    machine = Machine(noise, seed)
    found = Race(list(times), Rules(seed=seed, **rules))
    found.run([machine.program(each) for each in times.values()])
    return BenchReport(found)


def test_one_is_faster() -> None:
    report = race({"A": 1.34, "B": 1.0}, 0.05, 1)
    assert report.verdict.winners == (1,)
    found = float(report.sentence.split("(at least ")[1].split(")")[0])
    assert report.sentence.startswith("B is 1.3")
    assert report.sentence.endswith("63 runs of each, delta = 0.05")
    assert 1.0 < found < 1.34


def test_no_difference_is_a_proven_answer() -> None:
    report = race({"A": 1.0, "B": 1.002, "C": 1.5}, 0.03, 2)
    assert report.verdict.winners == (0, 1)
    assert report.sentence.startswith("A and B: no difference above 2 %; A is 1.5")
    assert "than C (at least 1." in report.sentence
    assert "56 to " in report.sentence
    places = [row[-1] for row in report.table()[1]]
    assert places[:2] == ["fastest", "fastest"]
    assert places[2].startswith("out after ")


def test_undecided_says_so() -> None:
    report = race({"A": 1.0, "B": 1.01}, 1.0, 3, budget=1e-6)
    assert report.race.ended == "budget"
    assert report.sentence.startswith("undecided after ")
    assert "looks" in report.sentence
    assert 0.0 <= report.progress < 1.0


def test_wrong_claims_are_rare() -> None:
    """Equal times, every claim that one is faster is wrong; at a ratio of 1.02 so is a tie."""
    wrong = ties = 0
    for seed in range(60):
        settings = {"delta": 0.2, "warmup": 0, "budget": 0.25}
        winners = race({"A": 1.0, "B": 1.0}, 0.02, seed, **settings).verdict.winners
        wrong += len(winners) == 1
        winners = race({"A": 1.02, "B": 1.0}, 0.02, seed, **settings).verdict.winners
        ties += len(winners) == 2
    assert wrong <= most(60, 0.2)
    assert ties <= most(60, 0.2)


def test_whoever_runs_second_is_slower_and_the_random_order_makes_it_fair() -> None:
    wrong = 0
    for seed in range(40):
        rng, turn = np.random.default_rng(seed), [0]

        def run(rng: Any = rng, turn: Any = turn) -> float:
            turn[0] += 1
            return math.exp(0.05 * rng.normal()) * (1.2 if turn[0] % 2 else 1.0)

        found = Race(["a", "b"], Rules(delta=0.2, seed=seed, budget=0.1, warmup=1, epsilon=0.001))
        wrong += len(found.run([run, run]).session.verdict().winners) == 1
    assert wrong <= most(40, 0.2)


def test_linear_scale_and_larger_is_better() -> None:
    rng = np.random.default_rng(4)
    found = Race(["a", "b"], Rules(scale="linear", goal="max", epsilon=0.1))
    found.run([lambda: rng.normal(-1.0, 0.2), lambda: rng.normal(2.0, 0.2)])
    assert BenchReport(found, timed=False).sentence.startswith("b is ")
    assert " higher than a (at least " in BenchReport(found, timed=False).sentence


def test_ratios_need_numbers_above_0() -> None:
    with pytest.raises(sw.BadArgument, match="--scale linear"):
        Race(["a", "b"], Rules(warmup=0)).run([lambda: 0.0, lambda: 0.0])


def test_ctrl_c_keeps_what_there_is() -> None:
    machine, left = Machine(0.5, 5), iter(range(40))

    def slow() -> float:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return machine.program(1.0)()

    found = Race(["a", "b"], Rules(warmup=1)).run([machine.program(1.0), slow])
    assert found.ended == "interrupted"
    assert found.session.verdict().items == 39
    assert "(interrupted), 39 runs of each" in BenchReport(found).sentence


def test_functions(tmp_path: Any) -> None:
    few, many, seen = list(range(10)), list(range(40_000)), []
    report = sw.bench({"few": lambda: sum(few), "many": lambda: sum(many)}, watch=seen.append)
    assert report.verdict.winners == (0,)
    assert len(seen) == report.verdict.items
    assert report.to_dict()["winners"] == ["few"]
    assert len(report.to_dict()["results"]["few"]) == report.verdict.items
    report.plot().savefig(tmp_path / "bench.png")
    assert "few is " in repr(report)
