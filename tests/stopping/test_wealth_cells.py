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
from stopwise.cells.shape import BOUND, GAP, SIDE
from stopwise.core.data import Data
from stopwise.families.verbs import divergence, interval, likelihood, of_arm, wide_regret
from stopwise.problems.rounds import judged
from stopwise.problems.verbs import answers, cell_count, encode, project, rank, shape
from stopwise.stopping.verbs import tally

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
        project(problem, family, data, code, cell, closest)
        moved |= closest != data.means
        found.append(closest)
    return found, np.flatnonzero(moved)


def log_wealth(family: Any, what: Any, data: Data, arms: Any, model: Any) -> float:
    """Of the bets that a cell of this shape is judged by, at one model."""
    samples = [np.full(int(n), x) for n, x in zip(*data, strict=True)]
    own = [of_arm(family, k) for k in range(len(samples))]
    if what.kind == BOUND:
        return log_arm(own[what.arm], int(-what.side), samples[what.arm], model[what.arm])
    if what.kind == GAP:
        one, two = what.arm, what.other
        gap = model[two] - model[one]
        return log_pair(own[one], own[two], samples[one], samples[two], model[one], gap)
    if what.kind == SIDE:
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
            data.counts[k] * divergence(family, data.means[k], model[k])
            - wide_regret(family, data.counts[k], data.means[k])
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
    family, arms, compared = likelihood(setting.family), 3, 0  # Bounded arms: test_bounded.py
    low, high = interval(family)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem, _ = draw_instance(kind, setting, arms, seed)
        purse = tally(sw.Wealth(), problem, family)
        for answer in islice(answers(problem), 4):
            code = encode(problem, answer)
            for cell in range(min(int(cell_count(problem, code)), 3)):
                probes = [probe(setting, arms, rng) for _ in range(PROBES)]
                inside, constrained = models(problem, family, code, cell, probes)
                assert constrained.size <= rank(problem)
                what = shape(problem, code, cell)
                for data in probes[:3]:
                    found = judged(purse, problem, family, data, code, cell, -math.inf)
                    for model in inside:
                        if np.all((model > low) & (model < high)):
                            most = log_wealth(family, what, data, constrained, model)
                            assert found <= max(most, 0.0) + 1e-7 * (1.0 + abs(most))
                            compared += int(found > 0.0)
    return compared
