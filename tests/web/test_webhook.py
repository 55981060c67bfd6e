"""Decisions are told to another service: signed, once, again after failures, and not for ever."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from postgres import Server
from serving import serving
from stopwise.campaign.errors import StorageAway
from stopwise.campaign.storage.store import Store
from stopwise.web import webhook
from stopwise.web.webhook import Webhook

SECRET = "a secret of some length"
SPEC = {
    "question": "best-arm",
    "arms": ["A", "B"],
    "family": {"kind": "gaussian", "variance": 1},
    "delta": 0.1,
}


class Receiver(HTTPServer):
    """Keeps what it gets, and answers as it is told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.came = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?x=1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Receiver)
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 204)
        self.end_headers()
        self.server.came.set()

    def log_message(self, *_: Any) -> None:
        """Not a word."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()


def decide(store: Store | str, name: str) -> sw.Campaign:
    campaign = sw.Campaign.create(SPEC, store, name)
    while campaign.decision is None:
        campaign.record(0, 0.0)
        campaign.record(1, 5.0)
    return campaign


def test_a_decision_is_told_once_and_signed(receiver: Receiver) -> None:
    store = Store("memory:")
    decide(store, "before")
    hook = Webhook(store, receiver.url, SECRET)
    assert hook.look() == 0, "decisions of the past are not told"
    campaign = decide(store, "after")
    sw.Campaign.create(SPEC, store, "running")
    assert (hook.look(), hook.look(), Webhook(store, receiver.url, SECRET).look()) == (1, 0, 0)
    ((headers, body),) = receiver.got
    assert campaign.decision is not None
    assert json.loads(body) == {"campaign": "after", "decision": campaign.decision._asdict()}
    signed = headers["x-stopwise-time"].encode() + b"." + body
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["x-stopwise-signature"] == f"sha256={expected}"


def test_failures_are_tried_again_and_given_up(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1e9
    monkeypatch.setattr("stopwise.web.webhook.time.time", lambda: now)
    store = Store("memory:")
    hook = Webhook(store, receiver.url, SECRET)
    decide(store, "first")
    receiver.answers = [500, 302, 204]
    assert (hook.look(), hook.look()) == (0, 0), "not again at once"
    for waited, arrived in ((2.0, 0), (3.0, 0), (1.0, 1), (1000.0, 0)):
        now += waited
        assert hook.look() == arrived
    assert len(receiver.got) == 3
    decide(store, "second")
    receiver.answers = [503] * 100
    for _ in range(30):
        now += 5000.0
        assert hook.look() == 0
    assert len(receiver.got) == 3 + webhook.TRIES


def test_two_services_tell_once(receiver: Receiver, server: Server) -> None:
    """Both have seen what is to be told before either tells it."""
    storage = server.fresh()
    hooks = [Webhook(Store(storage), receiver.url, SECRET) for _ in range(2)]
    names = [f"campaign {k}" for k in range(20)]
    for name in names:
        decide(Store(storage), name)
    both = threading.Barrier(2)

    def look(hook: Webhook) -> None:
        news = hook._news()
        both.wait(60)
        hook._news = lambda: news  # type: ignore[method-assign]
        hook.look()

    threads = [threading.Thread(target=look, args=(hook,)) for hook in hooks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(json.loads(body)["campaign"] for _, body in receiver.got) == sorted(names)


def test_whoever_claims_and_dies_is_replaced(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1e9
    monkeypatch.setattr("stopwise.web.webhook.time.time", lambda: now)
    store = Store("memory:")
    dead, other = (Webhook(store, receiver.url, SECRET) for _ in range(2))
    decide(store, "first")
    (news,) = dead._news()
    assert dead._claimed(news)
    assert not other._claimed(news)
    assert other.look() == 0
    now += webhook.CLAIMED + 1.0
    assert other.look() == 1
    assert len(receiver.got) == 1


def test_the_thread_goes_on_after_any_error(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(webhook, "EVERY", 0.01)
    store = Store("memory:")
    hook = Webhook(store, receiver.url, SECRET)
    errors = iter([ValueError("port"), KeyError("x"), StorageAway("away")])
    look, seen = hook.look, threading.Event()

    def first_fails() -> int:
        for error in errors:
            raise error
        seen.set()
        return look()

    monkeypatch.setattr(hook, "look", first_fails)
    decide(store, "first")
    hook.start()
    assert seen.wait(60)
    assert receiver.came.wait(60)
    assert sum("Traceback" in line for line in caplog.messages) == 2


def test_hosts_that_have_no_address_are_tried_again() -> None:
    store = Store("memory:")
    hook = Webhook(store, f"https://{'x' * 70}.example/", SECRET)  # no such name can be encoded
    decide(store, "first")
    assert hook.look() == 0
    assert hook._news() == [], "later"


@pytest.mark.parametrize(
    ("url", "secret", "words"),
    [
        ("ftp://x", SECRET, "an address such as https"),
        ("http://example.org/hook", SECRET, "https, or http on this machine"),
        ("https://example.org/hook", "short", "at least 16 characters"),
        ("https://example.org:99999/hook", SECRET, "an address such as https"),
        ("https://example.org:port/hook", SECRET, "an address such as https"),
        ("http://127.0.0.1:0/", SECRET, "an address such as https"),
        ("http://[::1/hook", SECRET, "an address such as https"),
        ("https://example.org/a b", SECRET, "an address such as https"),
        ("https://example.org/a\r\nx: y", SECRET, "an address such as https"),
    ],
)
def test_what_is_refused(url: str, secret: str, words: str) -> None:
    with pytest.raises(sw.BadArgument, match=words):
        Webhook(Store("memory:"), url, secret)


def test_the_service_tells(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of what a local process decides."""
    monkeypatch.setenv("STOPWISE_WEBHOOK_SECRET", SECRET)
    storage = f"sqlite:///{tmp_path}/hooked.db"
    with serving(storage, tmp_path, "--webhook", receiver.url):
        decide(storage, "local")
        assert receiver.came.wait(60)
    assert json.loads(receiver.got[0][1])["campaign"] == "local"
