"""What tests of stopping rules share: limits of counts, wrong answers, quick and full evidence.

A count is compared with an exact binomial limit that a correct package exceeds with probability
``FALSE_ALARM`` at most.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from steps import begin, instance, observe
from stopwise.core.arrays import Floats, Rng, argmax, smallest
from stopwise.core.data import State
from stopwise.engine.design import Design
from stopwise.problems.instance import Instance
from stopwise.sampling.strategy import Direct

FALSE_ALARM = 1e-6
DELTAS = (0.2, 0.05)


class Chasing(Direct, listed=False):
    """Every arm in turn; with ``luck`` two rounds of three go to the highest and the lowest mean.

    Adaptive sampling without an oracle: one quick kernel for both, whatever the problem.
    """

    luck: bool

    def next_arm(self, instance: Instance, state: State, rounds: int, rng: Rng) -> int:
        if self.luck and rounds % 3 == 1:
            return argmax(state.data.means)
        values = state.data.means if self.luck and rounds % 3 == 2 else state.data.counts
        place, least = 0, smallest(values)
        for k in range(values.size):
            if values[k] == least:
                place = k
        return place


def most(runs: int, share: float) -> int:
    """Binomial(runs, share) exceeds this with probability FALSE_ALARM at most."""
    return int(binom.isf(FALSE_ALARM, runs, share))


def check_crossings(tops: Floats) -> None:
    """Ville: the log of the most that a bet made reaches log 1/alpha in at most alpha of the runs."""
    runs = len(tops)
    for alpha in (0.2, 0.1, 0.05):
        crossed = np.sum(tops >= -math.log(alpha), axis=0)
        assert np.all(crossed <= most(runs, alpha)), (alpha, crossed / runs)


def error_rates(found: Any, wrong: Collection[Any]) -> list[float]:
    """The share of wrong answers among all runs, decided or not, at each of DELTAS: at most delta."""
    shares, runs = [], len(found.answers)
    for delta, answers in zip(DELTAS, found.answers.T, strict=True):
        errors = sum(answer in wrong for answer in answers if answer is not None)
        assert errors <= most(runs, delta), (delta, errors / runs)
        shares.append(errors / runs)
    return shares


def check_skipping(design: Design, samples: Iterable[tuple[int, float]]) -> None:
    """Round by round in plain Python: what is skipped would not have stopped the run, which stops."""
    problem, family, _, rule = design.setting
    level, arms = float(design.levels[0]), problem.arms
    one, two = begin(design), begin(design)
    for rounds, (arm, sample) in enumerate(samples, start=1):
        for state in (one, two):
            observe(design.setting, state, rounds, arms, arm, sample)
        if rounds < arms:
            continue
        quick = rule.margin(instance(problem, family.estimated(one.stats), one), one, rounds, level)
        full = rule.margin(
            instance(problem, family.estimated(two.stats), two), two, rounds, -math.inf
        )
        assert (quick >= level) == (full >= level), rounds
        assert full <= quick + 1e-9
        if quick >= level:
            assert quick == pytest.approx(full, rel=1e-9)
            assert np.array_equal(one.report.answer, two.report.answer)
            return
    raise AssertionError("never stopped")
