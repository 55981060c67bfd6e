"""Compiled runs are the plain ones, digit for digit: one table of problems, families, strategies, rules.

Every strategy and every stopping rule has a row. Kinds that other tests compile, too, share the
compiler's work through its cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import stopwise as sw
from stopwise.core import registry
from stopwise.core.compile.kernels import switched_on
from stopwise.engine.design import Setting, prepare
from stopwise.engine.loop import run_rounds
from stopwise.engine.worker import Worker, new_outcome, new_trace

COIN, BELL = sw.Bernoulli(), sw.Gaussian()
UNKNOWN = sw.Gaussian(variance=None)
NORMALS = [[0.8, 0.2], [0.2, 0.8]]
ROUNDS = 400


class Row(NamedTuple):
    """What is run."""

    problem: Any
    family: Any
    strategy: Any
    stopping: Any
    means: list[float]
    deviations: Any = None


BEST, LOW = [0.9, 0.4, 0.3], [0.9, 0.2, 0.8]
MANY = [0.9, *np.linspace(0.05, 0.5, 63)]
UNDER = [0.2, -1.3, 0.4]
LINEAR = sw.Linear([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5]])
PAPERS = [  # strategies with the rules of their papers, where they have one
    Row(sw.BestArm(3), COIN, sw.KLLUCB(), sw.BoundsApart(), BEST),
    Row(sw.BestArm(3), COIN, sw.KLLUCB("stylized"), sw.BoundsApart("stylized"), BEST),
    Row(sw.BestArm(3), COIN, sw.UGAPE(), sw.BoundsApart(), BEST),
    Row(sw.BestArm(3), COIN, sw.KLRacing(), sw.LastLeft("kl"), BEST),
    Row(sw.BestArm(3), COIN, sw.ChernoffRacing(), sw.LastLeft("chernoff"), BEST),
    Row(sw.BestArm(3), COIN, sw.SuccessiveElimination(), sw.LastLeft("elimination"), BEST),
    Row(sw.BestArm(3), COIN, sw.LilUCB(True), sw.MostSampled(True), BEST),
    Row(sw.BestArm(3), COIN, sw.LilUCB(), sw.MostSampled(), BEST),
    Row(sw.AnyLowArm(3, -0.25), BELL, sw.HDOC(), sw.BeyondLimit(), UNDER),
    Row(sw.AnyLowArm(3, -0.25), BELL, sw.LUCBG(), sw.BeyondLimit(), UNDER),
    Row(sw.AnyLowArm(3, -0.25), BELL, sw.APGAI(), sw.JourdanReda(exact=False), UNDER),
    Row(sw.AnyLowArm(3, -0.25), BELL, sw.SEE(), sw.QualifiedArm(), UNDER),
    Row(sw.AnyLowArm(3, 0.5), COIN, sw.MurphySampling(), sw.Wealth(), LOW),
    Row(sw.Thresholding(3, 0.5), COIN, sw.APT(), sw.Wealth(), LOW),
    Row(LINEAR, BELL, sw.LinGapE(), sw.ClearGaps(), [1.0, 0.0, 0.9]),
]  # fmt: skip
ROWS = [
    # families and problems
    Row(sw.AnyLowArm(3, 0.5), COIN, sw.StickyTrackAndStop(), sw.Mixture(), [0.3, 0.3, 0.7]),
    Row(sw.AnyLowArm(3, 0.5), COIN, sw.StickyTrackAndStop(), sw.Conservative(), [0.3, 0.3, 0.7]),
    Row(sw.BestArm(4), COIN, sw.TrackAndStop("D"), sw.Stylized(), [0.6, 0.4, 0.4, 0.3]),
    Row(sw.AnyHalfSpace(NORMALS), BELL, sw.StickyTrackAndStop(), sw.Stylized(), [-0.5, -0.5]),
    Row(sw.Thresholding(3, 0.0), BELL, sw.StickyTrackAndStop(), sw.Stylized(), [0.7, -0.6, 0.8]),
    Row(sw.BestArm(3, 0.4), sw.Gaussian([0.3, 2.0, 0.9]), sw.TrackAndStop(), sw.MixtureMartingale(),
        [0.8, 1.0, 0.1]),
    Row(sw.BestArm(64, 0.05), COIN, sw.TrackAndStop("D"), sw.Stylized(), MANY),
    Row(sw.BestArm(2), BELL, sw.FixedWeights([2, 1]), sw.Wealth(), [1.0, 0.0], [1.0, 3.0]),
    Row(sw.BestArm(2), BELL, sw.Uniform(), sw.Mixture(), [1.0, 0.0]),
    Row(sw.BestArm(2), sw.Bounded(), sw.TrackAndStop("D"), sw.Wealth(), [0.7, 0.5], 0.1),
    Row(sw.BestArm(3), UNKNOWN, sw.TrackAndStop("D"), sw.Wealth(), [0.8, 0.5, 0.3], 1.0),
    # Top-Two and games
    Row(sw.BestArm(4), COIN, sw.T3c("ids"), sw.Stylized(), [0.7, 0.5, 0.4, 0.3]),
    Row(sw.BestArm(4), COIN, sw.AdaHedge(), sw.Wealth(), [0.7, 0.5, 0.4, 0.3]),
    Row(LINEAR, BELL, sw.FrankWolfe(), sw.Wealth(), [1.0, 0.0, 0.9]),
    *PAPERS,
]  # fmt: skip

QUESTIONS = [
    (sw.BestArm(3), COIN, BEST),
    (sw.BestArm(3, 0.5), BELL, [1.5, 1.4, 0.0]),
    (sw.BestArm(3, 0.2), COIN, [0.9, 0.8, 0.1]),
    (sw.BestArm(3, goal="min"), COIN, [0.3, 0.8, 0.9]),
    (sw.TopArms(3, 2, 0.1), COIN, BEST),
    (sw.BetterThan(3, 0, 0.1), COIN, BEST),
    (sw.AnyBetterThan(3, 1), COIN, BEST),
    (sw.Thresholding(3, 1.0), sw.Poisson(), [2.5, 0.3, 0.2]),
    (sw.MinimumThreshold(2, 0.5, 0.1), COIN, [0.2, 0.9]),
    (sw.MinimumThreshold(2, 0.5), COIN, [0.2, 0.9]),
    (sw.AnyLowArm(3, 1.0), sw.Exponential(), [0.2, 0.2, 2.0]),
    (sw.AnyLowArm(2, 0.5), COIN, [0.9, 0.8]),
    (sw.AnySign(3), BELL, [-1.0, 1.0, 0.2]),
    (sw.AnyHalfSpace(NORMALS), BELL, [-1.0, -1.0]),
    (sw.AnyHalfSpace(NORMALS, [0.5, 0.5]), COIN, [0.9, 0.9]),
    (sw.AllHalfSpaces(NORMALS), BELL, [1.0, 1.0]),
    (sw.Sphere(2), sw.Gaussian(0.2), [0.1, 0.2]),
    (sw.Product([(sw.BestArm(2), [0, 2]), (sw.AnyLowArm(1, 0.5), [1])]), COIN, [0.9, 0.1, 0.2]),
    (sw.Cells(2, {"up": sw.Polyhedron([[-1, -1]]), "down": sw.Polyhedron([[1, 1]])}), BELL,
     [1.0, 0.5]),
]  # fmt: skip
TRACKING = [sw.TrackAndStop(), sw.TrackAndStop("D"), sw.StickyTrackAndStop()]
TOP_TWO = [
    sw.TopTwo(),
    sw.Ttts(),
    sw.Ttei(),
    sw.EbTc("ids"),
    sw.EbTci(),
    sw.Ttucb(),
    sw.EbTcEpsilon(),
]
GENERAL = [sw.T3c("ids"), sw.AdaHedge(), sw.LazyMirrorAscent(), sw.FrankWolfe()]
SLOW = [
    *(Row(problem, family, strategy, sw.Mixture(), means)
      for problem, family, means in QUESTIONS for strategy in TRACKING),
    *(Row(*QUESTIONS[place][:2], strategy, sw.Stylized(), QUESTIONS[place][2])
      for place in (0, 1) for strategy in (*TOP_TWO, *GENERAL)),
    *(Row(sw.BestArm(3), family, sw.T3c("ids"), sw.Wealth(), [0.8, 0.5, 0.3],
          1.0 if family == UNKNOWN else None)
      for family in (UNKNOWN, sw.Bounded(), sw.Gaussian([1.0, 4.0, 2.0]))),
    *(row._replace(stopping=sw.Wealth()) for row in PAPERS[:-1]),
]  # fmt: skip


def row_id(row: Row) -> str:
    return "-".join(repr(each) for each in row[:4])


def one_run(row: Row, seed: int, traced: bool, plain: bool) -> Any:
    """Times, answers and counts; of a traced run every round, where all evidence is computed."""
    asked = Setting(*row[:4])
    levels = (0.1,) if _looks_at_delta(asked) else (0.1, 1e-3)
    design = prepare(asked, row.means, levels, ROUNDS, row.deviations)
    trace, outcome = new_trace(design.code_size, ROUNDS * traced), new_outcome(design)
    worker = Worker(design, trace)
    if plain:
        worker.kernel = run_rounds
    for _ in worker.run(seed, 0, 0, outcome, lambda: False):
        pass
    return *outcome, *trace


def _looks_at_delta(asked: Setting) -> bool:
    return any(getattr(each, "looks_at_delta", False) for each in (asked.strategy, asked.stopping))


def check_same(row: Row) -> None:
    """Also: where every round's evidence is computed the run is the same as where most is skipped."""
    for seed in (3, 5):
        quick = one_run(row, seed, False, True)
        for traced in (True, False):
            fast, slow = (one_run(row, seed, traced, plain) for plain in (False, True))
            for left, right in zip(fast, slow, strict=True):
                np.testing.assert_array_equal(left, right)
            for left, right in zip(slow[:4], quick[:4], strict=True):
                np.testing.assert_array_equal(left, right)
        assert quick[2].sum() > 0.0  # samples were taken


@pytest.mark.skipif(not switched_on(), reason="nothing is compiled")
@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_compiled_runs_are_the_plain_ones(row: Row) -> None:
    check_same(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", SLOW, ids=row_id)
def test_more_compiled_runs_are_the_plain_ones(row: Row) -> None:
    check_same(row)


def test_every_strategy_and_rule_has_a_row() -> None:
    rows = [*ROWS, *SLOW]
    assert kinds("strategy") <= {type(row.strategy) for row in rows}
    assert kinds("stopping") <= {type(row.stopping) for row in ROWS}


def kinds(role: str) -> set[type]:
    """Those of the package that need not know the true means."""
    return {
        kind
        for kind in registry.load(role).values()
        if kind.__module__.startswith("stopwise.") and not getattr(kind, "needs_truth", False)
    }
