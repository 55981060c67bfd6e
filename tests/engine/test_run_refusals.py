"""What run and simulate refuse: each message names the argument, what was given, what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

import stopwise as sw

GOOD: dict[str, Any] = {
    "problem": sw.BestArm(3),
    "strategy": sw.TrackAndStop(),
    "means": [0.5, 0.4, 0.3],
    "family": sw.Bernoulli(),
    "seed": 1,
    "repetitions": 2,
}
ROWS: list[tuple[dict[str, Any], str, str]] = [
    ({"delta": 0.0}, "delta", "between 0 and 1"),
    ({"delta": 1.0}, "delta", "between 0 and 1"),
    ({"delta": float("nan")}, "delta", "nan"),
    ({"delta": []}, "delta", ""),
    ({"delta": [0.1, 0.1]}, "delta", "differ"),
    ({"delta": [0.1, 2.0]}, "delta", "2.0"),
    ({"means": [0.5, 1.2, 0.3]}, "means", "1.2"),
    ({"means": [0.5, float("nan"), 0.3]}, "means", "nan"),
    ({"means": [0.5, 0.4]}, "means", "3"),
    ({"means": []}, "means", "not empty"),
    ({"seed": -1}, "seed", "-1"),
    ({"seed": 1.5}, "seed", "1.5"),
    ({"repetitions": 0}, "repetitions", "0"),
    ({"workers": 0}, "workers", "0"),
    ({"max_rounds": 2}, "max_rounds", "2"),
    ({"strategy": sw.FixedWeights([0.5, 0.5])}, "weights", "3"),
    ({"strategy": sw.StickyTrackAndStop(order=[0, 1])}, "order", "each answer"),
    ({"strategy": sw.StickyTrackAndStop(order=[0, 1, 7])}, "answer", "7"),
    ({"strategy": sw.StickyTrackAndStop(region=lambda t: -t)}, "region", "not fall"),
    ({"stopping": sw.Mixture(), "family": sw.InverseGaussian()}, "Mixture", "MixtureMartingale"),
    ({"problem": sw.Sphere(3)}, "Sphere", "Gaussian"),
    ({"strategy": "sticky"}, "sticky", "a strategy"),
    ({"strategy": sw.TrackAndStop}, "TrackAndStop", "value"),
    ({"stopping": sw.Mixture}, "Mixture", "value"),
]


@pytest.mark.parametrize(("change", "name", "word"), ROWS, ids=lambda item: str(item)[:40])
def test_simulate_refuses(change: dict[str, Any], name: str, word: str) -> None:
    with pytest.raises(sw.StopwiseError) as caught:
        sw.simulate(**{**GOOD, **change})
    assert name in str(caught.value)
    assert word in str(caught.value)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: sw.TrackAndStop("E"), "tracking"),
        (lambda: sw.FixedWeights([0.0, 0.0]), "weights"),
        (lambda: sw.FixedWeights([-1.0, 2.0]), "weights"),
        (lambda: sw.FixedWeights([float("nan"), 1.0]), "weights"),
        (lambda: sw.StickyTrackAndStop(region=3.0), "region"),
        (lambda: sw.run(delta=[0.1, 0.2], **{k: v for k, v in GOOD.items() if k != "repetitions"}),
         "delta"),
    ],
)  # fmt: skip
def test_values_refuse(make: Any, name: str) -> None:
    with pytest.raises(sw.BadArgument) as caught:
        make()
    assert name in str(caught.value)


def test_a_strategy_that_looks_at_delta_gets_one() -> None:
    from typing import NamedTuple

    class _Looks(NamedTuple):
        tracker: sw.CTracking = sw.CTracking()

    class Looks(_Looks, sw.Strategy, listed=False):
        looks_at_delta = True

    with pytest.raises(sw.BadArgument, match="looks at delta"):
        sw.simulate(**{**GOOD, "strategy": Looks(), "delta": [0.1, 0.2]})
