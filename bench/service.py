"""What the service does in a second, each figure against a limit: ratios within one run.

The yardstick is a bare loop of SQLite commits, one row each, on the same disk. Clients are connections
of one process beside the service; each asks for some tickets and tells them one by one (in one line of
the report in one request), and a tell counts when its answer is there. Things that are compared take
turns, and the best turn counts. The report never fails: it says which limits are met.

``--against FOLDER``: beside the service of an older checkout, turn by turn in one run.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from unittest.mock import patch

from clients import (
    PAGES,
    SECONDS,
    STREAMS,
    TICKETS,
    beside,
    listen,
    load,
    read_events,
    request,
    tell_many,
    with_open_pages,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

TURNS = 3
CLIENTS = (1, 8, 32, 128)
LISTED = 100  # campaigns
WIDE = 2000  # arms of the busy campaign
OLDER = "STOPWISE_OLDER"  # names the folder of an older checkout


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


def neighbours(folder: Path) -> list[dict[str, Any]]:
    """What 8 clients keep of their rate beside others, turn by turn."""
    from campaigns import coins
    from serving import serving

    others = {
        "one reader of events": [read_events],
        "eight readers of events": [read_events] * 8,
        f"a busy campaign of {WIDE:,} arms": [tell_many],
        f"{STREAMS} open streams": [listen],
        "one reader, the busy campaign and the streams": [read_events, tell_many, listen],
    }
    alone: list[float] = []
    kept: dict[str, list[float]] = {name: [] for name in others}
    with serving(f"sqlite:///{folder}/bench.db", folder, "--log-level", "warning") as service:
        port = service.port
        for name, arms in (("bench", 10), ("wide", WIDE)):
            request(port, "POST", "/api/campaigns", {"name": name, "spec": coins(arms)})
        load(port, 8, 15.0)  # until rounds are compiled
        (ticket,) = request(port, "POST", "/api/campaigns/wide/ask", {})
        tell = {"token": ticket["token"], "value": 1}
        request(port, "POST", "/api/campaigns/wide/tell", tell)
        for _ in range(TURNS):
            alone.append(load(port, 8)[0])
            for name, some in others.items():
                each = [functools.partial(other, port) for other in some]
                kept[name].append(beside(each, lambda: load(port, 8)[0]))
                until_idle(service.url)
    return [
        {"name": f"8 clients beside {name}: {median(rates):.0f} tells a second, "
         f"{median(alone):.0f} alone; they keep",
         "measured": 100.0 * median(rates) / median(alone),
         "limit": 60.0, "at_least": True, "unit": " %"}
        for name, rates in kept.items()
    ]  # fmt: skip


def until_idle(url: str) -> None:
    """What others have left behind is done."""
    waiting = True
    while waiting:
        time.sleep(0.1)
        with closing(urllib.request.urlopen(f"{url}/metrics", timeout=300)) as answer:
            waiting = b"stopwise_waiting 0.0" not in answer.read()


def against(folder: Path) -> list[dict[str, Any]]:
    """Tells of 1, 8 and 32 clients: this service beside that of an older checkout."""
    with ExitStack() as services:
        both = [
            services.enter_context(serving_from(tree, folder / f"{place}"))
            for place, tree in enumerate((Path(os.environ[OLDER]), Path(__file__).parents[1]))
        ]
        for service in both:
            load(service.port, 8, 15.0)  # until rounds are compiled
        return [line for clients in (1, 8, 32) for line in turn_by_turn(both, clients)]


def turn_by_turn(both: list[Any], clients: int) -> list[dict[str, Any]]:
    """The older service, then the newer one, again and again."""
    rates: list[list[float]] = [[], []]
    used = [0.0, 0.0]
    for turn, step in itertools.product(range(4 * TURNS), range(2)):
        place = (turn + step) % 2  # neither is always the first
        before = cpu_seconds(both[place].process.pid)
        rates[place].append(load(both[place].port, clients)[0])
        used[place] += cpu_seconds(both[place].process.pid) - before
    best, cost = (
        [max(each) for each in rates],
        [u / sum(r) for u, r in zip(used, rates, strict=True)],
    )
    pairs = [new / old for old, new in zip(*rates, strict=True)]
    shown = f"{best[1]:.0f} durable tells a second, {best[0]:.0f} with the older service; times"
    micro = [1e6 * each / SECONDS for each in cost]
    return [
        {"name": f"{clients} clients: {shown}", "measured": best[1] / best[0], "limit": 0.97,
         "at_least": True},
        {"name": f"{clients} clients: the median of the turns, times", "measured": median(pairs)},
        {"name": f"CPU of a tell: {micro[1]:.0f} microseconds, {micro[0]:.0f} with the older one; times",
         "measured": cost[0] / cost[1]},
    ]  # fmt: skip


@contextmanager
def serving_from(tree: Path, folder: Path) -> Iterator[Any]:
    """The service of a checkout, with a campaign."""
    from campaigns import coins
    from serving import serving

    folder.mkdir()
    with patch.dict(os.environ, {"PYTHONPATH": str(tree / "src")}):
        service = serving(f"sqlite:///{folder}/bench.db", folder, "--log-level", "warning")
        with service as found:
            body = json.dumps({"name": "bench", "spec": coins(10)}).encode()
            fetch(f"{found.url}/api/campaigns", body)
            yield found


def cpu_seconds(process: int) -> float:
    """What a process has used, in user and system mode."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


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

    if sys.argv[1:2] == ["--against"]:
        os.environ[OLDER] = str(Path(sys.argv[2]).resolve())
        sys.argv[1:] = ["against"]
    compared = OLDER in os.environ
    parts = {"tells": tells, "neighbours": neighbours, "reads": reads, "page": page}
    main(__file__, {"against": against} if compared else parts)
