"""Allowances of those who are known, of those who are not, and of one's own machine; odd requests."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from asgi import Answer, call, running
from serving import SPEC
from stopwise.campaign.errors import StorageAway, StorageDamaged
from stopwise.campaign.storage.store import Store
from stopwise.core.errors import StopwiseError
from stopwise.web import access
from stopwise.web.middleware.rate_limit import ISSUED, KNOWN, STRANGER
from stopwise.web.service import Service
from stopwise.web.tokens import Tokens

LIST = b"/api/campaigns"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path}/s.db")


def test_a_fresh_token_does_not_wait_for_a_flood(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same address as others without a token, which have used up its allowance."""
    tokens = Tokens(store)
    tokens.create("first", "read")
    monkeypatch.setattr(access, "IDS", 0.0)

    async def run() -> None:
        async with running(store) as app:
            fresh = await asyncio.to_thread(tokens.create, "fresh", "read")
            made_up = [f"sw_{k:012x}_made-up" for k in range(int(STRANGER.burst) + 100)]
            flood = [(await call(app, "GET", LIST, token=each)).status for each in made_up]
            assert flood[-1] == 429
            await asyncio.sleep(0.1)  # the ids are looked up meanwhile
            for _ in range(10):
                await call(app, "GET", LIST, token="sw_00_made-up")
            assert (await call(app, "GET", LIST, token=fresh)).status == 200
            wrong = fresh[:-5] + "wrong"
            found = [(await call(app, "GET", LIST, token=wrong)).status for _ in range(100)]
            assert 401 in found
            assert found.count(429) > 50 - ISSUED.burst, (
                "whoever knows an id may not guess for ever"
            )
            assert (await call(app, "GET", LIST, token=fresh)).status == 200

    asyncio.run(run())


def test_an_open_service_does_not_limit_its_own_machine(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr("stopwise.web.middleware.rate_limit.time.monotonic", lambda: now)

    async def run(client: str) -> set[int]:
        async with running(store) as app:
            count = int(KNOWN.burst) + 10
            return {
                (await call(app, "GET", b"/health", client=client)).status for _ in range(count)
            }

    assert asyncio.run(run("127.0.0.1")) == {200}
    assert asyncio.run(run("::1")) == {200}
    assert asyncio.run(run("10.0.0.1")) == {200, 429}


@pytest.mark.parametrize("name", [b"host", b"origin", b"authorization", b"content-type"])
def test_headers_that_come_twice_are_refused(store: Store, name: bytes) -> None:
    more = ((name, b"127.0.0.1"), (name, b"127.0.0.1"))

    async def run() -> Answer:
        async with running(store) as app:
            return await call(app, "GET", LIST, more=more)

    found = asyncio.run(run())
    assert (found.status, json.loads(found.body)["error"]) == (400, "BadHeaders")


def test_lines_of_campaigns_that_are_gone_are_not_kept(store: Store) -> None:
    service = Service(store)
    for k in range(5):
        campaign = sw.Campaign.create(SPEC, store, f"one {k}")
        service.glance()
        campaign.rename(f"renamed {k}")
    service.glance()
    assert set(service._briefs) == {f"renamed {k}" for k in range(5)}
    service.close()


DEEP, DIGITS = 100_000, "1" * 5000
ODD = {
    "deep": "[" * DEEP + "]" * DEEP,
    "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "digits": DIGITS,
    "negative digits": f"-{DIGITS}",
    "digits of a fraction": f"0.{DIGITS}",
    "exponent": "1e400",
    "nan": "NaN",
    "large": str(10**30),
    "nul": '"a\\u0000b"',
    "half a pair": '"\\ud800"',
}
FIELDS = [  # the value's place in a body
    ("", "{}"),
    ("", '{{"name": "n", "spec": {}}}'),
    ("", '{{"name": "n", "spec": {{"question": {}, "arms": 2}}}}'),
    ("/one/ask", '{{"n": {}}}'),
    ("/one/ask", '{{"n": 1, "lease": {}}}'),
    ("/one/tell", '{{"token": "x", "value": {}}}'),
    ("/one/tells", '{{"tells": {}}}'),
    ("/one/record", '{{"arm": {}, "value": 1}}'),
    ("/one/record", '{{"arm": 0, "value": {}}}'),
    ("/one/record", '{{"arm": 0, "value": 1, "token": {}}}'),
    ("/one/records", '{{"records": [{{"arm": {}, "value": 1, "token": "t"}}]}}'),
    ("/one/import", '{{"source": "s", "rows": [[{}, 1]]}}'),
    ("/one/import", '{{"source": "s", "rows": [[0, {}]]}}'),
    ("/one/change", '{{"budget": {}}}'),
    ("/one/change", '{{"minimum": {}}}'),
    ("/one/change", '{{"labels": {{"plain": {}}}}}'),
    ("/one/note", '{{"text": {}}}'),
    ("/one/add", '{{"label": {}}}'),
    ("/one/rename", '{{"name": {}}}'),
    ("/nowhere/ask", "{}"),
]
FINE = {"digits of a fraction", "nan"}  # which some places may take, or read as something else


@pytest.mark.parametrize("what", ODD)
def test_odd_values_are_refused_in_our_own_form(store: Store, what: str) -> None:
    sw.Campaign.create(SPEC, store, "one")

    async def run() -> list[tuple[str, Answer]]:
        async with running(store) as app:
            return [
                (f"{path} {body}", await call(app, "POST", LIST + path.encode(), filled.encode()))
                for path, body in FIELDS
                if (filled := body.format(ODD[what]))
            ]

    for where, answer in asyncio.run(run()):
        found = json.loads(answer.body)
        if answer.status == 200:
            assert what in FINE, where
            continue
        assert 400 <= answer.status < 500, (where, answer)
        assert {"error", "message"} <= found.keys(), where
        assert len(found["message"]) < 3000, where


ODD_QUERIES = [
    "/one/events?after=-1", "/one/events?after=" + DIGITS, "/one/events?limit=0", "/one/events?limit=x",
    "/one/events?after=9007199254740993", "/one/export?kind=%00", "/one/export?kind=../x",
    "/one/export?kind=" + "x" * 5000, "?archived=" + "x" * 5000, "?archived=%FF", "/%FF", "/%ED%A0%80",
    "/" + "x" * 5000, "/%2F", "/..%2F..", "/%20", "/%E2%80%AE/page", "/%2F/page",
    "/" + "x" * 300 + "/page",
]  # fmt: skip


def test_odd_addresses_are_refused_in_our_own_form(store: Store) -> None:
    sw.Campaign.create(SPEC, store, "one")

    async def run() -> list[tuple[str, Answer]]:
        async with running(store) as app:
            return [(each, await call(app, "GET", LIST + each.encode())) for each in ODD_QUERIES]

    for where, answer in asyncio.run(run()):
        assert 400 <= answer.status < 500, (where, answer)
        assert {"error", "message"} <= json.loads(answer.body).keys(), where


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StopwiseError("sqlite:///secret.db: another file is there"), "cannot be used"),
        (StorageAway("sqlite:///secret.db: locked"), "does not answer"),
        (StorageDamaged("sqlite:///secret.db: damaged"), "damaged"),
    ],
)
def test_ready_says_so_whatever_the_store_has(
    error: Exception, words: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Store, "check_room", fails)

    async def run() -> Answer:
        async with running(store) as app:
            return await call(app, "GET", b"/ready")

    found = asyncio.run(run())
    assert found.status == 503
    assert words in json.loads(found.body)["message"]
    assert b"secret" not in found.body
