"""What the service does in a second, each figure against a limit: ratios within one run.

The yardstick is a bare loop of SQLite commits, one row each, on the same disk. Clients are connections
of one process beside the service; each asks for some tickets and tells them one by one (in one line of
the report in one request), and a tell counts when its answer is there. Things that are compared take
turns, and the best turn counts. The report never fails: it says which limits are met.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import re
import selectors
import socket
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

TURNS = 3
SECONDS = 3.0  # that a turn lasts
CLIENTS = (1, 8, 32, 128)
TICKETS = 20  # that a client asks for at once
PAGES = 20
LISTED = 100  # campaigns
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


def with_open_pages(port: int, work: Callable[[], float]) -> float:
    """The same with open pages."""
    fork = multiprocessing.get_context("fork")
    begun, over = fork.Event(), fork.Event()
    audience = fork.Process(target=look_on, args=(port, PAGES, begun, over))
    audience.start()
    begun.wait(20)
    time.sleep(1.0)
    try:
        return work()
    finally:
        over.set()
        audience.join()


def tells(folder: Path) -> list[dict[str, Any]]:
    """Durable tells a second beside raw commits; asks; and what open pages cost."""
    from campaigns import coins, raw_sqlite
    from serving import serving
    from stopwise import Campaign

    storage = f"sqlite:///{folder}/bench.db"
    Campaign.create(coins(10), storage, "bench")._store.close()
    commit = raw_sqlite(folder / "raw.db")
    raw: list[float] = []
    best: dict[int, float] = dict.fromkeys(CLIENTS, 0.0)
    batches = 0.0
    waits: list[float] = []
    alone: list[float] = []
    seen: list[float] = []
    with serving(storage, folder, "--log-level", "warning") as service:
        load(service.port, 8, 15.0)  # until rounds are compiled
        for _ in range(TURNS):
            start = time.time()
            raw.append(commit(start + 1.5) / 1.5)
            for clients in CLIENTS:
                best[clients] = max(best[clients], load(service.port, clients)[0])
            waits += load(service.port, 32, batch=1)[1]
            batches = max(batches, load(service.port, 32, together=True)[0])
            alone.append(load(service.port, 8)[0])
            seen.append(with_open_pages(service.port, lambda: load(service.port, 8)[0]))
    found: list[dict[str, Any]] = [
        {"name": "raw commits of one process", "measured": max(raw), "unit": " a second"}
    ]
    for clients, rate in best.items():
        ratio = f"{rate:.0f} durable tells a second; times the rate of raw commits"
        limit = {"limit": 8.0, "at_least": True} if clients == 32 else {}
        found.append({"name": f"{clients} clients: {ratio}", "measured": rate / max(raw), **limit})
    name = f"32 clients, {TICKETS} in a request: {batches:.0f} durable tells a second; times raw"
    found.append({"name": name, "measured": batches / max(raw)})
    slowest = quantiles(waits, n=100)[98]
    return [
        *found,
        {"name": "32 clients that ask and tell in turn: ask, p99", "measured": slowest, "limit": 50.0,
         "unit": " ms"},
        {"name": f"{PAGES} open pages: tells of 8 clients are slower by",
         "measured": 100.0 * (1.0 - max(seen) / max(alone)), "limit": 10.0, "unit": " %"},
    ]  # fmt: skip


def reads(folder: Path) -> list[dict[str, Any]]:
    """One campaign, a list of many, and an explanation, each after a new event."""
    from campaigns import coins, simulated
    from serving import serving
    from stopwise import Campaign

    storage = f"sqlite:///{folder}/bench.db"
    simulated(folder / "bench.db", 30, 200_000)
    for place in range(LISTED - 1):
        campaign = Campaign.create(coins(10), storage, f"campaign {place}")
        with campaign.together():
            for k in range(40):
                campaign.record(k % 10, float(k % 3 == 0))
        campaign._store.close()
    paths = {"": 10.0, "/page": None, "/explain": 50.0}
    times: dict[str, list[float]] = {path: [] for path in ["list", *paths]}
    with serving(storage, folder, "--log-level", "warning") as service:
        address = f"{service.url}/api/campaigns"
        fetch(address)
        for turn in range(21):
            for path in paths:
                body = json.dumps({"arm": turn % 30, "value": turn % 2}).encode()
                fetch(f"{address}/bench/record", body)
                times[path].append(fetch(f"{address}/bench{path}"))
            times["list"].append(fetch(address))
        for place in range(LISTED - 1):
            fetch(f"{address}/campaign%20{place}/record", b'{"arm": 0, "value": 1}')
        times["list, all new"] = [0.0, fetch(address)]
    first = [{"name": "30 arms, 100,000 samples: the first explanation after the start",
              "measured": 1e3 * times["/explain"][0], "unit": " ms"}]  # fmt: skip
    ms = {path: 1e3 * median(each[1:]) for path, each in times.items()}
    return first + [
        {"name": f"30 arms, 100,000 samples: GET{path or ' of the campaign'}", "measured": ms[path],
         "limit": limit, "unit": " ms"}
        for path, limit in paths.items()
    ] + [
        {"name": f"a list of {LISTED} campaigns, {new} with new events", "measured": ms[key],
         "limit": 200.0, "unit": " ms"}
        for key, new in {"list": "one", "list, all new": "all"}.items()
    ]  # fmt: skip


def fetch(address: str, body: bytes | None = None) -> float:
    """How long an answer takes, in seconds."""
    start = time.perf_counter()
    request = urllib.request.Request(address, body, {"content-type": "application/json"})
    with closing(urllib.request.urlopen(request, timeout=300)) as answer:
        answer.read()
    return time.perf_counter() - start


def page(folder: Path) -> list[dict[str, Any]]:
    """The page of a campaign of a million events: size, and time until something is seen."""
    from browser import browser
    from campaigns import EVENTS, simulated
    from serving import serving

    simulated(folder / "long.db", 10, EVENTS)
    with serving(f"sqlite:///{folder}/long.db", folder, "--log-level", "warning") as service:
        times, size = [], 0
        for _ in range(2):
            start = time.perf_counter()
            address = f"{service.url}/api/campaigns/bench/page"
            with closing(urllib.request.urlopen(address, timeout=300)) as answer:
                size = len(answer.read())
            times.append(time.perf_counter() - start)
        with browser() as chromium:
            window = chromium.new_page()
            window.goto(f"{service.url}/")
            window.goto(f"{service.url}/#/campaign/bench")
            window.reload()
            window.locator(".stats").wait_for()
            whole = window.evaluate("performance.now()")
            paint = window.evaluate(
                "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            )
    return [
        {"name": "a million events: one update of the page", "measured": size / 1000,
         "limit": 100.0, "unit": " kB"},
        {"name": "a million events: first update after the start", "measured": times[0],
         "unit": " s"},
        {"name": "a million events: next update", "measured": 1e3 * times[1], "unit": " ms"},
        {"name": "first paint", "measured": paint, "limit": 1000.0, "unit": " ms"},
        {"name": "all panels shown", "measured": whole, "unit": " ms"},
    ]  # fmt: skip


if __name__ == "__main__":
    from campaigns import main

    main(__file__, {"tells": tells, "reads": reads, "page": page})
