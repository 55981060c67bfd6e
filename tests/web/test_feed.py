"""One task looks for new events, however many listen, and whoever could not start does not count."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

import stopwise as sw
from asgi import call, running
from serving import SPEC
from stopwise.campaign.errors import StorageAway
from stopwise.campaign.storage.store import Store
from stopwise.web.feed import Feed


def campaign() -> sw.Campaign:
    return sw.Campaign.create(SPEC, Store("memory:"), "one")


def test_many_listeners_start_one_task(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: Counter[str] = Counter()
    look = Feed._look

    async def counted(feed: Feed) -> None:
        looks["started"] += 1
        await look(feed)

    monkeypatch.setattr(Feed, "_look", counted)

    async def run() -> None:
        feed = Feed(campaign())
        lines = [feed.listen(None) for _ in range(50)]
        await asyncio.gather(*[anext(line) for line in lines])
        assert feed.listeners == 50
        for line in lines:
            await line.aclose()  # type: ignore[attr-defined]
        assert feed.listeners == 0
        feed.end()

    asyncio.run(run())
    assert looks["started"] == 1


def test_starts_that_fail_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> None:
        raise StorageAway("the storage does not answer")

    async def run() -> None:
        feed = Feed(campaign())
        with monkeypatch.context() as patched:
            patched.setattr(type(feed.campaign), "newest", away)
            for _ in range(5):
                with pytest.raises(StorageAway):
                    await anext(feed.listen(None))
        assert feed.listeners == 0
        line = feed.listen(None)
        assert b"retry" in await anext(line)
        assert feed.listeners == 1
        await line.aclose()  # type: ignore[attr-defined]
        feed.end()

    asyncio.run(run())


def test_a_stream_that_cannot_start_is_refused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the answer begins: a status, and no broken stream."""
    store = Store(f"sqlite:///{tmp_path}/s.db")
    sw.Campaign.create(SPEC, store, "one")

    def away(*_: Any) -> None:
        raise StorageAway("the storage does not answer")

    monkeypatch.setattr(sw.Campaign, "newest", away)

    async def run() -> Any:
        async with running(store) as app:
            found = await call(app, "GET", b"/api/campaigns/one/stream")
            return found, app.state.service.listeners

    answer, listeners = asyncio.run(run())
    assert (answer.status, json.loads(answer.body)["error"]) == (503, "StorageAway")
    assert listeners == 0
