"""``best_of`` with a storage: what was scored is kept, and a second call goes on with it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stopwise as sw
from stopwise.evals import EvalFailed, best_of, best_of_async

RIGHT = {"short": 0.5, "long": 0.7, "other": 0.68}
ITEMS = list(range(400))


def score(option: str, item: int) -> float:
    """The same for the same question: easy questions are answered by all."""
    easy = np.random.default_rng(item).random()
    luck = np.random.default_rng([item, len(option)]).random()
    return float(0.8 * easy + 0.2 * luck < RIGHT[option])


def options() -> dict[str, str]:
    return {name: name for name in RIGHT}


@pytest.mark.parametrize("workers", [1, 4])
def test_the_same_answer_as_in_memory_about_the_same_items(tmp_path: Path, workers: int) -> None:
    told = {"items": ITEMS, "score": score, "workers": workers, "deterministic": True}
    stored = best_of(options(), **told, storage=tmp_path / "evals.db", name="prompts")
    assert stored.best == "long"
    campaign = sw.Campaign.open("prompts", tmp_path / "evals.db")
    assert campaign.verify().agrees
    assert campaign.decision is not None
    assert campaign.decision.text == "long is best"
    assert stored.verdict.items == campaign.status().pairs.items  # type: ignore[union-attr]
    assert stored.verdict.evidence == pytest.approx(campaign.decision.evidence)
    assert campaign.status().in_flight == 0, "what ran at the end was given back"
    place = {"storage": tmp_path / "evals.db", "name": "prompts"}
    again = best_of(options(), ITEMS, _never, deterministic=True, **place)
    assert again.best == "long"


def _never(option: str, item: int) -> float:
    raise AssertionError(f"nothing more needs to be scored: {option}, {item}")


def test_it_goes_on_where_it_failed(tmp_path: Path) -> None:
    calls: list[tuple[str, int]] = []

    def shaky(option: str, item: int) -> float:
        if len(calls) == 50:
            raise ConnectionError("the model is away")
        calls.append((option, item))
        return score(option, item)

    place = {"storage": tmp_path / "evals.db", "name": "prompts", "deterministic": True}
    with pytest.raises(EvalFailed, match=r"the model is away.*the same call goes on from here"):
        best_of(options(), ITEMS, shaky, **place)
    again: list[tuple[str, int]] = []

    def steady(option: str, item: int) -> float:
        again.append((option, item))
        return score(option, item)

    found = best_of(options(), ITEMS, steady, **place)
    assert found.best == "long"
    assert not set(calls) & set(again), "nothing is scored twice"
    assert sum(found.calls.values()) == len(set(calls)) + len(set(again))
    assert found.warnings[0].startswith("Scores did not come (")


def test_coroutines_and_a_population(tmp_path: Path) -> None:
    async def slow(option: str, item: int) -> float:
        await asyncio.sleep(0)
        return score(option, item)

    found = best_of(
        options(), ITEMS, slow, workers=3, pool=False, storage=tmp_path / "evals.db", name="all"
    )
    spec = sw.Campaign.open("all", tmp_path / "evals.db").spec.table
    assert "items" not in spec
    assert found.ended in ("decided", "items")
    assert found.verdict.items > 50


def test_a_killed_process_loses_nothing_that_was_scored(tmp_path: Path) -> None:
    """kill -9 in the middle; what was in flight is scored again when its lease is over."""
    script = textwrap.dedent("""
        import sys, time
        sys.path.insert(0, sys.argv[2])
        from test_stored import ITEMS, options, score
        from stopwise.evals import best_of

        def slow(option, item):
            time.sleep(0.01)
            return score(option, item)

        best_of(options(), ITEMS, slow, storage=sys.argv[1], name="killed", workers=2, lease=2,
                deterministic=True)
    """)
    database = tmp_path / "evals.db"
    command = [sys.executable, "-c", script, str(database), str(Path(__file__).parent)]
    process = subprocess.Popen(command)
    try:
        _until(lambda: database.exists() and _told(database) >= 20)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = _told(database)
    found = best_of(
        options(), ITEMS, score, storage=database, name="killed", lease=2.0, deterministic=True
    )
    assert found.best == "long"
    campaign = sw.Campaign.open("killed", database)
    assert campaign.verify().agrees
    assert _told(database) > before >= 20


def _told(database: Path) -> int:
    try:
        events = sw.Campaign.open("killed", database).events()
    except sw.StopwiseError:
        return 0
    return sum(event.kind == "told" for event in events)


def _until(true: Any) -> None:
    end = time.monotonic() + 120.0
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_storage_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(sw.BadArgument, match="name: got None"):
        best_of(options(), ITEMS, score, storage=tmp_path / "evals.db")
    best_of({"a": 1, "b": 2}, [1, 2], lambda *_: 1.0, storage=tmp_path / "evals.db", name="x")
    with pytest.raises(sw.CampaignExists, match="another spec"):
        best_of({"a": 1, "c": 2}, [1, 2], lambda *_: 1.0, storage=tmp_path / "evals.db", name="x")


def test_waiting_for_others_leaves_the_event_loop_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two comparisons in one loop share a campaign: one of them waits for the other's only result."""
    sleep = time.sleep

    def outside_the_loop(seconds: float) -> None:
        assert asyncio._get_running_loop() is None, "the loop stands still"
        sleep(seconds)

    async def slow(option: str, item: int) -> float:
        await asyncio.sleep(0.3)
        return float(option == "a")

    async def both() -> list[Any]:
        settings = {"storage": tmp_path / "evals.db", "name": "two", "deterministic": True}
        return await asyncio.gather(
            *(best_of_async({"a": "a", "b": "b"}, [0], slow, **settings) for _ in range(3))
        )

    monkeypatch.setattr(time, "sleep", outside_the_loop)
    found = asyncio.run(both())
    assert [each.best for each in found] == ["a"] * 3
