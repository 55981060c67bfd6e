"""The smallest mean: what holds for the largest, through the mirror."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise import Campaign, Session
from stopwise.campaign.spec import HORIZON
from stopwise.engine.design import Setting, prepare

MEANS = np.array([0.5, 0.3, 0.35, 0.6])
# families that are their own images, and where a mean or a sample goes
IMAGES: list[tuple[Any, Any]] = [
    (sw.Gaussian(0.25), lambda x: -x),
    (sw.Bernoulli(), lambda x: 1.0 - x),
    (sw.Binomial(3), lambda x: 3.0 - x),
]


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize(("family", "image"), IMAGES, ids=lambda each: repr(each)[:9])
def test_oracles_are_those_of_the_image(family: Any, image: Any, epsilon: float) -> None:
    low = sw.oracle(sw.BestArm(4, epsilon, goal="min"), MEANS, family=family)
    high = sw.oracle(sw.BestArm(4, epsilon), image(MEANS), family=family)
    assert low.answers == high.answers == (1,)
    assert low.time == pytest.approx(high.time, rel=1e-9)
    assert low.weights[0] == pytest.approx(high.weights[0], rel=1e-6)


@pytest.mark.parametrize("rule", [sw.Wealth(), sw.Mixture(0.5, 0.5), sw.Stylized()], ids=repr)
@pytest.mark.parametrize("strategy", [sw.TrackAndStop(), sw.StickyTrackAndStop()], ids=repr)
def test_sessions_are_those_of_the_image(rule: Any, strategy: Any) -> None:
    """Coins turned over: the same arms are asked for, with the same evidence."""
    sessions = [
        Session(
            prepare(Setting(problem, sw.Bernoulli(), strategy, rule), None, (0.01,), HORIZON),
        )
        for problem in (sw.BestArm(3, 0.05, goal="min"), sw.BestArm(3, 0.05))
    ]
    low, high = sessions
    rng, asked = np.random.default_rng(3), 0
    while low.decision is None and asked < 400:
        ticket = low.ask()
        assert high.ask() == ticket
        value = float(rng.random() < (0.7, 0.2, 0.4)[ticket.arm])
        low.tell(ticket, value)
        high.tell(ticket, 1.0 - value)
        assert low.evidence == pytest.approx(high.evidence, rel=1e-7, abs=1e-9)
        assert low.leading == high.leading
        asked += 1
    assert low.decision is not None
    assert low.decision.answer == 1


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("family", [sw.Exponential(), sw.Poisson()], ids=repr)
def test_of_two_arms_the_lowest_is_the_one_that_is_not_best(family: Any, epsilon: float) -> None:
    """Families that are not their own images: 0 is lowest is what 1 is best says."""
    low = sw.oracle(sw.BestArm(2, epsilon, goal="min"), [1.0, 3.0], family=family)
    high = sw.oracle(sw.BestArm(2, epsilon), [1.0, 3.0], family=family)
    assert (low.answers, high.answers) == ((0,), (1,))
    assert low.time == pytest.approx(high.time, rel=1e-9)
    assert low.weights[0] == pytest.approx(high.weights[0], rel=1e-6)


def test_it_says_lowest() -> None:
    spec = {
        "question": {"kind": "best-arm", "goal": "min", "epsilon": 0.1},
        "arms": ["page A", "page B"],
        "family": "exponential",
        "delta": 0.1,
    }
    campaign = Campaign.create(spec, "memory:", "fastest")
    rng = np.random.default_rng(1)
    while campaign.decision is None:
        (ticket,) = campaign.ask()
        campaign.tell(ticket.token, float(rng.exponential((2.0, 1.0)[ticket.arm])))
    assert campaign.decision.text == "page B is lowest, up to 0.1"
    assert campaign.verify().agrees
    assert repr(sw.BestArm(2, goal="min")) == "BestArm(arms=2, epsilon=0.0, goal='min')"
    with pytest.raises(sw.BadArgument, match=r'"max" .* or "min"'):
        sw.BestArm(2, goal="lowest")


PILOT = [np.random.default_rng(k).beta(4 + k, 4, size=200) for k in range(3)]


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("family", [sw.Gaussian(variance=None), sw.Bounded(0.0, 1.0)], ids=repr)
def test_the_lowest_of_turned_values_is_the_highest(family: Any, epsilon: float) -> None:
    settings: dict[str, Any] = {"family": family, "delta": 0.1, "repetitions": 30, "seed": 3}
    highest = sw.simulate(sw.BestArm(3, epsilon=epsilon), PILOT, **settings)
    turned = [1.0 - column for column in PILOT]
    lowest = sw.simulate(sw.BestArm(3, epsilon=epsilon, goal="min"), turned, **settings)
    assert lowest.correct.all()
    np.testing.assert_array_equal(lowest.stopping_times, highest.stopping_times)
    np.testing.assert_array_equal(lowest.counts, highest.counts)
    np.testing.assert_array_equal(lowest.answers, highest.answers)


@pytest.mark.parametrize(
    "family", ["bounded", {"kind": "gaussian", "variance": "unknown"}], ids=str
)
def test_a_campaign_for_the_lowest(family: Any) -> None:
    spec = {
        "question": {"kind": "best-arm", "goal": "min"},
        "arms": ["slow", "fast"],
        "family": family,
        "delta": 0.05,
    }
    campaign, random = sw.Campaign.create(spec, "memory:", name="drivers"), np.random.default_rng(1)
    decided = False
    while not decided:
        (ticket,) = campaign.ask()
        value = float(random.beta(8.0 - 4.0 * ticket.arm, 4.0))
        decided = campaign.tell(ticket.token, value).decided
    assert campaign.recommend().text == "fast is lowest"
    for arm in campaign.status().arms:
        low, mean, high = arm.low, arm.mean, arm.high
        assert low < mean < high  # type: ignore[operator]
    assert campaign.verify().agrees
