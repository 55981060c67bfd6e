"""The proof of Wealth, tried numerically: in every cell of every problem, with every family.

Evidence against a cell must not exceed the log wealth of one martingale *at any model in the cell*,
since any of them may be the truth. Models are found by projecting random data; the wealth at a model is
written out.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import stopwise as sw
from instances import PAIRS, Setting, draw_instance, pair_id
from naive_wealth import grid, log_arm, log_pair
from stopwise.cells.bound import Bound, Side
from stopwise.cells.gap import Gap
from stopwise.core.data import Data
from stopwise.stopping.wealth_state import wealth_state

PROBES = 8
# a product is judged part by part: test_wealth.py compares its evidence with its parts'; linear arms by
# a mixture of their own: test_linear.py
ALONE = [each for each in PAIRS if each[0] not in ("product", "linear")]


def probe(setting: Setting, arms: int, rng: Any) -> Data:
    """Some data: a model for which they stand may be anywhere in the space."""
    counts = np.floor(np.exp(rng.uniform(0.0, 8.0, arms)))
    return Data(counts, rng.uniform(setting.low, setting.high, arms))


def models(problem: Any, family: Any, code: Any, cell: int, probes: list[Data]) -> tuple[Any, Any]:
    """Models in a cell, and the arms that it constrains: those that were ever moved."""
    found, moved = [], np.zeros(probes[0].means.size, dtype=bool)
    for data in probes:
        closest = np.zeros(data.means.size)
        problem.project(family, data, code, cell, closest)
        moved |= closest != data.means
        found.append(closest)
    return found, np.flatnonzero(moved)


def log_wealth(family: Any, what: Any, data: Data, arms: Any, model: Any) -> float:
    """Of the bets that are made against a cell of this kind, at one model."""
    samples = [np.full(int(n), x) for n, x in zip(*data, strict=True)]
    own = [family.of_arm(k) for k in range(len(samples))]
    if isinstance(what, Bound):
        return log_arm(own[what.arm], int(-what.side), samples[what.arm], model[what.arm])
    if isinstance(what, Gap):
        one, two = what.arm, what.other
        gap = model[two] - model[one]
        return log_pair(own[one], own[two], samples[one], samples[two], model[one], gap)
    if isinstance(what, Side):
        every = zip(own, samples, model, strict=True)
        logs = np.array([log_arm(one, int(-what.side), x, c) for one, x, c in every])
        share = 1.0 / logs.size
        sets = np.sum(np.logaddexp(math.log(1.0 - share), logs + math.log(share)))
        return float(np.logaddexp(logsumexp(logs) + math.log(share), sets) - math.log(2.0))
    if isinstance(family, sw.Gaussian):
        terms = []
        for kappa in 8.0 ** np.arange(-1, 7):
            shrunken = data.counts[arms] ** 2 / (data.counts[arms] + kappa)
            gained = shrunken * (data.means[arms] - model[arms]) ** 2 / (2.0 * family.variance)
            terms.append(np.sum(gained - 0.5 * np.log1p(data.counts[arms] / kappa)))
        return float(logsumexp(terms, b=grid(sw.Gaussian())[1]))
    return float(
        sum(
            data.counts[k] * family.divergence(data.means[k], model[k])
            - family.wide_regret(data.counts[k], data.means[k])
            for k in arms
        )
    )


@pytest.mark.parametrize(("kind", "setting"), ALONE, ids=pair_id)
def test_evidence_is_at_most_the_wealth_at_every_model(kind: str, setting: Setting) -> None:
    assert any(compare(kind, setting, [seed]) > 0 for seed in range(4))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "setting"), ALONE, ids=pair_id)
def test_evidence_of_many_problems(kind: str, setting: Setting) -> None:
    assert compare(kind, setting, range(4, 16)) > 0


def compare(kind: str, setting: Setting, seeds: Any) -> int:
    """How often some evidence was compared."""
    family, arms, compared = (
        setting.family.likelihood_family(),
        3,
        0,
    )  # Bounded arms: test_bounded.py
    low, high = family.interval()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, _ = draw_instance(kind, setting, arms, seed)
        state = wealth_state(family, problem)
        for answer in islice(problem.answers(), 4):
            code = problem.encode(answer)
            for cell in range(min(int(problem.cell_count(code)), 3)):
                probes = [probe(setting, arms, rng) for _ in range(PROBES)]
                inside, constrained = models(problem, family, code, cell, probes)
                assert constrained.size <= problem.rank()
                what = problem.cell(code, cell).simplest()
                for data in probes[:3]:
                    found = problem.cell(code, cell).evidence(family, data, state, -math.inf)
                    for model in inside:
                        if np.all((model > low) & (model < high)):
                            most = log_wealth(family, what, data, constrained, model)
                            assert found <= max(most, 0.0) + 1e-7 * (1.0 + abs(most))
                            compared += int(found > 0.0)
    return compared
