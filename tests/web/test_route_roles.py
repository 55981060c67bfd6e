"""However a path is spelled, nobody does what only a higher role may."""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from starlette.responses import Response
from starlette.routing import Route

import stopwise as sw
from asgi import Answer, call, running
from serving import JSON, SPEC, send, serving
from stopwise.campaign.storage.store import Store
from stopwise.web.middleware import rate_limit
from stopwise.web.middleware.rate_limit import Limit
from stopwise.web.roles import ANYBODY, NEEDED, Roles
from stopwise.web.tokens import ROLES, Tokens

SPELLINGS = 100  # of each route's path: more than 3,000 in all
MANY = 3000
BODIES: dict[str, Any] = {  # that the route would take
    "/api/campaigns": {"name": "made", "spec": SPEC},
    "/api/preview": {"spec": {"question": "?"}, "means": [1.0]},  # refused before it takes long
    "ask": {"n": 1},
    "tell": {"token": "unknown", "value": 1},
    "tells": {"tells": [{"token": "unknown", "value": 1}]},
    "record": {"arm": 0, "value": 1},
    "records": {"records": [{"arm": 0, "value": 1, "token": "again"}]},
    "release": {"token": "unknown"},
    "heartbeat": {"token": "unknown"},
    "note": {"text": "seen"},
    "import": {"source": "s", "rows": [[0, 1]]},
    "add": {"label": "another"},
    "close": {"reason": "no use"},
    "rename": {"name": "renamed"},
    "change": {"budget": 7},
}
WORK = "ask|tell|tells|record|records|release|heartbeat|expire|note|import"
MAY = {  # what a path says when it is decoded once; written down here a second time
    None: r"GET (/|/health|/ready|/static/.*)|HEAD /static/.*",
    "read": r"(GET|HEAD) .*",
    "work": rf"(GET|HEAD) .*|POST (/api/preview|/api/campaigns/[^/]+/({WORK}))",
}
ODD = ["%0A", "%0a", "%0D%0A", "%00", "%09", "%20", "%85", "%C2%85", "%E2%80%A8", "%7F", "%250A",
       "%0A%0A", "/", "//", "/.", "/..", "/./", ";", ";x=1", "%3B", "%2F", "%2f", "%252F", "%5C", "\\",
       "?", "%3F", "%23", "#", ".", "%2E", "%2E%2E", "..", "*", "%", "%zz", "%u0041", "%EF%BC%8F",
       "%EE%80%80", "%C0%AF", "%FF", "%ED%A0%80", "\n", "\r\n", "\t", " ", "\x85", "\xa0"]  # fmt: skip
METHODS = ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "post", "get", "POST "]


def spelled(path: str, rng: random.Random) -> bytes:
    """The path with something added, encoded, doubled, or in other letters."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(path) + 1)
        if rng.random() < 0.5:
            place = len(path)
        kind = rng.randrange(8)
        if kind < 4:
            path = path[:place] + rng.choice(ODD) + path[place:]
        elif kind == 4 and place < len(path):
            path = f"{path[:place]}%{ord(path[place]):02X}{path[place + 1 :]}"
        elif kind == 5 and place < len(path):
            path = path[:place] + path[place].swapcase() + path[place + 1 :]
        elif kind == 6:
            path = path.replace("/", rng.choice(("//", "/./", "/x/../", "%2F", "/;/", "\\")), 1)
        else:
            path = quote(path, safe=rng.choice(("/", "")))
    return path.encode("utf-8", "surrogateescape")


def body(path: str) -> bytes:
    last = path.rpartition("/")[2]
    return json.dumps(BODIES.get(path, BODIES.get(last, {}))).encode()


def may(role: str | None, method: str, raw: bytes) -> bool:
    """Whether the role is enough for what the path says."""
    path = unquote(raw.partition(b"?")[0].decode("latin-1"))
    return re.fullmatch(MAY[role], f"{method} {path}", re.DOTALL) is not None


def managed(store: Store) -> Any:
    """What only an admin changes, and whether anything else was changed."""
    found = {}
    for name in store.names():
        campaign = sw.Campaign.open(name, store)
        status = campaign.status()
        kinds = {event.kind for event in campaign.events() if event.arm is None}
        found[name] = status.state, status.archived, status.budget, len(status.arms), kinds
    return found


async def attempts(store: Store, count: int) -> tuple[int, dict[int, int]]:
    """All roles that are too low, all routes, so many spellings of each: how many, by their status."""
    tokens: dict[str | None, str | None] = {
        role: Tokens(store).create(f"a {role}", role) for role in ROLES
    }
    tokens[None] = None
    wide = {**SPEC, "room": 9, "delta": 1e-12}
    campaign = sw.Campaign.create(wide, store, "one")
    campaign.ask(1)
    rng, seen, statuses = random.Random(23), 0, dict[int, int]()
    async with running(store) as app:
        for key, needed in NEEDED.items():
            if needed == ANYBODY or key.endswith("stream"):
                continue
            method, path = key.replace("{name}", "one").split(" ", 1)
            for role in (None, *ROLES[: ROLES.index(needed)]):
                before, last = managed(store), store.last_events()
                for _ in range(count):
                    raw = spelled(path, rng)
                    used = method if rng.random() < 0.9 else rng.choice(METHODS)
                    where = f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}"
                    got = await call(app, used, raw, body(path), tokens[role], where)
                    seen += 1
                    statuses[got.status] = statuses.get(got.status, 0) + 1
                    told = role, used, raw, got
                    assert got.status < 500, told
                    assert got.status >= 300 or may(role, used, raw), told
                if role != "work":
                    assert store.last_events() == last, (role, key)
                else:
                    kinds = {k: v[-1] - {"noted", "imported"} for k, v in managed(store).items()}
                    assert kinds == {k: v[-1] - {"noted", "imported"} for k, v in before.items()}
                after = {k: v[:-1] for k, v in managed(store).items()}
                assert after == {k: v[:-1] for k, v in before.items()}, (role, key)
    return seen, statuses


def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused for its role, not for its rate."""
    for name in ("KNOWN", "STRANGER"):
        monkeypatch.setattr(rate_limit, name, Limit(1e9, 1e9))


def check(count: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited(monkeypatch)
    seen, statuses = asyncio.run(attempts(Store(f"sqlite:///{folder}/s.db"), count))
    print(f"\n{seen:,} requests: {dict(sorted(statuses.items()))}")
    assert seen > 30 * count
    assert 429 not in statuses
    assert {400, 401, 403, 404} <= statuses.keys()


def test_no_spelling_gives_another_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(SPELLINGS, tmp_path, monkeypatch)


@pytest.mark.slow
def test_none_of_many_spellings_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(MANY, tmp_path, monkeypatch)


VERBS = [key.rpartition("/")[2] for key, role in NEEDED.items() if role == "admin"]


def test_a_line_feed_is_no_way_around(tmp_path: Path) -> None:
    """Over a real socket: what only an admin may, with the token of a worker."""
    storage = f"sqlite:///{tmp_path}/s.db"
    store = Store(storage)
    worker = Tokens(store).create("w", "work")
    sw.Campaign.create(SPEC, store, "one")
    before = managed(store)
    given = {**JSON, "authorization": f"Bearer {worker}"}
    with serving(storage, tmp_path) as service:
        for verb in VERBS:
            path = "/api/campaigns" if verb == "campaigns" else f"/api/campaigns/one/{verb}"
            assert send(service, "POST", path, body(path), given)[0] == 403
            for end in ("%0A", "%0a", "%00", "%0D%0A", "%7F", "%C2%85"):
                status, _, found = send(service, "POST", path + end, body(path), given)
                assert (status, found["error"]) == (400, "BadPath"), (path, end)
            for end in ("/", "%2F", ";", "%20", "/.", "//", "%3F", "?x", "%250A"):
                assert send(service, "POST", path + end, body(path), given)[0] in (403, 404, 405)
        sample, rng = 0, random.Random(7)
        for key in NEEDED:
            method, path = key.replace("{name}", "one").split(" ", 1)
            for _ in range(5):
                raw = spelled(path, rng)
                head = b"%s %s HTTP/1.1\r\nhost: localhost\r\n" % (method.encode(), raw)
                line = socket.create_connection(("127.0.0.1", service.port), timeout=120)
                kind = b"content-type: application/json\r\nconnection: close\r\n"
                text = body(path) if method == "POST" else b""
                length = b"content-length: %d\r\n\r\n" % len(text)
                line.sendall(head + kind + length + text)
                first = line.recv(100)
                line.close()
                sample += 1
                assert not first or 200 <= int(first.split()[1]) < 500, (method, raw, first)
                assert first.split()[1:2] != [b"200"] or may(None, method, raw), (raw, first)
        assert sample > 150
    assert managed(store) == before


def test_unknown_paths_are_for_those_who_may_look(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/s.db")
    reader = Tokens(store).create("r", "read")

    async def answers() -> list[Answer]:
        async with running(store) as app:
            paths = [b"/nowhere", b"/api/", b"/api/campaigns/x/y/z", b"/docs", b"/Health"]
            return [
                *[await call(app, "GET", path) for path in paths],
                *[await call(app, "GET", path, token=reader) for path in paths],
            ]

    statuses = [each.status for each in asyncio.run(answers())]
    assert statuses == [401] * 5 + [404] * 5


def test_a_route_without_a_role_is_not_served() -> None:
    async def nothing(_: Any) -> Response:
        return Response()

    with pytest.raises(ValueError, match="GET /new"):
        Roles([Route("/new", nothing)])
