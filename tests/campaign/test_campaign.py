"""Campaigns do what the simulator does, whatever the order in which samples come."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

import stopwise as sw
from instances import KINDS, draw_instance
from stopwise import (
    Campaign,
    CampaignClosed,
    CampaignDecided,
    CampaignPaused,
    Conflict,
    Event,
    NotPossible,
    Receipt,
    Session,
)
from stopwise.campaign import rounds
from stopwise.campaign.changes import LIFE, myself
from stopwise.campaign.replay import Known, replay
from stopwise.campaign.spec import HORIZON
from stopwise.campaign.storage.store import Store
from stopwise.engine import live, worker
from stopwise.engine.design import Design, Setting, prepare
from stopwise.engine.loop import run_rounds

# ---------------------------------------------------------------------------------------------
# one ask and one tell after the other: exactly a simulated run

TAS, STICKY = sw.TrackAndStop(), sw.StickyTrackAndStop()
PLANES = ([[0.8, 0.2], [0.2, 0.8]], [0.5, 0.4])
PAIRED = sw.Product([(sw.BestArm(2), [0, 2]), (sw.AnyLowArm(1, 0.0), [1])])
CASES: list[tuple[Any, list[float], Any, Any, Any]] = [  # other tests compile these, too
    (sw.BestArm(3), [0.3, 0.5, 0.45], sw.Bernoulli(), TAS, sw.Mixture()),
    (sw.BestArm(4, 0.1), [0.0, 1.0, 0.95, -1.0], sw.Gaussian(), STICKY, sw.Mixture()),
    (sw.AnyLowArm(3, 0.5), [0.8, 0.3, 0.9], sw.Bernoulli(), STICKY, sw.Conservative()),
    (sw.AnySign(2, 0.0), [0.3, -0.4], sw.Gaussian(), STICKY, sw.MixtureMartingale()),
    (sw.MinimumThreshold(2, 0.0), [0.3, -0.4], sw.Gaussian(), TAS, sw.Mixture()),
]
PLAIN: list[tuple[Any, list[float], Any, Any, Any]] = [
    (sw.BestArm(3), [0.3, 0.5, 0.45], sw.Bernoulli(), sw.TrackAndStop("D"), sw.Stylized()),
    (sw.BestArm(3), [0.3, 0.5, 0.45], sw.Bernoulli(), sw.Uniform(), sw.Mixture()),
    (sw.BestArm(3), [1.0, 1.5, 2.5], sw.Exponential(), TAS, sw.MixtureMartingale()),
    (sw.Thresholding(3, 1.0), [0.7, 1.4, 2.0], sw.Poisson(), TAS, sw.Mixture()),
    (sw.AnyHalfSpace(*PLANES), [1.2, 0.1], sw.Gaussian(), STICKY, sw.Mixture()),
    (sw.Sphere(2, 1.0), [0.9, 0.9], sw.Gaussian(), TAS, sw.Stylized()),
    (PAIRED, [0.3, -0.4, 0.1], sw.Gaussian(), STICKY, sw.Mixture()),
]


def live_design(problem: Any, family: Any, strategy: Any, stopping: Any, delta: float) -> Design:
    """What a campaign has: it does not know the means."""
    return prepare(Setting(problem, family, strategy, stopping), None, (delta,), HORIZON)


def follow(session: Session, run: sw.Run) -> None:
    """Feed a session with a run's samples; all that a trace knows must be the same, bit by bit."""
    trace = run.trace
    assert trace is not None
    for place in range(len(trace)):
        ticket = session.ask()
        assert ticket.arm == trace.arms[place]
        if session.started:
            fixed = isinstance(session.design.strategy, sw.FixedWeights | sw.Uniform)
            assert session.pursued == (None if fixed else trace.pursued[place])
        crossing = session.tell(ticket, float(trace.samples[place]))
        if session.started:
            assert session.evidence == trace.evidence[place]
            assert session.threshold == trace.level[place]
            assert session.leading == trace.leading[place]
        last = run.decided and place == len(trace) - 1
        assert (crossing is not None) == last
    assert np.array_equal(session.counts, run.counts)
    assert np.array_equal(session.means, run.estimates)
    assert not np.any(session.in_flight)
    if run.decided:
        assert session.decision is not None
        assert session.decision.answer == run.answer
        assert session.decision.samples == run.stopping_time
        assert session.decision.evidence >= session.decision.threshold


def case_id(case: tuple[Any, ...]) -> str:
    return "-".join(type(case[k]).__name__ for k in (0, 2, 3, 4))


def compare(case: tuple[Any, ...], seeds: int, rounds: int) -> None:
    problem, means, family, strategy, stopping = case
    values = {"family": family, "strategy": strategy, "stopping": stopping, "delta": 0.1}
    for seed in range(seeds):
        run = sw.run(problem, means, **values, seed=seed, max_rounds=rounds, trace=True)
        follow(Session(live_design(problem, family, strategy, stopping, 0.1)), run)


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_session_is_a_compiled_run(case: tuple[Any, ...]) -> None:
    compare(case, seeds=3, rounds=300)


@pytest.mark.parametrize("case", PLAIN, ids=case_id)
def test_a_session_is_a_plain_run(case: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "kernel", lambda *_: run_rounds)  # nothing to compile
    compare(case, seeds=2, rounds=60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_session_is_a_simulated_run_for_every_family(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "kernel", lambda *_: run_rounds)  # nothing to compile
    for setting in KINDS[kind]:
        for strategy in (TAS, STICKY):
            problem, means = draw_instance(kind, setting, 3, 5)
            case = (problem, means, setting.family, strategy, sw.MixtureMartingale())
            compare(case, seeds=1, rounds=25)


def test_a_campaign_is_a_simulated_run() -> None:
    run = sw.run(
        sw.BestArm(3),
        [0.2, 0.8, 0.6],
        family=sw.Bernoulli(),
        delta=0.2,
        seed=7,
        trace=True,
    )
    trace = run.trace
    assert trace is not None
    assert 20 < len(trace) < 1000
    spec = {"question": "best-arm", "arms": ["a", "b", "c"], "family": "bernoulli", "delta": 0.2}
    campaign = Campaign.create(spec, "memory:", "coins")
    for place, sample in enumerate(trace.samples):
        (ticket,) = campaign.ask()
        assert ticket.arm == trace.arms[place]
        receipt = campaign.tell(ticket.token, sample)
        assert receipt.decided == (place == len(trace) - 1)
    decision = campaign.decision
    assert decision is not None
    assert (decision.answer, decision.samples) == (run.answer, run.stopping_time)
    assert decision.evidence == trace.evidence[-1]
    assert decision.threshold == trace.level[-1]
    assert campaign.verify().agrees


# ---------------------------------------------------------------------------------------------
# the compiled replay, and the compiled rounds of wide questions


def busy(design: Design, means: np.ndarray, rounds: int, seed: int) -> tuple[Session, list[Event]]:
    """A session whose samples come late, in any order, or not at all; and what happened."""
    rng = np.random.default_rng(seed)
    session, record, waiting, gone = Session(design, order="told"), [], [], []
    for number in range(1, rounds + 1):
        lot, token = rng.random(), f"t{number}"
        if lot < 0.45 or not waiting:
            ticket = session.ask()
            waiting.append((token, ticket))
            record.append(Event(number, "asked", token, ticket.arm, 60.0, 0.0, False, ""))
            continue
        token, ticket = waiting.pop(int(rng.integers(len(waiting))))
        arm = ticket.arm
        if lot > 0.97:
            session.release(ticket)
            gone.append((token, ticket))
            record.append(Event(number, "released", token, arm, None, 0.0, False, ""))
            continue
        kind, sample = "told", float(rng.random() < means[arm])
        if lot < 0.94:
            decision = session.tell(ticket, sample)
        elif lot < 0.95 and gone:  # it was given up, and comes after all
            waiting.append((token, ticket))
            token, ticket = gone.pop()
            arm = ticket.arm
            decision = session.tell(ticket, sample)
        else:  # nobody asked for this one
            waiting.append((token, ticket))
            kind, token = "recorded", f"r{number}"
            decision = session.record(arm, sample)
        record.append(Event(number, kind, token, arm, sample, 0.0, False, ""))
        if decision is not None:
            break
    return session, record


def naive_history(design: Design, record: list[Event]) -> tuple[Any, ...]:
    """All that a history keeps, looked at after every single event, and thinned out at the end."""
    session, points, changes = Session(design, order="told"), [], []
    for place, event in enumerate(record):
        replay(session, [[event]], waiting_before(record, place))
        if session.started and event.kind in ("told", "recorded"):
            points.append((session.samples, session.evidence, session.threshold))
        if session.started and event.kind == "asked":
            answer = session.pursued
            if not changes or changes[-1][2] != answer:
                changes.append((event.number, session.samples, answer))
    step = 1
    while len(thin := [point for point in points if point[0] % step == 0]) > live.MOST_POINTS:
        step *= 2
    told = {event.token for event in record if event.kind == "told"}
    lost = Counter(e.arm for e in record if e.kind == "released" and e.token not in told)
    asked = Counter(event.arm for event in record if event.kind == "asked")
    losses = [[lost[k], asked[k]] for k in range(design.truth.size)]
    return list(dict.fromkeys([*thin, points[-1]])), changes, losses


def waiting_before(record: list[Event], place: int) -> dict[str, Known]:
    """What was asked before this event, and whether it is in flight."""
    ended = {event.token for event in record[:place] if event.kind != "asked"}
    return {
        event.token: Known(event.number, event.token not in ended)
        for event in record[:place]
        if event.kind == "asked"
    }


@pytest.mark.parametrize(
    ("problem", "strategy"), [(sw.BestArm(3), TAS), (sw.AnyLowArm(3, 0.3), STICKY)], ids=repr
)
def test_the_history_is_what_a_look_at_every_event_gives(
    problem: Any, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With delays, losses, late values and unasked samples; kept as events come, and by replay."""
    monkeypatch.setattr(live, "MOST_POINTS", 32)
    monkeypatch.setattr(live, "MOST_CHANGES", 3)
    design = live_design(problem, sw.Bernoulli(), strategy, sw.Mixture(), 1e-12)
    session, record = busy(design, np.array([0.31, 0.3, 0.29]), 700, 5)
    points, changes, losses = naive_history(design, record)
    again = Session(design, order="told")
    replay(again, [record])
    for each in (session, again):
        curve = list(zip(*(column.tolist() for column in each.curve), strict=True))
        assert curve == points
        assert [tuple(change) for change in each.changes] == changes[-3:]
        assert each.change_count == len(changes)
        assert each.lost.tolist() == losses
    assert 16 <= len(points) <= 33
    assert sum(lost for lost, _ in losses) > 0


@pytest.mark.parametrize(
    ("arms", "delta", "decides"), [(3, 1e-12, False), (4, 0.3, True), (rounds.WIDE, 1e-9, False)]
)
def test_replay_gives_the_same_state(
    arms: int, delta: float, decides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain rounds, plain replay and compiled replay: the same bytes (the widest: compiled rounds)."""
    design = live_design(sw.BestArm(arms), sw.Bernoulli(), TAS, sw.Mixture(), delta)
    means = np.linspace(0.2, 0.95 if decides else 0.3, arms)
    session, record = busy(design, means, 1500, arms)
    assert (session.decision is not None) == decides
    for long in (10**9, 0):
        monkeypatch.setattr(rounds, "LONG", long)
        monkeypatch.setattr(rounds, "WIDE", 10**9 if long else rounds.WIDE)
        monkeypatch.setattr(rounds, "_known", {})
        again = Session(design, order="told")
        seen = replay(again, [record])
        assert again.dump() == session.dump()
        assert again.decision == session.decision
        assert (seen.last, seen.unused, seen.other_asks) == (record[-1].number, None, [])
        loaded = Session(design, order="told")
        assert loaded.load(again.dump())
        assert (loaded.decision, loaded.dump()) == (session.decision, session.dump())
        assert loaded.ask() == again.ask()


def test_long_work_is_compiled_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """From plain to compiled rounds in the middle: the same bytes as without."""
    design = live_design(sw.BestArm(3), sw.Bernoulli(), TAS, sw.Mixture(), 1e-12)
    found = []
    for soon in (1e-9, 1e9):
        monkeypatch.setattr(rounds, "EARLY", soon)
        monkeypatch.setattr(rounds, "SOON", soon)
        session = worked(design, monkeypatch)
        assert (rounds.rounds_of(design).replay is live.replay) == (soon > 1.0)
        found.append(session.dump())
    assert found[0] == found[1]


def worked(design: Any, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session of a new process, after 300 rounds; what begins meanwhile ends after a hundred."""
    monkeypatch.setattr(rounds, "_known", {})
    session = Session(design)
    for place in range(300):
        if place in (100, 200):
            rounds.finish()
        ticket = session.ask()
        session.tell(ticket, float((place * 7 + ticket.arm) % 3 == 0))
    return session


def test_what_is_on_disk_is_used_early(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without compiling: where the disk has nothing rounds stay plain."""
    design = live_design(sw.BestArm(3), sw.Bernoulli(), TAS, sw.Mixture(), 1e-12)
    rounds.rounds_of(design).compile(design)
    monkeypatch.setattr(rounds, "EARLY", 1e-9)
    monkeypatch.setattr(rounds, "SOON", 1e9)
    found = []
    for folder in (os.environ.get("STOPWISE_CACHE_DIR", ""), str(tmp_path)):
        monkeypatch.setenv("STOPWISE_CACHE_DIR", folder)
        monkeypatch.setattr(rounds, "_kernels", {})
        found.append(worked(design, monkeypatch).dump())
        assert (rounds.rounds_of(design).replay is live.replay) == (folder == str(tmp_path))
    assert found[0] == found[1]


def test_many_arms_have_rounds_of_their_own() -> None:
    """From 64 arms on the problem keeps other things: what is compiled for fewer does not serve."""
    few, fewer, many = (
        rounds.rounds_of(live_design(sw.BestArm(arms), sw.Bernoulli(), TAS, sw.Mixture(), 0.1))
        for arms in (63, 60, 64)
    )
    assert few is fewer
    assert few is not many


def test_lost_asks_starve_no_arm() -> None:
    """Of every ten samples in flight seven are lost: the others still follow the weights."""
    design = live_design(sw.BestArm(3), sw.Bernoulli(), TAS, sw.Mixture(), 1e-12)
    session, rng = Session(design, losses="at random"), np.random.default_rng(7)
    for _ in range(400):
        tickets = [session.ask() for _ in range(10)]
        order = rng.permutation(10)
        for place in order[3:]:
            session.release(tickets[place])
        for ticket in (tickets[place] for place in order[:3]):
            session.tell(ticket, float(rng.random() < (0.2, 0.6, 0.5)[ticket.arm]))
    session.ask()
    assert float(np.sum(session.ledger.state.taken)) == pytest.approx(
        np.sum(session.ledger.state.plan.totals[:3])
    )
    assert np.max(np.abs(session.ledger.state.taken - session.ledger.state.plan.totals[:3])) < 10


def test_samples_that_nobody_asked_for_are_made_up_for() -> None:
    design = live_design(sw.BestArm(2), sw.Gaussian(), TAS, sw.Mixture(), 1e-30)
    session, rng = Session(design), np.random.default_rng(8)
    for _ in range(500):
        session.record(0, rng.normal())
    for _ in range(700):
        session.tell(session.ask(), rng.normal())
    assert abs(session.counts[0] - session.counts[1]) <= 2, (
        "two equal Gaussian arms have equal weights"
    )


def test_fixed_weights_pursue_no_answer() -> None:
    spec = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 1e-9}
    campaign = Campaign.create({**spec, "strategy": "uniform"}, "memory:", "fair")
    for ticket in campaign.ask(6):
        campaign.tell(ticket.token, ticket.arm)
    campaign.ask()
    assert campaign.status().pursued is None
    assert campaign.explain().changes == ()
    assert "no answer is pursued" in campaign.explain().text


def test_a_state_of_another_layout_is_not_loaded() -> None:
    session = Session(live_design(sw.BestArm(3), sw.Bernoulli(), TAS, sw.Mixture(), 0.1))
    other = Session(live_design(sw.BestArm(4), sw.Bernoulli(), TAS, sw.Mixture(), 0.1))
    session.record(0, 1.0)
    before = session.dump()
    for content in (b"", other.dump(), before[:-1], before + b"x", b"x" * len(before)):
        assert not session.load(content)
        assert session.dump() == before


# ---------------------------------------------------------------------------------------------
# any order of asks, tells, records, releases and lost leases


class Life(RuleBasedStateMachine):
    """Two hands on one campaign, and a plain account of what should be on record."""

    address, order = "memory:", "asked"
    tokens = Bundle("tokens")
    own = Bundle("own")
    values = st.sampled_from([-0.5, 0.0, 0.25, 1.0, 2.5])

    @initialize(apart=st.sampled_from([0.0, 2.0]))
    def begin(self, apart: float) -> None:
        self.apart = apart  # arms that differ: then there will be a decision
        base = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = tempfile.TemporaryDirectory(dir=base)
        self.now, numbers = 0.0, itertools.count(1)
        self.patch = pytest.MonkeyPatch()  # tokens in an order that is the same in every run
        self.patch.setattr("secrets.token_hex", lambda _: f"token {next(numbers):05}")
        address = self.address.replace("FOLDER", self.folder.name)
        self.store = Store(address)
        spec = {
            "question": "best-arm",
            "arms": ["a", "b", "c"],
            "family": {"kind": "gaussian", "variance": 1},
            "delta": 0.3,
        }
        # not proven, but soon crossed
        spec |= {"stopping": "stylized", "order": self.order, "losses": "at random"}
        made = Campaign.create(spec, self.store, "life", clock=lambda: self.now)
        self.hands = [made, self.another()]
        self.arms: dict[str, int] = {}
        self.deadlines: dict[str, float] = {}  # of what is in flight
        self.receipts: dict[str, Receipt] = {}
        self.released: list[str] = []
        # in the order in which samples count: each with its value, None while it is in flight
        self.queue: dict[str, float | None] = {}
        self.counted: list[str] = []
        self.decided = self.paused = self.closed = False
        self.minimum, self.told = 0, list[tuple[str, str]]()  # of lifecycle events: kind, note

    def another(self) -> Campaign:
        return Campaign.open("life", self.store, clock=lambda: self.now)  # its first name

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.patch.undo()
            self.store.close()
            self.folder.cleanup()

    def count(self) -> None:
        """What counts by now, by hand: samples up to the first one that is in flight."""
        if self.decided or self.closed:
            return
        design, self.counted = self.hands[0].spec.design, []
        session = Session(design, minimum=self.minimum)
        for token, value in self.queue.items():
            if value is None or session.decision is not None:
                break
            session.record(self.arms[token], value)
            self.counted.append(token)
        self.decided = session.decision is not None

    def lose(self, token: str) -> None:
        del self.deadlines[token]
        self.released.append(token)
        if not self.decided and not self.closed:
            self.queue.pop(token, None)
        self.count()

    def expire(self) -> None:
        late = sorted((end, token) for token, end in self.deadlines.items() if end < self.now)
        for _, token in late:
            if not self.decided and not self.closed:
                self.lose(token)

    def took(self, receipt: Receipt, asked: bool = True) -> None:
        """A new receipt: it is late exactly if there was a decision before, or it was given up."""
        token, lost = receipt.token, asked and self.order == "asked"
        assert token not in self.receipts
        late = self.decided or self.closed or (lost and token not in self.queue)
        assert receipt.late == late
        self.receipts[token] = receipt
        self.deadlines.pop(token, None)
        if not late:
            self.queue[token] = receipt.value
        self.count()
        assert receipt.decided == self.decided
        assert receipt.waiting == (not late and token not in self.counted)

    @rule(
        target=tokens, hand=st.integers(0, 1), n=st.integers(1, 4), lease=st.sampled_from([5, 50])
    )
    def ask(self, hand: int, n: int, lease: float) -> Any:
        self.expire()
        if self.decided:
            with pytest.raises(CampaignDecided):
                self.hands[hand].ask(n)
            return multiple()
        if self.closed or self.paused:
            with pytest.raises(CampaignClosed if self.closed else CampaignPaused):
                self.hands[hand].ask(n)
            return multiple()
        tickets = self.hands[hand].ask(n, lease=lease)
        for ticket in tickets:
            self.arms[ticket.token] = ticket.arm
            self.deadlines[ticket.token] = self.now + lease
            if self.order == "asked":
                self.queue[ticket.token] = None
        return multiple(*(ticket.token for ticket in tickets))

    def expire_if_strict(self) -> None:
        if self.order == "asked":
            self.expire()

    @rule(hand=st.integers(0, 1), token=tokens, value=values)
    def tell(self, hand: int, token: str, value: float) -> None:
        """The first time, again, or after it was given up."""
        known, value = self.receipts.get(token), value + self.apart * self.arms[token]
        self.expire_if_strict()
        if known is None:
            self.took(self.hands[hand].tell(token, value))
        elif known.value == value:
            assert self.hands[hand].tell(token, value) == known
        else:
            with pytest.raises(Conflict, match=repr(known.value)):
                self.hands[hand].tell(token, value)

    @rule(hand=st.integers(0, 1), count=st.integers(1, 4), value=values)
    def tell_the_oldest_together(self, hand: int, count: int, value: float) -> None:
        chosen = [token for token in self.arms if token not in self.receipts][:count]
        if chosen:
            self.expire_if_strict()
        with self.hands[hand].together():
            receipts = [
                self.hands[hand].tell(token, value + self.apart * self.arms[token])
                for token in reversed(chosen)
            ]
        for receipt in receipts:
            self.took(receipt)

    @rule(target=own, hand=st.integers(0, 1), arm=st.integers(0, 2), value=values)
    def record(self, hand: int, arm: int, value: float) -> str:
        self.expire_if_strict()
        receipt = self.hands[hand].record(arm, value + self.apart * arm)
        self.arms[receipt.token] = arm
        self.took(receipt, asked=False)
        return receipt.token

    @rule(hand=st.integers(0, 1), token=own)
    def record_again(self, hand: int, token: str) -> None:
        known = self.receipts[token]
        self.expire_if_strict()
        assert self.hands[hand].record(known.arm, known.value, token=token) == known

    @rule(hand=st.integers(0, 1), token=tokens)
    def release(self, hand: int, token: str) -> None:
        was = token in self.deadlines
        assert self.hands[hand].release(token, "why not") == was
        if was:
            self.lose(token)

    @rule(hand=st.integers(0, 1), token=tokens)
    def heartbeat(self, hand: int, token: str) -> None:
        self.expire_if_strict()
        alive = token in self.deadlines
        assert self.hands[hand].heartbeat(token, lease=20) == alive
        if alive:
            self.deadlines[token] = self.now + 20

    @rule(seconds=st.sampled_from([1, 10, 30]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(hand=st.integers(0, 1), token=tokens, value=st.sampled_from([float("nan"), "1", 1e300]))
    def tell_nonsense(self, hand: int, token: str, value: Any) -> None:
        with pytest.raises(sw.BadArgument):
            self.hands[hand].tell(token, value)

    @rule(hand=st.integers(0, 1))
    def pause(self, hand: int) -> None:
        if self.decided or self.closed:
            with pytest.raises(NotPossible):
                self.hands[hand].pause()
            return
        assert self.hands[hand].pause("lunch") != self.paused
        self.told += [] if self.paused else [("paused", "lunch")]
        self.paused = True

    @rule(hand=st.integers(0, 1))
    def resume(self, hand: int) -> None:
        if self.decided or self.closed:
            return
        assert self.hands[hand].resume() == self.paused
        self.told += [("resumed", "")] if self.paused else []
        self.paused = False

    @rule(hand=st.integers(0, 1), number=st.integers(1, 3))
    def rename(self, hand: int, number: int) -> None:
        """Both hands go on under whatever name they know."""
        old = self.another().name
        if self.hands[hand].rename(f"life {number}"):
            self.told.append(("renamed", json.dumps({"from": old, "to": f"life {number}"})))

    @rule(hand=st.integers(0, 1), minimum=st.integers(0, 4))
    def require(self, hand: int, minimum: int) -> None:
        """More samples of each arm before a decision; or fewer, and that may be one."""
        if self.decided or self.closed:
            return
        if self.hands[hand].change(minimum=minimum):
            self.told.append(("changed", json.dumps({"minimum": minimum})))
        self.minimum = minimum
        self.count()

    @precondition(lambda self: len(self.told) > 6)
    @rule(hand=st.integers(0, 1))
    def close(self, hand: int) -> None:
        if not self.decided:
            assert self.hands[hand].close("enough") != self.closed
            self.told += [] if self.closed else [("closed", "enough")]
            self.closed = True

    @rule(hand=st.integers(0, 1))
    def crash(self, hand: int) -> None:
        self.hands[hand] = self.another()

    @precondition(lambda self: hasattr(self, "hands"))
    @invariant()
    def all_is_on_record(self) -> None:
        record = self.hands[0].events()
        tokens = Counter((event.kind, event.token) for event in record)
        assert set(tokens.values()) <= {1}, "something is on record twice"
        found = [e.token for e in record if e.kind in ("told", "recorded")]
        assert sorted(found) == sorted(self.receipts)
        assert [e.token for e in record if e.kind == "released"] == self.released
        assert sum(e.kind == "decided" for e in record) == self.decided
        assert [(e.kind, e.note) for e in record if e.kind in LIFE] == self.told
        assert all(e.actor == myself() for e in record if e.kind in LIFE)
        counted = Counter(self.arms[token] for token in self.counted)
        in_flight = Counter(self.arms[token] for token in self.deadlines)
        here = sum(value is not None for value in self.queue.values()) - len(self.counted)
        session = self.hands[0]._replica.base.session()
        replay(session, [record])
        for hand in self.hands:
            status = hand.status()
            state = "closed" if self.closed else "paused" if self.paused else "running"
            assert status.state == ("decided" if self.decided else state)
            assert [arm.samples for arm in status.arms] == [counted[k] for k in range(3)]
            assert [arm.in_flight for arm in status.arms] == [in_flight[k] for k in range(3)]
            assert status.waiting == (0 if self.decided else here)
            with hand.look() as (_, seen):
                assert seen.session.dump() == session.dump()
            assert (hand.decision is not None) == self.decided
        assert self.hands[0].verify().agrees
        if not self.decided and not self.closed:
            assert [int(each) for each in session.in_flight] == [in_flight[k] for k in range(3)]


class LifeOnDisk(Life):
    address = "sqlite:///FOLDER/life.db"


class LifeAsTold(Life):
    order = "told"


quick = settings(max_examples=60, stateful_step_count=40, deadline=None, derandomize=True)
TestLifeInMemory = Life.TestCase
TestLifeInMemory.settings = quick
TestLifeOnDisk = LifeOnDisk.TestCase
TestLifeOnDisk.settings = settings(quick, max_examples=30)
TestLifeAsTold = LifeAsTold.TestCase
TestLifeAsTold.settings = settings(quick, max_examples=30)
