"""Results of the past: all rows of a file or none, each once, in an order that no value chooses."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import stopwise as sw
from postgres import Server
from stopwise import BadArgument, Campaign
from stopwise.campaign.imports import known as recognition
from stopwise.campaign.imports.order import order_chance, order_scores, shuffled
from stopwise.campaign.imports.rows import Rows
from stopwise.campaign.session import Session

COINS = {"question": "best-arm", "arms": ["A", "B"], "family": "bernoulli", "delta": 1e-9}
NORMAL = {**COINS, "family": {"kind": "gaussian", "variance": 1}}
IMPORTER = """
import sys
from stopwise import Campaign
campaign = Campaign.open("one", sys.argv[1])
campaign.import_results(sys.argv[2], progress=lambda *given: print(*given, flush=True))
"""


def campaign(spec: Any = COINS, storage: Any = "memory:", **more: Any) -> Campaign:
    return Campaign.create({**spec, **more}, storage, "one")


def table(path: Path, rows: Any, header: str = "arm,value") -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def coins(seed: int, size: int, rate: float = 0.5) -> list[tuple[str, int]]:
    rng = np.random.default_rng(seed)
    return [("AB"[arm], int(rng.random() < rate)) for arm in rng.integers(2, size=size)]


def normals(seed: int, size: int) -> list[tuple[str, float]]:
    rng = np.random.default_rng(seed)
    return [("AB"[arm], float(rng.normal())) for arm in rng.integers(2, size=size)]


def on_record(of: Campaign) -> list[tuple[int | None, float | None]]:
    return [(event.arm, event.value) for event in of.events() if event.kind == "recorded"]


def row_of(event: sw.Event) -> int:
    return int(event.token.rsplit(" ", 1)[1])


# ------------------------------------------------------------------------------------ all or nothing


@pytest.mark.parametrize("bad", [("A", 2), ("A", -1), ("C", 1), ("A", "nan"), ("A", ""), ("7", 0)])
def test_a_refused_file_leaves_nothing(bad: tuple[str, Any], tmp_path: Path) -> None:
    rows: list[Any] = list(coins(1, 1000))
    for place in (3, 400, 990):
        rows[place] = bad
    one = campaign()
    with pytest.raises(BadArgument, match=r"row 4: .*3 of 1,000 rows are refused. Nothing was"):
        one.import_results(table(tmp_path / "past.csv", rows))
    assert one.events() == []


def test_a_batch_of_records_is_taken_whole_or_not_at_all() -> None:
    one = campaign()
    good: list[Any] = [("A", 1, "one"), ("B", 0, "two")]
    with pytest.raises(
        BadArgument, match=r"records\[2\]: value: .*None of the 3 records was taken"
    ):
        one.record_all([*good, ("A", 7, "three")])
    with pytest.raises(sw.Conflict, match=r"records\[2\]: token 'one': given twice"):
        one.record_all([*good, ("A", 0, "one")])
    assert one.events() == []
    first = one.record_all([*good, good[0]])
    assert [each.number for each in first] == [1, 2, 1]
    with pytest.raises(
        sw.Conflict, match=r"records\[1\]: token 'one': recorded for arm 0, given 1"
    ):
        one.record_all([("A", 1, "new"), ("B", 1, "one")])
    assert len(one.events()) == 2


def test_a_refusal_in_a_block_changes_nothing(tmp_path: Path) -> None:
    """Also among other work that is stored together."""
    one, past = campaign(), table(tmp_path / "past.csv", [("A", 1), ("A", 5)])
    with one.together():
        one.record("A", 1)
        with pytest.raises(BadArgument):
            one.import_results(past)
        one.record("B", 0)
    assert [event.kind for event in one.events()] == ["recorded", "recorded"]
    assert one.verify().agrees


def test_rows_that_would_not_count_are_refused(tmp_path: Path) -> None:
    past = table(tmp_path / "past.csv", coins(1, 50))
    closed, easy = campaign(), campaign(delta=0.3)
    closed.close("no use")
    with pytest.raises(sw.CampaignClosed):
        closed.import_results(past)
    certain = table(tmp_path / "certain.csv", [("A", 1), ("B", 0)] * 20)
    assert easy.import_results(certain).decision is not None
    assert repr(easy.import_results(certain)).startswith("40 rows (0 new, 40 known); decided after")
    with pytest.raises(sw.CampaignDecided):
        easy.import_results(past, new=True)
    paired = campaign(paired=True)
    with pytest.raises(sw.NotPossible, match="paired"):
        paired.import_results(past)
    assert paired.events() == []


def test_imports_wait_for_samples_in_flight(tmp_path: Path) -> None:
    """They take their turn after what was asked before; a replay agrees."""
    one = campaign()
    tickets = one.ask(3)
    past = table(tmp_path / "past.csv", coins(1, 300))
    assert one.import_results(past).counted == 300
    assert one.status().samples == 0
    for ticket in tickets:
        one.tell(ticket.token, 1)
    assert one.status().samples == 303
    assert one.verify().agrees


@pytest.fixture(params=["sqlite", "postgresql"])
def durable(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/campaigns.db"
    server: Server = request.getfixturevalue("server")
    return server.fresh()


@pytest.mark.usefixtures("ctrl_c_is_heard")
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT])
def test_who_is_killed_leaves_nothing(by: signal.Signals, durable: str, tmp_path: Path) -> None:
    """Readers beside see nothing of an import that is under way; after it, the next one goes in."""
    one = campaign(storage=durable)
    past = table(tmp_path / "past.csv", coins(1, 60_000))
    process = subprocess.Popen(
        [sys.executable, "-c", IMPORTER, durable, str(past)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("recorded 10000"):
            break
    assert one.status().events == 0, "half of an import is seen"
    os.kill(process.pid, by)
    assert process.wait(timeout=60) != 0
    assert one.events() == []
    few = table(tmp_path / "few.csv", coins(2, 100))
    assert one.import_results(few).new == 100
    assert one.verify().agrees


# -------------------------------------------------------------------------------------------- once


def test_the_same_rows_count_once_under_any_name(tmp_path: Path) -> None:
    rows = coins(1, 200)
    one = campaign()
    assert repr(one.import_results(table(tmp_path / "a.csv", rows))).startswith(
        "200 rows, no decision yet"
    )
    copy = one.import_results(table(tmp_path / "b.csv", rows))
    assert (copy.new, copy.known, copy.counted) == (0, 200, 200)
    assert repr(copy).startswith("200 rows (0 new, 200 known), no")
    longer = one.import_results(table(tmp_path / "c.csv", [*rows, *coins(2, 30)]))
    assert (longer.new, longer.known) == (30, 200)
    shorter = one.import_results(table(tmp_path / "d.csv", rows[:150]))
    assert (shorter.new, shorter.known) == (0, 150)
    wide = [(row, "x", value, arm) for row, (arm, value) in enumerate(rows)]
    other = table(tmp_path / "e.csv", wide, "n,note,value,arm")
    assert one.import_results(other).new == 0, "columns and their order do not matter"
    assert Counter(on_record(one)) == Counter(
        ("AB".index(arm), float(value)) for arm, value in [*rows, *coins(2, 30)]
    )
    assert one.verify().agrees


def test_rows_of_version_0_3_0_are_known(tmp_path: Path) -> None:
    """Their tokens have the file's name and the row; some were left out of a refused import."""
    rows = coins(1, 200)
    for name, kept in (("past.csv", range(200)), ("gaps.csv", [*range(60), *range(61, 140)])):
        key = hashlib.sha256(name.encode()).hexdigest()[:16]
        one = campaign()
        old = [(*rows[place], f"import {key} row {place + 1}") for place in kept]
        one.record_all(old)
        for again in (name, "renamed.csv"):
            found = one.import_results(table(tmp_path / again, [*rows, ("A", 1)]))
        assert len(on_record(one)) == 201
        assert (found.new, found.known) == (0, 201)


def test_few_rows_under_another_name_are_asked_about(tmp_path: Path) -> None:
    one, rows = campaign(), [("A", 1), ("B", 0), ("A", 1)]
    assert one.import_results(table(tmp_path / "mon.csv", rows)).new == 3
    assert one.import_results(table(tmp_path / "mon.csv", [*rows, ("B", 1)])).new == 1, "grown"
    with pytest.raises(BadArgument, match="3 of its rows are, one by one, those of an earlier"):
        one.import_results(table(tmp_path / "tue.csv", rows))
    assert one.import_results(tmp_path / "tue.csv", source="mon.csv").new == 0
    assert one.import_results(tmp_path / "tue.csv", new=True).new == 3
    assert one.import_results(tmp_path / "tue.csv", new=True).new == 0, "once"
    with pytest.raises(BadArgument, match=r"begin as when 'mon.csv' was imported"):
        one.import_results(table(tmp_path / "mon.csv", [("B", 1), ("B", 1)]))
    assert len(on_record(one)) == 7


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (coins, slice(100, None)),
        (coins, slice(None, None, -1)),
        (normals, slice(180, None)),
        (normals, slice(None, None, -1)),
        (normals, slice(None, None, 3)),
    ],
)
def test_rows_in_another_arrangement_are_asked_about(
    make: Any, part: slice, tmp_path: Path
) -> None:
    rows, fresh = make(1, 200), make(2, 100)
    one = campaign(NORMAL if make is normals else COINS)
    one.import_results(table(tmp_path / "a.csv", rows))
    before = one.events()
    other = rows[part] if part.step else [*rows[part], *fresh]
    if part.step == 3:
        other = [*fresh, *rows[part]]
        np.random.default_rng(1).shuffle(other)
    with pytest.raises(BadArgument, match=r"--id COLUMN.*--new.*Nothing was imported"):
        one.import_results(table(tmp_path / "b.csv", other))
    assert one.events() == before


def test_samples_that_were_told_are_not_imported_again(tmp_path: Path) -> None:
    """As when a campaign's own export is imported."""
    one = campaign(NORMAL)
    for value in np.random.default_rng(1).normal(size=60):
        (ticket,) = one.ask()
        one.tell(ticket.token, float(value))
    told = [("AB"[event.arm or 0], event.value) for event in one.events() if event.kind == "told"]
    with pytest.raises(BadArgument, match="samples on record"):
        one.import_results(table(tmp_path / "own.csv", told))


def test_other_files_go_in_without_a_question(tmp_path: Path) -> None:
    """40 files of their own; each import asks in error at most once in 1,000 / 2^10 tries or so."""
    for make, spec in ((coins, COINS), (normals, NORMAL)):
        one = campaign(spec)
        for day in range(20):
            found = one.import_results(table(tmp_path / f"{day}.csv", make(100 + day, 80)))
            assert (found.new, found.known) == (80, 0)
        assert one.verify().agrees


def test_identities_decide_which_rows_are_new(tmp_path: Path) -> None:
    rows = [(arm, value, f"r{place}") for place, (arm, value) in enumerate(coins(1, 120))]
    header, one = "arm,value,no", campaign()
    first = one.import_results(table(tmp_path / "a.csv", rows[:80], header), id="no")
    assert (first.new, first.known) == (80, 0)
    window = table(tmp_path / "b.csv", rows[:39:-1], header)
    second = one.import_results(window, id="no")
    assert (second.new, second.known, second.counted) == (40, 40, 80)
    twice = table(tmp_path / "c.csv", [("A", 1, "new"), ("A", 1, "new")], header)
    assert one.import_results(twice, id="no").new == 1
    before = one.events()
    for wrong in (("A", 1, "r3"), ("B", 1, "r3"), ("A", 0, "r3"), ("B", 0, "r3")):
        if wrong != rows[3]:
            with pytest.raises(BadArgument, match=r"row 2.*same id.*Samples are not corrected"):
                one.import_results(table(tmp_path / "d.csv", [rows[5], wrong], header), id="no")
    with pytest.raises(BadArgument, match="row 1: id"):
        one.import_results(table(tmp_path / "e.csv", [("A", 1, "")], header), id="no")
    with pytest.raises(BadArgument, match="by a column of identities"):
        one.import_results(tmp_path / "a.csv")
    assert one.events() == before
    assert len(on_record(one)) == 121


def test_identities_after_an_import_without_them(tmp_path: Path) -> None:
    """The beginning is known by what it says, the rest by its identity."""
    rows = [(arm, value, place) for place, (arm, value) in enumerate(coins(1, 120))]
    one = campaign()
    one.import_results(table(tmp_path / "a.csv", rows[:60], "arm,value,no"))
    later = table(tmp_path / "b.csv", rows, "arm,value,no")
    assert one.import_results(later, id="no").new == 60
    assert one.import_results(later, id="no").new == 0
    assert len(on_record(one)) == 120


def test_a_common_run_is_found_as_by_hand() -> None:
    """By looking at every pair of places."""
    rng = np.random.default_rng(1)
    asked = 0
    for _ in range(60):
        arms, values = rng.integers(2, size=90), rng.integers(2, size=90).astype(float)
        mine = Rows(rng.integers(2, size=70), rng.integers(2, size=70).astype(float))
        size, start = int(rng.integers(10, 60)), int(rng.integers(10))
        mine.arms[start : start + size] = arms[5 : 5 + size]
        mine.values[start : start + size] = values[5 : 5 + size]
        bits = recognition.information(mine.arms, mine.values)
        found = recognition.common_run(mine, arms, values)
        most = 0.0
        for one in range(70):
            for two in range(90):
                k = 0
                while max(one, two - 20) + k < 70 and two + k < 90 and one + k < 70:
                    if (mine.arms[one + k], mine.values[one + k]) != (
                        arms[two + k],
                        values[two + k],
                    ):
                        break
                    k += 1
                most = max(most, bits[one : one + k].sum())
        needed = 10 + np.log2(70 * 90)
        assert most >= needed or not found, "a run that is not there"
        assert found or most < 1.6 * needed, "a long run is missed"
        asked += bool(found)
    assert 10 < asked < 50


# ------------------------------------------------------------------------------------------- order


def test_the_order_of_a_file_has_no_say(tmp_path: Path) -> None:
    rows = [*coins(1, 100), *[("A", 1)] * 20]
    found = []
    for arranged in (rows, rows[::-1], sorted(rows), sorted(rows, key=lambda row: row[1])):
        one = campaign()
        made = one.import_results(table(tmp_path / "a.csv", arranged))
        found.append((made.seed, on_record(one)))
        assert one.verify().agrees
    assert found[1:] == found[:-1]
    assert found[0][1] != [("AB".index(arm), float(value)) for arm, value in rows]
    one = campaign()
    one.import_results(table(tmp_path / "a.csv", [*rows, ("B", 0)]))
    assert on_record(one)[:50] != found[0][1][:50], "another file has another order"


def test_shuffles_are_uniform() -> None:
    """Each of 6 orders of three values as often as the others; 6,000 shuffles, false alarm 1e-6."""
    counts = Counter()
    for seed in range(6000):
        values = np.array([0.0, 1.0, 2.0]) + seed
        order, _ = shuffled(np.zeros(3, dtype=np.int64), values)
        counts[tuple(order.tolist())] += 1
    assert set(counts) == set(permutations(range(3)))
    low, high = binom.ppf(1e-6 / 12, 6000, 1 / 6), binom.isf(1e-6 / 12, 6000, 1 / 6)
    assert all(low <= count <= high for count in counts.values())


def test_a_grown_file_leaves_what_was_before(tmp_path: Path) -> None:
    rows, one = coins(1, 100), campaign()
    one.import_results(table(tmp_path / "a.csv", rows[:60]))
    before = one.events()
    one.import_results(table(tmp_path / "a.csv", rows))
    after = one.events()
    assert after[:61] == before
    notes = [json.loads(event.note) for event in after if event.kind == "imported"]
    assert [(note["rows"], note["new"], note["order"]) for note in notes] == [
        (60, 60, "shuffled"),
        (100, 40, "shuffled"),
    ]
    assert sorted(row_of(event) for event in after[62:]) == list(range(61, 101))


def test_verify_notices_another_order(tmp_path: Path) -> None:
    one = campaign(storage=tmp_path / "c.db")
    one.import_results(table(tmp_path / "a.csv", coins(1, 50)))
    kinds = on_record(one)
    first = next(place for place in range(50) if kinds[place] != kinds[place + 1])
    with sqlite3.connect(tmp_path / "c.db") as connection:
        for place, (arm, value) in ((first, kinds[first + 1]), (first + 1, kinds[first])):
            connection.execute(
                "UPDATE stopwise_events SET arm = ?, value = ? WHERE number = ?",
                (arm, value, place + 2),
            )
    connection.close()
    assert any("not in their shuffled order" in each for each in one.verify().problems)


def test_rows_count_in_the_order_of_time(tmp_path: Path) -> None:
    rng, rows = np.random.default_rng(1), coins(1, 90)
    kinds = {
        "number": lambda n: f"{n / 7}",
        "day": lambda n: f"2026-{1 + n // 28:02}-{1 + n % 28:02}",
        "zone": lambda n: f"2026-01-31T{n // 60:02}:{n % 60:02}:00+01:00",
    }
    for told in kinds.values():
        mixed = rng.permutation(90)
        path = table(tmp_path / "a.csv", [(*rows[n], told(int(n))) for n in mixed], "arm,value,at")
        one = campaign()
        assert one.import_results(path, time="at").order == "by time"
        assert on_record(one) == [("AB".index(arm), float(value)) for arm, value in rows]
    same = table(tmp_path / "b.csv", [(*row, 7) for row in sorted(rows)], "arm,value,at")
    one, other = campaign(), campaign()
    one.import_results(same, time="at")
    other.import_results(same)
    assert on_record(one) == on_record(other), "rows of the same time are shuffled"
    for wrong, words in (
        ([("A", 1, "31.01.2026")], "row 1: time: got '31.01.2026'"),
        ([("A", 1, "2026-01-31"), ("A", 1, "7")], "row 2: time: got '7'"),
        ([("A", 1, "2026-01-31"), ("A", 1, "2026-01-31T00:00Z")], "row 2: time"),
        ([("A", 1, "")], "row 1: time: got ''"),
        ([("A", 1, "nan")], "row 1: time: got 'nan'"),
    ):
        with pytest.raises(BadArgument) as found:
            campaign().import_results(table(tmp_path / "c.csv", wrong, "arm,value,at"), time="at")
        assert words in str(found.value)


def test_a_sorted_file_is_not_taken_in_its_order(tmp_path: Path) -> None:
    for make, spec in ((coins, COINS), (normals, NORMAL)):
        rows, one = make(1, 200), campaign(spec)
        for key in (None, lambda row: row[1], lambda row: -row[1], lambda row: abs(row[1] - 0.4)):
            path = table(tmp_path / "a.csv", sorted(rows, key=key))
            with pytest.raises(BadArgument, match="rise, fall or cluster"):
                one.import_results(path, in_order=True)
        by_arm = sorted(rows, key=lambda row: row[0])
        path = table(tmp_path / "a.csv", by_arm)
        assert one.import_results(path, in_order=True).order == "as in the file"
        assert [arm for arm, _ in on_record(one)] == ["AB".index(arm) for arm, _ in by_arm]
    with pytest.raises(BadArgument, match="in_order"):
        one.import_results(path, time="arm", in_order=True)


def test_the_test_for_sorted_rows_has_its_level() -> None:
    """Mean and variance of both scores over all orders; how often rows in no order are refused."""
    values = np.array([0.0, 0.0, 1.0, 2.0, 2.0, 5.0, 9.0])
    scores = np.array([order_scores(values[list(order)]) for order in permutations(range(7))])
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scores.var(axis=0), 1.0, rtol=1e-12)
    rng = np.random.default_rng(1)
    chances = np.array([order_chance(rng.permutation(np.arange(60) % 5)) for _ in range(4000)])
    for level in (0.05, 0.01):  # the normal law is not exact here
        assert (chances < level).sum() <= binom.isf(1e-6, chances.size, 1.3 * level)
    assert order_chance(values[:4]) == 1.0


# ------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("arm,value\nA,1\nB,0\n", 2),
        ("\ufeffarm,value\nA,1\n", 1),
        ("arm;value\nA;1\n", 1),
        ("arm\tvalue\r\nA\t1\r\n\r\n\r\n", 1),
        ("arm|value\nA|1\n", 1),
        ('"arm","value"\n"A","1"\n', 1),
        ('note,arm,value\n"a, b\nc",A,1\n', 1),
        ("\n\narm,value\n\nA,1\n,\n \n", 1),
        (" arm , value \n A , 1 \n", 1),
        ("arm,value\nA,YES\nB,false\n", 2),
        ("arm,value\n0,1e0\n1,0.0\n", 2),
        ("a;b,arm,value\n1,A,1\n", 1),
        ("arm,value\nA,1", 1),
    ],
)
def test_files_as_programs_write_them(text: str, rows: int, tmp_path: Path) -> None:
    path = tmp_path / "past.CSV"
    path.write_text(text, newline="")
    one = campaign()
    assert one.import_results(path).rows == rows
    assert len(on_record(one)) == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arm,value\n", "at least one row"),
        ("", "column: got 'arm'"),
        ("arm,wert\nA,1\n", "past.csv has arm, wert"),
        ("arm,arm,value\nA,B,1\n", "a column that the file has once"),
        ("arm,value\nA,1,5\n", "line 2: got 'A,1,5'; allowed: 2 cells"),
        ("arm,value\nA\n", "line 2: got 'A'; allowed: 2 cells"),
        (
            'arm;value\nA;"1,5"\n',
            "row 1: value: got '1,5'; allowed: a finite number with a decimal",
        ),
        ("arm,value\nA,\n", "row 1: value: got ''"),
        ("arm,value\nA,inf\n", "row 1: value: got 'inf'"),
        ("arm,value\nA,1_0\n", "row 1: value: got '1_0'"),
        ("arm,value\nA,0x1\n", "row 1: value: got '0x1'"),
        ('arm,value\nA,1\nB,"0\n', "that can be read"),
        ("arm,value\na,1\n", "row 1: arm: got 'a'; allowed: 0 to 1, or one of 'A', 'B'"),
        ("arm,value\n" + "A" * 200_000 + ",1\n", "that can be read (field larger"),
        ("arm,value\n" + "A" * 2000 + ",1\n", "got 'AAAA"),
    ],
)
def test_files_that_are_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "past.csv"
    path.write_text(text)
    one = campaign()
    with pytest.raises(BadArgument) as found:
        one.import_results(path)
    assert words in str(found.value)
    assert len(str(found.value)) < 600
    assert one.events() == []


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "past.csv"
    path.write_bytes("arm,value,ort\nA,1,Zürich\n".encode(encoding))
    with pytest.raises(BadArgument, match=r"UTF-8"):
        campaign().import_results(path)


def test_parquet_is_read_like_csv(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    rows = coins(1, 80)
    arms, values = zip(*rows, strict=True)
    when = np.datetime64("2026-01-01") + np.arange(80)
    columns = {"arm": arms, "value": [bool(v) for v in values], "at": when}
    parquet.write_table(arrow.table(columns), tmp_path / "past.parquet")
    one = campaign()
    assert one.import_results(tmp_path / "past.parquet", time="at").new == 80
    assert on_record(one) == [("AB".index(arm), float(value)) for arm, value in rows]
    assert one.import_results(table(tmp_path / "past.csv", rows)).new == 0, "the same rows"
    columns["value"] = [None, *columns["value"][1:]]
    parquet.write_table(arrow.table(columns), tmp_path / "gap.parquet")
    with pytest.raises(BadArgument, match="row 1: value: got None"):
        campaign().import_results(tmp_path / "gap.parquet")


# -------------------------------------------------------------------------------------- error rates


def wrong(sort: bool, shuffle: bool, runs: int, size: int, delta: float) -> int:
    """How often files of two equal coins decide for arm A; sorted, A has its ones first, B its zeros."""
    session = Session(campaign(delta=delta, strategy="uniform").spec.design)
    session._rounds.compile(session.design)
    rng, found = np.random.default_rng(1), 0
    for _ in range(runs):
        arms, values = rng.integers(2, size=size), rng.integers(2, size=size).astype(float)
        if sort:
            order = np.argsort(np.where(arms == 0, -values, values), kind="stable")
            arms, values = arms[order], values[order]
        if shuffle:
            order, _ = shuffled(arms, values)
            arms, values = arms[order], values[order]
        session = Session(session.design)
        session.take(2, arms.tolist(), values.tolist(), [False] * size, list(range(1, size + 1)))
        found += session.decision is not None and session.decision.answer == 0
    return found


def test_sorted_files_are_wrong_as_often_as_allowed() -> None:
    """Arm A is not better: in the file's order every file decides for A; shuffled, at most delta do."""
    assert wrong(sort=True, shuffle=False, runs=40, size=400, delta=0.1) == 40
    assert wrong(sort=True, shuffle=True, runs=200, size=400, delta=0.1) <= binom.isf(
        1e-6, 200, 0.1
    )


@pytest.mark.slow
def test_shuffled_files_at_the_boundary_are_wrong_as_often_as_allowed() -> None:
    for sort in (True, False):
        count = wrong(sort=sort, shuffle=True, runs=2000, size=5000, delta=0.1)
        print(f"sorted {sort}: {count} of 2000 decide for A")
        assert count <= binom.isf(1e-6, 2000, 0.1)
