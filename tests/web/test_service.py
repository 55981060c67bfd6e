"""The service: the contract over HTTP, who may do what, bad input, and what survives kill -9."""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from postgres import Server
from serving import JSON, SCRIPT, SPEC, Service, send, serving, until
from stopwise.campaign.storage.store import Store
from stopwise.web.service import Service as Kept
from stopwise.web.tokens import Tokens

RATES = (0.8, 0.3)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(f"sqlite:///{folder}/store.db", folder) as found:
        yield found


@pytest.fixture
def client(service: Service, tmp_path: Path) -> Iterator[sw.Client]:
    found = sw.Client(service.url, spool=tmp_path / "spool.db", patience=10)
    yield found
    found.close()


def decide(campaign: Any, seed: int) -> int:
    """Ask and tell until there is an answer; how many tells."""
    rng, told = random.Random(seed), 0
    try:
        while True:
            for ticket in campaign.ask(3):
                campaign.tell(ticket.token, float(rng.random() < RATES[ticket.arm]))
                told += 1
    except sw.CampaignDecided:
        return told


def test_the_whole_contract_through_the_client(
    client: sw.Client, service: Service, tmp_path: Path
) -> None:
    campaign = client.create(SPEC, "whole contract")
    assert client.create(SPEC, "whole contract").name == "whole contract"
    with pytest.raises(sw.CampaignExists):
        client.create({**SPEC, "delta": 0.2}, "whole contract")
    ticket, other, third = campaign.ask(3)
    first = campaign.tell(ticket.token, 1)
    assert campaign.tell(ticket.token, 1.0) == first
    with pytest.raises(sw.Conflict, match=r"1\.0 was told"):
        campaign.tell(ticket.token, 0)
    assert campaign.release(other.token, "no time")
    assert not campaign.release(other.token)
    assert campaign.heartbeat(third.token, 60)
    assert campaign.record("plain", 1).waiting, "for the third"
    assert campaign.release(third.token)
    told = decide(campaign, 1)
    assert told > 3
    decision = campaign.decision
    assert decision is not None
    assert decision.answer == 0
    late = campaign.tell(third.token, 0)
    assert late is not None
    assert late.late
    assert campaign.verify().agrees
    assert campaign.recommend().proven
    assert "pursued" in campaign.explain().text
    local = sw.Campaign.open("whole contract", service.storage)
    assert local.events() == campaign.events()
    assert local.decision == decision
    for read in ("status", "recommend", "explain", "verify"):
        assert getattr(campaign, read)() == getattr(local, read)()
    exports = [each.export(tmp_path / f"{type(each).__name__}.csv") for each in (campaign, local)]
    assert exports[0].read_bytes() == exports[1].read_bytes()
    assert "whole contract" in client.names()


def test_the_life_of_a_campaign_through_the_client(
    client: sw.Client, service: Service, tmp_path: Path
) -> None:
    campaign = client.create(SPEC, "life")
    (ticket,) = campaign.ask()
    assert campaign.pause("lunch")
    assert not campaign.pause()
    with pytest.raises(sw.CampaignPaused, match=r"paused \(lunch\)"):
        campaign.ask()
    told = campaign.tell(ticket.token, 1)
    assert told is not None
    assert not told.late
    assert campaign.resume()
    assert campaign.note("a remark")
    assert campaign.change(budget=500, labels={"plain": "plain text"})
    assert campaign.change(budget=None)
    status = campaign.status()
    assert (status.budget, status.arms[0].label) == (None, "plain text")
    assert campaign.rename("lives")
    assert "lives" in client.names()
    assert "life" not in client.names()
    assert client.open("life").status().events == campaign.status().events, "by its old name"
    past = tmp_path / "past.csv"
    past.write_text("arm,value\n" + "plain text,1\n0,0\n" * 3)
    assert campaign.import_results(past).rows == 6
    assert campaign.import_results(past).counted == 6
    assert campaign.status().samples == 7
    assert campaign.expire() == 0
    assert campaign.archive()
    assert "lives" not in client.names()
    assert campaign.unarchive()
    assert campaign.close("no use")
    assert not campaign.close("no use")
    with pytest.raises(sw.CampaignClosed, match="no use"):
        campaign.ask()
    with pytest.raises(sw.NotPossible, match="nothing to pause"):
        campaign.pause()
    assert campaign.wait(timeout=5).state == "closed"
    local = sw.Campaign.open("lives", service.storage)
    assert local.verify().agrees
    changed = [event for event in local.events() if event.arm is None]
    assert [event.kind for event in changed] == [
        *("paused", "resumed", "noted", "changed", "changed", "renamed", "imported"),
        *("archived", "unarchived", "closed"),
    ]
    assert all(event.actor == "somebody at 127.0.0.1" for event in changed), "no tokens here"


def test_many_results_are_taken_whole_or_not_at_all(
    client: sw.Client, service: Service, tmp_path: Path
) -> None:
    """By the client from a file, and as rows or records from elsewhere."""
    campaign = client.create(SPEC, "past")
    rows = [f"{place % 2},{place // 3 % 2},{place},{100 - place}" for place in range(60)]
    past, bad = tmp_path / "past.csv", tmp_path / "bad.csv"
    past.write_text("\n".join(["arm,value,no,at", *rows]))
    bad.write_text("\n".join(["arm,value,no,at", *rows, "0,7,60,1", "9,0,61,1"]))
    with pytest.raises(sw.StopwiseError, match=r"row 61: value: .*2 of 62 rows are refused"):
        campaign.import_results(bad)
    records = [{"arm": 0, "value": value, "token": f"row {value}"} for value in (1, 0, 7)]
    body = json.dumps({"records": records}).encode()
    status, _, found = send(service, "POST", "/api/campaigns/past/records", body, JSON)
    assert status == 422
    assert "records[2]: value" in found["message"]
    body = json.dumps({"source": "x", "rows": [["0", "1"], ["0", "1", "2"]]}).encode()
    assert send(service, "POST", "/api/campaigns/past/import", body, JSON)[0] == 422
    assert campaign.events() == []
    made = campaign.import_results(past, id="no", time="at")
    assert (made.rows, made.new, made.order) == (60, 60, "by time")
    told = [int(event.value or 0) for event in campaign.events()[1:]]
    assert told == [place // 3 % 2 for place in reversed(range(60))]
    local = sw.Campaign.open("past", service.storage)
    assert local.import_results(past, id="no").new == 0, "the same identities"
    assert local.verify().agrees


def test_many_tells_with_one_commit(client: sw.Client, service: Service) -> None:
    campaign = client.create(SPEC, "batches")
    tickets = campaign.ask(8)
    tells = [{"token": each.token, "value": 1} for each in tickets]
    tells.insert(3, {"token": "nobody's", "value": 1})
    body = json.dumps({"tells": tells}).encode()
    status, _, found = send(service, "POST", "/api/campaigns/batches/tells", body, JSON)
    assert status == 200
    assert [each["receipt"] is not None for each in found] == [True] * 3 + [False] + [True] * 5
    assert found[3]["problem"]["error"] == "UnknownToken"
    assert len([e for e in campaign.events() if e.kind == "told"]) == 8


def test_events_stream_and_resume(client: sw.Client, service: Service) -> None:
    campaign = client.create(SPEC, "stream")
    campaign.ask(4)
    lines: list[str] = []

    def listen(last: str) -> None:
        line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
        line.request("GET", "/api/campaigns/stream/stream", headers={"Last-Event-ID": last})
        answer = line.getresponse()
        while not any('"told"' in each for each in lines):
            lines.append(answer.readline().decode())
        line.close()

    thread = threading.Thread(target=listen, args=("2",))
    thread.start()
    time.sleep(1.0)
    (ticket,) = campaign.ask(1)
    campaign.tell(ticket.token, 1)
    thread.join(timeout=120)
    assert not thread.is_alive()
    data = [json.loads(each[6:]) for each in lines if each.startswith("data: ")]
    numbers = [event["number"] for message in data for event in message["events"]]
    assert numbers[:2] == [3, 4], "from the event after Last-Event-ID"
    assert numbers == list(range(3, 3 + len(numbers)))


def test_page_data_is_small(client: sw.Client, service: Service) -> None:
    campaign = client.create({**SPEC, "delta": 1e-9}, "page data")
    rng = random.Random(3)
    for _ in range(12):
        tickets = campaign.ask(100)
        tells = [
            {"token": t.token, "value": float(rng.random() < (0.5, 0.45)[t.arm])} for t in tickets
        ]
        body = json.dumps({"tells": tells}).encode()
        assert send(service, "POST", "/api/campaigns/page%20data/tells", body, JSON)[0] == 200
    status, _, page = send(service, "GET", "/api/campaigns/page%20data/page")
    assert status == 200
    assert len(json.dumps(page)) < 100_000
    series = page["series"]
    assert len(series["samples"]) <= 257
    assert series["samples"][-1] == 1200
    assert series["evidence"][-1] == pytest.approx(page["status"]["evidence"], abs=1e-5)
    for arm in page["arms"]:
        assert arm["low"] <= arm["mean"] <= arm["high"]


BODIES: list[tuple[str, str, bytes | None, dict[str, str], int, str]] = [
    ("POST", "/api/campaigns/x/ask", b"{}", JSON, 404, "no campaign 'x'"),
    ("POST", "/api/campaigns/bad/tell", b"{", JSON, 422, "JSON"),
    ("POST", "/api/campaigns/bad/tell", b'{"token": "t"}', JSON, 422, "value"),
    ("POST", "/api/campaigns/bad/tell", b'{"token": "t", "value": NaN}', JSON, 422, "finite"),
    ("POST", "/api/campaigns/bad/tell", b'{"token": "t", "value": "1"}', JSON, 422, "value"),
    ("POST", "/api/campaigns/bad/tell", b'{"token": "t", "value": 1, "x": 1}', JSON, 422, "x"),
    ("POST", "/api/campaigns/bad/tell", b'{"token": "t", "value": 1}', JSON, 404, "no ask gave"),
    ("POST", "/api/campaigns/bad/ask", b'{"n": 0}', JSON, 422, "n:"),
    ("POST", "/api/campaigns/bad/ask", b'{"n": 100000}', JSON, 422, "n:"),
    ("POST", "/api/campaigns/bad/ask", b'{"lease": -1}', JSON, 422, "lease"),
    ("POST", "/api/campaigns/bad/record", b'{"arm": 7, "value": 1}', JSON, 422, "arm"),
    ("POST", "/api/campaigns/bad/record", b'{"arm": 0, "value": 0.5}', JSON, 422, "Bernoulli"),
    ("POST", "/api/campaigns", b'{"name": "q", "spec": {"a": 1}}', JSON, 422, "a: got 1"),
    ("POST", "/api/campaigns", b'{"name": "", "spec": {}}', JSON, 422, "name"),
    ("POST", "/api/campaigns/bad/ask", b"{}", {"content-type": "text/plain"}, 415, "text/plain"),
    ("POST", "/api/campaigns/bad/ask", b"{}", {}, 415, "no content type"),
    ("POST", "/api/campaigns/bad/ask", b" " * 1_000_001, JSON, 413, "1,000,000"),
    ("PUT", "/api/campaigns/bad", b"{}", JSON, 405, "PUT"),
    ("GET", "/api/campaigns/bad/events?after=-1", None, {}, 422, "after"),
    ("GET", "/api/campaigns/bad/export?kind=exe", None, {}, 422, "csv"),
    ("GET", "/nothing", None, {}, 404, "Not Found"),
    ("GET", "/api/campaigns", None, {"host": "evil.example"}, 421, "evil.example"),
    ("GET", "/api/campaigns", None, {"origin": "http://evil.example"}, 403, "evil.example"),
    ("GET", "/api/campaigns", None, {"origin": "http://[127"}, 403, "http://[127"),
    ("GET", "/api/campaigns", None, {"origin": "null"}, 403, "null"),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "part"),
    BODIES,
    ids=[
        f"{r[0]} {r[1]} {(r[2] or b'')[:30].decode()} {r[3] if r[3] != JSON else ''}"
        for r in BODIES
    ],
)
def test_bad_input_has_its_own_answer(
    service: Service,
    client: sw.Client,
    method: str,
    path: str,
    body: bytes | None,
    headers: dict[str, str],
    status: int,
    part: str,
) -> None:
    campaign = client.create(SPEC, "bad")
    before = campaign.events()
    code, _, found = send(service, method, path, body, headers)
    assert code == status, found
    assert part in found["message"]
    assert campaign.events() == before
    assert "q" not in client.names()


def test_headers_of_every_answer(service: Service) -> None:
    for path in ("/", "/api/campaigns", "/nothing", "/static/index.html", "/metrics"):
        _, headers, _ = send(service, "GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_health_metrics_and_logs(service: Service) -> None:
    assert send(service, "GET", "/health")[2]["status"] == "fine"
    assert send(service, "GET", "/ready")[2]["status"] == "ready"
    assert b"stopwise_requests_total" in send(service, "GET", "/metrics")[2]

    def logged() -> bool:
        lines = [json.loads(line) for line in list(service.lines)]
        return any(line["path"] == "/health" and line["status"] == 200 for line in lines)

    until(logged)  # a line is written after the answer is sent


RESULT = {"arm": 0, "value": 1, "token": "row 1"}
ROUTES = [
    ("GET", "/", None, "nobody"),
    ("GET", "/health", None, "nobody"),
    ("GET", "/ready", None, "nobody"),
    ("GET", "/metrics", None, "read"),
    ("GET", "/api/schema", None, "read"),
    ("GET", "/api/openapi.json", None, "read"),
    ("GET", "/api/campaigns", None, "read"),
    ("GET", "/api/campaigns/roles", None, "read"),
    ("GET", "/api/campaigns/roles/explain", None, "read"),
    ("GET", "/api/campaigns/roles/recommend", None, "read"),
    ("GET", "/api/campaigns/roles/verify", None, "read"),
    ("GET", "/api/campaigns/roles/events", None, "read"),
    ("GET", "/api/campaigns/roles/export", None, "read"),
    ("GET", "/api/campaigns/roles/page", None, "read"),
    ("POST", "/api/campaigns/roles/ask", {}, "work"),
    ("POST", "/api/campaigns/roles/tell", {"token": "t", "value": 1}, "work"),
    ("POST", "/api/campaigns/roles/tells", {"tells": [{"token": "t", "value": 1}]}, "work"),
    ("POST", "/api/campaigns/roles/record", {"arm": 0, "value": 1}, "work"),
    ("POST", "/api/campaigns/roles/release", {"token": "t"}, "work"),
    ("POST", "/api/campaigns/roles/heartbeat", {"token": "t"}, "work"),
    ("POST", "/api/campaigns/roles/records", {"records": [RESULT]}, "work"),
    ("POST", "/api/campaigns/roles/import", {"source": "past", "rows": [["0", "1"]]}, "work"),
    ("POST", "/api/campaigns/roles/expire", {}, "work"),
    ("POST", "/api/campaigns/roles/note", {"text": "remember"}, "work"),
    ("POST", "/api/campaigns/roles/pause", {"reason": "lunch"}, "admin"),
    ("POST", "/api/campaigns/roles/resume", {}, "admin"),
    ("POST", "/api/campaigns/roles/change", {"budget": 1000}, "admin"),
    ("POST", "/api/campaigns/roles/add", {"label": "new"}, "admin"),
    ("POST", "/api/campaigns/roles/archive", {}, "admin"),
    ("POST", "/api/campaigns/roles/unarchive", {}, "admin"),
    ("POST", "/api/campaigns/roles/rename", {"name": "roles"}, "admin"),
    ("POST", "/api/campaigns/roles/close", {"reason": "enough"}, "admin"),
    ("POST", "/api/campaigns", {"name": "roles", "spec": SPEC}, "admin"),
    ("POST", "/api/preview", {"spec": SPEC, "means": [7]}, "work"),
]
UNTRIED = {"GET /api/campaigns/roles/stream"}  # it does not end: test_closed.py has it


def test_no_route_is_left_out(service: Service) -> None:
    """Every operation of the OpenAPI file is tried with every role."""
    file = send(service, "GET", "/api/openapi.json")[2]
    there = {
        f"{method.upper()} {path.replace('{name}', 'roles')}"
        for path, methods in file["paths"].items()
        for method in methods
    }
    assert there - UNTRIED <= {f"{method} {path}" for method, path, *_ in ROUTES}


def test_every_route_for_every_role(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/roles.db"
    tokens = Tokens(Store(storage))
    sw.Campaign.create(SPEC, storage, "roles")
    order = ["nobody", "read", "work", "admin"]
    given = {role: tokens.create(f"a {role}", role) for role in order[1:]}
    revoked = tokens.create("gone", "admin")
    tokens.revoke(revoked.split("_")[1])
    with serving(storage, tmp_path) as service:
        for method, path, body, needed in ROUTES:
            content = None if body is None else json.dumps(body).encode()
            for role in [*order, "revoked", "wrong"]:
                secret = {**given, "revoked": revoked, "wrong": given["admin"] + "x"}.get(role)
                headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
                status, _, found = send(service, method, path, content, {**headers, **JSON})
                rank = order.index(role) if role in order else 0
                allowed = rank >= order.index(needed)
                if allowed:
                    # whoever may add an arm, or see a preview: there is no room, and one mean for two arms
                    odd = {"/add": 409, "/preview": 422}
                    refused = [code for end, code in odd.items() if path.endswith(end)]
                    assert status in (refused or (200, 201, 404)), (path, role, found)
                else:
                    assert status == (403 if rank else 401), (path, role, found)
    who = {e.kind: e.actor for e in sw.Campaign.open("roles", storage).events() if e.actor}
    assert who["closed"] == who["changed"] == "a admin", "each change has its token's name"
    assert who["noted"] in ("a work", "a admin")
    rows = Store(storage).engine.connect().exec_driver_sql("SELECT * FROM stopwise_tokens").all()
    secret = given["admin"].split("_", 2)[2]
    assert all(secret not in map(str, row) for row in rows), "only hashes are stored"


FIRST = [  # of several mistakes, the one that is answered; none of these has a token
    ("PUT", b"{}", {"host": "evil.example"}, 421),
    ("POST", b"{}", {"origin": "http://evil.example"}, 403),
    ("PUT", b"{}", {}, 405),
    ("POST", b"{}", {"content-type": "text/plain"}, 415),
    ("POST", b" " * 1_000_001, JSON, 401),
]


def test_which_mistake_is_answered_first(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/closed.db"
    token = Tokens(Store(storage)).create("somebody", "work")
    with serving(storage, tmp_path) as service:
        for method, body, headers, expected in FIRST:
            status, found, _ = send(service, method, "/api/campaigns/x/ask", body, headers)
            assert status == expected
            assert found["x-frame-options"] == "DENY"
            assert ("www-authenticate" in found) == (status == 401)
            assert ("allow" in found) == (status == 405)
        given = {**JSON, "authorization": f"Bearer {token}"}
        assert send(service, "POST", "/api/campaigns/x/ask", FIRST[-1][1], given)[0] == 413


def _refusal(folder: Path, *arguments: str, storage: str | None = None) -> str:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, "serve", storage or f"sqlite:///{folder}/s.db", *arguments],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_refuses_to_start(tmp_path: Path) -> None:
    for options, given in [
        (["--host", "0.0.0.0"], "host: got '0.0.0.0'"),
        (["--allow-host", "tests.example.org"], "allow_host: got 'tests.example.org'"),
        (["--allow-host", "a.org", "--allow-host", "b.org"], "allow_host: got 'a.org, b.org'"),
        (["--host", "0.0.0.0", "--allow-host", "a.org"], "allow_host: got 'a.org'"),
    ]:
        text = _refusal(tmp_path, *options)
        assert given in text
        assert f"there is no token in sqlite:///{tmp_path}/s.db" in text
        assert "--host 127.0.0.1, ::1 or localhost, and no --allow-host" in text
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "cannot listen" in _refusal(tmp_path, "--port", port)


def test_what_the_refusal_says_to_do_helps(tmp_path: Path) -> None:
    """The command that it names makes a token; with it the service starts, and is closed."""
    text = _refusal(tmp_path, "--allow-host", "Tests.Example.org")
    command = text.split("Create a token first: stopwise ")[1].replace("NAME", "alice").split()
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command], capture_output=True, text=True, timeout=300
    )
    assert made.returncode == 0, made.stderr
    bearer = {"authorization": f"Bearer {made.stdout.strip()}"}
    storage = f"sqlite:///{tmp_path}/s.db"
    with serving(storage, tmp_path, "--allow-host", "Tests.Example.org") as service:
        for name in ("tests.example.org", "Tests.Example.org", "127.0.0.1"):
            host = {"host": name}
            assert send(service, "GET", "/api/campaigns", headers=host)[0] == 401
            assert send(service, "GET", "/api/campaigns", headers={**host, **bearer})[0] == 200
        assert send(service, "GET", "/health", headers={"host": "other.org"})[0] == 421
    tokens = Tokens(Store(storage))
    tokens.revoke(tokens.all()[0].id)
    assert "is revoked, so nobody could get in" in _refusal(tmp_path, "--allow-host", "a.org")


def test_memory_can_have_no_token(tmp_path: Path) -> None:
    text = _refusal(tmp_path, "--allow-host", "a.org", storage="memory:")
    assert "--storage FILE.db (memory: keeps none; serve FILE.db instead)" in text


@pytest.mark.parametrize("storage", ["named.db", "named.sqlite", "sqlite:///named"])
def test_the_storage_may_be_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    monkeypatch.setenv("STOPWISE_STORAGE", storage)
    with serving(None, tmp_path) as service:
        assert service.named == f"sqlite:///{storage.removeprefix('sqlite:///')}"
        assert send(service, "GET", "/ready")[0] == 200
    assert (tmp_path / storage.removeprefix("sqlite:///")).exists()


def test_ends_gracefully(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/s.db", tmp_path) as service:
        assert send(service, "GET", "/ready")[0] == 200
        assert service.stop() == 0


def test_samples_that_come_after_their_lease_are_said_to_be_late(client: sw.Client) -> None:
    """As after an outage: the spool sends them, and where losses are at random they do not count."""
    campaign = client.create({**SPEC, "losses": "at random"}, name="too late")
    (ticket,) = campaign.ask(lease=0.05)
    client.spool.put(client.url, "too late", ticket.token, 1.0)
    time.sleep(0.1)
    with pytest.warns(UserWarning, match="1 samples were told after their lease"):
        assert client.flush() == 0
    assert campaign.status().samples == 0


def test_samples_that_come_after_their_lease_count(client: sw.Client) -> None:
    campaign = client.create(SPEC, name="not too late")
    (ticket,) = campaign.ask(lease=0.05)
    client.spool.put(client.url, "not too late", ticket.token, 1.0)
    time.sleep(0.1)
    assert client.flush() == 0
    assert (campaign.status().samples, campaign.status().missing) == (1, 0)


def test_spool_survives_the_service_and_itself(tmp_path: Path) -> None:
    storage, spool = f"sqlite:///{tmp_path}/s.db", tmp_path / "spool.db"
    with serving(storage, tmp_path) as service:
        client = sw.Client(service.url, spool=spool, patience=0.5)
        campaign = client.create(SPEC, "away")
        tickets = campaign.ask(3)
        service.kill()
        assert [campaign.tell(each.token, 1) for each in tickets] == [None] * 3
        with pytest.raises(sw.StorageAway):
            campaign.ask()
        client.close()
        service.start()
        again = sw.Client(service.url, spool=spool)
        assert again.flush() == 0
        told = [event for event in again.open("away").events() if event.kind == "told"]
        assert {event.token for event in told} == {each.token for each in tickets}


def hammer(url: str, seed: int, folder: Path, stop: threading.Event, known: set[str]) -> None:
    """A worker that never gives up; it notes the tokens that were acknowledged to it."""
    client = sw.Client(url, spool=folder / f"spool-{seed}.db", patience=60, timeout=5)
    rng = random.Random(seed)
    campaign = sw.RemoteCampaign(client, "load")
    while not stop.is_set():
        for ticket in campaign.ask(2):
            if campaign.tell(ticket.token, float(rng.random() < 0.5)) is not None:
                known.add(ticket.token)
    client.flush()
    client.close()


def killed_under_load(storage: str, folder: Path, kills: int, workers: int) -> None:
    """Kill the server under its clients; it must be back, and answer, within a second or so."""
    spec, back = {**SPEC, "delta": 1e-12}, []
    with serving(storage, folder) as service:
        sw.Campaign.create(spec, storage, "load")
        stop, known = threading.Event(), [set[str]() for _ in range(workers)]
        threads = [
            threading.Thread(target=hammer, args=(service.url, place, folder, stop, mine))
            for place, mine in enumerate(known)
        ]
        for thread in threads:
            thread.start()
        moments = random.Random(9)
        for kill in range(kills):
            until(lambda kill=kill: sum(map(len, known)) > 12 * (kill + 1), 60)
            time.sleep(moments.uniform(0.0, 0.2))
            service.kill()
            start = time.monotonic()
            service.start()
            send(service, "GET", "/health")
            back.append(time.monotonic() - start)
        stop.set()
        for thread in threads:
            thread.join(timeout=120)
        assert not any(thread.is_alive() for thread in threads)
    print(f"\nback after {min(back):.2f} to {max(back):.2f} s")
    check_record(storage, set().union(*known), 10 * kills)


def check_record(storage: str, acknowledged: set[str], least: int) -> None:
    campaign = sw.Campaign.open("load", storage)
    told = [event.token for event in campaign.events() if event.kind == "told"]
    assert len(acknowledged) > least
    assert acknowledged <= set(told), "none is lost"
    assert len(told) == len(set(told)), "none is there twice"
    assert campaign.verify().agrees


def test_killed_under_load(tmp_path: Path) -> None:
    killed_under_load(f"sqlite:///{tmp_path}/load.db", tmp_path, kills=3, workers=4)


@pytest.mark.slow
def test_killed_25_times_under_8_clients(tmp_path: Path) -> None:
    killed_under_load(f"sqlite:///{tmp_path}/load.db", tmp_path, kills=25, workers=8)


@pytest.mark.slow
def test_killed_25_times_under_8_clients_on_postgresql(server: Server, tmp_path: Path) -> None:
    killed_under_load(server.fresh(), tmp_path, kills=25, workers=8)


def test_two_services_on_one_store_agree(server: Server, tmp_path: Path) -> None:
    storage = server.fresh()
    sw.Campaign.create({**SPEC, "delta": 1e-12}, storage, "load")
    stop, known = threading.Event(), [set[str]() for _ in range(4)]
    with serving(storage, tmp_path) as first, serving(storage, tmp_path) as second:
        urls = [first.url, second.url] * 2
        threads = [
            threading.Thread(target=hammer, args=(url, place, tmp_path, stop, mine))
            for place, (url, mine) in enumerate(zip(urls, known, strict=True))
        ]
        for thread in threads:
            thread.start()
        until(lambda: all(len(mine) > 25 for mine in known), 60)
        stop.set()
        for thread in threads:
            thread.join(timeout=120)
        assert not any(thread.is_alive() for thread in threads)
        for path in ("", "/events", "/verify", "/explain"):
            answers = [
                send(each, "GET", f"/api/campaigns/load{path}")[2] for each in (first, second)
            ]
            assert answers[0] == answers[1]
    check_record(storage, set().union(*known), 100)


def test_a_store_that_is_away(server: Server, tmp_path: Path) -> None:
    """Clear answers while PostgreSQL is away; the same requests succeed when it is back."""
    storage = server.fresh()
    with serving(storage, tmp_path) as service:
        campaign = sw.Campaign.create(SPEC, storage, "away")
        (ticket,) = campaign.ask()
        before = campaign.events()
        body = json.dumps({"token": ticket.token, "value": 1}).encode()
        server.kill()
        for method, path, content in (
            ("POST", "/api/campaigns/away/tell", body),
            ("POST", "/api/campaigns/away/ask", b"{}"),
            ("GET", "/api/campaigns/away", None),
            ("GET", "/ready", None),
        ):
            status, headers, found = send(service, method, path, content, JSON)
            assert status == 503, found
            assert "does not answer" in found["message"]
            assert headers["retry-after"] == "1"
        assert send(service, "GET", "/health")[0] == 200
        server.start()
        assert campaign.events() == before
        status, _, found = send(service, "POST", "/api/campaigns/away/tell", body, JSON)
        assert status == 200, found
        assert campaign.verify().agrees


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    """What a service keeps, without the service."""
    store = Store(f"sqlite:///{tmp_path}/kept.db")
    for name in ("one", "two", "three", "four"):
        sw.Campaign.create(SPEC, store, name)
    found = Kept(store)
    yield found
    found.close()


def test_a_page_a_list_and_a_worker_see_one_campaign(kept: Kept) -> None:
    def work(campaign: sw.Campaign) -> sw.Campaign:
        for ticket in campaign.ask(3):
            campaign.tell(ticket.token, 1)
        return campaign

    held = kept.campaign("one")
    assert asyncio.run(kept.writer.change("one", work)) is held
    assert kept.feed("one").dashboard.campaign is kept.feed("one").campaign is held
    assert json.loads(kept.page("one"))["status"] == json.loads(json.dumps(held.status().to_dict()))
    briefs = {brief.name: brief for brief in kept.glance()}
    assert briefs["one"].samples == held.status().samples == 3
    assert list(briefs) == ["four", "three", "two", "one"]
    again = {brief.name: brief for brief in kept.glance()}
    assert all(again[name] is briefs[name] for name in briefs), "made anew only after new events"
    sw.Campaign.open("two", Store(kept.store.address)).record("plain", 1)  # somebody else
    again = {brief.name: brief for brief in kept.glance()}
    assert again["two"].samples == 1
    assert again["one"] is briefs["one"]


@pytest.mark.parametrize(("most", "value"), [("KEPT", 2), ("ARMS", 5)])
def test_campaigns_that_nobody_uses_are_put_away(
    most: str, value: int, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"stopwise.web.service.{most}", value)
    first = kept.campaign("one")
    asyncio.run(kept.writer.change("one", lambda each: each.record("plain", 1)))
    kept.feed("two").listeners += 1
    second = kept.campaign("two")
    for name in ("one", "three", "four"):
        kept.campaign(name)
    assert kept.campaign("two") is second, "it has an open page"
    assert len(kept._feeds) == 2
    came_back = kept.campaign("one")
    assert came_back is not first
    assert came_back.status().samples == 1
    first.record("plain", 1)  # whoever still has it may go on
    assert came_back.status().samples == kept.campaign("one").status().samples == 2


@pytest.mark.parametrize("spoilt", ["{", '{"of a newer version": 1}'])
def test_a_campaign_that_cannot_be_opened_hides_no_other(spoilt: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for name in ("fine", "broken"):
        sw.Campaign.create(SPEC, path, name).disconnect()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE stopwise_campaigns SET spec = ? WHERE name = 'broken'", (spoilt,)
        )
        connection.commit()
    with serving(f"sqlite:///{path}", tmp_path) as service:
        client = sw.Client(service.url, spool=tmp_path / "spool.db", patience=10)
        found = {each["name"]: each for each in client.call("GET", "/api/campaigns")}
        assert found["fine"]["state"] == "running"
        assert found["broken"]["state"] == "cannot be opened"
        assert "'broken' cannot be opened: " in found["broken"]["problem"]
        with pytest.raises(sw.CampaignUnreadable):
            client.open("broken")
        for changed in (True, False):
            assert client.call("POST", "/api/campaigns/broken/archive", {}) == {"changed": changed}
            assert client.names() == ["fine"]
        assert client.call("POST", "/api/campaigns/broken/unarchive", {}) == {"changed": True}
        client.close()
