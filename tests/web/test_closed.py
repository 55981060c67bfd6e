"""Closed by default: who gets in, what is said about those who do not, and how the service ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import stopwise as sw
from disks import small_disk
from postgres import Server
from serving import JSON, SCRIPT, SPEC, Service, send, serving, until
from stopwise.campaign.storage.store import Store
from stopwise.web.access import REMEMBERED
from stopwise.web.feed import CHECKED
from stopwise.web.tokens import Tokens

LIST = "/api/campaigns"


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@contextmanager
def stream(service: Service, name: str, token: str | None = None) -> Iterator[socket.socket]:
    """An open stream whose beginning has been read."""
    line = socket.create_connection(("127.0.0.1", service.port), timeout=120)
    given = "" if token is None else f"authorization: Bearer {token}\r\n"
    line.sendall(f"GET {LIST}/{name}/stream HTTP/1.1\r\nhost: localhost\r\n{given}\r\n".encode())
    got = b""
    while b"retry: 1000" not in got:
        got += line.recv(1000)
    with line:
        yield line


def ends(line: socket.socket) -> bool:
    """The other side lets go; it says after how long. (No test asserts a time: see below.)"""
    line.settimeout(120)
    start, got = time.monotonic(), b"?"
    while got and not got.endswith(b"0\r\n\r\n"):  # the last piece is empty
        try:
            got = line.recv(10_000)
        except ConnectionError:
            break
        except TimeoutError:
            return False
    print(f"\na stream ended after {time.monotonic() - start:.1f} s")
    return True


def test_a_stream_outlasts_its_token_by_less_than_five_seconds() -> None:
    """How old a look at the store may be, and how seldom it is asked for."""
    assert REMEMBERED + CHECKED < 5.0


def refusal(storage: str, *options: str) -> str:
    """What ``serve`` says when it does not start, in one line."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "serve", storage, "--port", "0", *options],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


# ------------------------------------------------------------------------------------ who gets in


OTHERS = [["--allow-host", "a.org"], ["--host", "0.0.0.0"]]


def test_nobody_opens_it_by_accident(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    for options in OTHERS:
        text = refusal(storage, *options)
        assert "there is no token" in text
        assert "or --open, and whoever reaches the service may do everything" in text
    tokens = Tokens(Store(storage))
    tokens.revoke(tokens.create("alice", "admin").split("_")[1])
    for options in ([], *OTHERS):
        assert "is revoked, so nobody could get in. Create one" in refusal(storage, *options)
    with serving(storage, tmp_path, *OTHERS[0], *OTHERS[1], "--open") as service:
        assert send(service, "GET", LIST)[0] == 200
        assert "(open)" in service.said
        assert "without a token, everybody may do everything (--open)" in service.said
        tokens.create("bob", "admin")
        assert send(service, "GET", LIST)[0] == 200, "somebody said so"


def test_the_first_token_closes_a_service_that_runs(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    sw.Campaign.create(SPEC, storage, "one")
    with serving(storage, tmp_path) as service, stream(service, "one") as line:
        assert "until the first token is created" in service.said
        assert send(service, "GET", LIST)[0] == 200
        token = Tokens(Store(storage)).create("alice", "admin")
        assert send(service, "GET", LIST)[0] == 401, "at once"
        assert send(service, "GET", LIST, headers=bearer(token))[0] == 200
        assert ends(line), "who listened without a token is let go"


def test_a_revoked_token_ends_its_streams(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    tokens = Tokens(Store(storage))
    alice, bob = tokens.create("alice", "admin"), tokens.create("bob", "read")
    campaign = sw.Campaign.create(SPEC, storage, "one")
    with (
        serving(storage, tmp_path) as service,
        stream(service, "one", alice) as hers,
        stream(service, "one", bob) as his,
    ):
        tokens.revoke(bob.split("_")[1])
        assert ends(his)
        assert send(service, "GET", LIST, headers=bearer(bob))[0] == 401
        campaign.record("plain", 1)
        hers.settimeout(120)
        assert b"recorded" in hers.recv(10_000)
        tokens.revoke(alice.split("_")[1])
        assert ends(hers)
        assert send(service, "GET", LIST)[0] == 401, "without any token it stays closed"


def test_it_says_who_gets_in(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    tokens = Tokens(Store(storage))
    for name, role in (("a", "admin"), ("b", "work"), ("c", "work")):
        tokens.create(name, role)
    with serving(storage, tmp_path, "--allow-host", "Tests.Example.org") as service:
        assert (
            "from this machine, and by a proxy as tests.example.org, with a token: " in service.said
        )
        assert "2 work (also ask and tell), 1 admin (also create)." in service.said
    with serving(storage, tmp_path, "--host", "0.0.0.0") as service:
        assert "(tokens needed). Reached from every machine that reaches 0.0.0.0" in service.said


# --------------------------------------------------------------------------- what is said of refusals


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("closed")
    storage = f"sqlite:///{folder}/s.db"
    tokens = Tokens(Store(storage))
    given = {role: tokens.create(f"a {role}", role) for role in ("read", "admin")}
    with serving(storage, folder, "--log-level", "warning") as service:
        yield service, given


def counted(service: Service, token: str, status: int, reason: str) -> float:
    text = send(service, "GET", "/metrics", headers=bearer(token))[2].decode()
    wanted = rf'stopwise_refusals_total{{reason="{reason}",status="{status}"}} (\S+)'
    found = re.search(wanted, text)
    return float(found[1]) if found else 0.0


REFUSED = [  # method, headers, body, role, status, reason
    ("GET", {}, None, None, 401, "NoToken"),
    ("GET", bearer("sw_made_up"), None, None, 401, "UnknownToken"),
    ("POST", JSON, b"{}", "read", 403, "NotAllowed"),
    ("GET", {"origin": "http://evil.example"}, None, "admin", 403, "WrongOrigin"),
    ("POST", JSON, b" " * 1_000_001, "admin", 413, "TooLarge"),
    ("POST", {"content-type": "text/plain"}, b"{}", "admin", 415, "UnsupportedMediaType"),
    ("GET", {"host": "evil.example"}, None, "admin", 421, "WrongHost"),
]


@pytest.mark.parametrize(
    ("method", "headers", "body", "role", "status", "reason"), REFUSED, ids=[r[-1] for r in REFUSED]
)
def test_refusals_are_logged_and_counted(
    closed: tuple[Service, dict[str, str]],
    method: str,
    headers: dict[str, str],
    body: bytes | None,
    role: str | None,
    status: int,
    reason: str,
) -> None:
    service, tokens = closed
    before = counted(service, tokens["admin"], status, reason)
    given = {**headers, **(bearer(tokens[role]) if role else {})}
    assert send(service, method, f"{LIST}?{reason}", body, given)[0] == status
    assert counted(service, tokens["admin"], status, reason) == before + 1

    def logged() -> bool:
        lines = [json.loads(line) for line in list(service.lines)]
        wanted = {"method": method, "path": LIST, "status": status, "reason": reason}
        return any(wanted.items() <= {**line, "client": "127.0.0.1"}.items() for line in lines)

    until(logged)


def flood(service: Service, heads: list[str], source: str) -> list[int]:
    """Many requests on one connection, each with a line of its own in its headers: their statuses."""
    line = socket.create_connection(("127.0.0.1", service.port), 120, source_address=(source, 0))
    statuses: list[int] = []
    with line, line.makefile("rb") as answers:
        for start in range(0, len(heads), 50):
            some = heads[start : start + 50]
            sent = [f"GET {LIST} HTTP/1.1\r\nhost: localhost\r\n{each}\r\n\r\n" for each in some]
            line.sendall("".join(sent).encode())
            for _ in some:
                statuses.append(int(answers.readline().split()[1]))
                while (header := answers.readline().lower()) != b"\r\n":
                    if header.startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                answers.read(length)
    return statuses


def test_made_up_tokens_share_one_allowance(closed: tuple[Service, dict[str, str]]) -> None:
    service, tokens = closed
    heads = [f"authorization: Bearer sw_{k:012x}_madeup" for k in range(1500)]
    assert flood(service, [f"authorization: Bearer {tokens['read']}"], "127.0.0.7") == [200]
    statuses = flood(service, heads, "127.0.0.7")
    assert set(statuses) == {401, 429}
    elsewhere = flood(service, ["x-forwarded-for: 10.0.0.1"] * 300, "127.0.0.7")
    assert 429 in elsewhere, "nobody gets another address by saying so"
    known = [f"authorization: Bearer {tokens['read']}"] * 20
    assert flood(service, known, "127.0.0.7") == [200] * 20, "who is known is not held up by others"
    assert flood(service, ["x: y"], "127.0.0.8") == [401], "nor are other addresses"
    over = counted(service, tokens["admin"], 429, "TooManyRequests")
    assert over >= (statuses + elsewhere).count(429)

    def all_accounted() -> bool:
        time.sleep(0.3)
        send(service, "GET", LIST)  # the next line says what was left out
        lines = [json.loads(line) for line in list(service.lines)]
        entered = len(lines) + sum(line.get("left_out", 0) for line in lines)
        return entered >= len(statuses) and len(lines) < len(statuses) / 2

    until(all_accounted)


# ------------------------------------------------------------------------------------------- ready


@pytest.mark.parametrize("how", ["disk", "limit"])
def test_ready_knows_a_full_disk(how: str, tmp_path: Path) -> None:
    """The disk is full when nothing more can be reserved; the limit is below what must be free."""
    room, storage = 600_000 if how == "disk" else 250_000, f"sqlite:///{tmp_path}/s.db"
    with small_disk(tmp_path, how, room) as make_room, serving(storage, tmp_path) as service:
        if how == "disk":
            assert send(service, "GET", "/ready")[0] == 200
            subprocess.run(["fallocate", "-l", "300k", tmp_path / "other"], check=True)
            until(lambda: send(service, "GET", "/ready")[0] == 503)
        status, headers, found = send(service, "GET", "/ready")
        assert status == 503
        assert headers["retry-after"] == "1"
        assert found["message"] == "the storage: the disk is full. Try again."
        assert send(service, "GET", "/health")[0] == 200
        if how == "disk":
            make_room()
            until(lambda: send(service, "GET", "/ready")[0] == 200)


def test_ready_shows_no_address(server: Server, tmp_path: Path) -> None:
    storage = server.fresh()
    with serving(storage, tmp_path) as service:
        server.kill()
        try:
            for path in ("/ready", LIST):
                status, _, found = send(service, "GET", path)
                assert status == 503
                text = json.dumps(found)
                assert not any(word in text for word in ("postgres", "127.0.0.1", "/", "port"))
        finally:
            server.start()
        until(lambda: send(service, "GET", "/ready")[0] == 200)


# ------------------------------------------------------------------------------------- a damaged file


def damage(file: Path) -> None:
    """Overwrite the first page of the record of events."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'stopwise_events'"
    (page,), (size,) = (
        connection.execute(query).fetchone(),
        connection.execute("PRAGMA page_size").fetchone(),
    )
    connection.close()
    with file.open("r+b") as opened:
        opened.seek((page - 1) * size)
        opened.write(b"\xff" * size)


def test_a_damaged_file_is_named_at_the_start(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    store = Store(storage)
    sw.Campaign.create(SPEC, store, "one").ask(3)
    store.close()
    damage(tmp_path / "s.db")
    text = refusal(storage)
    assert "damaged" in text
    assert "Trying again does not help: put a backup in its place" in text


def test_a_file_that_is_damaged_meanwhile_is_no_passing_fault(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    store = Store(storage)
    ticket, *_ = sw.Campaign.create(SPEC, store, "one").ask(3)
    store.close()
    with serving(storage, tmp_path, "--log-level", "warning") as service:
        damage(tmp_path / "s.db")
        for _ in range(3):
            status, headers, found = send(service, "GET", f"{LIST}/one/events")
            assert (status, found["error"]) == (500, "StorageDamaged")
            assert "retry-after" not in headers
        campaign = sw.RemoteCampaign(sw.Client(service.url, spool=tmp_path / "spool.db"), "one")
        with pytest.raises(sw.StorageDamaged):
            campaign.events()
        with pytest.raises(sw.StorageDamaged):
            campaign.tell(ticket.token, 1)
        assert len(campaign.client.spool.waiting(service.url)) == 1, "the tell is kept"
        until(lambda: any("damaged" in line for line in service.lines))
        assert sum("damaged" in line for line in service.lines) == 1, "said once"


# ------------------------------------------------------------------------------------------ the end


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_open_streams_do_not_hold_up_the_end(sign: signal.Signals, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    sw.Campaign.create(SPEC, storage, "one")
    with serving(storage, tmp_path, "--log-level", "warning") as service:
        lines = [stream(service, "one") for _ in range(20)]
        for line in lines:
            line.__enter__()
        half = socket.create_connection(("127.0.0.1", service.port))
        half.sendall(b"POST /api/campaigns/one/ask HTTP/1.1\r\nhost: localhost\r\n")
        half.sendall(b"content-type: application/json\r\ncontent-length: 9\r\n\r\n{")
        time.sleep(0.2)
        start = time.monotonic()
        service.process.send_signal(sign)
        service.process.wait(timeout=120)
        print(f"\nended after {time.monotonic() - start:.2f} s")
        service.reader.join(timeout=60)
        # after GRACE seconds the server would say that it cancels them, with a traceback each
        assert not any("Traceback" in line or "server" in line for line in service.lines)
        if sign == signal.SIGTERM:
            assert service.process.returncode == 0
        for line in lines:
            line.__exit__(None, None, None)
        half.close()


# ------------------------------------------------------------------------------------------ names


OLD = ["a/b", "..", "%2F", "a//b/tell", "a/page", "x?y#z", "cafe\u0301"]


def test_names_of_earlier_versions_over_http(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    store = Store(storage)
    for name in OLD:
        sw.Campaign.create(SPEC, store, "allowed")
        with store.engine.begin() as connection:
            change = "UPDATE stopwise_campaigns SET name = ? WHERE name = 'allowed'"
            connection.exec_driver_sql(change, (name,))
    store.close()
    with serving(storage, tmp_path) as service:
        client = sw.Client(service.url, spool=tmp_path / "spool.db")
        assert sorted(client.names()) == sorted(OLD)
        for name in OLD:
            campaign = client.open(name)
            (ticket,) = campaign.ask()
            assert campaign.tell(ticket.token, 1) is not None
            assert campaign.status().name == name
            assert client.call("GET", f"{campaign._path}/page")["status"]["name"] == name
            assert len(campaign.events()) == 2
        with pytest.raises(sw.StopwiseError, match="summer-2026 instead"):
            client.create(SPEC, "new/one")
        assert client.create(SPEC, "\uff21 new one").name == "A new one"
        with pytest.raises(sw.CampaignExists, match="mistaken"):
            client.create(SPEC, "a new one")
