"""No acknowledged tell is lost or counted twice, whatever happens to workers and storages.

And few wrong answers, whatever the order in which samples come: every simulation has a fixed seed, and
a count of wrong answers is compared with a binomial limit that a correct package exceeds with
probability FALSE_ALARM at most.
"""

from __future__ import annotations

import functools
import math
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from campaign_worker import PAIRED, SPEC, Crew, acknowledged, wait_until
from disks import small_disk
from postgres import Server
from stopwise import Campaign, Receipt, Session, StorageAway, Ticket
from stopwise.campaign import spec
from stopwise.campaign.storage.store import Store
from stopwise.core.arrays import Floats
from stopwise.core.compile.kernels import compiled
from stopwise.engine import live
from stopwise.engine.design import generator
from stopwise.problems.problem import Code


def kill_workers(
    storage: str, folder: Path, workers: int, kills: int, spec: dict[str, Any] = SPEC
) -> None:
    """Workers are killed at random moments after their first sample, and replaced."""
    moments, crew = random.Random(9), Crew(storage, folder, spec)
    alive = [crew.hire() for _ in range(workers)]
    for _ in range(kills):
        place = moments.randrange(workers)
        pid, book = alive[place]
        wait_until("a first sample", lambda book=book: book.exists() and book.stat().st_size > 0)
        time.sleep(moments.uniform(0.0, 0.02))
        crew.nursery.kill(pid)
        alive[place] = crew.hire()
    codes = crew.finish()
    assert sorted(codes) == [-9] * kills + [0] * workers
    assert crew.check() >= kills


def test_two_workers_paused_and_resumed_lose_nothing(tmp_path: Path) -> None:
    """While it is paused nothing is asked, all that was asked is told, and then it goes on."""
    crew = Crew(f"sqlite:///{tmp_path}/campaigns.db", tmp_path)
    for turn in range(3):
        done = tmp_path / f"done-{turn}"
        for _ in range(2):
            crew.hire(work="until_paused", done=str(done))
        before = len(acknowledged(tmp_path))
        wait_until("work", lambda before=before: len(acknowledged(tmp_path)) > before + 10)
        assert crew.campaign.pause(f"turn {turn}")
        wait_until("rest", lambda done=done: done.exists() and done.stat().st_size == 2)
        status = crew.campaign.status()
        assert (status.state, status.in_flight, status.waiting) == ("paused", 0, 0)
        assert status.samples == len(acknowledged(tmp_path))
        assert crew.campaign.resume()
    assert crew.finish() == [0] * 6
    assert crew.check() > 30


def test_killed_workers(tmp_path: Path) -> None:
    kill_workers(f"sqlite:///{tmp_path}/campaigns.db", tmp_path, workers=4, kills=12)


def test_killed_workers_of_a_paired_campaign(tmp_path: Path) -> None:
    kill_workers(f"sqlite:///{tmp_path}/campaigns.db", tmp_path, 4, 8, PAIRED)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["sqlite", "postgresql"])
def test_workers_of_a_paired_campaign_killed_a_hundred_times(
    where: str, server: Server, tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path}/campaigns.db" if where == "sqlite" else server.fresh()
    kill_workers(address, tmp_path, 8, 100, PAIRED)


@pytest.mark.slow
def test_sixteen_workers_killed_two_hundred_times(tmp_path: Path) -> None:
    kill_workers(f"sqlite:///{tmp_path}/campaigns.db", tmp_path, workers=16, kills=200)


def test_killed_workers_of_a_server(server: Server, tmp_path: Path) -> None:
    kill_workers(server.fresh(), tmp_path, workers=3, kills=6)


def kill_server(server: Server, folder: Path, workers: int, kills: int) -> None:
    """The server and all its processes are killed under the workers, and started again."""
    moments, crew = random.Random(5), Crew(server.fresh(), folder)
    for _ in range(workers):
        crew.hire()
    for _ in range(kills):
        before = len(acknowledged(folder))
        wait_until("work", lambda before=before: len(acknowledged(folder)) > before + 5 * workers)
        time.sleep(moments.uniform(0.0, 0.05))
        server.kill()
        with pytest.raises(StorageAway, match="does not answer"):
            crew.campaign.ask()
        server.start()
    before = len(acknowledged(folder))
    wait_until("work", lambda: len(acknowledged(folder)) > before + workers)
    codes = crew.finish()
    assert codes == [0] * workers
    assert crew.check() > 5 * workers * kills
    assert crew.campaign.ask(), "and the campaign that was open all the time goes on"


def test_a_killed_server(server: Server, tmp_path: Path) -> None:
    kill_server(server, tmp_path, workers=3, kills=1)


@pytest.mark.slow
def test_a_server_killed_five_times_under_eight_workers(
    server: Server,
    tmp_path: Path,
) -> None:
    kill_server(server, tmp_path, workers=8, kills=5)


# ---------------------------------------------------------------------------------------------
# a full disk


def tell_all(hand: Campaign, tickets: list[Ticket], receipts: list[Receipt]) -> None:
    """Tell what is in flight, and ask for more, as long as there is room."""
    for _ in range(10_000):
        receipts.append(hand.tell(tickets[0].token, 1))
        del tickets[0]
        if len(tickets) < 10:
            tickets += hand.ask(20)


@pytest.mark.parametrize("how", ["disk", "limit"])
def test_a_full_disk(how: str, tmp_path: Path) -> None:
    """Errors that say so while it is full; then the work goes on, and nothing is lost."""
    receipts: list[Receipt] = []
    with small_disk(tmp_path, how) as make_room:
        store = Store(f"sqlite:///{tmp_path}/campaigns.db")
        campaign = Campaign.create(SPEC, store, "full")
        hands = [campaign, Campaign.open("full", store)]
        tickets = campaign.ask(20)
        for hand in (*hands, *hands):
            with pytest.raises(StorageAway, match=r"the disk is full; nothing was written|I/O"):
                tell_all(hand, tickets, receipts)
            assert hand.events()[-1].number >= receipts[-1].number, "reading goes on"
            assert hand.verify().agrees
        assert len(receipts) > 5
        make_room()
        while tickets:
            receipts.append(hands[len(tickets) % 2].tell(tickets.pop().token, 0))
        receipts.append(hands[1].record(0, 1))
        found = {e.token: e for e in campaign.events() if e.kind in ("told", "recorded")}
        assert set(found) == {receipt.token for receipt in receipts}
        assert len(found) == len(receipts) == campaign.status().samples
        assert all(found[receipt.token].number == receipt.number for receipt in receipts)
        assert campaign.verify().agrees
        store.close()


# ---------------------------------------------------------------------------------------------
# few wrong answers

FALSE_ALARM = 1e-6
COINS = {"arms": ["a", "b", "c"], "family": "bernoulli", "delta": 0.1}
EASY = ({**COINS, "question": {"kind": "best-arm", "epsilon": 0.05}}, (0.45, 0.6, 0.5))
RARE = (  # conversions that are rare
    {
        "arms": ["a", "b"], "family": "bernoulli", "delta": 0.05,
        "question": {"kind": "best-arm", "epsilon": 0.01},
    },
    (0.02, 0.05),
)  # fmt: skip
WAYS = {"one by one": (1, True), "50 in flight": (50, False), "batches of 20": (20, True)}


def _drive(
    setting: Any,
    level: float,
    truth: Floats,
    ledger: live.Ledger,
    rng: np.random.Generator,
    queue: Code,
    keep: int,
    batches: bool,
    stop: int,
) -> int:
    """Keep so many samples in flight; they come back in any order. Whether there is a decision."""
    waiting = 0
    while ledger.marks[live.SEEN] < stop:
        if waiting == 0 or not batches:
            while waiting < keep:
                queue[waiting] = live.ask(setting, ledger, rng)
                waiting += 1
        place = int(rng.random() * waiting)
        arm = queue[place]
        waiting -= 1
        queue[place] = queue[waiting]
        sample = setting.family.draw(truth[arm], rng)
        live.tell(setting, ledger, arm, sample)
        if live.current_margin(setting, ledger, level) >= level:
            return 1
    for place in range(waiting):  # a crash: what was in flight is lost
        live.give_up(ledger, queue[place])
    return 0


@functools.cache
def driver() -> Callable[..., int]:
    return compiled(_drive, allocates=False)


def wrong_answers(
    question: tuple[dict[str, Any], tuple[float, ...]], way: str, runs: int, crashes: bool = False
) -> int:
    """How many campaigns end with a wrong answer; with ``crashes`` they are dumped and loaded."""
    made, means = spec.make(question[0]), np.array(question[1])
    design, (keep, batches) = made.design, WAYS[way]
    correct = set(design.problem.correct_answers(means))
    drive, wrong = driver(), 0
    for run in range(runs):
        rng, session, over = generator(20_190_101, len(way), run), Session(design), 0
        while not over:
            stop = 1_000_000 if not crashes else int(rng.integers(1, 400)) + session.samples
            over = drive(
                *(design.setting, design.levels[0], means, session.ledger, rng),
                *(np.zeros(50, dtype=np.int64), keep, batches, stop),
            )
            assert over or crashes, "a campaign without a decision"
            dumped, session = session.dump(), Session(design)
            assert session.load(dumped)
        assert session.decision is not None
        wrong += session.decision.answer not in correct
    return wrong


def check_errors(question: Any, way: str, runs: int, crashes: bool = False) -> None:
    wrong = wrong_answers(question, way, runs, crashes)
    assert wrong <= binom.isf(FALSE_ALARM, runs, question[0]["delta"]), f"{wrong} of {runs}"


@pytest.mark.parametrize("way", WAYS)
def test_errors(way: str) -> None:
    check_errors(EASY, way, 100, crashes=way == "50 in flight")


@pytest.mark.slow
@pytest.mark.parametrize("crashes", [False, True], ids=["", "crashes"])
@pytest.mark.parametrize("question", [EASY, RARE], ids=["easy", "rare"])
@pytest.mark.parametrize("way", WAYS)
def test_two_thousand_campaigns(question: Any, way: str, crashes: bool) -> None:
    check_errors(question, way, 2000, crashes)


def plugged_in(rng: np.random.Generator) -> int:
    """An answer by a rule that plugs in variances, after each pair of samples from the tenth on."""
    totals, count, epsilon = np.zeros(2), 0, RARE[0]["question"]["epsilon"]
    while True:
        totals += rng.random(2) < RARE[1]
        count += 1
        rates = totals / count
        error = math.sqrt(float(np.sum(rates * (1.0 - rates))) / count)
        if count >= 10 and abs(rates[1] - rates[0]) + epsilon >= 1.96 * error:
            return int(rng.random() < 0.5) if rates[0] == rates[1] else int(rates[1] > rates[0])


def test_rare_events() -> None:
    """The campaign's rule keeps its promise where one that plugs in variances cannot."""
    check_errors(RARE, "batches of 20", 100)
    wrong = sum(plugged_in(generator(1, 0, run)) == 0 for run in range(100))
    assert wrong > binom.isf(FALSE_ALARM, 100, RARE[0]["delta"]), f"{wrong}: no power"


# ---------------------------------------------------------------------------------------------
# places without the right to write, and files of older and newer versions


@pytest.mark.parametrize("what", ["mount", "folder", "file"])
def test_a_read_only_place(what: str) -> None:
    """A file system where one may be mounted; a folder and a file without the right to write."""
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        folder = Path(base) / "files"
        folder.mkdir()
        path = folder / "x.db"
        Campaign.create(SPEC, path, "kept")._store.close()
        command = ["mount", "-o", "bind,ro", str(folder), str(folder)]
        mounted = what == "mount" and not subprocess.run(command, capture_output=True).returncode
        if not mounted:
            os.chmod(path, 0o444 if what == "file" else 0o666)
            os.chmod(folder, 0o777 if what == "file" else 0o555)
        try:
            said = attempt(path) if mounted else by_nobody(path)
        finally:
            if mounted:
                subprocess.run(["umount", str(folder)], check=True)
            os.chmod(folder, 0o755)
        assert said.startswith("StorageError:"), said
        assert f"{path}: read-only" in said
        assert Store(f"sqlite:///{path}").names() == ["kept"]


def attempt(path: Path) -> str:
    try:
        return repr(Campaign.create(SPEC, path, "another"))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def by_nobody(path: Path) -> str:
    """The same by somebody without rights, if we have all of them."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        if os.geteuid() == 0:
            os.setuid(65534)
        os.write(into, attempt(path).encode())
        os._exit(0)
    os.close(into)
    with open(out, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(pid, 0)
    return text
