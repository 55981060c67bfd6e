"""Long answers come in pieces, and hold nobody up."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from asgi import call, running
from serving import SPEC
from stopwise.campaign.storage.store import Store
from stopwise.web import reading
from stopwise.web.forms import EventOut
from stopwise.web.reading import EVENTS

COUNT = 2 * EVENTS + 10


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    found = Store(f"sqlite:///{tmp_path_factory.mktemp('reading')}/s.db")
    campaign = sw.Campaign.create({**SPEC, "question": "best-arm", "delta": 1e-12}, found, "one")
    sw.Campaign.create(SPEC, found, "empty")
    with campaign.together():
        for k in range(COUNT):
            campaign.record(k % 2, k // 2 % 2)
    return found


def get(store: Store, *paths: str) -> list[Any]:
    async def run() -> list[Any]:
        async with running(store) as app:
            return [await call(app, "GET", path.encode()) for path in paths]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("after", "limit"),
    [
        (0, 10_000),
        (0, 1),
        (0, EVENTS),
        (0, EVENTS + 1),
        (5, 2 * EVENTS),
        (COUNT - 1, 7),
        (COUNT, 5),
    ],
)
def test_events_are_those_of_the_record(store: Store, after: int, limit: int) -> None:
    (got,) = get(store, f"/api/campaigns/one/events?after={after}&limit={limit}")
    assert got.status == 200
    assert got.headers[b"content-type"] == b"application/json"
    record = sw.Campaign.open("one", store).events(after, limit)
    assert json.loads(got.body) == [event.to_dict() for event in record]
    assert all(EventOut(**each) for each in json.loads(got.body))


def test_what_is_refused_is_refused_before_the_answer_begins(store: Store) -> None:
    empty, unknown, odd = get(
        store,
        "/api/campaigns/empty/events",
        "/api/campaigns/nowhere/events",
        "/api/campaigns/one/events?limit=10001",
    )
    assert (empty.status, empty.body) == (200, b"[]")
    assert (unknown.status, odd.status) == (404, 422)
    assert json.loads(unknown.body)["error"] == "UnknownCampaign"


def test_while_somebody_writes_reading_takes_a_small_share(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def read(busy: int) -> None:
        async with running(store) as app:
            service = app.state.service
            service.writer.waiting = busy
            monkeypatch.setattr(reading.asyncio, "sleep", sleep)
            campaign = service.campaign("one")
            assert [piece async for piece in service.reading.events(campaign, 0, COUNT)]
            monkeypatch.undo()

    asyncio.run(read(1))
    assert len(pauses) == 3, "after each piece"
    assert all(each > 0.0 for each in pauses)
    pauses.clear()
    asyncio.run(read(0))
    assert pauses == [], "nobody writes"


def test_an_export_leaves_no_file(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (got,) = get(store, "/api/campaigns/one/export?kind=csv")
    assert got.status == 200
    assert int(got.headers[b"content-length"]) == len(got.body)
    assert got.body.count(b"\n") == COUNT + 1
    assert list(tmp_path.iterdir()) == []
