"""The lowest mean of arms whose family is estimated: the mirror image of the highest, run by run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stopwise as sw

PILOT = [np.random.default_rng(k).beta(4 + k, 4, size=200) for k in range(3)]


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("family", [sw.Gaussian(variance=None), sw.Bounded(0.0, 1.0)], ids=repr)
def test_the_lowest_of_turned_values_is_the_highest(family: Any, epsilon: float) -> None:
    settings: dict[str, Any] = {"family": family, "delta": 0.1, "repetitions": 30, "seed": 3}
    highest = sw.simulate(sw.BestArm(3, epsilon=epsilon), PILOT, **settings)
    turned = [1.0 - column for column in PILOT]
    lowest = sw.simulate(sw.BestArm(3, epsilon=epsilon, goal="min"), turned, **settings)
    assert lowest.correct.all()
    same = (highest.stopping_times == lowest.stopping_times) & (highest.answers == lowest.answers)
    assert same.mean() >= 0.9  # rounding may tip a scale


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
