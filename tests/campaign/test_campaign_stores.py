"""Campaigns on every storage: memory, SQLite and a real PostgreSQL server; and clear refusals."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from campaign_worker import SPEC, Nursery
from postgres import Server
from stopwise import Campaign, CampaignExists, StorageAway, StorageError, UnknownCampaign
from stopwise.campaign.storage import address as addresses
from stopwise.campaign.storage.address import file_system
from stopwise.campaign.storage.store import Store
from store_kit import CHECKS, check_store
from store_place import Place

BACK_ENDS = ("memory", "sqlite", "postgresql")


def empty(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if kind == "postgresql":
        return request.getfixturevalue("server").fresh()
    return "memory:" if kind == "memory" else f"sqlite:///{folder}/campaigns.db"


@pytest.fixture(params=BACK_ENDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty storage of each kind."""
    return empty(request.param, request, tmp_path)


@pytest.fixture(params=BACK_ENDS[1:])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty storage of each kind that several processes may use."""
    return empty(request.param, request, tmp_path)


def says(error: BaseException, parts: list[str]) -> None:
    """A message has all these words, in one line."""
    assert [part for part in parts if part not in str(error)] == [], error
    assert "\n" not in str(error)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[7:])
def test_conformance(check: Callable[[Any], None], address: str) -> None:
    place = Place(address)
    check(place)
    place.close()


def test_the_kit_as_users_call_it(tmp_path: Path) -> None:
    check_store(lambda: Store(f"sqlite:///{tmp_path}/mine.db"))
    check_store("memory:")


@pytest.mark.parametrize(
    "spoilt",
    [
        "AFTER INSERT ON stopwise_leases BEGIN DELETE FROM stopwise_leases; END",
        "AFTER INSERT ON stopwise_events BEGIN UPDATE stopwise_events SET time = 0; END",
        "AFTER INSERT ON stopwise_events WHEN new.number > 5 BEGIN DELETE FROM stopwise_events "
        "WHERE number = new.number; END",
        "AFTER INSERT ON stopwise_states BEGIN UPDATE stopwise_states SET content = zeroblob(200); END",
    ],
)
def test_the_kit_notices_a_store_that_forgets(spoilt: str, tmp_path: Path) -> None:
    def make() -> Store:
        store = Store(f"sqlite:///{tmp_path}/bad.db")
        with store.engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE TRIGGER IF NOT EXISTS spoilt {spoilt}")
        return store

    with pytest.raises(AssertionError):
        check_store(make)


def test_a_parquet_file_of_the_record(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    campaign = Campaign.create(SPEC, "memory:", "table")
    campaign.tell(campaign.ask()[0].token, 1)
    table = pandas.read_parquet(campaign.export(tmp_path / "record.parquet"))
    assert table["kind"].tolist() == ["asked", "told"]
    assert table["label"].tolist() == ["a", "a"]
    assert table["time"].tolist() == [event.time for event in campaign.events()]


# ---------------------------------------------------------------------------------------------
# several processes, threads and forks


def test_sixteen_processes_create_one_campaign(durable: str, tmp_path: Path) -> None:
    nursery, gate = Nursery(), tmp_path / "gate"
    for _ in range(16):
        nursery.spawn(work="create", storage=durable, name="one", gate=str(gate))
    gate.touch()
    assert nursery.join() == [0] * 16
    campaign = Campaign.open("one", durable)
    assert campaign._store.names() == ["one"]
    assert campaign.status().samples == 16
    assert campaign.verify().agrees


def test_looks_see_one_moment(durable: str) -> None:
    """While others write, a record and the state beside it belong together."""
    campaign, over = Campaign.create(SPEC, durable, "busy"), threading.Event()

    def work() -> None:
        mine = Campaign.open("busy", durable)
        while not over.is_set():
            mine.tell(mine.ask()[0].token, 1)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        looks = samples = 0
        while samples < 60 or looks < 20:
            found, status = campaign.verify(), campaign.status()
            assert found.agrees, found
            taken = status.samples + status.waiting
            assert taken * 2 + status.in_flight == status.events
            looks, samples = looks + 1, status.samples
    finally:
        over.set()
        for worker in workers:
            worker.join()


def test_threads_share_a_campaign(address: str) -> None:
    campaign, errors = Campaign.create(SPEC, address, "shared"), []

    def work(place: int) -> None:
        try:
            for turn in range(15):
                (ticket,) = campaign.ask()
                if turn % 5 == place:
                    with campaign.together():
                        campaign.tell(ticket.token, 1)
                        campaign.record(place, 0)
                else:
                    campaign.tell(ticket.token, 1)
                status = campaign.status()
                assert status.samples + status.waiting > 0
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(place,)) for place in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    assert not errors
    assert campaign.status().samples == 3 * (15 + 3)
    assert campaign.verify().agrees


def test_a_fork_takes_no_connection_with_it(durable: str) -> None:
    """Parent and children go on with the campaign that was open before the fork."""
    campaign, children = Campaign.create(SPEC, durable, "forked"), []
    for _ in range(3):
        campaign.tell(campaign.ask()[0].token, 0)
        assert campaign._store.engine.pool.checkedin() == 1
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                assert campaign._store.engine.pool.checkedin() == 0
                for _ in range(10):
                    campaign.tell(campaign.ask()[0].token, 1)
                code = 0
            finally:
                os._exit(code)
        children.append(pid)
    campaign._store.close()
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
    again = Campaign.open("forked", durable)
    assert again.status().samples == 33
    assert again.verify().agrees


def test_a_hanging_worker_does_not_stop_the_others_for_ever(
    durable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "PATIENCE", 1)
    first, second = Campaign.create(SPEC, durable, "held"), Campaign.open("held", durable)
    with first.together():
        first.ask()
        with pytest.raises(StorageAway, match="locked by another process for 1 s"):
            second.ask()
    assert second.ask()
    assert second.verify().agrees


# ---------------------------------------------------------------------------------------------
# one row a message: bad input writes nothing

BAD_SPECS: list[tuple[dict[str, Any], list[str]]] = [
    ({"extra": 1}, ["extra", "got 1", "question, arms, family, delta"]),
    ({"question": ...}, ["question", "a campaign needs question", "best-arm"]),
    ({"arms": ...}, ["arms", "a campaign needs arms", "control"]),
    ({"family": ...}, ["family", 'family = "bernoulli"']),
    ({"delta": ...}, ["delta", "delta = 0.05"]),
    ({"question": "worst-arm"}, ["question.kind", "'worst-arm'", "best-arm"]),
    ({"question": {"kind": "best-arm", "eps": 1}}, ["question.eps", "epsilon"]),
    ({"question": {"kind": "best-arm", "epsilon": -1}}, ["question.epsilon", "-1"]),
    ({"question": {"kind": "best-arm", "epsilon": object()}}, ["question.epsilon", "object"]),
    ({"family": "cauchy"}, ["family.kind", "'cauchy'", "gaussian"]),
    ({"family": sw.Bernoulli()}, ["family", "Bernoulli()", "kind"]),
    ({"delta": 0}, ["delta", "strictly between 0 and 1"]),
    ({"delta": float("nan")}, ["delta", "nan", "finite"]),
    ({"delta": "0.1"}, ["delta", "'0.1'", "finite number"]),
    ({"stopping": "guess"}, ["stopping.kind", "mixture"]),
    ({"threshold": "guess"}, ["threshold.kind", "mixture"]),
    ({"strategy": "oracle-weights"}, ["strategy", "does not need the true means"]),
    ({"strategy": "thompson"}, ["strategy.kind", "sticky-track-and-stop"]),
    ({"arms": ["a"]}, ["arms", "at least 2"]),
    ({"arms": "abc"}, ["arms", "'abc'", "a list"]),
    ({"arms": ["a", "a"]}, ["arms[1]", "different"]),
    ({"arms": ["a", " "]}, ["arms[1]", "' '"]),
    ({"arms": ["a", 2]}, ["arms[1]", "got 2"]),
    ({"arms": ["a", "b\n"]}, ["arms[1]", "'b\\n'"]),
    ({"arms": ["a", "x" * 201]}, ["arms[1]", "1 to 200"]),
    ({"budget": 2}, ["budget", "at least 3"]),
    ({"budget": 10.5}, ["budget", "10.5", "whole"]),
    ({"costs": [1, 2]}, ["costs", "3 numbers"]),
    ({"costs": [1, 2, 0]}, ["costs[2]", "above 0"]),
    ({"costs": [1, 2, float("inf")]}, ["costs[2]", "inf"]),
]


@pytest.mark.parametrize(("changes", "parts"), BAD_SPECS, ids=lambda row: str(row)[:40])
def test_bad_specs(changes: dict[str, Any], parts: list[str], tmp_path: Path) -> None:
    spec = {key: value for key, value in {**SPEC, **changes}.items() if value is not ...}
    with pytest.raises(sw.BadArgument) as caught:
        Campaign.create(spec, f"sqlite:///{tmp_path}/campaigns.db", "bad")
    says(caught.value, parts)
    assert not list(tmp_path.iterdir()), "nothing is written"


FILES: list[tuple[str, bytes | None, list[str]]] = [
    ("absent.toml", None, ["absent.toml", "exists"]),
    ("bad.toml", b"question = = 1", ["bad.toml", "not TOML", "line 1"]),
    ("bad.json", b'{"question": }', ["bad.json", "not JSON", "line 1"]),
    ("list.json", b"[1, 2]", ["spec", "[1, 2]", "a table"]),
    ("latin.toml", b'arms = ["\xe9"]', ["latin.toml", "can be read"]),
    ("extra.toml", b'delta = 0.1\nsede = "x"', ["sede", "'x'"]),
]


@pytest.mark.parametrize(("name", "text", "parts"), FILES, ids=[row[0] for row in FILES])
def test_bad_spec_files(name: str, text: bytes | None, parts: list[str], tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text)
    with pytest.raises(sw.StopwiseError) as caught:
        Campaign.create(tmp_path / name, "memory:")
    says(caught.value, parts)


@pytest.mark.parametrize("name", ["", " x", "x" * 201, "a\nb", 5, None])
def test_bad_names(name: Any, tmp_path: Path) -> None:
    with pytest.raises(sw.BadArgument, match="name: got"):
        Campaign.create(SPEC, f"sqlite:///{tmp_path}/campaigns.db", name)
    assert not list(tmp_path.iterdir())


VALUES: list[tuple[str, Any, list[str]]] = [
    ("bernoulli", float("nan"), ["value", "nan", "finite"]),
    ("bernoulli", float("inf"), ["value", "inf", "finite"]),
    ("bernoulli", "1", ["value", "'1'", "finite number"]),
    ("bernoulli", None, ["value", "None"]),
    ("bernoulli", 0.5, ["value", "0.5", "Bernoulli()"]),
    ("poisson", -1, ["value", "-1", "Poisson()"]),
    ("poisson", 1.5, ["value", "1.5", "Poisson()"]),
    ("exponential", -0.1, ["value", "-0.1", "Exponential()"]),
    ("bounded:low=0,high=1", 1.01, ["value", "1.01", "Bounded"]),
    ("gaussian:variance=unknown", 1e101, ["value", "1e+101", "1e+100"]),
    ("gaussian:variance=unknown", 10**400, ["value", "finite"]),
]


@pytest.mark.parametrize(("family", "value", "parts"), VALUES, ids=lambda row: str(row)[:20])
def test_bad_values(family: str, value: Any, parts: list[str]) -> None:
    campaign = Campaign.create({**SPEC, "family": family}, "memory:", "bad")
    (ticket,) = campaign.ask()
    for call in (lambda: campaign.tell(ticket.token, value), lambda: campaign.record(0, value)):
        with pytest.raises(sw.BadArgument) as caught:
            call()
        says(caught.value, parts)
    assert len(campaign.events()) == 1


def test_unknown_campaigns_are_listed_and_others_are_told_apart(address: str) -> None:
    store = Store(address)
    with pytest.raises(UnknownCampaign, match=r"no campaign 'x' in .*; there are: none yet"):
        Campaign.open("x", store)
    Campaign.create(SPEC, store, "Größe")
    with pytest.raises(UnknownCampaign, match="there are: 'Größe'"):
        Campaign.open("x", store)
    with pytest.raises(CampaignExists, match=r"delta: there 1e-12, given 0\.1"):
        Campaign.create({**SPEC, "delta": 0.1}, store, "Größe")


# ---------------------------------------------------------------------------------------------
# storages that cannot be used

STORAGES: list[tuple[Any, type[Exception], list[str]]] = [
    ("mysql://me:secret@host/db", sw.BadArgument, ["mysql://me:***@host", "sqlite:///FILE"]),
    (5, sw.BadArgument, ["storage: got 5"]),
    ("sqlite://", sw.BadArgument, ["sqlite:///FILE"]),
    ("sqlite:///FOLDER/no/x.db", StorageError, ["/no does not exist"]),
    ("sqlite:///FOLDER", StorageError, ["a folder", "stopwise.db"]),
    ("sqlite:///FOLDER/notes.db", sw.StorageDamaged, ["not a SQLite database"]),
    ("sqlite:///FOLDER/network/x.db", StorageError, ["network file system (nfs4)", "PostgreSQL"]),
    ("postgresql://me:secret@host:port/db", sw.BadArgument, ["me:***@host", "port"]),
    (
        *("postgresql+psycopg://me:secret@127.0.0.1:9/db", StorageAway),
        ["me:***@127.0.0.1:9", "does not answer", "Connection refused", "try again"],
    ),
    ("SERVER/absent", StorageError, ["refused", 'database "absent" does not exist']),
    ("SERVER:secret", StorageError, ["refused", "password authentication failed", ":***@"]),
]


@pytest.mark.parametrize(("given", "kind", "parts"), STORAGES, ids=lambda row: str(row)[:30])
def test_bad_storages(
    given: Any,
    kind: type[Exception],
    parts: list[str],
    tmp_path: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "network").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "notes.db").write_bytes(b"These are notes, and no database at all." * 40)
    table = f"/dev/vda / ext4 rw 0 0\nhost:/files {tmp_path}/elsewhere nfs4 rw 0 0\n"
    monkeypatch.setattr(addresses, "_mounts", lambda: table)
    before = sorted(tmp_path.rglob("*"))
    if isinstance(given, str):
        given = given.replace("FOLDER", str(tmp_path))
        given = given.replace("SERVER/absent", server.address("absent"))
        given = given.replace("SERVER:secret", server.address().replace(server.password, "secret"))
    with pytest.raises(sw.StopwiseError) as caught:
        Store(given)
    assert type(caught.value) is kind
    says(caught.value, parts)
    assert "secret" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written"


def test_file_systems() -> None:
    table = (
        "/dev/vda / ext4 rw 0 0\nhost:/home /home nfs4 rw 0 0\n/dev/vdb /home/me ext4 rw 0 0\n"
        "//host/my\\040files /mnt/my\\040files cifs rw 0 0\ntmpfs /two tmpfs rw 0 0\n"
        "host:/two /two nfs rw 0 0\nnonsense\n"
    )
    kinds = {
        "/tmp/x.db": "ext4", "/home/you/x.db": "nfs4", "/home/me/x.db": "ext4", "/homes/x": "ext4",
        "/mnt/my files/x.db": "cifs", "/two/x.db": "nfs",
    }  # fmt: skip
    assert {path: file_system(Path(path), table) for path in kinds} == kinds
    assert file_system(Path("/tmp/x.db"), "") == ""
    assert all(kind.startswith(addresses.NETWORK) for kind in ("nfs4", "cifs", "fuse.sshfs", "9p"))
