"""Campaigns from the shell: every command, its JSON and its exit code."""

from __future__ import annotations

import csv
import json
import math
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from shells import PAGES, Shell
from stopwise.campaign.changes import myself
from stopwise.campaign.storage.store import DEFAULT, Store
from stopwise.cli import campaign as cli
from stopwise.core.tables import plain

ROOT = Path(__file__).parents[2]


def decide(shell: Shell) -> None:
    for arm, value in (("A", "0"), ("B", "1")):
        assert shell("record", "quick", arm, value).code == 0


# ---------------------------------------------------------------------------------------- commands


def test_create_says_what_it_made(shell: Shell) -> None:
    made = shell("create", "pages.toml")
    assert made == (0, "pages: 3 arms, delta = 0.05, spec ced1287b63d47e1e\n", "")
    again = shell("create", "pages.toml", "--json")
    assert again.table["key"] == "ced1287b63d47e1e"
    assert again.table["spec"]["stopping"] == "wealth"
    assert shell("create", "pages.toml", "--name", "other", "--json").table["name"] == "other"
    assert [each["name"] for each in shell("list", "--json").table["campaigns"]] == [
        "pages",
        "other",
    ]


def test_json_specs_are_read_too(shell: Shell) -> None:
    Path("p.json").write_text(
        json.dumps({"question": "best-arm", "arms": ["x", "y"], "family": "poisson", "delta": 0.1})
    )
    assert shell("create", "p.json", "--json").table["name"] == "p"


def test_ask_and_tell(pages: Shell) -> None:
    asked = pages("ask", "pages", "-n", "3")
    rows = [line.split("\t") for line in asked.out.splitlines()]
    assert [row[1:] for row in rows] == [["0", "A"], ["1", "B"], ["2", "C"]]
    told = pages("tell", "pages", rows[1][0], "1")
    waits = "event 4: B 1 (it waits for samples that were asked before it)\n"
    assert told == (0, waits, "")
    assert pages("tell", "pages", rows[1][0], "1.0") == told
    receipt = pages("tell", "pages", rows[0][0], "0", "--json").table
    assert receipt == {
        **{"number": 5, "token": rows[0][0], "arm": 0, "label": "A", "value": 0.0},
        **{"late": False, "decided": False, "waiting": False},
    }
    status = pages("status", "pages", "--json").table
    assert (status["samples"], status["in_flight"], status["state"]) == (2, 1, "running")


def test_tokens_and_samples_may_start_with_a_minus_sign(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = ["-n3-x", "--json-x", "-", "-9", "--x=1"]
    made = iter(tokens)
    monkeypatch.setattr("stopwise.campaign.work.new_tokens", lambda *_: [next(made)])
    shell("create", "quick.toml")
    for token in tokens:
        (ticket,) = shell("ask", "quick", "--json").table["tickets"]
        assert ticket["token"] == token
        assert shell("heartbeat", "quick", ticket["token"]).code == 0
        told = shell("tell", "quick", ticket["token"], "-0.25", "--json")
        assert (told.code, told.table["value"]) == (0, -0.25), told.err


def test_record_by_label_or_number(pages: Shell) -> None:
    assert pages("record", "pages", "B", "1").out == "event 1: B 1\n"
    assert pages("record", "pages", "2", "0").out == "event 2: C 0\n"
    first = pages("record", "pages", "A", "1", "--token", "visit 7", "--json")
    assert first.table["token"] == "visit 7"
    assert pages("record", "pages", "A", "1", "--token", "visit 7", "--json") == first
    other = pages("record", "pages", "A", "0", "--token", "visit 7")
    assert (other.code, other.out) == (2, "")
    assert "1.0 was told" in other.err


def test_a_label_that_is_a_number_goes_before_the_number(shell: Shell) -> None:
    Path("years.toml").write_text(PAGES.replace('"A", "B", "C"', '"2", "1", "0"'))
    shell("create", "years.toml")
    assert shell("record", "years", "2", "1", "--json").table["arm"] == 0


def test_release_and_heartbeat(pages: Shell) -> None:
    (ticket,) = pages("ask", "pages", "--lease", "60", "--json").table["tickets"]
    token = ticket["token"]
    assert pages("heartbeat", "pages", token, "--lease", "90") == (0, "extended\n", "")
    released = pages("release", "pages", token, "--reason", "left", "--json")
    assert (released.code, released.table) == (0, {"token": token, "released": True})
    assert pages("release", "pages", token).out == "not in flight: nothing to release\n"
    beat = pages("heartbeat", "pages", token, "--json")
    assert (beat.code, beat.table) == (1, {"token": token, "extended": False})
    assert pages("events", "pages", "--json").table["events"][1]["note"] == "left"
    assert pages("status", "pages", "--json").table["missing"] == 1
    late = pages("tell", "pages", token, "1")
    assert (late.code, "it does not count" in late.out) == (0, False)
    assert pages("status", "pages", "--json").table["samples"] == 1


def test_a_decision_ends_asking_but_is_no_error(quick: Shell) -> None:
    assert quick("record", "quick", "A", "0").out == "event 1: A 0\n"
    told = quick("record", "quick", "B", "1")
    line = told.out.splitlines()[1]
    assert line == "decided: B is best (evidence 25.000, threshold 8.106, 2 samples)"
    assert quick("ask", "quick") == (3, f"{line}\n", "")
    asked = quick("ask", "quick", "--json")
    assert (asked.code, asked.table["tickets"]) == (3, [])
    status = quick("status", "quick", "--json")
    assert (status.code, status.table["state"]) == (0, "decided")
    assert asked.table["decision"] == status.table["decision"]
    late = quick("record", "quick", "A", "5")
    assert late.code == 0
    assert "late: the campaign was decided before" in late.out
    assert quick("status", "quick").out.count("decided: B is best (event 3)") == 1
    assert "told" not in quick("events", "quick").out
    assert "recorded (late)" in quick("events", "quick").out


def test_a_spent_budget_has_its_own_code(quick: Shell) -> None:
    assert len(quick("ask", "quick", "-n", "30").out.splitlines()) == 20
    ended = quick("ask", "quick")
    assert (ended.code, ended.out) == (4, "")
    assert_one_clear_line(ended.err, ["budget of 20 samples"])


def test_a_storage_that_is_away_has_its_own_code(shell: Shell) -> None:
    away = shell("ask", "pages", "--storage", "postgresql+psycopg://u@127.0.0.1:1/x")
    assert (away.code, away.out) == (5, "")
    assert_one_clear_line(away.err, ["does not answer", "try again"])


def test_the_storage_is_an_option_or_a_variable(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.DEFAULT == DEFAULT
    shell("create", "pages.toml", "--storage", "sqlite:///other.db")
    assert not Path("stopwise.db").exists()
    assert shell("status", "pages").code == 2
    assert not Path("stopwise.db").exists()  # a look leaves nothing behind
    monkeypatch.setenv("STOPWISE_STORAGE", "sqlite:///other.db")
    assert shell("status", "pages").code == 0


STORAGES = ("other.db", "./other.sqlite", "other.sqlite3", "sqlite:///other")


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("how", ["option", "variable"])
def test_the_variable_takes_what_the_option_takes(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, storage: str, how: str
) -> None:
    if how == "variable":
        monkeypatch.setenv("STOPWISE_STORAGE", storage)
    rest = ("--storage", storage) if how == "option" else ()
    assert shell("create", "pages.toml", *rest).code == 0
    assert Path(storage.removeprefix("sqlite:///")).exists()
    (ticket,) = shell("ask", "pages", "--json", *rest).table["tickets"]
    token = ticket["token"]
    commands = [
        *(f"heartbeat pages {token}", f"tell pages {token} 1", f"release pages {token}"),
        *("record pages A 0", "status pages", "explain pages", "verify pages", "events pages"),
        *("export pages x.csv", "list", "token create alice", "token list"),
    ]
    for command in commands:
        ran = shell(*command.split(), *rest)
        assert (ran.code, ran.err) == (0, ""), command
    assert not Path("stopwise.db").exists()


@pytest.mark.parametrize("storage", STORAGES)
def test_python_takes_the_variable_too(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    monkeypatch.setenv("STOPWISE_STORAGE", storage)
    made = sw.Campaign.create("pages.toml")
    assert sw.Campaign.open("pages", storage).spec.key == made.spec.key
    assert sw.Campaign.open("pages").spec.key == made.spec.key
    assert not Path("stopwise.db").exists()


def test_list_takes_a_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("create", "pages.toml", "--storage", "other.db")
    listed = shell("list", "other.db")
    assert listed == (0, "name\tstate\tsamples\tleading\npages\trunning\t0\t-\n", "")
    assert shell("list", "sqlite:///other.db") == listed
    assert shell("list", "--storage", "other.db") == listed
    assert shell("list", "other.db", "--storage", "other.db") == listed
    monkeypatch.setenv("STOPWISE_STORAGE", "elsewhere.db")
    assert shell("list", "other.db") == listed  # what is given goes before the variable
    assert "The same as --storage" in shell("list", "--help").out


def test_status_shows_evidence_and_arms(pages: Shell) -> None:
    before = pages("status", "pages")
    assert "no evidence yet" in before.out
    for arm, value in (("A", "0"), ("B", "1"), ("C", "0")):
        pages("record", "pages", arm, value)
    text = pages("status", "pages").out
    assert "evidence 0.354 of 3.689 for: B is best, up to 0.01" in text
    assert re.search(r"█{5}░{43} 10%", text)
    assert re.search(r"B +1 +1 +0", text)


def test_explain_verify_and_list(quick: Shell) -> None:
    decide(quick)
    assert "evidence by answer: B is best: 25.000" in quick("explain", "quick").out
    verified = quick("verify", "quick")
    assert verified.code == 0
    assert verified.out.startswith("agrees: 3 events, 2 samples derived anew")
    assert quick("list").out.splitlines()[1] == "quick\tdecided\t2\tB is best"


def test_a_record_that_was_changed_does_not_verify(quick: Shell) -> None:
    decide(quick)
    with sqlite3.connect("stopwise.db") as database:
        database.execute("UPDATE stopwise_events SET value = 0.9 WHERE number = 2")
    database.close()
    found = quick("verify", "quick", "--json")
    assert (found.code, found.table["agrees"]) == (1, False)
    assert quick("verify", "quick").out.startswith("DOES NOT AGREE")


def test_events_are_lines(quick: Shell) -> None:
    decide(quick)
    rows = [line.split("\t") for line in quick("events", "quick").out.splitlines()]
    assert rows[0] == ["number", "kind", "time", "label", "value", "token", "note"]
    assert [row[1] for row in rows[1:]] == ["recorded", "recorded", "decided"]
    assert rows[3][-1] == "B is best"
    assert len(quick("events", "quick", "--after", "2", "--json").table["events"]) == 1


def test_export(quick: Shell) -> None:
    decide(quick)
    assert quick("export", "quick", "record.csv") == (0, "wrote record.csv\n", "")
    with open("record.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == ["A", "B", ""]
    assert quick("export", "quick", "record.jsonl", "--json").table == {"file": "record.jsonl"}
    lines = Path("record.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == quick("events", "quick", "--json").table[
        "events"
    ]
    parquet = pytest.importorskip("pyarrow.parquet")
    quick("export", "quick", "record.parquet")
    assert parquet.read_table("record.parquet").num_rows == 3


# -------------------------------------------------------------------------------------------- JSON


def documented() -> dict[str, list[str]]:
    """The keys of each command, by the table in docs/first-campaign.md."""
    found = {}
    page = (ROOT / "docs" / "first-campaign.md").read_text()
    for commands, keys in re.findall(r"^\| (`[a-z]+ ?[A-Z`].*) \| (`.*) \|$", page, re.MULTILINE):
        outer = re.sub(r"\([^()]*\)", "", keys)
        for command in re.findall(r"`([a-z]+)[^`]*`", commands):
            found[command] = re.findall(r"`(\w+)`", outer)
    return found


def roomy(shell: Shell) -> Any:
    Path("roomy.toml").write_text(PAGES + "\nroom = 5\n")
    shell("create", "roomy.toml")
    return shell("add", "roomy", "D", "--json")


def test_every_command_prints_the_documented_keys(pages: Shell) -> None:
    quick = pages
    quick("create", "quick.toml")
    Path("past.csv").write_text("arm,value\nA,1\nB,0\n")
    ticket = quick("ask", "quick", "--json")
    token = ticket.table["tickets"][0]["token"]
    ran = {
        "create": quick("create", "quick.toml", "--json"),
        "ask": ticket,
        "heartbeat": quick("heartbeat", "quick", token, "--json"),
        "tell": quick("tell", "quick", token, "0", "--json"),
        "release": quick("release", "quick", token, "--json"),
        "record": quick("record", "quick", "B", "1", "--json"),
        "status": quick("status", "quick", "--json"),
        "explain": quick("explain", "quick", "--json"),
        "verify": quick("verify", "quick", "--json"),
        "events": quick("events", "quick", "--json"),
        "export": quick("export", "quick", "x.csv", "--json"),
        "list": quick("list", "--json"),
        "recommend": quick("recommend", "quick", "--json"),
        "note": quick("note", "quick", "a remark", "--json"),
        "archive": quick("archive", "quick", "--json"),
        "unarchive": quick("unarchive", "quick", "--json"),
        "rename": quick("rename", "quick", "slow", "--json"),
        "change": quick("change", "pages", "--budget", "100", "--json"),
        "add": roomy(quick),
        "pause": quick("pause", "pages", "--json"),
        "resume": quick("resume", "pages", "--json"),
        "import": quick("import", "pages", "past.csv", "--json"),
        "close": quick("close", "pages", "enough", "--json"),
    }
    assert {name: sorted(each.table) for name, each in ran.items()} == {
        name: sorted(keys) for name, keys in documented().items()
    }
    status = ran["status"].table
    assert list(status["arms"][0]) == [
        *("label", "samples", "mean", "in_flight", "cost", "low", "high")
    ]
    assert list(status["decision"]) == list(sw.Decision._fields)
    assert list(ran["events"].table["events"][0]) == [
        *("number", "kind", "token", "arm", "label", "value", "time", "late", "note", "actor")
    ]
    assert list(ran["list"].table["campaigns"][0]) == [
        *("name", "state", "samples", "evidence", "threshold", "leading", "archived")
    ]


def test_json_has_no_infinite_numbers() -> None:
    assert plain({"a": (1.5, math.inf), 2: [math.nan, (3,)]}) == {
        "a": [1.5, None],
        "2": [None, [3]],
    }


# ---------------------------------------------------------------------------------------- mistakes


def assert_one_clear_line(stderr: str, parts: list[str]) -> None:
    assert stderr.startswith("stopwise: ")
    assert len(stderr.splitlines()) == 1
    assert [part for part in parts if part not in stderr] == []


MISTAKES: list[tuple[str, list[str]]] = [
    ("create missing.toml", ["spec: got 'missing.toml'", "a TOML or JSON file that exists"]),
    ("create torn.toml", ["torn.toml: not TOML"]),
    ("create extra.toml", ["colour: got 'red'", "question, arms, family"]),
    ("create quick.toml --name pages", ["has another spec", "arms: there ['A', 'B', 'C']"]),
    ("create quick.toml --name ", ["name: got ''"]),
    ("create quick.toml --storage memory:", ["storage: got 'memory:'", "sqlite:///FILE"]),
    ("create quick.toml --storage mysql://x/y", ["storage: got 'mysql://x/y'"]),
    ("create quick.toml --storage sqlite:////missing/x.db", ["folder /missing does not exist"]),
    ("ask nobody", ["no campaign 'nobody'", "'pages'"]),
    ("ask pages --storage sqlite:///missing.db", ["a file that exists", "stopwise create"]),
    ("list --storage sqlite:///missing.db", ["a file that exists", "stopwise create"]),
    ("list missing.db", ["storage: got 'missing.db'", "a file that exists", "stopwise create"]),
    ("list pages.toml", ["storage: got 'pages.toml'", "FILE.db, sqlite:///FILE"]),
    ("list a.db --storage b.db", ["got 'a.db --storage b.db'", "one storage", "Leave one"]),
    ("status pages --storage missing.db", ["a file that exists", "stopwise create"]),
    ("ask pages -n 0", ["n: got 0", "at least 1"]),
    ("ask pages -n 10001", ["n: got 10001", "from 1 to 10,000"]),
    ("ask pages --lease 0", ["lease: got 0.0", "above 0"]),
    ("ask pages --lease nan", ["lease: got nan"]),
    ("tell pages nothing 1", ["no ask gave the token 'nothing'", "record"]),
    ("tell pages TOKEN x", ["value: got 'x'", "a number"]),
    ("tell pages TOKEN nan", ["value: got nan", "a finite number"]),
    ("tell pages TOKEN -inf", ["value: got -inf", "a finite number"]),
    ("tell pages TOKEN 0.5", ["value: got 0.5", "Bernoulli()"]),
    ("tell pages TOKEN -1", ["value: got -1.0", "Bernoulli()"]),
    ("record pages D 1", ["arm: got 'D'", "0 to 2", "'A', 'B', 'C'"]),
    ("record pages 3 1", ["arm: got 3", "0 to 2"]),
    ("record pages -1 1", ["arm: got '-1'", "0 to 2"]),
    ("record pages A 1 --token TOKEN", ["belongs to an ask"]),
    ("release pages nothing", ["no ask gave the token"]),
    ("heartbeat pages nothing", ["no ask gave the token"]),
    ("heartbeat pages TOKEN --lease -5", ["lease: got -5.0", "above 0"]),
    ("status nobody", ["no campaign 'nobody'"]),
    ("status nobody --watch", ["no campaign 'nobody'"]),
    ("explain nobody", ["no campaign 'nobody'"]),
    ("verify nobody", ["no campaign 'nobody'"]),
    ("events pages --after -1", ["after: got -1"]),
    ("export pages record.xlsx", ["path: got 'record.xlsx'", ".csv, .jsonl, .parquet"]),
    ("export pages missing/record.csv", ["cannot be written"]),
    ("status pages --storage sqlite:///pages.toml", ["not a SQLite database"]),
]


def test_mistakes_are_one_line_and_change_nothing(pages: Shell) -> None:
    Path("torn.toml").write_text("question = ")
    Path("extra.toml").write_text(PAGES + 'colour = "red"\n')
    token = pages("ask", "pages", "--json").table["tickets"][0]["token"]
    for line, parts in MISTAKES:
        ran = pages(*line.replace("TOKEN", token).split(" "))
        assert (ran.code, ran.out) == (2, ""), line
        assert_one_clear_line(ran.err, parts)
        assert "Traceback" not in ran.err
    assert len(sw.Campaign.open("pages").events()) == 1
    assert Store(DEFAULT).names() == ["pages"]
    assert not Path("missing.db").exists()


@pytest.mark.parametrize(
    "line", ["ask", "ask pages 3", "tell pages x", "ask pages --lesae 5", "ask pages -n x", "frob"]
)
def test_missing_or_unknown_arguments_exit_with_2(pages: Shell, line: str) -> None:
    ran = pages(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ")


# --------------------------------------------------------------------------------------- lifecycle


def test_a_campaign_is_paused_resumed_and_closed(pages: Shell) -> None:
    (ticket,) = pages("ask", "pages", "--json").table["tickets"]
    assert pages("pause", "pages", "--reason", "lunch") == (0, "pages: paused\n", "")
    assert pages("pause", "pages").out == "pages: paused already\n"
    refused = pages("ask", "pages")
    assert (refused.code, refused.out) == (6, "")
    assert "is paused (lunch): resume it" in refused.err
    assert pages("tell", "pages", ticket["token"], "1").code == 0, "what is in flight is told"
    status = pages("status", "pages", "--json").table
    assert (status["state"], status["reason"], status["samples"]) == ("paused", "lunch", 1)
    assert pages("resume", "pages").out == "pages: running\n"
    assert pages("resume", "pages").out == "pages: not paused\n"
    (ticket,) = pages("ask", "pages", "--json").table["tickets"]
    assert pages("close", "pages", "nobody wants it").out == "pages: closed\n"
    refused = pages("ask", "pages")
    assert refused.code == 7
    assert "closed without an answer (nobody wants it)" in refused.err
    late = pages("tell", "pages", ticket["token"], "1")
    assert "late: its lease, or the campaign, was over before" in late.out
    assert "nothing to pause" in pages("pause", "pages").err
    waited = pages("status", "pages", "--wait", "--json")
    assert (waited.code, waited.table["state"]) == (1, "closed")
    record = pages("events", "pages", "--json").table["events"]
    who = {event["kind"]: event["actor"] for event in record}
    assert who["paused"] == who["closed"] == myself() != ""
    assert pages("verify", "pages").code == 0


def test_names_notes_and_changes(pages: Shell) -> None:
    assert pages("note", "pages", "=2+2, said the boss").code == 0
    assert pages("rename", "pages", "Seiten").out == "pages: renamed to Seiten\n"
    assert pages("status", "pages", "--json").table["name"] == "Seiten", "the old name leads there"
    assert "renamed" in [e["kind"] for e in pages("events", "Seiten", "--json").table["events"]]
    assert pages("create", "pages.toml", "--json").table["name"] == "Seiten"
    changed = pages("change", "Seiten", "--budget", "9", "--minimum", "2", "--label", "A=old page")
    assert changed.out == "Seiten: changed\n"
    status = pages("status", "Seiten", "--json").table
    assert (status["budget"], status["arms"][0]["label"]) == (9, "old page")
    assert pages("change", "Seiten", "--budget", "9").out == "Seiten: nothing to change\n"
    assert pages("change", "Seiten", "--budget", "none").code == 0
    assert pages("status", "Seiten", "--json").table["budget"] is None
    for line, words in (
        ("change Seiten --budget many", "a whole number, or none"),
        ("change Seiten --label A", "OLD=NEW"),
        ("change Seiten --label Z=Y", "labels of arms that there are"),
        ("note Seiten", "Missing argument"),
    ):
        ran = pages(*line.split())
        assert ran.code == 2
        assert words in ran.err
    assert pages("archive", "Seiten").code == 0
    assert pages("list", "--json").table["campaigns"] == []
    assert len(pages("list", "--archived", "--json").table["campaigns"]) == 1
    assert pages("ask", "Seiten").code == 6
    assert pages("unarchive", "Seiten").code == 0
    assert pages("ask", "Seiten").code == 0


def test_recommend_says_what_is_not_proven(shell: Shell) -> None:
    shell("create", "pages.toml")
    assert "nothing to recommend yet" in shell("recommend", "pages").out
    for arm in "ABC":
        shell("record", "pages", arm, "1" if arm == "B" else "0")
    found = shell("recommend", "pages").out
    assert "B is best" in found
    assert "This is not proven" in found
    shell("create", "quick.toml")
    decide(shell)
    assert shell("recommend", "quick").out.rstrip().endswith("proven")


def test_results_of_the_past_are_imported_once(shell: Shell) -> None:
    shell("create", "quick.toml")
    Path("past.csv").write_text("page,sold\nA,0\nB,1\nA,0\nB,1\n")
    line = ("import", "quick", "past.csv", "--arm", "page", "--value", "sold")
    first = shell(*line)
    assert first.code == 0
    assert "4 rows; decided after 2 of them: B is best" in first.out
    assert "order of the new rows: shuffled" in first.out
    again = shell(*line)
    assert again.code == 0, "the same again changes nothing"
    assert "4 rows (0 new, 4 known); decided after 2 of them: B is best" in again.out
    assert len(shell("events", "quick", "--json").table["events"]) == 6
    Path("past.csv").write_text("page,sold\nA,1\n")
    assert "rows that begin as when 'past.csv' was imported before" in shell(*line).err
    assert "Samples are not corrected" in shell(*line).err
    for text, words in (
        ("arm,value\nA,1\n", "page,arm"),
        ("page,sold\nZ,1\n", "row 1: arm: got 'Z'"),
        ("page,sold\nA,x\n", "row 1: value: got 'x'"),
    ):
        Path("other.csv").write_text(text)
        ran = shell("import", "quick", "other.csv", "--arm", "page", "--value", "sold")
        assert ran.code == 2
        assert words.split(",")[0] in ran.err, ran.err
    assert "ends with .csv, .parquet" in shell("import", "quick", "past.txt").err


def test_results_as_spreadsheets_write_them(shell: Shell) -> None:
    shell("create", "quick.toml")
    Path("past.csv").write_text("page;sold\nA;no\nB;TRUE\n")
    assert (
        "2 rows; decided after 2 of them"
        in shell("import", "quick", "past.csv", "--arm", "page", "--value", "sold").out
    )


# -------------------------------------------------------------------------------------------- help


def test_help_names_the_exit_codes_and_an_example(shell: Shell) -> None:
    for command in ("create", "ask", "tell", "record", "release", "heartbeat", "status", "explain"):
        text = " ".join(shell(command, "--help").out.split())
        assert "3 ask: the campaign is decided" in text
        assert "STOPWISE_STORAGE" in text
    text = shell("create", "--help").out
    for line in PAGES.split("\n"):
        assert line in text


def test_help_loads_neither_database_nor_numbers() -> None:
    code = """
import sys
try:
    from stopwise.cli.main import main; main()
except SystemExit:
    loaded = {"sqlalchemy", "numpy", "numba", "stopwise.campaign.campaign"} & set(sys.modules)
    print(sorted(loaded), file=sys.stderr)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code, "ask", "--help"], capture_output=True, text=True
    )
    assert "exit" in ran.stdout
    assert ran.stderr == "[]\n"
