"""LinGapE and its stopping rule, against a naive version from the paper, and in all conditions."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import stopwise as sw
from stopwise import Session
from stopwise.campaign.spec import HORIZON
from stopwise.core import spelling
from stopwise.engine.design import Setting, prepare

BELL = sw.Gaussian()
WIDE = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5], [-0.3, 0.4]])
SOARE = np.vstack([np.eye(6), [math.cos(0.1), math.sin(0.1), 0, 0, 0, 0]])
PAIRS = [
    (sw.LinGapE(), sw.ClearGaps()),
    (sw.LinGapE("stylized"), sw.Stylized()),
    (sw.LinGapE(), sw.Wealth()),
]


class Naive:
    """Algorithm 1 of Xu, Honda & Sugiyama (2018) with matrices of numpy; variances may differ."""

    def __init__(self, features: Any, variances: Any, delta: float, radius: str) -> None:
        self.x, self.radius, self.base = features, radius, -math.log(delta)
        self.s2 = np.broadcast_to(np.asarray(variances, dtype=float), len(features))
        arms, size = features.shape
        self.information, self.pull, self.t = np.zeros((size, size)), np.zeros(size), 0
        self.prior = sum(np.outer(x, x) / s2 for x, s2 in zip(self.x, self.s2, strict=True))
        self.prior = self.prior * size / arms

    def observe(self, arm: int, sample: float) -> None:
        self.information = self.information + np.outer(self.x[arm], self.x[arm]) / self.s2[arm]
        self.pull = self.pull + sample * self.x[arm] / self.s2[arm]
        self.t += 1

    def gaps(self) -> tuple[int, Any, Any]:
        """The best fit, the gaps to it, and their widths."""
        inverse = np.linalg.inv(self.information)
        fits = self.x @ inverse @ self.pull
        best = int(np.argmax(fits))
        y = self.x[best] - self.x
        spread, growth = inverse, math.log(1.0 + math.log(self.t))
        if self.radius == "mixture":
            spread = inverse + inverse @ self.prior @ inverse
            both = np.linalg.det(self.information + self.prior) / np.linalg.det(self.prior)
            growth = 0.5 * math.log(both)
        widths = np.sqrt(2.0 * (self.base + growth) * np.einsum("ad,de,ae->a", y, spread, y))
        return best, fits[best] - fits, widths

    def stops(self) -> bool:
        best, gaps, widths = self.gaps()
        return bool(np.all(np.delete(gaps - widths, best) >= 0.0))

    def choose(self) -> int:
        best, gaps, widths = self.gaps()
        above = widths - gaps
        above[best] = -np.inf
        y = self.x[best] - self.x[np.argmax(above)]
        after = [
            y @ np.linalg.inv(self.information + np.outer(x, x) / s2) @ y
            for x, s2 in zip(self.x, self.s2, strict=True)
        ]
        return int(np.argmin(after))


@pytest.mark.usefixtures("not_compiled")
@pytest.mark.parametrize("variances", [1.0, (1.0, 0.3, 2.0, 0.7)])
@pytest.mark.parametrize(("strategy", "stopping"), PAIRS[:2], ids=repr)
def test_choices_and_stops_are_those_of_the_naive_one(
    strategy: Any, stopping: Any, variances: Any
) -> None:
    problem = sw.Linear(WIDE)
    family = sw.Gaussian(variances if isinstance(variances, float) else list(variances))
    radius = "mixture" if strategy == sw.LinGapE() else "stylized"
    found = sw.run(
        problem, problem.means([1.0, 0.1]), family=family, strategy=strategy, stopping=stopping,
        delta=0.1, seed=2, trace=True,
    )  # fmt: skip
    assert found.trace is not None
    naive = Naive(WIDE, variances, 0.1, radius)
    for place, (arm, sample) in enumerate(zip(found.trace.arms, found.trace.samples, strict=True)):
        if place >= len(WIDE):
            assert not naive.stops()
            assert naive.choose() == arm, f"sample {place}"
        naive.observe(int(arm), float(sample))
    assert naive.stops()
    assert naive.gaps()[0] == found.answer


@pytest.mark.usefixtures("not_compiled")
@pytest.mark.parametrize(("strategy", "stopping"), PAIRS, ids=repr)
def test_the_lowest_mean_is_the_mirror_image(strategy: Any, stopping: Any) -> None:
    theta, settings = [2.0, 0.2], {"family": BELL, "strategy": strategy, "stopping": stopping}
    high, low = sw.Linear(WIDE), sw.Linear(WIDE, goal="min")
    best = sw.run(high, high.means(theta), delta=0.1, seed=3, trace=True, **settings)
    least = prepare(Setting(low, BELL, strategy, stopping), None, (0.1,), HORIZON)
    session = Session(least)
    assert best.trace is not None
    for arm, sample in zip(best.trace.arms, best.trace.samples, strict=True):
        ticket = session.ask()
        assert ticket.arm == arm
        decided = session.tell(ticket, -float(sample))
    assert decided is not None


@pytest.mark.parametrize("features", [[[1.0], [2.0]], [[1.0, 0.0], [0.0, 1.0]]])
def test_two_arms_and_ties(features: Any) -> None:
    """Every arm that tells the gap is sampled, and a tie does not end."""
    problem = sw.Linear(features)
    tied = np.zeros(problem.features.shape[1])
    for stopping in (sw.ClearGaps(), sw.Wealth()):
        settings = {"family": BELL, "strategy": sw.LinGapE(), "stopping": stopping}
        runs = sw.simulate(problem, problem.means(tied + 0.5 * (np.arange(tied.size) == 0)),
                           delta=0.05, repetitions=20, seed=1, progress=False, **settings)  # fmt: skip
        assert runs.correct.mean() >= 0.9
        open_end = sw.simulate(problem, problem.means(tied), delta=0.01, repetitions=10, seed=1,
                               max_rounds=500, progress=False, **settings)  # fmt: skip
        assert np.sum(open_end.stopping_times > 0) <= 3


def test_equal_features_are_equal_arms() -> None:
    """Two arms with one feature: no gap between them, and no run ends with the one before the other."""
    problem = sw.Linear([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    runs = sw.simulate(problem, problem.means([1.0, 0.0]), family=BELL, strategy=sw.LinGapE(),
                       stopping=sw.ClearGaps(), repetitions=5, seed=1, max_rounds=300,
                       progress=False)  # fmt: skip
    assert np.all(runs.stopping_times <= 0)


def test_a_thousand_arms() -> None:
    rng = np.random.default_rng(1)
    problem = sw.Linear(rng.normal(size=(1_000, 3)))
    runs = sw.simulate(problem, problem.means([1.0, 0.0, 0.0]), family=BELL, strategy=sw.LinGapE(),
                       repetitions=1, seed=1, max_rounds=1_010, progress=False)  # fmt: skip
    assert runs.stopping_times.size == 1


@pytest.mark.parametrize("strategy", [sw.LinGapE(), sw.LinGapE("stylized")], ids=repr)
def test_batches_with_losses_end_with_wealth(strategy: Any) -> None:
    """A third of the samples is lost, the others come in another order."""
    problem = sw.Linear(WIDE)
    means = problem.means([1.0, 0.1])
    session = Session(
        prepare(Setting(problem, BELL, strategy, sw.Wealth()), None, (0.05,), HORIZON),
        losses="at random",
    )
    rng, decided = np.random.default_rng(4), None
    for _ in range(300):
        tickets = [session.ask() for _ in range(20)]
        for ticket in (tickets[place] for place in rng.permutation(20)):
            if rng.random() < 1 / 3:
                session.release(ticket)
            elif decided is None:
                decided = session.tell(ticket, float(rng.normal(means[ticket.arm])))
        if decided is not None:
            break
    assert decided is not None
    assert session.counts.min() >= 1


def test_names_and_refusals() -> None:
    assert spelling.strategy("lin-gap-e:radius=stylized") == sw.LinGapE("stylized")
    assert spelling.stopping("clear-gaps") == sw.ClearGaps()
    assert pickle.loads(pickle.dumps(sw.LinGapE())) == sw.LinGapE()
    for setting in ({"strategy": sw.LinGapE()}, {"stopping": sw.ClearGaps()}):
        with pytest.raises(sw.NotDefined, match=r"Linear\(features\)"):
            sw.run(sw.BestArm(2), [0.5, 0.0], family=BELL, seed=1, **setting)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.2, 0.05])
@pytest.mark.parametrize(("strategy", "stopping"), [PAIRS[0], PAIRS[2]], ids=repr)
def test_error_rates_at_the_hardest_truth(strategy: Any, stopping: Any, delta: float) -> None:
    """Nearly a tie, 1,000 runs; false-alarm rate 1e-6; the same for two workers."""
    problem = sw.Linear([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8]])
    settings: dict[str, Any] = {
        "means": problem.means([0.301, 0.3]), "family": BELL, "strategy": strategy,
        "stopping": stopping, "delta": delta, "seed": 9, "max_rounds": 1000,
        "progress": False,
    }  # fmt: skip
    runs = sw.simulate(problem, repetitions=1000, **settings)
    assert runs.proven
    wrong = [answer is not None and answer != 2 for answer in runs.answers.ravel()]
    assert sum(wrong) <= binom.isf(1e-6, 1000, delta)
    two = sw.simulate(problem, repetitions=20, workers=2, **settings)
    np.testing.assert_array_equal(runs.stopping_times[:20], two.stopping_times)
