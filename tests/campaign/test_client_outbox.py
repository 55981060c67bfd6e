"""A tell that has returned is never lost: it is acknowledged, or it waits in the outbox."""

from __future__ import annotations

import json
import math
import os
import random
import sqlite3
import stat
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from disks import small_disk
from serving import SPEC, Service, serving
from stopwise.campaign import errors
from stopwise.campaign.spool import Spool
from stopwise.web.tokens import Tokens

Answer = tuple[int, bytes]
ENDLESS = {**SPEC, "delta": 1e-12}
# the table of stopwise 0.3.0
OLD_TABLE = (
    "CREATE TABLE held (place INTEGER PRIMARY KEY, service TEXT NOT NULL, "
    "campaign TEXT NOT NULL, token TEXT NOT NULL, value REAL NOT NULL, refused TEXT)"
)


def receipt(token: str, value: float = 1.0, **more: Any) -> bytes:
    found = {"number": 2, "token": token, "arm": 0, "value": value, "late": False}
    return json.dumps({**found, "decided": False, "waiting": False, **more}).encode()


def problem(error: str, message: str = "no") -> bytes:
    return json.dumps({"error": error, "message": message}).encode()


@contextmanager
def answering(answer: Callable[[str, Any], Answer]) -> Iterator[str]:
    """The address of a server that answers so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            status, content = answer(self.path, json.loads(self.rfile.read(size)))
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", "https://elsewhere.example/")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self.headers["content-length"] = "2"
            status, content = answer(self.path, None)
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(f"sqlite:///{folder}/store.db", folder) as found:
        yield found


def told(campaign: Any) -> list[str]:
    return [event.token for event in campaign.events() if event.kind == "told"]


# ---------------------------------------------------------------------------------------------
# only a receipt is an acknowledgement

NO_RECEIPTS: dict[str, Answer] = {
    "a maintenance page": (200, b"<html>Back soon</html>"),
    "an empty answer": (200, b""),
    "no content": (204, b""),
    "accepted": (202, b"{}"),
    "a list": (200, b"[]"),
    "a number": (200, b"3"),
    "null": (200, b"null"),
    "another object": (200, b'{"status": "ok"}'),
    "a receipt for another token": (200, receipt("another")),
    "a receipt for another value": (200, receipt("t", 0.0)),
    "half a receipt": (200, receipt("t")[:30]),
    "a receipt without its number": (200, b'{"token": "t", "value": 1.0}'),
    "not UTF-8": (200, b"\xff\xfe\xff"),
    "100,000 lists in lists": (200, b"[" * 100_000 + b"]" * 100_000),
    "a number of 10,000 digits": (200, b"9" * 10_000),
    "a redirect": (302, b""),
    "moved for good": (301, b"<html>Moved</html>"),
    "a redirect that keeps the method": (307, receipt("t")),
}


@pytest.mark.parametrize("what", NO_RECEIPTS)
def test_what_is_no_receipt_acknowledges_nothing(what: str, tmp_path: Path) -> None:
    now = [NO_RECEIPTS[what]]
    with answering(lambda path, body: now[0]) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=0)
        campaign = sw.RemoteCampaign(client, "one")
        if 300 <= now[0][0] < 400:
            with pytest.raises(
                errors.Refused, match=r"redirects to https://else.* waits in the outbox"
            ):
                campaign.tell("t", 1)
        else:
            assert campaign.tell("t", 1) is None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert client.flush() == 1, "it is kept"
        now[0] = 200, receipt("t", more="of a newer service")
        assert client.flush() == 0


@pytest.mark.parametrize("call", ["ask", "status", "events", "verify", "record", "pause", "export"])
@pytest.mark.parametrize(
    "answer",
    ["a maintenance page", "no content", "a number", "another object", "100,000 lists in lists"],
)
def test_what_is_no_answer_is_an_error_of_ours(call: str, answer: str, tmp_path: Path) -> None:
    with answering(lambda path, body: NO_RECEIPTS[answer]) as url:
        campaign = sw.RemoteCampaign(sw.Client(url, spool=tmp_path / "o.db", patience=0), "one")
        given = {"record": (0, 1), "export": (tmp_path / "x.csv",)}.get(call, ())
        with pytest.raises(sw.StorageAway, match="no answer of stopwise"):
            getattr(campaign, call)(*given)


# ---------------------------------------------------------------------------------------------
# only a refusal of the ticket or the value is final

FINAL = {
    "no such ticket": (404, problem("UnknownToken", "no ask gave the token")),
    "another value": (409, problem("Conflict", "0.0 was told")),
    "a bad value": (422, problem("BadArgument", "value: got 2.0; allowed: 0 or 1.")),
    "a bad form": (422, problem("BadArgument", "body.token: too long")),
}
PASSING = {
    "bad request": (400, problem("Disconnected")),
    "a bad request of a proxy": (400, problem("BadArgument", "value: not for us")),
    "no token": (401, problem("NoToken")),
    "a bearer token that is not known": (401, problem("UnknownToken")),
    "a token that may only read": (403, problem("NotAllowed")),
    "wrong origin": (403, problem("WrongOrigin")),
    "no such campaign": (404, problem("UnknownCampaign")),
    "no such page": (404, b"<html>404</html>"),
    "another method": (405, problem("MethodNotAllowed")),
    "a time-out": (408, b""),
    "closed": (409, problem("CampaignClosed")),
    "decided, without a decision": (409, problem("CampaignDecided")),
    "too large": (413, problem("TooLarge")),
    "another kind": (415, problem("UnsupportedMediaType")),
    "another host": (421, problem("WrongHost")),
    "a bad name": (422, problem("BadArgument", "name: got 'one'")),
    "too many": (429, problem("TooManyRequests")),
    "an error of the service": (500, b"Internal Server Error"),
    "damaged": (500, problem("StorageDamaged")),
    "not implemented": (501, b""),
    "a bad gateway": (502, b"<html>"),
    "away": (503, problem("StorageAway")),
    "a gateway's time-out": (504, b""),
    "an object that is no problem": (400, b'{"error": ["x"], "message": {"deep": 1}}'),
    "a name that is no error": (404, problem("annotations")),
}


@pytest.mark.parametrize("why", PASSING)
def test_other_refusals_keep_the_tell_and_say_so(why: str, tmp_path: Path) -> None:
    """By tell and by flush: however often, it goes out once the service takes it."""
    now = [PASSING[why]]
    with answering(lambda path, body: now[0]) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=0)
        campaign = sw.RemoteCampaign(client, "one")
        away = now[0][0] in (408, 429, 502, 503, 504)
        if away:
            assert campaign.tell("t", 1) is None
        else:
            with pytest.raises(
                sw.StopwiseError, match=r"The tell waits in the outbox .*outbox\.db"
            ):
                campaign.tell("t", 1)
            with pytest.warns(UserWarning, match="1 tells wait in the outbox"):
                assert client.flush() == 1
        assert client.spool.refused(url) == []
        now[0] = 200, receipt("t")
        assert client.flush() == 0
        assert client.spool.refused(url) == []


@pytest.mark.parametrize("why", FINAL)
def test_refusals_of_the_ticket_are_final(why: str, tmp_path: Path) -> None:
    now: list[Answer] = [(503, b"")]
    with answering(lambda path, body: now[0]) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=0)
        campaign = sw.RemoteCampaign(client, "one")
        assert campaign.tell("before", 1) is None
        now[0] = FINAL[why]
        with pytest.raises(sw.StopwiseError):
            campaign.tell("now", 1)
        assert [held.token for held in client.spool.waiting(url)] == ["before"], "told by an error"
        with pytest.warns(UserWarning, match="1 tells were refused for good"):
            assert client.flush() == 0
        assert [row[1] for row in client.spool.refused(url)] == ["before"], "kept to look at"


def test_the_same_again_after_a_refusal_sets_the_first_aside(tmp_path: Path) -> None:
    now: list[Answer] = [(503, b"")]
    with answering(lambda path, body: now[0]) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=0)
        campaign = sw.RemoteCampaign(client, "one")
        assert campaign.tell("t", 1) is None
        now[0] = FINAL["no such ticket"]
        with pytest.raises(sw.UnknownToken):
            campaign.tell("t", 1)
        assert len(client.spool.refused(url)) == 1


def test_another_value_while_the_first_waits_is_a_conflict(tmp_path: Path) -> None:
    """Else the second would overtake the first, which has returned."""
    now: list[Answer] = [(503, b"")]
    with answering(lambda path, body: now[0]) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=0)
        campaign = sw.RemoteCampaign(client, "one")
        assert campaign.tell("t", 1) is None
        now[0] = 200, receipt("t")
        with pytest.raises(sw.Conflict, match=r"1\.0 was told and waits in the outbox .* now 0\.0"):
            campaign.tell("t", 0)
        assert client.flush() == 0


def test_tells_that_are_not_taken_hold_up_no_others(tmp_path: Path) -> None:
    """1,100 of a campaign that is gone, and one the service cannot digest, before one of another."""
    sent: list[str] = []

    def answer(path: str, body: Any) -> Answer:
        sent.append(body["token"])
        if "/gone/" in path:
            return 404, problem("UnknownCampaign")
        return (500, b"") if body["token"] == "poison" else (200, receipt(body["token"]))

    with answering(answer) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=0)
        rows = [("gone", f"g{place}") for place in range(1100)]
        for campaign, token in [*rows, ("one", "poison"), ("one", "good")]:
            client.spool.put(url, campaign, token, 1.0)
        with pytest.warns(UserWarning, match="1,101 tells wait"):
            assert client.flush() == 1101
        assert sent[-1] == "good"
        assert len(sent) < 20, "not all 1,100 are sent each time"


def test_a_program_that_may_only_read_spoils_nothing(tmp_path: Path) -> None:
    """Programs of a user share the outbox: one with a read token, or none, gives up nobody's tells."""
    storage, outbox = f"sqlite:///{tmp_path}/s.db", tmp_path / "outbox.db"
    tickets = sw.Campaign.create(SPEC, storage, "one").ask(3)
    tokens = Tokens(sw.Campaign.open("one", storage)._store)
    work, read = tokens.create("worker", "work"), tokens.create("reader", "read")
    with serving(storage, tmp_path) as service:
        client = sw.Client(service.url, work, spool=outbox, patience=0)
        for ticket in tickets:
            client.spool.put(client.url, "one", ticket.token, 1.0)
        for token in (read, None, "sw_made_up"):
            other = sw.Client(service.url, token, spool=outbox, patience=0)
            with pytest.warns(UserWarning, match="3 tells wait"):
                assert other.flush() == 3
        assert client.flush() == 0
        assert len(told(client.open("one"))) == 3


def test_a_bearer_token_that_is_not_known_is_no_unknown_ticket(tmp_path: Path) -> None:
    with answering(lambda path, body: (401, problem("UnknownToken"))) as url:
        campaign = sw.RemoteCampaign(sw.Client(url, spool=tmp_path / "o.db", patience=0), "one")
        with pytest.raises(errors.Refused, match="UnknownToken"):
            campaign.tell("t", 1)


# ---------------------------------------------------------------------------------------------
# several processes, threads and forks


def test_no_process_deletes_the_tell_of_another(tmp_path: Path) -> None:
    """A sends B's tell, and deletes it after B did, and after B's next tell took its place."""
    ours, theirs = (Spool(tmp_path / "outbox.db") for _ in range(2))
    theirs.put("u", "one", "first", 1.0)
    (held,) = ours.waiting("u")
    theirs.drop("u", "one", "first", 1.0)
    theirs.put("u", "one", "second", 1.0)
    ours.drop("u", *held[1:])
    ours.refuse("u", *held[1:], "no")
    assert [(each.token, each.place > held.place) for each in ours.waiting("u")] == [
        ("second", True)
    ]


def test_threads_share_a_client(service: Service, tmp_path: Path) -> None:
    """Each gets the answers to its own requests; what tell returned is on record."""
    client = sw.Client(service.url, spool=tmp_path / "outbox.db")
    campaign = client.create(ENDLESS, "threads")

    def work(seed: int) -> list[sw.Receipt | None]:
        lots, found = random.Random(seed), list[sw.Receipt | None]()
        for _ in range(40):
            for ticket in campaign.ask(3):
                value = float(lots.random() < 0.5)
                receipt = campaign.tell(ticket.token, value)
                assert receipt is None or (receipt.token, receipt.value) == (ticket.token, value)
                found.append(receipt)
            assert client.open("threads").name == "threads"
        return found

    with ThreadPoolExecutor(8) as pool:
        receipts = [each for found in pool.map(work, range(8)) for each in found]
    assert client.flush() == 0
    tokens = told(campaign)
    assert len(receipts) == len(tokens) == len(set(tokens)) == 960
    assert {each.token for each in receipts if each is not None} <= set(tokens)
    client.close()


def test_a_client_after_a_fork(service: Service, tmp_path: Path) -> None:
    """Parent and children use their own connections and their own handles of the file."""
    client = sw.Client(service.url, spool=tmp_path / "outbox.db")
    campaign = client.create(ENDLESS, "fork")
    campaign.tell(campaign.ask()[0].token, 1)
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for _ in range(30):
                    (ticket,) = campaign.ask()
                    found = campaign.tell(ticket.token, 1)
                    assert found is not None
                    assert found.token == ticket.token
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    for _ in range(30):
        (ticket,) = campaign.ask()
        found = campaign.tell(ticket.token, 1)
        assert found is not None
        assert found.token == ticket.token
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
    assert len(told(campaign)) == 121
    client.close()


def test_a_fork_while_another_thread_writes(tmp_path: Path) -> None:
    """The child does not wait for a lock that nobody holds any more."""
    spool, stop = Spool(tmp_path / "outbox.db"), threading.Event()

    def write() -> None:
        place = 0
        while not stop.is_set():
            place += 1
            spool.put("u", "one", f"parent {place}", 1.0)
            time.sleep(0.002)

    thread = threading.Thread(target=write)
    thread.start()
    children = []
    for child in range(5):
        time.sleep(0.01)
        pid = os.fork()
        if pid == 0:
            spool.put("u", "one", f"child {child}", 1.0)
            os._exit(0)
        children.append(pid)
    ended = [os.waitpid(pid, 0)[1] for pid in children]
    stop.set()
    thread.join()
    assert ended == [0] * 5
    tokens = {held.token for held in spool.all_waiting("u")}
    assert {f"child {child}" for child in range(5)} <= tokens


def test_processes_that_open_a_new_outbox_at_once(tmp_path: Path) -> None:
    for turn in range(5):
        path, start = tmp_path / str(turn) / "outbox.db", time.monotonic() + 0.1
        children = []
        for child in range(6):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    time.sleep(max(0.0, start - time.monotonic()))
                    Spool(path).put("u", "one", str(child), 1.0)
                    code = 0
                finally:
                    os._exit(code)
            children.append(pid)
        assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 6
        assert Spool(path).count("u") == 6


# ---------------------------------------------------------------------------------------------
# the file


def test_an_outbox_of_0_3_0_loses_nothing(tmp_path: Path) -> None:
    """It opens; and what 0.3.0 gave up for passing reasons is sent again."""
    path = tmp_path / "spool.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute(OLD_TABLE)
        rows = [(place, "u", "one", f"t{place}", place / 7, None) for place in (3, 5, 9)]
        rows.append((11, "u", "one", "t11", 1.0, "NotAllowed: the token may read"))
        file.executemany("INSERT INTO held VALUES (?, ?, ?, ?, ?, ?)", rows)
        file.commit()
    path.chmod(0o644)
    spool = Spool(path)
    assert [tuple(held) for held in spool.waiting("u")] == [(row[0], *row[2:5]) for row in rows]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    spool.drop("u", "one", "t11", 1.0)
    spool.put("u", "one", "new", 1.0)
    assert spool.waiting("u")[-1].place > 11, "no place is given twice"
    spool.refuse("u", "one", "new", 1.0, "no")
    spool.close()
    assert len(Spool(path).refused("u")) == 1, "only once"


def test_only_the_user_reads_the_outbox(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        spool = Spool(tmp_path / "state" / "outbox.db")
        spool.put("u", "one", "t", 1.0)
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode) for path in spool.path.parent.iterdir()
        }
    finally:
        os.umask(before)
    assert modes["outbox.db"] == 0o600
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(spool.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("how", ["disk", "limit"])
def test_an_outbox_on_a_full_disk(how: str, tmp_path: Path) -> None:
    """tell returns only if the tell is acknowledged or on disk; the service may take it meanwhile."""
    place, up, got = tmp_path / "disk", [False], set[str]()
    place.mkdir()

    def answer(path: str, body: Any) -> Answer:
        if not up[0]:
            return 503, b""
        got.add(body["token"])
        return 200, receipt(body["token"], body["value"])

    with answering(answer) as url, small_disk(place, how) as make_room:
        client = sw.Client(url, spool=place / "outbox.db", patience=0)
        campaign = sw.RemoteCampaign(client, "one")
        returned: list[str] = []

        def fill() -> None:
            for number in range(100_000):
                assert campaign.tell(f"{number:060}", 1) is None
                returned.append(f"{number:060}")

        with pytest.raises(sw.StorageError, match=r"outbox cannot be written.*Tell it again"):
            fill()
        token = f"{len(returned):060}"
        assert len(returned) > 10
        up[0] = True
        found = campaign.tell(token, 1)
        assert found is not None, "the service has it, though the outbox has no room"
        make_room()
        assert client.flush() == 0
        assert got == {*returned, token}
        client.close()


def test_an_outbox_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, however long this text may become " * 50)
    for path in (tmp_path / "text", tmp_path, tmp_path / "text" / "below"):
        with pytest.raises(sw.StorageError, match="the outbox cannot be opened"):
            sw.Client("http://127.0.0.1:1", spool=path)


# ---------------------------------------------------------------------------------------------
# arguments


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("url", url) for url in (
            [], None, 5, b"http://x", "", "x", "ftp://x", "http://", "http://x:99999", "http://[::1",
            "http://x:port", "http://" + "a" * 70, "http://x/a b", "http://x/\n", "http://x/\xe9",
        )),
        *(("token", token) for token in (5, b"x", "a\nb", "\xe9", "\ud800")),
        *(("timeout", seconds) for seconds in (0, -1, "1", None, float("nan"), math.inf, 1e12, True)),
        *(("patience", seconds) for seconds in (-1, "1", None, float("nan"), 10**400)),
        *(("spool", path) for path in (5, [], b"x", "", "a\0b")),
    ],
)  # fmt: skip
def test_bad_arguments_of_a_client(name: str, given: Any, tmp_path: Path) -> None:
    good = {"url": "http://127.0.0.1:1", "spool": tmp_path / "outbox.db"}
    with pytest.raises(sw.BadArgument, match=rf"^{name}: got "):
        sw.Client(**{**good, name: given})


def test_a_bad_token_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(sw.BadArgument) as refused:
        sw.Client("http://127.0.0.1:1", "sw_secret\n", spool=tmp_path / "outbox.db")
    assert "secret" not in str(refused.value)


def test_patience_without_end(tmp_path: Path) -> None:
    answers = [(503, b""), (503, b""), (200, b'[{"name": "one"}]')]
    with answering(lambda path, body: answers.pop(0)) as url:
        client = sw.Client(url, spool=tmp_path / "outbox.db", patience=float("inf"))
        assert client.names() == ["one"]


NAMES = [5, None, "", "a\nb", "x" * 201, "\ud800", b"x"]
CALLS: list[tuple[str, Callable[[Any], Any]]] = [
    *(("name", lambda each, name=name: each.client.open(name)) for name in NAMES),
    *(("name", lambda each, name=name: each.client.create(SPEC, name)) for name in NAMES),
    *(("spec", lambda each, spec=spec: each.client.create(spec, "x")) for spec in (None, [], "x")),
    ("spec", lambda each: each.client.create({**SPEC, "delta": float("nan")}, "x")),
    *(("value", lambda each, v=v: each.tell("t", v)) for v in ("1", None, 10**400, float("nan"))),
    *(("token", lambda each, t=t: each.tell(t, 1)) for t in (5, None, "", "x" * 65, "\ud800")),
    ("token", lambda each: each.record(0, 1, token=5)),
    ("arm", lambda each: each.record(float("nan"), 1)),
    ("n", lambda each: each.ask(float("inf"))),
    ("n", lambda each: each.ask({1, 2})),
    ("lease", lambda each: each.ask(1, float("nan"))),
    ("after", lambda each: each.events(-1)),
    ("after", lambda each: each.events("1&limit=1")),
    ("budget", lambda each: each.change(budget=object())),
]


@pytest.mark.parametrize("place", range(len(CALLS)))
def test_bad_arguments_are_named(place: int, tmp_path: Path) -> None:
    """Before anything is sent or kept."""
    name, call = CALLS[place]
    client = sw.Client("http://127.0.0.1:1", spool=tmp_path / "outbox.db", patience=0)
    with pytest.raises(sw.BadArgument, match=rf"^{name}: got "):
        call(sw.RemoteCampaign(client, "one"))
    assert client.spool.count(client.url) == 0


def test_whole_numbers_beyond_64_bits_are_refused_by_the_service(
    service: Service, tmp_path: Path
) -> None:
    client = sw.Client(service.url, spool=tmp_path / "outbox.db", patience=0)
    campaign = client.create(SPEC, "large")
    for call in (
        lambda: campaign.ask(10**30),
        lambda: campaign.record(10**30, 1),
        lambda: campaign.record(-(10**30), 1),
        lambda: campaign.events(10**30),
        lambda: campaign.tell("t", 10**300),
    ):
        with pytest.raises(sw.StopwiseError):
            call()


# ---------------------------------------------------------------------------------------------
# a record of any length


def test_an_export_reads_the_record_page_by_page(tmp_path: Path) -> None:
    """25,000 events in three pages; one page after the other, and in order."""
    asked: list[int] = []

    def answer(path: str, body: Any) -> Answer:
        if "/events?" not in path:
            return 200, json.dumps(status).encode()
        after, limit = (int(part.partition("=")[2]) for part in path.partition("?")[2].split("&"))
        asked.append(after)
        event = {"kind": "told", "token": "t", "arm": 0, "value": 1.0, "time": 0.0, "late": False}
        numbers = range(after + 1, min(after + limit, 25_000) + 1)
        page = [{**event, "note": "", "actor": "", "number": number} for number in numbers]
        return 200, json.dumps(page).encode()

    status = sw.Campaign.create(SPEC, "memory:", "one").status().to_dict()
    with answering(answer) as url:
        campaign = sw.RemoteCampaign(sw.Client(url, spool=tmp_path / "outbox.db"), "one")
        lines = campaign.export(tmp_path / "record.csv").read_text().splitlines()
        assert len(lines) == 25_001
        assert asked == [0, 10_000, 20_000]
        assert [event.number for event in campaign.events(24_990)] == list(range(24_991, 25_001))


def test_a_service_that_repeats_a_page_ends(tmp_path: Path) -> None:
    event = {"kind": "told", "token": "t", "arm": 0, "value": 1.0, "time": 0.0, "late": False}
    page = [{**event, "note": "", "actor": "", "number": 1}] * 10_000
    with answering(lambda path, body: (200, json.dumps(page).encode())) as url:
        campaign = sw.RemoteCampaign(sw.Client(url, spool=tmp_path / "o.db", patience=0), "one")
        with pytest.raises(sw.StorageAway):
            campaign.events()
