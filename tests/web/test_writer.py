"""Changes share commits and the writer's time: neither a fault nor a slow campaign harms the others."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

import stopwise as sw
from asgi import call, running
from postgres import Server
from serving import SPEC
from stopwise.campaign.campaign import Campaign
from stopwise.campaign.storage.store import Store
from stopwise.web import turns
from stopwise.web.service import Service
from stopwise.web.turns import FIRST, TOGETHER, Turns
from stopwise.web.writer import InternalError, Writer

LONG = {**SPEC, "delta": 1e-12}


@pytest.fixture(params=["memory", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        found = Store("memory:")
    else:
        server: Server = request.getfixturevalue("server")
        found = Store(server.fresh())
    yield found
    found.close()


def at_once(service: Service, works: list[Any]) -> list[Any]:
    """What comes of changes that wait together: the first holds up the writer until all are there."""

    async def run() -> list[Any]:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        go = asyncio.Event()

        def hold(_: Campaign) -> None:
            loop.call_soon_threadsafe(ready.set)
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result(60)

        first = asyncio.ensure_future(service.writer.change("one", hold))
        await ready.wait()
        tasks = [asyncio.ensure_future(service.writer.change("one", work)) for work in works]
        await asyncio.sleep(0.01)
        go.set()
        await first
        return await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(run())


def note(text: str) -> Any:
    return lambda campaign: campaign.note(text)


def half_done(campaign: Campaign) -> None:
    """Writes something, and then fails as nobody expects."""
    campaign.note("of a change that fails")
    raise OverflowError("Python int too large to convert to C long")


def by_assertion(campaign: Campaign) -> None:
    campaign.note("of a change that fails")
    raise AssertionError


@pytest.mark.parametrize("bad", [half_done, by_assertion])
def test_a_fault_costs_only_its_own_change(
    bad: Any, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    sw.Campaign.create(LONG, store, "one")
    service = Service(store)
    refused = lambda campaign: campaign.release("unknown")  # noqa: E731
    with caplog.at_level(logging.ERROR, "stopwise.web"):
        works = [note("a"), refused, note("b"), bad, note("c"), note("d")]
        found = at_once(service, works)
    assert [found[place] for place in (0, 2, 4, 5)] == [True] * 4
    assert isinstance(found[1], sw.StopwiseError)
    assert isinstance(found[3], InternalError)
    assert "int too large" not in str(found[3])
    notes = [event.note for event in sw.Campaign.open("one", store).events()]
    assert notes == ["a", "b", "c", "d"], "in order, once, and nothing of the one that failed"
    assert sum("Traceback" in line for line in caplog.messages) == 1
    service.writer.close()


def test_too_many_in_flight_is_one_s_own_refusal(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stopwise.campaign.work.MOST_PENDING", 5)
    sw.Campaign.create(LONG, store, "one")
    service = Service(store)
    found = at_once(service, [note("a"), lambda each: each.ask(10), note("b")])
    assert [found[0], found[2]] == [True, True]
    assert "in flight" in str(found[1])
    service.writer.close()


def test_bad_requests_are_refused_before_they_reach_others(store: Store) -> None:
    """A text with a NUL, which PostgreSQL does not take, and a number larger than any column."""

    async def statuses() -> list[tuple[int, str]]:
        found = []
        async with running(store) as app:
            ticket = sw.Campaign.create(LONG, store, "one").ask(1)[0]
            for path, body in (
                ("release", {"token": ticket.token, "reason": "a\0b"}),
                ("note", {"text": "a\0b"}),
                ("pause", {"reason": "\x1b[2J"}),
                ("import", {"source": "a\0b", "rows": [[0, 1]]}),
                ("change", {"minimum": 10**30}),
                ("change", {"budget": 10**30}),
                ("change", {"labels": {"plain": "a\0b"}}),
                ("record", {"arm": 10**30, "value": 1}),
                ("release", {"token": ticket.token, "reason": "another\n7\tline"}),
                ("release", {"token": ticket.token, "reason": "Zoë: “one line”"}),
            ):
                text = json.dumps(body).encode()
                answer = await call(app, "POST", f"/api/campaigns/one/{path}".encode(), text)
                found.append((answer.status, json.loads(answer.body).get("error", "")))
        return found

    found = asyncio.run(statuses())
    assert found == [(422, "BadArgument")] * 9 + [(200, "")]


# ------------------------------------------------------------------------------------------ turns


def test_a_slow_campaign_leaves_the_time_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("stopwise.web.turns.time.monotonic", lambda: now)
    shared, used = Turns(), {"slow": 0.0, "quick": 0.0}
    for _ in range(2000):  # the slow one always waits; the other one comes back after 2 ms
        name, wait = shared.next(["slow"])
        if name is None:
            assert wait is not None
            now += min(wait, 0.002)
            name = "quick" if wait > 0.002 else "slow"
        seconds = 0.03 if name == "slow" else 0.002
        now += seconds
        used[name] += seconds
        shared.used(name, 1 if name == "slow" else 30, seconds, seconds)
        if name == "slow":  # meanwhile the quick one has changes that wait
            name, _ = shared.next(["slow", "quick"])
            assert name == "quick"
            now += 0.002
            used[name] += 0.002
            shared.used(name, 30, 0.002, 0.002)
    assert 0.1 < used["slow"] / (now - 100.0) < 0.16, "it leaves six times as long as it takes"
    assert shared.quota("slow") == 1
    assert shared.quota("quick") == TOGETHER


def test_nobody_waits_for_others_who_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("stopwise.web.turns.time.monotonic", lambda: now)
    shared = Turns()
    for _ in range(5):
        assert shared.next(["alone"]) == ("alone", None)
        shared.used("alone", 10, 1.0, 1.0)
    shared.used("other", 1, 0.001, 0.001)
    assert shared.next(["alone"])[0] is None
    now += turns.GAP + 0.001
    assert shared.next(["alone"]) == ("alone", None), "the other one did not come back"


def test_waiting_for_a_disk_makes_no_turn_smaller() -> None:
    shared = Turns()
    assert shared.quota("one") == FIRST
    for changes in (16, 32, 64, 128, 256, 512):
        shared.used("one", changes, 1e-4 * changes, 0.5)
    assert shared.quota("one") == min(TOGETHER, int(turns.PIECE / 1e-4))


def test_memory_of_turns_is_bounded() -> None:
    shared = Turns()
    for place in range(3 * turns.REMEMBERED):
        shared.used(f"campaign {place}", 1, 0.001, 0.001)
    assert len(shared._due) == len(shared._quota) == turns.REMEMBERED


def test_many_tells_are_stored_in_pieces_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another campaign's change comes between them."""
    monkeypatch.setattr(turns, "PIECE", 0.0)  # as if each tell took very long
    store = Store("memory:")
    campaign = sw.Campaign.create(LONG, store, "one")
    sw.Campaign.create(LONG, store, "two")
    service = Service(store)
    tells = [(ticket.token, 1.0) for ticket in campaign.ask(100)]
    tells[50] = ("unknown", 1.0)
    between: list[int] = []

    async def run() -> list[Any]:
        telling = asyncio.ensure_future(service.writer.tell("one", tells))
        after = asyncio.ensure_future(service.writer.change("one", note("after")))
        for _ in range(3):
            await service.writer.change("two", note("between"))
            between.append(len(sw.Campaign.open("one", store).events()))
        found = await telling
        await after
        return found

    found = asyncio.run(run())
    assert len(found) == 100
    assert isinstance(found.pop(50), sw.StopwiseError)
    assert [each.token for each in found] == [token for token, _ in tells if token != "unknown"]
    events = sw.Campaign.open("one", store).events()
    assert [event.token for event in events if event.kind == "told"] == [e.token for e in found]
    assert events[-1].note == "after"
    assert between[-1] < len(events), "others were served meanwhile"
    assert service.writer.commits > 80
    service.writer.close()


def test_one_campaign_does_not_fill_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stopwise.web.writer.OF_ONE", 5)
    store = Store("memory:")
    for name in ("one", "two"):
        sw.Campaign.create(LONG, store, name)

    async def run() -> tuple[list[Any], Any]:
        loop, go, ready = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        writer = Writer(lambda name: sw.Campaign.open(name, store))

        def hold(_: Campaign) -> None:
            loop.call_soon_threadsafe(ready.set)
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result(60)

        first = asyncio.ensure_future(writer.change("two", hold))
        await ready.wait()
        jobs = [asyncio.ensure_future(writer.change("one", note(f"{k}"))) for k in range(20)]
        await asyncio.sleep(0.01)
        go.set()
        await first
        found = await asyncio.gather(*jobs, return_exceptions=True)
        last = await writer.change("two", note("fine"))
        await asyncio.to_thread(writer.close)
        return found, last

    found, last = asyncio.run(run())
    assert last is True
    assert [each is True for each in found] == [True] * 5 + [False] * 15
