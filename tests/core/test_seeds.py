"""``rng`` in place of ``seed``: a number is the seed, a sequence gives one, a generator new ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import odd
import stopwise as sw
from stopwise.core.errors import BadArgument
from stopwise.core.seeds import chosen_seed
from stopwise.reproduce.league.league import League

COIN = sw.Bernoulli()
TABLE = np.random.default_rng(0).integers(0, 2, (30, 2)).astype(float)
# functions that take a seed, and which one they used
USED: dict[str, Callable[..., Any]] = {
    "run": lambda **given: sw.run(sw.BestArm(2), [0.9, 0.1], family=COIN, **given).seed,
    "simulate": lambda **given: (
        sw.simulate(sw.BestArm(2), [0.9, 0.1], family=COIN, repetitions=2, workers=1, **given).seed
    ),
    "simulate_paired": lambda **given: (
        sw.simulate_paired(TABLE, family=COIN, repetitions=1, max_items=5, **given).seed
    ),
    "plan": lambda **given: (
        sw.plan(
            sw.BestArm(2),
            [0.9, 0.1],
            family=COIN,
            strategies=[sw.Uniform()],
            repetitions=2,
            **given,
        ).seed
    ),
    "Study": lambda **given: sw.Study(sw.BestArm(2), [0.9, 0.1], family=COIN, **given).spec.seed,
    "Session": lambda **given: sw.Session(odd.design(), **given).seed,
    "League": lambda **given: League(**given).seed,
}


@pytest.mark.parametrize("name", USED)
def test_a_number_is_a_seed(name: str) -> None:
    used = USED[name]
    assert used(seed=7) == used(rng=7) == used(rng=np.int64(7)) == 7
    assert used(rng=np.random.SeedSequence(7)) == 7
    with pytest.raises(BadArgument, match="rng: got 7; allowed: nothing beside ``seed``"):
        used(seed=7, rng=7)


@pytest.mark.parametrize(
    ("name", "seed"), [("plan", 1), ("Study", 0), ("Session", 0), ("League", 0)]
)
def test_what_has_a_usual_seed_keeps_it(name: str, seed: int) -> None:
    assert USED[name]() == USED[name](seed=None, rng=None) == seed


@pytest.mark.parametrize("name", ["run", "simulate", "simulate_paired"])
def test_without_a_seed_there_is_a_new_one_each_time(name: str) -> None:
    assert USED[name]() != USED[name]()  # equal by chance once in 2^64


def test_every_function_with_a_seed_takes_rng_too() -> None:
    found = set()
    for name in sw.__all__:
        try:
            parameters = inspect.signature(getattr(sw, name)).parameters
        except (TypeError, ValueError):
            continue
        if "seed" in parameters and "rng" not in parameters:
            found.add(name)
    # what was computed with the seed that was used, not where one begins
    records = {"Forecast", "PairedResults", "Reproduction", "Results", "Run", "RunFailed"}
    assert found <= records


def test_a_sequence_gives_the_same_seed_again_and_its_children_give_others() -> None:
    first = np.random.SeedSequence(7)
    children = first.spawn(3)
    assert chosen_seed(None, first) == 7  # although it has spawned
    seeds = [chosen_seed(None, each) for each in children]
    again = [chosen_seed(None, np.random.SeedSequence(7, spawn_key=(k,))) for k in range(3)]
    assert seeds == again
    assert len({7, *seeds}) == 4
    lists = chosen_seed(None, np.random.SeedSequence([1, 2]))
    assert lists == chosen_seed(None, np.random.SeedSequence([1, 2]))
    assert lists != chosen_seed(None, np.random.SeedSequence([2, 1]))
    large = np.random.SeedSequence(2**200 + 1)
    assert 0 <= chosen_seed(None, large) < 2**128


def test_a_generator_gives_a_new_seed_each_time() -> None:
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    first, second = chosen_seed(None, rng), chosen_seed(None, rng)
    assert first != second
    assert [chosen_seed(None, other) for _ in range(2)] == [first, second]


def test_runs_are_those_of_the_seed() -> None:
    asked: dict[str, Any] = {"family": COIN, "repetitions": 20, "workers": 1}
    by_seed = sw.simulate(sw.BestArm(2), [0.7, 0.4], seed=11, **asked)
    by_rng = sw.simulate(sw.BestArm(2), [0.7, 0.4], rng=11, **asked)
    assert np.array_equal(by_seed.counts, by_rng.counts)
    drawn = sw.simulate(sw.BestArm(2), [0.7, 0.4], rng=np.random.default_rng(5), **asked)
    repeated = sw.simulate(sw.BestArm(2), [0.7, 0.4], seed=drawn.seed, **asked)
    assert np.array_equal(drawn.counts, repeated.counts)
    assert not np.array_equal(drawn.counts, by_seed.counts)
