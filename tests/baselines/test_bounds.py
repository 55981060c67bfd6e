"""Strategies by bounds, elimination and limits: against naive ones, and in all conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, chi2

import naive_bounds as naive
import naive_engine
import stopwise as sw
from steps import begin, instance
from stopwise import Session
from stopwise.baselines.apgai import counted
from stopwise.campaign.spec import HORIZON
from stopwise.engine.design import Setting, prepare
from stopwise.sampling.strategy import Strategy

COIN, BELL = sw.Bernoulli(), sw.Gaussian(0.7)
SAME = {COIN: naive_engine.Bernoulli(), BELL: naive_engine.Gaussian(0.7)}
UNIT = sw.Gaussian(1.0)
FALSE_ALARM = 1e-6


class Case(NamedTuple):
    """A pair of strategy and rule, a question, and the same from the papers."""

    strategy: Any
    stopping: Any
    problem: Any
    means: tuple[float, ...]
    family: Any
    naive: Callable[[int, float], naive.Player]
    delta: float = 0.1

    def settings(self) -> dict[str, Any]:
        return {
            "problem": self.problem,
            "means": self.means,
            "family": self.family,
            "strategy": self.strategy,
            "stopping": self.stopping,
            "delta": self.delta,
        }


COINS, NORMALS = (0.8, 0.45, 0.3), (0.3, 1.4, 0.1, 0.9)
LOW, NONE = (-0.1, -1.3, 0.2), (0.9, 0.7, 1.2)


def best(strategy: Any, stopping: Any, kind: Any, *more: Any) -> list[Case]:
    """The same on coins and on normal arms."""
    return [
        Case(strategy, stopping, sw.BestArm(len(means)), means, family,
             lambda arms, delta, own=SAME[family]: kind(arms, delta, own, *more))
        for means, family in ((COINS, COIN), (NORMALS, BELL))
    ]  # fmt: skip


def limit(strategy: Any, stopping: Any, kind: Any) -> list[Case]:
    """Where an arm is low, and where none is."""
    return [
        Case(strategy, stopping, sw.AnyLowArm(3, -0.25), means, UNIT,
             lambda arms, delta: kind(arms, delta, -0.25), 0.05)
        for means in (LOW, NONE)
    ]  # fmt: skip


LIL = {True: sw.MostSampled(True), False: sw.MostSampled()}
CASES = [
    *best(sw.KLLUCB("stylized"), sw.BoundsApart("stylized"), naive.KLLUCB, "stylized"),
    *best(sw.KLLUCB(), sw.BoundsApart(), naive.KLLUCB, "mixture"),
    *best(sw.UGAPE("stylized"), sw.BoundsApart("stylized"), naive.UGapE, "stylized"),
    *best(sw.UGAPE(), sw.BoundsApart(), naive.UGapE, "mixture"),
    *best(sw.KLRacing("stylized"), sw.LastLeft("kl", "stylized"), naive.Race, "stylized", "kl"),
    *best(sw.KLRacing(), sw.LastLeft("kl"), naive.Race, "mixture", "kl"),
    *best(sw.ChernoffRacing("stylized"), sw.LastLeft("chernoff", "stylized"), naive.Race,
          "stylized", "chernoff"),
    Case(sw.SuccessiveElimination(), sw.LastLeft("elimination"), sw.BestArm(3), COINS, COIN,
         lambda arms, delta: naive.Race(arms, delta, SAME[COIN], "stylized", "elimination")),
    *(Case(sw.LilUCB(heuristic), LIL[heuristic], sw.BestArm(4), NORMALS, BELL,
           lambda arms, delta, heuristic=heuristic: naive.LilUCB(arms, delta, 0.7, heuristic))
      for heuristic in (True, False)),
    *limit(sw.HDOC(), sw.BeyondLimit(), naive.HDoC),
    *limit(sw.LUCBG(), sw.BeyondLimit(), naive.LUCBG),
    *limit(sw.APGAI(), sw.JourdanReda(exact=False), naive.APGAI),
    *limit(sw.SEE(), sw.QualifiedArm(), naive.SEE),
]  # fmt: skip


def case_id(case: Case) -> str:
    return f"{case.strategy!r}-{type(case.family).__name__}-{case.means[0]}"


@pytest.mark.usefixtures("not_compiled")
@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_choices_and_stops_are_those_of_the_naive_one(case: Case) -> None:
    for seed in (1, 2):
        found = sw.run(**case.settings(), seed=seed, trace=True)
        assert found.trace is not None
        player = case.naive(len(case.means), case.delta)
        for place, (arm, sample) in enumerate(
            zip(found.trace.arms, found.trace.samples, strict=True)
        ):
            assert player.answer is None, f"the naive one stopped after {place} samples"
            assert player.choose() == arm, f"sample {place}"
            player.observe(int(arm), float(sample))
        assert player.answer == found.answer
        # without a trace less is computed, and the result is the same
        again = sw.simulate(**case.settings(), repetitions=1, seed=seed, progress=False)
        assert again.stopping_times.ravel()[0] == len(found.trace)


def test_apt_samples_the_least_clear_arm() -> None:
    problem, means = sw.Thresholding(4, 0.4), [0.1, 0.3, 0.6, 0.8]
    found = sw.run(problem, means, family=COIN, strategy=sw.APT(), delta=0.1, seed=3, trace=True)
    assert found.trace is not None
    counts, sums = np.zeros(4), np.zeros(4)
    for place, (arm, sample) in enumerate(zip(found.trace.arms, found.trace.samples, strict=True)):
        if place >= 4:
            assert arm == naive.unclear(counts, sums / counts, 0.4)
        counts[arm] += 1
        sums[arm] += sample


@pytest.mark.parametrize(
    ("counts", "means"),
    [([9, 4, 6], [0.6, 0.45, 0.7]), ([30, 8, 12], [0.9, 0.95, 1.3]), ([5, 5, 5], [0.1, 0.1, 0.4])],
)
def test_murphy_sampling_draws_from_the_conditional_law(
    counts: list[int], means: list[float]
) -> None:
    """Against rejection alone: chi-square tests with false-alarm rate 3e-7 each."""
    problem, draws = sw.AnyLowArm(3, 0.25), 20_000
    design = prepare(
        Setting(problem, UNIT, sw.MurphySampling(), sw.Wealth()), None, (0.1,), HORIZON
    )
    state, rng = begin(design), np.random.default_rng(5)
    state.data.counts[:], state.data.means[:] = counts, means
    found = np.bincount(
        [
            design.strategy.next_arm(instance(problem, UNIT, state), state, 99, rng)
            for _ in range(draws)
        ],
        minlength=3,
    )
    scale = 1.0 / np.sqrt(np.array(counts))
    expected = np.bincount(
        [naive.murphy(lambda: rng.normal(means, scale), -1.0, 0.25) for _ in range(draws)],
        minlength=3,
    )
    both = found + expected
    keep = both >= 20
    table = np.concatenate([found[keep] - both[keep] / 2, expected[keep] - both[keep] / 2])
    statistic = float(np.sum(table**2 / np.concatenate([both[keep], both[keep]]) * 2))
    assert statistic < chi2.isf(3e-7, max(int(keep.sum()) - 1, 1))


def test_counted_is_its_formula() -> None:
    for x in (1.0, 3.0, 40.0):
        assert counted(x + math.log(x), False) == pytest.approx(x)
        y = counted(x + 2.0, True)
        assert x + 2.0 - math.log(x + 2.0) == pytest.approx(y)


# -------------------------------------------------------------------------------- any conditions

BEST = [sw.KLLUCB(), sw.KLLUCB("stylized"), sw.UGAPE(), sw.KLRacing(), sw.ChernoffRacing(),
        sw.SuccessiveElimination(), sw.LilUCB(), sw.LilUCB(True)]  # fmt: skip
LIMITS = [sw.APGAI(), sw.HDOC(), sw.LUCBG(), sw.MurphySampling(), sw.SEE()]
QUESTIONS = [
    *((strategy, sw.BestArm(3), (0.9, 0.4, 0.3)) for strategy in BEST),
    *((strategy, sw.AnyLowArm(3, 0.5), (0.9, 0.2, 0.8)) for strategy in LIMITS),
    (sw.APT(), sw.Thresholding(3, 0.5), (0.9, 0.2, 0.8)),
]


@pytest.mark.parametrize(("strategy", "problem", "means"), QUESTIONS, ids=repr)
def test_batches_of_twenty_with_losses(
    strategy: Any, problem: Any, means: tuple[float, ...]
) -> None:
    """A third of the samples is lost, the others come in another order: it still ends, with Wealth."""
    design = prepare(Setting(problem, COIN, strategy, sw.Wealth()), None, (0.05,), HORIZON)
    session, rng = Session(design, losses="at random"), np.random.default_rng(4)
    for _ in range(300):
        decided, tickets = False, [session.ask() for _ in range(20)]
        for ticket in (tickets[place] for place in rng.permutation(20)):
            if rng.random() < 1 / 3:
                session.release(ticket)
            elif session.tell(ticket, float(rng.random() < means[ticket.arm])) is not None:
                decided = True
                break
        if decided:
            break
    assert decided
    assert session.counts.min() >= 1


PAIRS = [
    *((each, sw.BoundsApart(each.radius)) for each in (sw.KLLUCB(), sw.UGAPE())),
    (sw.KLRacing(), sw.LastLeft("kl")),
    (sw.ChernoffRacing(), sw.LastLeft("chernoff")),
    (sw.SuccessiveElimination(), sw.LastLeft("elimination")),
    (sw.LilUCB(True), sw.MostSampled(True)),
]


@pytest.mark.parametrize(("strategy", "stopping"), PAIRS, ids=repr)
def test_the_lowest_mean_is_the_mirror_image(strategy: Any, stopping: Any) -> None:
    high, low = sw.BestArm(3), sw.BestArm(3, goal="min")
    design = [
        prepare(Setting(p, UNIT, strategy, stopping), None, (0.1,), HORIZON) for p in (high, low)
    ]
    sessions, rng = [Session(each) for each in design], np.random.default_rng(6)
    for _ in range(4000):
        tickets = [each.ask() for each in sessions]
        assert tickets[0] == tickets[1]
        sample = float(rng.normal((0.2, 1.5, 0.0)[tickets[0].arm]))
        done = [sessions[0].tell(tickets[0], sample), sessions[1].tell(tickets[1], -sample)]
        assert (done[0] is None) == (done[1] is None)
        if done[0] is not None:
            break
    assert done[0] is not None


@pytest.mark.parametrize(
    ("strategy", "stopping", "family"),
    [
        (sw.KLLUCB(), sw.BoundsApart(), COIN),
        (sw.MurphySampling(), sw.Wealth(), COIN),
        (sw.SEE(), sw.QualifiedArm(), UNIT),
    ],
    ids=repr,
)
def test_any_number_of_workers(strategy: Any, stopping: Any, family: Any) -> None:
    problem, means = next((p, m) for s, p, m in QUESTIONS if s == strategy)
    one, two = (
        sw.simulate(problem, means, family=family, strategy=strategy, stopping=stopping, delta=0.1,
                    repetitions=12, seed=5, workers=workers, progress=False).stopping_times
        for workers in (1, 2)
    )  # fmt: skip
    assert (one == two).all()


@pytest.mark.parametrize(("strategy", "stopping"), PAIRS, ids=repr)
def test_ties_and_two_arms_end_undecided_or_right(strategy: Any, stopping: Any) -> None:
    """Equal arms never end but by an error; identical samples are no trouble; two arms suffice."""
    settings: dict[str, Any] = {
        "family": COIN,
        "strategy": strategy,
        "stopping": stopping,
        "delta": 0.05,
    }
    same = sw.simulate(
        sw.BestArm(3),
        [0.5] * 3,
        repetitions=20,
        seed=1,
        max_rounds=2000,
        progress=False,
        **settings,
    )
    assert (same.stopping_times == 0).sum() >= 10
    two = sw.simulate(sw.BestArm(2), [0.9, 0.2], repetitions=20, seed=1, progress=False, **settings)
    assert two.correct.mean() >= 0.8


# ------------------------------------------------------------------------------------- guarantees


def most_errors(runs: int, delta: float, tests: int) -> int:
    return int(binom.isf(FALSE_ALARM / tests, runs, delta))


OWN = [
    *((a, b, sw.BestArm(3), (0.5, 0.42, 0.4), COIN) for a, b in PAIRS if b.title != LIL[True].title),
    *((a, b, sw.BestArm(3), (0.5, 0.25, 0.2), UNIT) for a, b in PAIRS if b.title != LIL[True].title),
    *((a, sw.BeyondLimit(radius), sw.AnyLowArm(3, 0.5), (0.46, 0.55, 0.56), COIN)
      for a in (sw.HDOC(), sw.LUCBG()) for radius in ("hoeffding", "mixture")),
    *((a, sw.JourdanReda(), sw.AnyLowArm(3, 0.0), (-0.2, 0.2, 0.2), UNIT)
      for a in (sw.APGAI(), sw.MurphySampling())),
    (sw.SEE(), sw.QualifiedArm(), sw.AnyLowArm(3, 0.0), (-0.2, 0.2, 0.2), UNIT),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "stopping", "problem", "means", "family"), OWN, ids=repr)
def test_own_rules_with_a_proven_radius_are_delta_correct(
    strategy: Any, stopping: Any, problem: Any, means: Any, family: Any
) -> None:
    found = sw.simulate(
        problem, means, family=family, strategy=strategy, stopping=stopping, delta=0.1,
        repetitions=300, seed=8, max_rounds=200_000, progress=False,
    )  # fmt: skip
    assert found.proven
    decided = found.stopping_times.ravel() > 0
    wrong = int((~found.correct.ravel() & decided).sum())
    assert wrong <= most_errors(300, 0.1, len(OWN))


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "problem", "means"), QUESTIONS, ids=repr)
def test_delta_correct_with_wealth(strategy: Any, problem: Any, means: Any) -> None:
    """Close means: errors are possible; and all runs end."""
    near = tuple(0.5 + 0.35 * (mean - 0.5) for mean in means)
    found = sw.simulate(
        problem, near, family=COIN, strategy=strategy, delta=0.1, repetitions=300, seed=2,
        max_rounds=1_000_000, progress=False,
    )  # fmt: skip
    decided = found.stopping_times.ravel() > 0
    wrong = int((~found.correct.ravel() & decided).sum())
    assert wrong <= most_errors(300, 0.1, len(QUESTIONS))
    if strategy != sw.APGAI():  # a single low arm: it may not end
        assert decided.all()


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [*BEST, *LIMITS, sw.APT()], ids=repr)
def test_a_thousand_arms(strategy: Any) -> None:
    kind = next(type(p) for s, p, _ in QUESTIONS if s == strategy)
    problem = sw.BestArm(1000) if kind is sw.BestArm else kind(1000, 0.5)
    found = sw.simulate(
        problem, [0.9, *[0.1] * 999], family=COIN, strategy=strategy, stopping=sw.Mixture(), delta=0.1,
        repetitions=1, seed=1, max_rounds=30_000, progress=False,
    )  # fmt: skip
    assert found.counts.sum() > 1000


# ---------------------------------------------------------------------------- published numbers

GK = (0.5, 0.45, 0.43, 0.4)
GOOD = {"problem": sw.AnyLowArm(10, -0.5), "means": [-0.65] * 10, "family": UNIT, "delta": 0.001}
PUBLISHED = [  # mean samples, and the runs behind them
    (sw.ChernoffRacing("stylized"), sw.LastLeft("chernoff", "stylized"), 4516, 3000),
    (sw.KLLUCB("stylized"), sw.BoundsApart("stylized"), 8437, 3000),
    (sw.KLRacing("stylized"), sw.LastLeft("kl", "stylized"), 9590, 3000),
    (sw.SEE(), sw.QualifiedArm(), 3515, 1000),
    (sw.MurphySampling(), sw.JourdanReda(exact=False), 3419, 1000),
]


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "stopping", "published", "runs"), PUBLISHED, ids=repr)
def test_published_means_within_three_standard_errors(
    strategy: Strategy, stopping: Any, published: float, runs: int
) -> None:
    """Garivier & Kaufmann 2016 (coins, delta 0.1); Li & Cheung 2025 (ten arms at 0.65, delta 0.001)."""
    coins = {"problem": sw.BestArm(4), "means": GK, "family": COIN, "delta": 0.1}
    settings: Any = coins if runs == 3000 else GOOD
    found = sw.simulate(
        **settings, strategy=strategy, stopping=stopping, repetitions=3000, seed=1, progress=False
    )
    times = found.stopping_times.ravel()
    error = times.std() * math.sqrt(1 / times.size + 1 / runs)  # theirs has the same spread
    assert abs(times.mean() - published) <= 3 * error
