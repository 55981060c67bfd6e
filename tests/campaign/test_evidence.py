"""Evidence is exact for decisions, for points of the curve and for those who look."""

from __future__ import annotations

from typing import Any

import pytest

import stopwise as sw
from stopwise import Session
from stopwise.campaign.spec import HORIZON
from stopwise.engine import live, worker
from stopwise.engine.design import Setting, prepare
from stopwise.engine.loop import run_rounds

CASES: list[tuple[Any, list[float], Any, Any]] = [
    (sw.BestArm(3), [0.3, 0.6, 0.5], sw.Bernoulli(), sw.Wealth()),
    (sw.BestArm(3), [0.3, 0.6, 0.5], sw.Bounded(), sw.Wealth()),
    (sw.BestArm(2), [0.0, 0.5], sw.Gaussian(variance=None), sw.Wealth()),
    (sw.AnyLowArm(3, 0.5), [0.8, 0.4, 0.9], sw.Bernoulli(), sw.Wealth()),
    (sw.Thresholding(2, 0.0), [0.4, -0.5], sw.Gaussian(), sw.Mixture()),
]


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that most tells have no point of the curve; and nothing is compiled."""
    monkeypatch.setattr(live, "MOST_POINTS", 4)
    monkeypatch.setattr(worker, "kernel", lambda *_: run_rounds)


def session_of(problem: Any, family: Any, stopping: Any, minimum: int = 0) -> Session:
    setting = Setting(problem, family, sw.TrackAndStop(), stopping)
    return Session(prepare(setting, None, (0.1,), HORIZON), minimum=minimum)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_whoever_looks_sees_what_a_run_sees_and_changes_nothing(case: tuple[Any, ...]) -> None:
    """Looks in between, or none: the same bytes are stored, and the same sample decides."""
    problem, means, family, stopping = case
    values = {"family": family, "strategy": sw.TrackAndStop(), "stopping": stopping, "delta": 0.1}
    if family == sw.Gaussian(variance=None):
        values["deviations"] = 1.0
    run = sw.run(problem, means, **values, seed=1, max_rounds=120, trace=True)
    assert run.trace is not None
    looked, silent, rough = *(session_of(problem, family, stopping) for _ in range(2)), 0
    for place in range(len(run.trace)):
        for session in (looked, silent):
            session.tell(session.ask(), float(run.trace.samples[place]))
        marks = looked.ledger.marks
        if looked.started and place % 3 == 0:
            rough += marks[live.EXACT] != marks[live.SEEN]
            assert looked.evidence == run.trace.evidence[place]
            assert looked.threshold == run.trace.level[place]
            assert looked.leading == run.trace.leading[place]
            assert looked.curve[1][-1] == run.trace.evidence[place]
        assert looked.dump() == silent.dump()
    assert rough > 0, "else this shows nothing"
    assert (silent.decision is not None) == run.decided
    assert looked.decision == silent.decision


def test_evidence_that_was_enough_before_the_minimum_does_not_decide_later() -> None:
    session = session_of(sw.BestArm(2), sw.Gaussian(), sw.Wealth(), minimum=10**6)
    for place in range(40):
        session.record(place % 2, 2.0 - 2.0 * (place % 2))
    assert session.evidence > session.threshold
    session.record(0, -40.0)  # a tie
    marks = session.ledger.marks
    assert marks[live.EXACT] != marks[live.SEEN]
    assert session.evidence < session.threshold
    assert session.require(0) is None
