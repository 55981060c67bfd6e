"""``best_of``: sync and async, bounded concurrency, what is proven, failures and Ctrl-C."""

from __future__ import annotations

import asyncio
import random
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.evals import EvalFailed, best_of, best_of_async

ITEMS = list(range(400))
SKILL = {"short": 0.5, "long": 0.8, "silly": 0.1}


def right(skill: float, item: int) -> float:
    """Whether an option solves an item: the same whenever it is asked, hard items are hard for all."""
    return float(random.Random(item).random() < skill)


def test_the_best_is_found_and_the_others_are_asked_less() -> None:
    found = best_of(SKILL, ITEMS, right, deterministic=True)
    assert found.best == "long"
    assert found.ended == "decided"
    assert found.warnings == ()
    assert found.calls["silly"] < found.calls["long"] < 400
    assert found.sentence.startswith("long is best (")
    assert "of a pool of 400, delta = 0.05" in found.sentence
    assert "is ahead" in repr(found)
    assert found.to_dict()["best"] == "long"
    assert set(found.to_dict()["out"]) == {"short", "silly"}


@pytest.mark.parametrize("workers", [1, 7])
def test_workers_change_nothing_but_the_number_of_calls(workers: int) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def slow(skill: float, item: int) -> float:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.0005 * (1 + right(skill, item)))  # the better the slower
        with lock:
            running -= 1
        return right(skill, item)

    found, alone = best_of(SKILL, ITEMS, slow, workers=workers), best_of(SKILL, ITEMS, right)
    assert most <= workers
    assert found.verdict == alone.verdict
    assert found.means == alone.means
    assert sum(found.calls.values()) <= sum(alone.calls.values()) + 3 * workers


def test_coroutines() -> None:
    running, most = 0, 0

    async def ask(skill: float, item: int) -> float:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.0001 * random.random())
        running -= 1
        return right(skill, item)

    found = best_of(SKILL, ITEMS, ask, workers=5)
    assert found.verdict == best_of(SKILL, ITEMS, right).verdict
    assert 1 < most <= 5
    again = asyncio.run(best_of_async(SKILL, ITEMS, ask, workers=5))
    assert again.verdict == found.verdict


def test_a_pool_is_always_decided_at_its_end_and_a_sample_need_not_be() -> None:
    equal = {"a": 1, "b": 2}
    same = lambda option, item: float(item % 2 == option % 2)  # noqa: E731
    whole = best_of(equal, ITEMS, same, deterministic=True)
    assert whole.ended == "decided"
    assert whole.best is None, "neither is better"
    assert whole.tied == ("a", "b")
    assert whole.sentence.startswith("a and b tie on all 400 items, 400 items of")
    assert any("a and b tie" in each for each in whole.warnings)
    for settings in ({}, {"pool": False}, {"deterministic": True, "pool": False}):
        found = best_of(equal, ITEMS, same, **settings)
        assert found.ended == "items"
        assert found.best is None
        assert found.tied == ()
        assert found.sentence.startswith("undecided: ")
        assert found.claim == "about items like these"
        assert "Give more items" in found.warnings[0]


def test_epsilon_and_goal_and_real_numbers() -> None:
    rng = np.random.default_rng(1)
    cost = rng.normal(size=(2_000, 1)) * 3.0 + rng.normal(size=(2_000, 2)) * 0.3 + [5.0, 4.99]
    found = best_of(
        {"a": 0, "b": 1}, range(2_000), lambda arm, item: cost[item, arm],
        family=sw.Gaussian(variance=None), pool=False, goal="min", epsilon=0.1,
    )  # fmt: skip
    assert found.best is not None
    assert "or within 0.1 of the best" in found.sentence
    assert found.verdict.items < 500


def test_a_failure_names_option_and_item_and_keeps_what_is_known() -> None:
    def fails(skill: float, item: int) -> float:
        if item == 7:
            raise RuntimeError("no answer")
        return right(skill, item)

    with pytest.raises(EvalFailed, match=r"on items\[7\]: RuntimeError: no answer") as caught:
        best_of({"a": 0.5, "b": 0.51}, ITEMS, fails)
    assert caught.value.report.ended == "failed"
    with pytest.raises(EvalFailed, match=r"value: got 2\.0"):
        best_of(SKILL, ITEMS, lambda option, item: 2.0)
    with pytest.raises(EvalFailed, match="TypeError"):
        best_of(SKILL, ITEMS, lambda option, item: None)  # type: ignore[arg-type,return-value]


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_returns_what_is_known() -> None:
    calls = iter(range(10_000))

    def stops(skill: float, item: int) -> float:
        if next(calls) == 20:
            signal.raise_signal(signal.SIGINT)
        return right(skill, item)

    found = best_of({"a": 0.5, "b": 0.51}, ITEMS, stops)
    assert found.ended == "interrupted"
    assert 9 <= found.verdict.items <= 11


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: best_of(["a"], ITEMS, right), "options: got '1 options, 400 items'"),
        (lambda: best_of(["a", "b"], [], right), "options: got '2 options, 0 items'"),
        (lambda: best_of(["a", "a"], ITEMS, right), "options that differ, or a dict"),
        (lambda: best_of(["a", "b"], iter(ITEMS), right), "items: got <list_iterator"),
        (lambda: best_of(["a", "b"], ITEMS, right, workers=0), "workers: got 0"),
        (lambda: best_of(["a", "b"], ITEMS, right, retries=-1), "retries: got -1"),
        (lambda: best_of(["a", "b"], ITEMS, right, deterministic=1), "deterministic: got 1"),
        (lambda: best_of(["a", "b"], ITEMS, right, pool="no"), "pool: got 'no'"),
    ],
)
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(sw.BadArgument, match=said.replace("(", r"\(")):
        call()
