"""Clients of the service for benchmarks: workers, and open pages, as connections of one process."""

from __future__ import annotations

import functools
import http.client
import itertools
import json
import multiprocessing
import re
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

SECONDS = 3.0  # that a turn lasts
TICKETS = 20  # that a client asks for at once
PAGES = 20
STREAMS = 300
AGAIN = re.compile(rb'"again": ([\d.]+)')
ADDRESSES = itertools.cycle(range(2, 250))
JSON_HEADERS = "host: 127.0.0.1\r\ncontent-type: application/json\r\n"


class Line:
    """One connection, one request at a time."""

    def __init__(self, port: int) -> None:
        # each has an address of its own: one address may not send more than 2,000 requests a second
        source = (f"127.0.0.{next(ADDRESSES)}", 0)
        self.socket = socket.create_connection(("127.0.0.1", port), source_address=source)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._got = b""
        self.sent = 0.0

    def post(self, path: str, body: str) -> None:
        """Send a request."""
        head = f"POST {path} HTTP/1.1\r\n{JSON_HEADERS}content-length: {len(body)}\r\n\r\n"
        self._got, self.sent = b"", time.perf_counter()
        self.socket.sendall((head + body).encode())

    def answer(self) -> bytes | None:
        """The body, once it is there whole."""
        self._got += self.socket.recv(1 << 16)
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found:
            return None
        assert head.startswith(b"HTTP/1.1 200"), self._got
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        return body if len(body) >= length else None


class Worker(Line):
    """Asks for tickets and tells them one by one, or all together."""

    def __init__(self, port: int, batch: int, together: bool) -> None:
        super().__init__(port)
        self.batch, self.together = batch, together
        self.tickets: list[str] = []
        self.asking = False

    def go_on(self) -> None:
        """The next request."""
        self.asking = not self.tickets
        if self.asking:
            self.post("/api/campaigns/bench/ask", f'{{"n": {self.batch}}}')
            return
        value = time.perf_counter_ns() // 1000 % 2
        taken = self.tickets if self.together else self.tickets[:1]
        self.tickets = self.tickets[len(taken) :]
        tells = [f'{{"token": "{token}", "value": {value}}}' for token in taken]
        if self.together:
            self.post("/api/campaigns/bench/tells", f'{{"tells": [{", ".join(tells)}]}}')
        else:
            self.post("/api/campaigns/bench/tell", tells[0])


def load(
    port: int,
    clients: int,
    seconds: float = SECONDS,
    batch: int = TICKETS,
    together: bool = False,
) -> tuple[float, list[float]]:
    """Tells a second by so many clients, and how long each ask took, in milliseconds."""
    workers, tells, asks = [Worker(port, batch, together) for _ in range(clients)], 0, []
    with selectors.DefaultSelector() as ready:
        for worker in workers:
            ready.register(worker.socket, selectors.EVENT_READ, worker)
            worker.go_on()
        start = time.perf_counter()
        while ready.get_map():
            for key, _ in ready.select(1.0):
                worker = key.data
                body = worker.answer()
                if body is None:
                    continue
                over = time.perf_counter() > start + seconds
                if worker.asking:
                    worker.tickets = [each["token"] for each in json.loads(body)]
                    asks.append(1e3 * (time.perf_counter() - worker.sent))
                elif not over:
                    tells += batch if together else 1
                if over and not worker.tickets:  # others would wait for what it leaves untold
                    ready.unregister(worker.socket)
                    worker.socket.close()
                else:
                    worker.go_on()
    return tells / seconds, asks


def look_on(port: int, pages: int, begun: Any, over: Any) -> None:
    """So many open pages: each listens, and loads its data anew on news, as often as it may."""
    get = "GET /api/campaigns/bench/{} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with selectors.DefaultSelector() as ready:
        due, again = {}, 1.0
        for place in range(pages):
            stream = socket.create_connection(("127.0.0.1", port))
            stream.sendall(get.format("stream").encode())
            page = socket.create_connection(("127.0.0.1", port))
            ready.register(stream, selectors.EVENT_READ, page)
            ready.register(page, selectors.EVENT_READ, None)
            due[page] = time.monotonic() + place / pages
        begun.set()
        while not over.is_set():
            for key, _ in ready.select(0.1):
                assert isinstance(key.fileobj, socket.socket)
                got = key.fileobj.recv(1 << 17)
                if key.data is None:
                    again = float((AGAIN.findall(got) or [again])[0])
                if key.data is not None and time.monotonic() > due[key.data]:
                    due[key.data] = time.monotonic() + again
                    key.data.sendall(get.format("page").encode())


def read_events(port: int, begun: Any, over: Any) -> None:
    """One reader of long pieces of the record, again and again."""
    begun.set()
    while not over.is_set():
        request(port, "GET", "/api/campaigns/bench/events?limit=10000")


def tell_many(port: int, begun: Any, over: Any) -> None:
    """A worker of a campaign with very many arms, 1,000 tells in a request."""
    begun.set()
    while not over.is_set():
        tickets = request(port, "POST", "/api/campaigns/wide/ask", {"n": 1000})
        tells = [{"token": each["token"], "value": 1} for each in tickets]
        request(port, "POST", "/api/campaigns/wide/tells", {"tells": tells})


def listen(port: int, begun: Any, over: Any) -> None:
    """Open streams."""
    get = b"GET /api/campaigns/bench/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with selectors.DefaultSelector() as ready:
        for _ in range(STREAMS):
            line = socket.create_connection(("127.0.0.1", port))
            line.sendall(get)
            ready.register(line, selectors.EVENT_READ)
        begun.set()
        while not over.is_set():
            for key, _ in ready.select(0.1):
                assert isinstance(key.fileobj, socket.socket)
                assert key.fileobj.recv(1 << 17)


def request(port: int, method: str, path: str, body: Any = None) -> Any:
    """The answer, as JSON."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    text = None if body is None else json.dumps(body)
    line.request(method, path, text, {"content-type": "application/json"})
    answer = line.getresponse()
    found = answer.read()
    line.close()
    assert answer.status in (200, 201), found
    return json.loads(found)


def with_open_pages(port: int, work: Callable[[], float]) -> float:
    """The same with open pages."""
    return beside([functools.partial(look_on, port, PAGES)], work)


def beside(neighbours: Sequence[Callable[[Any, Any], None]], work: Callable[[], float]) -> float:
    """The same beside others, each in a process of its own."""
    fork = multiprocessing.get_context("fork")
    over, others = fork.Event(), []
    for each in neighbours:
        begun = fork.Event()
        others.append(fork.Process(target=each, args=(begun, over), daemon=True))
        others[-1].start()
        begun.wait(20)
    time.sleep(1.0)
    try:
        return work()
    finally:
        over.set()
        for each in others:
            each.join(2.0)
            each.kill()
            each.join()
