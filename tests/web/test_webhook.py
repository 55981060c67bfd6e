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
from serving import serving
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


@pytest.mark.parametrize(
    ("url", "secret", "words"),
    [
        ("ftp://x", SECRET, "an address such as https"),
        ("http://example.org/hook", SECRET, "https, or http on this machine"),
        ("https://example.org/hook", "short", "at least 16 characters"),
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
