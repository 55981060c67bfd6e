"""Arms that are added to a campaign: what they cost, and that they do no harm.

Every simulation has a fixed seed; a correct package fails a count with probability 1e-6 at most.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise import Session
from stopwise.campaign import spec as specs
from stopwise.campaign.rounds import rounds_of
from stopwise.campaign.storage.hashes import sealed_state
from stopwise.cells.gap import Gap
from stopwise.core.arrays import Floats, Rng
from stopwise.core.compile.kernels import compiled
from stopwise.core.data import Data
from stopwise.core.functions import jitable
from stopwise.engine import live
from stopwise.engine.design import generator
from stopwise.stopping.wealth_state import wealth_state
from validity import DELTAS, most

COINS = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 0.1}
LOWEST = {"kind": "best-arm", "goal": "min"}
# with two arms first: events for four arms, the others chosen by samples, and settled beforehand
EVENTS = (
    ("best-arm", 6, 3),
    ("best-arm:epsilon=0.05", 6, 3),
    (LOWEST, 6, 3),
    ("thresholding:threshold=0.5", 4, 4),
    ("any-low-arm:threshold=0.5", 4, 4),
    ("any-sign:threshold=0.5", 4, 4),
)


@pytest.mark.parametrize("question", ["best-arm", LOWEST], ids=str)
@pytest.mark.parametrize("order", ["asked", "told"])
def test_an_arm_is_added(order: str, question: Any) -> None:
    """With samples in flight, and some that wait; the level is that of all the room from the start."""
    spec = {**COINS, "question": question, "room": 4, "order": order}
    now = 0.0
    campaign = sw.Campaign.create(spec, "memory:", "roomy", clock=lambda: now)
    hand = sw.Campaign.open("roomy", campaign._store, clock=lambda: now)
    tickets, rng = campaign.ask(20), np.random.default_rng(5)
    for ticket in (*tickets[:9], *tickets[10:15]):
        campaign.tell(ticket.token, float(rng.random() < 0.5))
    before = campaign.status()
    assert before.threshold == pytest.approx(np.log(6 / 0.1))
    assert campaign.add_arm("c") == 2
    after = hand.status()
    assert after.evidence is None, "the new arm has no sample"
    assert [arm.samples for arm in after.arms[:2]] == [arm.samples for arm in before.arms]
    assert (after.in_flight, after.waiting) == (before.in_flight, before.waiting)
    assert (after.in_flight, after.waiting) == (6, 5 if order == "asked" else 0)
    for ticket in (*tickets[15:], tickets[9]):
        assert not hand.tell(ticket.token, 1).late
    while campaign.decision is None:
        for ticket in hand.ask(3):
            low, high = (0.1, 0.9) if question == "best-arm" else (0.9, 0.1)
            campaign.tell(ticket.token, float(rng.random() < (high if ticket.arm == 2 else low)))
    assert campaign.decision.answer == 2
    assert campaign.decision.threshold == before.threshold
    for each in (campaign, hand):
        assert each.verify().agrees
        with each.look() as (transaction, seen):
            assert transaction.state() == sealed_state(seen.last, seen.session.dump())
    with pytest.raises(sw.NotPossible, match="nothing to add"):
        hand.add_arm("d")


def test_arms_are_not_added_where_the_guarantee_would_be_lost() -> None:
    campaign = sw.Campaign.create({**COINS, "arms": ["a", "b", "c"]}, "memory:", "full")
    with pytest.raises(sw.NotPossible, match=r"room for 3 arms, and 3 of them.*room = "):
        campaign.add_arm("d")
    with pytest.raises(sw.BadArgument, match="room: got 5; allowed: nothing"):
        specs.read({**COINS, "question": "minimum-threshold:threshold=0.5", "room": 5})


# ------------------------------------------------------------------------------------- the level


@pytest.mark.parametrize(("question", "adaptive", "planned"), EVENTS, ids=str)
def test_the_level_is_that_of_all_arms_to_come(question: Any, adaptive: int, planned: int) -> None:
    asked = {**COINS, "question": question, "room": 4}
    for given, events in (({}, adaptive), ({"additions": "planned"}, planned)):
        made = specs.read({**asked, **given})
        whole = specs.changed(made, {"arms": ["a", "b", "c"]})
        whole = specs.changed(whole, {"arms": ["a", "b", "c", "d"]})
        for each in (made, whole):
            assert each.design.levels[0] == pytest.approx(math.log(events / 0.1), rel=1e-12)
        assert whole.key == made.key


def test_without_room_nothing_is_spent() -> None:
    made = specs.read(COINS)
    assert made.design.levels[0] == pytest.approx(math.log(1 / 0.1))
    assert "additions" not in made.table
    for given in ({"additions": "planned"}, {"additions": "some", "room": 3}):
        with pytest.raises(sw.BadArgument, match=r'additions: got .*"adaptive" or "planned", if'):
            specs.read({**COINS, **given})


def test_a_spec_of_an_earlier_version_keeps_its_level_and_its_hash() -> None:
    """0.3.0 before the key: arms were taken to be settled beforehand."""
    stored = {**COINS, "room": 4, "order": "asked", "stopping": "wealth"}
    stored["strategy"] = {"kind": "track-and-stop", "tracking": "D"}
    old = specs.make(stored)
    assert (old.key, old.table) == ("42abe0d70428699a", stored)
    assert specs.changed(old, {"arms": ["a", "b", "c"]}).design.levels[0] == pytest.approx(
        math.log(3 / 0.1)
    )
    given = {**COINS, "room": 4}
    for again in (given, {**given, "additions": "planned"}):
        assert specs.like(specs.read(again), stored).key == old.key
    assert specs.like(specs.read({**given, "additions": "adaptive"}), stored).key != old.key


# ---------------------------------------------------------------------------- is it enough, and needed


def chance(arms: int, height: float) -> float:
    """How often somebody who may add so many arms sees a pair's wealth reach ``height``.

    The proof knows of an arm's bets no more than that they are martingales: these go to a goal or to 0.
    The best arm's bets reach ``goal`` once in ``goal`` tries. Then all other arms are worse ones, whose
    pairs begin there; if not, the next arm is a better one, and its bets begin at 1.
    """
    found = 0.0
    for left in range(1, arms + 1):
        goals = np.arange(1.0, height, 0.25)
        found = float(np.max((1 - (1 - goals / height) ** left) / goals + (1 - 1 / goals) * found))
    return found


@pytest.mark.parametrize(("first", "added"), [(2, 4), (2, 8), (4, 6), (4, 20)])
def test_fewer_events_would_not_be_enough_for_the_proof(first: int, added: int) -> None:
    problem = sw.BestArm(first + added)
    assert chance(added, problem.adaptive_bound(first) / 0.05) <= 0.05
    assert chance(added, problem.union_bound() / 0.05) > 1.5 * 0.05
    assert problem.adaptive_bound(problem.arms) == problem.union_bound()


@jitable
def _take(family: Any, data: Data, arm: int, rng: Rng) -> None:
    data.counts[arm] += 1.0
    data.means[arm] += (family.draw(0.0, rng) - data.means[arm]) / data.counts[arm]


@jitable
def most_made(family: Any, data: Data, state: Any, goal: float, tries: int, rng: Rng) -> float:
    """The most that a pair's bets made at the truth, by somebody who adds arms as ``chance`` does."""
    best, found = 0, 0.0
    for arm in range(1, data.counts.size):
        luck = state.arm_wealth(family, data, best, -1.0, 0.0)
        for _ in range(tries):
            if luck < goal:
                _take(family, data, best, rng)
                luck = state.arm_wealth(family, data, best, -1.0, 0.0)
        if luck < goal:
            best = arm  # this one is better by a hair
            continue
        for _ in range(tries):  # and this one worse
            _take(family, data, arm, rng)
            found = max(found, state.log_pair(family, data, Gap(arm, best, 0.0), 0.0)[0])
    return found


def crossings(runs: int) -> Floats:
    """The logarithm of the most that 40 Gaussian arms, all but one added, made in each run."""
    family, problem = sw.Gaussian(), sw.BestArm(40)
    search, state = compiled(most_made), wealth_state(family, problem)
    rule = math.log(16.0), 300
    return np.array(
        [
            search(family, Data(np.zeros(40), np.zeros(40)), state, *rule, generator(7, run))
            for run in range(runs)
        ]
    )


def crossed(tops: Floats, events: int, delta: float) -> int:
    return int(np.sum(tops >= math.log(events / delta)))


def test_wealth_at_the_truth_by_an_adversary() -> None:
    tops = crossings(100)
    for delta in DELTAS:
        assert crossed(tops, sw.BestArm(40).adaptive_bound(1), delta) <= most(100, delta)


@pytest.mark.slow
def test_wealth_at_the_truth_in_four_thousand_runs() -> None:
    """With an event for each arm but one the wealth crosses too often: 27 % at .2, 9 % at .05."""
    tops, problem = crossings(4000), sw.BestArm(40)
    for delta in DELTAS:
        assert crossed(tops, problem.adaptive_bound(1), delta) <= most(4000, delta)
        assert crossed(tops, problem.union_bound(), delta) > most(4000, delta)


HAIR, PIECE = 1e-4, 10


class Adversary:
    """Who knows the means, and adds the arm for which the samples of the best one are unlucky."""

    def __init__(self, spec: specs.CampaignSpec, rng: Rng) -> None:
        self.spec, self.rng = spec, rng
        self.session: Session = spec.session()
        self.means, self.samples = [0.5, 0.5 - HAIR], list[tuple[int, float]]()
        self.best, self.named = 0, 1  # the best arm, and the one that is to be named

    def play(self, room: int, rounds: int) -> bool:
        """Whether the campaign ends with a wrong answer."""
        self.take(0)
        self.take(1)
        while self.session.decision is None and len(self.samples) < rounds:
            if len(self.means) < room:
                self.look_for_luck()
            self.take(self.named)
        decision = self.session.decision
        return decision is not None and decision.answer != self.best

    def look_for_luck(self) -> None:
        """The best arm looks bad: one that is worse by a hair; it had its tries: a better one."""
        count, mean = self.session.counts[self.best], self.session.means[self.best]
        if (0.5 - mean) * math.sqrt(count) > 0.75:
            self.named = self.add(self.means[self.best] - HAIR)
        elif count > 30 * PIECE:
            self.best = self.add(self.means[self.best] + HAIR)
            self.take(self.best)
        else:
            self.take(self.best)

    def add(self, mean: float) -> int:
        self.means.append(mean)
        labels = [str(k) for k in range(len(self.means))]
        design = specs.changed(self.spec, {"arms": labels}).design
        arms, samples = zip(*self.samples, strict=True)
        self.session.grow(design, arms, samples)
        self.take(len(self.means) - 1)
        return len(self.means) - 1

    def take(self, arm: int) -> None:
        drawn = (self.rng.random(PIECE) < self.means[arm]).astype(float).tolist()
        self.samples += [(arm, sample) for sample in drawn]
        ours, last = [arm] * PIECE, self.session.number + 1
        numbers = [last + place for place in range(PIECE)]
        self.session.take(live.RECORDED, ours, drawn, [False] * PIECE, numbers)


def check_adversary(runs: int, rounds: int) -> None:
    """Wrong answers in at most delta of the runs; false-alarm rate 1e-6."""
    spec = specs.read({**COINS, "delta": 0.2, "room": 6, "order": "told"})
    rounds_of(spec.design).compile(spec.design)
    wrong = sum(
        Adversary(spec, np.random.default_rng(seed)).play(6, rounds) for seed in range(runs)
    )
    assert wrong <= most(runs, 0.2), f"{wrong} of {runs}"


def test_arms_that_are_added_because_of_samples_do_no_harm() -> None:
    check_adversary(runs=100, rounds=600)


@pytest.mark.slow
def test_they_do_no_harm_in_a_thousand_runs() -> None:
    check_adversary(runs=1000, rounds=1000)
