"""Campaigns as a user of a release makes them, and how they go on: tests/campaign/test_old_campaigns.py.

Run with a release on the path it writes what that release gave:

    git archive 6de0b42 src | tar -x -C FOLDER        # the last commit of 0.3.0
    PYTHONPATH=FOLDER/src python tests/support/old_campaigns.py 0.3.0 tests/assets
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import stopwise as sw

LONG = 1e9  # seconds: the lease of a sample that is still in flight today
STEPS = 25  # asks and tells after the file was opened again
RATING = {"kind": "bounded", "low": 0, "high": 1}
UNKNOWN = {"kind": "gaussian", "variance": "unknown"}
SPECS: dict[str, dict[str, Any]] = {
    "coins": {"question": "best-arm", "family": "bernoulli", "delta": 0.05},
    "near enough": {
        "question": {"kind": "best-arm", "epsilon": 0.5},
        "family": {"kind": "gaussian", "variance": 1.0},
        "delta": 0.1,
    },
    "ratings": {"question": "best-arm", "family": RATING, "delta": 0.05},
    "fastest": {"question": {"kind": "best-arm", "goal": "min"}, "family": UNKNOWN, "delta": 0.05},
    "sticky": {
        "question": {"kind": "better-than", "epsilon": 0.2},
        "family": "bernoulli",
        "delta": 0.1,
        "strategy": "sticky-track-and-stop",
    },
    "top two": {"question": {"kind": "top-arms", "m": 2}, "family": "poisson", "delta": 0.1},
    "prices": {
        "question": {"kind": "thresholding", "threshold": 0.6},
        "family": "bernoulli",
        "delta": 0.1,
        "costs": [1.0, 2.0, 4.0],
    },
    "growing": {"question": "best-arm", "family": "bernoulli", "delta": 0.1, "room": 4},
    "prompts": {"question": "best-arm", "family": "bernoulli", "delta": 0.05, "paired": True},
    "pool": {
        "question": {"kind": "best-arm", "goal": "min"},
        "family": RATING,
        "delta": 0.1,
        "paired": True,
        "items": 40,
    },
}  # fmt: skip
CLOSED = "given up"  # a campaign that goes on no more
SPECS[CLOSED] = SPECS["coins"]


def sample(family: Any, arm: int, chance: float) -> float:
    """A value of an arm, from a number between 0 and 1: arm 0 has the highest mean."""
    kind = family if isinstance(family, str) else family["kind"]
    if kind == "bernoulli":
        return float(chance < (0.8, 0.5, 0.4, 0.45)[arm])
    if kind == "poisson":
        return float(int(chance * (9, 6, 3)[arm]))
    if kind == "bounded":
        return round(chance ** (0.5, 1.0, 1.5)[arm], 3)
    return round((2.0, 1.0, 0.5)[arm] + 2.0 * chance, 3)


def clock() -> Callable[[], float]:
    """A second later at every look."""
    now = iter(range(10**6))
    return lambda: 1.76e9 + next(now)


def make(path: Path, name: str, count: int) -> sw.Campaign:
    """A campaign with all that happens in one: late tells, a loss, changes, samples in flight."""
    spec = {**SPECS[name], "arms": ["one", "two", "three"]}
    campaign, chances = sw.Campaign.create(spec, path, name, clock()), _chances(name)
    for _ in _ask_and_tell(campaign, chances, count):
        pass
    if campaign.decision is None:
        late, lost, *quick = campaign.ask(4, lease=LONG)
        for ticket in quick:
            campaign.tell(ticket.token, sample(spec["family"], ticket.arm, next(chances)))
        campaign.release(lost.token, "the machine stopped")
        campaign.tell(late.token, sample(spec["family"], late.arm, next(chances)))
        campaign.note("half way")
        _last_things(campaign, name)
    return campaign


def _last_things(campaign: sw.Campaign, name: str) -> None:
    if name == "coins":
        campaign.record("two", 1.0)
        campaign.ask(2, lease=LONG)  # all later samples wait for these
    if name == "growing":
        campaign.add_arm("four")
    if name == "ratings":
        campaign.rename("stars")
        campaign.change(minimum=10, labels={"one": "first"})
    if name in ("top two", "prompts"):
        campaign.pause("lunch")
    if name == CLOSED:
        campaign.close("enough")
        campaign.archive()


def _chances(name: str) -> Iterator[float]:
    rng = np.random.default_rng(len(name))
    while True:
        yield round(float(rng.random()), 4)


def _ask_and_tell(
    campaign: sw.Campaign, chances: Iterator[float], count: int
) -> Iterator[tuple[list[int], list[float]]]:
    """What was asked and told; batches come back in another order."""
    family = campaign.spec.table["family"]
    for step in range(count):
        if campaign.decision is not None:
            break
        tickets = campaign.ask(1 + 2 * (step % 3 == 0), lease=LONG)
        told = [(each, sample(family, each.arm, next(chances))) for each in reversed(tickets)]
        for ticket, value in told:
            campaign.tell(ticket.token, value)
        yield [each.arm for each in tickets], [value for _, value in told]


def _in_flight(campaign: sw.Campaign) -> list[str]:
    events = campaign.events()
    back = {event.token for event in events if event.kind in ("told", "released")}
    return [event.token for event in events if event.kind == "asked" and event.token not in back]


def _late(campaign: sw.Campaign, token: str) -> list[Any]:
    campaign.tell(token, 1.0)
    status = campaign.status()
    return [status.samples, status.evidence, status.leading]


def go_on(campaign: sw.Campaign) -> dict[str, Any]:
    """Where a campaign stands, what comes next, and the answer."""
    before = campaign.status()
    found: dict[str, Any] = {
        key: getattr(before, key)
        for key in ("state", "samples", "in_flight", "evidence", "threshold", "leading", "pursued")
    }
    found["means"] = [arm.mean for arm in before.arms]
    if before.state == "paused":
        campaign.resume()
    if before.state in ("running", "paused"):
        chances = _chances(f"{campaign.name}, again")
        found["next"] = [
            [asked, told, campaign.status().evidence, campaign.status().leading]
            for asked, told in _ask_and_tell(campaign, chances, STEPS)
        ]
        found["late"] = [_late(campaign, token) for token in _in_flight(campaign)]
    decision = campaign.decision
    found["answer"] = None if decision is None else decision.text
    return found


COUNTS = dict.fromkeys(SPECS, 12) | {"near enough": 1000}
FORMER = {"ratings": "stars"}  # that were renamed


def names() -> list[str]:
    """Of the campaigns in the file."""
    return [FORMER.get(name, name) for name in SPECS]


def main(version: str, folder: Path) -> None:
    assert sw.__version__ == version, sw.__version__
    made = folder / f"campaigns-{version}.db"
    made.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "made.db"
        for name in SPECS:
            make(path, name, COUNTS[name])
        with closing(sqlite3.connect(path)) as file:
            file.execute("VACUUM INTO ?", (str(made),))
        shutil.copy(made, Path(place) / "copy.db")
        golden = {
            name: go_on(sw.Campaign.open(name, Path(place) / "copy.db", clock()))
            for name in names()
        }
    text = json.dumps({"version": version, "campaigns": golden}, separators=(",", ":"))
    (folder / f"golden-{version}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
