"""What durability costs a campaign, each against a limit: ratios within one run.

The yardstick is a bare loop of commits, one small row each, with the same driver and settings and as
many processes; an ask and its tell are two commits. Things that are compared take turns, and the best
turn of each counts. PostgreSQL is a temporary server of its own (left out where none is installed).
The report never fails: it says which limits are met. Measurements run in processes of their own: the
other reports register a family, which switches the cache on disk off.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

TURNS = 3
SECONDS = 1.5  # that a turn lasts
MANY = 16
EVENTS = 1_000_000
ROW = "INSERT INTO raw (token, arm, value, time) VALUES ({0}, {0}, {0}, {0})"
TABLE = "CREATE TABLE IF NOT EXISTS raw (token TEXT, arm INTEGER, value FLOAT, time FLOAT)"
Parts = dict[str, Callable[[Path], list[dict[str, Any]]]]
Work = Callable[[float], int]  # works until this moment, and says how often it did


def coins(arms: int) -> dict[str, Any]:
    """A question that a bench does not decide."""
    labels = [f"arm {k}" for k in range(arms)]
    return {"question": "best-arm", "arms": labels, "family": "bernoulli", "delta": 1e-300}


# --------------------------------------------------------------------------- how many a second


def in_processes(count: int, prepare: Callable[[], Work]) -> float:
    """How often so many processes do their work in a second, all together."""
    ends, pids = [], []
    start = time.time() + 0.3 + 0.05 * count
    for _ in range(count):
        out, into = os.pipe()
        pid = os.fork()
        if pid == 0:
            work = prepare()
            time.sleep(max(0.0, start - time.time()))
            os.write(into, str(work(start + SECONDS)).encode())
            os._exit(0)
        os.close(into)
        ends.append(out)
        pids.append(pid)
    total = 0
    for out, pid in zip(ends, pids, strict=True):
        with os.fdopen(out) as file:
            total += int(file.read() or 0)
        os.waitpid(pid, 0)
    return total / SECONDS


def raw_sqlite(path: Path) -> Work:
    """Commits of one row each, with a campaign's settings."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(TABLE)

    def work(end: float) -> int:
        done = 0
        while True:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(ROW.format("?"), ("x" * 22, 1, 0.5, time.time()))
            connection.execute("COMMIT")
            done += 1
            if time.time() >= end:
                return done

    return work


def raw_postgresql(address: str) -> Work:
    """The same on a server."""
    import psycopg

    connection = psycopg.connect(address.replace("+psycopg", ""))
    row = ROW.format("%s").encode()

    def work(end: float) -> int:
        done = 0
        while time.time() < end:
            connection.execute(row, ("x" * 22, 1, 0.5, time.time()))
            connection.commit()
            done += 1
        return done

    return work


def pairs(address: str) -> Work:
    """Asks and tells: two commits each."""
    from stopwise import Campaign

    campaign = Campaign.open("bench", address)

    def work(end: float) -> int:
        done = 0
        while time.time() < end:
            (ticket,) = campaign.ask()
            campaign.tell(ticket.token, float(time.time_ns() // 1000 % 2))
            done += 1
        return done

    return work


def rates(kind: str, folder: Path) -> list[dict[str, Any]]:
    """Commits a second, raw and by campaigns, for one process and for many."""
    from stopwise import Campaign
    from stopwise.campaign import rounds

    if kind == "SQLite":
        address, raw = f"sqlite:///{folder}/bench.db", lambda: raw_sqlite(folder / "raw.db")
        raw_sqlite(folder / "raw.db")
    else:
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
        from postgres import Server

        server = Server()
        address, raw = server.fresh(), lambda: raw_postgresql(address)
        with server.connect(address.rsplit("/", 1)[1]) as connection:
            connection.execute(TABLE.encode())
    campaign = Campaign.create(coins(10), address, "bench")
    # workers that have been there for a while
    rounds.rounds_of(campaign.spec.design).compile(campaign.spec.design)
    campaign._store.close()
    found = []
    for count in (1, MANY):
        bare, ours = [], []
        for _ in range(TURNS):
            bare.append(in_processes(count, raw))
            ours.append(in_processes(count, lambda: pairs(address)))
        ratio = 2.0 * max(ours) / max(bare)
        name = f"{kind}, {count} process{'es' if count > 1 else ''}: durable asks and tells"
        said = f"{max(ours):.0f} pairs/s beside {max(bare):.0f} raw commits/s; of the raw rate"
        found.append({"name": f"{name}, {said}", "measured": ratio, "limit": 0.5, "at_least": True})
    return found


# ------------------------------------------------------------------------------- how long one takes


def waits(arms: int, limit: float, folder: Path) -> list[dict[str, Any]]:
    """The median ask beside the median commit of the same process."""
    from stopwise import Campaign

    work = raw_sqlite(folder / "raw.db")
    campaign = Campaign.create(coins(arms), folder / f"{arms}.db", "bench")
    with campaign.together():
        for k in range(arms):
            for turn in range(20):
                campaign.record(k, float((turn * 7 + k * k) % 20 < 4 + 8 * k / arms))
    asks, tells, commits = [], [], []
    for turn in range(60):
        start = time.perf_counter()
        (ticket,) = campaign.ask()
        asked = time.perf_counter()
        campaign.tell(ticket.token, float(turn % 2))
        told = time.perf_counter()
        work(0.0)
        asks.append(asked - start)
        tells.append(told - asked)
        commits.append(time.perf_counter() - told)
    ask, tell, commit = (1e3 * median(each) for each in (asks, tells, commits))
    name = f"ask with {arms:,} arms, less one commit (ask {ask:.3g}, tell {tell:.3g}, "
    return [{"name": f"{name}commit {commit:.3g} ms)", "measured": ask - commit, "limit": limit,
             "unit": " ms"}]  # fmt: skip


def tells(folder: Path) -> list[dict[str, Any]]:
    """CPU of the median tell by Wealth above that by Mixture of the same samples: without a file."""
    import stopwise as sw

    unknown = sw.Gaussian(variance=None)
    found = []
    for arms, name, family, unit in (
        (4, "coins", sw.Bernoulli(), sw.Bernoulli()),
        (10, "coins", sw.Bernoulli(), sw.Bernoulli()),
        (10, "normal arms, variances unknown", unknown, sw.Gaussian()),
        (10, "bounded arms", sw.Bounded(), sw.BoundedCoin()),
    ):
        for way in ("compiled", "plain"):
            wealth = tell_cost(arms, family, sw.Wealth(), way == "compiled")
            more = wealth - tell_cost(arms, unit, sw.Mixture(), way == "compiled")
            row = {"name": f"a tell by Wealth above Mixture, {arms} {name}, {way}",
                   "measured": more, "unit": " ms"}  # fmt: skip
            found.append({**row, "limit": 1.0} if way == "compiled" else row)
    return found


def tell_cost(arms: int, family: Any, rule: Any, fast: bool) -> float:
    """Milliseconds of CPU, the median from the fourth sample of an arm on; never decided."""
    import numpy as np

    import stopwise as sw
    from stopwise.campaign import rounds
    from stopwise.campaign.session import Session
    from stopwise.engine.design import Setting, prepare

    asked = Setting(sw.BestArm(arms), family, sw.TrackAndStop(), rule)
    design = prepare(asked, None, (1e-300,), 10**9)
    rounds._known.clear()
    rounds.EARLY = math.inf  # plain stays plain
    if fast:
        rounds.rounds_of(design).compile(design)
    session, rng, times = Session(design), np.random.default_rng(1), []
    for _ in range(4 * arms + 100):
        ticket = session.ask()
        sample = float(rng.random() < 0.5 - 0.3 * ticket.arm / arms)  # all families take it
        if not isinstance(family, sw.Bernoulli):
            sample = 0.9 * sample + 0.1 * rng.random()
        begun = time.process_time()
        session.tell(ticket, sample)
        times.append(1e3 * (time.process_time() - begun))
    return median(times[4 * arms :])


def simulated(path: Path, count: int, events: int) -> None:
    """A campaign of so many arms and events, written by SQL: a run that does not decide."""
    import numpy as np

    import stopwise as sw
    from stopwise import Campaign
    from stopwise.engine import live

    campaign = Campaign.create(coins(count), path, "bench")
    rounds = events // 2
    run = sw.run(
        sw.BestArm(count),
        np.linspace(0.3, 0.5, count),
        family=sw.Bernoulli(),
        strategy=sw.TrackAndStop(),
        stopping=sw.Mixture(),
        delta=1e-300,
        seed=1,
        max_rounds=rounds,
        trace=True,
    )
    assert run.trace is not None
    arms, samples = run.trace.arms, run.trace.samples
    kinds = np.tile([live.ASKED, live.TOLD], rounds)
    waited = np.ones(events, dtype=np.int64)
    numbers = np.repeat(2 * np.arange(rounds) + 1, 2)
    session = campaign.spec.session()
    session.replay(live.Record(kinds, np.repeat(arms, 2), np.repeat(samples, 2), waited, numbers))
    rows: list[tuple[Any, ...]] = []
    for place, (arm, sample) in enumerate(zip(arms.tolist(), samples.tolist(), strict=True)):
        token = f"{place:022}"
        rows.append((1, 2 * place + 1, "asked", token, arm, 60.0, 1.0 * place, False, "", ""))
        rows.append((1, 2 * place + 2, "told", token, arm, sample, 1.0 * place, False, "", ""))
    campaign._store.close()
    connection = sqlite3.connect(path)
    holes = ", ".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO stopwise_events VALUES ({holes})", rows)
    change = "UPDATE stopwise_campaigns SET last = ?, state = ?"
    connection.execute(change, (events, session.dump()))
    connection.commit()
    connection.close()


OPEN = """
import time
start = time.perf_counter()
from stopwise import Campaign
status = Campaign.open("bench", {path!r}).status()
assert status.samples == {samples}, status
print(time.perf_counter() - start)
"""


def openings(folder: Path) -> list[dict[str, Any]]:
    """Campaign.open and status in a new process, with the stored state and without."""
    simulated(folder / "long.db", 10, EVENTS)
    code = OPEN.format(path=f"sqlite:///{folder}/long.db", samples=EVENTS // 2)
    found = []
    for name in ("with its state", "without: compiled replay"):
        times = [float(output(sys.executable, "-c", code)) for _ in range(3)]
        found.append({"name": f"{EVENTS:,} events open, {name}", "measured": min(times[1:]),
                      "limit": 5.0, "unit": " s"})  # fmt: skip
        connection = sqlite3.connect(folder / "long.db")
        connection.execute("UPDATE stopwise_campaigns SET state = NULL")
        connection.commit()
        connection.close()
    return found


def starts(folder: Path) -> list[dict[str, Any]]:
    """Importing the package, and the command's help."""
    program = shutil.which("stopwise", path=str(Path(sys.executable).parent)) or "stopwise"
    commands = {
        "bare": (sys.executable, "-c", "pass"),
        "import": (sys.executable, "-c", "import stopwise"),
        "help": (program, "--help"),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(9):
        for name, command in commands.items():
            start = time.perf_counter()
            output(*command)
            times[name].append(1e3 * (time.perf_counter() - start))
    bare, imported, helped = (median(times[name]) for name in commands)
    return [
        {"name": "import stopwise, above bare Python", "measured": imported - bare, "limit": 150,
         "unit": " ms"},
        {"name": "stopwise --help", "measured": helped, "limit": 300, "unit": " ms"},
    ]  # fmt: skip


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


PARTS: Parts = {
    "sqlite": lambda folder: rates("SQLite", folder),
    "postgresql": lambda folder: rates("PostgreSQL", folder),
    "few arms": lambda folder: waits(10, 5.0, folder),
    "many arms": lambda folder: waits(1000, 50.0, folder),
    "tells": tells,
    "long": openings,
    "start": starts,
}


def report(script: str, parts: list[str]) -> None:
    """Measure every part in a process of its own, and print the table."""
    from engine import machine
    from oracles import Row, limited, show

    rows = [machine()]
    for part in parts:
        done = subprocess.run(
            [sys.executable, script, "--part", part], stdout=subprocess.PIPE, text=True
        )
        if done.returncode != 0:
            rows.append(Row(part, "could not be measured", "", False))
            continue
        for each in json.loads(done.stdout.splitlines()[-1]):
            name, measured, unit = each["name"], each["measured"], each.get("unit", "")
            limit = each.get("limit")
            if limit is None:
                rows.append(Row(name, f"{measured:.4g}{unit}"))
            elif each.get("at_least"):
                shown = f"{measured:.3g}{unit}"
                rows.append(Row(name, shown, f">= {limit:g}{unit}", measured >= limit))
            else:
                rows.append(limited(name, measured, limit, unit))
    show(rows)


def main(script: str, parts: Parts) -> None:
    """The report; or, in a process of its own, one part."""
    if sys.argv[1:2] == ["--part"]:
        with tempfile.TemporaryDirectory() as place:
            print(json.dumps(parts[sys.argv[2]](Path(place))))
    else:
        report(script, sys.argv[1:] or list(parts))


if __name__ == "__main__":
    main(__file__, PARTS)
