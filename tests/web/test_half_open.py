"""Connections that do nothing are closed after a while, and meanwhile hold nobody up."""

from __future__ import annotations

import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import stopwise as sw
from postgres import Server
from serving import SPEC, Service, send, serving, until
from stopwise.web.connections import BODY, HALF_OPEN, HEADERS

STREAMS, WAITING, TELLS = 500, 700, 200
POST = (
    b"POST /api/campaigns/load/tell HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: 50\r\n\r\n"
)
GET = b"GET /health HTTP/1.1\r\nhost: localhost\r\n"
FIRST = {  # what is sent at once; then a byte now and then, if it is not complete in itself
    "silence": b"",
    "a header": GET,
    "a body": POST + b"{",
    "empty lines": GET + b"\r\n" + b"\r\n",  # after a request that is answered
    "a body that is refused": POST.replace(b"application/json", b"text/plain") + b"{",
}
MORE = {"a header": b"x", "a body": b" ", "empty lines": b"\r\n", "a body that is refused": b" "}


@contextmanager
def few_files(storage: str, folder: Path) -> Iterator[Service]:
    """A service that starts with the usual limit on open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, soft), hard))
    try:
        with serving(storage, folder, "--log-level", "warning") as found:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))  # for this side
            yield found
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with few_files(f"sqlite:///{tmp_path}/s.db", tmp_path) as found:
        yield found


def connect(service: Service, first: bytes) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", service.port), timeout=120)
    if first:
        line.sendall(first)
    return line


def meter(service: Service, name: str) -> int:
    found = re.search(
        rf"^{name} (\S+)$", send(service, "GET", "/metrics")[2].decode(), re.MULTILINE
    )
    assert found
    return int(float(found[1]))


def gone(line: socket.socket, more: bytes = b"") -> bool:
    """Whether the other side has closed; if not, it gets another byte."""
    line.setblocking(False)
    try:
        while line.recv(10_000):
            pass
    except BlockingIOError:
        return not _takes(line, more)
    except ConnectionError:
        return True
    return True


def _takes(line: socket.socket, more: bytes) -> bool:
    try:
        line.send(more)
    except ConnectionError:
        return False
    return True


def test_half_open_connections_time_out(service: Service) -> None:
    lines = {kind: connect(service, first) for kind, first in FIRST.items()}
    alive, start = set(lines), time.monotonic()
    while alive and time.monotonic() < start + 120:
        alive -= {kind for kind in alive if gone(lines[kind], MORE.get(kind, b""))}
        time.sleep(0.25)
    assert not alive
    assert time.monotonic() > start + min(HEADERS, BODY), "not before their time"
    assert meter(service, "stopwise_timed_out") == len(lines)
    assert meter(service, "stopwise_half_open") == 0
    for line in lines.values():
        line.close()


def tells_go_on(service: Service, folder: Path) -> None:
    """Beside idle streams and half-open connections, each tell is taken at its first attempt."""
    client = sw.Client(service.url, spool=folder / "spool.db", patience=0)
    campaign = client.create({**SPEC, "delta": 1e-12}, "load")
    stream = b"GET /api/campaigns/load/stream HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with ExitStack() as stack:
        streams = [stack.enter_context(connect(service, stream)) for _ in range(STREAMS)]
        until(lambda: meter(service, "stopwise_listeners") == STREAMS)
        firsts = (FIRST["a header"], FIRST["a body"])
        waiting = [stack.enter_context(connect(service, firsts[k % 2])) for k in range(WAITING)]
        most, told, start = meter(service, "stopwise_half_open"), 0, time.monotonic()
        assert most > WAITING / 2  # all, unless some took too long to open and have gone again
        while told < TELLS:
            for ticket in campaign.ask(20):
                assert campaign.tell(ticket.token, 1) is not None
                told += 1
        rate = told / (time.monotonic() - start)
        print(f"\n{most} half open, {STREAMS} streams: {rate:.0f} tells a second")
        until(lambda: all(map(gone, waiting)))
        assert meter(service, "stopwise_listeners") == STREAMS
        assert not any(map(gone, streams))
        assert meter(service, "stopwise_half_open") == 0
    client.close()


def test_tells_go_on(service: Service, tmp_path: Path) -> None:
    tells_go_on(service, tmp_path)


@pytest.mark.slow
def test_tells_go_on_with_postgresql(server: Server, tmp_path: Path) -> None:
    with few_files(server.fresh(), tmp_path) as service:
        tells_go_on(service, tmp_path)


def test_so_many_may_wait_at_once(service: Service) -> None:
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(service, b"GET")) for _ in range(HALF_OPEN + 100)]
        assert send(service, "GET", "/health")[0] == 200
        assert meter(service, "stopwise_half_open") <= HALF_OPEN
        until(lambda: all(map(gone, lines[:50])))
