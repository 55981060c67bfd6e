"""Names that could be taken for paths or for each other, and cells that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import threading
from contextlib import suppress
from pathlib import Path

import pytest

import stopwise as sw
from postgres import Server
from stopwise import Campaign
from stopwise.campaign.storage.store import Store

SPEC = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 0.05}


def stored(name: str, store: Store) -> None:
    """A campaign of an earlier version, when every printable name was allowed."""
    made = Campaign.create(SPEC, store, "an allowed name")
    with store.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE stopwise_campaigns SET name = ? WHERE name = ?", (name, made.name)
        )


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "/",
        "..",
        ".",
        "../../etc/passwd",
        "a..b",
        "a\\b",
        "a\uff0fb",
        "\u2025",
        "\u2024\u2024",
    ],
)
def test_names_that_mean_places_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(sw.BadArgument, match=r"without /, \\ and \.\."):
        Campaign.create(SPEC, tmp_path / "s.db", name)
    assert Store(f"sqlite:///{tmp_path}/s.db").names() == []


@pytest.mark.parametrize("name", ["a/b", "..", "two  spaces", "cafe\u0301", "\uff21"])
def test_names_of_earlier_versions_stay_reachable(name: str, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/s.db")
    stored(name, store)
    campaign = Campaign.open(name, store)
    campaign.record("a", 1)
    again = Campaign.create(SPEC, store, name)
    assert again.name == campaign.name == name
    assert again.status().samples == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("cafe\u0301", "caf\u00e9"),
        ("\uff21\uff22 test", "AB test"),
        ("two \u00a0\u2003 spaces", "two spaces"),
        ("\ufb01ne", "fine"),
        ("Größe 🎯 新", "Größe 🎯 新"),
    ],
)
def test_names_are_normalised(given: str, kept: str, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/s.db")
    assert Campaign.create(SPEC, store, given).name == kept
    assert Campaign.create(SPEC, store, given).name == kept
    assert Campaign.open(given, store).name == Campaign.open(kept, store).name == kept
    assert store.names() == [kept]


def test_no_two_names_that_could_be_mistaken(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/s.db")
    Campaign.create(SPEC, store, "Button Straße")
    for name in ("button straße", "BUTTON STRASSE", "Button  strasse", "Button Stra\u1e9ee"):
        with pytest.raises(sw.CampaignExists, match=r"'Button Straße' .* mistaken"):
            Campaign.create(SPEC, store, name)
    with pytest.raises(sw.UnknownCampaign, match="there are: 'Button Straße'"):
        Campaign.open("button straße", store)
    assert Campaign.create(SPEC, store, "Button Straße 2").name == "Button Straße 2"


def test_two_of_an_earlier_version_that_differ_so_are_two(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/s.db")
    for name in ("pages", "Pages", "cafe\u0301", "caf\u00e9"):
        stored(name, store)
    Campaign.open("cafe\u0301", store).record("a", 1)
    Campaign.open("pages", store).record("a", 1)
    found = {name: Campaign.open(name, store).status().samples for name in store.names()}
    assert found == {"pages": 1, "Pages": 0, "cafe\u0301": 1, "caf\u00e9": 0}
    assert Campaign.create(SPEC, store, "Pages").status().samples == 0


@pytest.mark.parametrize("where", ["sqlite", "postgresql"])
def test_of_two_at_once_one_is_made(where: str, server: Server, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/s.db" if where == "sqlite" else server.fresh()
    names, made = [f"{'x' * k}{'X' * (6 - k)}" for k in range(6)], []
    start = threading.Barrier(len(names))
    stores = [Store(address) for _ in names]

    def create(name: str, store: Store) -> None:
        start.wait()
        with suppress(sw.CampaignExists):
            made.append(Campaign.create(SPEC, store, name).name)

    threads = [
        threading.Thread(target=create, args=each) for each in zip(names, stores, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(made) == 1
    assert stores[0].names() == made
    for store in stores:
        store.close()


RUN = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "=cmd|'/C calc'!A0", "'=1", "-inf", "\uff1d1"]
LEFT = ["-5", "+3.2", "-1e-3", "a=b", "plain", "it's", "1-1"]


def test_cells_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    labels = [each for each in RUN + LEFT if each.isprintable()]
    spec = {**SPEC, "arms": labels, "family": {"kind": "gaussian", "variance": 1}}
    campaign = Campaign.create(spec, tmp_path / "s.db", "cells")
    for label in labels:
        campaign.record(label, -1.5, token=f"={label}")
    (ticket,) = campaign.ask()
    campaign.release(ticket.token, "=HYPERLINK(1)")
    text = campaign.export(tmp_path / "record.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert all(row["value"] == "-1.5" for row in rows[:-2]), "numbers stay numbers"
    for row, label in zip(rows, labels, strict=False):
        assert row["label"] == (f"'{label}" if label in RUN else label)
        assert row["token"] == f"'={label}"
    assert rows[-1]["note"] == "'=HYPERLINK(1)"
    lines = campaign.export(tmp_path / "record.jsonl").read_text().splitlines()
    plain = [json.loads(line)["label"] for line in lines[: len(labels)]]
    assert plain == labels, "other formats are as told"


def test_tokens_come_in_the_order_of_their_asks_and_cannot_be_guessed() -> None:
    spec = {"question": "best-arm", "arms": ["a", "b"], "family": "bernoulli", "delta": 0.1}
    campaign = sw.Campaign.create(spec, "memory:", "tokens")
    tokens = [ticket.token for n in (1, 20, 3) for ticket in campaign.ask(n)]
    assert tokens == sorted(tokens)
    assert {len(token) for token in tokens} == {32}
    assert len({token[8:] for token in tokens}) == len(tokens), "96 random bits each"
