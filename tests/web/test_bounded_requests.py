"""What one connection makes the service hold is bounded, before anybody knows whose it is."""

from __future__ import annotations

import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import stopwise as sw
from serving import SPEC, Service, send, serving, until
from stopwise.web.connections import FIELDS, HEAD, PIPELINED, UNREAD

GET = b"GET /health HTTP/1.1\r\nhost: localhost\r\n"
CHUNKED = (
    b"POST /api/campaigns/one/ask HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
MUCH = 20 * HEAD
ENDLESS = {
    "one header": GET + b"x: " + b"y" * MUCH,
    "the name of a header": GET + b"y" * MUCH,
    "many headers": GET + b"".join(b"x%d: y\r\n" % k for k in range(MUCH // 8)),
    "tiny headers": GET + b"x:\r\n" * (MUCH // 4),
    "the address": b"GET /" + b"y" * MUCH,
    "the method": b"Y" * MUCH,
    "empty lines": b"\r\n" * MUCH,
    "a trailer": CHUNKED + b"0\r\nx: " + b"y" * MUCH,
    "many trailers": CHUNKED + b"0\r\n" + b"x:\r\n" * (MUCH // 4),
    "an extension of a chunk": CHUNKED + b"1;x=" + b"y" * MUCH,
    "requests ahead of their answers": (GET + b"\r\n") * 20_000,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("bounded")
    storage = f"sqlite:///{folder}/s.db"
    campaign = sw.Campaign.create({**SPEC, "question": "best-arm", "delta": 1e-12}, storage, "one")
    with campaign.together():
        for k in range(20_000):
            campaign.record(k % 2, 1)
    with serving(storage, folder, "--log-level", "warning") as found:
        yield found


def memory(service: Service) -> int:
    """Bytes that the service holds."""
    text = Path(f"/proc/{service.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    assert found
    return 1000 * int(found[1])


def pushed(service: Service, data: bytes) -> tuple[int, bytes]:
    """How much is taken before the other side closes, and the first that it says."""
    line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    taken, said = 0, b""
    with line:
        try:
            while taken < len(data):
                taken += line.send(data[taken : taken + 10_000])
                time.sleep(0.0005)
            said = line.recv(100)
            while line.recv(100_000):
                pass
        except ConnectionError:
            pass
    return taken, said


@pytest.mark.parametrize("what", ENDLESS)
def test_what_comes_before_a_request_is_bounded(service: Service, what: str) -> None:
    pushed(service, ENDLESS[what])  # closed: or else this never ends
    assert send(service, "GET", "/health")[0] == 200


def test_refused_heads_are_told_why(service: Service) -> None:
    for head in (b"x: " + b"y" * (HEAD + 1), b"x:\r\n" * (FIELDS + 1)):
        line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
        with line:
            line.sendall(GET + head + b"\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 431 ")
    line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    with line:
        line.sendall(b"\x16\x03\x01 not HTTP\r\n\r\n")
        said = line.recv(1000)
        assert said.startswith(b"HTTP/1.1 400 ")
        assert b'{"error": "BadRequest"' in said


def test_large_heads_that_are_allowed_pass(service: Service) -> None:
    fields = b"".join(b"x%d: %s\r\n" % (k, b"y" * 600) for k in range(FIELDS - 1))
    assert len(fields) < HEAD
    line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    with line:
        line.sendall((GET + b"\r\n") * (PIPELINED // 2) + GET + fields + b"\r\n")
        got = b""
        while got.count(b"HTTP/1.1 200") < PIPELINED // 2 + 1:
            more = line.recv(100_000)
            assert more
            got += more


def test_small_chunks_pass(service: Service) -> None:
    """A body of 200 kB in pieces of 10 bytes: their lengths take more than a head may."""
    line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    with line:
        line.sendall(CHUNKED + b"a\r\n          \r\n" * 20_000 + b"2\r\n{}\r\n0\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 200")


def test_a_trailer_is_no_header(service: Service) -> None:
    line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    with line:
        line.sendall(CHUNKED + b"2\r\n{}\r\n0\r\nhost: evil.example\r\norigin: x\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 200")


def test_memory_of_many_endless_headers(service: Service) -> None:
    before = memory(service)
    with ExitStack() as stack:
        for _ in range(20):
            line = socket.create_connection(("127.0.0.1", service.port), timeout=60)
            stack.enter_context(line)
            try:
                for _ in range(100):
                    line.sendall(GET + b"x: " + b"y" * 100_000)
            except ConnectionError:
                pass
        grown = memory(service) - before
    print(f"\n20 connections with up to 10 MB of headers each: {grown / 1e6:.0f} MB more")
    assert grown < 100e6


def test_answers_that_nobody_reads(service: Service) -> None:
    """They are not kept, and their connections are closed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    path = b"/api/campaigns/one/events?limit=10000"
    before = memory(service)
    with ExitStack() as stack:
        lines = []
        for _ in range(60):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 10_000)
            line.connect(("127.0.0.1", service.port))
            stack.enter_context(line)
            line.sendall(b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n" % path * 5)
            lines.append(line)
        time.sleep(2.0)
        print(f"\n60 unread answers: {(memory(service) - before) / 1e6:.0f} MB more")
        assert send(service, "GET", "/health")[0] == 200

        def all_gone() -> bool:
            return _connections(service) <= 1

        until(all_gone, 60 + 3 * UNREAD)
        assert send(service, "GET", path.decode())[0] == 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _connections(service: Service) -> int:
    """Sockets that the process has, but for the one that listens."""
    found = Path(f"/proc/{service.process.pid}/net/tcp").read_text().splitlines()[1:]
    here = f"{service.port:04X}"
    return sum(line.split()[1].endswith(f":{here}") and line.split()[3] == "01" for line in found)
