"""Cells run with every family that they admit, by both strategies of the paper."""

from __future__ import annotations

from typing import Any

import pytest

import stopwise as sw
from stopwise.engine.design import Setting, prepare
from stopwise.engine.loop import run_rounds
from stopwise.engine.worker import Worker, new_outcome

BELOW, ABOVE = sw.Polyhedron([[-0.7, -0.3]], [-2.0]), sw.Polyhedron([[0.7, 0.3]], [2.0])
PAIR = [[1.0, -1.0]], [[-1.0, 1.0]]
PLANES = sw.Cells(2, {"above": BELOW, "below": ABOVE})  # where the divergence is convex
PAIRS = sw.Cells(2, {"first": sw.Polyhedron(PAIR[1]), "second": sw.Polyhedron(PAIR[0])})
CONVEX = (sw.Gaussian(9.0), sw.Binomial(8), sw.Bounded(0.0, 8.0), sw.Poisson())
OTHERS = (
    *(sw.Exponential(), sw.Gamma(2.0), sw.Geometric(), sw.NegativeBinomial(2.0)),
    sw.InverseGaussian(5.0),
)
MEANS = (6.0, 1.5)
CASES = [(problem, family) for family in CONVEX for problem in (PLANES, PAIRS)]
CASES += [(PAIRS, family) for family in OTHERS]


@pytest.mark.parametrize("strategy", [sw.TrackAndStop(), sw.StickyTrackAndStop()], ids=repr)
@pytest.mark.parametrize(("problem", "family"), CASES, ids=repr)
def test_runs_of_cells(
    problem: Any, family: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proven rule at delta = 1e-7: a wrong answer here has that probability."""
    monkeypatch.setattr("stopwise.engine.worker.kernel", lambda *_: run_rounds)
    setting = Setting(problem, family, strategy, sw.MixtureMartingale())
    design = prepare(setting, MEANS, (1e-7,), 400)
    worker, outcome = Worker(design), new_outcome(design)
    for _ in worker.run(1, 0, 0, outcome, lambda: False):
        pass
    assert outcome.counts[0].min() > 1.0
    assert outcome.times[0] > 0
    assert problem.decode(outcome.codes[0]) in sw.correct_answers(problem, MEANS)
